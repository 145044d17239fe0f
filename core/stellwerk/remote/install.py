"""Puts the cluster's key and the agent on a node, and takes them off again."""

from __future__ import annotations

import asyncio
import base64
import contextlib
from collections.abc import Callable

import asyncssh

from stellwerk.model.errors import AgentRefused, LoginFailed
from stellwerk.model.text import say
from stellwerk.remote.artefact import Artefact
from stellwerk.remote.deadlines import Deadlines
from stellwerk.remote.failures import cleaned
from stellwerk.remote.keys import MARKER, ClusterKey
from stellwerk.remote.node_python import NodePython
from stellwerk.remote.on_node import SHARE

_CHUNK_BYTES = 64 * 1024
_DONE_PCT = 100


async def install_key(python: NodePython, key: ClusterKey) -> bool:
    """Allow the cluster's key to log in; tells whether it was added now. The file's other lines stay as they are."""
    done = await python.run("add_key", line=key.public_line, marker=MARKER)
    return bool(done["added"])


async def remove_key(python: NodePython, key: ClusterKey) -> bool:
    """Take the cluster's key out again; tells whether it was there."""
    done = await python.run("remove_key", blob=key.public_line.split()[1], marker=MARKER)
    return bool(done["removed"])


async def why_key_is_refused(python: NodePython, node: str, user: str) -> LoginFailed:
    """The error for a machine that does not accept the key that was just installed."""
    look = await python.run("look", agent_name="", agent_sha256="")
    home, mode = cleaned(str(look["home"])), look["home_mode"]
    if isinstance(mode, int) and mode & 0o022:
        return LoginFailed(
            "the machine ignores the key that was installed",
            node=node,
            why=say(
                "Other users may write to the home directory {home} (mode {mode}), so its SSH server distrusts "
                "the keys in it (StrictModes)",
                home=home,
                mode=f"{mode:04o}",
            ),
            remedy=say("On the machine: chmod go-w {home}", home=home),
        )
    return LoginFailed(
        "the machine ignores the key that was installed",
        node=node,
        why=say("It is in {home}/.ssh/authorized_keys, but its SSH server does not accept it", home=home),
        remedy=say(
            "Look at PubkeyAuthentication and AuthorizedKeysFile in its /etc/ssh/sshd_config, and at: "
            "journalctl -u ssh -n 20 (user {user})",
            user=user,
        ),
    )


async def install_agent(
    connection: asyncssh.SSHClientConnection,
    python: NodePython,
    agent: Artefact,
    node: str,
    deadlines: Deadlines,
    on_progress: Callable[[int], None],
) -> bool:
    """Have the agent (or the runtime) on the node under its hash; tells whether it had to be sent.

    `on_progress` gets percent. Raises `AgentRefused` for no python3, an old one, a full disk, a home that cannot be
    written to.
    """
    if await _is_there(python, agent):
        return False
    try:
        await _send_by_sftp(connection, agent, deadlines, on_progress)
    except (asyncssh.Error, OSError) as error:
        if isinstance(error, asyncssh.ConnectionLost) or connection.is_closed():
            raise
    # Where SFTP is switched off, ends in another directory than the login, or failed without saying why, the file is
    # written by python3; if that cannot be done either, its error names the cause.
    if not await _is_there(python, agent):
        await python.run(
            "receive_agent",
            name=agent.file_name,
            sha256=agent.sha256,
            data=base64.b64encode(agent.data).decode("ascii"),
        )
        if not await _is_there(python, agent):
            raise AgentRefused(
                say("the {kind} was sent, but is not there", kind=agent.kind),
                node=node,
                why=say("~/{share}/{file_name} cannot be read back", share=SHARE, file_name=agent.file_name),
                remedy="Check the machine's home directory",
            )
    on_progress(_DONE_PCT)
    return True


async def _is_there(python: NodePython, agent: Artefact) -> bool:
    look = await python.run("look", agent_name=agent.file_name, agent_sha256=agent.sha256)
    return bool(look["has_agent"])


async def _send_by_sftp(
    connection: asyncssh.SSHClientConnection,
    agent: Artefact,
    deadlines: Deadlines,
    on_progress: Callable[[int], None],
) -> None:
    """Upload under a temporary name, going on where an earlier upload stopped, then rename.

    Paths are relative: the server's root may be the home directory itself.
    """
    partial, final = f"{SHARE}/{agent.file_name}.part", f"{SHARE}/{agent.file_name}"
    async with asyncio.timeout(deadlines.chunk_s) as clock, connection.start_sftp_client() as sftp:
        await sftp.makedirs(SHARE, attrs=asyncssh.SFTPAttrs(permissions=0o700), exist_ok=True)
        sent = await _already_sent(sftp, partial, len(agent.data))
        try:
            async with await sftp.open(partial, "r+b" if sent else "wb") as file:
                while sent < len(agent.data):
                    clock.reschedule(asyncio.get_running_loop().time() + deadlines.chunk_s)
                    piece = agent.data[sent : sent + _CHUNK_BYTES]
                    await file.write(piece, sent)
                    sent += len(piece)
                    on_progress(sent * _DONE_PCT // len(agent.data))
            await sftp.chmod(partial, 0o600)
            await sftp.posix_rename(partial, final)
        except asyncssh.SFTPError:
            # A full disk must not stay full of our half file; a lost connection keeps it, to go on later.
            with contextlib.suppress(asyncssh.SFTPError):
                await sftp.remove(partial)
            raise


async def _already_sent(sftp: asyncssh.SFTPClient, partial: str, size: int) -> int:
    try:
        there = (await sftp.stat(partial)).size or 0
    except asyncssh.SFTPNoSuchFile:
        return 0
    return there if there < size else 0
