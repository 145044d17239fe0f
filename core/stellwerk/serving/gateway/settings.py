"""What is decided when a gateway starts and not by the policy."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class GatewaySettings:
    """Address, TLS files, and what is fixed for the life of the process.

    `log_path`: one JSON line per request is appended there; "-" is standard error, None writes none.
    `keys_path`: the file of API keys. `admin` allows reload and roll back over HTTP.
    `tick_s`: how finely deadlines are kept.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    tls_cert: str | None = None
    tls_key: str | None = None
    tls_password: str | None = field(default=None, repr=False)  # of a key that is encrypted
    log_path: str | None = "-"
    keys_path: str | None = None
    watch_policy: bool = True
    admin: bool = True
    tick_s: float = 0.25
    drain_s: float = 30.0
    pure_python: bool = False
    descriptors: int | None = None  # files and sockets that the process may have open; None: enough
