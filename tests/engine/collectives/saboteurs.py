"""What a test does to single ranks before they connect. Called in the rank's process with its number and options."""

from __future__ import annotations

import os
import resource
from pathlib import Path
from typing import Any

from stellwerk.collectives import mesh, selftest


def no_library_on_rank_1(rank: int, options: dict[str, Any]) -> None:
    if rank == 1:
        os.environ["STELLWERK_NATIVE"] = "0"


def wrong_sums_on_rank_2(rank: int, options: dict[str, Any]) -> None:
    if rank == 2:

        class Flawed(selftest.NativeReference):
            """Sees what a broken machine would show: one wrong element in a sum."""

            def wrong(self, *arguments: Any) -> int:
                return max(1, super().wrong(*arguments))

        selftest.NativeReference = Flawed  # type: ignore[misc]


NOTED: list[tuple[int, int, int]] = []


def calls_of_the_tests_are_noted(rank: int, options: dict[str, Any]) -> None:
    class Noting(selftest.SelfTest):
        def _call(self, call: Any, *more: Any) -> None:
            NOTED.append((int(call.operation), int(call.algorithm), call.count))
            super()._call(call, *more)

    selftest.SelfTest = Noting  # type: ignore[misc]


def another_table_on_rank_1(rank: int, options: dict[str, Any]) -> dict[str, Any]:
    return {**options, "tuning": Path(options["tuning"]) if rank == 1 else None}


def other_token(rank: int, options: dict[str, Any]) -> dict[str, Any]:
    return {**options, "token": "wrong"} if rank == 1 else options


HELD: list[Any] = []


def a_thousand_open_files(rank: int, options: dict[str, Any]) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 2048)), hard))
    HELD.extend(os.open("/dev/null", os.O_RDONLY) for _ in range(1100))


def missing(rank: int, options: dict[str, Any]) -> None:
    if rank == 2:
        raise OSError("this machine is off")


def other_transport(rank: int, options: dict[str, Any]) -> dict[str, Any]:
    return {**options, "transport": "tcp" if rank else "shm"}


def unreachable(rank: int, options: dict[str, Any]) -> dict[str, Any]:
    if rank == 2:

        def refuse(self: Any, peer: int, address: Any, purpose: str, deadline: float) -> Any:
            if peer == 1:
                raise OSError("No route to host")
            return original(self, peer, address, purpose, deadline)

        original = mesh.Mesh._call
        mesh.Mesh._call = refuse  # type: ignore[method-assign]
    return {**options}
