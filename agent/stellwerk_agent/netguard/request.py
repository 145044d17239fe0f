"""What netguard is asked to do on this node, and whether it is something that root should do."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from stellwerk.model.errors import PlanRefused
from stellwerk.model.plan import CommandChange, FileChange, FirewallChange, NodePlan, SysctlChange, UnitChange
from stellwerk.model.text import say
from stellwerk_agent.netguard.layout import RESTORE_UNIT

LEASE_S = 90.0  # since the desktop's last sign of life
HARD_LIMIT_S = 900.0  # whatever the desktop says, an unconfirmed change does not stay longer
SETTLE_S = 20.0  # an address can vanish for a second or more while a device is reconfigured; 15 s is the least to allow

# The only places where a plan may write files; each file lies directly in one of them.
FILE_PLACES = ("/etc/netplan", "/etc/sysctl.d", "/etc/systemd/network", "/etc/NetworkManager/conf.d")

_DEVICE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@-]{0,14}")
_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,200}")
_UNIT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@-]{0,100}\.(service|timer|target|path)")
_SYSCTL = re.compile(r"net\.[A-Za-z0-9_.@/-]{1,120}")
_WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,31}")
# Words that would make one `iptables` call do something else than the one rule.
_IPTABLES_COMMANDS = re.compile(
    r"-[ADIRLSFZNXPEC]|--(append|delete|insert|replace|list|list-rules|flush|zero|new-chain|"
    r"delete-chain|policy|rename-chain|check|modprobe)(=.*)?|-[tMw]|--(table|wait)(=.*)?"
)


@dataclass(frozen=True, slots=True)
class Request:
    """One guarded change of one node, as it is kept beside its journal."""

    plan: NodePlan
    plan_id: str
    owner_uid: int
    lease_s: float = LEASE_S
    hard_limit_s: float = HARD_LIMIT_S
    settle_s: float = SETTLE_S
    ping_peers: bool = False
    session_address: str | None = None  # the address of this node at which the SSH session ends
    undo_of: str | None = None


def checked(request: Request) -> Request:
    """The request with its times within bounds. Raises `PlanRefused` for what root must not do."""
    plan = request.plan
    devices = (*plan.reconfigure, *(d for d, _ in plan.expect_addresses), *(d for d, _ in plan.expect_mtu))
    for device in (*devices, *(d for d, _ in plan.peers)):
        check_device(device)
    for _, cidr in plan.expect_addresses:
        check_cidr(cidr)
    for _, address in plan.peers:
        check_address(address)
    for change in plan.changes:
        _check_change(change)
    touched = [c.path for c in plan.changes if isinstance(c, FileChange)]
    touched += [c.name for c in plan.changes if isinstance(c, UnitChange)]
    for twice in {path for path in touched if touched.count(path) > 1}:
        raise PlanRefused(say("the plan changes {twice} twice", twice=twice))
    return replace(
        request,
        lease_s=min(max(request.lease_s, 1.0), LEASE_S),
        hard_limit_s=min(max(request.hard_limit_s, 1.0), HARD_LIMIT_S),
    )


def _check_change(change: object) -> None:
    if isinstance(change, FileChange):
        check_file(change)
    elif isinstance(change, SysctlChange):
        check_sysctl(change)
    elif isinstance(change, FirewallChange):
        check_rule(change.table, change.chain, change.rule)
    elif isinstance(change, UnitChange):
        check_unit(change)
    elif isinstance(change, CommandChange):
        from stellwerk_agent.netguard.verbs import check_verb

        check_verb(change.argv)
        if change.undo:
            check_verb(change.undo)


def check_file(change: FileChange) -> None:
    """Refuse a file outside the fixed places, or one that its group or others could write."""
    path = PurePosixPath(change.path)
    if str(path.parent) not in FILE_PLACES or not _FILE_NAME.fullmatch(path.name) or str(path) != change.path:
        raise PlanRefused(
            say("a plan may not write {path}", path=repr(change.path)),
            why=say("only files in {file_places}", file_places=", ".join(FILE_PLACES)),
        )
    if change.mode & ~0o755:
        raise PlanRefused(
            say("{path} would get mode {mode}", path=change.path, mode=f"{change.mode:o}"), why="others could write it"
        )


def check_sysctl(change: SysctlChange) -> None:
    """Refuse a key outside `net.` and a value that is no plain text."""
    parts = change.key.translate(str.maketrans("./", "/.")).split("/")
    if not _SYSCTL.fullmatch(change.key) or not all(part.strip(".") for part in parts):
        raise PlanRefused(say("a plan may not set the sysctl {key}", key=repr(change.key)))
    if not re.fullmatch(r"[0-9A-Za-z \t._-]{1,80}", change.after):
        raise PlanRefused(say("{after} is no value for the sysctl {key}", after=repr(change.after), key=change.key))


def check_unit(change: UnitChange) -> None:
    """Refuse what is no unit's name, and the unit that is netguard's own."""
    if not _UNIT.fullmatch(change.name) or change.name == RESTORE_UNIT:
        raise PlanRefused(say("a plan may not change the systemd unit {change}", change=repr(change.name)))


def check_rule(table: str, chain: str, rule: tuple[str, ...]) -> None:
    """Refuse firewall words that are more than one rule."""
    if not _WORD.fullmatch(table) or not _WORD.fullmatch(chain) or not rule:
        raise PlanRefused(say("{table} {chain} is no place for a firewall rule", table=repr(table), chain=repr(chain)))
    for word in rule:
        if _IPTABLES_COMMANDS.fullmatch(word) or not word.isprintable():
            raise PlanRefused(say("{word} may not be part of a firewall rule", word=repr(word)))


def check_device(device: str) -> None:
    """Refuse what is no interface's name."""
    if not _DEVICE.fullmatch(device):
        raise PlanRefused(say("{device} is not the name of a network interface", device=repr(device)))


def check_cidr(cidr: str) -> None:
    """Refuse what is no address with prefix length."""
    try:
        ipaddress.ip_interface(cidr)
    except ValueError:
        raise PlanRefused(say("{cidr} is not an address with a prefix length", cidr=repr(cidr))) from None


def check_address(address: str) -> None:
    """Refuse what is no address."""
    try:
        ipaddress.ip_address(address)
    except ValueError:
        raise PlanRefused(say("{address} is not an address", address=repr(address))) from None
