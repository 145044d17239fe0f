"""What the doctor, the wizard and the verification have to say."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from stellwerk.model.selftest import SelfTest


class Severity(str, Enum):
    """Worst first when sorted by `rank`."""

    BAD = "bad"
    WARN = "warn"
    INFO = "info"

    @property
    def rank(self) -> int:
        return ("bad", "warn", "info").index(self.value)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to say: what, where, evidence, what it means, what to do."""

    code: str  # words, such as "twins-one-subnet"
    severity: Severity
    title: str
    node: str | None = None
    subject: str | None = None  # port, half, file ...
    evidence: tuple[str, ...] = ()
    meaning: str = ""
    remedy: tuple[str, ...] = ()
    fix: str = ""  # "plan": making and applying the network plan puts it right; empty: by hand


class Verdict(str, Enum):
    """Result of one check. NOT_AVAILABLE is never counted as fine."""

    PASS = "pass"
    DEGRADED = "degraded"
    FAIL = "fail"
    NOT_AVAILABLE = "not available"


@dataclass(frozen=True, slots=True)
class Check:
    """One proof: measured value, its pass mark, the verdict and why."""

    kind: str  # carrier | speed | pcie | mtu | address | route | neighbour | gid | ping | bandwidth | latency | ...
    node: str
    subject: str  # "port 1 half A -> spark-2", ...
    verdict: Verdict
    value: float | None = None
    unit: str = ""
    pass_mark: float | None = None
    text: str = ""
    why: str = ""
    remedy: str = ""
    port: int | None = None
    half: str | None = None
    peer: str | None = None


@dataclass(frozen=True, slots=True)
class Verification:
    """All checks of one run of *Prove*."""

    run_id: str
    cluster: str
    topology: str
    started_at: str
    seconds: float
    checks: tuple[Check, ...]
    simulated: bool = False  # any node says that its hardware is simulated
    notes: tuple[str, ...] = ()
    self_test: SelfTest | None = None  # of the collectives; None: not run

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of all checks; an empty run proves nothing, and one wrong sum is a failure."""
        present = {check.verdict for check in self.checks}
        if self.self_test is not None and self.self_test.wrong:
            present.add(Verdict.FAIL)
        for verdict in (Verdict.FAIL, Verdict.NOT_AVAILABLE, Verdict.DEGRADED):
            if verdict in present:
                return verdict
        return Verdict.PASS if self.checks else Verdict.NOT_AVAILABLE
