"""Measures an RPC round trip to a real agent through OpenSSH on this computer.

    python tests/bench/rpc_roundtrip.py [--calls 500]

Prints milliseconds: the whole way desktop -> sshd -> attach -> daemon and back, one call at a time and eight at once.
"""

from __future__ import annotations

import argparse
import asyncio
import getpass
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from lab.sshd.conftest import PRIVSEP, Sshd, is_running
from stellwerk.remote import (
    ClusterKey,
    Desktop,
    HostKeyQuestion,
    NodeLink,
    Target,
    TrustStore,
    UserIdentity,
    build_agent,
)


class Person:
    """Trusts the machine that this program has started itself."""

    async def confirm_host_key(self, question: HostKeyQuestion) -> bool:
        return True

    async def password(self, question: object) -> str | None:
        return None

    async def sudo_password(self, question: object) -> str | None:
        return None


def main() -> None:
    """Start sshd, measure, print, clean up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=500)
    calls = parser.parse_args().calls
    made = os.geteuid() == 0 and not PRIVSEP.exists()
    if made:
        PRIVSEP.mkdir(mode=0o755)
    folder = Path(tempfile.mkdtemp(prefix="sw-"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        server = Sshd(folder, int(free.getsockname()[1]))
    try:
        (server.home / ".ssh").mkdir(parents=True, mode=0o700)
        server.new_host_key("ed25519")
        key = folder / "id_ed25519"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
        server.authorized_keys.write_bytes(key.with_suffix(".pub").read_bytes())
        server.start()
        asyncio.run(measure(server, folder, calls))
    finally:
        server.stop()
        shutil.rmtree(folder)
        if made:
            PRIVSEP.rmdir()


async def measure(server: Sshd, folder: Path, calls: int) -> None:
    """Pair, connect again, call `hello` in a loop."""
    desktop = Desktop(
        TrustStore(folder / "known_hosts"),
        ClusterKey.load_or_create(folder / "cluster"),
        build_agent(),
        identity=UserIdentity(ssh_dir=folder),
    )
    link = NodeLink("lab", Target("127.0.0.1", server.port, getpass.getuser(), "lab"), desktop)
    began = time.perf_counter()
    await link.pair(Person())
    print(f"pair (key, agent of {len(desktop.agent.data) / 1e6:.1f} MB sent and started) {since(began):8.0f} ms")
    assert link.hello is not None
    try:
        await link.close()
        link = NodeLink("lab", link.target, desktop)
        began = time.perf_counter()
        await link.connect()
        print(f"connect again (agent is there and runs)              {since(began):8.0f} ms")
        await report(link, calls, at_once=1)
        await report(link, calls, at_once=8)
    finally:
        assert link.hello is not None
        await link.close()
        os.kill(link.hello.pid, signal.SIGTERM)
        while is_running(link.hello.pid):
            await asyncio.sleep(0.02)


async def report(link: NodeLink, calls: int, at_once: int) -> None:
    """Time `calls` calls, `at_once` under way at a time."""
    times: list[float] = []

    async def caller() -> None:
        for _ in range(calls // at_once):
            began = time.perf_counter()
            await link.call("hello", {"protocol": 1, "desktop": "bench"})
            times.append(since(began))

    began = time.perf_counter()
    await asyncio.gather(*(caller() for _ in range(at_once)))
    whole_s = since(began) / 1000
    times.sort()
    print(
        f"hello, {at_once} at once: median {statistics.median(times):6.2f} ms   "
        f"99 % {times[int(len(times) * 0.99)]:6.2f} ms   {len(times) / whole_s:7.0f} calls/s"
    )


def since(began: float) -> float:
    """Milliseconds."""
    return (time.perf_counter() - began) * 1000


if __name__ == "__main__":
    main()
