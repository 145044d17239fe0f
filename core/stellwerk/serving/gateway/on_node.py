"""The gateway on a node: started by the node's agent from `runtime.pyz`, in plain asyncio without any wheel.

    python3 -I runtime.pyz stellwerk.serving.gateway.on_node serve PORT < ORDER
    python3 -I runtime.pyz stellwerk.serving.gateway.on_node update PORT < ORDER

The order comes on standard input and is in no argument and no environment. Policy, API keys (their hashes) and the
certificate with its key are kept in files of the user's own while the gateway runs, for when it must start again; the
keys of engines are kept in memory alone. `update` hands another order to the gateway that runs (`node_control`), which
checks it and stays with what it has if something is broken. What it has to say to the desktop are JSON lines with the
key `stellwerk` on standard output, and the request log; the agent keeps both.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from stellwerk.serving.gateway.address import from_table
from stellwerk.serving.gateway.app import Gateway
from stellwerk.serving.gateway.deployment import DeployError
from stellwerk.serving.gateway.keeping import Keeping
from stellwerk.serving.gateway.keys import KeysError
from stellwerk.serving.gateway.node_control import ControlError, Vault, ask, listen
from stellwerk.serving.gateway.running import raise_descriptor_limit, run_until_told
from stellwerk.serving.gateway.settings import GatewaySettings
from stellwerk.serving.gateway.tls_files import TlsError
from stellwerk.serving.policy.errors import PolicyErrors
from stellwerk.serving.policy.load import load_policy

FOLDER = ".local/share/stellwerk/gateways"  # below the home directory; goes with it when the machine is un-paired
FAILED = 2
POLICY, KEYS, CERT, CERT_KEY = "policy.yaml", "api-keys.json", "certificate.pem", "certificate-key.pem"


@dataclass(frozen=True, slots=True)
class Order:
    """What a desktop asks of a gateway on a node.

    `keys`: the text of a file of API keys, None without one. `places`: node of the policy -> host or host:port as this
    node reaches it. `secrets`: values of the environment variables that the policy's replicas take their keys from.
    `tls_cert`, `tls_key`: PEM texts, both or none; on an update None leaves those that are there.
    """

    policy: str
    host: str = "127.0.0.1"
    keys: str | None = field(default=None, repr=False)
    places: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    drain_s: float = 30.0
    tls_cert: str | None = None
    tls_key: str | None = field(default=None, repr=False)

    def to_json(self) -> str:
        return json.dumps(asdict(self))


def say(kind: str, **more: object) -> None:
    """One line for the desktop."""
    sys.stdout.write(json.dumps({"stellwerk": kind, **more}) + "\n")
    sys.stdout.flush()


def folder_of(port: int, home: Path | None = None) -> Path:
    """Where the gateway on this port keeps its files while it runs."""
    return (home or Path.home()) / FOLDER / str(port)


@contextlib.contextmanager
def alone_on(port: int) -> Iterator[bool]:
    """True while this process is the gateway of the port. The kernel forgets it when the process ends, however."""
    path = folder_of(port).with_suffix(".lock")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


def runs_on(port: int) -> bool:
    """Is there a gateway that was started with this port?"""
    if not folder_of(port).is_dir():
        return False
    with alone_on(port) as alone:
        return not alone


def write_files(folder: Path, texts: Mapping[str, str | None]) -> None:
    """Files by name, each replaced in one step, for the user's eyes alone; None leaves one as it is. Raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, text in texts.items():
        if text is None:
            continue
        draft = folder / f".{name}.{os.getpid()}"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        draft.replace(folder / name)


def files_of(order: Order) -> dict[str, str | None]:
    """What of an order lies in files."""
    return {POLICY: order.policy, KEYS: order.keys, CERT: order.tls_cert, CERT_KEY: order.tls_key}


def serve(order: Order, port: int) -> int:
    """Run until told to end, again after a crash. 0, or FAILED with a line that says why it does not start."""
    with alone_on(port) as alone:
        if not alone:
            say("failed", text=f"A gateway runs on port {port} of this node already.")
            return FAILED
        vault = Vault(dict(order.secrets))
        try:
            return Keeping(lambda again: asyncio.run(_serve(order, port, again, vault)), FAILED, _died).forever()
        finally:
            vault.close()
            shutil.rmtree(folder_of(port), ignore_errors=True)


def _died(how: str, pause_s: float) -> None:
    say("died", text=f"The gateway ended with {how}; it starts again in {pause_s:g} s.")


async def _serve(order: Order, asked_port: int, again: bool, vault: Vault) -> int:
    folder, port = folder_of(asked_port), asked_port
    try:
        if again:
            # As it was last: another order may have come since, and clients know the port that was taken.
            order = replace(order, policy=(folder / POLICY).read_bytes().decode())
            port = int((folder / "port").read_text())
        else:
            write_files(folder, files_of(order))
        running = NodeGateway(order, folder, port, vault)
        bound = await running.start()
    except PolicyErrors as error:
        say("failed", text="\n".join(str(problem) for problem in error.problems))
        return FAILED
    except (DeployError, KeysError, TlsError) as error:
        say("failed", text=str(error))
        return FAILED
    except OSError as error:
        say("failed", text=f"It cannot start on {order.host}:{port}: {error.strerror or error}.")
        return FAILED
    (folder / "port").write_text(str(bound))
    say("listening", host=order.host, port=bound, policy=running.gateway.deployment.policy.revision)
    await run_until_told(running.gateway, lambda words: say("ending", text=words))
    running.close()
    say("ended")
    return 0


class NodeGateway:
    """A gateway with the socket over which it is given other orders. Raises what `Gateway` and `load_policy` raise."""

    def __init__(self, order: Order, folder: Path, port: int, vault: Vault) -> None:
        self._folder = folder
        self._vault = vault
        self._has_tls = (folder / CERT).exists()
        self._control: asyncio.Server | None = None
        settings = GatewaySettings(
            host=order.host,
            port=port,
            log_path="-",  # the agent keeps the newest part of it
            keys_path=str(folder / KEYS),
            tls_cert=str(folder / CERT) if self._has_tls else None,
            tls_key=str(folder / CERT_KEY) if self._has_tls else None,
            watch_policy=False,  # other policies come over the socket
            drain_s=order.drain_s,
            descriptors=raise_descriptor_limit(),
        )
        self.gateway = Gateway(
            load_policy(order.policy), settings, resolve=from_table(order.places), secrets=vault.read(),
            policy_path=folder / POLICY,
        )  # fmt: skip

    async def start(self) -> int:
        port = await self.gateway.start()
        self._control = await listen(self._folder, self._take)
        return port

    def close(self) -> None:
        if self._control is not None:
            self._control.close()

    async def _take(self, text: str) -> dict[str, str]:
        """Another order has come: {"updated": revision}, or {"failed": why} and nothing has changed."""
        gateway, folder = self.gateway, self._folder
        try:
            order = Order(**json.loads(text))
        except (ValueError, TypeError) as error:
            return {"failed": f"This gateway does not understand the order: {error}. Stop it and start it again."}
        if order.tls_cert is not None and not self._has_tls:
            return {"failed": "It was started without a certificate. Stop it, and start it with one."}
        before = {name: _text(folder / name) for name in files_of(order)}
        secrets = gateway.secrets
        try:
            policy = await asyncio.to_thread(load_policy, order.policy)
            gateway.secrets = {**secrets, **order.secrets}  # rolling back needs those of before
            self._vault.store(dict(gateway.secrets))  # before the policy that needs them, lest a crash part the two
            write_files(folder, files_of(order))
            gateway.renew_secrets()
            gateway.deploy(policy)
        except (PolicyErrors, DeployError, KeysError, TlsError, OSError) as error:
            gateway.secrets = secrets
            self._put_back(before)
            return {"failed": str(error)}
        return {"updated": policy.revision}

    def _put_back(self, before: Mapping[str, str | None]) -> None:
        try:
            write_files(self._folder, before)
            for name, text in before.items():
                if text is None:
                    (self._folder / name).unlink(missing_ok=True)
            self.gateway.renew_secrets()
        except (KeysError, TlsError, OSError) as error:
            self.gateway.log.event("not_put_back", why=str(error))


def _text(path: Path) -> str | None:
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None


def update(order: Order, port: int) -> int:
    """Give a running gateway another order: policy, keys of engines, and API keys and certificate where it has some."""
    if not runs_on(port):
        say("failed", text=f"No gateway runs on port {port} of this node.")
        return FAILED
    try:
        answer = ask(folder_of(port), order.to_json())
    except ControlError as error:
        say("failed", text=str(error))
        return FAILED
    if "updated" not in answer:
        say("failed", text=answer.get("failed", "It answered nothing."))
        return FAILED
    say("updated", policy=answer["updated"])
    return 0


def main(argv: list[str]) -> int:
    verb, port = argv[0], int(argv[1])
    order = Order(**json.load(sys.stdin))
    if verb == "update":
        return update(order, port)
    return serve(order, port)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
