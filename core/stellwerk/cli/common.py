"""What every command shares: the console, how errors are shown, exit codes, the session of a cluster."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import os
import signal
import sys
from collections.abc import Callable, Collection, Coroutine
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from stellwerk.model.errors import Busy, Cancelled, StellwerkError
from stellwerk.model.redact import redact
from stellwerk.setup.files import write_atomic
from stellwerk.wire import to_wire

DONE, FINDINGS, ERROR = 0, 1, 2

P = ParamSpec("P")
R = TypeVar("R")

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def plain(text: object) -> str:
    """Text from a machine, safe for rich: no markup, no control characters."""
    clean = "".join(c if c.isprintable() or c == "\n" else "�" for c in str(text))
    return escape(clean)


def command(function: Callable[P, Coroutine[Any, Any, int | None]]) -> Callable[P, None]:
    """Run an async command; its number is the exit code, and a `StellwerkError` becomes one message."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            code = asyncio.run(_until_told(function(*args, **kwargs)))
        except Cancelled as error:
            err.print(f"[yellow]Cancelled.[/] {plain(error)}")
            code = ERROR
        except StellwerkError as error:
            show_error(error)
            code = ERROR
        except (KeyboardInterrupt, asyncio.CancelledError):
            err.print("[yellow]Cancelled.[/]")
            code = ERROR
        except (click.ClickException, click.Abort, click.exceptions.Exit, EOFError, BrokenPipeError):
            raise  # click has its own words and exit codes for these
        except OSError as error:
            show_error(_of_this_computer(error))
            code = ERROR
        except Exception as error:
            if os.environ.get("STELLWERK_DEBUG"):
                raise
            show_error(_own_mistake(error))
            code = ERROR
        sys.exit(code or DONE)

    return run


async def _until_told(work: Coroutine[Any, Any, R]) -> R:
    """Being told to end, or a closed terminal, is the same as Ctrl-C: what was begun is rolled back and cleaned up."""
    task = asyncio.current_task()
    assert task is not None, "runs as a task"
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # nohup has it ignored, and that is to stay so.
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            with contextlib.suppress(NotImplementedError):  # a desktop without Unix signals
                asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    return await work


def _of_this_computer(error: OSError) -> StellwerkError:
    what = f"{error.filename} cannot be used" if error.filename else "this computer refused something"
    return StellwerkError(what, why=error.strerror or str(error), remedy="See to that file or folder, then try again")


def _own_mistake(error: Exception) -> StellwerkError:
    return StellwerkError(
        "this is a mistake in Stellwerk itself",
        why=f"{type(error).__name__}: {error}"[:300],
        remedy="Run it again with STELLWERK_DEBUG=1 and report what it prints. A change that was not confirmed "
        "goes back by itself",
    )


def show_error(error: StellwerkError) -> None:
    """The command line's one place for errors."""
    head = f"{plain(error.node)}: {plain(error.what)}" if error.node else plain(error.what)
    err.print(f"[red]Error[/] {head}")
    if error.why:
        err.print(f"  why   {plain(error.why)}")
    if error.remedy:
        # Only a node itself says that another desktop holds it; what takes it over is this program's own option.
        held = " (--take-over)" if isinstance(error, Busy) and error.node else ""
        err.print(f"  do    {plain(error.remedy)}{held}")


def write_json(path: str, data: Any, *, private: bool = False) -> None:
    """Dataclasses as JSON to a file, or to standard output for `-`. `private`: for the user's eyes alone."""
    text = json.dumps(redact(to_wire(data)), indent=2, ensure_ascii=False)
    if path == "-":
        click.echo(text)
        return
    target = Path(path)
    if private:
        write_atomic(target, (text + "\n").encode())
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text + "\n", encoding="utf-8")


def table(*heads: str, title: str = "", whole: Collection[str] = ()) -> Table:
    """A table in the product's plain style. Columns in `whole` hold names and addresses: they are not broken."""
    made = Table(title=title or None, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for head in heads:
        made.add_column(head, overflow="fold", no_wrap=head in whole)
    return made


cluster_option = click.option(
    "--cluster", "cluster_name", metavar="NAME", help="Which cluster, when there is more than one."
)
json_option = click.option(
    "--json", "json_path", metavar="FILE", help="Write the result as JSON to FILE, or to standard output for -."
)
take_over_option = click.option(
    "--take-over", is_flag=True, help="Change nodes that another desktop holds; it is told so."
)
