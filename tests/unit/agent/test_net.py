"""Interfaces, routes, neighbours and owners, from sysfs and from what the tools print."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk.model.facts import NetDevice, Route
from stellwerk_agent.probes import net
from stellwerk_agent.reading import Reader
from unit.agent import spark_tree

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(
    ["dst", "dev", "gateway", "prefsrc", "metric", "lladdr", "state", "ifname", "addr_info", "local"]
)


@pytest.fixture
def spark(tmp_path: Path) -> Reader:
    return Reader(spark_tree.build(tmp_path))


def test_the_halves_of_a_spark_are_read_with_port_and_pcie_link(spark: Reader) -> None:
    found = {device.name: device for device in net.read_netdevs(spark)}
    assert set(found) == {*spark_tree.HALVES, "enP7s7", "lo"}
    half = found["enP2p1s0f1np1"]
    assert (half.phys_port_name, half.phys_switch_id, half.driver) == ("p1", None, "mlx5_core")
    assert (half.pci_address, half.pci_vendor, half.speed_mbps) == ("0002:01:00.1", "0x15b3", 200000)
    assert (half.pcie_speed_gts, half.pcie_width, half.pcie_max_width) == (32.0, 4, 16)
    assert (half.arp_ignore, half.arp_announce, half.rp_filter, half.forwarding) == (1, 2, 2, 0)
    assert (half.admin_up, half.carrier, half.mtu, half.kind) == (True, True, 9000, "ethernet")
    assert found["lo"].kind == "loopback"


def test_what_an_interface_that_is_down_does_not_tell_is_none(spark: Reader) -> None:
    base = spark.root / "sys/class/net/enp1s0f0np0"
    (base / "flags").write_text("0x1002")
    (base / "carrier").write_text("")
    (base / "speed").write_text("-1")
    device = next(d for d in net.read_netdevs(spark) if d.name == "enp1s0f0np0")
    assert (device.admin_up, device.carrier, device.speed_mbps) == (False, None, None)


@pytest.mark.parametrize(
    ("entries", "kind"),
    [
        ({"uevent": "DEVTYPE=wlan\n"}, "wifi"),
        ({"uevent": "DEVTYPE=bridge\n"}, "bridge"),
        ({"uevent": "INTERFACE=x\nDEVTYPE=vlan\n"}, "vlan"),
        ({"phy80211/name": ""}, "wifi"),
        ({"bonding/mode": ""}, "bond"),
        ({"tun_flags": "0x1002"}, "tunnel"),
        ({"device/x": ""}, "ethernet"),
        ({"iflink": "9"}, "veth"),
        ({"iflink": "5"}, "virtual"),
        ({"type": "32"}, "infiniband"),
    ],
)
def test_the_kind_of_an_interface_is_what_the_kernel_shows(tmp_path: Path, entries: dict[str, str], kind: str) -> None:
    base = tmp_path / "sys/class/net/x0"
    for name, text in {"ifindex": "5", "type": "1", **entries}.items():
        spark_tree.write(base / name, text)
    assert net.read_netdevs(Reader(tmp_path))[0].kind == kind


def test_addresses_and_the_permanent_mac_come_from_ip() -> None:
    link = {
        "ifname": "enp1s0f1np1",
        "permaddr": "3C:6D:66:CC:B3:B7",
        "addr_info": [
            {"local": "192.168.100.10", "prefixlen": 24},
            {"local": "fe80::3e6d:66ff:fecc:b3b7", "prefixlen": 64},
            {"local": "nonsense", "prefixlen": 24},
        ],
    }
    (device,) = net.with_addresses([NetDevice("enp1s0f1np1")], [link])
    assert device.addresses == ("192.168.100.10/24", "fe80::3e6d:66ff:fecc:b3b7/64")
    assert device.link_local6 == "fe80::3e6d:66ff:fecc:b3b7"
    assert device.permanent_mac == "3c:6d:66:cc:b3:b7"


def test_routes_have_a_prefix_and_those_without_device_are_left_out() -> None:
    routes = net.parse_routes(
        [
            {"dst": "default", "gateway": "192.168.1.1", "dev": "enP7s7", "metric": 100, "protocol": "dhcp"},
            {"dst": "10.0.0.7", "dev": "enp1s0f0np0", "prefsrc": "10.0.0.1", "scope": "link"},
            {"type": "blackhole", "dst": "10.9.0.0/16"},
            {"dst": "172.17.0.0/16", "dev": "docker0", "prefsrc": "172.17.0.1"},
        ]
    )
    assert routes[0] == Route("default", "enP7s7", "192.168.1.1", None, 100, "dhcp", None)
    assert [route.destination for route in routes[1:]] == ["10.0.0.7/32", "172.17.0.0/16"]


def test_a_neighbour_without_device_belongs_to_the_one_that_was_asked_for() -> None:
    item = {"dst": "10.0.0.2", "lladdr": "3c:6d:66:00:00:01", "state": ["REACHABLE"]}
    assert net.parse_neighbours([item]) == ()
    (found,) = net.parse_neighbours([item], device="enp1s0f0np0")
    assert (found.device, found.mac, found.state) == ("enp1s0f0np0", "3c:6d:66:00:00:01", "REACHABLE")


@given(st.lists(st.dictionaries(KEYS, JSON, max_size=5), max_size=5))
def test_any_json_of_ip_is_read_without_error(items: list[dict[str, Any]]) -> None:
    net.parse_routes(items)
    net.parse_neighbours(items)
    net.with_addresses([NetDevice("x")], items)


def test_owners_are_read_from_networkctl_and_nmcli() -> None:
    listing = (
        "  1 lo loopback carrier unmanaged\n  2 enP7s7  ether    routable    configured\n 4 x ether off configuring\n"
    )
    assert net.parse_networkctl(listing) == ["enP7s7", "x"]
    assert net.parse_nmcli("enP7s7:connected\nlo:unmanaged\na\\:b:disconnected\ndocker0:connected (externally)\n") == [
        "enP7s7",
        "a:b",
    ]


def test_the_owner_of_the_node_is_who_owns_most_real_interfaces() -> None:
    devices = [NetDevice("a"), NetDevice("b"), NetDevice("docker0", kind="bridge")]
    assert net.owner_of_node(devices, {"a": "NetworkManager", "b": "NetworkManager"}) == "NetworkManager"
    assert net.owner_of_node(devices, {"docker0": "systemd-networkd"}) == "none"


@pytest.mark.parametrize(
    ("text", "client", "server", "device"),
    [
        ("192.168.1.50 50000 192.168.1.20 22", "192.168.1.50", "192.168.1.20", "enP7s7"),
        ("::ffff:192.168.1.50 1 ::ffff:192.168.1.20 22", "192.168.1.50", "192.168.1.20", "enP7s7"),
        ("fe80::1%enP7s7 1 fe80::2%enP7s7 22", "fe80::1", "fe80::2", None),
        ("nonsense", None, None, None),
        (None, None, None, None),
    ],
)
def test_the_session_is_found_on_the_interface_that_has_its_address(
    text: str | None, client: str | None, server: str | None, device: str | None
) -> None:
    found = net.session_route(text, [NetDevice("lo"), NetDevice("enP7s7", addresses=("192.168.1.20/24",))])
    assert (found.client_address, found.server_address, found.device) == (client, server, device)


def test_netplan_files_come_with_mode_and_text_or_reason(spark: Reader) -> None:
    path = spark.root / "etc/netplan/40-cx7.yaml"
    path.chmod(0o600)
    (spark.root / "etc/netplan/old.yaml.sync-disabled").write_text("x")
    (spark.root / "etc/netplan/gone.yaml").symlink_to("nowhere")
    files = {file.path: file for file in net.read_netplan(spark)}
    assert set(files) == {"/etc/netplan/40-cx7.yaml", "/etc/netplan/gone.yaml"}
    assert (files["/etc/netplan/40-cx7.yaml"].mode, files["/etc/netplan/40-cx7.yaml"].text) == (0o600, path.read_text())
    assert files["/etc/netplan/gone.yaml"].why == "No such file or directory"


@pytest.mark.timeout(10)
def test_a_pipe_or_a_device_among_the_netplan_files_is_named_and_not_waited_for(spark: Reader) -> None:
    os.mkfifo(spark.root / "etc/netplan/50-pipe.yaml")
    (spark.root / "etc/netplan/51-device.yaml").symlink_to("/dev/tty")
    (spark.root / "etc/netplan/52-zero.yaml").symlink_to("/dev/zero")
    (spark.root / "etc/netplan/53-folder.yaml").mkdir()
    files = {file.path.rpartition("/")[2]: file for file in net.read_netplan(spark)}
    for name in ("50-pipe.yaml", "52-zero.yaml", "53-folder.yaml"):
        assert (files[name].text, files[name].why) == (None, "not a regular file")
    assert files["51-device.yaml"].text is None and files["51-device.yaml"].why
    assert files["40-cx7.yaml"].text


@pytest.mark.parametrize(
    ("text", "speed"), [("\tSpeed: 200000Mb/s\n", 200000), ("Speed: Unknown!\n", None), ("", None)]
)
def test_ethtools_speed(text: str, speed: int | None) -> None:
    assert net.parse_ethtool_speed(text) == speed


async def test_a_tool_that_fails_is_a_note(spark: Reader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = tmp_path / "bin"
    directory.mkdir()
    monkeypatch.setenv("PATH", str(directory))
    assert await net.ip_json(spark, "addresses", "addr", "show") == []
    for text, expected in ((json.dumps([{"ifname": "x"}, {}, 5]), [{"ifname": "x"}]), ("Usage: ip", []), ("{}", [])):
        (directory / "ip").write_text(f"#!/bin/sh\necho '{text}'\n")
        (directory / "ip").chmod(0o755)
        assert await net.ip_json(spark, "neighbours", "neigh", "show") == expected
    assert [(n.what, n.why) for n in spark.notes] == [
        ("addresses", "ip is not installed"),
        ("neighbours", "ip -j neigh show printed no JSON"),
    ]
