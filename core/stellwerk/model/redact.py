"""Takes secrets out of text before it leaves the program: netplan files may hold Wi-Fi and 802.1X passwords."""

from __future__ import annotations

import re
from typing import Any

MASK = "***"
_KEYS = r"password|passwd|psk|passphrase|client-key-password|secret|token|private-key"
# A key with a value on the same line, in block or flow style: up to the end, a comma or a closing bracket.
_IN_YAML = re.compile(
    rf"(?im)(^|[\s{{,])([\"']?(?:[\w-]*(?:{_KEYS}))[\"']?\s*:[ \t]+)(\"[^\"\n]*\"|'[^'\n]*'|[^\s,}}\]\n][^,}}\]\n]*)"
)


def redact_text(text: str) -> str:
    """The text with the values of secret keys masked; everything else stays."""
    return _IN_YAML.sub(lambda found: f"{found.group(1)}{found.group(2)}{MASK}", text)


def redact(data: Any) -> Any:
    """The same for all strings of a JSON-like structure."""
    if isinstance(data, str):
        return redact_text(data) if ":" in data else data
    if isinstance(data, dict):
        return {key: redact(value) for key, value in data.items()}
    if isinstance(data, list):
        return [redact(item) for item in data]
    return data
