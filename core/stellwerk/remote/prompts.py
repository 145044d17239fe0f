"""What is asked of a person while machines are paired. A window, a terminal and a test answer in their own way."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Protocol

from stellwerk.remote.trust import HostKeyQuestion


@dataclass(frozen=True, slots=True)
class PasswordQuestion:
    """A secret that a machine wants. `prompt` is the machine's own text, cleaned; empty for a login password."""

    node: str
    user: str
    host: str
    attempt: int = 1
    why: str = ""  # e.g. "the last password was not accepted"
    prompt: str = ""
    echo: bool = False  # whether what is typed may be shown


class Prompts(Protocol):
    """Answers questions. `None` or False means that the person does not want to."""

    async def confirm_host_key(self, question: HostKeyQuestion) -> bool:
        """Did the person compare the fingerprint and find it right?"""
        ...

    async def password(self, question: PasswordQuestion) -> str | None:
        """The password, or the answer to the machine's own prompt."""
        ...

    async def sudo_password(self, question: PasswordQuestion) -> str | None:
        """The password for sudo on that machine."""
        ...


class OneAtATime:
    """Lets machines that are paired in parallel ask one after the other: a person reads one dialog at a time."""

    def __init__(self, prompts: Prompts) -> None:
        self._prompts = prompts
        self._turn = asyncio.Lock()

    async def confirm_host_key(self, question: HostKeyQuestion) -> bool:
        """See `Prompts`."""
        async with self._turn:
            return await self._prompts.confirm_host_key(question)

    async def password(self, question: PasswordQuestion) -> str | None:
        """See `Prompts`."""
        async with self._turn:
            return await self._prompts.password(question)

    async def sudo_password(self, question: PasswordQuestion) -> str | None:
        """See `Prompts`."""
        async with self._turn:
            return await self._prompts.sudo_password(question)
