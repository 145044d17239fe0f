"""What can be checked on the node itself, after a change and after going back."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from stellwerk.model.text import say
from stellwerk_agent.netguard.commands import Runner
from stellwerk_agent.netguard.layout import Layout, now_s
from stellwerk_agent.netguard.request import Request
from stellwerk_agent.netguard.snapshot import Live, read_links

POLL_S = 0.2


def wait_until_fine(problems: Callable[[], Sequence[str]], limit_s: float, stop: Callable[[], None]) -> Sequence[str]:
    """Ask until there is no problem left or the time is over; gives what is left."""
    end_s = now_s() + limit_s
    while True:
        stop()
        left = problems()
        if not left or now_s() >= end_s:
            return left
        time.sleep(min(POLL_S, max(limit_s / 10, 0.001)))


def missing(layout: Layout, request: Request, run: Runner) -> list[str]:
    """Planned addresses and MTUs that are not there (yet), in words."""
    live = read_links(run)
    found: list[str] = []
    for device, cidr in request.plan.expect_addresses:
        if device not in live.up:
            found.append(say("there is no interface {device}", device=device))
        elif not live.has(device, cidr):
            no_carrier = layout.carrier(device) is False
            found.append(
                say("{device} does not have {cidr} (no carrier: is the cable in?)", device=device, cidr=cidr)
                if no_carrier
                else say("{device} does not have {cidr}", device=device, cidr=cidr)
            )
    for device, mtu in request.plan.expect_mtu:
        now = live.mtu.get(device)
        if now != mtu:
            known = say("unknown") if now is None else now
            found.append(say("{device} has MTU {now} instead of {mtu}", device=device, now=known, mtu=mtu))
    return found


def lost(request: Request, before: Live, now: Live) -> list[str]:
    """Addresses that must survive the change and did not: the session's, and those that lead out of the house."""
    found: list[str] = []
    for address in before.addresses:
        bare = address.cidr.split("/")[0]
        is_session = bare == request.session_address
        leads_out = address.device in before.default_devices and address.device not in request.plan.reconfigure
        temporary = address.dynamic and ":" in address.cidr
        if not (is_session or (leads_out and not temporary and not address.is_link_local6)):
            continue
        if not any(a.device == address.device and a.cidr == address.cidr for a in now.addresses):
            role = say("through which this session runs") if is_session else say("of the way out of this node")
            found.append(
                say(
                    "the address {cidr} of {device}, {role}, is gone",
                    cidr=address.cidr,
                    device=address.device,
                    role=role,
                )
            )
    return found


def silent_peers(request: Request, run: Runner) -> list[str]:
    """Peers that do not answer a ping through the planned interface."""
    found: list[str] = []
    for device, address in request.plan.peers:
        if not run(("ping", "-n", "-c", "3", "-W", "1", "-I", device, address), timeout_s=15.0).ok:
            found.append(say("{address} does not answer through {device}", address=address, device=device))
    return found


def stale(request: Request, before: Live, now: Live) -> list[tuple[str, str]]:
    """Addresses of before that the planned interfaces still hold and should not: (interface, CIDR).

    netplan leaves addresses behind. Only what was there before and is fixed is taken away, never the session's.
    """
    wanted = set(request.plan.expect_addresses)
    return [
        (a.device, a.cidr)
        for a in now.addresses
        if a.device in request.plan.reconfigure
        and (a.device, a.cidr) not in wanted
        and not a.is_link_local6
        and not a.dynamic
        and a.cidr.split("/")[0] != request.session_address
        and before.has(a.device, a.cidr)
    ]


def bring_back_link_local(
    before: Live, devices: Sequence[str], run: Runner, limit_s: float, stop: Callable[[], None]
) -> None:
    """See to it that interfaces which had an IPv6 link-local address have one again.

    The network service or the kernel makes it anew; where neither does within `limit_s`, the old one is added. Cables
    are told by it, so it is worth an attempt, but no reason to call going back a failure.
    """
    had = {a.device: a.cidr for a in before.addresses if a.is_link_local6 and a.device in devices}

    def without() -> list[str]:
        now = read_links(run)
        return [d for d in had if now.up.get(d) and not any(a.is_link_local6 for a in now.on(d))]

    for device in wait_until_fine(without, limit_s, stop):
        run(("ip", "addr", "add", had[device], "dev", device))
