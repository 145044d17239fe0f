"""Real SSH to simulated Sparks: who gets in, what a session sees, where files land."""

from __future__ import annotations

from pathlib import Path

import asyncssh
import psutil
import pytest

import stellwerk
from engine.virtual.support import connect, eventually, shell
from stellwerk.virtual import VirtualCluster


async def test_a_pair_starts_and_every_node_can_be_logged_in_to_with_its_own_password_and_key() -> None:
    async with VirtualCluster.start(2, "pair") as cluster:
        assert [node.name for node in cluster.nodes] == ["spark-1", "spark-2"]
        assert len({node.password for node in cluster.nodes}) == 2
        assert len({node.host_key_fingerprint for node in cluster.nodes}) == 2
        for node in cluster.nodes:
            async with connect(node) as connection:
                key = connection.get_server_host_key()
                assert key.get_fingerprint() == node.host_key_fingerprint
                done = await connection.run("echo $HOME; exit 3")
            assert (done.exit_status, done.stdout) == (3, f"{node.home}\n")


async def test_passwords_keyboard_interactive_and_keys_open_and_nothing_else_does() -> None:
    async with VirtualCluster.start(1, "single") as cluster:
        node = cluster.nodes[0]
        for wrong in ({"password": "nonsense"}, {"username": "root"}):
            with pytest.raises(asyncssh.PermissionDenied):
                await connect(node, **wrong)

        class Asked(asyncssh.SSHClient):
            def kbdint_auth_requested(self) -> str:
                return ""

            def kbdint_challenge_received(self, name: str, instructions: str, lang: str, prompts: list) -> list[str]:
                return [node.password for _ in prompts]

        async with connect(node, password=None, client_factory=Asked, preferred_auth="keyboard-interactive"):
            pass
        key = asyncssh.generate_private_key("ssh-ed25519")
        with pytest.raises(asyncssh.PermissionDenied):
            await connect(node, password=None, client_keys=[key])
        ssh_dir = Path(node.home) / ".ssh"
        ssh_dir.mkdir(mode=0o700)
        (ssh_dir / "authorized_keys").write_bytes(key.export_public_key())
        (ssh_dir / "authorized_keys").chmod(0o600)
        async with connect(node, password=None, client_keys=[key]) as connection:
            assert (await connection.run("echo in")).stdout == "in\n"
        ssh_dir.chmod(0o770)  # StrictModes: somebody else could have put the key there
        with pytest.raises(asyncssh.PermissionDenied):
            await connect(node, password=None, client_keys=[key])


async def test_sftp_is_jailed_to_the_home_and_agrees_with_programs_about_paths(tmp_path: Path) -> None:
    async with VirtualCluster.start(1, "single") as cluster:
        node = cluster.nodes[0]
        outside = tmp_path / "secret"
        outside.write_text("not for you")
        (Path(node.home) / "way-out").symlink_to(outside)
        async with connect(node) as connection, connection.start_sftp_client() as sftp:
            await sftp.makedirs(".local/share")
            async with sftp.open(".local/share/file", "wb") as file:
                await file.write(b"hello")
            assert await sftp.realpath(".") == node.home
            assert await sftp.listdir(f"{node.home}/.local") == [".", "..", "share"]
            seen = await connection.run("python3 -c \"print(open('$HOME/.local/share/file').read())\"")
            assert seen.stdout == "hello\n"
            for path in (str(outside), "../node.json", "../../control.sock", "/etc/passwd", "way-out"):
                with pytest.raises(asyncssh.SFTPPermissionDenied):
                    await sftp.open(path, "rb")
            with pytest.raises(asyncssh.SFTPPermissionDenied):
                await sftp.open("/tmp/new-file", "wb")
            assert await sftp.readlink("way-out") == str(outside)


async def test_a_session_sees_the_nodes_commands_and_a_clean_environment() -> None:
    async with shell(1, "single") as sh:
        node = sh.cluster.nodes[0]
        program = "import os, json; print(json.dumps(dict(os.environ)))"
        environment = await sh.json("spark-1", f"python3 -I -c '{program}'")
        assert environment.pop("PWD", node.home) == node.home
        assert environment["PATH"] == f"{Path(node.home).parent}/bin"
        assert environment["SSH_CONNECTION"].startswith("192.168.178.2 ")
        assert environment["SSH_CONNECTION"].endswith(" 192.168.178.21 22")
        assert environment["STELLWERK_AGENT_OPTIONS"].startswith(f"--root {node.root} --hear-carrier unix:")
        assert set(environment) <= {
            "HOME", "USER", "LOGNAME", "SHELL", "PATH", "LANG", "SSH_CONNECTION", "SSH_CLIENT",
            "STELLWERK_AGENT_OPTIONS", "LC_CTYPE",
        }  # fmt: skip


async def test_no_process_on_a_node_imports_from_the_desktops_environment() -> None:
    async with shell(1, "single") as sh:
        found = await sh.json("spark-1", "python3 -c 'import sys, json; print(json.dumps([sys.prefix, *sys.path]))'")
        desktop = (Path(asyncssh.__file__).resolve().parents[1], Path(stellwerk.__file__).resolve().parents[1])
        for path in found:
            assert not any(Path(path).resolve().is_relative_to(place) for place in desktop), path
        missing = await sh.on("spark-1", "python3 -c 'import stellwerk'")
        assert missing.exit_status == 1
        assert "No module named 'stellwerk'" in str(missing.stderr)
        mine = psutil.Process()
        nodes = [p for p in mine.children(recursive=True) if "-IS" in p.cmdline()]
        assert nodes
        for process in nodes:
            mapped = {Path(m.path) for m in process.memory_maps() if m.path.startswith("/")}
            assert not [m for m in mapped for place in desktop if m.is_relative_to(place)], process.cmdline()


async def test_a_terminal_works_and_a_command_can_be_interrupted() -> None:
    async with VirtualCluster.start(1, "single") as cluster:
        async with connect(cluster.nodes[0]) as connection:
            process = await connection.create_process(term_type="xterm", term_size=(90, 30))
            process.stdin.write("echo $((6 * 7)) $TERM\nexit 4\n")
            out = await process.stdout.read()
            await process.wait()
            assert "42 xterm" in out
            assert process.exit_status == 4
            slow = await connection.create_process("python3 -c 'import time; print(1, flush=True); time.sleep(600)'")
            assert await slow.stdout.readline() == "1\n"
            slow.send_signal("TERM")
            await slow.wait()
            assert slow.exit_signal is not None
            assert slow.exit_signal[0] == "TERM"


async def test_large_output_and_input_pass_through_whole() -> None:
    async with VirtualCluster.start(1, "single") as cluster:
        async with connect(cluster.nodes[0]) as connection:
            size = 5_000_000
            done = await connection.run(
                "python3 -c 'import sys; sys.stdout.buffer.write(sys.stdin.buffer.read()[::-1])'",
                input=b"ab" * (size // 2),
                encoding=None,
            )
            assert done.stdout == b"ba" * (size // 2)


async def test_a_tunnel_to_a_fabric_or_lan_address_leads_to_the_node_that_has_it() -> None:
    async with shell(2, "pair") as sh:
        await sh.network("spark-1", "spark-2")
        async with connect(sh.cluster.node("spark-1")) as first:
            for address in ("192.168.101.2", "192.168.178.22", "spark-2"):
                node = sh.cluster.node("spark-2")
                async with asyncssh.connect(
                    address, 22, tunnel=first, username=node.user, password=node.password, client_keys=None,
                    known_hosts=None, config=None, agent_path=None,
                ) as second:  # fmt: skip
                    assert (await second.run("echo $HOME")).stdout == f"{node.home}\n"


async def test_a_background_process_outlives_its_session_and_dies_with_the_power() -> None:
    program = (
        "import os, sys, time\n"
        "if os.fork(): os._exit(0)\n"
        "os.setsid()\n"
        "if os.fork(): os._exit(0)\n"
        "print(os.getpid(), flush=True); os.close(0); os.close(1); os.close(2); time.sleep(600)\n"
    )
    async with VirtualCluster.start(1, "single") as cluster:
        async with connect(cluster.nodes[0]) as connection:
            done = await connection.run(f"python3 -c '{program}'")
            pid = int(str(done.stdout))

        async def session_over() -> bool:
            return not (await cluster.state())["nodes"][0]["processes"]

        await eventually(session_over, "the session's own process has ended")
        assert psutil.pid_exists(pid)
        await cluster.set_fault("power-off", node="spark-1")
        assert not psutil.pid_exists(pid)
