"""The user's own SSH keys: those of the ssh-agent, of IdentityFile lines, and the usual files of ~/.ssh."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from pathlib import Path

import asyncssh

from stellwerk.model.text import Text, say
from stellwerk.remote.target import Target

_DEFAULT_FILES = ("id_ed25519", "id_ecdsa", "id_rsa")
_AGENT_S = 3.0


@dataclass(frozen=True, slots=True)
class UserIdentity:
    """Where the user's keys are. The default knows of none: nothing of the user is touched unless it is named."""

    ssh_dir: Path | None = None
    agent_path: str | None = None

    @classmethod
    def from_environment(cls) -> UserIdentity:
        """~/.ssh and SSH_AUTH_SOCK."""
        return cls(Path("~/.ssh").expanduser(), os.environ.get("SSH_AUTH_SOCK") or None)


@dataclass(frozen=True, slots=True)
class Keys:
    """Keys to offer, best first, and why some are missing."""

    pairs: tuple[asyncssh.SSHKeyPair, ...]
    notes: tuple[str, ...]


@contextlib.asynccontextmanager
async def user_keys(identity: UserIdentity | None, target: Target) -> AsyncIterator[Keys]:
    """The keys to try for `target`; those of an ssh-agent can sign only inside this context."""
    if identity is None:
        yield Keys((), ())
        return
    notes: list[str] = []
    named = _read_files((Path(name) for name in target.identity_files), notes, named=True)
    async with contextlib.AsyncExitStack() as stack:
        from_agent = await _agent_keys(identity, target, notes, stack)
        if target.identities_only:
            wanted = _public_halves(target) | {pair.public_data for pair in named}
            from_agent = [pair for pair in from_agent if pair.public_data in wanted]
            usual: list[asyncssh.SSHKeyPair] = []
        else:
            folder = identity.ssh_dir
            usual = _read_files((folder / name for name in _DEFAULT_FILES) if folder else (), notes, named=False)
        unique: dict[bytes, asyncssh.SSHKeyPair] = {}
        for pair in (*named, *from_agent, *usual):
            unique.setdefault(pair.public_data, pair)
        yield Keys(tuple(unique.values()), tuple(notes))


async def _agent_keys(
    identity: UserIdentity, target: Target, notes: list[str], stack: contextlib.AsyncExitStack
) -> list[asyncssh.SSHKeyPair]:
    if target.identity_agent == "none":
        return []
    path = identity.agent_path if target.identity_agent in (None, "SSH_AUTH_SOCK") else target.identity_agent
    if not path:
        return []
    try:
        async with asyncio.timeout(_AGENT_S):
            agent = await asyncssh.connect_agent(path)
            stack.callback(agent.close)
            return list(await agent.get_keys())
    except (OSError, ValueError, asyncssh.Error):
        notes.append(say("the ssh-agent at {path} does not answer", path=path))
        return []


def _locked(path: Path) -> Text:
    return say("{path} is protected by a passphrase; `ssh-add {path}` makes it usable", path=path)


def _read_files(paths: Iterable[Path], notes: list[str], *, named: bool) -> list[asyncssh.SSHKeyPair]:
    pairs: list[asyncssh.SSHKeyPair] = []
    for path in paths:
        try:
            pairs.extend(asyncssh.load_keypairs([asyncssh.read_private_key(path)]))
        except FileNotFoundError:
            if named:
                notes.append(say("the key file {path} does not exist", path=path))
        except asyncssh.KeyEncryptionError:
            notes.append(_locked(path))
        except asyncssh.KeyImportError as error:
            protected = "passphrase" in str(error).lower()
            notes.append(_locked(path) if protected else say("{path} is not a key", path=path))
        except OSError as error:
            notes.append(say("{path} cannot be read ({said})", path=path, said=error.strerror))
    return pairs


def _public_halves(target: Target) -> set[bytes]:
    """With IdentitiesOnly a file may exist as `.pub` alone while the agent holds the private half."""
    found: set[bytes] = set()
    for name in target.identity_files:
        for path in (Path(f"{name}.pub"), Path(name)):
            with contextlib.suppress(OSError, asyncssh.KeyImportError):
                found.add(asyncssh.read_public_key(path).public_data)
    return found
