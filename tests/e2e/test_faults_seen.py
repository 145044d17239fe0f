"""Everything that can be broken in a virtual cluster, as a user meets it: machine, cause and remedy in words, the other
machine goes on, and nothing half-applied is left."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from e2e.support import QUICK, Journey, Person, journey
from stellwerk.doctor import examine, open_case
from stellwerk.model.errors import HostKeyChanged, StellwerkError
from stellwerk.model.finding import Verdict, Verification
from stellwerk.remote import LinkState, PasswordQuestion, Target, UserIdentity
from stellwerk.setup.apply import Apply
from stellwerk.setup.look import Look, take_look
from stellwerk.setup.outcome import ApplyOutcome, unfinished_plans
from stellwerk.setup.planning import build_plan
from stellwerk.setup.prove import prove
from stellwerk.setup.resume import Resume
from stellwerk.setup.session import ClusterSession
from stellwerk.setup.store import ClusterStore
from stellwerk.setup.undo import undo_plan
from stellwerk.virtual import VirtualCluster
from stellwerk.virtual.faults import KINDS

OURS = "/etc/netplan/60-stellwerk.yaml"

# Where each kind is looked at; a kind that is new belongs into one of these tests.
WHILE_PAIRING = {
    "power-off",
    "power-on",
    "disk-full",
    "python-missing",
    "sudo-none",
    "sudo-nopasswd",
    "sudo-wrong-password",
}
WHILE_PLANNING = {"twins-one-subnet", "link-local-off", "foreign-netplan"}
# How it is set, and the words that the reason must hold.
WHILE_APPLYING_HOW: dict[str, Any] = {
    "guard-killed": ({"on_step": '"state":"holding"'}, ("spark-2",)),
    "disk-full": ({"on_step": '"name":"backup"'}, ("spark-2",)),
    "sudo-none": ({}, ("spark-2", "sudoers")),
    "sudo-wrong-password": ({}, ("spark-2", "password")),
}
ON_THE_WIRE = {"cable-unplugged", "cable-wrong-port", "link-100g", "half-13g", "mtu-reset", "clock-skew"}
ON_THE_LINK = {"ssh-drop", "agent-killed", "reboot", "power-off", "reinstall"}
ON_A_SWITCH = {"switch-silent"}


def test_every_kind_of_fault_is_looked_at() -> None:
    assert (
        set(KINDS) == WHILE_PAIRING | WHILE_PLANNING | set(WHILE_APPLYING_HOW) | ON_THE_WIRE | ON_THE_LINK | ON_A_SWITCH
    )


def for_a_person(error: StellwerkError | None, node: str, *words: str) -> None:
    """It names the machine, says why or what, and what to do; no program's innards."""
    assert error is not None
    text = str(error)
    assert error.node == node, text
    assert error.remedy, text
    for word in words:
        assert word in text, text
    for innards in ("Traceback", "errno", "Errno", "Error(", "object at", "None"):
        assert innards not in text, text


async def plan_and_apply(made: Journey) -> ApplyOutcome:
    plan = build_plan(made.session.cluster, await take_look(made.session, hear_s=1.0))
    assert not plan.empty
    return await Apply(plan, made.session.links, made.folder.journal).run()


def untouched(made: Journey) -> bool:
    return not any(made.root(n.name, OURS).exists() for n in made.cluster.nodes)


class WrongSudo(Person):
    """Gives the login's password to sudo."""

    async def sudo_password(self, question: PasswordQuestion) -> str | None:
        return self.cluster.node(question.node).password if question.attempt == 1 else None


async def test_while_pairing_one_machine_in_trouble_does_not_hold_up_the_other(tmp_path: Path) -> None:
    async with VirtualCluster.start(2, "pair") as cluster:

        async def desktop(name: str) -> tuple[ClusterSession, dict[str, StellwerkError | None]]:
            folder, _ = ClusterStore(tmp_path / name).create(name)
            session = ClusterSession.open(folder, identity=UserIdentity(), deadlines=QUICK)
            for node in cluster.nodes:
                session.add(Target(node.host, node.port, node.user, node.name), node.name)
            return session, await session.pair(Person(cluster))

        home = Path(cluster.node("spark-2").home)
        await cluster.set_fault("disk-full", node="spark-2")
        session, errors = await desktop("full")
        assert errors["spark-1"] is None
        for_a_person(errors["spark-2"], "spark-2", "disk is full", "Free")
        assert not list(home.rglob("*.pyz")), "half an agent is left"
        await cluster.clear_fault("disk-full", node="spark-2")
        assert await session.pair(Person(cluster), ["spark-2"]) == {"spark-2": None}, "one is retried without the other"
        await session.close()

        await cluster.set_fault("python-missing", node="spark-2")
        session, errors = await desktop("bare")
        assert errors["spark-1"] is None
        for_a_person(errors["spark-2"], "spark-2", "python3", "install")
        await session.close()
        await cluster.clear_fault("python-missing", node="spark-2")

        await cluster.set_fault("power-off", node="spark-2")
        session, errors = await desktop("off")
        assert errors["spark-1"] is None
        for_a_person(errors["spark-2"], "spark-2", "did not answer", "It is off", "Check that the machine is on")
        await cluster.set_fault("power-on", node="spark-2")
        assert await session.pair(Person(cluster), ["spark-2"]) == {"spark-2": None}

        for kind, state, words in (
            ("sudo-wrong-password", "password", "the sudo password"),
            ("sudo-none", "none", "not in the sudoers file"),
            ("sudo-nopasswd", "nopasswd", ""),
        ):
            await cluster.set_fault(kind, node="spark-2")
            await session.forget_sudo()
            sudo = await session.unlock_sudo(WrongSudo(cluster))
            assert (sudo["spark-1"].unlocked, sudo["spark-2"].state) == (True, state)
            assert words in (sudo["spark-2"].why or ""), sudo
            await cluster.clear_fault(kind, node="spark-2")
        await session.close()


async def test_while_planning_what_is_there_is_explained_and_put_right(tmp_path: Path) -> None:
    async with journey(tmp_path) as made:
        session = made.session
        foreign = made.root("spark-2", "/etc/netplan/99-fastlink.yaml")
        for kind, words in (
            ("twins-one-subnet", "one subnet for two links confuses routing"),
            ("link-local-off", "everything else in it stays"),
            ("foreign-netplan", "everything else in it stays"),
        ):
            await made.cluster.set_fault(kind, node="spark-2")
            await session.links["spark-2"].ready(30)
            look = await take_look(session, hear_s=1.0)
            plan = build_plan(session.cluster, look)
            said = " ".join(change.why for node in plan.nodes if node.node == "spark-2" for change in node.changes)
            assert words in said, f"{kind}: {said}"
            if kind == "twins-one-subnet":
                found = examine(open_case(look.members, look.topology, look.wanted)).findings
                assert ("twins-one-subnet", "spark-2") in {(f.code, f.node) for f in found}
            if kind != "foreign-netplan":
                await made.cluster.clear_fault(kind, node="spark-2")
                continue
            # The hardest of them: a file of somebody else that also holds the management interface.
            before = foreign.read_text()
            outcome = await Apply(plan, session.links, made.folder.journal).run()
            assert outcome.applied, f"{kind}: {outcome}"
            assert "enP7s7" in foreign.read_text(), "the management interface's part must stay"
            assert "enp1s0f1np1" not in foreign.read_text()
            taken_back = await undo_plan(plan.plan_id, session.links, made.folder.journal)
            assert {node.configuration for node in taken_back.nodes} == {"old"}, taken_back
            assert untouched(made)
            assert foreign.read_text() == before
            await made.cluster.clear_fault(kind, node="spark-2")


async def test_while_applying_every_machine_goes_back_and_the_reason_names_the_one(tmp_path: Path) -> None:
    async with journey(tmp_path) as made:
        session = made.session
        journal = made.folder.journal
        plan = build_plan(session.cluster, await take_look(session, hear_s=1.0))
        for number, (kind, (how, words)) in enumerate(WHILE_APPLYING_HOW.items()):
            await session.forget_sudo()
            await made.cluster.set_fault(kind, node="spark-2", **how)
            await session.unlock_sudo(WrongSudo(made.cluster))
            tried = replace(plan, plan_id=f"try-{number}")
            outcome = await Apply(tried, session.links, journal).run()
            assert not outcome.applied
            for word in words:
                assert word in outcome.why, f"{kind}: {outcome}"
            assert outcome.nodes[0].configuration == "old"
            if kind in {fault["kind"] for fault in await made.cluster.faults()}:
                await made.cluster.clear_fault(kind, node="spark-2")
            # As every command does that comes next: root, then what is still open is ended.
            await session.unlock_sudo(made.person)
            for left in unfinished_plans(journal):
                assert (await Resume(left, session.links, journal).run()).consistent, kind
            assert journal.unfinished() == []
            assert untouched(made), kind


def said_about(proof: Verification) -> str:
    """What a user reads in the proof; every line of it has a reason and a remedy."""
    bad = [c for c in proof.checks if c.verdict is not Verdict.PASS]
    assert all(c.why and c.remedy for c in bad), [c for c in bad if not c.why or not c.remedy]
    return "\n".join(f"{c.verdict.value} {c.kind} {c.node} {c.subject} {c.text} {c.why} {c.remedy}" for c in bad)


def diagnosis(look: Look, proof: Verification | None = None) -> set[tuple[str, str | None]]:
    case = open_case(look.members, look.topology, look.wanted, cable_findings=look.cable_findings, proof=proof)
    found = examine(case).findings
    assert all(f.meaning and f.remedy for f in found)
    return {(f.code, f.node) for f in found}


async def test_on_the_wire_proof_and_doctor_name_the_place(tmp_path: Path) -> None:
    async with journey(tmp_path) as made:
        session = made.session
        assert (await plan_and_apply(made)).applied

        async def looked(kind: str) -> Look:
            await made.cluster.set_fault(kind, node="spark-2")
            return await take_look(session, hear_s=1.0)

        async def mended(kind: str) -> None:
            await made.cluster.clear_fault(kind, node="spark-2")

        look = await looked("cable-unplugged")
        [finding] = [f for f in look.cable_findings if f.severity.value == "bad"]
        assert "spark-2" in finding.title
        assert finding.steps
        await mended("cable-unplugged")

        look = await looked("cable-wrong-port")
        [finding] = look.cable_findings
        assert "port 0 of spark-2" in finding.title
        assert finding.steps
        await mended("cable-wrong-port")

        look = await looked("link-100g")
        assert {("link-100g", "spark-1"), ("link-100g", "spark-2")} <= diagnosis(look)
        await mended("link-100g")

        look = await looked("mtu-reset")
        assert ("mtu-mixed", "spark-2") in diagnosis(look)
        assert not build_plan(session.cluster, look).empty, "the plan offers to put it right"
        await mended("mtu-reset")

        look = await looked("clock-skew")
        assert "clock-skew" in {code for code, _ in diagnosis(look)}
        await mended("clock-skew")

        look = await looked("half-13g")
        proof = await prove(session, look)
        said = said_about(proof)
        assert "bandwidth" in said, said
        assert "port 1 half B" in said, said
        assert "port 1 half A ->" not in said, "the other half is fine and goes on"
        await mended("half-13g")


async def test_a_switch_that_does_not_name_itself_is_said_to_be_unknown(tmp_path: Path) -> None:
    async with journey(tmp_path, 2, "switch") as made:
        assert (await take_look(made.session, hear_s=1.0)).topology.direct_certain
        await made.cluster.set_fault("switch-silent")
        look = await take_look(made.session, hear_s=1.0)
        assert not look.topology.direct_certain
        assert any("cannot be told apart" in note for note in look.topology.notes)


async def test_on_the_link_a_lost_machine_is_visible_and_comes_back(tmp_path: Path) -> None:
    async with journey(tmp_path) as made:
        session = made.session
        states: list[tuple[str, LinkState, str]] = []
        session.on_state(lambda node, state, why: states.append((node, state, why)))
        lost = session.links["spark-2"]

        async def until(state: LinkState) -> None:
            async with asyncio.timeout(60):
                while lost.state is not state or not any(s is not LinkState.READY for _, s, _ in states):
                    await asyncio.sleep(0.02)

        boot = lost.hello.boot_id if lost.hello else ""
        for kind in ("ssh-drop", "agent-killed", "reboot"):
            states.clear()
            await made.cluster.set_fault(kind, node="spark-2")
            await until(LinkState.READY)
            gone = [why for node, state, why in states if (node, state) == ("spark-2", LinkState.RECONNECTING)]
            assert gone and all(gone), f"{kind}: the state tells no reason"
            assert {node for node, _, _ in states} == {"spark-2"}, "the other node is not concerned"
            await lost.call("sudo.state", {})
        assert lost.hello is not None
        assert lost.hello.boot_id != boot

        states.clear()
        await made.cluster.set_fault("power-off", node="spark-2")
        await until(LinkState.RECONNECTING)
        proof = await prove(session, await take_look(session, hear_s=1.0))
        said = said_about(proof)
        assert "spark-2" in said
        assert "Switch it on" in said
        assert [c.verdict for c in proof.checks if c.node == "spark-1"] == [Verdict.PASS]
        states.clear()
        await made.cluster.clear_fault("power-off", node="spark-2")
        await until(LinkState.READY)

        states.clear()
        await made.cluster.set_fault("reinstall", node="spark-2")
        await until(LinkState.NEEDS_ATTENTION)
        assert isinstance(lost.error, HostKeyChanged)
        for_a_person(lost.error, "spark-2", "host key")
        assert lost.alarm is not None
        with pytest.raises(HostKeyChanged):
            await session.links["spark-2"].connect()
        assert session.ready == ("spark-1",)
