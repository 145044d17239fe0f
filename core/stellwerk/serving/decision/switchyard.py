"""Runs algorithms of NeMo Switchyard (package `nemo-switchyard`, extra `stellwerk[switchyard]`) for policy steps."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping, Sequence
from typing import Any

from stellwerk.serving.decision.request import Turn
from stellwerk.serving.decision.types import Ask, Question
from stellwerk.serving.policy.model import Policy, SwitchyardStep

INSTALL = "pip install 'stellwerk[switchyard]'"


class SwitchyardError(RuntimeError):
    """An algorithm could not be built or did not choose. decide_async takes the step's `on_error` then."""


def installed() -> bool:
    """Is the package there? A policy with `switchyard` steps runs without it, but always takes their `on_error`."""
    return importlib.util.find_spec("switchyard") is not None


class SwitchyardSteps:
    """The algorithms of one policy's steps. They keep state of their own (a random sequence), so one per policy."""

    def __init__(self, policy: Policy) -> None:
        """Raises SwitchyardError when the package is missing or an option is wrong; says in which step."""
        self._algorithms: dict[str, tuple[Any, tuple[str, ...]]] = {}
        for name, step in policy.steps.items():
            if isinstance(step, SwitchyardStep):
                self._algorithms[name] = (_algorithm(step), tuple(label for label, _ in step.to))

    async def choose(self, question: Question) -> str:
        """The label that the algorithm of `question.step` chooses. SwitchyardError when it chooses none."""
        libsy = importlib.import_module("switchyard.libsy")
        algorithm, labels = self._algorithms[question.step]
        groups = {label: [label] for label in labels} | {"any": list(labels)}
        request = {"model": "auto", "messages": libsy_messages(question.turns)}
        try:
            async for step in algorithm.run_stream(request, groups):
                if isinstance(step, libsy.Step.CallModel):
                    step.call.fail(SwitchyardError("no model is called while a policy decides"))
                elif step.outcome.selected_model_ids and step.outcome.selected_model_ids[0] in labels:
                    return str(step.outcome.selected_model_ids[0])
        except (ValueError, RuntimeError) as error:
            raise SwitchyardError(f"the algorithm of step {question.step} failed: {error}") from error
        raise SwitchyardError(f"the algorithm of step {question.step} chose nothing")

    def before(self, ask: Ask) -> Ask:
        """An Ask that answers questions of kind `switchyard` here and hands all others on."""

        async def either(question: Question) -> str:
            return await (self.choose(question) if question.kind == "switchyard" else ask(question))

        return either


def _algorithm(step: SwitchyardStep) -> Any:
    if not installed():
        raise SwitchyardError(f"step {step.name} runs an algorithm of Switchyard, which is not installed: {INSTALL}")
    algorithms = importlib.import_module("switchyard.libsy.algorithms")
    options: dict[str, object] = dict(step.options)
    if step.algorithm == "stage_router":
        options = {"picker": "efficient_first", "confidence_threshold": 0.5} | options
    try:
        return getattr(algorithms, step.algorithm)(**options)
    except (TypeError, ValueError) as error:
        raise SwitchyardError(f"step {step.name}: Switchyard refuses its options: {error}") from error


def libsy_messages(turns: Sequence[Turn]) -> list[Mapping[str, object]]:
    """A conversation in Switchyard's neutral form. Tool calls get made-up ids: routing looks at their results."""
    messages: list[Mapping[str, object]] = []
    call = 0
    for turn in turns:
        blocks: list[Mapping[str, object]] = [{"type": "text", "text": turn.text}] if turn.text else []
        if turn.asks_tool:
            call += 1
            blocks.append({"type": "tool_call", "id": f"call-{call}", "name": "tool", "arguments": {}})
        if turn.role == "tool":
            blocks = [{"type": "tool_result", "tool_call_id": f"call-{call}", "content": blocks}]
        messages.append({"role": turn.role, "content": blocks})
    return messages
