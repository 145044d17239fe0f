"""Where a replica is reached: host, port, TLS, base path, and what every request to it carries."""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from stellwerk.serving.policy.model import Replica as ReplicaSpec

# (node, port) of the policy -> (host, port) to connect to. The identity by default; a desktop puts its SSH tunnels
# here, a virtual cluster its loopback addresses.
Resolver = Callable[[str, int], tuple[str, int]]


def direct(node: str, port: int) -> tuple[str, int]:
    """The node's name is a host name."""
    return node, port


def from_table(hosts: Mapping[str, str]) -> Resolver:
    """A resolver out of a table `node -> host` or `node -> host:port`; nodes that it lacks are host names."""

    def resolve(node: str, port: int) -> tuple[str, int]:
        host = hosts.get(f"{node}:{port}") or hosts.get(node, node)
        if host.startswith("["):
            host, _, rest = host[1:].partition("]")
            return host, int(rest[1:]) if rest else port
        if host.count(":") == 1:
            host, _, text = host.partition(":")
            return host, int(text)
        return host, port

    return resolve


class AddressError(ValueError):
    """A replica cannot be addressed; the text is for people."""


@dataclass(frozen=True, slots=True)
class Address:
    """`base` is the path under which the API lives ("/v1"). `lines` are header lines for every request."""

    host: str
    port: int
    tls: ssl.SSLContext | None
    server_name: str | None
    base: bytes
    lines: bytes


def address_of(spec: ReplicaSpec, resolve: Resolver, secrets: Mapping[str, str] = os.environ) -> Address:
    """`secrets`: keys of engines by the name in `key_env`.

    Raises AddressError: a missing key variable, or a URL that is none.
    """
    key = _key(spec, secrets)
    secret = b"authorization: Bearer %b\r\n" % key if key else b""
    if spec.url is None:
        assert spec.node is not None and spec.port is not None  # the policy's validation has seen to it
        host, port = resolve(spec.node, spec.port)
        return Address(host, port, None, None, b"/v1", b"host: %b\r\n" % _authority(host, port) + secret)
    parts = urlsplit(spec.url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise AddressError(f"{spec.url} is not a URL that begins with http:// or https://.")
    encrypted = parts.scheme == "https"
    name = parts.hostname if parts.hostname.isascii() else parts.hostname.encode("idna").decode()
    port = parts.port or (443 if encrypted else 80)
    host_line = b"host: %b\r\n" % (name.encode("ascii") if parts.port is None else _authority(name, port))
    tls = ssl.create_default_context() if encrypted else None
    base = parts.path.rstrip("/").encode("ascii", "strict")
    return Address(name, port, tls, name if encrypted else None, base, host_line + secret)


def _authority(host: str, port: int) -> bytes:
    name = f"[{host}]" if ":" in host else host
    return f"{name}:{port}".encode("ascii", "replace")


def _key(spec: ReplicaSpec, secrets: Mapping[str, str]) -> bytes:
    if spec.key_env is None:
        return b""
    value = secrets.get(spec.key_env, "")
    if not value:
        raise AddressError(
            f"The environment variable {spec.key_env} is empty, but the replica {spec.name} takes its key from it. "
            "Set it before the gateway starts."
        )
    if not value.isascii() or not value.isprintable() or " " in value:
        raise AddressError(f"The key in the environment variable {spec.key_env} holds characters that no key has.")
    return value.encode("ascii")
