"""Machines reach each other: a real ssh and a real sshd, each with a home of its own under the same path."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.agent.support import Desktop, Failed, Node, eventually

USER_CONFIG = b"Host old\n  HostName 10.9.9.9\n\nHost *\n  ServerAliveInterval 30"
USER_KEYS = b"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBGNlcnRhaW5seU5vdEFSZWFsS2V5QXRBbGxYWA== me@laptop"


def _peer(key: str, **more: Any) -> dict[str, Any]:
    base = {
        "alias": "spark-2",
        "address": "127.0.0.1",
        "port": 22,
        "user": "nvidia",
        "public_key": key,
        "host_keys": [key],
    }
    return {**base, **more}


async def test_what_the_mesh_adds_is_taken_out_byte_for_byte(node: Node) -> None:
    ssh = node.home / ".ssh"
    ssh.mkdir(mode=0o700)
    (node.home / "dotfiles").mkdir()
    (ssh / "config").symlink_to(node.home / "dotfiles/ssh-config")
    (node.home / "dotfiles/ssh-config").write_bytes(USER_CONFIG)
    (ssh / "authorized_keys").write_bytes(USER_KEYS)
    (ssh / "authorized_keys").chmod(0o640)
    desktop = await Desktop.attach(node)
    key = (await desktop.call("mesh.key"))["public_key"]
    assert key.startswith("ssh-ed25519 ")
    assert (await desktop.call("mesh.key"))["public_key"] == key
    installed = await desktop.call("mesh.install", {"peers": [_peer(key), _peer(key, alias="old")]})
    assert installed["notes"] == [f"{ssh}/config has an entry of its own for old; the cluster's comes first"]
    assert str(ssh / "config") in installed["changed"]
    assert (ssh / "config").read_bytes().endswith(USER_CONFIG)
    assert (ssh / "config").is_symlink()
    assert "Host *" not in (ssh / "stellwerk/config").read_text()
    assert (ssh / "authorized_keys").stat().st_mode & 0o777 == 0o640
    again = await desktop.call("mesh.install", {"peers": [_peer(key), _peer(key, alias="old")]})
    assert again["changed"] == []
    fewer = await desktop.call("mesh.install", {"peers": [_peer(key)]})
    assert str(ssh / "config") not in fewer["changed"]
    removed = (await desktop.call("mesh.remove"))["removed"]
    assert removed == [str(ssh / "config"), str(ssh / "authorized_keys"), str(ssh / "stellwerk")]
    assert (ssh / "config").read_bytes() == USER_CONFIG
    assert (ssh / "authorized_keys").read_bytes() == USER_KEYS
    assert sorted(p.name for p in ssh.iterdir()) == ["authorized_keys", "config"]
    await desktop.close()


async def test_where_there_was_nothing_nothing_stays(node: Node) -> None:
    desktop = await Desktop.attach(node)
    key = (await desktop.call("mesh.key"))["public_key"]
    await desktop.call("mesh.install", {"peers": [_peer(key)]})
    modes = {p.name: p.stat().st_mode & 0o777 for p in (node.home / ".ssh").rglob("*")}
    assert modes.pop("stellwerk") == 0o700
    assert modes.pop("id_ed25519.pub") == 0o644
    assert set(modes.values()) == {0o600}
    await desktop.call("mesh.remove")
    assert not (node.home / ".ssh").exists()
    await desktop.close()


async def test_words_that_could_mean_more_than_a_machine_are_refused(node: Node) -> None:
    desktop = await Desktop.attach(node)
    key = (await desktop.call("mesh.key"))["public_key"]
    for bad in (
        {"alias": "*"},
        {"alias": "a\nHost *"},
        {"address": "-oProxyCommand=x"},
        {"user": "x y"},
        {"port": 0},
        {"public_key": "ssh-ed25519 AAAA\ncommand"},
        {"host_keys": []},
    ):
        with pytest.raises(Failed):
            await desktop.call("mesh.install", {"peers": [_peer(key, **bad)]})
    assert not (node.home / ".ssh/config").exists()
    await desktop.close()


async def test_without_ssh_keygen_the_answer_says_what_to_install(node: Node) -> None:
    node.extra_environment["PATH"] = str(node.bin)
    desktop = await Desktop.attach(node)
    with pytest.raises(Failed, match="no SSH key can be made") as caught:
        await desktop.call("mesh.key")
    assert "openssh-client" in caught.value.data["remedy"]
    assert (await desktop.call("mesh.verify", {"aliases": ["spark-2"]}))["results"] == {
        "spark-2": "ssh is not installed"
    }
    await desktop.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="giving two processes different homes under one path needs root")
class TestWithRealSsh:
    """ssh and sshd look the home up in the user database: each runs in a mount namespace with its own one there."""

    @pytest.fixture
    def server(self, tmp_path: Path) -> Iterator[tuple[Path, int, str]]:
        base = tmp_path / "server"
        home = base / "home"
        home.mkdir(parents=True)
        home.chmod(0o755)
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(base / "host_key")], check=True)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        config = base / "sshd_config"
        config.write_text(
            f"Port {port}\nListenAddress 127.0.0.1\nHostKey {base}/host_key\nPidFile none\nPasswordAuthentication no\n"
            "PermitRootLogin prohibit-password\nUsePAM no\nKbdInteractiveAuthentication no\nStrictModes yes\n"
        )
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        argv = [
            "sh",
            "-c",
            'mount --bind "$1" /root && exec /usr/sbin/sshd -D -e -f "$2"',
            "sh",
            str(home),
            str(config),
        ]
        process = subprocess.Popen(["unshare", "-m", *argv], stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        assert "listening" in process.stderr.readline()
        yield home, port, (base / "host_key.pub").read_text()
        process.terminate()
        process.stderr.close()
        process.wait()

    async def test_an_alias_reaches_its_machine_with_the_pinned_host_key_alone(
        self, node: Node, server: tuple[Path, int, str]
    ) -> None:
        server_home, port, host_key = server
        bind = f'mount --bind "{node.home}" /root && exec "$@"'
        # The system's Python: that of the tests may lie in the home that is covered here.
        node.command = ["unshare", "-m", "sh", "-c", bind, "sh", "/usr/bin/python3", "-m", "stellwerk_agent"]
        desktop = await Desktop.attach(node)
        key = (await desktop.call("mesh.key"))["public_key"]
        peer = _peer(key, port=port, user="root", host_keys=[host_key])
        await desktop.call("mesh.install", {"peers": [peer]})
        refused = (await desktop.call("mesh.verify", {"aliases": ["spark-2"]}, timeout_s=60))["results"]
        assert "Permission denied" in refused["spark-2"]

        far = Node(server_home.parent)  # the same agent on the other machine, with the same home
        try:
            other = await Desktop.attach(far)
            await other.call("mesh.install", {"peers": [peer]})
            await other.close()
        finally:
            far.end()
        good = (await desktop.call("mesh.verify", {"aliases": ["spark-2"]}, timeout_s=60))["results"]
        assert good == {"spark-2": None}

        await desktop.call("mesh.install", {"peers": [{**peer, "host_keys": [key]}]})
        changed = (await desktop.call("mesh.verify", {"aliases": ["spark-2"]}, timeout_s=60))["results"]
        assert "Host key verification failed" in changed["spark-2"]
        await desktop.close()


async def test_files_stay_below_the_agents_own_directory(node: Node) -> None:
    desktop = await Desktop.attach(node)
    assert (await desktop.call("files.list", {"path": ""})) == {"entries": []}
    await desktop.call("files.write", {"path": "runs/one.json", "data": "aGVsbG8="})
    await desktop.call("files.write", {"path": "runs/one.json", "data": "IQ==", "offset": 5})
    read = await desktop.call("files.read", {"path": "runs/one.json"})
    assert read == {"data": "aGVsbG8h", "end": 6, "size": 6}
    (node.state_dir / "files/link").symlink_to(node.home)
    for path in ("../agent.log", "/etc/passwd", "runs/../../x", "link/x", "a\0b"):
        for method, more in (("files.read", {}), ("files.write", {"data": ""}), ("files.remove", {})):
            with pytest.raises(Failed):
                await desktop.call(method, {"path": path, **more})
    with pytest.raises(Failed, match="base64"):
        await desktop.call("files.write", {"path": "x", "data": "%%"})
    await desktop.call("files.remove", {"path": "runs"})
    assert [e["name"] for e in (await desktop.call("files.list"))["entries"]] == ["link"]
    await desktop.close()


async def test_uninstalling_leaves_no_trace_and_no_process(node: Node) -> None:
    from engine.agent.test_attach import _archive

    place = node.home / ".local/share/stellwerk"
    place.mkdir(parents=True)
    words = _archive(node)
    Path(words[-1]).rename(place / "agent-0123456789abcdef.pyz")
    (place / "agent-older.pyz").write_text("old")
    node.command, node.extra_environment = [*words[:-1], str(place / "agent-0123456789abcdef.pyz")], {}
    desktop = await Desktop.attach(node)
    job = await desktop.call("job.start", {"name": "x", "argv": [sys.executable, "-c", "import time; time.sleep(600)"]})
    await desktop.call("mesh.key")
    answer = await desktop.call("uninstall")
    assert answer["left"] == []
    assert str(node.state_dir) in answer["removed"]
    await desktop.process.wait()
    await eventually(lambda: not node.daemons() and not node.daemons("keeper"))
    await eventually(lambda: not node.state_dir.exists())
    assert not place.exists()
    assert not (node.home / ".ssh").exists()
    assert not Path(f"/proc/{job['pid']}/environ").exists() or not node.everything()
    await desktop.close()
