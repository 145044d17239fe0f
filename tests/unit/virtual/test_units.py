"""Unit files of the simulated systemd."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stellwerk.virtual.units import parse_unit, valid_name

RESTORE = """\
[Unit]
Description=Take back an unconfirmed network change
DefaultDependencies=no
Before=network-pre.target
Wants=network-pre.target

[Service]
Type=oneshot
ExecStart=/usr/bin/python3 -I /var/lib/x/agent.pyz \\
    root boot-restore

[Install]
WantedBy=sysinit.target multi-user.target
"""


def test_a_unit_before_network_pre_runs_before_the_network() -> None:
    unit = parse_unit("stellwerk-restore.service", RESTORE)
    assert unit.early
    assert unit.words("Install", "WantedBy") == ["sysinit.target", "multi-user.target"]
    assert unit.get("Service", "ExecStart")[0].split() == [
        "/usr/bin/python3", "-I", "/var/lib/x/agent.pyz", "root", "boot-restore",
    ]  # fmt: skip
    assert not parse_unit("x.service", RESTORE.replace("network-pre.target", "docker.service")).early


@given(st.text(max_size=300))
def test_any_text_is_a_unit_perhaps_an_empty_one(text: str) -> None:
    unit = parse_unit("x.service", text)
    assert isinstance(unit.early, bool)


def test_names_with_paths_are_none() -> None:
    assert valid_name("stellwerk-restore.service")
    for name in ("../x.service", "x", "a/b.service", ""):
        assert not valid_name(name)
