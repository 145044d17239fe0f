"""What is made of mDNS announcements: usable addresses, clean names."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk.remote.find import Interface, judge_addresses, machine_from, own_interfaces

LAN = Interface("enP7s7", 3, ("192.168.1.5/24", "fe80::1/64"))
WIFI = Interface("wlP9s9", 4, ("192.168.2.5/24",))
DOCKER = Interface("docker0", 5, ("172.17.0.1/16",))


class Announcement:
    def __init__(self, name: str, server: str, port: int, addresses: list[str]) -> None:
        self.name = f"{name}._ssh._tcp.local."
        self.server = server
        self.port = port
        self._addresses = addresses

    def parsed_scoped_addresses(self) -> list[str]:
        return self._addresses


def test_a_link_local_address_gets_the_name_of_the_interface_on_which_it_was_heard() -> None:
    assert judge_addresses(["fe80::aa%3"], [LAN, WIFI]) == ("fe80::aa%enP7s7",)
    assert judge_addresses(["fe80::aa%wlP9s9"], [LAN, WIFI]) == ("fe80::aa%wlP9s9",)


def test_a_link_local_address_without_interface_is_usable_only_if_there_is_one_choice() -> None:
    assert judge_addresses(["fe80::aa"], [LAN, DOCKER]) == ("fe80::aa%enP7s7",)
    assert judge_addresses(["fe80::aa"], [LAN, WIFI]) == ()


def test_addresses_of_container_bridges_are_left_out() -> None:
    assert judge_addresses(["172.17.0.1", "192.168.1.9"], [LAN, DOCKER]) == ("192.168.1.9",)
    assert judge_addresses(["fe80::1%5"], [LAN, DOCKER]) == ()


def test_the_address_that_works_best_comes_first() -> None:
    found = judge_addresses(["169.254.3.4", "fe80::aa%3", "fd00::9", "192.168.1.9"], [LAN, WIFI])
    assert found == ("192.168.1.9", "fd00::9", "fe80::aa%enP7s7", "169.254.3.4")


def test_names_from_the_network_are_cleaned_and_cut() -> None:
    machine = machine_from(Announcement("spark\x1b[31m\n1" + "x" * 200, "a\x07b.local.", 22, ["192.168.1.9"]), [LAN])
    assert machine is not None
    assert machine.name.startswith("spark [31m 1x")
    assert len(machine.name) == 63
    assert machine.hostname == "a b.local"


def test_an_announcement_without_a_usable_address_is_no_machine() -> None:
    assert machine_from(Announcement("a", "a.local.", 22, ["0.0.0.0", "garbage", "ff02::1"]), [LAN]) is None


def test_this_computer_is_recognised() -> None:
    machine = machine_from(Announcement("me", "me.local.", 22, ["192.168.1.5"]), [LAN])
    assert machine is not None
    assert machine.is_this_computer


@pytest.mark.parametrize("name", ["docker0", "br-1a2b", "veth12", "virbr0", "cni0"])
def test_bridges_of_containers_are_known_by_name(name: str) -> None:
    assert Interface(name, 1, ()).is_virtual
    assert not LAN.is_virtual


def test_the_interfaces_of_this_computer_are_read_without_loopback() -> None:
    assert all(interface.name != "lo" for interface in own_interfaces())


@given(st.lists(st.one_of(st.text(max_size=20), st.ip_addresses().map(str))))
def test_any_announced_addresses_give_only_valid_ones(announced: list[str]) -> None:
    for address in judge_addresses(announced, [LAN, WIFI, DOCKER]):
        ipaddress.ip_address(address)
