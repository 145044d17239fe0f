"""Who may come in: Host, Origin and API key, judged once per head and remembered with it."""

from __future__ import annotations

import re
from typing import cast

from stellwerk.serving.gateway.http.message import Head, HttpError
from stellwerk.serving.gateway.keys import Caller, KeyRing
from stellwerk.serving.policy.model import GatewayOptions

OPEN_PATH = b"/health"  # the only one that no key covers
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
_AUTHORITY = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?")
_CORS_LINES = (
    b"access-control-allow-origin: %b\r\nvary: origin\r\n"
    b"access-control-expose-headers: x-stellwerk-pool, x-stellwerk-path, retry-after\r\n"
)
_FIELD_LIST = re.compile(rb"[A-Za-z0-9-]+(?:[ \t]*,[ \t]*[A-Za-z0-9-]+)*")


class Verdict:
    """What was found about a head. `unverified`: a key that must be hashed before anything else happens."""

    __slots__ = ("caller", "cors", "refusal", "unverified")

    def __init__(self) -> None:
        self.refusal: HttpError | None = None
        self.caller: Caller | None = None
        self.unverified: bytes | None = None
        self.cors = b""


class Admission:
    """The rules of one policy version with the keys as they are now."""

    def __init__(self, options: GatewayOptions, keys: KeyRing) -> None:
        self._keys = keys
        self._hosts = _LOOPBACK | {_as_sent(host) for host in options.allowed_hosts}
        self._origins = frozenset(_as_sent(origin).rstrip("/").encode() for origin in options.allowed_origins)
        self._required = options.require_keys
        self._epoch = object()  # what was remembered under another one is void

    def judge(self, head: Head, local_host: str) -> Verdict:
        """`local_host`: the address at which the connection arrived; a Host that names it is no rebinding."""
        judged = head.judged
        if judged is not None and judged[0] is self._epoch and judged[1] == local_host:
            return cast("Verdict", judged[2])
        verdict = self._judge(head, local_host)
        if verdict.unverified is None:
            head.judged = (self._epoch, local_host, verdict)
        return verdict

    def keys_changed(self) -> None:
        """What was found under the old keys no longer holds."""
        self._epoch = object()

    def _judge(self, head: Head, local_host: str) -> Verdict:
        verdict = Verdict()
        fields = head.fields
        if not self._host_is_known(fields.get(b"host"), local_host):
            verdict.refusal = HttpError(
                421, "unknown_host", "This gateway does not answer to that Host. Allow it with `allowed_hosts`."
            )
            return verdict
        origin = fields.get(b"origin")
        if origin is not None:
            if origin.lower() not in self._origins:
                verdict.refusal = HttpError(
                    403, "origin_refused", "Requests from web pages are refused. Allow the page with `allowed_origins`."
                )
                return verdict
            verdict.cors = _CORS_LINES % origin
        if head.method == b"OPTIONS" and origin is not None:
            return verdict  # a browser's preflight carries no key
        self._judge_key(head, verdict)
        return verdict

    def _host_is_known(self, host: bytes | None, local_host: str) -> bool:
        if host is None:
            return True  # HTTP/1.0 without Host: no browser
        found = _AUTHORITY.fullmatch(host.decode("latin-1"))
        if found is None:
            return False
        name = found[1].lower()
        return name in self._hosts or name == local_host or found[0].lower() in self._hosts

    def _judge_key(self, head: Head, verdict: Verdict) -> None:
        key = shown_key(head)
        if key is not None:
            found = self._keys.recognise(key)
            if found is True:
                verdict.unverified = key
                return
            verdict.caller = found if isinstance(found, Caller) else None
        if self._required and verdict.caller is None and head.path != OPEN_PATH:
            verdict.refusal = unauthorised()

    @property
    def keys_required(self) -> bool:
        return self._required


def _as_sent(text: str) -> str:
    """A host or an origin as clients write it: in lower case, international names in ASCII (IDNA)."""

    def ascii_name(found: re.Match[str]) -> str:
        try:
            return found[0].encode("idna").decode()
        except UnicodeError:
            return found[0]  # no name of a host: nobody will send it

    return re.sub(r"[^\s/:@\[\]]*[^\x00-\x7f][^\s/:@\[\]]*", ascii_name, text.lower())


def preflight_lines(head: Head) -> bytes:
    """What an allowed page may send: any header that it asks for. The clients of OpenAI and Anthropic have many."""
    asked = head.fields.get(b"access-control-request-headers", b"")
    if not _FIELD_LIST.fullmatch(asked):
        asked = b"authorization, content-type"
    return (
        b"access-control-allow-methods: GET, POST, OPTIONS\r\naccess-control-allow-headers: %b\r\n"
        b"access-control-max-age: 600\r\n" % asked
    )


def unauthorised() -> HttpError:
    """No key, or a wrong one."""
    return HttpError(
        401, "invalid_api_key", "A valid API key is needed. Make one with `stellwerk key create NAME`.", close=False
    )


def shown_key(head: Head) -> bytes | None:
    """The key in `Authorization: Bearer …` or `x-api-key`."""
    value = head.fields.get(b"authorization")
    if value is not None and value[:7].lower() == b"bearer ":
        return value[7:].strip()
    return head.fields.get(b"x-api-key")
