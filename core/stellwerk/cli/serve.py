"""`stellwerk serve`, `stellwerk engine` and `stellwerk key`: the gateway, simulated engines, and API keys."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click
from platformdirs import user_config_path

if TYPE_CHECKING:
    from stellwerk.serving.gateway.app import Gateway
    from stellwerk.serving.gateway.settings import GatewaySettings


def default_keys_path() -> Path:
    """Where API keys lie unless told otherwise."""
    return user_config_path("stellwerk") / "keys" / "api-keys.json"


def _run(main: Callable[[], Coroutine[Any, Any, None]], *, plain: bool) -> None:
    """Run on uvloop where it is installed."""
    if not plain:
        try:
            import uvloop
        except ImportError:
            pass
        else:
            uvloop.run(main())
            return
    asyncio.run(main())


def _fail(message: str) -> NoReturn:
    click.echo(message, err=True)
    sys.exit(2)


_PLACE = re.compile(r"[A-Za-z0-9._-]+(:[0-9]{1,5})?|[0-9A-Fa-f:.%]+|\[[0-9A-Fa-f:.%]+\](:[0-9]{1,5})?")
_MOST_BYTES = 4 << 20  # of a policy
_pem = click.Path(exists=True, dir_okay=False, readable=True)


@click.command()
@click.option("--policy", "policy_path", type=click.Path(path_type=Path), help="The policy file (YAML).")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on; 0 takes a free one.  [default: 8080]")
@click.option(
    "--node",
    "nodes",
    multiple=True,
    metavar="NAME[=HOST[:PORT]]",
    help="NAME=HOST: where a node of the policy is. NAME alone: run the gateway on that node of the cluster.",
)
@click.option("--keys", type=click.Path(path_type=Path), default=None, help="File of API keys.")
@click.option(
    "--tls-cert",
    type=_pem,
    default=None,
    help="Certificate chain (PEM) for HTTPS.",
)
@click.option(
    "--tls-key",
    type=_pem,
    default=None,
    help="Its private key (PEM).",
)
@click.option("--log", "log_path", default="-", show_default=True, help='Request log; "-" is stderr, "none" none.')
@click.option(
    "--drain",
    type=click.FloatRange(min=0),
    default=30.0,
    show_default=True,
    help="Seconds that running answers get at the end.",
)
@click.option("--watch/--no-watch", default=True, show_default=True, help="Reload when the policy file changes.")
@click.option("--admin/--no-admin", default=True, show_default=True, help="Reload, roll back and drain over HTTP.")
@click.option("--plain", is_flag=True, help="Without uvloop and httptools, even where they are installed.")
@click.option("--show", "action", flag_value="show", help="With --node NAME: what runs there.")
@click.option("--stop", "action", flag_value="stop", help="With --node NAME: end the gateway there.")
@click.option("--reload", "action", flag_value="reload", help="With --node NAME: give it another policy.")
@click.option("--cluster", "cluster_name", metavar="NAME", help="With --node NAME: of which cluster, if of several.")
def serve(
    policy_path: Path | None,
    host: str,
    port: int | None,
    nodes: tuple[str, ...],
    keys: Path | None,
    tls_cert: str | None,
    tls_key: str | None,
    log_path: str,
    drain: float,
    watch: bool,
    admin: bool,
    plain: bool,
    action: str | None,
    cluster_name: str | None,
) -> None:
    """Run the gateway: one OpenAI-compatible endpoint in front of the pools of a policy.

    SIGHUP reads the policy again, SIGTERM lets running answers finish. With --node NAME the gateway runs on a node
    of the cluster, under its agent, and goes on when this computer is away.
    """
    from stellwerk.serving.gateway.running import raise_descriptor_limit
    from stellwerk.serving.gateway.settings import GatewaySettings

    there = [entry for entry in nodes if "=" not in entry]
    places = _node_table(tuple(entry for entry in nodes if "=" in entry))
    if policy_path is None and action not in ("show", "stop"):
        raise click.UsageError("Missing option '--policy'.")
    keys_path = keys if keys is not None else default_keys_path()
    wanted_keys = keys_path if keys is not None or keys_path.exists() else None
    if tls_key is not None and tls_cert is None:
        raise click.UsageError("--tls-key needs --tls-cert: without a certificate this would be plain HTTP.")
    if keys is not None and not keys.exists():
        raise click.UsageError(f"There is no key file {keys}. Make one with `stellwerk key create NAME --keys {keys}`.")
    if there or action is not None:
        from stellwerk.cli.serve_node import on_node

        if len(there) != 1:
            raise click.UsageError("Name one node of the cluster with --node NAME.")
        on_node(
            cluster_name, there[0], action or "start", policy_path, host, port, wanted_keys, places,
            tls_cert=tls_cert, tls_key=tls_key, drain=drain,
        )  # fmt: skip
        return
    assert policy_path is not None
    settings = GatewaySettings(
        host=host,
        port=8080 if port is None else port,
        tls_cert=tls_cert,
        tls_key=tls_key,
        tls_password=_password(tls_key or tls_cert),
        log_path=None if log_path == "none" else log_path,
        keys_path=str(keys_path),  # where there is none yet, `key create` may make one while this runs
        watch_policy=watch,
        admin=admin,
        drain_s=drain,
        pure_python=plain,
        descriptors=raise_descriptor_limit(),
    )
    path = policy_path
    _run(lambda: _serve(path, settings, places), plain=plain)


def _password(key: str | None) -> str | None:
    """The passphrase of an encrypted private key, where somebody is there to type it."""
    if key is None or not sys.stdin.isatty() or b"ENCRYPTED" not in Path(key).read_bytes():
        return None
    return str(click.prompt(f"Passphrase of {key}", hide_input=True, err=True))


def _node_table(nodes: tuple[str, ...]) -> dict[str, str]:
    table: dict[str, str] = {}
    for entry in nodes:
        name, equals, place = entry.partition("=")
        if not equals or not name or not _PLACE.fullmatch(place):
            raise click.BadParameter(f"{entry!r} is not NAME=HOST or NAME=HOST:PORT.", param_hint="--node")
        table[name] = place
    return table


def _make_gateway(policy_path: Path, settings: GatewaySettings, nodes: dict[str, str]) -> Gateway:
    from stellwerk.serving.gateway.address import from_table
    from stellwerk.serving.gateway.app import Gateway
    from stellwerk.serving.policy.load import load_policy

    try:
        with policy_path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            _fail(f"{policy_path} is larger than {_MOST_BYTES >> 20} MB. Name another file.")
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        _fail(f"{policy_path} is not UTF-8 text.")
    except OSError as error:
        _fail(f"The policy {policy_path} cannot be read: {error.strerror}.")
    policy = load_policy(text)
    return Gateway(policy, settings, resolve=from_table(nodes), policy_path=policy_path)


async def _serve(policy_path: Path, settings: GatewaySettings, nodes: dict[str, str]) -> None:
    from stellwerk.serving.gateway.deployment import DeployError
    from stellwerk.serving.gateway.keys import KeysError
    from stellwerk.serving.gateway.log_sink import tell
    from stellwerk.serving.gateway.running import run_until_told
    from stellwerk.serving.gateway.tls_files import TlsError
    from stellwerk.serving.policy.errors import PolicyErrors
    from stellwerk.serving.policy.reader import nearest

    try:
        gateway = _make_gateway(policy_path, settings, nodes)
        port = await gateway.start()
    except PolicyErrors as error:
        _fail("\n".join(f"{policy_path}: {problem}" for problem in error.problems))
    except (DeployError, KeysError, TlsError) as error:
        _fail(str(error))
    except OSError as error:
        if error.filename is not None:
            _fail(f"The request log {error.filename} cannot be written: {error.strerror}.")
        _fail(f"The gateway cannot listen on {_in_url(settings.host)}:{settings.port}: {_why_not(error)}")
    else:
        scheme = "https" if settings.tls_cert else "http"
        click.echo(f"Gateway on {scheme}://{_in_url(settings.host)}:{port}/v1, policy {policy_path}", err=True)
        if settings.host not in ("127.0.0.1", "::1", "localhost"):
            click.echo(
                f"Other machines can reach it: it listens on {settings.host}. It answers to its addresses; names need "
                "`gateway: {allowed_hosts: […]}` in the policy.",
                err=True,
            )
        if (
            settings.keys_path
            and Path(settings.keys_path).exists()
            and not gateway.deployment.policy.policy.gateway.require_keys
        ):
            click.echo(
                f"Nobody needs a key: the policy does not say `gateway: {{require_keys: true}}`. Those in "
                f"{settings.keys_path} only name who asks.",
                err=True,
            )
        replicas = [replica for pool in gateway.deployment.policy.policy.pools.values() for replica in pool.replicas]
        used = sorted({replica.node for replica in replicas if replica.node is not None})
        # A typing error here shows nowhere else: names without a place are taken for host names.
        for name in sorted(nodes.keys() - set(used)):
            hint = f" {nearest(name, used)}" if used else ""
            click.echo(f"--node {name}=… is not used: no replica of the policy is on {name}.{hint}", err=True)
        await run_until_told(gateway, tell)


def _why_not(error: OSError) -> str:
    """Why an address cannot be listened on, and what to do. Event loops wrap the system's words in their own."""
    if error.errno == errno.EADDRINUSE:
        return "another program has this port. Choose another with --port, or end that program."
    if error.errno == errno.EACCES:
        return "ports below 1024 are root's. Choose another with --port."
    if error.errno == errno.EADDRNOTAVAIL:
        return "this computer has no such address. Name one of its own with --host, or 0.0.0.0 for all."
    return f"{os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror or error}."


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


# --- engines --------------------------------------------------------------------------------------------------------


_COUNT = click.IntRange(1)
_POSITIVE = click.FloatRange(0, min_open=True)
_NOT_NEGATIVE = click.FloatRange(0)


@click.group()
def engine() -> None:
    """Engines that need no GPU: for trying the gateway, and for tests."""


@engine.command()
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=8000, type=click.IntRange(0, 65535), show_default=True, help="0 takes a free one.")
@click.option("--model", default="simulated", show_default=True, help="The model name it answers to.")
@click.option("--ttft", default=0.05, type=_NOT_NEGATIVE, show_default=True, help="Seconds to the first token.")
@click.option("--rate", default=50.0, type=_POSITIVE, show_default=True, help="Tokens per second of one stream alone.")
@click.option("--batch", default=16, type=_COUNT, show_default=True, help="Streams at once; more wait.")
@click.option(
    "--batch-share",
    default=0.5,
    type=click.FloatRange(0, 1, min_open=True),
    show_default=True,
    help="Share of the rate at a full batch.",
)
@click.option("--queue", default=256, type=click.IntRange(0), show_default=True, help="Requests that may wait.")
@click.option("--context-window", default=32768, type=_COUNT, show_default=True, help="Tokens.")
@click.option("--seed", default=0, show_default=True)
def simulated(**options: Any) -> None:
    """An OpenAI-compatible engine with made-up words and real timing. Every answer says that it is simulated.

    A request with the header `x-simulated-fault: FAULT` fails so; `POST /simulated/faults` with
    `{"fault": FAULT, "count": N}` orders it for the next N requests, DELETE takes back what is still ordered. FAULT is
    stall, die, status:503, half, error_event, late_error, garbage or not_http.
    """
    _run(lambda: _simulated(options), plain=False)


async def _simulated(options: dict[str, Any]) -> None:
    from stellwerk.serving.engines.simulated.engine import SimulatedEngine
    from stellwerk.serving.engines.simulated.settings import SimulatedSettings
    from stellwerk.serving.gateway.running import until_told

    host, port = options.pop("host"), options.pop("port")
    settings = SimulatedSettings(ttft_s=options.pop("ttft"), **options)
    running = SimulatedEngine(settings)
    try:
        port = await running.start(host, port)
    except OSError as error:
        _fail(f"The engine cannot listen on {host}:{port}: {_why_not(error)}")
    click.echo(f"Simulated engine for {settings.model} on http://{_in_url(host)}:{port}/v1", err=True)
    await until_told()
    await running.stop()


@engine.command()
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=8000, type=click.IntRange(0, 65535), show_default=True, help="0 takes a free one.")
@click.option("--events", default=8, type=_COUNT, show_default=True, help="Content events of a streamed answer.")
@click.option(
    "--pace", default=0.0, type=_NOT_NEGATIVE, show_default=True, help="Seconds between events; 0 writes them at once."
)
def null(host: str, port: int, events: int, pace: float) -> None:
    """An engine that answers the same at once: for measuring what stands in front of it."""
    _run(lambda: _null(host, port, events, pace), plain=False)


async def _null(host: str, port: int, events: int, pace: float) -> None:
    from stellwerk.serving.engines.simulated.null import serve_null
    from stellwerk.serving.gateway.running import until_told

    try:
        server = await serve_null(host, port, events=events, pace_s=pace)
    except OSError as error:
        _fail(f"The engine cannot listen on {host}:{port}: {_why_not(error)}")
    click.echo(f"Null engine (simulated) on http://{_in_url(host)}:{server.sockets[0].getsockname()[1]}/v1", err=True)
    await until_told()
    server.close()


# --- keys -----------------------------------------------------------------------------------------------------------

_keys_file = click.option(
    "--keys", "path", type=click.Path(path_type=Path), default=None, help="File of API keys.", show_default=True
)


@click.group()
def key() -> None:
    """API keys of the gateway. A running gateway notices changes within seconds."""


@key.command()
@click.argument("name")
@click.option("--admin", is_flag=True, help="May also change the policy over HTTP.")
@_keys_file
def create(name: str, admin: bool, path: Path | None) -> None:
    """Make a key. It is shown once and stored as a hash."""
    from stellwerk.serving.gateway.keys import KeysError, create_key

    try:
        text = create_key(path or default_keys_path(), name, admin=admin)
    except (KeysError, OSError) as error:
        _fail(str(error))
    else:
        click.echo(text)
        click.echo("Keep it now: it cannot be shown again.", err=True)


@key.command("list")
@_keys_file
def list_keys(path: Path | None) -> None:
    """Show all keys, without their secrets."""
    from stellwerk.serving.gateway.keys import KeysError, load_keys

    try:
        keys = load_keys(path or default_keys_path())
    except KeysError as error:
        _fail(str(error))
    else:
        if not keys:
            click.echo(
                f"No keys in {path or default_keys_path()}. Make one with `stellwerk key create NAME`.", err=True
            )
        for entry in keys:
            state = f"revoked {entry.revoked}" if entry.revoked else "valid"
            click.echo(f"{entry.id}  {entry.name:<20} {'admin' if entry.admin else '     '}  {entry.created}  {state}")


@key.command()
@click.argument("name_or_id")
@_keys_file
def revoke(name_or_id: str, path: Path | None) -> None:
    """Make a key worthless."""
    from stellwerk.serving.gateway.keys import KeysError, revoke_key

    try:
        entry = revoke_key(path or default_keys_path(), name_or_id)
    except (KeysError, OSError) as error:
        _fail(str(error))
    else:
        click.echo(f"Revoked {entry.name} ({entry.id}).")
