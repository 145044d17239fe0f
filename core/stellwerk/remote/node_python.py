"""Runs the verbs of `on_node` on a node through its python3, and finds out when that is missing or too old."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import json
from typing import Any

import asyncssh

from stellwerk.model.errors import AgentRefused, ConnectionFailed
from stellwerk.model.text import say
from stellwerk.remote import on_node
from stellwerk.remote.failures import cannot_store, cleaned, lost

_COMMAND = "python3 -I -"  # the program comes through stdin: no shell, whichever it is, has to quote it
_MINIMUM = (3, 10)
_MAX_ANSWER_BYTES = 256 * 1024


@functools.cache
def _program_text() -> str:
    return inspect.getsource(on_node)


def _script(request: dict[str, Any]) -> str:
    # An old Python cannot even compile the program, so its version is looked at first, in words any Python 3 reads.
    return (
        "import sys\n"
        f"if sys.version_info < {_MINIMUM}:\n"
        '    print(\'\\n{"stellwerk": "old", "python": "%d.%d.%d"}\' % sys.version_info[:3])\n'
        "    sys.exit(0)\n"
        "names = {'__name__': 'on_node'}\n"
        f"exec(compile({_program_text()!r}, 'on_node', 'exec'), names)\n"
        f"names['main']({json.dumps(request)!r})\n"
    )


class NodePython:
    """The python3 of one node, over a connection that is logged in."""

    def __init__(self, connection: asyncssh.SSHClientConnection, node: str, deadline_s: float) -> None:
        self._connection = connection
        self._node = node
        self._deadline_s = deadline_s

    async def run(self, verb: str, **arguments: Any) -> dict[str, Any]:
        """Run a verb and give its answer. Raises `AgentRefused` with the cause when it cannot be done."""
        script = _script({"verb": verb, "arguments": arguments})
        try:
            async with asyncio.timeout(self._deadline_s):
                done = await self._execute(script.encode())
        except TimeoutError:
            raise ConnectionFailed(
                say("python3 did not answer within {deadline_s} s", deadline_s=f"{self._deadline_s:g}"),
                node=self._node,
                why="The machine is overloaded, or its login shell waits for something",
                remedy="Check in a terminal: ssh to it and run python3 --version",
            ) from None
        except (asyncssh.Error, OSError) as error:
            raise lost(self._node, cleaned(str(error))) from None
        return self._checked(_as_bytes(done.stdout), _as_bytes(done.stderr), done.exit_status)

    async def _execute(self, script: bytes) -> asyncssh.SSHCompletedProcess:
        process: asyncssh.SSHClientProcess[bytes] = await self._connection.create_process(_COMMAND, encoding=None)
        try:
            # Without python3 the shell has ended before it read anything; what it said is what counts then.
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(script)
                process.stdin.write_eof()
            return await process.wait()
        finally:
            process.close()

    def _checked(self, out: bytes, err: bytes, status: int | None) -> dict[str, Any]:
        reply = _last_reply(out)
        said = cleaned(err.decode("utf-8", "replace")[-600:])
        if reply is None:
            raise self._no_python(said, status)
        if reply["stellwerk"] == "old":
            raise AgentRefused(
                say("python3 is version {version}; 3.10 or newer is needed", version=cleaned(str(reply.get("python")))),
                node=self._node,
                remedy="Update the machine (DGX OS brings 3.12), or install a newer python3 that comes first in PATH",
            )
        if reply["stellwerk"] == "failed":
            raise cannot_store(
                self._node, str(reply.get("errno")), str(reply.get("path")), str(reply.get("text")) or "unknown"
            )
        return reply

    def _no_python(self, said: str, status: int | None) -> AgentRefused:
        if status == 127 or "not found" in said:
            return AgentRefused(
                "there is no python3",
                node=self._node,
                why=say("The machine said: {said}", said=said) if said else "",
                remedy="Install it on the machine: sudo apt install python3",
            )
        return AgentRefused(
            "python3 could not be run",
            node=self._node,
            why=say("Exit status {status}; the machine said: {said}", status=status, said=said or say("nothing")),
            remedy="Check that `ssh` to it can run `python3 --version`, and that the account has a normal shell",
        )


def _last_reply(out: bytes) -> dict[str, Any] | None:
    """The answer line; login shells may have printed anything before it."""
    for line in reversed(out[-_MAX_ANSWER_BYTES:].splitlines()):
        if line.startswith(b'{"stellwerk"'):
            try:
                reply = json.loads(line)
            except ValueError:
                return None
            if isinstance(reply, dict):
                return reply
    return None


def _as_bytes(value: bytes | str | None) -> bytes:
    return value.encode() if isinstance(value, str) else value or b""
