"""Why a request or an attempt gave nothing, and what the client is told."""

from __future__ import annotations

from stellwerk.serving.decision.types import NoPool
from stellwerk.serving.gateway import judge_answer
from stellwerk.serving.gateway.http.response import ResponseHead

_NO_POOL_STATUS = {
    "unknown_model": 404,
    "unhealthy": 503,
    "overloaded": 429,
    "context": 400,
    "override_refused": 403,
    "override_unknown": 400,
}
_NO_POOL_CODE = {"unknown_model": "model_not_found", "context": "context_length_exceeded"}


class Failure:
    """`answer` is the engine's own error, to pass on if nothing else answers.

    `fault`: it speaks against the replica's health. `elsewhere`: another replica of the pool may do better.
    """

    __slots__ = ("answer", "code", "elsewhere", "fault", "message", "retry_after", "status")

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        answer: bytes | None = None,
        retry_after: bytes | None = None,
        fault: bool = False,
        elsewhere: bool = True,
    ) -> None:
        self.status = status
        self.code = code
        self.message = message
        self.answer = answer
        self.retry_after = retry_after
        self.fault = fault
        self.elsewhere = elsewhere


def no_pool(error: NoPool, retry_after_s: int) -> Failure:
    """decide() found nothing that could answer."""
    status = _NO_POOL_STATUS[error.kind]
    retry_after = b"%d" % retry_after_s if status in (429, 503) else None
    return Failure(status, _NO_POOL_CODE.get(error.kind, error.kind), str(error), retry_after=retry_after)


def overloaded(pool: str, why: str, retry_after_s: int) -> Failure:
    message = f"Pool {pool} is overloaded: {why}. Try again later."
    return Failure(429, "overloaded", message, retry_after=b"%d" % retry_after_s)


def unhealthy(pool: str, retry_after_s: int) -> Failure:
    message = f"No replica of pool {pool} is healthy."
    return Failure(503, "unhealthy", message, retry_after=b"%d" % retry_after_s)


def refusal(engine: str, status: int, payload: bytes, head: ResponseHead) -> tuple[Failure, bool, bool]:
    """The engine answered with an error: (what it was, is another attempt worth it, did the prompt not fit)."""
    answer = payload if judge_answer.is_json(payload) and not head.encoded else None
    if judge_answer.is_overflow(status, payload):
        message = "The prompt does not fit the context window."
        return Failure(status, "context_length_exceeded", message, answer=answer, elsewhere=False), True, True
    failure = Failure(
        status,
        "engine_error",
        f"The engine {engine} answered {status}.",
        answer=answer,
        retry_after=head.retry_after,
        fault=judge_answer.is_fault(status),
    )
    return failure, judge_answer.is_retriable(status), False
