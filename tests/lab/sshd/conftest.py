"""OpenSSH's own sshd on a free port of this computer, with a home, host keys and accounts' keys of its own.

Nothing of the real user is read or written: the session's HOME and the SFTP start directory are temporary.
"""

from __future__ import annotations

import asyncio
import contextlib
import getpass
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from stellwerk.remote import ClusterKey, Deadlines, Desktop, NodeLink, Target, TrustStore, UserIdentity, build_agent

SSHD = Path("/usr/sbin/sshd")
PRIVSEP = Path("/run/sshd")


@dataclass
class Sshd:
    """A running sshd, restartable on its port."""

    folder: Path
    port: int
    host_keys: list[str] = field(default_factory=lambda: ["ed25519"])
    _process: subprocess.Popen[bytes] | None = None

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def authorized_keys(self) -> Path:
        return self.home / ".ssh" / "authorized_keys"

    def host_key(self, kind: str) -> Path:
        return self.folder / f"ssh_host_{kind}_key"

    def new_host_key(self, kind: str) -> None:
        path = self.host_key(kind)
        path.unlink(missing_ok=True)
        subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", "", "-f", str(path)], check=True)

    def start(self) -> None:
        """Start and wait until it listens."""
        config = self.folder / "sshd_config"
        config.write_text(
            f"Port {self.port}\nListenAddress 127.0.0.1\nPidFile none\nUsePAM no\nStrictModes no\n"
            + "".join(f"HostKey {self.host_key(kind)}\n" for kind in self.host_keys)
            + f"AuthorizedKeysFile {self.authorized_keys}\n"
            "PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n"
            f"SetEnv HOME={self.home}\nSubsystem sftp internal-sftp -d {self.home}\nLogLevel ERROR\n"
        )
        log = (self.folder / "sshd.log").open("ab")
        with log:
            self._process = subprocess.Popen([str(SSHD), "-D", "-e", "-f", str(config)], stdout=log, stderr=log)
        for _ in range(200):
            with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", self.port), 5):
                return
            if self._process.poll() is not None:
                break
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(0.05)  # until it ends (an error) or has had a moment to listen
        raise AssertionError(f"sshd does not listen: {(self.folder / 'sshd.log').read_text()}")

    def stop(self) -> None:
        """End it together with its sessions' processes."""
        if self._process is not None:
            self.drop()
            self._process.kill()
            self._process.wait()
            self._process = None

    def drop(self) -> None:
        """Kill the processes that serve connections; the listener stays."""
        assert self._process is not None
        pending = [self._process.pid]
        found: list[int] = []
        while pending:
            for child in _children(pending.pop()):
                found.append(child)
                if _is_sshd(child):
                    pending.append(child)
        for pid in found:
            if _is_sshd(pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


def _children(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []


def _is_sshd(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/exe").readlink() == SSHD
    except OSError:
        return False


def is_running(pid: int) -> bool:
    """Whether it still does something: a process that ended, but was not reaped yet, has no command line."""
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.fixture
def sshd() -> Iterator[Sshd]:
    """A machine with sshd, an empty home and one ed25519 host key."""
    if not SSHD.exists():
        # Root could have installed it (`make test` does); for others it is named among what was not run.
        give_up = pytest.fail if os.geteuid() == 0 else pytest.skip
        give_up("OpenSSH's sshd is missing: apt install openssh-server")
    # sshd as root insists on this empty directory, which its service normally makes.
    made = os.geteuid() == 0 and not PRIVSEP.exists()
    if made:
        PRIVSEP.mkdir(mode=0o755)
    # Short: the agent's socket lies in this home, and a socket's path is limited to 107 bytes.
    folder = Path(tempfile.mkdtemp(prefix="sw-"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    server = Sshd(folder, port)
    try:
        (server.home / ".ssh").mkdir(parents=True, mode=0o700)
        server.new_host_key("ed25519")
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder)
        if made:
            PRIVSEP.rmdir()


@pytest.fixture
def user_key(sshd: Sshd) -> Iterator[UserIdentity]:
    """The user's own key, in a real ssh-agent, allowed to log in."""
    key, agent_socket = sshd.folder / "id_user", sshd.folder / "agent.sock"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    sshd.authorized_keys.write_bytes(b"# a comment of the user\n" + key.with_suffix(".pub").read_bytes())
    agent = subprocess.Popen(["ssh-agent", "-D", "-a", str(agent_socket)], stdout=subprocess.DEVNULL)
    try:
        for _ in range(200):
            if agent_socket.exists():
                break
            with contextlib.suppress(subprocess.TimeoutExpired):
                agent.wait(0.05)
        subprocess.run(["ssh-add", "-q", str(key)], check=True, env={**os.environ, "SSH_AUTH_SOCK": str(agent_socket)})
        key.unlink()  # only the agent has the private half now
        yield UserIdentity(agent_path=str(agent_socket))
    finally:
        agent.terminate()
        agent.wait()


@pytest.fixture
async def link(sshd: Sshd, user_key: UserIdentity) -> AsyncIterator[NodeLink]:
    """A link to that machine, not yet paired. Its agent is ended afterwards, whatever the test did."""
    folder = sshd.folder / "desktop"
    desktop = Desktop(
        trust=TrustStore(folder / "known_hosts"),
        key=ClusterKey.load_or_create(folder / "cluster"),
        agent=build_agent(),
        name="lab",
        identity=user_key,
        deadlines=Deadlines(reconnect_first_s=0.05, reconnect_max_s=0.2),
    )
    link = NodeLink("lab", Target("127.0.0.1", sshd.port, getpass.getuser(), "lab"), desktop)
    yield link
    pid = link.hello.pid if link.hello else None
    await link.close()
    if pid is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
        async with asyncio.timeout(20):
            while is_running(pid):
                await asyncio.sleep(0.02)
