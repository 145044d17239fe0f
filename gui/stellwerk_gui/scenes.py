"""States of the window that no journey passes by itself: shown with made-up words, so that they can be looked at."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

from stellwerk.model.errors import AgentRefused, Busy, ConnectionFailed, HostKeyChanged, LoginFailed, SudoFailed
from stellwerk.model.fabric import PortRef, TopologyKind
from stellwerk.setup.mesh import MeshReport, Tried
from stellwerk.setup.outcome import ApplyEvent, ApplyOutcome, NodeOutcome
from stellwerk_gui.dialogs import offer_old_reports
from stellwerk_gui.mesh import MeshDialog
from stellwerk_gui.widgets.fabricmap import CableView, HalfView, MapView, NodeView, PortView, SwitchView

if TYPE_CHECKING:
    from stellwerk_gui.album import Album

FOUND = ("spark-7f3a", "spark-91c4", "gx10-02be", "spark-0d11", "spark-5e20", "spark-a911", "spark-c003")


def start_states(album: Album) -> None:
    """The network line in its three states."""
    start = album.window.start
    start.show_found(FOUND)
    album.shot("start-found")
    start.show_found((), available=False)
    album.shot("start-no-mdns")
    start.show_found(())


def pair_states(album: Album) -> None:
    """Every way in which pairing a machine can end, one in each row."""
    w, c = album.window, album.window.controller
    why = "the connection was refused"
    errors = (
        ConnectionFailed("the machine does not answer", why=why, remedy="Check the address and the cable"),
        LoginFailed("the password was not accepted", remedy="Try again"),
        HostKeyChanged("the machine shows another host key", remedy="Compare both fingerprints at the machine"),
        AgentRefused("the agent could not be started", why="the disk is full", remedy="Free 100 MB"),
        SudoFailed("sudo was refused", why="this user is no administrator", remedy="Use another user"),
    )
    before = c.nodes
    c.nodes = tuple(
        replace(n, state="needs attention", reason=str(errors[i % len(errors)]), error=errors[i % len(errors)])
        for i, n in enumerate(before)
    )
    w.setup_page.open_step("pair")
    w.setup_page.views["pair"]._refresh()  # type: ignore[attr-defined]
    album.shot("setup-2-problems")
    c.nodes = before


def apply_states(album: Album) -> None:
    """Holding with its lease, a machine that failed, all back as it was, one that does not answer."""
    w, c = album.window, album.window.controller
    if c.plan is None:
        return
    setup, names, outcome = w.setup_page, [n.node for n in c.plan.nodes], c.outcome
    step = setup.views["apply"]
    setup.open_step("apply")
    c.applying, c.outcome = True, None
    setup.refresh()
    for name in names:
        c.apply_event.emit(ApplyEvent(name, "holding", lease_left_s=83.0))
    c.apply_event.emit(ApplyEvent(None, "checking", f"{names[0]} calls {names[-1]}"))
    album.shot("setup-5-holding")
    c.apply_event.emit(ApplyEvent(names[0], "failed", "the guard does not answer"))
    for name in names[1:]:
        c.apply_event.emit(ApplyEvent(name, "reverting"))
    album.shot("setup-5-failed")
    for name in names:
        c.apply_event.emit(ApplyEvent(name, "reverted"))
    c.applying = False
    why = "the nodes did not reach each other with large packets"
    back = tuple(NodeOutcome(name, "old") for name in names)
    for title, nodes in (
        ("setup-5-rolled-back", back),
        ("setup-5-not-answered", (*back[1:], NodeOutcome(names[0], "unknown", "it has not been heard"))),
    ):
        c.outcome = ApplyOutcome(c.plan.plan_id, False, nodes, why)
        step._done(c.outcome)  # type: ignore[attr-defined]
        setup.refresh()
        album.shot(title)
    for name in names:
        c.apply_event.emit(ApplyEvent(name, "confirmed"))
    c.outcome = outcome
    step._done(outcome)  # type: ignore[attr-defined]
    setup.refresh()
    album.shot("setup-5-done")


def change_dialogs(album: Album) -> None:
    """SSH between the machines before and after, and the questions before something is changed."""
    w, c = album.window, album.window.controller
    names = [n.name for n in c.nodes]
    dialog = MeshDialog(w.shell, w.changes)
    dialog.open()
    album.shot("dialog-mesh", dialog)
    pairs = [Tried(a, b, "10.100.0.2", "fabric") for a in names for b in names if a != b]
    pairs[0] = replace(pairs[0], error="the host key is not the one that was told")
    dialog.show_report(MeshReport(tuple(pairs), {}))
    album.shot("dialog-mesh-tried", dialog)
    dialog.reject()
    w.asking.take_over(Busy("another desktop changes this node", node=names[0], why="held by ann@desk"), lambda: None)
    album.shot_front("dialog-take-over")
    w.asking.undo()
    album.shot_front("dialog-undo")
    w.asking.unpair(names[0])
    album.shot_front("dialog-un-pair")


def crash_states(album: Album) -> None:
    """After something broke inside: at once, and at the next start."""
    w = album.window
    report = w.store.base / "crashes" / "crash-20261130-090000.json"
    w._show_crash(str(report))
    album.shot("error-crash")
    w.shell.error_box.hide()
    box = offer_old_reports(w.shell, [report])
    if box is not None:
        album.shot("dialog-crash", box)
        box.close()


def shapes(album: Album) -> None:
    """The map for every shape that a cluster can have."""
    page = album.window.cluster_page
    shown = page.map.view
    page.left()  # its clock would draw the real cluster again
    for name, kind, count in (
        ("single", TopologyKind.SINGLE, 1),
        ("pair", TopologyKind.PAIR, 2),
        ("chain", TopologyKind.CHAIN, 4),
        ("ring-of-3", TopologyKind.RING, 3),
        ("ring-of-8", TopologyKind.RING, 8),
        ("switch-of-8", TopologyKind.SWITCH, 8),
    ):
        page.map.show_view(shape(kind, count))
        album.shot(f"cluster-map-{name}", page.map)
    page.map.show_view(shown)
    page.shown()


def shape(kind: TopologyKind, count: int) -> MapView:
    """Machines in one shape: most are well, one is degraded, one is away."""
    names = [f"spark-{n}" for n in range(1, count + 1)]
    halves = tuple(HalfView(half, "ok", 44.0, 12.0) for half in "AB")
    empty = tuple(HalfView(half) for half in "AB")
    odd = {2: ("degraded", "Degraded", "Port 0 half B: 13.0 of 92 Gb/s")} if count > 3 else {}
    if count > 4:
        odd[count] = ("unreachable", "Reconnecting", "")
    ends = list(itertools.pairwise(names))
    if kind is TopologyKind.RING:
        ends.append((names[-1], names[0]))
    cables = [CableView(PortRef(a, 0), PortRef(b, 1), "ok", "↑ 88.0  ↓ 24.0 Gb/s", halves=halves) for a, b in ends]
    if kind is TopologyKind.SWITCH:
        cables = [CableView(PortRef(n, 1), None, "ok", "↑ 88.0  ↓ 24.0 Gb/s", halves=halves) for n in names]
    used = {ref for cable in cables for ref in (cable.a, cable.b) if ref is not None}
    nodes = []
    for number, name in enumerate(names, 1):
        state, words, note = odd.get(number, ("ready", "Ready", ""))
        ports = tuple(PortView(p, halves if PortRef(name, p) in used else empty) for p in (0, 1))
        nodes.append(
            NodeView(
                name, number, state, words, subtitle="NVIDIA DGX Spark (simulated)", ports=ports, gpu_pct=62.0,
                mem_used_gib=38.4, mem_total_gib=121.6, temp_c=58.0, power_w=74.0, tx_gbps=88.0, rx_gbps=24.0,
                note=note, age_s=38.0 if state == "unreachable" else None,
            )
        )  # fmt: skip
    refs = tuple((PortRef(n, 1), f"{i // 2 + 1}{'ab'[i % 2]}") for i, n in enumerate(names))
    switch = (
        SwitchView("Switch", "Switch 1 (LLDP)", f"{count} ports seen", refs) if kind is TopologyKind.SWITCH else None
    )
    return MapView(kind, tuple(nodes), tuple(cables), switch, tuple(names))
