"""A policy ready to decide: what the gateway holds, and swaps as a whole when the file changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING
from unicodedata import normalize

from stellwerk.serving.policy.model import Policy, Pool

if TYPE_CHECKING:
    from stellwerk.serving.decision.walk import Node


@dataclass(frozen=True, slots=True)
class Needs:
    """What the gateway must have at hand for this policy, so that it does no work that no step asks for.

    `body`: some step looks into the JSON body (beyond `model`), so the whole body must be read before deciding.
    `headers`: lower-case names of the headers that steps look at (session and override headers come on top).
    `judge`: some step asks outside this process: use `decide_async`.
    `session`: a sticky split or prefix balancing wants `RequestView.session_key`.
    `load`: some condition looks at the load of pools.
    """

    body: bool
    headers: frozenset[str]
    judge: bool
    session: bool
    load: bool


@dataclass(frozen=True, slots=True)
class CompiledPolicy:
    """Immutable. `revision` is a hash of the text; two equal files have the same."""

    policy: Policy
    text: str
    revision: str
    nodes: Mapping[str, Node]  # step and pool names -> what runs
    needs: Needs

    @property
    def pools(self) -> Mapping[str, Pool]:
        return self.policy.pools

    @property
    def models(self) -> Mapping[str, str]:
        """What clients may send as `model`; for `/v1/models`. May hold shell patterns and "*"."""
        return self.policy.models

    def target_of(self, model: str) -> str | None:
        """Where a request for this model name starts: the exact name, else the first pattern that fits."""
        models = self.policy.models
        target = models.get(model)
        if target is not None:
            return target
        if not model.isascii():  # an accent may stand apart from its letter; the policy's names have none
            model = normalize("NFC", model)
            if model in models:
                return models[model]
        for pattern, name in models.items():
            if fnmatchcase(model, pattern):
                return name
        return None
