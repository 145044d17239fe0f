"""Variables for NCCL and the rest: per machine, per topology, each with its reason."""

from __future__ import annotations

import dataclasses
import subprocess
from collections.abc import Sequence

import pytest

from fixtures.machines import ipv4_gids
from fixtures.nodes import apply
from fixtures.planning import CASES, PAIR, plan_of, size
from fixtures.wires import Segment, cable, chain, hear, ring, sparks
from stellwerk.fabric.cabling import find_cabling
from stellwerk.fabric.environment import CONTROL, environments, render_shell
from stellwerk.fabric.members import Member, make_members
from stellwerk.fabric.topology import find_topology
from stellwerk.model.fabric import Environment
from stellwerk.model.facts import Route


def ready(wiring: Sequence[Segment]) -> tuple[Member, ...]:
    members = sparks(size(wiring), wiring)
    return apply(members, plan_of(members, wiring))


def env_of(members: Sequence[Member], wiring: Sequence[Segment]) -> list[Environment]:
    return list(environments(members, find_topology(members, find_cabling(members, hear(len(members), wiring)))))


def test_a_pair_uses_both_halves_and_bootstraps_on_the_fabric() -> None:
    first, second = env_of(ready(PAIR), PAIR)
    assert first.variables["NCCL_IB_HCA"] == "=rocep1s0f1,roceP2p1s0f1"
    assert first.variables["UCX_NET_DEVICES"] == "rocep1s0f1:1,roceP2p1s0f1:1"
    assert first.variables["NCCL_SOCKET_IFNAME"] == "=enp1s0f1np1"
    assert {first.variables[name] for name in CONTROL} == {"enp1s0f1np1"}
    assert (first.variables["VLLM_HOST_IP"], second.variables["VLLM_HOST_IP"]) == ("10.100.0.1", "10.100.0.2")
    assert first.variables["NCCL_IB_GID_INDEX"] == "3"
    assert first.variables["NCCL_IB_MERGE_NICS"] == "1"
    assert "NCCL_ALGO" not in first.variables


@pytest.mark.parametrize(("count", "algo"), [(3, None), (4, "Ring"), (8, "Ring")])
def test_a_ring_meets_on_the_management_lan_and_keeps_halves_apart(count: int, algo: str | None) -> None:
    for env in env_of(ready(ring(count)), ring(count)):
        assert env.variables["NCCL_SOCKET_IFNAME"] == "=enP7s7"
        assert env.variables["VLLM_HOST_IP"].startswith("192.168.50.")
        assert env.variables["NCCL_IB_HCA"] == "=rocep1s0f0,roceP2p1s0f0,rocep1s0f1,roceP2p1s0f1"
        assert env.variables["NCCL_IB_MERGE_NICS"] == "0"
        assert env.variables["NCCL_IB_SUBNET_AWARE_ROUTING"] == "1"
        assert env.variables["NCCL_NET_PLUGIN"] == "none"
        assert env.variables.get("NCCL_ALGO") == algo
        assert "NCCL_IB_GID_INDEX" not in env.variables and env.reasons["NCCL_IB_GID_INDEX"]


@pytest.mark.parametrize(("kind", "wiring"), CASES)
def test_every_variable_has_its_reason_and_every_interface_exists(kind: str, wiring: list[Segment]) -> None:
    members = ready(wiring)
    for member, env in zip(members, env_of(members, wiring), strict=True):
        assert set(env.variables) <= set(env.reasons) and all(env.reasons.values())
        names = {device.name for device in member.facts.netdevs}
        assert all(env.variables[name].lstrip("=") in names for name in (*CONTROL, "NCCL_SOCKET_IFNAME"))
        hcas = {device.name for device in member.facts.rdma}
        assert set(env.variables["NCCL_IB_HCA"].lstrip("=").split(",")) <= hcas


def test_mixed_ports_give_each_machine_its_own_names() -> None:
    wiring = [cable((1, 0), (2, 1))]
    first, second = env_of(ready(wiring), wiring)
    assert first.variables["GLOO_SOCKET_IFNAME"] == "enp1s0f0np0"
    assert second.variables["GLOO_SOCKET_IFNAME"] == "enp1s0f1np1"


def test_a_port_that_is_up_but_leads_elsewhere_is_not_used() -> None:
    wiring = [*PAIR, cable((1, 0), (9, 0))]
    members = sparks(2, wiring)
    members = apply(members, plan_of(members, wiring))
    first = env_of(members, wiring)[0]
    assert first.variables["NCCL_IB_HCA"] == "=rocep1s0f1,roceP2p1s0f1"


def shifted(members: Sequence[Member], devices: Sequence[str], by: int) -> tuple[Member, ...]:
    """GID tables with more entries before ours."""
    facts = {}
    for member in members:
        rdma = tuple(
            dataclasses.replace(r, gids=tuple(dataclasses.replace(g, index=g.index + by) for g in r.gids))
            if r.name in devices and member.number == 2
            else r
            for r in member.facts.rdma
        )
        facts[member.name] = dataclasses.replace(member.facts, rdma=rdma)
    return make_members(facts)


def test_the_gid_index_is_read_from_each_machine() -> None:
    members = ready(PAIR)
    both = env_of(shifted(members, ["rocep1s0f1", "roceP2p1s0f1"], 1), PAIR)
    assert [env.variables["NCCL_IB_GID_INDEX"] for env in both] == ["3", "4"]
    one = env_of(shifted(members, ["rocep1s0f1"], 1), PAIR)[1]
    assert "NCCL_IB_GID_INDEX" not in one.variables and "3, 4" in one.reasons["NCCL_IB_GID_INDEX"]


def test_a_missing_gid_is_said_and_not_guessed() -> None:
    members = ready(PAIR)
    rdma = tuple(dataclasses.replace(r, gids=ipv4_gids(r.netdev or "", None)) for r in members[0].facts.rdma)
    facts = {m.name: m.facts for m in members}
    facts["spark-1"] = dataclasses.replace(facts["spark-1"], rdma=rdma)
    env = env_of(make_members(facts), PAIR)[0]
    assert "NCCL_IB_GID_INDEX" not in env.variables and "doctor" in env.reasons["NCCL_IB_GID_INDEX"]


def test_management_over_wifi_in_a_ring_is_said() -> None:
    members = ready(ring(3))
    facts = {m.name: m.facts for m in members}
    routes = tuple(r for r in facts["spark-1"].routes if r.destination != "default")
    devices = tuple(
        dataclasses.replace(d, addresses=("192.168.50.99/24",)) if d.name == "wlP9s9" else d
        for d in facts["spark-1"].netdevs
    )
    facts["spark-1"] = dataclasses.replace(
        facts["spark-1"], routes=(*routes, Route("default", "wlP9s9")), netdevs=devices
    )
    env = env_of(make_members(facts), ring(3))[0]
    assert env.variables["NCCL_SOCKET_IFNAME"] == "=wlP9s9" and "Wi-Fi" in env.reasons["NCCL_SOCKET_IFNAME"]


def test_without_a_default_route_a_chain_says_what_is_missing() -> None:
    members = ready(chain(3))
    facts = {
        m.name: dataclasses.replace(
            m.facts,
            routes=tuple(r for r in m.facts.routes if r.destination != "default"),
            session=dataclasses.replace(m.facts.session, device=None),
        )
        for m in members
    }
    env = env_of(make_members(facts), chain(3))[0]
    assert "NCCL_SOCKET_IFNAME" not in env.variables and "default route" in env.reasons["NCCL_SOCKET_IFNAME"]


def test_one_machine_needs_no_variables() -> None:
    (env,) = env_of(sparks(1), [])
    assert env.variables == {} and env.reasons


def test_a_shell_reads_back_what_was_written() -> None:
    env = Environment("n", {"A": "x y'z", "B": "=q"}, {"A": "why\nnot", "B": "b", "C": "unset"})
    text = render_shell(env)
    shown = subprocess.run(
        ["/bin/sh", "-c", f'{text}\nprintf \'%s|%s|%s\' "$A" "$B" "$C"'], capture_output=True, text=True, check=True
    ).stdout
    assert shown == "x y'z|=q|"
    assert "# C is not set: unset" in text
