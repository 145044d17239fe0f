"""Cable discovery through the daemon, over a carrier that the test owns; what is behind sudo is the real root verb."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.agent.support import Desktop, Node, eventually
from engine.agent.test_attach import _archive
from stellwerk_agent.hear_frames import Said, build_payload, parse_payload
from unit.agent import spark_tree

HALVES = tuple(spark_tree.HALVES)
PEER = Said("peer-node", "spark-2", "enp1s0f0np0", "3c:6d:66:aa:aa:aa", "t0ken")
LLDP = (
    b"\x01\x80\xc2\x00\x00\x0e\x02\x00\x00\x00\x00\x01\x88\xcc"
    b"\x02\x07\x04\x02\x00\x00\x00\x00\x01\x04\x05\x05swp1\x06\x02\x00\x78\x0a\x06switch\x00\x00"
)


class Wires:
    """A Unix socket per interface; `obstacle(interface, kind)` says why a packet is refused, else it is answered."""

    def __init__(self, directory: Path, obstacle: Callable[[str, int], str | None]) -> None:
        directory.mkdir()
        self.heard: list[tuple[str, int, Said]] = []
        self.answers: dict[tuple[str, int], list[bytes]] = {}
        self._obstacle = obstacle
        self._loop = asyncio.get_running_loop()
        self._sockets: list[socket.socket] = []
        for name in HALVES:
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK)
            listener.bind(str(directory / f"{name}.sock"))
            listener.listen(8)
            self._sockets.append(listener)
            self._loop.add_reader(listener, self._accept, listener, name)

    def _accept(self, listener: socket.socket, name: str) -> None:
        client, _ = listener.accept()
        client.setblocking(False)
        self._sockets.append(client)
        self._loop.add_reader(client, self._receive, client, name)

    def _receive(self, client: socket.socket, name: str) -> None:
        packet = client.recv(65536)
        if not packet:
            self._loop.remove_reader(client)
            return
        why = self._obstacle(name, packet[0])
        if why is not None:
            client.send(b"E" + why.encode())
            return
        said = parse_payload(packet[1:])
        assert said is not None
        self.heard.append((name, packet[0], said))
        for answer in self.answers.get((name, packet[0]), []):
            client.send(packet[:1] + b"\x02\0\0\0\0\x01" + answer)

    def close(self) -> None:
        for one in self._sockets:
            self._loop.remove_reader(one)
            one.close()


@pytest.fixture
async def make_wires(tmp_path: Path) -> Any:
    made: list[Wires] = []

    def make(obstacle: Callable[[str, int], str | None]) -> Wires:
        made.append(Wires(tmp_path / "wires", obstacle))
        return made[-1]

    yield make
    for wires in made:
        wires.close()


async def _hear(node: Node, tmp_path: Path, **params: Any) -> tuple[dict[str, Any], Desktop]:
    desktop = await Desktop.attach(node, "--hear-carrier", f"unix:{tmp_path / 'wires'}")
    asked = {"seconds": 1.0, "netdevs": None, "token": "t0ken", "bring_up": False, **params}
    return await desktop.call("hear", asked, timeout_s=60), desktop


def _states(report: dict[str, Any]) -> dict[str, tuple[str, str | None]]:
    return {state["netdev"]: (state["state"], state["why"]) for state in report["states"]}


async def test_what_answers_is_heard_and_oneself_is_nobody(node: Node, tmp_path: Path, make_wires: Any) -> None:
    wires = make_wires(lambda name, kind: None if kind == 6 else "no-ipv4")
    wires.answers[HALVES[0], 6] = [build_payload(PEER), b"noise", build_payload(PEER)]
    report, desktop = await _hear(node, tmp_path)
    me = report["node_id"]
    assert _states(report)[HALVES[0]] == ("heard", None)
    assert _states(report)[HALVES[1]][0] == "silent"
    assert {(name, kind) for name, kind, _ in wires.heard} == {(name, 6) for name in HALVES}
    assert wires.heard[0][2].token == "t0ken"
    (heard,) = report["heard"]
    assert (heard["netdev"], heard["remote_node_id"], heard["remote_netdev"]) == (HALVES[0], "peer-node", "enp1s0f0np0")
    assert (heard["carrier"], heard["remote_token"], heard["remote_mac"]) == ("ipv6", "t0ken", PEER.mac)
    assert heard["frames"] >= 2
    own = Said(me, "spark-1", HALVES[0], "02:00:00:00:00:01")
    twin = Said(me, "spark-1", HALVES[2], "02:00:00:00:00:02")
    wires.answers[HALVES[0], 6] = [build_payload(own), build_payload(twin)]
    again = await desktop.call("hear", {"seconds": 0.8, "netdevs": [HALVES[0]], "token": "x"})
    assert [h["remote_netdev"] for h in again["heard"]] == [HALVES[2]]
    assert _states(again)[HALVES[0]][0] == "silent"
    await desktop.close()


async def test_every_interface_says_why_it_cannot_be_heard(node: Node, tmp_path: Path, make_wires: Any) -> None:
    for name, flags, carrier in ((HALVES[1], "0x1002", ""), (HALVES[2], "0x1003", "0")):
        (node.root / f"sys/class/net/{name}/flags").write_text(flags)
        (node.root / f"sys/class/net/{name}/carrier").write_text(carrier)
    trouble = {HALVES[1]: "down", HALVES[2]: "no-carrier", HALVES[3]: "no-link-local"}
    wires = make_wires(lambda name, kind: trouble.get(name))
    del wires
    report, desktop = await _hear(node, tmp_path, netdevs=[*HALVES, "gone0"])
    states = _states(report)
    assert [states[name][0] for name in HALVES] == ["silent", "down", "no-carrier", "needs-sudo"]
    assert states["gone0"] == ("needs-sudo", "there is no such interface; needs the sudo password")
    assert "link-local" in str(states[HALVES[3]][1])
    await desktop.close()


SUDO = """
import os, sys
words = sys.argv[1:]
while words and words[0].startswith("-"):
    if words.pop(0) == "--": break
os.environ["SUDO_UID"] = str(os.getuid())
os.execvp(words[0], words)
"""


@pytest.fixture
def with_sudo(node: Node) -> Iterator[None]:
    node.program("sudo", SUDO)
    (node.bin / "python3").symlink_to("/usr/bin/python3")
    node.command, node.extra_environment = _archive(node), {}
    yield


async def test_with_root_raw_frames_hear_peers_and_switches(
    node: Node, with_sudo: None, tmp_path: Path, make_wires: Any
) -> None:
    wires = make_wires(lambda name, kind: None if kind == 0 else "no-link-local")
    wires.answers[HALVES[0], 0] = [build_payload(PEER)]
    wires.answers[HALVES[1], 0] = [LLDP]
    report, desktop = await _hear(node, tmp_path)
    assert _states(report)[HALVES[0]][0] == "heard"
    assert report["heard"][0]["carrier"] == "raw"
    assert report["lldp"] == [
        {
            "netdev": HALVES[1],
            "chassis": "02:00:00:00:00:01",
            "port": "swp1",
            "system_name": "switch",
            "port_description": None,
        }
    ]
    await desktop.close()


IP_LINK = """
import os, pathlib, sys
root = pathlib.Path(os.environ.get("FAKE_ROOT") or {root!r})
with open(root / "ip.log", "a") as log: log.write(" ".join(sys.argv[1:]) + "\\n")
if sys.argv[1:3] == ["link", "set"]:
    base = root / "sys/class/net" / sys.argv[4]
    (base / "flags").write_text("0x1003" if sys.argv[5] == "up" else "0x1002")
    (base / "carrier").write_text("1" if sys.argv[5] == "up" else "")
else:
    print("[]")
"""


async def test_an_interface_that_is_down_is_brought_up_only_with_consent_and_put_back(
    node: Node, with_sudo: None, tmp_path: Path, make_wires: Any
) -> None:
    node.program("ip", IP_LINK.format(root=str(node.root)))
    flags = node.root / f"sys/class/net/{HALVES[0]}/flags"
    flags.write_text("0x1002")
    wires = make_wires(lambda name, kind: None if kind == 0 and flags.read_text() == "0x1003" else "down")
    wires.answers[HALVES[0], 0] = [build_payload(PEER)]
    report, desktop = await _hear(node, tmp_path, netdevs=[HALVES[0]])
    assert _states(report)[HALVES[0]][0] == "down"
    assert "link set" not in (node.root / "ip.log").read_text()
    report = await desktop.call("hear", {"seconds": 1.0, "netdevs": [HALVES[0]], "bring_up": True}, timeout_s=60)
    assert _states(report)[HALVES[0]][0] == "heard"
    assert flags.read_text() == "0x1002"
    # Also when the daemon dies in the middle: the root process sees the end of its stdin.
    await desktop.start("hear", {"seconds": 50.0, "netdevs": [HALVES[0]], "bring_up": True})
    await eventually(lambda: flags.read_text() == "0x1003")
    os.kill(node.daemons()[0].pid, signal.SIGKILL)
    await eventually(lambda: flags.read_text() == "0x1002")
    await desktop.process.wait()
    await desktop.close()


async def test_listening_can_be_cancelled_at_once(node: Node, tmp_path: Path, make_wires: Any) -> None:
    make_wires(lambda name, kind: None)
    desktop = await Desktop.attach(node, "--hear-carrier", f"unix:{tmp_path / 'wires'}")
    request = await desktop.start("hear", {"seconds": 60.0})
    await desktop.until(lambda: any(n["method"] == "progress" for n in desktop.notifications))
    await desktop.note("cancel", {"id": request})
    await desktop.until(lambda: request in desktop.answers, timeout_s=10)
    assert desktop.answers[request]["error"]["data"]["code"] == "cancelled"
    await desktop.close()
