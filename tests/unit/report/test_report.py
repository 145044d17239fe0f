"""Reports: read back as written, and harmless whatever a machine is called."""

from __future__ import annotations

import dataclasses
import json
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.planning import PAIR
from fixtures.wires import hear, sparks
from stellwerk.fabric import find_cabling, find_topology
from stellwerk.model.errors import BadInput
from stellwerk.model.finding import Check, Finding, Severity, Verdict, Verification
from stellwerk.model.selftest import SelfTest, SelfTestRow
from stellwerk.report import (
    SCHEMA_VERSION,
    Change,
    Report,
    clean,
    compare,
    from_json,
    headline,
    make_report,
    render_html,
    to_html,
    to_json,
)

NASTY = "<img src=x onerror=alert(1)> [red]\x1b[31m&\"'\u202e\x00"
TEXT = st.one_of(st.just(NASTY), st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
CHECKS = st.builds(
    Check,
    kind=st.sampled_from(["carrier", "speed", "mtu", "bandwidth", "latency", "bandwidth-port", "odd"]),
    node=TEXT,
    subject=TEXT,
    verdict=st.sampled_from(Verdict),
    value=st.none() | st.floats(0, 1000),
    unit=st.sampled_from(["", "Gb/s"]),
    pass_mark=st.none() | st.floats(1, 200),
    text=TEXT,
    why=TEXT,
    remedy=TEXT,
    port=st.none() | st.integers(0, 3),
    half=st.none() | st.sampled_from(["A", "B"]),
    peer=st.none() | TEXT,
)
SELF_TESTS = st.builds(
    SelfTest,
    ranks=st.integers(2, 8),
    transport=st.sampled_from(["tcp", "verbs"]),
    calls=st.integers(0, 10_000),
    sizes=st.just((8192, 65536)),
    rows=st.lists(
        st.builds(
            SelfTestRow,
            algorithm=st.sampled_from(["direct", "ring", "relay"]) | TEXT,
            median_us=st.tuples(st.none() | st.floats(0.1, 1e6), st.none() | st.floats(0.1, 1e6)),
            wrong=st.integers(0, 3),
        ),
        max_size=3,
    ).map(tuple),
    best=st.just(("direct", None)),
    notes=st.lists(TEXT, max_size=2).map(tuple),
    simulated=st.booleans(),
)
PROOFS = st.builds(
    Verification,
    run_id=TEXT,
    cluster=TEXT,
    topology=TEXT,
    started_at=TEXT,
    seconds=st.floats(0, 1000),
    checks=st.lists(CHECKS, max_size=6).map(tuple),
    simulated=st.booleans(),
    notes=st.lists(TEXT, max_size=2).map(tuple),
    self_test=st.none() | SELF_TESTS,
)
FINDINGS = st.builds(
    Finding, TEXT, st.sampled_from(Severity), TEXT, st.none() | TEXT, st.none() | TEXT,
    st.lists(TEXT, max_size=2).map(tuple), TEXT, st.lists(TEXT, max_size=2).map(tuple),
)  # fmt: skip
REPORTS = st.builds(
    Report, TEXT, TEXT, TEXT, TEXT, cables=st.lists(TEXT, max_size=2).map(tuple), verification=st.none() | PROOFS,
    findings=st.lists(FINDINGS, max_size=2).map(tuple), not_available=st.lists(TEXT, max_size=2).map(tuple),
    simulated=st.booleans(),
)  # fmt: skip
ALLOWED = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "span", "table", "thead", "tbody", "tr"}
ALLOWED |= {"th", "td", "div", "strong", "br", "code", "ol", "ul", "li"}


class Tags(HTMLParser):
    """Collects tags and attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(page: str) -> Tags:
    tags = Tags()
    tags.feed(page)
    tags.close()
    return tags


def check(kind: str, verdict: Verdict, text: str = "", value: float | None = None, mark: float | None = None) -> Check:
    return Check(kind, "spark-1", "port 1 half A -> spark-2", verdict, value, "", mark, text, "because", "do this")


def proof(*checks: Check) -> Verification:
    return Verification("r", "workshop", "pair", "2026-11-30T10:00:00Z", 12.0, checks)


@settings(max_examples=60, deadline=None)
@given(REPORTS)
def test_a_report_is_read_back_as_it_was(report: Report) -> None:
    assert from_json(to_json(report)) == report
    assert json.loads(to_json(report))["schema_version"] == SCHEMA_VERSION


@settings(max_examples=60, deadline=None)
@given(REPORTS)
def test_no_string_becomes_markup(report: Report) -> None:
    page = to_html(report, compare(report.verification, report.verification) if report.verification else ())
    tags = parsed(page)
    assert tags.tags <= ALLOWED
    assert tags.attributes <= {"lang", "charset", "name", "content", "http-equiv", "class"}
    assert "\x1b" not in page and "\x00" not in page and "\u202e" not in page
    assert ("Simulated" in tags.text) == report.simulated or "Simulated" in str(report)


def test_a_nasty_host_name_is_shown_as_text() -> None:
    members = sparks(2, PAIR)
    facts = dataclasses.replace(members[0].facts, hostname=NASTY, product=NASTY)
    members = (dataclasses.replace(members[0], name=NASTY, facts=facts), members[1])
    page = to_html(make_report(members, None, cluster=NASTY, created_at="now", product_version="1"))
    assert "<img" not in page and "&lt;img src=x" in page
    assert "[red]" in page


def test_clean_shortens_and_keeps_words() -> None:
    assert clean("a\nb\tc") == "a b c"
    assert len(clean("x" * 10_000)) < 500


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "not JSON"),
        ("[]", "not a report"),
        ('{"schema": "other"}', "not a report"),
        ('{"schema": "stellwerk-report", "schema_version": 99}', "newer Stellwerk"),
        ('{"schema": "stellwerk-report", "schema_version": "1"}', "cannot read"),
        ('{"schema": "stellwerk-report", "schema_version": 1}', "damaged"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_what_is_no_report_is_a_clear_message(text: str, what: str) -> None:
    with pytest.raises(BadInput, match=what) as caught:
        from_json(text, "old.json")
    assert "old.json" in str(caught.value)


def test_a_whole_report_shows_machines_cables_and_ports() -> None:
    members = sparks(2, PAIR)
    topology = find_topology(members, find_cabling(members, hear(2, PAIR)))
    report = make_report(
        members,
        topology,
        cluster="workshop",
        created_at="2026-11-30T10:00:00Z",
        product_version="0.1",
        verification=proof(check("mtu", Verdict.FAIL, "no answer")),
        findings=[Finding("mtu-mixed", Severity.BAD, "MTU", "spark-1", None, ("mtu 1500",), "it means", ("mend it",))],
        not_available=[("clocks", "it takes two nodes")],
    )
    text = parsed(to_html(report)).text
    expected = ["spark-1 port 1 to spark-2 port 1", "enP2p1s0f1np1", "580.126.09", "121.6 GiB", "because", "mtu-mixed"]
    expected += ["What to do: do this", "mend it", "clocks: it takes two nodes", "no address", "200 Gb/s"]
    for part in expected:
        assert part in text, part
    assert not report.simulated and "Simulated" not in text


def test_simulated_machines_are_said_at_the_top() -> None:
    members = sparks(1)
    facts = dataclasses.replace(members[0].facts, product="NVIDIA DGX Spark (simulated)")
    report = make_report(
        (dataclasses.replace(members[0], facts=facts),), None, cluster="c", created_at="", product_version="1"
    )
    assert report.simulated and json.loads(to_json(report))["simulated"] is True
    assert "No figure here was measured on hardware" in to_html(report)


def test_the_headline_says_what_is_wrong() -> None:
    fine = check("speed", Verdict.PASS)
    assert headline(proof(fine)).sentence == "The cluster works: every check passed."
    slow = headline(proof(fine, check("bandwidth", Verdict.DEGRADED), check("speed", Verdict.DEGRADED)))
    assert slow.sentence == "The cluster works, but one half is slow and one link is below 200 Gb/s."
    assert slow.counts == "1 of 3 checks pass, 2 degraded. Measured in 12 s."
    assert headline(proof(check("mtu", Verdict.FAIL), check("mtu", Verdict.FAIL))).sentence == (
        "The cluster needs a hand: large packets do not pass in 2 directions."
    )
    assert "could not be made" in headline(proof(fine, check("gid", Verdict.NOT_AVAILABLE))).sentence
    assert headline(proof()).verdict is Verdict.NOT_AVAILABLE


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (check("bandwidth", Verdict.PASS, "", 97.0, 92), check("bandwidth", Verdict.PASS, "", 97.5, 92), Change.SAME),
        (check("bandwidth", Verdict.PASS, "", 111.0, 92), check("bandwidth", Verdict.PASS, "", 97.0, 92), Change.WORSE),
        (check("latency", Verdict.PASS, "", 2.0, 4), check("latency", Verdict.PASS, "", 3.0, 4), Change.WORSE),
        (check("latency", Verdict.PASS, "", 3.0, 4), check("latency", Verdict.PASS, "", 2.0, 4), Change.BETTER),
        (check("mtu", Verdict.FAIL), check("mtu", Verdict.PASS), Change.BETTER),
        (check("mtu", Verdict.PASS), check("mtu", Verdict.NOT_AVAILABLE), Change.WORSE),
        (check("gid", Verdict.PASS, "index 3", 3.0), check("gid", Verdict.PASS, "index 4", 4.0), Change.SAME),
    ],
)
def test_a_comparison_says_better_or_worse(before: Check, after: Check, change: Change) -> None:
    (found,) = compare(proof(before), proof(after))
    assert found.change is change


def test_checks_that_come_and_go_are_named_and_worse_comes_first() -> None:
    before = proof(check("mtu", Verdict.PASS, "9000"), check("gid", Verdict.PASS, "index 3"))
    after = proof(check("mtu", Verdict.FAIL, "no answer"), check("rdma", Verdict.PASS, "active"))
    found = compare(before, after)
    assert [(c.change, c.check.kind) for c in found] == [
        (Change.WORSE, "mtu"),
        (Change.NEW, "rdma"),
        (Change.GONE, "gid"),
    ]
    assert found[0].text == "no answer, before 9000"
    page = to_html(Report("c", "", "", "pair", verification=after), found, "9 Nov")
    assert "Compared with 9 Nov" in page and "no answer, before 9000" in page


def test_a_proof_alone_makes_a_page_that_compares_with_the_run_before() -> None:
    earlier = dataclasses.replace(proof(check("mtu", Verdict.PASS, "9000")), started_at="2026-11-09T08:00:00Z")
    page = render_html(dataclasses.replace(proof(check("mtu", Verdict.FAIL, "no answer")), simulated=True), earlier)
    text = parsed(page).text
    assert "workshop: pair" in text and "Nodes" not in text and "Simulated" in text
    assert "Compared with the run of 2026-11-09T08:00:00Z" in text and "no answer, before 9000" in text
    assert "Compared" not in render_html(earlier)


def self_tested(wrong: int = 0) -> Verification:
    rows = (SelfTestRow("direct", (22.0, 61.0), 0), SelfTestRow("ring", (90.4, None), wrong))
    test = SelfTest(4, "tcp", 812, (8192, 65536), rows, ("direct", "direct"), ("rank 2: no RoCE v2 GID",), True)
    check = Check("carrier", "spark-1", "port 0 A", Verdict.PASS)
    return Verification("r1", "desk", "ring", "2026-11-30T12:00:00Z", 2.0, (check,), True, self_test=test)


def test_the_report_shows_the_collective_self_test_with_its_times_and_reasons() -> None:
    page = render_html(self_tested())
    for text in (
        "Collective self-test",
        "4 ranks",
        "812 calls",
        "22.0 µs",
        "90.4 µs",
        "rank 2: no RoCE v2 GID",
        "exact",
    ):
        assert text in page
    assert "64 KiB" in page


def test_one_wrong_sum_fails_a_proof_whose_checks_all_pass() -> None:
    assert self_tested().verdict is Verdict.PASS
    assert self_tested(wrong=1).verdict is Verdict.FAIL
    assert "wrong" in headline(self_tested(wrong=1)).sentence
    assert headline(self_tested(wrong=1)).verdict is Verdict.FAIL
