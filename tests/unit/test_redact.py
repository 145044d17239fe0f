"""No password of a netplan file leaves the program in a report or an export."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk.model.redact import redact, redact_text

SECRETS = st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=8, max_size=20)


@given(
    SECRETS,
    st.sampled_from(["password", "psk", "client-key-password", "wifi-password"]),
    st.sampled_from(["", '"', "'"]),
)
def test_no_secret_survives_in_block_or_flow_style(secret: str, key: str, quote: str) -> None:
    value = f"{quote}Q{secret}{quote}"
    for text in (f"network:\n  wifis:\n    home:\n      {key}: {value}\n", f"home: {{{key}: {value}, mode: x}}\n"):
        assert f"Q{secret}" not in redact_text(text)


@pytest.mark.parametrize(
    "text", ["addresses: [10.0.0.1/24]\n", "# password policy\nmtu: 9000\n", "keys: none", "password:\n  x: 1\n"]
)
def test_other_text_stays_as_it_is(text: str) -> None:
    assert redact_text(text) == text


def test_structures_are_walked_to_the_leaves() -> None:
    data = {"plan": [{"before": "a:\n  password: hunter22\n"}], "n": 3}
    assert redact(data) == {"plan": [{"before": "a:\n  password: ***\n"}], "n": 3}
