"""`stellwerk launch`: run a torch program that names `nccl` on the collective core."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import click


def environment(transport: str, address: str | None, base: dict[str, str]) -> dict[str, str]:
    """What a program needs so that its NCCL backend is swapped."""
    site = Path(__file__).resolve().parent.parent / "collectives" / "launch_site"
    # The program's Python may be another one than ours (a container's, an environment's): bring the library along.
    library = Path(__file__).resolve().parents[2]
    paths = [str(site), base.get("PYTHONPATH", ""), str(library)]
    changed = {**base, "PYTHONPATH": os.pathsep.join(path for path in paths if path), "STELLWERK_TRANSPORT": transport}
    if address:
        changed["STELLWERK_ADDRESS"] = address
    return changed


def run_ranks(command: list[str], ranks: int, base: dict[str, str]) -> int:
    """Run the command once per rank on this machine; the first failure ends all. Returns the exit code."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    shared = {**base, "WORLD_SIZE": str(ranks), "LOCAL_WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1"}
    processes = [
        subprocess.Popen(command, env={**shared, "RANK": str(rank), "LOCAL_RANK": str(rank), "MASTER_PORT": str(port)})
        for rank in range(ranks)
    ]
    try:
        return _wait_for_all(processes)
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
            process.wait()


def _wait_for_all(processes: list[subprocess.Popen[bytes]]) -> int:
    running = {process.pid: process for process in processes}
    while running:
        pid, status = os.wait()
        ended = running.pop(pid, None)
        if ended is None:
            continue
        ended.returncode = os.waitstatus_to_exitcode(status)
        if ended.returncode:
            for process in running.values():
                process.send_signal(signal.SIGTERM)
            return ended.returncode if ended.returncode > 0 else 128 - ended.returncode
    return 0


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--transport", default="auto", show_default=True, help="auto, shm, tcp or python.")
@click.option("--address", help="This node's own address on the fabric.")
@click.option("--ranks", type=click.IntRange(1, 32), help="Start so many local ranks (else: run the command as it is).")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def launch(transport: str, address: str | None, ranks: int | None, command: tuple[str, ...]) -> None:
    """Run COMMAND with the backend `nccl` of torch.distributed replaced by `stellwerk`.

    \b
    stellwerk launch -- torchrun --nproc-per-node 2 train.py
    stellwerk launch --ranks 2 -- python train.py
    """
    from stellwerk.cli.common import ERROR, show_error
    from stellwerk.model.errors import StellwerkError

    words = list(command)
    if shutil.which(words[0]) is None:
        show_error(
            StellwerkError(
                f"{words[0]} cannot be started",
                why="there is no such program in PATH",
                remedy="check the command after --",
            )
        )
        raise click.exceptions.Exit(ERROR)
    changed = environment(transport, address, dict(os.environ))
    if ranks is not None:
        raise click.exceptions.Exit(run_ranks(words, ranks, changed))
    sys.stdout.flush()
    os.execvpe(words[0], words, changed)
