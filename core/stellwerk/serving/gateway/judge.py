"""Asking a pool which label fits a conversation: the `kind: llm` classifier's question, put to an engine."""

from __future__ import annotations

import json
from time import monotonic

from stellwerk.serving.decision.types import Question
from stellwerk.serving.gateway.counters import Counters
from stellwerk.serving.gateway.deployment import Deployment
from stellwerk.serving.gateway.fetch import FetchError, fetch
from stellwerk.serving.gateway.usage import tokens_of

_INSTRUCTION = "Decide how demanding the user's request is for a language model. Answer with one word."
_MOST_CHARACTERS = 8000  # of the conversation that a judge gets to read


async def ask_judge(deployment: Deployment, counters: Counters, question: Question) -> str:
    """The label that the judge names. Raises OSError, TimeoutError or ValueError when it names none."""
    if question.kind != "llm" or question.pool is None:
        raise FetchError(f"step {question.step} asks what this gateway cannot run: {question.kind}")
    pool = deployment.pools[question.pool]
    replica = pool.take()
    if replica is None:
        raise FetchError(f"pool {question.pool} has no free replica for its judge")
    begun_s = monotonic()
    service_s: float | None = None
    try:
        path = replica.address.base + b"/chat/completions"
        status, body = await fetch(
            replica, "POST", path, judge_body(question, pool.spec.model), timeout_s=question.timeout_s
        )
        service_s = monotonic() - begun_s
    finally:
        pool.release(replica, service_s)
    if status != 200:
        raise FetchError(f"the judge answered {status}")
    given, made = tokens_of(body)
    counters.pool(question.pool).judge_tokens += (given or 0) + (made or 0)
    return label_in(body, question.labels)


def judge_body(question: Question, model: str) -> bytes:
    """The chat request that puts the question: short, at temperature 0, with the labels spelled out."""
    instruction = question.prompt or _INSTRUCTION
    text = "\n\n".join(f"{turn.role}: {turn.text}" for turn in question.turns)
    if len(text) > _MOST_CHARACTERS:
        text = text[: _MOST_CHARACTERS // 4] + "\n[...]\n" + text[-3 * _MOST_CHARACTERS // 4 :]
    value = {
        "model": model,
        "temperature": 0,
        "max_tokens": 8,
        "messages": [
            {"role": "system", "content": f"{instruction}\nPossible answers: {', '.join(question.labels)}."},
            {"role": "user", "content": f"<conversation>\n{text}\n</conversation>\nOne word:"},
        ],
    }
    return json.dumps(value).encode()


def label_in(body: bytes, labels: tuple[str, ...]) -> str:
    """The one label that the answer's text names. Raises ValueError when it names none, or several."""
    value = json.loads(body)
    try:
        text = str(value["choices"][0]["message"]["content"]).lower()
    except (KeyError, IndexError, TypeError) as error:
        raise ValueError("the judge's answer has no text") from error
    named = [label for label in labels if label.lower() in text]
    longest = [label for label in named if not any(label != other and label in other for other in named)]
    if len(longest) != 1:
        raise ValueError("the judge named no label, or several")
    return longest[0]
