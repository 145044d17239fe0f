"""The form of answers, per API: whole, and as the events of a stream. Everything says that it is simulated."""

from __future__ import annotations

import json
from collections.abc import Iterator

from stellwerk.serving.engines.simulated.calls import Call
from stellwerk.serving.engines.simulated.words import embedding

_DIMENSIONS = 16


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def _event(value: object, kind: str | None = None) -> bytes:
    name = f"event: {kind}\n".encode() if kind else b""
    return name + b"data: " + _json(value) + b"\n\n"


def _usage(call: Call, made: int) -> dict[str, int]:
    return {
        "prompt_tokens": call.prompt_tokens,
        "completion_tokens": made,
        "total_tokens": call.prompt_tokens + made,
    }


def _usage_in_out(call: Call, made: int) -> dict[str, int]:
    return {"input_tokens": call.prompt_tokens, "output_tokens": made}


def _head(call: Call, number: int, kind: str) -> dict[str, object]:
    return {
        "id": f"simulated-{number}",
        "object": kind,
        "created": 0,
        "model": call.model,
        "system_fingerprint": "simulated",
    }


def whole(call: Call, number: int) -> bytes:
    """The body of an answer that is not streamed."""
    text, made = "".join(call.answer), len(call.answer)
    if call.api == "embeddings":
        data = [
            {"object": "embedding", "index": index, "embedding": embedding(text, _DIMENSIONS)}
            for index, text in enumerate(call.inputs)
        ]
        usage = {"prompt_tokens": call.prompt_tokens, "total_tokens": call.prompt_tokens}
        return _json({"object": "list", "data": data, "model": call.model, "usage": usage, "simulated": True})
    if call.api == "chat":
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": call.finish}
        return _json({**_head(call, number, "chat.completion"), "choices": [choice], "usage": _usage(call, made)})
    if call.api == "completions":
        choice = {"index": 0, "text": text, "logprobs": None, "finish_reason": call.finish}
        return _json({**_head(call, number, "text_completion"), "choices": [choice], "usage": _usage(call, made)})
    if call.api == "responses":
        return _json(_response(call, number, text, made, "completed"))
    return _json(_message(call, number, [{"type": "text", "text": text}], made, _stop_reason(call)))


def _stop_reason(call: Call) -> str:
    return "max_tokens" if call.finish == "length" else "end_turn"


def _message(call: Call, number: int, content: list[object], made: int, reason: str | None) -> dict[str, object]:
    return {
        "id": f"msg_simulated_{number}",
        "type": "message",
        "role": "assistant",
        "model": call.model,
        "content": content,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": _usage_in_out(call, made),
    }


def _output_item(number: int, text: str, status: str) -> dict[str, object]:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {
        "id": f"item_simulated_{number}",
        "type": "message",
        "role": "assistant",
        "status": status,
        "content": [part] if text else [],
    }


def _response(call: Call, number: int, text: str, made: int, status: str) -> dict[str, object]:
    done = status == "completed"
    usage = {
        **_usage_in_out(call, made),
        "total_tokens": call.prompt_tokens + made,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    return {
        "id": f"resp_simulated_{number}",
        "object": "response",
        "created_at": 0,
        "status": status,
        "model": call.model,
        "output": [_output_item(number, text, "completed")] if done else [],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {"simulated": "true"},
        "temperature": None,
        "top_p": None,
        "usage": usage if done else None,
    }


class StreamForm:
    """The events of one streamed answer. `opening` goes out with the first token, `ending` after the last."""

    def __init__(self, call: Call, number: int) -> None:
        self._call = call
        self._number = number
        self._sequence = 0

    def opening(self) -> bytes:
        call, number = self._call, self._number
        if call.api == "chat":
            return self._chunk({"role": "assistant", "content": ""}, None)
        if call.api == "messages":
            return _event(
                {"type": "message_start", "message": _message(call, number, [], 0, None)}, "message_start"
            ) + _event(
                {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
                "content_block_start",
            )
        if call.api == "responses":
            begun = _response(call, number, "", 0, "in_progress")
            part = {"type": "output_text", "text": "", "annotations": []}
            return b"".join(
                (
                    self._numbered("response.created", response=begun),
                    self._numbered("response.in_progress", response=begun),
                    self._numbered(
                        "response.output_item.added", output_index=0, item=_output_item(number, "", "in_progress")
                    ),
                    self._part("response.content_part.added", part=part),
                )
            )
        return b""

    def token(self, text: str) -> bytes:
        if self._call.api == "chat":
            return self._chunk({"content": text}, None)
        if self._call.api == "messages":
            delta = {"type": "text_delta", "text": text}
            return _event({"type": "content_block_delta", "index": 0, "delta": delta}, "content_block_delta")
        if self._call.api == "responses":
            return self._part("response.output_text.delta", delta=text, logprobs=[])
        choice = {"index": 0, "text": text, "logprobs": None, "finish_reason": None}
        return _event({**_head(self._call, self._number, "text_completion"), "choices": [choice]})

    def ending(self) -> bytes:
        call, text, made = self._call, "".join(self._call.answer), len(self._call.answer)
        if call.api == "messages":
            delta = {"stop_reason": _stop_reason(call), "stop_sequence": None}
            usage = {"output_tokens": made}
            return b"".join(
                (
                    _event({"type": "content_block_stop", "index": 0}, "content_block_stop"),
                    _event({"type": "message_delta", "delta": delta, "usage": usage}, "message_delta"),
                    _event({"type": "message_stop"}, "message_stop"),
                )
            )
        if call.api == "responses":
            return b"".join(self._responses_ending(text, made))
        if call.api == "chat":
            events = self._chunk({}, call.finish)
            kind = "chat.completion.chunk"
        else:
            choice = {"index": 0, "text": "", "logprobs": None, "finish_reason": call.finish}
            events = _event({**_head(call, self._number, "text_completion"), "choices": [choice]})
            kind = "text_completion"
        if call.include_usage:
            events += _event({**_head(call, self._number, kind), "choices": [], "usage": _usage(call, made)})
        return events + b"data: [DONE]\n\n"

    def _responses_ending(self, text: str, made: int) -> Iterator[bytes]:
        part = {"type": "output_text", "text": text, "annotations": []}
        item = _output_item(self._number, text, "completed")
        yield self._part("response.output_text.done", text=text, logprobs=[])
        yield self._part("response.content_part.done", part=part)
        yield self._numbered("response.output_item.done", output_index=0, item=item)
        response = _response(self._call, self._number, text, made, "completed")
        yield self._numbered("response.completed", response=response)

    def _chunk(self, delta: dict[str, str], finish: str | None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _event({**_head(self._call, self._number, "chat.completion.chunk"), "choices": [choice]})

    def _numbered(self, kind: str, **fields: object) -> bytes:
        self._sequence += 1
        return _event({"type": kind, "sequence_number": self._sequence, **fields}, kind)

    def _part(self, kind: str, **fields: object) -> bytes:
        item = f"item_simulated_{self._number}"
        return self._numbered(kind, item_id=item, output_index=0, content_index=0, **fields)


def error(status: int, message: str) -> bytes:
    """As vLLM words errors."""
    kind = "NotFoundError" if status == 404 else "BadRequestError" if status < 500 else "InternalServerError"
    return _json({"error": {"message": message, "type": kind, "param": None, "code": status}, "simulated": True})
