"""What the options of the `measure` commands have in common."""

from __future__ import annotations

import os
from pathlib import Path

import click

STDOUT = Path("-")
WRITTEN = click.Path(path_type=Path, dir_okay=False, writable=True)


def words(_: click.Context, __: click.Parameter, text: str) -> tuple[str, ...]:
    """`a,b`; `none` stands for no word."""
    return tuple(word for word in (part.strip() for part in text.split(",")) if word and word != "none")


def numbers(_: click.Context, __: click.Parameter, text: str) -> tuple[int, ...]:
    """`1,2,4`, sorted."""
    try:
        return tuple(sorted({int(part) for part in text.split(",")}))
    except ValueError as error:
        raise click.BadParameter(f"{text!r} is not a list of numbers") from error


def place(_: click.Context, __: click.Parameter, path: Path | None) -> Path | None:
    """Before minutes of measuring, not after: can the file be written?"""
    if path is not None and path != STDOUT and not os.access(path.parent, os.W_OK | os.X_OK):
        raise click.BadParameter(f"the folder {path.parent} is not there or cannot be written to")
    return path
