"""When a virtual cluster ends, whichever way, nothing of it is left: no process, no socket, no directory."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

import asyncssh
import psutil
import pytest

from engine.virtual.support import connect, eventually
from stellwerk.model.errors import BadInput
from stellwerk.virtual import VirtualCluster, places
from stellwerk.virtual.client import VirtualNode

DETACHED = (
    "import os, time\n"
    "if os.fork(): os._exit(0)\n"
    "os.setsid()\n"
    "if os.fork(): os._exit(0)\n"
    "os.closerange(0, 3); os.fork(); os.fork(); time.sleep(600)\n"
)


def processes_of(directory: Path) -> list[int]:
    """Every process whose command line or working directory is in the cluster's directory."""
    found = []
    for process in psutil.process_iter(["pid", "cmdline", "cwd", "status"]):
        info = process.info
        if info["status"] != psutil.STATUS_ZOMBIE and str(directory) in f"{info['cmdline']} {info['cwd']}":
            found.append(info["pid"])
    return found


async def detach_something(node: VirtualNode) -> None:
    async with connect(node) as connection:
        assert (await connection.run(f"python3 -c '{DETACHED}'")).exit_status == 0


async def gone(directory: Path) -> bool:
    return not directory.exists() and not processes_of(directory)


async def test_nothing_is_left_when_the_block_ends() -> None:
    async with VirtualCluster.start(2, "pair") as cluster:
        directory = cluster.dir
        await detach_something(cluster.nodes[0])
        theirs = processes_of(directory)
        assert len(theirs) >= 3
        # What is simulated steps back behind the programs of the person at this computer.
        assert min(psutil.Process(pid).nice() for pid in theirs) >= min(19, psutil.Process().nice() + 10)
        assert directory.stat().st_mode & 0o777 == 0o700
    assert await gone(directory)
    assert not [path for path in places.running() if path == directory]


async def test_nothing_is_left_when_an_error_ends_the_block() -> None:
    with pytest.raises(RuntimeError, match="of the user"):
        async with VirtualCluster.start(1, "single") as cluster:
            directory = cluster.dir
            raise RuntimeError("of the user")
    assert await gone(directory)


async def test_nothing_is_left_when_the_start_fails() -> None:
    with tempfile.TemporaryDirectory() as folder:  # of its own: other tests start clusters at the same time
        base = Path(folder) / "c"
        with pytest.raises(BadInput, match="a ring needs three nodes"):
            async with VirtualCluster.start(2, "ring", base):
                pass
        with pytest.raises(BadInput, match="no fault"):
            async with VirtualCluster.start(1, "single", base, faults=[{"kind": "nonsense"}]):
                pass
        assert not base.exists()


async def test_a_base_directory_too_deep_for_sockets_is_refused(tmp_path: Path) -> None:
    deep = tmp_path / ("x" * 60)
    with pytest.raises(BadInput, match="too deep"):
        async with VirtualCluster.start(1, "single", base_dir=deep):
            pass
    assert list(deep.iterdir()) == []


async def start_by_a_parent() -> tuple[asyncio.subprocess.Process, dict[str, Any]]:
    """A process that starts a cluster and then waits: the desktop that is about to die."""
    program = (
        "import asyncio, json\n"
        "from stellwerk.virtual import VirtualCluster\n"
        "async def main():\n"
        "    async with VirtualCluster.start(2, 'pair') as cluster:\n"
        "        node = cluster.nodes[0]\n"
        "        values = [getattr(node, name) for name in node.__slots__]\n"
        "        print(json.dumps({'dir': str(cluster.dir), 'node': values}), flush=True)\n"
        "        await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE)
    assert parent.stdout is not None
    return parent, json.loads(await parent.stdout.readline())


async def test_nothing_is_left_when_the_desktop_is_killed() -> None:
    parent, hello = await start_by_a_parent()
    try:
        directory = Path(hello["dir"])
        await detach_something(VirtualNode(*hello["node"]))
    finally:
        parent.kill()
        await parent.wait()
    await eventually(lambda: gone(directory), "the cluster ends with its parent")


async def test_nothing_is_left_when_the_cluster_itself_is_killed() -> None:
    async with VirtualCluster.start(2, "pair") as cluster:
        directory = cluster.dir
        await detach_something(cluster.nodes[0])
        main = next(p for p in psutil.Process().children() if "stellwerk.virtual" in p.cmdline())
        os.kill(main.pid, signal.SIGKILL)
        await eventually(lambda: gone(directory), "the nodes end without their cluster")
        with pytest.raises((asyncssh.Error, OSError)):
            await connect(cluster.nodes[0])


async def test_no_secret_is_in_an_argument_an_environment_or_a_file_that_others_may_read() -> None:
    async with VirtualCluster.start(1, "single") as cluster:
        node = cluster.nodes[0]
        async with connect(node) as connection:
            process = await connection.create_process("sudo -S true")  # while it waits for the password
            await process.stderr.readuntil(": ")
            for pid in processes_of(cluster.dir):
                shown = Path(f"/proc/{pid}/cmdline").read_bytes() + Path(f"/proc/{pid}/environ").read_bytes()
                assert node.password.encode() not in shown
            process.stdin.write(f"{node.password}\n")
            assert (await process.wait()).exit_status == 0
        for path in cluster.dir.rglob("*"):
            if path.is_file() and not path.is_symlink():
                assert node.password.encode() not in path.read_bytes(), path
        for entry in await cluster.log("spark-1"):
            assert node.password not in json.dumps(entry)
