"""One desktop with some of the simulated machines: applies with a fault, comes back, and is judged."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from stellwerk.model.errors import BadInput, StellwerkError
from stellwerk.model.plan import NodePlan, Plan
from stellwerk.remote import Deadlines, LinkState, NodeLink, Target, UserIdentity
from stellwerk.setup.apply import Apply
from stellwerk.setup.look import take_look
from stellwerk.setup.outcome import ApplyOutcome, Channel, unfinished_plans
from stellwerk.setup.planning import build_plan
from stellwerk.setup.resume import Resume
from stellwerk.setup.session import ClusterSession
from stellwerk.setup.store import ClusterStore
from stellwerk.setup.undo import undo_plan
from stellwerk.virtual.client import VirtualCluster
from stellwerk.virtual.walk import seen
from stellwerk.virtual.walk.moments import BEFORE, DECIDED, HALFWAY, Moment, WalkFault, moments_of
from stellwerk.virtual.walk.tap import Keys, Tap, Tapped
from stellwerk.wire import to_wire

LEASE_S = 6.0
HARD_LIMIT_S = 120.0
SETTLE_S = 4.0
CONTACT_S = 30.0
BACK_S = 60.0  # for machines that boot, on a busy computer
POLL_S = 0.005  # how soon a watched journal is seen
REST_S = 0.1


@dataclass(frozen=True, slots=True)
class Row:
    """What came of one fault at one moment."""

    topology: str
    fault: str
    moment: str
    victim: str
    first: str  # what the desktop said by itself: new | old | unknown | died
    end: str  # where all machines are: new | old | broken
    why: str
    problems: tuple[str, ...]
    seconds: float


class Lane:
    """A cluster of the machines `names`, with a desktop of its own below `base`."""

    def __init__(self, cluster: VirtualCluster, names: Sequence[str], topology: str, base: Path) -> None:
        self.cluster = cluster
        self.names = tuple(names)
        self.topology = topology
        self.base = base
        self.keys = Keys(cluster)
        self.folder, _ = ClusterStore(base).create("walk")
        self.session = self._open()
        self.moments: list[Moment] = []
        self._plan: Plan | None = None
        self._old: dict[str, seen.Seen] = {}
        self._new: dict[str, seen.Seen] = {}
        self._count = 0

    def _open(self) -> ClusterSession:
        deadlines = Deadlines(reconnect_first_s=0.1, reconnect_max_s=0.5)
        return ClusterSession.open(self.folder, identity=UserIdentity(), deadlines=deadlines)

    async def close(self) -> None:
        await self.session.close()

    # -- preparing -----------------------------------------------------------------------------------------------

    async def prepare(self) -> None:
        """Pair, plan, apply once undisturbed and take it back: afterwards old, new and all moments are known."""
        for name in self.names:
            node = self.cluster.node(name)
            self.session.add(Target(node.host, node.port, node.user, name), name)
        for error in (await self.session.pair(self.keys)).values():
            if error is not None:
                raise error
        await self.session.hold()
        await self.session.unlock_sudo(self.keys)
        look = await take_look(self.session)
        self._plan = build_plan(self.session.cluster, look)
        self._old = await self._see()
        plan = self._fresh_plan("undisturbed")
        outcome = await self._apply(plan, self.session.links)
        if not outcome.applied:
            raise StellwerkError("the undisturbed apply did not succeed", why=outcome.why)
        self._new = await self._see()
        self.moments = moments_of(seen.steps(self.cluster.node(self.names[0]), plan.plan_id))
        problems = await self._take_back(plan)
        if problems:
            raise StellwerkError("the undisturbed apply could not be taken back", why="; ".join(problems))

    @property
    def plan(self) -> Plan:
        assert self._plan is not None, "prepare first"
        return self._plan

    def _node_plan(self, name: str) -> NodePlan:
        return next(node for node in self.plan.nodes if node.node == name)

    def _fresh_plan(self, label: str) -> Plan:
        self._count += 1
        return replace(self.plan, plan_id=f"walk-{self._count:03d}-{label}"[:60])

    async def _see(self) -> dict[str, seen.Seen]:
        state = await self.cluster.state()
        return {n: seen.look_at(self.cluster.node(n), state, self._node_plan(n)) for n in self.names}

    async def _apply(self, plan: Plan, channels: Mapping[str, Channel], tap: Tap | None = None) -> ApplyOutcome:
        return await Apply(
            plan,
            channels,
            self.folder.journal,
            tap.event if tap is not None else lambda event: None,
            lease_s=LEASE_S,
            hard_limit_s=HARD_LIMIT_S,
            settle_s=SETTLE_S,
            contact_s=CONTACT_S,
        ).run()

    # -- one fault at one moment -----------------------------------------------------------------------------------

    async def walk(self, fault: WalkFault, moment: Moment, victim: str) -> Row:
        """Apply with the fault, let the desktop come back, judge what is there, and go back to the start."""
        began = time.monotonic()
        plan = self._fresh_plan(f"{fault.key}-{moment.key}")
        problems: list[str] = []
        if fault.kind:
            first, said, missed = await self._disturbed(plan, fault, moment, victim)
        else:
            first, said, missed = "died", None, await self._killed(plan, fault, moment, victim)
        if missed:
            problems.append(f"the moment was not met: {missed}")
        await self._mend()
        await self._ready()
        resumed = await self._resume()
        said = resumed or said
        why = said.why if said is not None else "the nodes had ended it already"
        end = await self._judge(plan, fault, said, problems)
        if end == "new":
            problems += await self._take_back(plan)
        elif end == "broken":
            problems += await self._force_back(plan)
        seconds = round(time.monotonic() - began, 1)
        return Row(self.topology, fault.key, moment.key, victim, first, end, why, tuple(problems), seconds)

    async def _disturbed(
        self, plan: Plan, fault: WalkFault, moment: Moment, victim: str
    ) -> tuple[str, ApplyOutcome, str]:
        tap = Tap(moment, victim, lambda: self._strike(fault, victim))
        if moment.step:
            await self.cluster.set_fault(fault.kind, node=victim, on_step=moment.step, **fault.parameters)
        channels = {name: Tapped(link, tap.before) for name, link in self.session.links.items()}
        outcome = await self._apply(plan, channels, tap)
        if moment.step:
            missed = "" if await self._met(fault, plan, moment, victim) else "no such step in its journal"
        else:
            missed = "" if tap.struck else "not reached"
        return _first_word(outcome), outcome, missed

    async def _met(self, fault: WalkFault, plan: Plan, moment: Moment, victim: str) -> bool:
        """Whether the fault that waited for a step has struck; if not, it waits no longer.

        The journal is read now and then: a step that was written last may not have been seen when the apply ends.
        """
        async with asyncio.timeout(BACK_S):
            while any(f["state"] == "waiting" and f["node"] == victim for f in await self.cluster.faults()):
                if moment.key not in seen.steps(self.cluster.node(victim), plan.plan_id):
                    try:
                        await self.cluster.clear_fault(fault.kind, node=victim)
                    except BadInput:
                        return True  # it has struck just now, and is over
                    return False
                await asyncio.sleep(POLL_S)
        return True

    async def _strike(self, fault: WalkFault, victim: str) -> None:
        await self.cluster.set_fault(fault.kind, node=victim, **fault.parameters)

    async def _killed(self, plan: Plan, fault: WalkFault, moment: Moment, victim: str) -> str:
        """Run the apply in a process of its own and kill that at the moment. Says why it was missed, or ""."""
        await self.session.close()
        file = self.base / "plan.json"
        file.write_text(json.dumps(to_wire(plan)))
        argv = ["apply", "--cluster", self.folder.path.name, "--plan", str(file), "--lease", str(LEASE_S), "--yes"]
        log = self.base / "desktop.log"
        with log.open("wb") as stream:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "stellwerk.cli.main", *argv,
                env={**os.environ, "HOME": str(self.base), "STELLWERK_HOME": str(self.base)},
                stdin=asyncio.subprocess.DEVNULL, stdout=stream, stderr=stream,
            )  # fmt: skip
        missed = await self._kill_when(process, plan, moment, victim)
        if missed:
            missed = f"{missed}; it said {log.read_text(errors='replace')[-300:]!r}"
        if fault.key == "desktop-late":
            await self._until_quiet(HARD_LIMIT_S)
        self.session = self._open()
        return missed

    async def _kill_when(self, process: asyncio.subprocess.Process, plan: Plan, moment: Moment, victim: str) -> str:
        ended = asyncio.ensure_future(process.wait())
        try:
            while not self._reached(plan, moment, victim):
                done, _ = await asyncio.wait([ended], timeout=POLL_S)
                if done:
                    return f"the desktop ended by itself with {process.returncode}"
            process.send_signal(signal.SIGKILL)
            await ended
            return ""
        finally:
            if not ended.done():
                process.kill()
                await ended

    def _reached(self, plan: Plan, moment: Moment, victim: str) -> bool:
        if moment is BEFORE:
            return any(e.event == "begin" for e in self.folder.journal.of_plan(plan.plan_id))
        if moment is DECIDED:
            return any(e.event == "decision" for e in self.folder.journal.of_plan(plan.plan_id))
        if moment is HALFWAY:
            others = [n for n in self.names if n != victim]
            return any("confirmed" in seen.steps(self.cluster.node(n), plan.plan_id) for n in others)
        return moment.key in seen.steps(self.cluster.node(victim), plan.plan_id)

    # -- the desktop comes back --------------------------------------------------------------------------------------

    async def _mend(self) -> None:
        for entry in await self.cluster.faults():
            if entry["node"] in self.names:
                await self.cluster.clear_fault(entry["kind"], node=entry["node"])

    async def _ready(self) -> None:
        """All machines answer again, and root can be had on them."""
        async with asyncio.timeout(BACK_S):
            await asyncio.gather(*(self._one_ready(link) for link in self.session.links.values()))
        await self.session.hold()
        await self.session.unlock_sudo(self.keys)

    async def _one_ready(self, link: NodeLink) -> None:
        while True:
            try:
                if link.state in (LinkState.FOUND, LinkState.NEEDS_ATTENTION, LinkState.CLOSED):
                    await link.connect()
                await link.ready(BACK_S)
                await link.call("sudo.state", {}, deadline_s=10)
                return
            except StellwerkError:
                await asyncio.sleep(REST_S)

    async def _resume(self) -> ApplyOutcome | None:
        outcome = None
        for plan in unfinished_plans(self.folder.journal):
            outcome = await Resume(plan, self.session.links, self.folder.journal, contact_s=CONTACT_S).run()
        return outcome

    # -- judging -----------------------------------------------------------------------------------------------------

    async def _judge(self, plan: Plan, fault: WalkFault, said: ApplyOutcome | None, problems: list[str]) -> str:
        """Compare what is there with what was said. Returns new | old | broken."""
        if said is not None and said.settled:
            ended = {"confirmed", "reverted", "failed"}
            for name in await self._guards():
                if not ended & set(seen.steps(self.cluster.node(name), plan.plan_id)):
                    problems.append(f"{name} was still at work when the end was told")
        await self._until_quiet(HARD_LIMIT_S)
        there = await self._see()
        state = await self.cluster.state()
        sides = {}
        for name in self.names:
            side, differences = self._side(name, there[name])
            sides[name] = side
            if side == "broken":
                problems.append(f"{name} is neither on the old nor on the new network: {', '.join(differences)}")
            # A guard that is killed right after its confirmation cannot tidy up: the next boot or change does.
            tidy = fault.key != "guard" or plan_end(seen.steps(self.cluster.node(name), plan.plan_id)) != "confirmed"
            left = seen.leftovers(self.cluster.node(name), state) if tidy else []
            problems.extend(f"{name} keeps {thing}" for thing in left)
        if len(set(sides.values())) > 1:
            problems.append(f"not the same on all: {sides}")
        if self.folder.journal.unfinished():
            problems.append("the desktop's journal is still open")
        for node in said.nodes if said is not None else ():
            if node.configuration not in (sides[node.node], "unchanged"):
                problems.append(f"{node.node} is on {sides[node.node]}, and was said to be on {node.configuration}")
        return sides[self.names[0]] if len(set(sides.values())) == 1 else "broken"

    def _side(self, name: str, there: seen.Seen) -> tuple[str, list[str]]:
        from_old, from_new = there.other_than(self._old[name]), there.other_than(self._new[name])
        if not from_old:
            return "old", []
        if not from_new:
            return "new", []
        return "broken", min(from_old, from_new, key=len)

    async def _guards(self) -> list[str]:
        state = await self.cluster.state()
        own = [entry for entry in state["nodes"] if entry["name"] in self.names]
        return [entry["name"] for entry in own if any(seen.is_guard(argv) for argv in entry["processes"])]

    async def _until_quiet(self, limit_s: float) -> None:
        async with asyncio.timeout(limit_s):
            while await self._guards():
                await asyncio.sleep(REST_S)

    async def _take_back(self, plan: Plan) -> list[str]:
        """Undo a confirmed plan: the way of `stellwerk undo`."""
        outcome = await undo_plan(plan.plan_id, self.session.links, self.folder.journal)
        problems = [f"{n.node} was not taken back: {n.why}" for n in outcome.nodes if n.configuration == "new"]
        await self._until_quiet(HARD_LIMIT_S)
        there = await self._see()
        for name in self.names:
            left = there[name].other_than(self._old[name])
            if left:
                problems.append(f"taking back left on {name}: {', '.join(left)}")
        return problems

    async def _force_back(self, plan: Plan) -> list[str]:
        """After a broken end: let the desktop try once more to go back, so that the walk can go on."""
        self.folder.journal.write("begin", plan.plan_id, plan=to_wire(plan))
        self.folder.journal.write("decision", plan.plan_id, verdict="revert", why="the walk goes on")
        await self._resume()
        there = await self._see()
        left = [n for n in self.names if there[n].other_than(self._old[n])]
        if left:
            raise BadInput(f"{', '.join(left)} cannot be brought back to the start", why=f"after {plan.plan_id}")
        return []


def plan_end(steps: Sequence[str]) -> str:
    """The last state or step in a journal."""
    return steps[-1] if steps else ""


def _first_word(outcome: ApplyOutcome) -> str:
    if outcome.applied:
        return "new"
    sides = {n.configuration for n in outcome.nodes} - {"unchanged"}
    return sides.pop() if len(sides) == 1 else "unknown" if "unknown" in sides else "broken"
