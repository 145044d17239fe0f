"""From a rank number to a tested engine: rendezvous, connections, vote, start-up tests, fallback.

Every decision is made from values that all ranks have exchanged, so all ranks decide alike. The order: who is there;
does every pair reach each other; which transports can every rank use, with the same limits; does the best of them pass
its tests on every rank; if not, the next one, with the reason kept.
"""

from __future__ import annotations

import logging
import os
import secrets
import socket
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stellwerk import __version__
from stellwerk.collectives import dispatch as dispatching
from stellwerk.collectives import native_library as native
from stellwerk.collectives import roce, selftest
from stellwerk.collectives.control import Control, PeerState
from stellwerk.collectives.dispatch import Dispatch
from stellwerk.collectives.engine import Engine
from stellwerk.collectives.errors import SetupFailed
from stellwerk.collectives.kinds import Topology, Transport
from stellwerk.collectives.mesh import Mesh, close_all
from stellwerk.collectives.opening import NotUsable, Opener
from stellwerk.collectives.options import REQUESTS, RING_BYTES, VERBS_SLOT_BYTES, Options, window_bytes
from stellwerk.collectives.rendezvous import Rendezvous
from stellwerk.collectives.report import RankInfo, Report
from stellwerk.native import NativeMissing

log = logging.getLogger("stellwerk.collectives")

SELF_TEST_S = 20.0
PAIR_S = 15.0


@dataclass(frozen=True, slots=True)
class Connected:
    """Everything a communicator is made of."""

    engine: Engine
    control: Control
    lanes: dict[int, socket.socket]
    dispatch: Dispatch
    window_bytes: int
    report: Report
    infos: list[dict[str, Any]]


class Connector:
    """The set-up on one rank. `run()` returns the parts of a communicator or raises SetupFailed on every rank."""

    def __init__(self, rank: int, ranks: int, rendezvous: Rendezvous, token: bytes, options: Options) -> None:
        self.rank, self.ranks, self.options = rank, ranks, options
        self._rendezvous, self._token = rendezvous, token
        self._started = time.monotonic()
        self._deadline = self._started + options.setup_timeout_s
        self._engine_slot: list[Engine] = []
        self._notes: list[str] = []
        self._fallbacks: list[str] = []
        self._infos: list[dict[str, Any]] = []
        self._where: list[list[Any]] = []
        self._group = ""

    # ---- the whole ---------------------------------------------------------------------------------------------------

    def run(self) -> Connected:
        """See the class."""
        options = self.options
        opening = self._exchange({"group": secrets.token_hex(16), "address": options.address})
        self._group = str(opening[0]["group"])
        try:
            mesh = Mesh(
                self.rank, self.ranks, self._group, self._token, options.address, options.addresses, options.dial
            )
        except OSError as error:
            trouble = f"rank {self.rank} on {_host()} cannot listen on {options.address}: {error.strerror or error}"
            self._exchange({"trouble": trouble})
            raise SetupFailed(trouble) from error
        try:
            return self._with_mesh(mesh)
        finally:
            mesh.close()

    def _with_mesh(self, mesh: Mesh) -> Connected:
        self._infos = self._exchange(self._introduction(mesh))
        for info in self._infos:
            if "trouble" in info:
                raise SetupFailed(str(info["trouble"]))
        self._compare_versions()
        self._where = [info["where"] for info in self._infos]
        watched = self._connect_pairs(mesh, "control")
        control = Control(self.rank, [str(info["host"]) for info in self._infos], watched, self._state)
        lanes: dict[int, socket.socket] = {}
        try:
            lanes = self._connect_pairs(mesh, "lane")
            return self._choose(mesh, control, lanes)
        except BaseException:
            control.close()
            close_all(lanes)
            raise

    def _exchange(self, value: Any) -> list[Any]:
        return self._rendezvous.exchange(value, self._deadline)

    def _state(self) -> PeerState:
        if not self._engine_slot:
            return PeerState(0, 0, -1, "set-up")
        health = self._engine_slot[0].health()
        return PeerState(health.calls, health.done, health.waiting_on, "")

    # ---- who is there ------------------------------------------------------------------------------------------------

    def _introduction(self, mesh: Mesh) -> dict[str, Any]:
        options = self.options
        try:
            native.load()
            missing = ""
        except NativeMissing as error:
            missing = str(error)
        try:
            own = {options.address, *options.addresses.values()}
            rails, no_rail = [rail.to_json() for rail in roce.find_rails(options.rails, own)], ""
        except roce.NoRail as error:
            rails, no_rail = [], str(error)
        return {
            "version": __version__,
            "host": _host(),
            "boot": _boot_id(),
            "pid": os.getpid(),
            "where": mesh.advertised,
            "transport": options.transport,
            "topology": options.topology,
            "timeout_s": options.timeout_s,
            "self_test": options.self_test,
            "native": missing,
            "limits": [native.ABI, RING_BYTES, VERBS_SLOT_BYTES],
            "rails": rails,
            "no_rail": no_rail,
            "link": [options.link.delay_us, options.link.gbps],
        }

    def _compare_versions(self) -> None:
        """What must be equal for ranks to understand each other at all."""
        mine = self._infos[0]
        for key in ("version", "transport", "link", "topology"):
            for rank, info in enumerate(self._infos):
                if info[key] != mine[key]:
                    raise SetupFailed(
                        f"rank {rank} on {info['host']} was started with {key} {info[key]!r}, "
                        f"rank 0 with {mine[key]!r}; start all ranks alike"
                    )
        if any(info["timeout_s"] != mine["timeout_s"] for info in self._infos):
            self._notes.append(f"the ranks asked for different time-outs; all use {self.timeout_s:g} s, the longest")

    @property
    def timeout_s(self) -> float:
        """The time-out of calls that all ranks settled on."""
        return max(float(info["timeout_s"]) for info in self._infos)

    def _pair_deadline(self) -> float:
        """For connecting one set of pairs: what fails must leave time to tell everybody."""
        now = time.monotonic()
        return now + min(PAIR_S, (self._deadline - now) / 2)

    def _connect_pairs(self, mesh: Mesh, purpose: str) -> dict[int, socket.socket]:
        """Connections to every peer, or SetupFailed on every rank with all pairs that cannot reach each other."""
        sockets, failures = mesh.connect(self._where, purpose, self._pair_deadline())
        trouble = []
        for rank, reasons in enumerate(self._exchange({str(peer): why for peer, why in failures.items()})):
            trouble += [f"rank {rank} ({self._infos[rank]['host']}): {why}" for why in reasons.values()]
        if trouble:
            close_all(sockets)
            raise SetupFailed(
                "not every pair of ranks can reach each other: "
                + "; ".join(trouble)
                + ". Check the cable, the address "
                "and the firewall between these machines."
            )
        return sockets

    # ---- which engine ------------------------------------------------------------------------------------------------

    @property
    def _one_host(self) -> bool:
        return all(info["boot"] == self._infos[0]["boot"] for info in self._infos)

    @property
    def topology(self) -> Topology:
        """What the ranks were told, else one machine or a mesh."""
        if self.options.topology is not None:
            return Topology(self.options.topology)  # also a word: the choice of an algorithm asks for the member
        return Topology.HOST if self._one_host and self.options.link.real else Topology.MESH

    def _window(self, transport: Transport) -> int:
        return window_bytes(transport, self.topology)

    def _vote(self, transport: Transport) -> str:
        """Why a transport is off on every rank, or nothing. Decided from what all ranks have said."""
        if transport is Transport.PYTHON:
            return ""
        for rank, info in enumerate(self._infos):
            if info["native"]:
                return f"rank {rank} ({info['host']}) has no native library: {info['native']}"
            if info["limits"] != self._infos[0]["limits"]:
                return f"rank {rank} ({info['host']}) has limits {info['limits']}, rank 0 {self._infos[0]['limits']}"
            if transport is Transport.SHM and info["boot"] != self._infos[0]["boot"]:
                return f"rank {rank} runs on {info['host']}, rank 0 on {self._infos[0]['host']}: no common memory"
            if transport is Transport.VERBS and info["no_rail"]:
                return f"rank {rank} ({info['host']}): {info['no_rail']}"
        if transport is Transport.VERBS:
            try:
                self._routes()
            except roce.NoRail as error:
                return str(error)
        return ""

    @property
    def _ring(self) -> bool:
        """True if not everybody is a neighbour of everybody."""
        return self.topology is Topology.RING and self.ranks > 3

    def _routes(self) -> roce.Routes:
        everybody = [[roce.Rail.from_json(rail) for rail in info["rails"]] for info in self._infos]
        hosts = [str(info["host"]) for info in self._infos]
        return roce.find_routes(self.rank, everybody, hosts, self._ring)

    def _goes_without_saying(self, transport: Transport) -> bool:
        """With `auto`: machines have no common memory, and most have no RDMA device. Nothing fell back then."""
        if self.options.transport != "auto":
            return False
        if transport is Transport.SHM:
            return not self._one_host
        return transport is Transport.VERBS and not any(info["rails"] for info in self._infos)

    def _choose(self, mesh: Mesh, control: Control, lanes: dict[int, socket.socket]) -> Connected:
        for transport in REQUESTS[self.options.transport]:
            why = self._vote(transport)
            if not why:
                dispatch = self._agree_on_dispatch(transport)
                engine, why, tested = self._try(mesh, control, transport, dispatch)
                if engine is not None:
                    self._engine_slot.append(engine)
                    self._warn(transport)
                    report = self._report(transport, dispatch, tested)
                    return Connected(engine, control, lanes, dispatch, self._window(transport), report, self._infos)
            if not self._goes_without_saying(transport):
                self._fallbacks.append(f"{transport} is off on every rank: {why}")
        raise SetupFailed("no transport works: " + "; ".join(self._fallbacks))

    def _warn(self, transport: Transport) -> None:
        """One warning for everything that was tried, where somebody reads it."""
        slow = transport is Transport.PYTHON and self.options.transport != "python"
        if slow:
            self._notes.append("the pure-Python transport works everywhere and is many times slower than the library")
        if self._fallbacks and self.rank == 0:
            log.warning("%s", "; ".join([*self._fallbacks, *self._notes[-1:]] if slow else self._fallbacks))

    def _agree_on_dispatch(self, transport: Transport) -> Dispatch:
        topology = self.topology
        try:
            mine, trouble = dispatching.load(transport, topology, self.ranks, self.options.tuning), ""
        except ValueError as error:
            mine = Dispatch(dispatching.shipped(transport, topology, self.ranks), "shipped")
            trouble = str(error)
        answers = self._exchange({"digest": mine.digest(), "trouble": trouble})
        for rank, answer in enumerate(answers):
            if answer["trouble"]:
                self._notes.append(f"rank {rank}: {answer['trouble']}")
        if all(answer["digest"] == answers[0]["digest"] for answer in answers):
            return mine
        odd = next(r for r, answer in enumerate(answers) if answer["digest"] != answers[0]["digest"])
        self._notes.append(f"rank {odd} has another dispatch table than rank 0; all ranks use the shipped one")
        return Dispatch(dispatching.shipped(transport, topology, self.ranks), "shipped")

    def _try(
        self, mesh: Mesh, control: Control, transport: Transport, dispatch: Dispatch
    ) -> tuple[Engine | None, str, selftest.SelfTestReport | None]:
        """Open and test an engine on all ranks. Returns it, or the first rank's reason why not."""
        engine: Engine | None = None
        tested: selftest.SelfTestReport | None = None
        why, here = "", True
        try:
            engine = self._opener(mesh).open(transport)
        except NotUsable as error:
            why, here = str(error), error.here
        except (OSError, MemoryError) as error:
            why = str(error)
        why = self._first_trouble(why, here)
        wanted = all(info["self_test"] for info in self._infos)
        if engine is not None and not why and wanted and self.ranks > 1:
            tested, why, here = self._test(engine, dispatch, control)
            why = self._first_trouble(why, here)
        if engine is not None and why:
            engine.close()
            engine = None
        return engine, why, tested

    def _test(
        self, engine: Engine, dispatch: Dispatch, control: Control
    ) -> tuple[selftest.SelfTestReport | None, str, bool]:
        """The report, or why not, and whether the reason lies on this rank."""
        setting = selftest.Setting(self.rank, self.ranks, self.topology, dispatch, self._window(engine.transport))
        # Who gives the set-up more time (a slow or busy machine) gives the tests their share of it.
        limit_s = max(SELF_TEST_S, self.options.setup_timeout_s / 3)
        deadline = min(self._deadline, time.monotonic() + limit_s)
        word = f"stop testing {engine.transport}"
        try:
            return selftest.run_self_test(engine, setting, deadline, lambda: control.was_told(word)), "", True
        except selftest.SelfTestFailed as error:
            control.tell(word)  # the others would wait for us until their deadline
            return None, str(error), error.here

    def _first_trouble(self, why: str, here: bool = True) -> str:
        """The first rank's reason, if any has one; reasons that only follow from another rank's come last."""
        answers = [(rank, *answer) for rank, answer in enumerate(self._exchange([why, here])) if answer[0]]
        for rank, reason, _ in sorted(answers, key=lambda answer: not answer[2]):
            return f"rank {rank} ({self._infos[rank]['host']}): {reason}"
        return ""

    def _opener(self, mesh: Mesh) -> Opener:
        return Opener(
            rank=self.rank,
            ranks=self.ranks,
            ranks_here=sum(info["boot"] == self._infos[self.rank]["boot"] for info in self._infos),
            ring=self._ring,
            link=self.options.link,
            exchange=self._exchange,
            connect=lambda transport: mesh.connect(self._where, f"data-{transport}", self._pair_deadline()),
            routes=self._routes,
            note=self._notes.append,
        )

    def _report(self, transport: Transport, dispatch: Dispatch, tested: selftest.SelfTestReport | None) -> Report:
        return Report(
            transport=transport,
            requested=self.options.transport,
            topology=self.topology,
            ranks=tuple(RankInfo(r, str(i["host"]), int(i["pid"])) for r, i in enumerate(self._infos)),
            fallbacks=tuple(self._fallbacks),
            notes=tuple(self._notes),
            dispatch_source=dispatch.source,
            self_test_calls=tested.calls if tested else 0,
            latency_us=tested.latency_us if tested else None,
            setup_s=time.monotonic() - self._started,
        )


def _host() -> str:
    return socket.gethostname()


def _boot_id() -> str:
    """Equal for processes that share a kernel; containers share it too, and then opening the memory decides."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return f"{_host()}-{secrets.token_hex(4)}"
