"""`stellwerk serve --node NAME`: the gateway on a machine of the cluster."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from stellwerk.cli.common import DONE, ERROR, FINDINGS, command, err, out, plain, show_error
from stellwerk.hosting import gateway as hosting
from stellwerk.hosting.gateway import GatewayJob, Link
from stellwerk.model.errors import BadInput, StellwerkError
from stellwerk.serving.gateway.keys import KeysError, load_keys
from stellwerk.serving.gateway.on_node import Order
from stellwerk.serving.gateway.tls_files import TlsError, TlsFiles
from stellwerk.serving.policy.errors import PolicyErrors
from stellwerk.serving.policy.load import load_policy
from stellwerk.setup.session import ClusterSession
from stellwerk.setup.store import ClusterStore

DEFAULT_PORT = 8080


@command
async def on_node(
    cluster_name: str | None,
    node: str,
    action: str,
    policy_path: Path | None,
    host: str,
    port: int | None,
    keys: Path | None,
    places: dict[str, str],
    *,
    tls_cert: str | None,
    tls_key: str | None,
    drain: float,
) -> int:
    """Start, show, reload or stop; `port` None: 8080, or the one that runs."""
    folder = ClusterStore().find(cluster_name)
    order = None if policy_path is None else _order(policy_path, host, keys, places, drain)
    if order is not None and tls_cert is not None:
        order = _with_certificate(order, tls_cert, tls_key or tls_cert)
    async with ClusterSession.open(folder) as session:
        link = session.links.get(node)
        if link is None:
            raise BadInput(f"there is no node {node} in this cluster", remedy=f"Its nodes: {', '.join(session.links)}")
        await link.connect()
        if order is not None:
            order = _with_places(order, session, node)
        if action == "show":
            return await _show(link, port, link.target.host)
        if action == "stop":
            await hosting.stop(link, await _the_one(link, port), drain)
            out.print(f"Ended on {plain(node)}.")
            return DONE
        assert order is not None
        if action == "reload":
            there = await _the_one(link, port)
            revision = await hosting.update(link, there, order)
            out.print(f"{plain(node)} goes by policy {plain(revision)} now. Running answers finish on the old one.")
            return DONE
        job = await hosting.start(link, order, DEFAULT_PORT if port is None else port)
        _say_where(job, link.target.host)
        return DONE


def _order(path: Path, host: str, keys: Path | None, places: dict[str, str], drain: float) -> Order:
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is not UTF-8 text") from error
    try:
        policy = load_policy(text)  # problems are said here, with places in the person's own file
    except PolicyErrors as errors:
        for problem in errors.problems:
            err.print(f"{plain(path)}: {plain(problem)}")
        sys.exit(FINDINGS)
    return Order(
        policy=text,
        host=host,
        keys=_keys_text(keys) if keys is not None else None,
        places=places,
        secrets=hosting.secrets_of(policy),
        drain_s=drain,
    )


def _keys_text(path: Path) -> str:
    try:
        load_keys(path)  # said here, where the file can be mended
    except KeysError as error:
        raise BadInput(str(error)) from error
    return path.read_text(encoding="utf-8")


def _with_certificate(order: Order, cert: str, key: str) -> Order:
    try:
        TlsFiles(cert, key)
    except TlsError as error:
        raise BadInput(str(error)) from error
    texts = [Path(path).read_text("utf-8", "replace") for path in (cert, key)]  # what is no ASCII there is a remark
    return replace(order, tls_cert=texts[0], tls_key=texts[1])


def _with_places(order: Order, session: ClusterSession, node: str) -> Order:
    """Where the gateway finds the other machines: as this computer reaches them, unless it was told otherwise."""
    known = {name: link.target.host for name, link in session.links.items()}
    return replace(order, places={**known, node: "127.0.0.1", **order.places})


async def _the_one(link: Link, port: int | None) -> GatewayJob:
    found = [job for job in await hosting.running(link) if port is None or job.port == port]
    if len(found) == 1:
        return found[0]
    if not found:
        where = f" on port {port}" if port is not None else ""
        raise BadInput(f"no gateway runs there{where}", node=link.name)
    ports = ", ".join(str(job.port) for job in found)
    raise BadInput("several gateways run there", node=link.name, remedy=f"Say which one: --port {ports}")


async def _show(link: Link, port: int | None, address: str) -> int:
    found = [job for job in await hosting.running(link) if port is None or job.port == port]
    if not found:
        out.print(f"No gateway runs on {plain(link.name)}.")
        return ERROR
    for job in found:
        _say_where(job, address)
        if job.started_at is not None:
            out.print(f"  since {datetime.fromtimestamp(job.started_at, UTC):%Y-%m-%d %H:%M:%S} UTC")
        try:
            for line in await hosting.last_words(link, job):
                out.print(f"  {plain(line)}")
        except StellwerkError as error:
            show_error(error)
    return DONE


def _say_where(job: GatewayJob, address: str) -> None:
    """`address`: how this computer reaches the node, for a gateway that listens on all of its addresses."""
    everywhere = job.host in ("0.0.0.0", "::")
    shown = replace(job, host=address) if everywhere else job
    out.print(f"Gateway on {plain(job.node)}: {plain(shown.url)}")
    if everywhere:
        out.print(f"  It answers to addresses of {plain(job.node)}; names need `gateway: {{allowed_hosts: \\[…]}}`.")
    elif job.local:
        out.print(f"  Only programs on {plain(job.node)} reach it. --host gives it an address that others can reach.")
