"""NCCL, UCX, Gloo, MPI and vLLM variables for each machine, from fresh facts, with the reason for each.

Resolved at launch and never stored: the GID index moves between restarts and interface names differ between machines,
so each machine gets its own values. A reason without a variable says why it is left unset.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field

from stellwerk.fabric.addresses import Assigned, assign_addresses
from stellwerk.fabric.members import Member
from stellwerk.fabric.segments import find_segments
from stellwerk.fabric.state import read_node
from stellwerk.fabric.subnets import ipv4
from stellwerk.fabric.verification import gid_index
from stellwerk.model.fabric import Environment, Topology, TopologyKind
from stellwerk.model.facts import NetDevice

CONTROL = ("GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME", "OMPI_MCA_btl_tcp_if_include", "MN_IF_NAME")


@dataclass(slots=True)
class _Variables:
    values: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)

    def set(self, name: str, value: str, why: str) -> None:
        self.values[name] = value
        self.reasons[name] = why

    def unset(self, name: str, why: str) -> None:
        self.reasons[name] = why


def environments(
    members: Sequence[Member], topology: Topology, kind: TopologyKind | None = None
) -> tuple[Environment, ...]:
    """The variables of every machine. Raises `BadInput` for a broken netplan file.

    Only halves with an address of the fabric count: a port that is up and leads elsewhere is not used.
    """
    shape = kind or topology.kind
    segments = find_segments(members, topology, shape)
    addressing = assign_addresses([read_node(member) for member in members], segments)
    result = []
    for member in members:
        halves = [e for e in addressing.assigned if e.at.member.name == member.name and e.kept]
        result.append(_for_member(member, halves, shape, len(members)))
    return tuple(result)


def render_shell(environment: Environment) -> str:
    """The variables as lines for a shell, each with its reason above it."""
    lines = [f"# {environment.node}: made for this moment; the GID index may be another one after a restart."]
    for name, why in environment.reasons.items():
        text = " ".join(why.split())
        if name in environment.variables:
            lines += [f"# {text}", f"export {name}={shlex.quote(environment.variables[name])}"]
        else:
            lines.append(f"# {name} is not set: {text}")
    return "\n".join(lines) + "\n"


def _for_member(member: Member, halves: Sequence[Assigned], kind: TopologyKind, count: int) -> Environment:
    variables = _Variables()
    if not halves:
        variables.unset("NCCL_SOCKET_IFNAME", "this node has no fabric address; NCCL's own choice is as good as any")
        return Environment(member.name, variables.values, variables.reasons)
    ordered = sorted(halves, key=lambda entry: (entry.at.port.number, entry.at.half.label))
    apart = kind in (TopologyKind.RING, TopologyKind.CHAIN)
    _control(variables, member, ordered, apart)
    devices = [entry.at.half.rdma.name for entry in ordered if entry.at.half.rdma is not None]
    if devices:
        _rdma(variables, devices, ordered, apart, kind, count)
    else:
        variables.set("NCCL_IB_DISABLE", "1", "this node has no RDMA device on the fabric")
        variables.set("NCCL_NET", "Socket", "TCP over the fabric interface")
    variables.set("NCCL_SOCKET_FAMILY", "AF_INET", "the fabric has IPv4 addresses only")
    variables.set("NCCL_IGNORE_CPU_AFFINITY", "1", "all cores are equally near to GPU and network")
    return Environment(member.name, variables.values, variables.reasons)


def _control(variables: _Variables, member: Member, halves: Sequence[Assigned], apart: bool) -> None:
    """The interface over which ranks find each other."""
    if not apart:
        first = halves[0]
        why = "the first fabric half: all nodes share its subnet, and a LAN that blips does not stop a run"
        _set_control(variables, first.at.netdev, str(first.address.ip), why)
        return
    device = _management(member)
    if device is None:
        why = "in a ring or chain ranks meet on the management LAN, and this node has no default route"
        for name in ("NCCL_SOCKET_IFNAME", *CONTROL):
            variables.unset(name, why)
        return
    address = next((a for a in map(ipv4, device.addresses) if a is not None), None)
    why = "ranks meet on the management LAN: in a ring or chain no subnet of the fabric is on all nodes"
    if device.kind == "wifi":
        why += "; it is Wi-Fi here, so a run may end when it blips: better use the Ethernet port"
    _set_control(variables, device.name, str(address.ip) if address else None, why)


def _set_control(variables: _Variables, netdev: str, address: str | None, why: str) -> None:
    variables.set("NCCL_SOCKET_IFNAME", f"={netdev}", f"{why} (= means exactly this name)")
    for name in CONTROL:
        variables.set(name, netdev, why)
    if address is not None:
        variables.set("VLLM_HOST_IP", address, f"the address of {netdev}, so that Ray does not register another one")
    else:
        variables.unset("VLLM_HOST_IP", f"{netdev} has no IPv4 address")


def _management(member: Member) -> NetDevice | None:
    name = member.node_ports.management or member.facts.session.device
    return next((device for device in member.facts.netdevs if device.name == name), None)


def _rdma(
    variables: _Variables,
    devices: Sequence[str],
    halves: Sequence[Assigned],
    apart: bool,
    kind: TopologyKind,
    count: int,
) -> None:
    all_halves = "every half that leads to another node; one half alone gives half the speed"
    variables.set("NCCL_IB_DISABLE", "0", "use RDMA")
    variables.set("NCCL_NET", "IB", "fail loudly instead of falling back to TCP")
    variables.set("NCCL_NET_PLUGIN", "none", "a network plugin in an image may silently fall back to TCP")
    variables.set("NCCL_IB_HCA", "=" + ",".join(devices), all_halves)
    variables.set("UCX_NET_DEVICES", ",".join(f"{device}:1" for device in devices), all_halves)
    variables.set("NCCL_CROSS_NIC", "1", "a rank may use other halves to send than to receive")
    indices = {gid_index(entry) for entry in halves if entry.at.half.rdma is not None}
    if apart:
        variables.unset("NCCL_IB_GID_INDEX", "in a ring or chain NCCL finds the right entry by subnet")
        variables.set("NCCL_IB_SUBNET_AWARE_ROUTING", "1", "use the half that is in the peer's subnet")
        variables.set("NCCL_IB_MERGE_NICS", "0", "the halves lead to different nodes and must stay apart")
        if count > 3 or kind is TopologyKind.CHAIN:
            variables.set("NCCL_ALGO", "Ring", "trees and meshes would connect nodes that are no neighbours")
        return
    variables.set("NCCL_IB_MERGE_NICS", "1", "both halves of a port as one: without it only half the speed was seen")
    if len(indices) == 1 and None not in indices:
        index = next(str(index) for index in indices if index is not None)
        variables.set("NCCL_IB_GID_INDEX", index, "the RoCE v2 entry of the fabric address, read just now")
    elif None in indices:
        variables.unset("NCCL_IB_GID_INDEX", "a half has no RoCE v2 entry for its address; the doctor says more")
    else:
        shown = ", ".join(str(index) for index in sorted(index for index in indices if index is not None))
        variables.unset("NCCL_IB_GID_INDEX", f"the halves have different entries ({shown}); NCCL looks each one up")
