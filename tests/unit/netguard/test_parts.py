"""The small parts: journal, board, copies, parsers, verbs, the checks of a request."""

from __future__ import annotations

import ipaddress
import shutil
import string
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stellwerk.model.errors import PlanRefused
from stellwerk.model.guard import GuardState
from stellwerk.model.plan import FileChange, SysctlChange
from stellwerk_agent.netguard import backup, bootunit, files, guard, live, snapshot, verbs
from stellwerk_agent.netguard.board import Board
from stellwerk_agent.netguard.journal import Journal, state_of
from stellwerk_agent.netguard.layout import Layout
from stellwerk_agent.netguard.request import check_file, check_sysctl, checked
from stellwerk_agent.netguard.transaction import load_request, save_request
from unit.netguard import plans
from unit.netguard.machine import Machine

# -- copies ------------------------------------------------------------------------------------------------------------

contents = st.none() | st.binary(max_size=300)
modes = st.sampled_from([0o600, 0o640, 0o644, 0o400])


def as_text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "surrogateescape")


@settings(max_examples=60, deadline=None)
@given(old=contents, new=contents, meanwhile=contents, mode=modes)
def test_a_file_comes_back_byte_for_byte_with_its_mode(
    old: bytes | None, new: bytes | None, meanwhile: bytes | None, mode: int
) -> None:
    with tempfile.TemporaryDirectory() as name:
        layout = Layout(Path(name) / "root")
        target = layout.under("/etc/netplan/60-stellwerk.yaml")
        if old is not None:
            target.parent.mkdir(parents=True)
            target.write_bytes(old)
            target.chmod(mode)
        else:
            layout.root.mkdir()
        change = FileChange("/etc/netplan/60-stellwerk.yaml", as_text(old), as_text(new))
        asked = plans.request(replace(plans.full_plan(), changes=(change,)))
        backup.check_before(layout, asked)
        (taken,) = backup.take_files(layout, asked, Path(name) / "copies")
        files.make_directory(target.parent, 0o755)
        for data in (new, meanwhile):
            files.remove(target) if data is None else files.place(target, data, 0o600)
        for _ in range(2):  # going back twice is going back once
            backup.restore_file(layout, taken, Path(name) / "copies", new)
            if old is None:
                assert not (layout.root / "etc").exists(), "directories that were made for it go too"
            else:
                assert target.read_bytes() == old
                assert target.stat().st_mode & 0o777 == mode
        left = {path.name for path in target.parent.glob("*")} if target.parent.exists() else set()
        assert left <= {target.name}


@settings(max_examples=60, deadline=None)
@given(planned=contents, found=contents)
def test_a_plan_is_carried_out_only_on_the_very_bytes_it_was_made_for(
    planned: bytes | None, found: bytes | None
) -> None:
    with tempfile.TemporaryDirectory() as name:
        layout = Layout(Path(name))
        target = layout.under("/etc/netplan/60-stellwerk.yaml")
        target.parent.mkdir(parents=True)
        if found is not None:
            target.write_bytes(found)
        change = FileChange("/etc/netplan/60-stellwerk.yaml", as_text(planned), "x")
        asked = plans.request(replace(plans.full_plan(), changes=(change,)))
        if planned == found:
            backup.check_before(layout, asked)
        else:
            with pytest.raises(PlanRefused, match="has changed since the plan was made"):
                backup.check_before(layout, asked)


def test_a_link_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    target = layout.under("/etc/netplan/60-stellwerk.yaml")
    target.parent.mkdir(parents=True)
    target.symlink_to("/etc/shadow")
    asked = plans.request(replace(plans.full_plan(), changes=(FileChange(plans.OURS, None, "x"),)))
    with pytest.raises(PlanRefused, match="cannot be changed"):
        backup.check_before(layout, asked)


def test_a_request_survives_its_file(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    asked = plans.request(session_address="10.1.1.1", lease_s=12.5)
    save_request(layout, asked)
    assert load_request(layout, "p1") == asked
    assert (layout.plan("p1") / "request.json").stat().st_mode & 0o777 == 0o600


# -- journal -----------------------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(cut=st.integers(min_value=0, max_value=400))
def test_a_journal_cut_anywhere_is_read_up_to_its_last_whole_line(cut: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        journal = Journal(Path(name) / "journal.jsonl", "boot")
        for state in (GuardState.PREPARING, GuardState.APPLYING):
            journal.append("state", state=state.value)
        whole = journal.path.read_bytes()
        journal.path.write_bytes(whole[:cut])
        lines = whole[:cut].count(b"\n")
        assert len(journal.entries()) in (lines, lines + 1)  # a whole object that lost only its line end counts
        journal.append("state", state="reverting")
        assert state_of(journal.entries()) is GuardState.REVERTING
        assert journal.path.read_bytes().count(b"\n") == lines + 1
        assert len(journal.entries()) == lines + 1


# -- board -------------------------------------------------------------------------------------------------------------


class Clock:
    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


def holding(clock: Clock, lease_s: float = 90.0, hard_limit_s: float = 900.0) -> Board:
    board = Board("p1", clock)
    board.hold(lease_s, hard_limit_s)
    board.show(GuardState.HOLDING, "", "now")
    return board


def test_a_renewed_lease_starts_again_and_an_unrenewed_one_ends() -> None:
    clock = Clock()
    board = holding(clock)
    clock.now_s += 89
    board.renew()
    clock.now_s += 89
    assert board.status().lease_left_s == 1.0
    clock.now_s += 1
    assert board.wait_for_end() == ("revert", "lease lost: nothing was heard from the desktop for 90 s")


def test_the_hard_limit_ends_even_a_renewed_lease() -> None:
    clock = Clock()
    board = holding(clock)
    for _ in range(90):
        clock.now_s += 10
        board.renew()
    assert board.status().hard_limit_left_s == 0.0
    assert board.wait_for_end() == ("revert", "the time limit for an unconfirmed change was reached")


def test_the_first_wish_counts() -> None:
    board = holding(Clock())
    board.wish("revert", "first")
    board.wish("confirm", "")
    assert board.wait_for_end() == ("revert", "first")


def test_times_longer_than_the_limits_are_cut() -> None:
    asked = checked(plans.request(lease_s=1e9, hard_limit_s=1e9))
    assert (asked.lease_s, asked.hard_limit_s) == (90.0, 900.0)


def test_a_wish_to_go_back_while_applying_is_fulfilled_at_the_next_step(tmp_path: Path) -> None:
    machine = plans.prepared(tmp_path)
    before = machine.tree(), machine.live()
    transaction = plans.open_transaction(machine, plans.request())
    generate = machine._networkctl

    def cancelled(words: list[str]) -> None:
        transaction.board.wish("revert", "the person cancelled")
        generate(words)

    machine._networkctl = cancelled  # type: ignore[method-assign]
    guard.carry_out(transaction)
    status = transaction.board.status()
    assert (status.state, status.why) == (GuardState.REVERTED, "the person cancelled.")
    assert (machine.tree(), machine.live()) == before


# -- reading what commands print ---------------------------------------------------------------------------------------

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["ifname", "mtu", "flags", "addr_info", "local", "prefixlen", "dev", "dst", "gateway", "metric", "protocol"]
    ), inner, max_size=5),
    max_leaves=20,
)  # fmt: skip


@given(json_values)
def test_whatever_ip_prints_is_read_without_a_crash(data: object) -> None:
    snapshot.parse_addresses(data)
    snapshot.parse_routes(data)


def test_addresses_and_routes_as_iproute2_prints_them() -> None:
    addresses, mtu, up = snapshot.parse_addresses(
        [
            {},
            {
                "ifname": "enp1s0f0np0",
                "flags": ["BROADCAST", "UP", "LOWER_UP"],
                "mtu": 9000,
                "addr_info": [
                    {"family": "inet", "local": "10.0.1.1", "prefixlen": 24, "scope": "global", "noprefixroute": True},
                    {"family": "inet", "local": "192.168.1.9", "prefixlen": 24, "scope": "global", "dynamic": True},
                    {"family": "inet6", "local": "fe80::1", "prefixlen": 64, "scope": "link"},
                ],
            },
            {"ifname": "wlP9s9", "flags": ["BROADCAST"], "mtu": 1500, "addr_info": []},
        ]
    )
    assert [(a.cidr, a.dynamic, a.is_link_local6) for a in addresses] == [
        ("10.0.1.1/24", False, False),
        ("192.168.1.9/24", True, False),
        ("fe80::1/64", False, True),
    ]
    assert (mtu, up) == ({"enp1s0f0np0": 9000, "wlP9s9": 1500}, {"enp1s0f0np0": True, "wlP9s9": False})
    routes = snapshot.parse_routes(
        [
            {
                "dst": "default",
                "gateway": "192.168.1.1",
                "dev": "enP7s7",
                "protocol": "dhcp",
                "metric": 100,
                "flags": [],
            },
            {"dst": "10.0.1.0/24", "dev": "enp1s0f0np0", "protocol": "kernel", "prefsrc": "10.0.1.1"},
        ]
    )
    assert [(r.device, r.destination, r.via, r.metric, r.protocol) for r in routes] == [
        ("enP7s7", "default", "192.168.1.1", 100, "dhcp")
    ]


def test_the_owner_of_an_interface_is_read_from_what_netplan_generated(tmp_path: Path) -> None:
    profiles = tmp_path / "run/NetworkManager/system-connections"
    networkd = tmp_path / "run/systemd/network"
    profiles.mkdir(parents=True)
    networkd.mkdir(parents=True)
    (networkd / "10-netplan-mgmt0.network").write_text("[Match]\nName=mgmt0\n")
    (profiles / "netplan-cx7-left.nmconnection").write_text(
        "[connection]\nid=netplan-cx7-left\ntype=ethernet\ninterface-name=enp1s0f0np0\n\n[ipv4]\nmethod=manual\n"
    )
    (profiles / "netplan-broken.nmconnection").write_text("interface-name=fab9")
    assert live.owner(tmp_path, "mgmt0") == live.NETWORKD
    assert live.owner(tmp_path, "enp1s0f0np0") == live.NETWORK_MANAGER
    assert live.netplan_profile(tmp_path, "enp1s0f0np0") == "netplan-cx7-left"
    assert live.owner(tmp_path, "fab9") is None


# -- what root may do --------------------------------------------------------------------------------------------------


@given(st.text(alphabet=string.printable, max_size=40))
def test_a_file_outside_the_fixed_places_is_never_accepted(name: str) -> None:
    path = f"/etc/netplan/{name}"
    try:
        check_file(FileChange(path, None, "x"))
    except PlanRefused:
        return
    assert Path(path).resolve().parent == Path("/etc/netplan") and "\n" not in path


@given(st.text(alphabet="netipv46./-_ab01", max_size=40))
def test_an_accepted_sysctl_lies_below_net(key: str) -> None:
    try:
        check_sysctl(SysctlChange(f"net.{key}", None, "1"))
    except PlanRefused:
        return
    path = Layout(Path("/root-of-test")).sysctl(f"net.{key}")
    assert Path("/root-of-test/proc/sys/net") in Path(str(path)).resolve().parents or key == ""


def test_an_interface_name_with_a_dot_finds_its_sysctl() -> None:
    assert Layout(Path("/")).sysctl("net.ipv4.conf.fab0/100.rp_filter") == Path(
        "/proc/sys/net/ipv4/conf/fab0.100/rp_filter"
    )


@pytest.mark.parametrize(
    "argv",
    [
        (),
        ("sh", "-c", "reboot"),
        ("link-up", "fab0; reboot"),
        ("link-up", "--help"),
        ("link-up", "fab0", "fab1"),
        ("address-add", "fab0", "10.0.0.1/99"),
        ("route-set", "0.0.0.0/0", "fab0"),
        ("route-set", "10.0.0.0/24", "fab0", "not-an-address"),
        ("firewall-insert", "filter", "FORWARD", "-j", "ACCEPT", "-D"),
    ],
)
def test_only_the_verbs_of_the_list_with_arguments_of_their_type_are_run(argv: tuple[str, ...]) -> None:
    with pytest.raises(PlanRefused):
        verbs.check_verb(argv)


def test_every_verb_can_be_repeated(tmp_path: Path) -> None:
    machine = Machine.make(tmp_path)
    rule = ("filter", "FORWARD", "-j", "ACCEPT")
    for argv in (
        ("link-up", "fab1"),
        ("address-add", "fab1", "10.0.0.1/24"),
        ("route-set", "10.5.0.0/24", "fab1", "10.0.0.2"),
        ("firewall-insert", *rule),
    ):
        for _ in range(2):
            verbs.run_verb(argv, machine)
    live_now = machine.live()
    assert live_now["devices"]["fab1"] == (True, 1500, [("10.0.0.1/24", False)])
    assert live_now["rules"] == [list(rule)]
    for argv in (("address-remove", "fab1", "10.0.0.1/24"), ("firewall-delete", *rule)):
        for _ in range(2):
            verbs.run_verb(argv, machine)
    assert machine.live()["devices"]["fab1"][2] == []
    assert machine.live()["rules"] == []


@given(st.ip_addresses())
def test_every_address_with_a_prefix_is_accepted(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    verbs.check_verb(("address-add", "fab0", f"{address}/{address.max_prefixlen}"))


def test_the_boot_unit_pleases_systemd_itself(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed: apt-get install systemd")
    unit = tmp_path / "stellwerk-restore.service"
    unit.write_text(bootunit.unit_text((sys.executable, "-I", 'odd $name %n "q" \\', "root", "boot-restore")))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, text=True, check=False
    )
    assert "stellwerk-restore" not in done.stderr, done.stderr
    assert done.returncode == 0, done.stderr
