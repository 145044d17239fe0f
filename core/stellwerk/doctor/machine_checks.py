"""Checks of the machines themselves and of how far they are alike."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Callable

from stellwerk.doctor.case import Case, NotKnown, finding
from stellwerk.fabric.members import Member
from stellwerk.model.finding import Finding, Severity
from stellwerk.model.text import say, whole, words
from stellwerk.model.units import gibibytes_from_kb

CLOCK_WARN_S = 10.0
CLOCK_BAD_S = 120.0
OLDEST_DGX_OS = (7, 4)  # 7.5.0 was installed in June 2026; NVIDIA asks for April 2026 or later
DISK_LOW_BYTES = 5 * 1024**3
_BAD_KERNELS = {"6.17.0-1008": say("it panics in the PCIe DOE mailbox")}
_TOOLS = {"ib_write_bw": "perftest", "ib_write_lat": "perftest", "ethtool": "ethtool", "rdma": "iproute2"}


def _version(text: str | None) -> tuple[int, ...] | None:
    numbers = re.findall(r"\d+", text or "")
    return tuple(int(number) for number in numbers) if numbers else None


def _is_spark(member: Member) -> bool:
    return member.facts.dgx is not None and "spark" in (member.facts.dgx.name or "").lower()


def no_sudo(case: Case) -> list[Finding]:
    """Machines on which nothing can be changed."""
    unknown = [member.name for member in case.members if member.facts.sudo.state == "unknown"]
    found = [
        finding(
            "no-sudo",
            Severity.BAD,
            say("{user} may not become root on {member}", user=member.facts.user, member=member.name),
            node=member.name,
            evidence=(member.facts.sudo.why,) if member.facts.sudo.why else (),
            meaning="The node can be watched, but its network cannot be changed.",
            remedy=(
                say(
                    "As an administrator of {member}: usermod -aG sudo {user}, then log in again.",
                    member=member.name,
                    user=member.facts.user,
                ),
            ),
        )
        for member in case.members
        if member.facts.sudo.state == "none"
    ]
    if unknown and not found:
        raise NotKnown(say("{unknown} did not say how root can be had", unknown=words(unknown)))
    return found


def os_too_old(case: Case) -> list[Finding]:
    """A DGX OS that is too old for clusters."""
    found, unknown = [], []
    for member in filter(_is_spark, case.members):
        dgx = member.facts.dgx
        text = (dgx.ota_version or dgx.swbuild_version) if dgx else None
        version = _version(text)
        if version is None:
            unknown.append(member.name)
        elif version[:2] < OLDEST_DGX_OS:
            found.append(
                finding(
                    "os-too-old",
                    Severity.WARN,
                    say("DGX OS {text} is older than clusters need", text=text),
                    node=member.name,
                    evidence=("/etc/dgx-release",),
                    meaning="NVIDIA supports clusters from the DGX OS of April 2026 on.",
                    remedy=("Update in the DGX Dashboard, then restart.",),
                )
            )
    if unknown and not found:
        raise NotKnown(say("{unknown} did not say its DGX OS version", unknown=words(unknown)))
    return found


def cma_zero(case: Case) -> list[Finding]:
    """A kernel that keeps memory RDMA cannot register."""
    read = [member for member in case.members if member.facts.memory.cma_total_kb is not None]
    if not read:
        raise NotKnown("no node reports its CMA memory")
    return [
        finding(
            "cma-zero",
            Severity.WARN,
            say(
                "The kernel keeps {cma_free_kb} that RDMA cannot register",
                cma_free_kb=gibibytes_from_kb(memory.cma_free_kb),
            ),
            node=member.name,
            evidence=(
                say("CmaTotal: 0 kB, CmaFree: {cma_free_kb} kB", cma_free_kb=memory.cma_free_kb),
                say("kernel {kernel}", kernel=member.facts.kernel),
            ),
            meaning="ibv_reg_mr ends with ENOMEM once a model is large. The kernel reserved it for a handover.",
            remedy=("Start the kernel with kho=off, or use kernel 6.17.", "Restart the node."),
        )
        for member in read
        if (memory := member.facts.memory).cma_total_kb == 0 and (memory.cma_free_kb or 0) > 0
    ]


def clock_skew(case: Case) -> list[Finding]:
    """Clocks that do not agree."""
    clocks = {member.name: member.facts.wall_time_s for member in case.members}
    known = [clock for clock in clocks.values() if clock is not None]
    if len(known) < 2:
        raise NotKnown("it takes the clocks of two nodes")
    if len(known) == 2:
        return _two_clocks({name: clock for name, clock in clocks.items() if clock is not None})
    middle = statistics.median_low(known)
    found = []
    for name, clock in clocks.items():
        off = 0.0 if clock is None else clock - middle
        if abs(off) > CLOCK_WARN_S:
            apart = f"{abs(off):.0f}"
            ahead = say("The clock of {name} is {seconds} s ahead of the others", name=name, seconds=apart)
            behind = say("The clock of {name} is {seconds} s behind the others", name=name, seconds=apart)
            found.append(
                finding(
                    "clock-skew",
                    Severity.BAD if abs(off) > CLOCK_BAD_S else Severity.WARN,
                    ahead if off > 0 else behind,
                    node=name,
                    evidence=(say("read at the same moment, {off} s apart", off=f"{abs(off):.0f}"),),
                    meaning="Logs cannot be compared, certificates fail, and a distributed job may give up.",
                    remedy=(say("On {name}: timedatectl set-ntp true, and look why it was off.", name=name),),
                )
            )
    return found


def _two_clocks(clocks: dict[str, float]) -> list[Finding]:
    """Of two clocks that differ nobody knows which one is wrong."""
    (first, one), (second, other) = clocks.items()
    apart = abs(one - other)
    if apart <= CLOCK_WARN_S:
        return []
    return [
        finding(
            "clock-skew",
            Severity.BAD if apart > CLOCK_BAD_S else Severity.WARN,
            say(
                "The clocks of {first} and {second} are {apart} s apart",
                first=first,
                second=second,
                apart=f"{apart:.0f}",
            ),
            evidence=(
                say(
                    "{first} is behind; which one is wrong cannot be told from two",
                    first=first if one < other else second,
                ),
            ),
            meaning="Logs cannot be compared, certificates fail, and a distributed job may give up.",
            remedy=(
                say(
                    "On {first} and {second}: timedatectl set-ntp true, and look why one was off.",
                    first=first,
                    second=second,
                ),
            ),
        )
    ]


def _mixed(
    case: Case, code: str, what: str, value: Callable[[Member], str | None], meaning: str, remedy: str
) -> list[Finding]:
    """Machines whose value is not that of most others."""
    values = {member.name: value(member) for member in case.members}
    known = Counter(text for text in values.values() if text is not None)
    if sum(known.values()) < 2:
        raise NotKnown("it takes two nodes that say it")
    usual = known.most_common(1)[0][0]
    return [
        finding(
            code,
            Severity.INFO,
            say("{what} {text}, on the others {usual}", what=what, text=text, usual=usual),
            node=name,
            evidence=[
                say("{other}: {n}", other=other, n=words((n for n, t in values.items() if t == other)))
                for other in known
            ],
            meaning=meaning,
            remedy=(remedy,),
        )
        for name, text in values.items()
        if text is not None and text != usual
    ]


def driver_mixed(case: Case) -> list[Finding]:
    """Different GPU drivers."""
    meaning = say("Mixed drivers have led to hangs in NCCL and to GSP errors.")
    return _mixed(
        case, "driver-mixed", say("Driver"), lambda m: m.facts.gpus[0].driver if m.facts.gpus else None, meaning,
        say("Bring all nodes to the same DGX OS version."),
    )  # fmt: skip


def kernel_mixed(case: Case) -> list[Finding]:
    """Different kernels."""
    meaning = say("Faults then show on one node only, and are hard to find.")
    remedy = say("Update all nodes and restart them.")
    return _mixed(case, "kernel-mixed", say("Kernel"), lambda m: m.facts.kernel, meaning, remedy)


def os_mixed(case: Case) -> list[Finding]:
    """Different DGX OS versions."""
    meaning = say("Firmware and drivers come with the DGX OS; mixed ones have led to driver errors.")
    remedy = say("Bring all nodes to the same DGX OS version.")
    return _mixed(
        case, "os-mixed", say("DGX OS"), lambda m: m.facts.dgx.ota_version if m.facts.dgx else None, meaning, remedy
    )


def firmware_mixed(case: Case) -> list[Finding]:
    """Different ConnectX firmware."""
    meaning = say("Link speed and PCIe width depend on it.")
    return _mixed(
        case, "firmware-mixed", say("ConnectX firmware"), lambda m: m.facts.rdma[0].firmware if m.facts.rdma else None,
        meaning, say("Bring all nodes to the same DGX OS version."),
    )  # fmt: skip


def memory_mixed(case: Case) -> list[Finding]:
    """Machines with different memory sizes (in steps of 8 GiB: firmware keeps a little more or less)."""

    def size(member: Member) -> str | None:
        total = member.facts.memory.total_kb
        return None if total is None else f"{round(total / 1024**2 / 8) * 8} GiB"

    meaning = say("A model that is split evenly fits only if it fits into the smallest node.")
    return _mixed(case, "memory-mixed", say("Memory"), size, meaning, say("Combine nodes with the same memory."))


def user_mixed(case: Case) -> list[Finding]:
    """Different user names or ids."""
    meaning = say("Paths and owners of files differ; mpirun and shared folders expect the same user.")
    return _mixed(
        case, "user-mixed", say("User"), lambda m: f"{m.facts.user} ({m.facts.uid}:{m.facts.gid})", meaning,
        say("Use the same user on all nodes, or leave it: Stellwerk does not need it."),
    )  # fmt: skip


def agents_differ(case: Case) -> list[Finding]:
    """Agents of different versions."""
    if not case.agents:
        raise NotKnown("no agent is connected")
    usual = Counter(case.agents.values()).most_common(1)[0][0]
    return [
        finding(
            "agents-differ",
            Severity.WARN,
            say("{name} runs another agent than the others", name=name),
            node=name,
            evidence=(say("{version}, the others {usual}", version=version[:16], usual=usual[:16]),),
            meaning="Answers may not be comparable.",
            remedy=("Disconnect and connect it again; the agent is replaced then, and jobs go on.",),
        )
        for name, version in case.agents.items()
        if version != usual
    ]


def same_machine_id(case: Case) -> list[Finding]:
    """Two machines with one machine id."""
    remedy = say("sudo rm /etc/machine-id && sudo systemd-machine-id-setup, then restart")
    return _shared(case, "same-machine-id", say("machine id"), lambda member: member.facts.node_id, remedy)


def same_hostname(case: Case) -> list[Finding]:
    """Two machines with one host name."""
    remedy = say("sudo hostnamectl set-hostname NAME")
    return _shared(case, "same-hostname", say("host name"), lambda member: member.facts.hostname, remedy)


def _shared(case: Case, code: str, what: str, value: Callable[[Member], str], remedy: str) -> list[Finding]:
    groups: dict[str, list[str]] = {}
    for member in case.members:
        groups.setdefault(value(member), []).append(member.name)
    return [
        finding(
            code,
            Severity.WARN,
            say("{names} have the same {what}", names=words(names), what=what),
            node=names[-1],
            evidence=(say("{what}: {shared}", what=what, shared=shared),),
            meaning="One is a copy of the other. DHCP may give both one address, and logs cannot be told apart.",
            remedy=(say("On {names}: {remedy}.", names=names[-1], remedy=remedy),),
        )
        for shared, names in groups.items()
        if len(names) > 1
    ]


def bad_kernel(case: Case) -> list[Finding]:
    """Kernels with known faults."""
    return [
        finding(
            "kernel-faulty",
            Severity.WARN,
            say("Kernel {kernel} has a known fault", kernel=member.facts.kernel),
            node=member.name,
            evidence=(why,),
            meaning="The node may stop while it runs.",
            remedy=("Update the node and restart it.",),
        )
        for member in case.members
        for version, why in _BAD_KERNELS.items()
        if (member.facts.kernel or "").startswith(version)
    ]


def disk_low(case: Case) -> list[Finding]:
    """Little space where the agent and its journals live."""
    known = [member for member in case.members if member.facts.disk_free_bytes is not None]
    if not known:
        raise NotKnown("no node reports its free space")
    return [
        finding(
            "disk-low",
            Severity.WARN,
            say(
                "{disk_free_bytes} GiB are free on {member}",
                disk_free_bytes=f"{(member.facts.disk_free_bytes or 0) / 1024**3:.1f}",
                member=member.name,
            ),
            node=member.name,
            evidence=(member.facts.home,),
            meaning="A network change needs room for its backup, and models need much more.",
            remedy=("Free some space: old models and container images are the largest.",),
        )
        for member in known
        if (member.facts.disk_free_bytes or 0) < DISK_LOW_BYTES
    ]


def tools_missing(case: Case) -> list[Finding]:
    """Programs that proving needs."""
    found = []
    for member in case.members:
        missing = [t for t in _TOOLS if t in member.facts.tools and member.facts.tools[t] is None]
        if missing and member.facts.rdma:
            packages = " ".join(sorted({_TOOLS[tool] for tool in missing}))
            found.append(
                finding(
                    "tools-missing",
                    Severity.INFO,
                    say("{tool} is not installed on {node}", tool=missing[0], node=member.name)
                    if len(missing) == 1
                    else say("{tools} are not installed on {node}", tools=words(missing), node=member.name),
                    node=member.name,
                    evidence=[say("{tool}: not found", tool=tool) for tool in missing],
                    meaning="Without them bandwidth and latency cannot be proven.",
                    remedy=(
                        say(
                            "On {member}: sudo apt install {packages}",
                            member=member.name,
                            packages=packages,
                        ),
                    ),
                )
            )
    return found


def management_wifi(case: Case) -> list[Finding]:
    """Control traffic over radio, or different interfaces."""
    found = []
    for member in case.members:
        kinds = {device.name: device.kind for device in member.facts.netdevs}
        name = member.node_ports.management
        if name is not None and kinds.get(name) == "wifi":
            found.append(
                finding(
                    "management-wifi",
                    Severity.INFO,
                    say("{member} is reached over Wi-Fi ({name})", member=member.name, name=name),
                    node=member.name,
                    evidence=(say("default route through {name}", name=name),),
                    meaning="A run whose ranks meet over it ends when the radio blips.",
                    remedy=("Use the Ethernet port where you can.",),
                )
            )
    return found


def no_ports(case: Case) -> list[Finding]:
    """Machines without anything to cable."""
    return [
        finding(
            "no-ports",
            Severity.WARN,
            say("{member} has no port for a fabric", member=member.name),
            node=member.name,
            evidence=[
                say("{netdev}: {why}", netdev=entry.netdev, why=whole(entry.why))
                for entry in member.node_ports.excluded
            ],
            meaning=say("It has {note}.", note=member.node_ports.note or say("no port")),
            remedy=("Leave it out of the fabric; it can still be watched.",),
        )
        for member in case.members
        if not member.ports and len(case.members) > 1
    ]
