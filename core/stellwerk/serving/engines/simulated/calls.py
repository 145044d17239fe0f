"""What a client asks of the simulated engine, the same for all APIs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from stellwerk.serving.decision.request import RequestView
from stellwerk.serving.engines.simulated.settings import SimulatedSettings
from stellwerk.serving.engines.simulated.words import natural_length, tokens

Api = Literal["chat", "completions", "embeddings", "responses", "messages"]

APIS: dict[bytes, Api] = {
    b"/v1/chat/completions": "chat",
    b"/v1/completions": "completions",
    b"/v1/embeddings": "embeddings",
    b"/v1/responses": "responses",
    b"/v1/messages": "messages",
}


class CallError(ValueError):
    """A request that an engine refuses. `status` as vLLM would give."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Call:
    """One request, understood. `answer` is the whole text to come, as tokens; `finish` why it ends."""

    api: Api
    model: str
    prompt_tokens: int
    answer: tuple[str, ...]
    finish: Literal["stop", "length"]
    stream: bool
    include_usage: bool
    inputs: tuple[str, ...]  # of embeddings


def read_call(api: Api, body: bytes, settings: SimulatedSettings, number: int) -> Call:
    """Understand a request. `number` stands in for a seed where the client gives none.

    Raises:
        CallError: what a real engine would refuse: no JSON, another model, a prompt that does not fit.
    """
    try:
        data = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise CallError(400, "The body is not JSON.") from error
    if not isinstance(data, dict):
        raise CallError(400, "The body is not a JSON object.")
    model = data.get("model")
    if model != settings.model:
        raise CallError(404, f"The model `{model}` does not exist.")
    view = RequestView(settings.model, data)
    prompt_tokens = view.prompt_tokens
    wanted = view.max_tokens
    if prompt_tokens + (wanted or 0) > settings.context_window:
        raise CallError(
            400,
            f"This model's maximum context length is {settings.context_window} tokens. However, you requested "
            f"{prompt_tokens + (wanted or 0)} tokens ({prompt_tokens} in the prompt, {wanted or 0} in the answer). "
            "Please reduce the length of the prompt or of the answer.",
        )
    answer, finish = _answer(view, data, settings, number)
    options = data.get("stream_options")
    return Call(
        api=api,
        model=settings.model,
        prompt_tokens=prompt_tokens,
        answer=() if api == "embeddings" else answer,
        finish=finish,
        stream=view.stream and api != "embeddings",
        include_usage=bool(isinstance(options, Mapping) and options.get("include_usage")),
        inputs=tuple(turn.text for turn in view.turns) if api == "embeddings" else (),
    )


def _answer(
    view: RequestView, data: Mapping[str, object], settings: SimulatedSettings, number: int
) -> tuple[tuple[str, ...], Literal["stop", "length"]]:
    seed = data.get("seed")
    basis = f"{settings.seed}/{seed if seed is not None else f'#{number}'}"
    prompt = "\0".join(turn.text for turn in view.turns)
    wanted = view.max_tokens
    count = natural_length(basis, prompt, settings.answer_tokens)
    if data.get("ignore_eos") and wanted is not None:
        count = wanted
    finish: Literal["stop", "length"] = "stop"
    if wanted is not None and wanted <= count:
        count, finish = max(1, wanted), "length"
    made = list(tokens(basis, prompt, count))
    stops = data.get("stop") or data.get("stop_sequences") or ()
    if isinstance(stops, str):
        stops = (stops,)
    assert isinstance(stops, (list, tuple))
    cut = _cut_at(made, [stop for stop in stops if isinstance(stop, str) and stop])
    return (tuple(cut), "stop") if cut is not None else (tuple(made), finish)


def _cut_at(made: list[str], stops: list[str]) -> list[str] | None:
    """The tokens before the first stop text; None when none occurs."""
    text = "".join(made)
    places = [place for stop in stops if (place := text.find(stop)) >= 0]
    if not places:
        return None
    left = min(places)
    kept: list[str] = []
    for token in made:
        if left <= 0:
            break
        kept.append(token[:left])
        left -= len(token)
    return kept
