"""`stellwerk window`: the desktop program."""

from __future__ import annotations

import sys

import click

from stellwerk.cli.common import ERROR, show_error
from stellwerk.model.errors import StellwerkError

SHAPES = ("single", "pair", "ring", "chain", "switch")


@click.command()
@click.option("--virtual", type=click.IntRange(0, 8), default=0, metavar="N", help="Start N simulated Sparks with it.")
@click.option("--topology", type=click.Choice(SHAPES), default="switch", show_default=True)
def window(virtual: int, topology: str) -> None:
    """Open the window."""
    try:
        from stellwerk_gui.app import run
    except ImportError as error:
        show_error(
            StellwerkError(
                "the window cannot be opened",
                why=f"{error.name or error} is not there",
                remedy="Install it with its extra: pipx install 'stellwerk[gui]', and the system's libegl1",
            )
        )
        sys.exit(ERROR)
    sys.exit(run(virtual, topology))
