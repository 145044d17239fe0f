"""Questions on the terminal: host keys and passwords. A script's secrets come from a file, never from argv."""

from __future__ import annotations

import asyncio
import contextlib
import getpass
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import click

from stellwerk.cli.common import err, plain
from stellwerk.model.errors import BadInput
from stellwerk.remote.prompts import PasswordQuestion
from stellwerk.remote.trust import HostKeyQuestion

MAX_SECRET_FILE = 10_000


T = TypeVar("T")


async def ask(question: Callable[[], T]) -> T:
    """What a person answers. Connections are kept alive meanwhile, and Ctrl-C ends the wait at once.

    A thread that reads a terminal cannot be stopped, and a thread of the loop's own pool would be waited for.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()

    def deliver(method: Callable[[Any], None], value: Any) -> None:
        def tell() -> None:
            if not answer.done():
                method(value)

        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(tell)

    def work() -> None:
        try:
            value = question()
        except BaseException as error:  # noqa: BLE001 (handed to the one who waits)
            deliver(answer.set_exception, error)
        else:
            deliver(answer.set_result, value)

    with _echo_given_back():
        threading.Thread(target=work, name="question", daemon=True).start()
        return await answer


async def confirm(text: str) -> bool:
    """A question with yes or no; no is the answer of Enter. Raises `BadInput` when nobody is there to answer."""
    try:
        return await ask(lambda: click.confirm(text))
    except (click.Abort, EOFError):
        # A closed input, or Ctrl-C in a thread that reads for somebody else: nobody said no.
        raise BadInput(
            f"nobody answered the question {text!r}",
            why="the standard input is closed, so nothing was changed",
            remedy="In a script, use --yes",
        ) from None


@contextlib.contextmanager
def _echo_given_back() -> Iterator[None]:
    """The terminal as it was, also when a password was being typed and its reader is left alone."""
    try:
        import termios
    except ImportError:  # a desktop without Unix terminals
        yield
        return
    try:
        before = termios.tcgetattr(sys.stdin)
    except (termios.error, OSError, ValueError):  # no terminal
        yield
        return
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


class TerminalPrompts:
    """Asks a person. Without a terminal every answer is *no*."""

    def __init__(self, *, password_file: Path | None = None, accept: frozenset[str] = frozenset()) -> None:
        self._password = _read_secret(password_file) if password_file is not None else None
        self._accept = accept
        self._used: set[str] = set()

    async def confirm_host_key(self, question: HostKeyQuestion) -> bool:
        """Show the fingerprint and how to see the same on the machine; `yes` has to be typed out."""
        if question.key.fingerprint in self._accept:
            return True
        err.print(
            f"\n{plain(question.node)} ({plain(question.host)}) has never been seen. Its {question.key.kind} key:"
        )
        err.print(f"  [bold]{plain(question.key.fingerprint)}[/]")
        err.print(f"On the machine itself, this shows the same: [bold]{plain(question.command)}[/]")
        if not sys.stdin.isatty():
            err.print("No terminal to ask on: not trusted. Give the fingerprint with --accept-host-key.")
            return False
        answer = await ask(lambda: input("Is it the same? Type yes: "))
        return answer.strip().lower() in ("yes", "ja")

    async def password(self, question: PasswordQuestion) -> str | None:
        return await self._secret(question, f"Password for {question.user}@{question.host}")

    async def sudo_password(self, question: PasswordQuestion) -> str | None:
        return await self._secret(question, f"sudo password for {question.user} on {question.node}")

    async def _secret(self, question: PasswordQuestion, text: str) -> str | None:
        if question.why:
            err.print(f"{plain(question.node)}: {plain(question.why)}")
        if self._password is not None:
            # A file has one answer: giving it again after a refusal would only lock the account.
            key = f"{question.node} {text}"
            if key in self._used:
                return None
            self._used.add(key)
            return self._password
        if not sys.stdin.isatty():
            err.print(f"{plain(question.node)}: a password is needed and there is no terminal. Use --password-file.")
            return None
        typed = await ask(lambda: getpass.getpass(f"{question.prompt or text}: "))
        return typed or None


@dataclass(slots=True)
class KnownAnswers:
    """Answers for machines whose secrets and fingerprints the program itself made: the virtual cluster's."""

    passwords: Mapping[str, str]
    sudo_passwords: Mapping[str, str]
    fingerprints: frozenset[str]
    _asked: set[str] = field(default_factory=set)

    async def confirm_host_key(self, question: HostKeyQuestion) -> bool:
        return question.key.fingerprint in self.fingerprints

    async def password(self, question: PasswordQuestion) -> str | None:
        return self._once("login", question, self.passwords)

    async def sudo_password(self, question: PasswordQuestion) -> str | None:
        return self._once("sudo", question, self.sudo_passwords)

    def _once(self, kind: str, question: PasswordQuestion, known: Mapping[str, str]) -> str | None:
        """The same wrong answer is not given twice."""
        if question.attempt > 1:
            return None
        return known.get(question.node)


def _read_secret(path: Path) -> str:
    try:
        mode = path.stat().st_mode & 0o077
        text = path.read_text("utf-8")[:MAX_SECRET_FILE]
    except OSError as error:
        raise BadInput(
            f"{path} cannot be read", why=error.strerror or str(error), remedy="Name a readable file"
        ) from error
    if mode:
        raise BadInput(f"{path} can be read by others", why="it holds a password", remedy=f"chmod 600 {path}")
    return text.rstrip("\r\n")


password_option = click.option(
    "--password-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A file (mode 0600) with the password, for machines where nobody can type it.",
)
accept_option = click.option(
    "--accept-host-key", "accept", multiple=True, metavar="SHA256:…", help="A fingerprint that was compared already."
)
