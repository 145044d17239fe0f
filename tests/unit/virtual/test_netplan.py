"""The simulated netplan: merging, judging, and the samples of the field."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk.virtual import manager
from stellwerk.virtual.netplan import NetplanError, RouteConfig, load

STOCK = "network:\n  version: 2\n  renderer: NetworkManager\n"


def one(body: str) -> dict[str, str]:
    return {"/etc/netplan/60-x.yaml": f"network:\n  version: 2\n  ethernets:\n    enp1s0f1np1:\n{body}"}


def test_files_are_merged_and_lists_of_addresses_are_added_up() -> None:
    first = one("      addresses: [192.168.100.1/24]\n      mtu: 1500\n")
    second = {"/etc/netplan/99-y.yaml": one("      addresses: [10.0.0.1/24]\n      mtu: 9000\n").popitem()[1]}
    entry = load({"/etc/netplan/01-nm.yaml": STOCK, **first, **second}).ethernets["enp1s0f1np1"]
    assert entry.addresses == ("192.168.100.1/24", "10.0.0.1/24")
    assert entry.mtu == 9000


def test_the_renderer_of_any_file_holds_for_all() -> None:
    config = load({"/etc/netplan/01-nm.yaml": STOCK, **one("      dhcp4: no\n")})
    assert config.owner("enp1s0f1np1") == "NetworkManager"
    assert load(one("      dhcp4: no\n")).owner("enp1s0f1np1") == "networkd"


def test_link_local_can_be_switched_off_and_is_on_for_ipv6_by_default() -> None:
    assert load(one("      dhcp4: false\n")).ethernets["enp1s0f1np1"].link_local == ("ipv6",)
    assert load(one("      link-local: []\n")).ethernets["enp1s0f1np1"].link_local == ()
    assert load(one("      link-local: [ ipv4 ]\n")).ethernets["enp1s0f1np1"].link_local == ("ipv4",)


def test_routes_are_read() -> None:
    entry = load(one("      routes:\n        - to: 10.2.0.0/24\n          via: 10.1.0.2\n          metric: 50\n"))
    assert entry.ethernets["enp1s0f1np1"].routes == (RouteConfig("10.2.0.0/24", "10.1.0.2", 50),)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("      adresses: [1.2.3.4/24]\n", "60-x.yaml:5:7: Error in network definition: unknown key 'adresses'"),
        ("      addresses: [1.2.3.4]\n", "missing /prefixlength"),
        ("      addresses: [nonsense/24]\n", "malformed address 'nonsense/24'"),
        ("      addresses: 1.2.3.4/24\n", "expected sequence"),
        ("      mtu: big\n", "invalid unsigned int value 'big'"),
        ("      dhcp4: maybe\n", "invalid boolean value 'maybe'"),
        ("      link-local: [ipv5]\n", "invalid value for link-local"),
        ("      routes: [{via: 1.2.3.4}]\n", "must include a 'to' IP"),
        ("      routes: [{to: 1.2.3.0/24, vai: 1.2.3.4}]\n", "unknown key 'vai'"),
        ("      addresses: [1.2.3.4/24\n", "Invalid YAML"),
        ("      renderer: systemd\n", "unknown renderer 'systemd'"),
    ],
)
def test_a_mistake_is_named_with_file_line_and_column(body: str, said: str) -> None:
    with pytest.raises(NetplanError) as refused:
        load(one(body))
    assert said in str(refused.value)
    assert "60-x.yaml:" in str(refused.value)


def test_a_top_level_key_that_netplan_does_not_know_is_refused() -> None:
    with pytest.raises(NetplanError, match="unknown key 'etherneds'"):
        load({"/etc/netplan/a.yaml": "network:\n  etherneds: {}\n"})
    with pytest.raises(NetplanError, match="Only version 2"):
        load({"/etc/netplan/a.yaml": "network:\n  version: 3\n"})


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_and_nothing_else(text: str) -> None:
    try:
        load({"/etc/netplan/a.yaml": text})
    except NetplanError as refused:
        assert str(refused)


def test_generate_leaves_what_tells_the_owner(tmp_path: object) -> None:
    from pathlib import Path

    root = Path(str(tmp_path))
    netplan = root / "etc/netplan"
    netplan.mkdir(parents=True)
    (netplan / "01-nm.yaml").write_text(STOCK)
    (netplan / "60-x.yaml").write_text(one("      addresses: [192.168.100.1/24]\n      mtu: 9000\n").popitem()[1])
    manager.generate(root, root)
    profile = root / "run/NetworkManager/system-connections/netplan-enp1s0f1np1.nmconnection"
    lines = profile.read_text().splitlines()
    for wanted in ("id=netplan-enp1s0f1np1", "interface-name=enp1s0f1np1", "mtu=9000", "address1=192.168.100.1/24"):
        assert wanted in lines
    (netplan / "60-x.yaml").unlink()
    manager.generate(root, root)
    assert not profile.exists()
