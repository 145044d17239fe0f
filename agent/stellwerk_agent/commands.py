"""Runs other programs: found through PATH, bounded in time and output, never through a shell.

Every command line that the daemon runs as the user (netguard and sudo have their own list):

    ip -j addr show
    ip -j -4 route show table main
    ip -j neigh show
    ip -j route get ADDRESS
    ethtool IF                                  only where sysfs does not tell the speed of a link with carrier
    networkctl --no-pager --no-legend list
    nmcli -t -f DEVICE,STATE device
    rdma link show | ibdev2netdev               the first that is there
    ibv_devinfo                                 where it is there: the active RDMA MTU
    nvidia-smi                                  its head names the CUDA version
    nvidia-smi --query-gpu=FIELD,… --format=csv,noheader,nounits
    nvidia-smi --query-compute-apps=pid,process_name,used_memory --format=csv,noheader,nounits
    lldpctl -f json                             where it is there
    ping -n -q -c COUNT -i 0.2 -W 1 -s BYTES [-M do] [-I IF] ADDRESS
    ib_write_bw -d DEVICE -i 1 -p PORT -F --report_gbits [-x INDEX] -D SECONDS [SERVER]
    ib_write_lat -d DEVICE -i 1 -p PORT -F [-x INDEX] -n 1000 [SERVER]
    ssh-keygen -q -t ed25519 -N '' -C COMMENT -f FILE
    ssh -o BatchMode=yes -o ConnectTimeout=8 ALIAS true
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stellwerk_agent.reading import clean

MAX_OUTPUT_BYTES = 2 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Result:
    """How a program ended. `code` is None when it did not run or was ended for being late; `error` says why."""

    code: int | None
    out: str
    err: str
    error: str | None = None

    @property
    def ok(self) -> bool:
        return self.code == 0

    def complaint(self) -> str:
        """One line for people about what went wrong."""
        if self.error:
            return self.error
        lines = [clean(line) for text in (self.out, self.err) for line in text.splitlines()]
        said = [line for line in lines if line]
        return said[-1][:300] if said else f"exit code {self.code}"


def find(program: str) -> str | None:
    """Where PATH has `program`."""
    return shutil.which(program)


def plain_environment() -> dict[str, str]:
    """This process's environment with messages in English, so that they can be read by parsers."""
    return {**os.environ, "LC_ALL": "C.UTF-8", "LANG": "C.UTF-8"}


async def run(
    argv: Sequence[str],
    *,
    timeout_s: float = 10.0,
    stdin: bytes | None = None,
    environment: Mapping[str, str] | None = None,
    max_output: int = MAX_OUTPUT_BYTES,
) -> Result:
    """Run a program to its end. Cancelling or running late ends it with all its children."""
    path = find(argv[0])
    if path is None:
        return Result(None, "", "", f"{argv[0]} is not installed")
    try:
        process = await asyncio.create_subprocess_exec(
            path,
            *argv[1:],
            stdin=asyncio.subprocess.PIPE if stdin is not None else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=plain_environment() if environment is None else environment,
            start_new_session=True,
        )
    except OSError as error:
        return Result(None, "", "", f"{argv[0]} cannot be started: {error.strerror or error}")
    try:
        out, err = await asyncio.wait_for(_talk(process, stdin, max_output), timeout_s)
    except asyncio.TimeoutError:
        await end_group(process)
        return Result(None, "", "", f"{argv[0]} did not end within {timeout_s:g} s")
    except BaseException:
        await end_group(process)
        raise
    return Result(process.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))


async def _talk(process: asyncio.subprocess.Process, stdin: bytes | None, limit: int) -> tuple[bytes, bytes]:
    async def feed() -> None:
        if process.stdin is not None:
            try:
                process.stdin.write(stdin or b"")
                await process.stdin.drain()
            except (BrokenPipeError, ConnectionResetError):
                pass  # it does not want its input; its exit code tells the rest
            process.stdin.close()

    assert process.stdout is not None
    assert process.stderr is not None
    out, err, _, _ = await asyncio.gather(
        _read_some(process.stdout, limit), _read_some(process.stderr, limit), feed(), process.wait()
    )
    return out, err


async def _read_some(stream: asyncio.StreamReader, limit: int) -> bytes:
    """All of `stream` is read, so that the program can end; what is beyond `limit` is dropped."""
    kept = bytearray()
    while block := await stream.read(65536):
        kept += block[: max(0, limit - len(kept))]
    return bytes(kept)


async def end_group(process: asyncio.subprocess.Process, grace_s: float = 2.0) -> None:
    """End a program that leads its own session, with its children: first asked, then forced."""
    for number, patience_s in ((signal.SIGTERM, grace_s), (signal.SIGKILL, 5.0)):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass  # the group is empty; its leader still has to be waited for
        try:
            await asyncio.wait_for(asyncio.shield(process.wait()), patience_s)
            return
        except asyncio.TimeoutError:
            continue
