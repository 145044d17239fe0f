"""Reads logs of requests for replay and simulation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from stellwerk.serving.classifier.data import BadData, read_lines
from stellwerk.serving.decision.replay import Logged
from stellwerk.serving.decision.request import RequestView

# What `simulate` sends without a log: a mix by hand, from easy to hard, in English and German.
SAMPLE_PROMPTS = (
    "hi",
    "What is the capital of France?",
    "Wie spät ist es in Tokio, wenn es in Berlin acht Uhr ist?",
    "Translate 'good morning' into Spanish.",
    "Schreibe eine kurze Geburtstagskarte für meine Tante.",
    "Summarize in one sentence: the meeting was moved to Friday at three.",
    "Explain the difference between a list and a tuple in Python with an example.",
    "Erkläre, warum der Himmel blau ist, und nenne zwei Irrtümer darüber.",
    "A train leaves at 9:40 and arrives at 13:05 after two stops of 7 minutes each. How long did it move?",
    "Find the bug: def mean(xs): return sum(xs) / len(xs) if xs else 0.0 # fails for generators",
    "Write a lock-free queue in Rust for several producers and show that it is linearizable.",
    "Prove that every finite integral domain is a field, and give a counterexample for infinite ones.",
    "Beweise, dass die Wurzel aus 2 irrational ist, und verallgemeinere auf Primzahlen.",
    "Design a distributed lock service that tolerates partitions; compare Paxos, Raft and viewstamped replication.",
)


def read_log(path: Path, *, model: str, strong: str | None = None, weak: str | None = None) -> Iterator[Logged]:
    """The requests of a JSON Lines file, one by one.

    A line is a request body, or `{prompt: …}`; beside it may stand `headers`, `api_key`, `usage` (prompt_tokens and
    completion_tokens), and grades: `grades: {pool: 0..1}`, or `strong` and `weak` for the pools that are given here.

    Args:
        model: what is asked for where a line names no model.

    Raises:
        BadData: a line that is no object, or has no prompt; while iterating.
    """
    for number, value in read_lines(path):
        body = value.get("body", value)
        if not isinstance(body, dict):
            raise BadData(f"{path}, line {number}: `body` is no object.")
        prompt = body.get("prompt")
        if isinstance(prompt, str):
            body = {**body, "messages": [{"role": "user", "content": prompt}]}
        asked = body.get("model")
        headers = value.get("headers")
        request = RequestView(
            asked if isinstance(asked, str) else model,
            body,
            headers={str(k).lower(): str(v) for k, v in headers.items()} if isinstance(headers, Mapping) else {},
            api_key=str(value["api_key"]) if value.get("api_key") is not None else None,
            request_id=f"{path.name}:{number}",
        )
        if not request.turns:
            raise BadData(f"{path}, line {number}: there is no `prompt` and no `messages`. Add one of them.")
        usage = value.get("usage")
        counts = usage if isinstance(usage, Mapping) else {}
        yield Logged(
            request, _count(counts, "prompt_tokens"), _count(counts, "completion_tokens"), _grades(value, strong, weak)
        )


def sample_log(requests: int, model: str) -> Iterator[Logged]:
    """So many requests from `SAMPLE_PROMPTS`, every one of another conversation."""
    for number in range(requests):
        text = SAMPLE_PROMPTS[number * 5 % len(SAMPLE_PROMPTS)]
        body = {"messages": [{"role": "user", "content": text}]}
        headers = {"x-session-id": f"simulated-{number}"}
        yield Logged(RequestView(model, body, headers=headers, request_id=f"simulated-{number}"))


def _count(usage: Mapping[str, object], key: str) -> int | None:
    value = usage.get(key)
    return value if isinstance(value, int) and value >= 0 else None


def _grades(value: Mapping[str, object], strong: str | None, weak: str | None) -> dict[str, float]:
    grades = value.get("grades")
    found = (
        {str(k): float(v) for k, v in grades.items() if isinstance(v, int | float)}
        if isinstance(grades, Mapping)
        else {}
    )
    for pool, key in ((strong, "strong"), (weak, "weak")):
        grade = value.get(key)
        if pool is not None and isinstance(grade, int | float):
            found.setdefault(pool, float(grade))
    return found
