"""attach starts one daemon, finds it again, replaces another one, refuses a newer one."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import stat
import sys
from pathlib import Path

from engine.agent.support import AGENT_PYTHON, SOURCES, Desktop, Node, eventually
from stellwerk import wire
from stellwerk.model.facts import NodeFacts
from stellwerk.model.guard import Hello
from stellwerk.remote.artefact import build_agent


async def test_the_first_attach_starts_a_daemon_that_later_ones_share_and_that_outlives_them(node: Node) -> None:
    first = await Desktop.attach(node)
    second = await Desktop.attach(node)
    hellos = [wire.from_wire(Hello, await d.call("hello", {"protocol": 1, "desktop": "desk"})) for d in (first, second)]
    assert first.banner == {"stellwerk": "attached", "sha256": hellos[0].agent_hash, "protocol": wire.PROTOCOL}
    assert hellos[0].pid == hellos[1].pid
    assert (hellos[0].hostname, hellos[0].boot_id) == ("spark-1", "11111111-2222-3333-4444-555555555555")
    assert "0123456789abcdef" not in hellos[0].node_id
    assert await first.close() == 0
    assert await second.close() == 0
    third = await Desktop.attach(node)
    assert (await third.call("hello"))["pid"] == hellos[0].pid
    await third.close()


async def test_state_is_for_its_owner_alone(node: Node) -> None:
    desktop = await Desktop.attach(node)
    assert stat.S_IMODE(node.state_dir.stat().st_mode) == 0o700
    for path in node.state_dir.iterdir():
        assert stat.S_IMODE(path.lstat().st_mode) & 0o077 == 0, path
    await desktop.close()


async def test_a_stale_socket_is_replaced(node: Node) -> None:
    node.state_dir.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(node.home / "s"))  # the whole name may be longer than the kernel takes
    (node.home / "s").rename(node.state_dir / "agent.sock")
    desktop = await Desktop.attach(node)
    assert desktop.banner["stellwerk"] == "attached"
    await desktop.close()


async def test_a_home_with_a_very_long_path_works(tmp_path: Path) -> None:
    base = tmp_path / ("long-" * 20)
    base.mkdir()
    node = Node(base)
    try:
        desktop = await Desktop.attach(node)
        assert len(str(node.state_dir / "agent.sock")) > 108
        assert (await desktop.call("hello"))["protocol"] == wire.PROTOCOL
        await desktop.close()
    finally:
        node.end()


async def test_a_killed_daemon_is_started_again_and_the_desktop_notices(node: Node) -> None:
    desktop = await Desktop.attach(node)
    pid = (await desktop.call("hello"))["pid"]
    os.kill(pid, signal.SIGKILL)
    assert await asyncio.wait_for(desktop.process.wait(), 10) == 69
    await desktop.close()
    again = await Desktop.attach(node)
    assert (await again.call("hello"))["pid"] != pid
    await again.close()


async def test_many_attaches_at_once_start_one_daemon(node: Node) -> None:
    desktops = await asyncio.gather(*(Desktop.attach(node) for _ in range(4)))
    assert len({(await d.call("hello"))["pid"] for d in desktops}) == 1
    assert len(node.daemons()) == 1
    for desktop in desktops:
        await desktop.close()


def _archive(node: Node, version: str | None = None) -> list[str]:
    """The agent as the desktop sends it, of this release or pretending another one."""
    artefact = build_agent()
    data = artefact.data
    if version is not None:
        import io
        import zipfile

        from stellwerk.remote.artefact import pack

        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        members["stellwerk/__init__.py"] = f'__version__ = "{version}"\n'.encode()
        data = pack(members)
    path = node.home / f"agent-{version or 'same'}.pyz"
    path.write_bytes(data)
    return [AGENT_PYTHON, "-I", str(path)]


async def test_the_archive_of_the_desktop_replaces_the_daemon_of_another_hash(node: Node) -> None:
    from_sources = await Desktop.attach(node)
    old = await from_sources.call("hello")
    node.command, node.extra_environment = _archive(node), {}
    desktop = await Desktop.attach(node)
    new = await desktop.call("hello")
    assert new["agent_hash"] == build_agent().sha256 == desktop.banner["sha256"]
    assert new["pid"] != old["pid"]
    assert new["node_id"] == old["node_id"]
    assert await from_sources.process.wait() == 69
    await from_sources.close()
    await eventually(lambda: len(node.daemons()) == 1)
    await desktop.close()


async def test_an_older_agent_is_replaced_and_a_newer_one_is_left_alone_and_named(node: Node) -> None:
    node.extra_environment = {}
    node.command = _archive(node, "0.0.9")
    old = await Desktop.attach(node)
    node.command = newer = _archive(node, "99.1")
    new = await Desktop.attach(node)
    pid = (await new.call("hello"))["pid"]
    node.command = [AGENT_PYTHON, "-m", "stellwerk_agent"]
    node.extra_environment = {"PYTHONPATH": SOURCES}
    refused = await Desktop.attach(node)
    assert refused.banner == {"stellwerk": "refused", "why": "newer", "version": "99.1"}
    assert await refused.process.wait() == 75
    assert (await new.call("hello"))["pid"] == pid
    for desktop in (old, new, refused):
        await desktop.close()
    assert newer[-1].endswith("99.1.pyz")


async def test_a_state_directory_that_cannot_be_made_is_said_in_words(node: Node) -> None:
    (node.home / ".local").write_text("a file, where a directory is needed")
    desktop = await Desktop.attach(node)
    assert desktop.banner["stellwerk"] == "refused"
    assert str(node.state_dir) in desktop.banner["message"]
    assert await desktop.process.wait() == 70
    await desktop.close()


async def test_without_room_for_files_attach_says_so(node: Node) -> None:
    limit = (
        "from resource import *; import os, sys; setrlimit(RLIMIT_FSIZE, (0, 0)); os.execv(sys.argv[1], sys.argv[1:])"
    )
    (node.root / "etc/machine-id").unlink()  # so that the agent must keep a random one, and cannot
    node.command = [sys.executable, "-c", limit, *node.command]
    desktop = await Desktop.attach(node)
    assert desktop.banner["stellwerk"] == "refused"
    assert "File too large" in desktop.banner["message"]
    await desktop.close()


async def test_options_can_come_from_the_environment_and_reach_the_daemon_as_arguments(node: Node) -> None:
    node.extra_environment["STELLWERK_AGENT_OPTIONS"] = f"--root '{node.root}' --state-dir '{node.home}/state dir'"
    node.options = []
    desktop = await Desktop.attach(node)
    assert (await desktop.call("hello"))["hostname"] == "spark-1"
    assert (node.home / "state dir/agent.sock").is_socket()
    daemon = node.daemons()[0]
    assert "STELLWERK_AGENT_OPTIONS" not in daemon.environ()
    assert str(node.root) in daemon.cmdline()
    await desktop.close()


async def test_facts_of_a_simulated_spark_arrive_whole(node: Node) -> None:
    desktop = await Desktop.attach(node)
    facts = wire.from_wire(NodeFacts, await desktop.call("facts"))
    assert facts.product == "NVIDIA_DGX_Spark"
    assert facts.dgx is not None
    assert facts.dgx.ota_version == "7.5.0"
    assert {d.name for d in facts.netdevs} == {
        "enP7s7",
        "enp1s0f0np0",
        "enp1s0f1np1",
        "enP2p1s0f0np0",
        "enP2p1s0f1np1",
        "lo",
    }
    assert all(len(d.gids) == 4 for d in facts.rdma)
    assert facts.session.client_address == "192.168.1.50"
    assert facts.gpus == ()
    assert facts.gpu_note == "no NVIDIA GPU in this machine (nvidia-smi is not installed)"
    assert "SECRET0001" not in json.dumps(wire.to_wire(facts))
    await desktop.close()


async def test_a_daemon_that_hangs_is_replaced_by_the_next_attach_and_holds_up_no_hanging_up(node: Node) -> None:
    code = (
        "import sys; from stellwerk_agent import attach; "
        "attach.HANG_UP_LIMIT_S = attach.HELLO_LIMIT_S = attach.STOP_LIMIT_S = 0.5; "
        "sys.exit(attach.main(sys.argv[2:]))"
    )
    node.command = [AGENT_PYTHON, "-c", code]
    desktop = await Desktop.attach(node)
    hanging = node.daemons()[0]
    hanging.suspend()
    assert await desktop.close() == 0
    again = await Desktop.attach(node)
    assert (await again.call("hello"))["pid"] != hanging.pid
    await again.close()
