"""Two-phase apply over simulated netguards: whatever fails, and whenever, all nodes end on the same side."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stellwerk.model.errors import ApplyFailed, BadInput, ConnectionFailed
from stellwerk.model.guard import GuardState, GuardStatus, PingResult
from stellwerk.model.plan import FileChange, NodePlan, Plan
from stellwerk.setup.apply import Apply
from stellwerk.setup.journal import Journal
from stellwerk.setup.outcome import ApplyEvent, unfinished_plans
from stellwerk.setup.resume import Resume
from stellwerk.setup.undo import applied_plans, undo_plan
from stellwerk.wire import to_wire


class SimulatedGuard:
    """A node with a netguard: its state is on the node, its connection may fail at any numbered call."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.status = GuardStatus(GuardState.IDLE)
        self.calls: list[str] = []
        self.failing: dict[int, str] = {}  # call number -> before | after | lapse
        self.away = False
        self.refuse_start = ""
        self.ping_works = True
        self.hold = asyncio.Event()
        self.hold.set()

    def lapse(self) -> None:
        if self.status.state is GuardState.HOLDING:
            self.status = GuardStatus(GuardState.REVERTED, self.status.plan_id, why="lease lost")

    async def ready(self, deadline_s: float) -> None:
        await asyncio.sleep(0)
        if self.away:
            raise ConnectionFailed("away", node=self.name)

    async def call(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        cls: type[Any] | None = None,
        *,
        deadline_s: float | None = None,
        on_progress: Callable[[Any], None] | None = None,
    ) -> Any:
        await asyncio.sleep(0)
        failure = self.failing.pop(len(self.calls), "")
        self.calls.append(method)
        if self.away or failure == "before":
            raise ConnectionFailed("the connection was cut", node=self.name)
        if failure == "lapse":
            self.lapse()
        if method == "net.guard.start":
            await self.hold.wait()
        answer = self._do(method, dict(params or {}))
        if on_progress is not None:
            on_progress(to_wire(answer))
        if failure == "after":
            raise ConnectionFailed("the connection was cut", node=self.name)
        return answer

    def _do(self, method: str, params: dict[str, Any]) -> Any:
        if method == "verify.ping":
            received = 1 if self.ping_works else 0
            return PingResult(params["destination"], params["netdev"], 56, False, 1, received)
        if method == "net.guard.start":
            if self.refuse_start:
                self.status = GuardStatus(GuardState.REVERTED, params["plan_id"], why=self.refuse_start)
            elif self.status.state is not GuardState.HOLDING:
                self.status = GuardStatus(GuardState.HOLDING, params["plan_id"])
        elif method == "net.guard.confirm" and self.status.state is GuardState.HOLDING:
            self.status = GuardStatus(GuardState.CONFIRMED, params["plan_id"])
        elif method in ("net.guard.revert", "net.guard.undo"):
            self.status = GuardStatus(GuardState.REVERTED, params["plan_id"], why=params.get("why", "undone"))
        return self.status


def plan(names: tuple[str, ...] = ("a", "b"), last: str = "") -> Plan:
    nodes = tuple(
        NodePlan(n, n, (), (FileChange("/etc/x", None, "y"),), peers=(("if0", "10.0.0.9"),), last=n == last)
        for n in names
    )
    return Plan("p1", "2026-01-01T00:00:00Z", "workshop", "pair", nodes)


def sides(guards: Mapping[str, SimulatedGuard]) -> set[bool]:
    """True: the new configuration is live on that node."""
    return {g.status.state in (GuardState.HOLDING, GuardState.CONFIRMED) for g in guards.values()}


def guards(*names: str) -> dict[str, SimulatedGuard]:
    return {name: SimulatedGuard(name) for name in names}


async def test_a_good_apply_confirms_every_node(tmp_path: Path) -> None:
    nodes, journal = guards("a", "b"), Journal(tmp_path / "j")
    outcome = await Apply(plan(), nodes, journal).run()
    assert outcome.applied and outcome.consistent
    assert all(g.status.state is GuardState.CONFIRMED for g in nodes.values())
    assert journal.unfinished() == []


async def test_one_refusing_node_brings_all_back_and_is_named(tmp_path: Path) -> None:
    nodes = guards("a", "b")
    nodes["b"].refuse_start = "netplan generate refused: line 3"
    outcome = await Apply(plan(), nodes, Journal(tmp_path / "j")).run()
    assert not outcome.applied and outcome.consistent
    assert outcome.why == "b: netplan generate refused: line 3"
    assert {n.configuration for n in outcome.nodes} == {"old"}


async def test_the_node_through_which_we_talk_goes_last(tmp_path: Path) -> None:
    nodes = guards("a", "b", "c")
    order: list[str] = []

    def seen(event: ApplyEvent) -> None:
        if event.state == "holding" and event.node and event.node not in order:
            order.append(event.node)

    await Apply(plan(("a", "b", "c"), last="a"), nodes, Journal(tmp_path / "j"), seen).run()
    assert order[-1] == "a"


async def test_the_decision_is_written_before_the_first_node_hears_of_it(tmp_path: Path) -> None:
    nodes, journal = guards("a", "b"), Journal(tmp_path / "j")
    written: list[bool] = []
    original = nodes["a"]._do

    def spy(method: str, params: dict[str, Any]) -> Any:
        if method == "net.guard.confirm":
            written.append(any(e.event == "decision" for e in journal.entries()))
        return original(method, params)

    nodes["a"]._do = spy  # type: ignore[method-assign]
    await Apply(plan(), nodes, journal).run()
    assert written == [True]


async def test_neighbours_that_do_not_answer_bring_all_back(tmp_path: Path) -> None:
    nodes = guards("a", "b")
    nodes["b"].ping_works = False
    outcome = await Apply(plan(), nodes, Journal(tmp_path / "j"), settle_s=0.05).run()
    assert not outcome.applied
    assert outcome.why == "b cannot reach 10.0.0.9 over if0: no answer"
    assert sides(nodes) == {False}


async def test_cancel_rolls_back_and_still_tells_the_outcome(tmp_path: Path) -> None:
    nodes = guards("a", "b")
    nodes["b"].hold.clear()
    apply = Apply(plan(), nodes, Journal(tmp_path / "j"))
    running = asyncio.create_task(apply.run())
    while nodes["a"].status.state is not GuardState.HOLDING:
        await asyncio.sleep(0)
    apply.cancel()
    outcome = await running
    assert not outcome.applied and outcome.why == "cancelled" and sides(nodes) == {False}


async def test_a_cancelled_task_rolls_back_before_it_ends(tmp_path: Path) -> None:
    nodes, journal = guards("a", "b"), Journal(tmp_path / "j")
    nodes["b"].hold.clear()
    running = asyncio.create_task(Apply(plan(), nodes, journal).run())
    while nodes["a"].status.state is not GuardState.HOLDING:
        await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert sides(nodes) == {False} and journal.unfinished() == []


async def test_a_node_that_is_not_connected_is_refused_before_anything_happens(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    with pytest.raises(ApplyFailed, match="not connected: b"):
        await Apply(plan(), guards("a"), journal).run()
    assert list(journal.entries()) == []


async def test_an_empty_plan_touches_nothing(tmp_path: Path) -> None:
    empty = Plan("p", "", "c", "pair", (NodePlan("a", "a", (), ()),))
    nodes = guards("a")
    outcome = await Apply(empty, nodes, Journal(tmp_path / "j")).run()
    assert outcome.applied and nodes["a"].calls == []


async def test_a_node_away_at_the_decision_is_unknown_and_ended_at_the_next_contact(tmp_path: Path) -> None:
    nodes, journal = guards("a", "b"), Journal(tmp_path / "j")
    original = nodes["b"]._do

    def leave_before_confirm(method: str, params: dict[str, Any]) -> Any:
        answer = original(method, params)
        if any(e.event == "decision" for e in journal.entries()):
            nodes["b"].away = True
            raise ConnectionFailed("pulled", node="b")
        return answer

    nodes["b"]._do = leave_before_confirm  # type: ignore[method-assign]
    outcome = await Apply(plan(), nodes, journal, contact_s=0.05).run()
    assert not outcome.settled and journal.unfinished() == ["p1"]
    nodes["b"]._do = original  # type: ignore[method-assign]
    nodes["b"].away = False
    nodes["b"].lapse()  # its lease ran out meanwhile
    [again] = unfinished_plans(journal)
    resumed = await Resume(again, nodes, journal).run()
    assert resumed.applied and sides(nodes) == {True} and journal.unfinished() == []


async def test_when_a_node_cannot_be_brought_forward_the_confirmed_ones_go_back(tmp_path: Path) -> None:
    nodes, journal = guards("a", "b"), Journal(tmp_path / "j")
    journal.write("begin", "p1", plan=to_wire(plan()))
    journal.write("decision", "p1", verdict="confirm", why="")
    nodes["a"].status = GuardStatus(GuardState.CONFIRMED, "p1")
    nodes["b"].status = GuardStatus(GuardState.REVERTED, "p1", why="lease lost")
    nodes["b"].refuse_start = "no space left"
    outcome = await Resume(plan(), nodes, journal).run()
    assert not outcome.applied and outcome.consistent and sides(nodes) == {False}
    assert "no space left" in outcome.why


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.dictionaries(
        st.tuples(st.sampled_from(["a", "b", "c"]), st.integers(0, 7)),
        st.sampled_from(["before", "after", "lapse"]),
        max_size=5,
    ),
    die_after=st.one_of(st.none(), st.integers(1, 30)),
)
def test_whatever_fails_whenever_all_nodes_end_on_the_same_side(
    tmp_path_factory: pytest.TempPathFactory, data: dict[tuple[str, int], str], die_after: int | None
) -> None:
    """Cut connections, lapsed leases, and the desktop killed at any point; then it comes back once."""

    async def story() -> None:
        journal = Journal(tmp_path_factory.mktemp("j") / "j")
        nodes = guards("a", "b", "c")
        for (name, number), failure in data.items():
            nodes[name].failing[number] = failure
        three = plan(("a", "b", "c"), last="c")
        await _run_or_die(three, nodes, journal, die_after)
        for guard in nodes.values():
            guard.failing.clear()
            guard.lapse()  # long enough away for every lease to run out
        for left in unfinished_plans(journal):
            outcome = await Resume(left, nodes, journal).run()
            assert outcome.consistent
        assert len(sides(nodes)) == 1, {n: g.status for n, g in nodes.items()}
        assert journal.unfinished() == []

    asyncio.run(story())


async def _run_or_die(three: Plan, nodes: dict[str, SimulatedGuard], journal: Journal, die_after: int | None) -> None:
    """Run the apply; after `die_after` calls the desktop is gone and writes nothing any more."""
    total = 0
    killed = asyncio.Event()
    for guard in nodes.values():
        original = guard._do

        def counted(method: str, params: dict[str, Any], original: Any = original) -> Any:
            nonlocal total
            total += 1
            if die_after is not None and total >= die_after:
                killed.set()
                raise _Killed
            return original(method, params)

        guard._do = counted  # type: ignore[method-assign]
        guard.undo_count = original  # type: ignore[attr-defined]
    frozen = journal.write

    def write(event: str, plan_id: str, node: str | None = None, **more: Any) -> Any:
        if killed.is_set():
            raise _Killed
        return frozen(event, plan_id, node, **more)

    journal.write = write  # type: ignore[method-assign]
    try:
        await Apply(three, nodes, journal, settle_s=0.01, contact_s=0.05).run()
    except _Killed:
        pass
    finally:
        journal.write = frozen  # type: ignore[method-assign]
        for guard in nodes.values():
            guard._do = guard.undo_count  # type: ignore[method-assign,attr-defined]


class _Killed(BaseException):
    """The desktop's process ends here."""


async def test_the_newest_applied_plan_can_be_taken_back_and_no_other(tmp_path: Path) -> None:
    nodes, journal = guards("a", "b"), Journal(tmp_path / "j")
    await Apply(plan(), nodes, journal).run()
    with pytest.raises(BadInput, match="that is p1"):
        await undo_plan("p0", nodes, journal)
    outcome = await undo_plan("p1", nodes, journal)
    assert {n.configuration for n in outcome.nodes} == {"old"} and sides(nodes) == {False}
    assert applied_plans(journal) == [] and journal.unfinished() == []


class SlowToNotice(SimulatedGuard):
    """Its connection is lost, and for a moment its link still believes to be ready: both answers come at once."""

    noticed = False

    async def ready(self, deadline_s: float) -> None:
        return None

    async def call(self, method: str, *args: Any, **more: Any) -> Any:
        if method != "net.guard.start" and not self.noticed and self.status.state is GuardState.HOLDING:
            asyncio.get_running_loop().call_soon(setattr, self, "noticed", True)
            raise ConnectionFailed("the connection was cut", node=self.name)
        return await super().call(method, *args, **more)


async def test_a_link_that_is_slow_to_notice_its_loss_does_not_stop_the_desktop(tmp_path: Path) -> None:
    nodes: dict[str, SimulatedGuard] = {"a": SlowToNotice("a"), "b": SimulatedGuard("b")}
    applied = Apply(
        replace(plan(), nodes=tuple(replace(n, peers=()) for n in plan().nodes)), nodes, Journal(tmp_path / "j")
    )
    async with asyncio.timeout(20):
        outcome = await applied.run()
    assert outcome.applied
