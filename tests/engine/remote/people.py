"""Who takes part in the tests beside the machines: a person who answers, somebody who watches the states."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from stellwerk.remote import HostKeyQuestion, LinkState, NodeLink, PasswordQuestion


@dataclass
class Person:
    """Answers prompts and remembers what was asked."""

    passwords: list[str | None] = field(default_factory=list)
    trusts: bool = True
    host_keys: list[HostKeyQuestion] = field(default_factory=list)
    questions: list[PasswordQuestion] = field(default_factory=list)

    async def confirm_host_key(self, question: HostKeyQuestion) -> bool:
        self.host_keys.append(question)
        return self.trusts

    async def password(self, question: PasswordQuestion) -> str | None:
        self.questions.append(question)
        return self.passwords.pop(0)

    async def sudo_password(self, question: PasswordQuestion) -> str | None:
        raise AssertionError("nobody needs root here")


@dataclass
class Watcher:
    """Remembers the states of a link, and waits for one."""

    link: NodeLink
    states: list[LinkState] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.link.on_state(self._note)

    def _note(self, state: LinkState, reason: str) -> None:
        if not self.states or self.states[-1] is not state:
            self.states.append(state)
        self.reasons.append(reason)
        self._changed.set()

    async def until(self, state: LinkState) -> None:
        async with asyncio.timeout(20):
            while self.link.state is not state or not self.states or self.states[-1] is not state:
                self._changed.clear()
                await self._changed.wait()
