"""The options that every entry point of the agent knows; the real machine is the default."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

ENVIRONMENT = "STELLWERK_AGENT_OPTIONS"


def default_state_dir() -> Path:
    """The agent's own directory in the user's home."""
    return Path.home() / ".local" / "state" / "stellwerk"


@dataclass(frozen=True, slots=True)
class Options:
    """Where the machine is read, how cables are heard, where the agent keeps its state."""

    root: Path = Path("/")
    hear_carrier: str = "sockets"  # "sockets" or "unix:DIR"
    address_map: Path | None = None
    state_dir: Path = field(default_factory=default_state_dir)

    def under(self, path: str) -> Path:
        """An absolute path of the machine, below `root`."""
        return self.root / path.lstrip("/")

    def to_argv(self) -> list[str]:
        """The explicit arguments for a process that the agent starts; empty for a real machine."""
        argv: list[str] = []
        if self.root != Path("/"):
            argv += ["--root", str(self.root)]
        if self.hear_carrier != "sockets":
            argv += ["--hear-carrier", self.hear_carrier]
        if self.address_map is not None:
            argv += ["--address-map", str(self.address_map)]
        if self.state_dir != default_state_dir():
            argv += ["--state-dir", str(self.state_dir)]
        return argv


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the common options to a parser."""
    parser.add_argument("--root", type=Path, default=Path("/"))
    parser.add_argument("--hear-carrier", default="sockets")
    parser.add_argument("--address-map", type=Path)
    parser.add_argument("--state-dir", type=Path, default=default_state_dir())


def from_namespace(values: argparse.Namespace) -> Options:
    """The options out of parsed arguments."""
    return Options(values.root, values.hear_carrier, values.address_map, values.state_dir)


def unprivileged_argv(argv: Sequence[str]) -> list[str]:
    """`argv` with the defaults from the environment put before it. Root entry points never call this."""
    return [*shlex.split(os.environ.get(ENVIRONMENT, "")), *argv]
