"""Pairs several machines at once, and takes a machine out of a cluster without leaving a trace."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from stellwerk.model.errors import Busy, ConnectionFailed, StellwerkError
from stellwerk.model.text import say
from stellwerk.remote.failures import cleaned
from stellwerk.remote.install import remove_key
from stellwerk.remote.link import NodeLink
from stellwerk.remote.node_python import NodePython
from stellwerk.remote.opening import LinkState
from stellwerk.remote.prompts import OneAtATime, Prompts
from stellwerk.remote.session import Session

_UNINSTALL_S = 180.0  # it ends jobs first


async def pair_all(links: Sequence[NodeLink], prompts: Prompts) -> dict[str, StellwerkError | None]:
    """Pair in parallel and give the error of each, by name; one that fails does not stop the others.

    Questions come one at a time. Cancelling this cancels all; `NodeLink.close` takes a single one out.
    """
    one_at_a_time = OneAtATime(prompts)

    async def pair(link: NodeLink) -> StellwerkError | None:
        try:
            await link.pair(one_at_a_time)
        except StellwerkError as error:
            return error
        return None

    async with asyncio.TaskGroup() as group:
        tasks = {link.name: group.create_task(pair(link)) for link in links}
    return {name: task.result() for name, task in tasks.items()}


@dataclass(frozen=True, slots=True)
class UnpairReport:
    """What was removed from a node, and what is left there and why."""

    node: str
    removed: tuple[str, ...]
    left: tuple[str, ...]


async def unpair(link: NodeLink, *, forget_unreachable: bool = False) -> UnpairReport:
    """Remove agent, its state and the cluster's key from the node, then forget the node's host key here.

    The other lines of its authorized_keys stay byte-identical. Raises `Busy` when another desktop holds the node, and
    the errors of `NodeLink.connect` when it cannot be reached, unless
    `forget_unreachable`: then only this computer forgets it, and the report names what is left there.
    """
    removed: list[str] = []
    left: list[str] = []
    try:
        if link.state is not LinkState.READY:
            await link.connect()
        session = await link.release()
    except StellwerkError as error:
        if not forget_unreachable:
            raise
        left.append(say("the agent and this cluster's key: the machine was not reached ({why})", why=error.what))
    else:
        try:
            await _clean(link, session, removed, left)
        finally:
            await session.close(link.desktop.deadlines)
    await link.close()
    if link.desktop.trust.forget(link.target.host, link.target.port):
        removed.append("its host key on this computer")
    return UnpairReport(link.name, tuple(removed), tuple(left))


async def _clean(link: NodeLink, session: Session, removed: list[str], left: list[str]) -> None:
    try:
        answer = await session.rpc.call("uninstall", {}, deadline_s=_UNINSTALL_S)
        removed.extend(str(path) for path in answer.get("removed", ()))
        left.extend(f"{item['path']}: {cleaned(str(item['why']))}" for item in answer.get("left", ()))
    except Busy:
        raise  # another desktop works with this machine: nothing is taken away from under it
    except ConnectionFailed:
        pass  # an agent that removes itself may end before its answer is read; what is left is removed below
    except StellwerkError as error:
        left.append(say("the agent could not remove itself: {why}", why=error.what))
    python = NodePython(session.connection, link.name, link.desktop.deadlines.command_s)
    files = await python.run("remove_files", pid=session.hello.pid)
    removed.extend(str(path) for path in files["removed"] if path not in removed)
    if await remove_key(python, link.desktop.key):
        removed.append("this cluster's key in ~/.ssh/authorized_keys")
