"""`stellwerk shots`: pictures of every page and state of the window, from a virtual cluster."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

import click

from stellwerk.cli.common import ERROR, FINDINGS, show_error
from stellwerk.model.errors import StellwerkError

SIZE_HELP = "Size of the window in pixels, e.g. 960x600."


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--theme", type=click.Choice(["dark", "light", "both"]), default="both", show_default=True)
@click.option("--language", type=click.Choice(["en", "de"]), default="en", show_default=True)
@click.option("--size", default="1440x900", show_default=True, help=SIZE_HELP)
@click.option("--scale", type=click.FloatRange(1.0, 2.0), default=1.0, show_default=True)
@click.option("--nodes", type=click.IntRange(3, 8), default=4, show_default=True)
@click.option("--topology", type=click.Choice(["ring", "switch"]), default="ring", show_default=True)
@click.option("--patience", type=click.FloatRange(0.5, 20.0), default=2.0, help="Longer waits on a busy computer.")
@click.option("--readme", is_flag=True, help="Only the pictures of README.md, under the names used there.")
@click.option("--check", is_flag=True, help="Also say which texts are cut off or lie on each other.")
def shots(
    folder: Path,
    theme: str,
    language: str,
    size: str,
    scale: float,
    nodes: int,
    topology: str,
    patience: float,
    readme: bool,
    check: bool,
) -> None:
    """Save a picture of every page and state into FOLDER. All machines in them are simulated."""
    width, _, height = size.partition("x")
    if not (width.isdigit() and height.isdigit()):
        raise click.BadParameter("write it as WIDTHxHEIGHT, e.g. 1440x900", param_hint="--size")
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    try:
        # The command line does without the window until it is asked for; so does the rest of the core.
        album = importlib.import_module("stellwerk_gui.album")
        camera = importlib.import_module("stellwerk_gui.camera")
    except ImportError as error:
        show_error(
            StellwerkError(
                "no pictures can be taken",
                why=f"{error.name or error} is not there",
                remedy="Install the window with its extra: pipx install 'stellwerk[gui]', and the system's libegl1",
            )
        )
        sys.exit(ERROR)
    themes = ("dark", "light") if theme == "both" else (theme,)
    wanted = camera.Wanted(folder, themes, language, (int(width), int(height)), scale, nodes, topology, patience)
    found: list[str] = []
    try:
        if readme:
            paths = album.take_readme(folder, patience, click.echo)
        else:
            paths = album.take(wanted, lambda name: click.echo(f"  {name}"), found if check else None)
    except StellwerkError as error:
        show_error(error)
        sys.exit(ERROR)
    click.echo(f"{len(paths)} pictures in {folder}")
    for fault in found:
        click.echo(f"  {fault}")
    if found:
        sys.exit(FINDINGS)
