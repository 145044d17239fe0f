"""The commands that a plan may hold: a fixed list of verbs with typed arguments, turned into exact command lines.

    link-up IF | link-down IF
    address-add IF CIDR | address-remove IF CIDR
    route-set DESTINATION IF [GATEWAY] | route-remove DESTINATION IF [GATEWAY]      DESTINATION: a network, not default
    firewall-insert TABLE CHAIN RULE… | firewall-delete TABLE CHAIN RULE…

Every verb can be repeated: what is already so is no error.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable

from stellwerk.model.errors import ApplyFailed, PlanRefused
from stellwerk.model.text import say
from stellwerk_agent.netguard.commands import Done, Runner
from stellwerk_agent.netguard.request import check_address, check_cidr, check_device, check_rule


def check_verb(argv: tuple[str, ...]) -> None:
    """Refuse a verb that is not in the list, and arguments of another type. Raises `PlanRefused`."""
    if not argv or argv[0] not in _CHECKS:
        raise PlanRefused(
            say("netguard knows no command {argv}", argv=repr(argv[0] if argv else "")),
            why=say("it knows {checks}", checks=", ".join(_CHECKS)),
        )
    _CHECKS[argv[0]](argv[1:])


def run_verb(argv: tuple[str, ...], run: Runner) -> None:
    """Carry out one verb. Raises `ApplyFailed` with what the command said."""
    check_verb(argv)
    verb, rest = argv[0], argv[1:]
    if verb in ("link-up", "link-down"):
        _must(run(("ip", "link", "set", "dev", rest[0], verb.removeprefix("link-"))))
    elif verb in ("address-add", "address-remove"):
        word, fine = ("add", "File exists") if verb == "address-add" else ("del", "Cannot assign requested address")
        _must(run(("ip", "addr", word, rest[1], "dev", rest[0])), fine)
    elif verb in ("route-set", "route-remove"):
        via = ("via", rest[2]) if len(rest) == 3 else ()
        word, fine = ("replace", "") if verb == "route-set" else ("del", "No such process")
        _must(run(("ip", "route", word, rest[0], *via, "dev", rest[1])), fine)
    else:
        rule_there = rule_is_there(rest[0], rest[1], rest[2:], run)
        if rule_there != (verb == "firewall-insert"):
            _must(run(rule_command("-I" if verb == "firewall-insert" else "-D", rest[0], rest[1], rest[2:])))


def rule_command(action: str, table: str, chain: str, rule: tuple[str, ...]) -> tuple[str, ...]:
    """The command line that checks (-C), inserts (-I) or deletes (-D) one rule."""
    return ("iptables", "-w", "5", "-t", table, action, chain, *rule)


def rule_is_there(table: str, chain: str, rule: tuple[str, ...], run: Runner) -> bool:
    """Whether the rule exists. Raises `ApplyFailed` when that cannot be known."""
    done = run(rule_command("-C", table, chain, rule))
    if done.rc not in (0, 1):
        raise ApplyFailed("the firewall cannot be asked", why=done.complaint)
    return done.rc == 0


def _must(done: Done, fine: str = "") -> None:
    if not done.ok and not (fine and fine in done.stderr):
        raise ApplyFailed("a command of the plan failed", why=done.complaint)


def _link(rest: tuple[str, ...]) -> None:
    _count(rest, 1, 1)
    check_device(rest[0])


def _address(rest: tuple[str, ...]) -> None:
    _count(rest, 2, 2)
    check_device(rest[0])
    check_cidr(rest[1])


def _route(rest: tuple[str, ...]) -> None:
    _count(rest, 2, 3)
    try:
        if ipaddress.ip_network(rest[0]).prefixlen == 0:
            raise PlanRefused("a plan may not change the default route")
    except ValueError:
        raise PlanRefused(say("{rest} is not a network", rest=repr(rest[0]))) from None
    check_device(rest[1])
    if len(rest) == 3:
        check_address(rest[2])


def _firewall(rest: tuple[str, ...]) -> None:
    _count(rest, 3, 64)
    check_rule(rest[0], rest[1], rest[2:])


def _count(rest: tuple[str, ...], least: int, most: int) -> None:
    if not least <= len(rest) <= most:
        raise PlanRefused(say("wrong number of arguments: {rest}", rest=repr(" ".join(rest))))


_CHECKS: dict[str, Callable[[tuple[str, ...]], None]] = {
    "link-up": _link,
    "link-down": _link,
    "address-add": _address,
    "address-remove": _address,
    "route-set": _route,
    "route-remove": _route,
    "firewall-insert": _firewall,
    "firewall-delete": _firewall,
}
