"""Two runs of *Prove* side by side: what became better, worse, new or is gone."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from stellwerk.model.finding import Check, Verdict, Verification

NOTABLE = 0.03  # a value that differs by more than 3 % is worth showing
_ORDER = (Verdict.PASS, Verdict.DEGRADED, Verdict.NOT_AVAILABLE, Verdict.FAIL)
_LESS_IS_BETTER = ("latency",)


class Change(str, Enum):
    """How a check changed from one run to the next."""

    BETTER = "better"
    WORSE = "worse"
    NEW = "new"
    GONE = "gone"
    SAME = "same"


@dataclass(frozen=True, slots=True)
class Compared:
    """One check in both runs."""

    change: Change
    before: Check | None
    after: Check | None

    @property
    def check(self) -> Check:
        """The newer one, else the older one."""
        found = self.after or self.before
        assert found is not None
        return found

    @property
    def text(self) -> str:
        """In words: `97.3 Gb/s, before 13.1 Gb/s`."""
        if self.before is None:
            return f"{self.check.text or self.check.verdict.value}, not checked before"
        if self.after is None:
            return f"no longer checked, before {self.before.text or self.before.verdict.value}"
        return f"{self.after.text or self.after.verdict.value}, before {self.before.text or self.before.verdict.value}"


def compare(before: Verification, after: Verification) -> tuple[Compared, ...]:
    """Every check of both runs, matched by what it speaks of; the worse ones first."""
    old = {_key(check): check for check in before.checks}
    new = {_key(check): check for check in after.checks}
    found = [_compared(old.get(key), new.get(key)) for key in dict.fromkeys((*new, *old))]
    rank = [Change.WORSE, Change.BETTER, Change.NEW, Change.GONE, Change.SAME]
    return tuple(sorted(found, key=lambda compared: rank.index(compared.change)))


def _key(check: Check) -> tuple[str, str, str]:
    return check.kind, check.node, check.subject


def _compared(before: Check | None, after: Check | None) -> Compared:
    if before is None:
        return Compared(Change.NEW, None, after)
    if after is None:
        return Compared(Change.GONE, before, None)
    a, b = _ORDER.index(before.verdict), _ORDER.index(after.verdict)
    if a != b:
        return Compared(Change.WORSE if b > a else Change.BETTER, before, after)
    if before.kind != after.kind or before.value is None or after.value is None or before.pass_mark is None:
        return Compared(Change.SAME, before, after)
    if abs(after.value - before.value) <= NOTABLE * abs(before.value):
        return Compared(Change.SAME, before, after)
    grew = after.value > before.value
    better = grew != (after.kind in _LESS_IS_BETTER)
    return Compared(Change.BETTER if better else Change.WORSE, before, after)
