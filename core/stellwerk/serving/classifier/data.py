"""Graded prompts from JSON Lines: what training, evaluation and calibration read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from stellwerk.serving.classifier.conversation import clipped, judge_turns
from stellwerk.serving.decision.request import RequestView

MAX_LINE_BYTES = 16 * 1024 * 1024


class BadData(ValueError):
    """A file of graded prompts that cannot be used; the text names file, line and remedy."""


@dataclass(frozen=True, slots=True)
class Example:
    """One prompt with the grades of two models, 0 (wrong) to 1 (right). `group`: a subject or source, for splits."""

    text: bytes
    strong: float
    weak: float
    group: str = ""


def read_examples(path: Path) -> list[Example]:
    """All lines of a file. BadData for the first one that is wrong; OSError when the file cannot be read.

    A line is an object with `strong` and `weak` and either `prompt` (a text) or a request body (`messages`, ...), of
    which the same part counts that the classifier would look at.
    """
    examples = [_example(path, number, value) for number, value in read_lines(path)]
    if not examples:
        raise BadData(f"{path} holds no prompts. It needs one JSON object a line: prompt, strong, weak, group.")
    return examples


def read_lines(path: Path) -> Iterator[tuple[int, dict[str, object]]]:
    """(line number, object) of a JSON Lines file. BadData for what is no object.

    Empty lines are skipped, and in a gateway's own log everything but requests that were answered. There, requests
    from before `log_prompts` was switched on are skipped, too; BadData at the end when it never was.
    """
    silent: int | None = None  # first request without a prompt
    told = False
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            if len(line) > MAX_LINE_BYTES:
                raise BadData(f"{path}, line {number}: longer than {MAX_LINE_BYTES >> 20} MiB. Take it out.")
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise BadData(f"{path}, line {number}: this is no JSON ({error}). Write one object a line.") from error
            if not isinstance(value, dict):
                raise BadData(f"{path}, line {number}: this is no JSON object. Write one object a line.")
            if not _written_by_a_gateway(value):
                told = True
                yield number, value
            elif value.get("status") == 200 and value.get("model") is not None:
                if "prompt" not in value:
                    silent = silent or number
                    continue
                told = True
                if value["prompt"]:
                    yield number, {**value, "usage": _usage(value), "api_key": value.get("key")}
    if silent is not None and not told:
        raise BadData(
            f"{path}, line {silent}: this log of a gateway holds no prompts. The policy has it write them with "
            "`gateway: {log_prompts: true}`."
        )


def _written_by_a_gateway(value: dict[str, object]) -> bool:
    return "time" in value and ("event" in value or {"api", "status", "total_ms"} <= value.keys())


def _usage(value: dict[str, object]) -> dict[str, object]:
    return {"prompt_tokens": value.get("input_tokens"), "completion_tokens": value.get("output_tokens")}


def text_to_judge(value: dict[str, object]) -> bytes | None:
    """The part of a log line that the classifier looks at; None when there is neither prompt nor conversation."""
    prompt = value.get("prompt")
    if isinstance(prompt, str):
        return clipped(prompt)
    view = RequestView("", value)
    return judge_turns(view.turns, lambda _: 0.0).text if view.turns else None


def _example(path: Path, number: int, value: dict[str, object]) -> Example:
    text = text_to_judge(value)
    if text is None:
        raise BadData(f"{path}, line {number}: there is no `prompt` and no `messages`. Add one of them.")
    grades: list[float] = []
    for key in ("strong", "weak"):
        grade = value.get(key)
        if isinstance(grade, bool):
            grade = float(grade)
        if not isinstance(grade, int | float) or not 0 <= grade <= 1:
            raise BadData(
                f"{path}, line {number}: `{key}` is {grade!r}. It must say how right that model's answer was, 0 to 1."
            )
        grades.append(float(grade))
    return Example(text, grades[0], grades[1], str(value.get("group", "")))
