"""SSH to the nodes: who is meant, whom to trust, pairing, sending the agent, one lasting link per node.

The names are imported when they are first used: SSH takes its time, and not every command needs it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stellwerk.remote.artefact import Artefact, build_agent
    from stellwerk.remote.deadlines import Deadlines
    from stellwerk.remote.identity import UserIdentity
    from stellwerk.remote.keys import ClusterKey
    from stellwerk.remote.link import NodeLink
    from stellwerk.remote.opening import Desktop, LinkState
    from stellwerk.remote.pairing import UnpairReport, pair_all, unpair
    from stellwerk.remote.prompts import PasswordQuestion, Prompts
    from stellwerk.remote.target import Target, import_targets, parse_target, parse_targets
    from stellwerk.remote.trust import HostKey, HostKeyAlarm, HostKeyAlarmError, HostKeyQuestion, TrustStore

__all__ = [
    "Artefact",
    "ClusterKey",
    "Deadlines",
    "Desktop",
    "HostKey",
    "HostKeyAlarm",
    "HostKeyAlarmError",
    "HostKeyQuestion",
    "LinkState",
    "NodeLink",
    "PasswordQuestion",
    "Prompts",
    "Target",
    "TrustStore",
    "UnpairReport",
    "UserIdentity",
    "build_agent",
    "import_targets",
    "pair_all",
    "parse_target",
    "parse_targets",
    "unpair",
]

_MODULES = {
    "artefact": ("Artefact", "build_agent"),
    "deadlines": ("Deadlines",),
    "identity": ("UserIdentity",),
    "keys": ("ClusterKey",),
    "link": ("NodeLink",),
    "opening": ("Desktop", "LinkState"),
    "pairing": ("UnpairReport", "pair_all", "unpair"),
    "prompts": ("PasswordQuestion", "Prompts"),
    "target": ("Target", "import_targets", "parse_target", "parse_targets"),
    "trust": ("HostKey", "HostKeyAlarm", "HostKeyAlarmError", "HostKeyQuestion", "TrustStore"),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    module = _HOMES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{module}"), name)
