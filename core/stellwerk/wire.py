"""The messages between desktop and agent: JSON-RPC 2.0, one object a line, UTF-8. Standard library only.

Requests carry an integer `id`. While a request runs, its agent may send notifications `progress` with
`{"id": <request id>, "data": …}`; the desktop may send a notification `cancel` with `{"id": <request id>}`.
Subscriptions send notifications with their own method name (`sample`). Any request may hold `deadline_s` among its
parameters: the agent ends the call then and answers with a `deadline` error.

Methods (parameters -> result; results are the dataclasses of `stellwerk.model`, in wire form):

    hello            {protocol, desktop}                                  -> Hello
    facts            {}                                                   -> NodeFacts
    hear             {seconds, netdevs|null, token, bring_up}             -> HearReport      (progress: HearReport)
    sample.latest    {}                                                   -> Sample
    sample.history   {after_sequence}                                     -> {samples: [Sample]}  (an hour at most)
    sample.subscribe {rate_hz}                                            -> {rate_hz}        (notifications: sample)
    sample.unsubscribe {}                                                 -> {}
    verify.ping      {destination, netdev|null, payload_bytes, count, dont_fragment, timeout_s} -> PingResult
    verify.route     {destination}                                        -> RouteAnswer
    verify.neighbours {}                                                  -> {neighbours: [Neighbour]}
    verify.rdma_server {tool, device, port, gid_index|null, seconds}      -> {job_id}
    verify.rdma_client {tool, device, server, port, gid_index|null, seconds} -> RdmaPerf
    sudo.state       {}                                                   -> Sudo
    sudo.unlock      {password}                                           -> Sudo
    sudo.forget      {}                                                   -> {}
    net.guard.start  {plan: NodePlan, plan_id, lease_s, hard_limit_s}     -> GuardStatus     (progress: GuardStatus)
    net.guard.status {}                                                   -> GuardStatus
    net.guard.renew  {plan_id}                                            -> GuardStatus
    net.guard.confirm {plan_id}                                           -> GuardStatus
    net.guard.revert {plan_id, why}                                       -> GuardStatus
    net.guard.undo   {plan_id}                                            -> GuardStatus  (take back a confirmed plan)
    mesh.key         {}                                                   -> {public_key, host_keys: [str]}
    mesh.install     {peers: [{alias, address, port, user, public_key, host_keys}]} -> {changed: [path], notes: [str]}
    mesh.verify      {aliases}                                            -> {results: {alias: error|null}}
    mesh.remove      {}                                                   -> {removed: [path]}
    address.map      {addresses: [str]}                                   -> {addresses: {fabric: dial}}
    job.start        {name, argv, env, cwd|null, lifetime_s|null, stdin|null} -> JobStatus
    job.stop         {job_id, grace_s}                                    -> JobStatus
    job.status       {job_id}                                             -> JobStatus
    job.list         {}                                                   -> {jobs: [JobStatus]}
    job.log          {job_id, offset, limit}                              -> {offset, text, end, size}
    files.list       {path}                                               -> {entries: [{name, directory, size, mtime}]}
    files.read       {path, offset, limit}                                -> {data (base64), end, size}
    files.write      {path, data (base64), offset|null, executable}       -> {size}  (null: the whole file at once)
    files.remove     {path}                                               -> {}
    files.* are restricted to the agent's own directory
    lock.take        {desktop, force}                                     -> {holder}
    lock.release     {desktop}                                            -> {}
    uninstall        {}                                                   -> {removed: [path], left: [{path, why}]}
    bye              {}                                                   -> {}
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import json
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, Union

from stellwerk.model.errors import ERRORS_BY_CODE, StellwerkError
from stellwerk.model.text import from_form, say, to_form

PROTOCOL = 1
MAX_LINE_BYTES = 16 * 1024 * 1024

# JSON-RPC 2.0 error codes; ours begin at -32000.
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
APPLICATION_ERROR = -32000

_SAY = "_say"

T = TypeVar("T")


class WireError(ValueError):
    """A message or a value that does not have the agreed form."""


def to_wire(value: Any, *, texts: bool = False) -> Any:
    """Turn dataclasses, enums, tuples and dicts into what JSON can carry.

    With `texts`, a dataclass that holds a `Text` gets a key `_say` more, which tells `from_wire` how it was made. The
    plain English stands in its place all the same: whoever does not know the key loses only the translation.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        held = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        body = {name: to_wire(item, texts=texts) for name, item in held.items()}
        forms = {name: form for name, item in held.items() if (form := to_form(item)) is not None} if texts else {}
        return {**body, _SAY: forms} if forms else body
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): to_wire(item, texts=texts) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [to_wire(item, texts=texts) for item in value]
    return value


def from_wire(cls: type[T], data: Any) -> T:
    """Build a `cls` out of wire form.

    Unknown keys are ignored (a newer agent may say more); a missing key takes the field's default.
    Raises `WireError` that names the path of what does not fit.
    """
    return typing.cast(T, _build(cls, data, cls.__name__))


@functools.cache
def _hints(cls: type) -> dict[str, Any]:
    return typing.get_type_hints(cls)


Builder = Callable[[Any, str], Any]


def _build(kind: Any, data: Any, path: str) -> Any:
    return _builder(kind)(data, path)


@functools.cache
def _builder(kind: Any) -> Builder:
    """What builds a `kind`, worked out once: a desktop reads eighty samples a second, each with some hundred values."""
    origin = typing.get_origin(kind)
    args = typing.get_args(kind)
    if kind is Any or kind is object:
        return lambda data, path: data
    if origin in (Union, types.UnionType):
        return _union_builder(args)
    if origin in (tuple, list):
        return _sequence_builder(origin, args)
    if origin is dict:
        return _dict_builder(args)
    if dataclasses.is_dataclass(kind):
        return _dataclass_builder(typing.cast(type, kind))
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return _enum_builder(kind)
    return _scalar_builder(kind)


def _enum_builder(kind: type[enum.Enum]) -> Builder:
    def build(data: Any, path: str) -> Any:
        try:
            return kind(data)
        except ValueError:
            raise WireError(f"{path}: {data!r} is not a {kind.__name__}") from None

    return build


def _scalar_builder(kind: Any) -> Builder:
    def build(data: Any, path: str) -> Any:
        if type(data) is kind:
            return data
        if kind is float and isinstance(data, int) and not isinstance(data, bool):
            return float(data)
        if kind is type(None):
            if data is None:
                return None
        elif isinstance(data, kind) and not (kind is int and isinstance(data, bool)):
            return data
        raise WireError(f"{path}: expected {getattr(kind, '__name__', kind)}, got {type(data).__name__}")

    return build


def _union_builder(members: tuple[Any, ...]) -> Builder:
    optional = type(None) in members
    candidates = [member for member in members if member is not type(None)]
    if len(candidates) == 1:
        only = _builder(candidates[0])
        return lambda data, path: None if data is None and optional else only(data, path)
    builders = [_builder(member) for member in candidates]
    pairs = list(zip(candidates, builders, strict=True))
    tagged = {_tag(member): builder for member, builder in pairs if dataclasses.is_dataclass(member)}

    def build(data: Any, path: str) -> Any:
        if data is None and optional:
            return None
        if len(tagged) > 1 and isinstance(data, dict):
            kind = data.get("kind")
            chosen = tagged.get(kind) if kind is None or isinstance(kind, str) else None
            if chosen is None:
                raise WireError(f"{path}: unknown kind {kind!r}")
            return chosen(data, path)
        problems: list[str] = []
        for builder in builders:
            try:
                return builder(data, path)
            except WireError as error:
                problems.append(str(error))
        raise WireError("; ".join(problems))

    return build


def _tag(cls: Any) -> Any:
    """The `kind` that tells dataclasses of one union apart: the default of that field."""
    return next((field.default for field in dataclasses.fields(cls) if field.name == "kind"), None)


def _sequence_builder(origin: Any, args: tuple[Any, ...]) -> Builder:
    alike = origin is list or (len(args) == 2 and args[1] is Ellipsis)
    builders = [_builder(args[0])] if alike else [_builder(kind) for kind in args]

    def build(data: Any, path: str) -> Any:
        if not isinstance(data, (list, tuple)):
            raise WireError(f"{path}: expected a list, got {type(data).__name__}")
        if alike:
            item = builders[0]
            return origin([item(value, f"{path}[{i}]") for i, value in enumerate(data)])
        if len(builders) != len(data):
            raise WireError(f"{path}: expected {len(builders)} items, got {len(data)}")
        return tuple([builders[i](value, f"{path}[{i}]") for i, value in enumerate(data)])

    return build


def _dict_builder(args: tuple[Any, ...]) -> Builder:
    key, item = _builder(args[0]), _builder(args[1])

    def build(data: Any, path: str) -> Any:
        if not isinstance(data, dict):
            raise WireError(f"{path}: expected an object, got {type(data).__name__}")
        return {key(k, path): item(v, f"{path}.{k}") for k, v in data.items()}

    return build


def _dataclass_builder(cls: type) -> Builder:
    plans: list[tuple[str, Builder, bool]] = []

    def prepare() -> None:
        """At the first use: a class may hold itself."""
        hints = _hints(cls)
        made: list[tuple[str, Builder, bool]] = []
        for field in dataclasses.fields(cls):
            needed = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
            made.append((field.name, _builder(hints[field.name]), needed))
        plans[:] = made  # in one step: another thread may read it now

    def build(data: Any, path: str) -> Any:
        if not isinstance(data, dict):
            raise WireError(f"{path}: expected an object, got {type(data).__name__}")
        if not plans:
            prepare()
        values: dict[str, Any] = {}
        for name, builder, needed in plans:
            if name in data:
                values[name] = builder(data[name], f"{path}.{name}")
            elif needed:
                raise WireError(f"{path}: {name!r} is missing")
        if isinstance(forms := data.get(_SAY), dict):
            values = {name: from_form(value, forms.get(name)) for name, value in values.items()}
        return cls(**values)

    return build


def encode(message: Mapping[str, Any]) -> bytes:
    """One line, newline included. Raises `WireError` when it is too long."""
    line = json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogateescape") + b"\n"
    if len(line) > MAX_LINE_BYTES:
        raise WireError(f"message of {len(line)} bytes; the limit is {MAX_LINE_BYTES}")
    return line


def decode(line: bytes) -> dict[str, Any]:
    """Parse one line. Raises `WireError`, never another exception."""
    if len(line) > MAX_LINE_BYTES:
        raise WireError(f"message of {len(line)} bytes; the limit is {MAX_LINE_BYTES}")
    try:
        message = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise WireError(f"not JSON: {error}") from None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise WireError("not a JSON-RPC 2.0 object")
    return message


def request(request_id: int, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """A call that expects an answer."""
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": dict(params)}


def notification(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """A message without answer."""
    return {"jsonrpc": "2.0", "method": method, "params": dict(params)}


def result(request_id: int, value: Any) -> dict[str, Any]:
    """The good answer; `value` may hold dataclasses."""
    return {"jsonrpc": "2.0", "id": request_id, "result": to_wire(value, texts=True)}


def failure(request_id: int | None, code: int, message: str, data: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The bad answer."""
    body: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        body["data"] = dict(data)
    return {"jsonrpc": "2.0", "id": request_id, "error": body}


def error_to_wire(request_id: int, error: StellwerkError) -> dict[str, Any]:
    """An error for people, with its parts kept apart so that the desktop can show them well."""
    parts: dict[str, Any] = {
        "code": error.code,
        "what": error.what,
        "node": error.node,
        "why": error.why,
        "remedy": error.remedy,
    }
    forms = {name: form for name, part in parts.items() if (form := to_form(part)) is not None}
    if forms:
        parts[_SAY] = forms
    return failure(request_id, APPLICATION_ERROR, str(error), parts)


def error_from_wire(body: Mapping[str, Any]) -> StellwerkError:
    """The exception that `error_to_wire` described; any other failure becomes a plain `StellwerkError`."""
    data = body.get("data")
    if isinstance(data, Mapping) and isinstance(data.get("what"), str):
        cls = ERRORS_BY_CODE.get(str(data.get("code")), StellwerkError)
        node, forms = data.get("node"), data.get(_SAY)
        given = {name: str(data.get(name) or "") for name in ("what", "why", "remedy")}
        if isinstance(forms, Mapping):
            given = {name: from_form(part, forms.get(name)) for name, part in given.items()}
        return cls(
            given["what"],
            node=node if isinstance(node, str) else None,
            why=given["why"],
            remedy=given["remedy"],
        )
    return StellwerkError(say("the agent answered: {said}", said=body.get("message", "unknown error")))
