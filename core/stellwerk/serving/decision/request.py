"""What decide() looks at: one request, read only as far as the policy asks.

The body is parsed as JSON at the first question that needs it, and never changed or written back: the gateway
passes the bytes on as they came.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from typing import Any, Generic, Literal, NamedTuple, TypeVar, overload

from stellwerk.serving.decision.language import detect_language

Role = Literal["system", "user", "assistant", "tool"]

# Headers in which agents and clients name their conversation, in the order in which they are believed.
SESSION_HEADERS = (
    "x-stellwerk-session",
    "x-session-id",
    "session_id",
    "x-claude-code-session-id",
    "x-codex-session-id",
    "x-conversation-id",
    "x-session-affinity",
)
# The estimate errs towards more tokens: a request that is turned away by an engine costs more than a larger pool.
BYTES_PER_TOKEN = 3.6
_TOKENS_PER_TURN = 4
_TOKENS_PER_IMAGE = 800
_PIECE = 65_536  # letters of a long text that are encoded at once
_LONG_OPENING = 1 << 20  # letters; what stands in the middle of a longer text does not tell conversations apart
_LARGE_BODY = 1 << 20  # bytes

T = TypeVar("T")


class lazy(Generic[T]):
    """Computed at the first access and kept in the instance. functools.cached_property takes a lock for each, which
    costs more than most of what is computed here; a view belongs to one request and so to one thread."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> lazy[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> lazy[T] | T:
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._compute(instance)
        return value


class Turn(NamedTuple):
    """One message. `asks_tool`: an assistant turn that calls tools."""

    role: Role
    text: str
    asks_tool: bool = False


def estimate_tokens(text: str) -> int:
    """Tokens of a text, from its UTF-8 length. Within some 25 % for prose and code in English and German."""
    length = len(text) if text.isascii() else sum(map(len, _encoded(text)))
    return int(length / BYTES_PER_TOKEN) + (length > 0)


def _encoded(text: str) -> Iterator[bytes]:
    """UTF-8 of a text, a piece at a time: a whole copy of a large prompt costs more than the encoding."""
    for start in range(0, len(text), _PIECE):
        yield text[start : start + _PIECE].encode("utf-8", "surrogatepass")


class RequestView:
    """One request as the policy sees it. Read-only; every property is computed once, when first asked.

    Args:
        model: the value of the top-level `model` key; the gateway has it from its scan of the body.
        body: the JSON body as bytes (parsed on demand; what does not parse counts as empty) or an object.
        headers: lower-case names. Values as text.
        api_key: the *name* of the key the caller showed (never the key itself); None without one.
        request_id: distinct for every request; draws of splits that are not sticky come from it.
    """

    def __init__(
        self,
        model: str,
        body: bytes | Mapping[str, object] = b"",
        *,
        headers: Mapping[str, str] | None = None,
        api_key: str | None = None,
        request_id: str = "",
    ) -> None:
        self.model = model
        self.headers: Mapping[str, str] = headers if headers is not None else {}
        self.api_key = api_key
        self.request_id = request_id
        self._body = body

    @lazy
    def data(self) -> Mapping[str, object]:
        """The parsed body; empty when it is not a JSON object."""
        if isinstance(self._body, Mapping):
            return self._body
        body = self._body
        try:
            value = self._undisturbed(lambda: json.loads(body)) if body else {}
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}

    def _undisturbed(self, work: Callable[[], T]) -> T:
        """Of millions of new values none is garbage: looking for it takes as long again as making them."""
        if len(self._body) <= _LARGE_BODY or not gc.isenabled():
            return work()
        gc.disable()
        try:
            return work()
        finally:
            gc.enable()

    @lazy
    def turns(self) -> tuple[Turn, ...]:
        """The conversation, oldest first, whatever the API: chat, completions, embeddings, responses, messages."""
        data = self.data
        return self._undisturbed(lambda: tuple(_turns(data)))

    @lazy
    def last_user(self) -> str:
        """Text of the newest user turn; empty without one."""
        return next((turn.text for turn in reversed(self.turns) if turn.role == "user"), "")

    @lazy
    def tools(self) -> bool:
        """Does the request offer tools (or the older functions) to the model?"""
        if self._lacks(b'"tools"') and self._lacks(b'"functions"'):
            return False
        return bool(self.data.get("tools") or self.data.get("functions"))

    def _lacks(self, key: bytes) -> bool:
        """Is this key certainly not in the body? An escaped letter could hide one, so any escape means looking."""
        body = self._body
        return isinstance(body, bytes) and key not in body and b"\\u" not in body

    @lazy
    def images(self) -> bool:
        """Is an image part of any message?"""
        if self._lacks(b"image"):
            return False
        return _count_images(self.data) > 0

    @lazy
    def json_mode(self) -> bool:
        """Is JSON or a JSON schema demanded as the form of the answer?"""
        wanted = self.data.get("response_format")
        text = self.data.get("text")
        if wanted is None and isinstance(text, dict):
            wanted = text.get("format")
        kind = wanted.get("type") if isinstance(wanted, dict) else None
        return kind in ("json_object", "json_schema") or bool(self.data.get("guided_json"))

    @lazy
    def stream(self) -> bool:
        return self.data.get("stream") is True

    @lazy
    def max_tokens(self) -> int | None:
        """The most tokens the caller wants back; None when it does not say."""
        for key in ("max_completion_tokens", "max_tokens", "max_output_tokens"):
            value = self.data.get(key)
            if isinstance(value, int) and not isinstance(value, bool):
                return value
        return None

    @lazy
    def prompt_tokens(self) -> int:
        """Estimated before dispatch: all turns, tool definitions and images."""
        tokens = sum(estimate_tokens(turn.text) + _TOKENS_PER_TURN for turn in self.turns)
        tools = self.data.get("tools") or self.data.get("functions")
        if tools:
            tokens += estimate_tokens(json.dumps(tools, ensure_ascii=False, default=str))
        return tokens + _TOKENS_PER_IMAGE * _count_images(self.data)

    def surely_below(self, tokens: float, *, with_answer: bool = False) -> bool:
        """Is the demand certainly less than so many tokens? Answered from the bytes alone; False means "parse to know".

        A body of n bytes holds fewer than 2n tokens, unless it has images or (`with_answer`) names a longest answer.
        """
        body = self._body
        if not isinstance(body, bytes) or 2 * len(body) >= tokens or b"image" in body:
            return False
        # An escaped name of the key would escape this look, so any escape means parsing.
        return not (with_answer and (b"max_" in body or b"\\u" in body))

    @lazy
    def user(self) -> str | None:
        """Who asks: `user`, else `metadata.user_id`, else the name of the API key."""
        value = self.data.get("user") or self.data.get("safety_identifier") or _metadata_user(self.data)
        return value if isinstance(value, str) and value else self.api_key

    @lazy
    def session_key(self) -> str | None:
        """What holds a conversation together: header, `metadata.user_id`, `user`, `prompt_cache_key`, else its start.

        The start is a hash over the system text and the first user turn; None when there is neither.
        """
        for name in SESSION_HEADERS:
            value = self.headers.get(name)
            if value:
                return value
        for named in (_metadata_user(self.data), self.data.get("user"), self.data.get("prompt_cache_key")):
            if isinstance(named, str) and named:
                return named
        return self._opening

    @lazy
    def _opening(self) -> str | None:
        digest = blake2b(digest_size=12)
        seen = False
        for role, text in _opening_texts(self.data):
            if len(text) > _LONG_OPENING:
                text = f"{text[:_PIECE]}\0{len(text)}\0{text[-_PIECE:]}"
            for piece in _encoded(text):
                digest.update(piece)
            digest.update(b"\0")
            seen = True
            if role == "user":
                break
        return digest.hexdigest() if seen else None

    @lazy
    def language(self) -> str:
        """ISO 639-1 code of the last user turn ("en", "de", "fr", "es", ...); "und" when it cannot be told."""
        return detect_language(self.last_user)

    def header(self, name: str) -> str | None:
        """A header by its lower-case name."""
        return self.headers.get(name)


def _metadata_user(data: Mapping[str, object]) -> object:
    metadata = data.get("metadata")
    return metadata.get("user_id") if isinstance(metadata, dict) else None


def _messages(data: Mapping[str, object]) -> object:
    """The conversation wherever the API puts it: chat and messages, responses and embeddings, completions."""
    for key in ("messages", "input", "prompt"):
        messages = data.get(key)
        if messages is not None:
            return messages
    return None


def _turns(data: Mapping[str, object]) -> Iterator[Turn]:
    for key in ("system", "instructions"):  # Messages and Responses APIs
        text = text_of(data.get(key))
        if text:
            yield Turn("system", text)
    messages = _messages(data)
    if isinstance(messages, str):
        yield Turn("user", messages)
    elif isinstance(messages, list | tuple):
        for message in messages:
            if isinstance(message, str):  # a batch of prompts or of texts to embed
                yield Turn("user", message)
            elif isinstance(message, dict):
                content = message.get("content")
                if isinstance(content, str) and message.keys() <= _PLAIN:
                    yield Turn(_role(message.get("role")), content)
                else:
                    yield from _message(message)


def _opening_texts(data: Mapping[str, object]) -> Iterator[tuple[Role, str]]:
    """System and user texts from the start on; what plain messages say is read without making turns of them."""
    messages = _messages(data)
    if "system" in data or "instructions" in data or not isinstance(messages, list):
        for turn in _turns(data):
            if turn.role in ("system", "user"):
                yield turn.role, turn.text
        return
    for message in messages:
        if isinstance(message, dict) and isinstance(content := message.get("content"), str):
            role = _role(message.get("role"))
            if role in ("system", "user"):
                yield role, content
        else:
            for turn in _turns({"messages": [message]}):
                if turn.role in ("system", "user"):
                    yield turn.role, turn.text


_PLAIN = {"role", "content", "name"}  # keys of a message that only says something
_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}


def _role(named: object) -> Role:
    return _ROLES.get(named, "user") if isinstance(named, str) else "user"  # a list cannot even be looked up


def _message(message: Mapping[str, object]) -> list[Turn]:
    kind = message.get("type")
    if kind in ("function_call", "custom_tool_call", "local_shell_call"):  # Responses API items
        return [Turn("assistant", text_of(message.get("arguments") or message.get("input")), asks_tool=True)]
    if kind in ("function_call_output", "custom_tool_call_output"):
        return [Turn("tool", text_of(message.get("output")))]
    role = _role(message.get("role"))
    content = message.get("content")
    if role == "user" and isinstance(content, list):
        # The Messages API sends tool results as parts of a user turn: they are the tool's words, not the user's.
        results = [part for part in content if isinstance(part, dict) and part.get("type") == "tool_result"]
        if results:
            rest = [part for part in content if part not in results]
            turns = [Turn("tool", text_of(part.get("content"))) for part in results]
            text = text_of(rest)
            return [*turns, Turn("user", text)] if text else turns
    asks = bool(message.get("tool_calls") or message.get("function_call"))
    if role == "assistant" and isinstance(content, list):
        asks = asks or any(isinstance(part, dict) and part.get("type") == "tool_use" for part in content)
    return [Turn(role, text_of(content), asks)]


def text_of(content: object) -> str:
    """All text of a message content: a string, or parts that have text. Anything else is no text."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list | tuple):
        return ""
    parts: list[str] = []
    for part in content:
        if isinstance(part, str):
            parts.append(part)
        elif isinstance(part, dict):
            text = part.get("text")
            if isinstance(text, str):
                parts.append(text)
            elif part.get("type") == "tool_result":
                parts.append(text_of(part.get("content")))
    return "\n".join(parts)


def _count_images(data: Mapping[str, object]) -> int:
    messages = _messages(data)
    if not isinstance(messages, list | tuple):
        return 0
    count = 0
    for message in messages:
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, list | tuple):
            count += sum(map(_is_image, content))
    return count


def _is_image(part: object) -> bool:
    return isinstance(part, dict) and part.get("type") in ("image_url", "image", "input_image")
