"""Cable discovery: which frames reach whom, and why one cannot be sent."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from engine.virtual.support import shell
from stellwerk.virtual import VirtualCluster

RAW, IPV4, IPV6 = b"\x00", b"\x04", b"\x06"


class Ear:
    """One interface of one node, from a process that is not root there."""

    def __init__(self, cluster: VirtualCluster, node: str, interface: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(5)
        self.socket.connect(str(Path(cluster.node(node).home).parent / "carrier" / f"{interface}.sock"))

    async def send(self, packet: bytes) -> None:
        await asyncio.to_thread(self.socket.send, packet)

    async def receive(self) -> bytes:
        return await asyncio.to_thread(self.socket.recv, 65536)

    def silent(self) -> bool:
        """Nothing has come in. Only asked after a later frame was received elsewhere."""
        self.socket.settimeout(0)
        try:
            return not self.socket.recv(65536)
        except BlockingIOError:
            return True
        finally:
            self.socket.settimeout(5)


@contextmanager
def ears(cluster: VirtualCluster, *places: tuple[str, str]) -> Iterator[list[Ear]]:
    with ExitStack() as stack:
        found = [Ear(cluster, node, interface) for node, interface in places]
        for ear in found:
            stack.enter_context(ear.socket)
        yield found


async def test_a_frame_reaches_both_halves_at_the_other_end_and_the_own_twin_and_nobody_else() -> None:
    async with VirtualCluster.start(3, "ring") as cluster:
        places = [("spark-1", "enp1s0f0np0"), ("spark-1", "enP2p1s0f0np0"), ("spark-2", "enp1s0f1np1"),
                  ("spark-2", "enP2p1s0f1np1"), ("spark-2", "enp1s0f0np0"), ("spark-3", "enp1s0f1np1")]  # fmt: skip
        with ears(cluster, *places) as (own, twin, there, there_twin, *elsewhere):
            await own.send(IPV6 + b"hello")
            expected = IPV6 + bytes.fromhex("3c6d6601b3b0") + b"hello"
            for ear in (there, there_twin, twin):
                assert await ear.receive() == expected
            assert own.silent()
            assert all(ear.silent() for ear in elsewhere)


async def test_why_a_kind_cannot_be_used_is_said() -> None:
    async with shell(2, "pair", {"kind": "link-local-off", "node": "spark-1"}) as sh:
        with ears(sh.cluster, ("spark-1", "enp1s0f1np1"), ("spark-1", "enp1s0f0np0")) as (cabled, bare):
            for kind, reason in ((IPV6, b"Eno-link-local"), (IPV4, b"Eno-ipv4"), (RAW, b"Eneeds-sudo")):
                await cabled.send(kind + b"x")
                assert await cabled.receive() == reason
            await bare.send(IPV6 + b"x")
            assert await bare.receive() == b"Eno-carrier"
            await sh.ok("spark-1", "sudo -n ip link set dev enp1s0f0np0 down")
            await bare.send(IPV6 + b"x")
            assert await bare.receive() == b"Edown"


async def test_raw_frames_are_for_root_at_both_ends() -> None:
    hear = (
        "import socket, sys\n"
        "s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.settimeout(20)\n"
        "s.connect(sys.argv[1]); print('ready', flush=True)\n"
        "if sys.argv[2:]: s.send(b'\\\\x00' + sys.argv[2].encode())\n"
        "print(s.recv(9999)[7:].decode(), flush=True)\n"
    )
    async with shell(2, "pair", {"kind": "link-local-off"}) as sh:
        sockets = {n: Path(sh.cluster.node(n).home).parent / "carrier/enp1s0f1np1.sock" for n in ("spark-1", "spark-2")}
        with ears(sh.cluster, ("spark-2", "enp1s0f1np1")) as (unprivileged,):
            second = await sh.connection("spark-2")
            listener = await second.create_process(f'sudo -n python3 -c "{hear}" {sockets["spark-2"]}')
            assert await listener.stdout.readline() == "ready\n"
            first = await sh.connection("spark-1")
            sender = await first.create_process(f'sudo -n python3 -c "{hear}" {sockets["spark-1"]} discovery')
            assert await listener.stdout.readline() == "discovery\n"
            assert unprivileged.silent()
            sender.stdin.write_eof()
            sender.close()


async def test_on_a_switch_everybody_hears_and_after_the_cable_is_pulled_nobody() -> None:
    async with VirtualCluster.start(4, "switch") as cluster:
        places = [(f"spark-{n}", "enp1s0f1np1") for n in range(1, 5)]
        with ears(cluster, *places) as (first, *others):
            await first.send(IPV6 + b"one")
            for ear in others:
                assert (await ear.receive()).endswith(b"one")
            await cluster.unplug("spark-4:1")
            await first.send(IPV6 + b"two")
            for ear in others[:-1]:
                assert (await ear.receive()).endswith(b"two")
            assert others[-1].silent()
            await others[-1].send(IPV6 + b"three")
            assert await others[-1].receive() == b"Eno-carrier"
            await cluster.plug("spark-4:1", "switch-1")
            await others[-1].send(IPV6 + b"four")
            assert (await first.receive()).endswith(b"four")


async def test_a_switch_names_itself_to_root_until_it_is_silenced() -> None:
    hear = (
        "import socket, sys\n"
        "s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
        "s.settimeout(float(sys.argv[2])); s.connect(sys.argv[1])\n"
        "try: print(s.recv(9999)[7:].hex())\n"
        "except TimeoutError: print('silent')\n"
    )
    async with shell(2, "switch") as sh:
        path = Path(sh.cluster.node("spark-2").home).parent / "carrier/enP2p1s0f1np1.sock"
        frame = bytes.fromhex(await sh.ok("spark-2", f'sudo -n python3 -c "{hear}" {path} 20'))
        assert frame[:6] == bytes.fromhex("0180c200000e")
        assert frame[12:14] == b"\x88\xcc"
        assert b"switch-1" in frame
        assert b"qsfp56-2" in frame
        await sh.cluster.set_fault("switch-silent", node="spark-1")
        assert await sh.ok("spark-2", f'sudo -n python3 -c "{hear}" {path} 1.2') == "silent\n"
