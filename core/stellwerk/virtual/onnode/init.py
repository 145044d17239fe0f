"""Process 1 of a simulated node: starts its programs and is the parent of all that they leave behind.

Run as `python3 -IS init.py FD NODE_DIR`; FD is a SOCK_SEQPACKET socket to the cluster. Every message is a JSON object:

    {"op": "spawn", "id", "argv", "env", "cwd", "tty"} + three file descriptors -> {"id", "pid"} or {"id", "error"}
    {"op": "signal", "pid", "signal", "group"}
    {"op": "limit", "fsize": bytes or null}      largest file that any process of the node may write
    {"op": "halt"}                               power off: everything dies
    <- {"exit": pid, "status": wait status}

`spawn` with "mark" sets the soft limit of POSIX message queues to that number. Limits survive fork, exec, setsid and a
cleared environment: that is how the simulated `sudo` makes root stick to a process, as a user id would.

When the cluster ends without a word (the socket closes), the node dies too and its directory is removed.
"""

# pathlib would double the start time of every command.
# ruff: noqa: PTH106, PTH110, PTH118, PTH120, PTH123, PTH208
from __future__ import annotations

import array
import ctypes
import errno
import fcntl
import json
import os
import resource
import select
import signal
import socket
import sys
import termios
from typing import Any

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
MAX_MESSAGE = 1024 * 1024


def children() -> list[int]:
    """The process ids of all direct children, zombies included."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as stat:
                    parent = int(stat.read().rpartition(b")")[2].split()[1])
            except (OSError, IndexError, ValueError):
                continue  # it ended while we looked
            if parent == os.getpid():
                found.append(int(name))
    return found


def descendants() -> set[int]:
    """All processes of the node."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as stat:
                    parents[int(name)] = int(stat.read().rpartition(b")")[2].split()[1])
            except (OSError, IndexError, ValueError):
                continue
    found: set[int] = set()
    fresh = {os.getpid()}
    while fresh:
        fresh = {pid for pid, parent in parents.items() if parent in fresh} - found
        found |= fresh
    return found


def kill_everything() -> None:
    """Orphans come to us (subreaper), so killing children until there are none ends the whole tree."""
    while found := children():
        for pid in found:
            os.kill(pid, signal.SIGKILL)  # a zombie of ours at least: the number cannot be anybody else's
        for pid in found:
            os.waitpid(pid, 0)


def keep_niceness() -> None:
    """A new session is weighed by a niceness of its own (sched(7), autogroup); it takes the process's."""
    try:
        with open("/proc/self/autogroup", "w") as session:
            session.write(str(os.getpriority(os.PRIO_PROCESS, 0)))
    except OSError:
        pass  # a kernel without autogroups, or asked too often: the node is a little less modest


def spawn(message: dict[str, Any], fds: list[int]) -> int:
    """Fork and run a program in its own session; returns its process id."""
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        keep_niceness()
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        for number in (signal.SIGTERM, signal.SIGPIPE, signal.SIGCHLD, signal.SIGXFSZ, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        for target, fd in enumerate(fds):
            os.dup2(fd, target)
        if message.get("tty"):
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        os.closerange(3, 1024)
        if message.get("mark"):
            hard = resource.getrlimit(resource.RLIMIT_MSGQUEUE)[1]
            resource.setrlimit(resource.RLIMIT_MSGQUEUE, (message["mark"], hard))
        os.chdir(message["cwd"])
        os.umask(0o022)
        os.execve(message["argv"][0], message["argv"], message["env"])
    except OSError as error:
        os.write(2, f"{message['argv'][0]}: {error.strerror}\n".encode())
        os._exit(126 if error.errno == errno.EACCES else 127)
    finally:
        os._exit(127)


class Init:
    """The state of the node's first process."""

    def __init__(self, channel: socket.socket, node_dir: str) -> None:
        self.channel = channel
        self.node_dir = node_dir
        self.halted = False

    def limit(self, fsize: int | None) -> None:
        """Bound the size of files for every process of the node, now and later."""
        soft = resource.RLIM_INFINITY if fsize is None else fsize
        for pid in [0, *descendants()]:
            try:
                hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)[1]
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (soft, hard))
            except (ProcessLookupError, PermissionError):
                continue  # it ended meanwhile

    def handle(self, message: dict[str, Any], fds: list[int]) -> None:
        op = message["op"]
        if op == "spawn":
            try:
                answer = {"id": message["id"], "pid": spawn(message, fds)}
            except OSError as error:
                answer = {"id": message["id"], "error": str(error)}
            self.send(answer)
        elif op == "signal":
            try:
                (os.killpg if message["group"] else os.kill)(message["pid"], message["signal"])
            except ProcessLookupError:
                pass
        elif op == "limit":
            self.limit(message["fsize"])
        elif op == "halt":
            self.halted = True

    def send(self, message: dict[str, Any]) -> None:
        try:
            self.channel.send(json.dumps(message).encode())
        except OSError:
            pass  # the cluster is gone: the next receive says so

    def receive(self) -> bool:
        """One message; False when the cluster has closed the socket."""
        fds: array.array[int] = array.array("i")
        try:
            data, ancillary, _, _ = self.channel.recvmsg(MAX_MESSAGE, socket.CMSG_SPACE(3 * fds.itemsize))
        except (ConnectionResetError, BrokenPipeError):
            return False
        for level, kind, body in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                fds.frombytes(body[: len(body) - len(body) % fds.itemsize])
        if not data:
            return False
        try:
            self.handle(json.loads(data), list(fds))
        finally:
            for fd in fds:
                os.close(fd)
        return True

    def reap(self) -> None:
        try:
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    return
                self.send({"exit": pid, "status": status})
        except ChildProcessError:
            return

    def run(self, wake: int) -> None:
        while not self.halted:
            ready, _, _ = select.select([self.channel.fileno(), wake], [], [])
            if wake in ready:
                os.read(wake, 4096)
                self.reap()
            if self.channel.fileno() in ready and not self.receive():
                kill_everything()
                remove_node(self.node_dir)
                return
        kill_everything()


def remove_node(node_dir: str) -> None:
    """Leave nothing behind: this node's files, and the cluster's when this was the last node."""
    import shutil

    shutil.rmtree(node_dir, ignore_errors=True)
    cluster = os.path.dirname(node_dir)
    try:
        left = [entry for entry in os.scandir(cluster) if entry.is_dir(follow_symlinks=False)]
    except FileNotFoundError:
        return  # all nodes go at once, and another one was the last
    if not any(os.path.exists(os.path.join(entry.path, "node.json")) for entry in left):
        shutil.rmtree(cluster, ignore_errors=True)
        try:
            os.rmdir(os.path.dirname(cluster))
        except OSError:
            pass  # other clusters live there


def main() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGTERM, lambda *_: None)  # the closed socket says the same, and more
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    channel = socket.socket(fileno=int(sys.argv[1]))
    Init(channel, sys.argv[2]).run(wake)


if __name__ == "__main__":
    main()
