"""The sentence at the top: does it work, and what does not."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from stellwerk.model.finding import Verdict, Verification
from stellwerk.model.units import seconds

_NAMES = {
    "cable": ("one cable is not right", "{} cables are not right"),
    "carrier": ("one link is down", "{} links are down"),
    "speed": ("one link is below 200 Gb/s", "{} links are below 200 Gb/s"),
    "pcie": ("one PCIe link is slow", "{} PCIe links are slow"),
    "rdma": ("one RDMA device is down", "{} RDMA devices are down"),
    "address": ("one address is wrong", "{} addresses are wrong"),
    "gid": ("one GID is missing", "{} GIDs are missing"),
    "route": ("one route is wrong", "{} routes are wrong"),
    "mtu": ("large packets do not pass in one direction", "large packets do not pass in {} directions"),
    "transit": ("one node does not reach another one", "{} ways between nodes are blocked"),
    "neighbour": ("one neighbour entry points to the wrong half", "{} neighbour entries point to the wrong half"),
    "bandwidth": ("one half is slow", "{} halves are slow"),
    "latency": ("one half answers late", "{} halves answer late"),
}


@dataclass(frozen=True, slots=True)
class Headline:
    """What a person reads first."""

    sentence: str
    counts: str
    verdict: Verdict


def headline(verification: Verification) -> Headline:
    """The sentence and the numbers of one run of *Prove*."""
    verdicts = Counter(check.verdict for check in verification.checks)
    total = len(verification.checks)
    passed = verdicts[Verdict.PASS]
    if not total:
        return Headline("Nothing was proven.", "No check was made.", Verdict.NOT_AVAILABLE)
    kinds = Counter(c.kind for c in verification.checks if c.verdict in (Verdict.FAIL, Verdict.DEGRADED))
    what = [_NAMES[kind][0] if n == 1 else _NAMES[kind][1].format(n) for kind, n in kinds.items() if kind in _NAMES]
    wrong = verification.self_test.wrong if verification.self_test else 0
    if wrong:
        what.append("the collective self-test got wrong sums")
    parts = f"{', '.join(what[:-1])} and {what[-1]}" if len(what) > 1 else what[0] if what else ""
    if verdicts[Verdict.FAIL] or wrong:
        sentence = f"The cluster needs a hand: {parts}." if parts else "The cluster needs a hand."
    elif verdicts[Verdict.DEGRADED]:
        sentence = f"The cluster works, but {parts}." if parts else "The cluster works below its marks."
    elif verdicts[Verdict.NOT_AVAILABLE]:
        sentence = "What could be checked is fine; some checks could not be made."
    else:
        sentence = "The cluster works: every check passed."
    counts = [f"{passed} of {total} checks pass"]
    for verdict, word in (
        (Verdict.DEGRADED, "degraded"),
        (Verdict.FAIL, "failed"),
        (Verdict.NOT_AVAILABLE, "not available"),
    ):
        if verdicts[verdict]:
            counts.append(f"{verdicts[verdict]} {word}")
    took = f" Measured in {seconds(verification.seconds)}." if verification.seconds else ""
    return Headline(sentence, ", ".join(counts) + "." + took, verification.verdict)
