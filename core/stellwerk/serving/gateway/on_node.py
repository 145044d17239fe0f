"""The gateway on a node: started by the node's agent from `runtime.pyz`, in plain asyncio without any wheel.

    python3 -I runtime.pyz stellwerk.serving.gateway.on_node serve PORT < ORDER
    python3 -I runtime.pyz stellwerk.serving.gateway.on_node update PORT < ORDER

The order comes on standard input and is in no argument and no environment. Policy and API keys (their hashes) are kept
in files of the user's own while the gateway runs, so that `update` can replace them: the gateway notices, checks, and
stays with what it has if the new ones are broken. What it has to say to the desktop are JSON lines with the key
`stellwerk` on standard output, and the request log; the agent keeps both.
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
from stellwerk.serving.gateway.running import raise_descriptor_limit, run_until_told
from stellwerk.serving.gateway.settings import GatewaySettings
from stellwerk.serving.policy.errors import PolicyErrors
from stellwerk.serving.policy.load import load_policy

FOLDER = ".local/share/stellwerk/gateways"  # below the home directory; goes with it when the machine is un-paired
FAILED = 2


@dataclass(frozen=True, slots=True)
class Order:
    """What a desktop asks of a gateway on a node.

    `keys`: the text of a file of API keys, None without one. `places`: node of the policy -> host or host:port as this
    node reaches it. `secrets`: values of the environment variables that the policy's replicas take their keys from.
    """

    policy: str
    host: str = "127.0.0.1"
    keys: str | None = field(default=None, repr=False)
    places: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    drain_s: float = 30.0

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


def write_files(folder: Path, order: Order) -> None:
    """Policy and keys, each replaced in one step, for the user's eyes alone. Raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, text in (("policy.yaml", order.policy), ("api-keys.json", order.keys)):
        if text is None:
            continue
        draft = folder / f".{name}.{os.getpid()}"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        draft.replace(folder / name)


def serve(order: Order, port: int) -> int:
    """Run until told to end, again after a crash. 0, or FAILED with a line that says why it does not start."""
    with alone_on(port) as alone:
        if not alone:
            say("failed", text=f"A gateway runs on port {port} of this node already.")
            return FAILED
        try:
            return Keeping(lambda again: asyncio.run(_serve(order, port, again)), FAILED, _died).forever()
        finally:
            shutil.rmtree(folder_of(port), ignore_errors=True)


def _died(how: str, pause_s: float) -> None:
    say("died", text=f"The gateway ended with {how}; it starts again in {pause_s:g} s.")


async def _serve(order: Order, port: int, again: bool) -> int:
    folder = folder_of(port)
    first = replace(order, keys=None)  # keys as they are now, also when the policy is the old one
    if again:
        # As it was last: another policy may have come since, and clients know the port that was taken.
        order = replace(order, policy=(folder / "policy.yaml").read_bytes().decode(), keys=None)
        port = int((folder / "port").read_text())
    has_keys = order.keys is not None or (folder / "api-keys.json").exists()
    settings = GatewaySettings(
        host=order.host,
        port=port,
        log_path="-",  # the agent keeps the newest part of it
        keys_path=str(folder / "api-keys.json") if has_keys else None,
        drain_s=order.drain_s,
        descriptors=raise_descriptor_limit(),
    )
    os.environ.update(order.secrets)
    try:
        write_files(folder, order)
        try:
            gateway = _gateway(order, settings, folder)
        except (PolicyErrors, DeployError):
            if not again:
                raise
            # The policy that came last was one that the gateway had refused: back to that of the start.
            write_files(folder, first)
            gateway = _gateway(first, settings, folder)
        bound = await gateway.start()
    except PolicyErrors as error:
        say("failed", text="\n".join(str(problem) for problem in error.problems))
        return FAILED
    except (DeployError, KeysError) as error:
        say("failed", text=str(error))
        return FAILED
    except OSError as error:
        say("failed", text=f"It cannot listen on {order.host}:{port}: {error.strerror or error}.")
        return FAILED
    (folder / "port").write_text(str(bound))
    say("listening", host=order.host, port=bound, policy=gateway.deployment.policy.revision)
    await run_until_told(gateway, lambda words: say("ending", text=words))
    say("ended")
    return 0


def _gateway(order: Order, settings: GatewaySettings, folder: Path) -> Gateway:
    policy = load_policy(order.policy)
    return Gateway(policy, settings, resolve=from_table(order.places), policy_path=folder / "policy.yaml")


def update(order: Order, port: int) -> int:
    """Give a running gateway another policy, and keys where the order has some."""
    folder = folder_of(port)
    if not runs_on(port):
        say("failed", text=f"No gateway runs on port {port} of this node.")
        return FAILED
    try:
        policy = load_policy(order.policy)
        write_files(folder, order)
    except PolicyErrors as error:
        say("failed", text="\n".join(str(problem) for problem in error.problems))
        return FAILED
    except OSError as error:
        say("failed", text=f"The policy cannot be written: {error.strerror or error}.")
        return FAILED
    say("updated", policy=policy.revision)
    return 0


def main(argv: list[str]) -> int:
    verb, port = argv[0], int(argv[1])
    order = Order(**json.load(sys.stdin))
    if verb == "update":
        return update(order, port)
    return serve(order, port)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
