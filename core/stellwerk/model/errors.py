"""The small set of errors that reach people: what happened, where, why, what to do."""

from __future__ import annotations

from stellwerk.model.text import paragraph, whole


class StellwerkError(Exception):
    """An error for a person. `str()` is one paragraph with all its parts."""

    code = "error"

    def __init__(self, what: str, *, node: str | None = None, why: str = "", remedy: str = "") -> None:
        # Mostly literal texts; as `Text`s they can be part of another sentence without losing their translation.
        self.what: str = whole(what)
        self.node = node
        self.why: str = whole(why) if why else ""
        self.remedy: str = whole(remedy) if remedy else ""
        super().__init__(what)

    def __str__(self) -> str:
        return paragraph(self.node or "", self.what, self.why, self.remedy)


class ConnectionFailed(StellwerkError):
    """The machine cannot be reached, or the connection ended."""

    code = "connection"


class HostKeyUnknown(StellwerkError):
    """The machine's host key has never been seen; a person must compare fingerprints."""

    code = "host-key-unknown"


class HostKeyChanged(StellwerkError):
    """The machine shows another host key than before. Never accepted silently."""

    code = "host-key-changed"


class LoginFailed(StellwerkError):
    """No key and no password was accepted."""

    code = "login"


class SudoFailed(StellwerkError):
    """Root is needed and cannot be had."""

    code = "sudo"


class AgentRefused(StellwerkError):
    """The agent on the node cannot be used (newer, no python3, no space ...)."""

    code = "agent"


class BadInput(StellwerkError):
    """A file or an argument that cannot be used."""

    code = "input"


class PlanRefused(StellwerkError):
    """No plan can be made, or a node is not as the plan assumed."""

    code = "plan"


class ApplyFailed(StellwerkError):
    """A plan was not applied; every node is on its old configuration or named as an exception."""

    code = "apply"


class Busy(StellwerkError):
    """Another desktop or window holds the cluster."""

    code = "busy"


class Cancelled(StellwerkError):
    """The person cancelled."""

    code = "cancelled"


class DeadlineExceeded(StellwerkError):
    """A call did not end in time."""

    code = "deadline"


ERRORS_BY_CODE: dict[str, type[StellwerkError]] = {
    cls.code: cls
    for cls in (
        StellwerkError,
        ConnectionFailed,
        HostKeyUnknown,
        HostKeyChanged,
        LoginFailed,
        SudoFailed,
        AgentRefused,
        BadInput,
        PlanRefused,
        ApplyFailed,
        Busy,
        Cancelled,
        DeadlineExceeded,
    )
}
