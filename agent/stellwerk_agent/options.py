"""The options that every entry point of the agent knows; the real machine is the default."""

from __future__ import annotations

import argparse
import json
import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from stellwerk.model.errors import BadInput
from stellwerk.model.text import say

ENVIRONMENT = "STELLWERK_AGENT_OPTIONS"
MAX_MAP_BYTES = 1024 * 1024


def default_state_dir() -> Path:
    """The agent's own directory in the user's home; not /run/user, which vanishes at logout."""
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


class _Parser(argparse.ArgumentParser):
    """A parser that raises instead of ending the process."""

    def error(self, message: str) -> NoReturn:
        raise BadInput(say("the agent does not understand its arguments: {message}", message=message))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the common options to a parser."""
    parser.add_argument("--root", type=Path, default=Path("/"))
    parser.add_argument("--hear-carrier", default="sockets")
    parser.add_argument("--address-map", type=Path)
    parser.add_argument("--state-dir", type=Path, default=default_state_dir())


def from_namespace(values: argparse.Namespace) -> Options:
    """The options out of parsed arguments. Raises `BadInput` for a value that cannot be used."""
    carrier = str(values.hear_carrier)
    if carrier != "sockets" and not (carrier.startswith("unix:/") and len(carrier) > len("unix:/")):
        raise BadInput(
            say(
                "--hear-carrier is 'sockets' or 'unix:' and an absolute directory, not {carrier}", carrier=repr(carrier)
            )
        )
    for name in ("root", "address_map", "state_dir"):
        path = getattr(values, name)
        if path is not None and not path.is_absolute():
            raise BadInput(
                say(
                    "--{option} must be an absolute path, not {path}",
                    option=name.replace("_", "-"),
                    path=repr(str(path)),
                )
            )
    return Options(values.root, carrier, values.address_map, values.state_dir)


def unprivileged_argv(argv: Sequence[str]) -> list[str]:
    """`argv` with the defaults from the environment put before it. Root entry points never call this."""
    try:
        return [*shlex.split(os.environ.get(ENVIRONMENT, "")), *argv]
    except ValueError as error:
        raise BadInput(
            say("{environment} cannot be read", environment=ENVIRONMENT), why=str(error), remedy="correct or unset it"
        ) from None


def parse_unprivileged(argv: Sequence[str]) -> Options:
    """Options of an entry point that has no arguments of its own. Raises `BadInput`."""
    parser = _Parser(prog="agent", add_help=False, allow_abbrev=False)
    add_arguments(parser)
    return from_namespace(parser.parse_args(unprivileged_argv(argv)))


def map_address(options: Options, address: str) -> str:
    """The address to bind or dial for a fabric address: itself, unless an address map says otherwise.

    The map is read at every use, since cables can be replugged while the agent runs. Raises `BadInput` when there is
    a map that cannot be read.
    """
    if options.address_map is None:
        return address
    try:
        with options.address_map.open("rb") as stream:
            table = json.loads(stream.read(MAX_MAP_BYTES))
    except (OSError, ValueError) as error:
        raise BadInput(
            say("the address map {address_map} cannot be read", address_map=options.address_map), why=str(error)
        ) from None
    if not isinstance(table, dict):
        raise BadInput(say("the address map {address_map} is no JSON object", address_map=options.address_map))
    value = table.get(address, address)
    if not isinstance(value, str):
        raise BadInput(
            say(
                "the address map {address_map} has no text for {address}",
                address_map=options.address_map,
                address=address,
            )
        )
    return value
