"""Which of a client's header lines an engine gets to see."""

from __future__ import annotations

from stellwerk.serving.gateway.http.message import Headers

# Of one connection, written anew, secret to the gateway, or harmful on the way: a compressed answer cannot be judged.
_KEPT_BACK = frozenset(
    {
        b"accept-encoding",
        b"authorization",
        b"connection",
        b"content-length",
        b"cookie",
        b"expect",
        b"host",
        b"http2-settings",
        b"keep-alive",
        b"origin",
        b"proxy-authorization",
        b"proxy-connection",
        b"referer",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
        b"x-api-key",
        b"x-stellwerk-pool",
    }
)


def lines_for_engine(headers: Headers) -> bytes:
    """Header lines, each with its line end, in the client's order."""
    return b"".join([b"%b: %b\r\n" % (name, value) for name, value in headers if name not in _KEPT_BACK])
