"""One guarded change in the process, against a simulated machine."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from stellwerk.model.errors import PlanRefused
from stellwerk.model.guard import GuardState
from stellwerk.model.plan import CommandChange, FileChange, FirewallChange, NodePlan, SysctlChange, UnitChange
from stellwerk_agent.netguard import guard, start
from stellwerk_agent.netguard.request import Request
from stellwerk_agent.netguard.rollback import recover, status_of
from stellwerk_agent.netguard.transaction import Transaction
from unit.netguard import plans
from unit.netguard.machine import Machine


def carry_out(machine: Machine, request: Request, end: str = "confirm", why: str = "asked") -> Transaction:
    """Run a whole transaction; `end` is wished as soon as it holds."""
    transaction = plans.open_transaction(machine, request)
    hold = transaction.hold

    def hold_and_end() -> None:
        hold()
        transaction.board.wish(end, why)

    transaction.hold = hold_and_end  # type: ignore[method-assign]
    guard.carry_out(transaction)
    return transaction


def only(**changes: object) -> NodePlan:
    return replace(plans.full_plan(), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("manager", ["networkd", "NetworkManager"])
def test_a_confirmed_plan_stays_and_only_its_undo_is_left_behind(tmp_path: Path, manager: str) -> None:
    machine = plans.prepared(tmp_path, manager)
    before = machine.tree()
    transaction = carry_out(machine, plans.request())
    assert transaction.state is GuardState.CONFIRMED, transaction.board.status()
    assert machine.tree() == plans.new_tree(before)
    live = machine.live()
    assert live["devices"]["fab0"] == (True, 9000, [("10.0.1.1/24", False)])
    assert live["devices"]["fab1"] == (True, 9000, [("10.0.2.1/24", False)])
    assert live["rules"] == [["filter", "DOCKER-USER", *plans.RULE]]
    assert live["enabled"] == ["stellwerk-firewall.service"]
    assert sorted(p.name for p in transaction.directory.iterdir()) == [
        "backup.json",
        "files",
        "journal.jsonl",
        "request.json",
    ]
    assert transaction.directory.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("manager", ["networkd", "NetworkManager"])
def test_a_reverted_plan_leaves_files_and_live_state_as_they_were(tmp_path: Path, manager: str) -> None:
    machine = plans.prepared(tmp_path, manager)
    files, live = machine.tree(), machine.live()
    transaction = carry_out(machine, plans.request(), "revert", "lease lost")
    status = transaction.board.status()
    assert (status.state, status.why) == (GuardState.REVERTED, "lease lost")
    assert machine.tree() == files
    assert machine.live() == live


def test_only_the_interfaces_that_change_are_reconfigured(tmp_path: Path) -> None:
    machine = plans.prepared(tmp_path)
    carry_out(machine, plans.request())
    assert machine.calls("networkctl") == [
        "networkctl reload",
        "networkctl reconfigure fab0",
        "networkctl reconfigure fab1",
    ]
    assert not machine.calls("netplan apply")
    assert not [line for line in machine.calls() if "mgmt0" in line]


def test_networkmanager_takes_up_only_our_profiles_and_reapplies_one_that_runs(tmp_path: Path) -> None:
    machine = plans.prepared(tmp_path, "NetworkManager")
    machine.load()["devices"]["fab1"]["profile"] = ["netplan-fab1", "u-1"]
    machine.save()
    carry_out(machine, plans.request())
    assert machine.calls("nmcli connection reload") and not machine.calls("networkctl")
    assert machine.calls("nmcli --wait 20 connection up") == [
        "nmcli --wait 20 connection up id netplan-fab0 ifname fab0"
    ]
    assert machine.calls("nmcli device reapply") == ["nmcli device reapply fab1"]


def test_netplan_apply_is_the_fallback_when_the_finer_way_fails(tmp_path: Path) -> None:
    machine = plans.prepared(tmp_path)
    machine.fail("networkctl reload", says="Failed to connect to bus")
    transaction = carry_out(machine, plans.request())
    assert transaction.state is GuardState.CONFIRMED
    assert machine.calls("netplan apply") == ["netplan apply"]
    assert any("Failed to connect to bus" in line for line in transaction.board.status().log)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda m: m.write(plans.FOREIGN, plans.FOREIGN_TEXT + "# edited\n", 0o644), "40-cx7.yaml has changed since"),
        (lambda m: m.write(plans.OURS, "x"), "60-stellwerk.yaml has changed since the plan was made: the file is new"),
        (lambda m: (m.root / plans.LEFTOVER[1:]).unlink(), "98-old.yaml has changed since the plan was made: the file"),
        (lambda m: m.write("/proc/sys/net/ipv4/conf/fab0/arp_ignore", "2\n"), "it is 2, the plan assumed 0"),
        (lambda m: m.fail("netplan generate", says="10-x.yaml:3:1: Error in"), "10-x.yaml:3:1: Error"),
        (lambda m: m.fail("systemctl enable", says="read-only file system"), "way back at boot cannot be installed"),
        (lambda m: m.load()["devices"].pop("fab1") and m.save(), "no interface fab1"),
    ],
)  # fmt: skip
def test_a_machine_that_is_not_as_planned_is_refused_before_anything_live_changes(
    tmp_path: Path, spoil: Callable[[Machine], object], reason: str
) -> None:
    machine = plans.prepared(tmp_path)
    spoil(machine)
    files, live = machine.tree(), machine.live()
    transaction = carry_out(machine, plans.request())
    status = transaction.board.status()
    assert status.state is GuardState.REVERTED
    assert reason in status.why
    assert machine.tree() == files
    assert machine.live() == live
    assert not machine.calls("networkctl")


def test_the_staging_tree_holds_the_merged_files_and_is_removed(tmp_path: Path) -> None:
    machine = plans.prepared(tmp_path)
    bad = only(
        changes=(FileChange(plans.OURS, None, "network: {version: 2, ethernets: {fab0: {addresses: [10.0.1.1]}}}\n"),)
    )
    transaction = carry_out(machine, plans.request(bad))
    why = transaction.board.status().why
    assert (
        "/etc/netplan/60-stellwerk.yaml:1:1: Error in network definition: address '10.0.1.1' is missing /prefixlength"
        in why
    )
    assert str(tmp_path) not in why
    assert not (transaction.directory / "staging").exists()


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        ([["fab1", "10.0.2.1/24"]], "fab1 does not have 10.0.2.1/24"),
        ([["lose", "mgmt0"]], "the address 192.168.1.7/24 of mgmt0, of the way out of this node, is gone"),
    ],
)
def test_a_change_that_fails_its_checks_goes_back(tmp_path: Path, spoil: list[list[str]], reason: str) -> None:
    machine = plans.prepared(tmp_path)
    files, live = machine.tree(), machine.live()
    machine.set("spoil", spoil)
    transaction = carry_out(machine, plans.request())
    status = transaction.board.status()
    assert status.state is GuardState.REVERTED
    assert reason in status.why
    assert machine.tree() == files
    if spoil[0][0] != "lose":  # what the service itself cut on another interface is not ours to rebuild
        assert machine.live() == live


def test_a_missing_cable_is_named_when_the_address_does_not_appear(tmp_path: Path) -> None:
    machine = plans.prepared(tmp_path)
    machine.set("spoil", [["fab1", "10.0.2.1/24"]])
    machine.write("/sys/class/net/fab1/carrier", "0\n")
    assert "no carrier: is the cable in?" in carry_out(machine, plans.request()).board.status().why


def test_the_sessions_own_address_is_never_taken_away_as_left_behind(tmp_path: Path) -> None:
    machine = plans.prepared(tmp_path)
    transaction = carry_out(machine, plans.request(session_address="10.9.0.1"))
    assert transaction.state is GuardState.CONFIRMED
    assert ("10.9.0.1/24", False) in machine.live()["devices"]["fab0"][2]


def test_a_session_over_a_changed_interface_that_loses_its_address_brings_the_old_state_back(tmp_path: Path) -> None:
    machine = plans.prepared(tmp_path, "NetworkManager")  # its activation drops the old address
    live = machine.live()
    transaction = carry_out(machine, plans.request(session_address="10.9.0.1"))
    assert "through which this session runs, is gone" in transaction.board.status().why
    assert machine.live()["devices"]["fab0"] == live["devices"]["fab0"]


def test_peers_are_asked_only_when_told(tmp_path: Path) -> None:
    machine = plans.prepared(tmp_path)
    machine.set("silent", ["10.0.1.2"])
    assert carry_out(machine, plans.request()).state is GuardState.CONFIRMED
    assert not machine.calls("ping")
    second = plans.prepared(tmp_path / "second")
    second.set("silent", ["10.0.1.2"])
    transaction = carry_out(second, plans.request(ping_peers=True))
    assert transaction.board.status().why.endswith("10.0.1.2 does not answer through fab0.")


def test_a_rule_and_a_unit_that_were_there_before_are_still_there_after_going_back(tmp_path: Path) -> None:
    machine = plans.prepared(tmp_path)
    machine.set("rules", [["filter", "DOCKER-USER", *plans.RULE]])
    machine.write("/etc/systemd/system/stellwerk-firewall.service", "old\n", 0o644)
    machine.set("enabled", ["stellwerk-firewall.service"])
    changes = [c for c in plans.full_plan().changes if c.kind != "unit"]
    unit = replace(next(c for c in plans.full_plan().changes if c.kind == "unit"), before="old\n")  # type: ignore[type-var]
    files, live = machine.tree(), machine.live()
    carry_out(machine, plans.request(only(changes=(*changes, unit))), "revert")
    assert machine.tree() == files
    assert machine.live() == live


def test_what_somebody_else_changed_meanwhile_is_kept_and_told(tmp_path: Path) -> None:
    machine = plans.prepared(tmp_path)
    transaction = plans.open_transaction(machine, plans.request())
    transaction.prepare()
    transaction.apply()
    transaction.hold()
    machine.write(plans.FOREIGN, "by hand\n", 0o644)
    recover(plans.guarded(machine), why="killed")
    status = status_of(transaction.machine.layout, "p1")
    assert status.state is GuardState.REVERTED
    assert "40-cx7.yaml had been changed by somebody else" in status.why
    assert (transaction.directory / "files/found-40-cx7.yaml").read_text() == "by hand\n"
    assert (machine.root / plans.FOREIGN[1:]).read_text() == plans.FOREIGN_TEXT


def test_going_back_that_fails_says_what_is_left_and_succeeds_when_asked_again(tmp_path: Path) -> None:
    machine = plans.prepared(tmp_path)
    files, live = machine.tree(), machine.live()
    transaction = plans.open_transaction(machine, plans.request())
    transaction.prepare()
    transaction.apply()
    transaction.hold()
    machine.fail("iptables -w 5 -t filter -D", says="xtables lock is held")
    guarded = plans.guarded(machine)
    status = start.status(guarded)
    assert status.state is GuardState.FAILED
    assert "going back is not complete: remove a firewall rule" in status.why and "xtables lock is held" in status.why
    assert (machine.root / "etc/systemd/system/stellwerk-restore.service").exists()
    assert start.status(guarded).state is GuardState.FAILED, "asking does not try again"
    machine.set("fail", [])
    assert start.revert_now(guarded).state is GuardState.REVERTED
    assert machine.tree() == files
    assert machine.live() == live


def test_the_boot_unit_is_there_before_the_first_file_changes_and_gone_after_the_end(tmp_path: Path) -> None:
    machine = plans.prepared(tmp_path)
    transaction = plans.open_transaction(machine, plans.request())
    transaction.prepare()
    unit = machine.root / "etc/systemd/system/stellwerk-restore.service"
    text = unit.read_text()
    assert "Before=network-pre.target" in text and "DefaultDependencies=no" in text
    assert 'ExecStart="/usr/bin/python3" "-I" "agent.pyz" "root" "boot-restore"' in text
    assert "stellwerk-restore.service" in machine.live()["enabled"]
    assert not (machine.root / plans.OURS[1:]).exists()
    transaction.apply()
    transaction.confirm()
    assert not unit.exists()
    assert "stellwerk-restore.service" not in machine.live()["enabled"]


def test_the_outcome_can_be_read_without_root(tmp_path: Path) -> None:
    machine = plans.prepared(tmp_path)
    transaction = carry_out(machine, plans.request(), "revert", "lease lost")
    outcome = transaction.machine.layout.outcome
    assert outcome.stat().st_mode & 0o777 == 0o644
    told = json.loads(outcome.read_text())
    assert (told["state"], told["why"], told["plan_id"]) == ("reverted", "lease lost", "p1")


def test_a_full_disk_is_refused_with_the_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = plans.prepared(tmp_path)
    files = machine.tree()
    import os

    real = os.statvfs

    def full(path: object) -> os.statvfs_result:
        values = list(real(path))  # type: ignore[arg-type]
        values[4] = 2  # f_bavail
        return os.statvfs_result(values)

    monkeypatch.setattr("os.statvfs", full)
    transaction = carry_out(machine, plans.request())
    assert "is full" in transaction.board.status().why and "8 KiB are free" in transaction.board.status().why
    assert machine.tree() == files


@pytest.mark.parametrize(
    "change",
    [
        FileChange("/etc/passwd", None, "x"),
        FileChange("/etc/netplan/../passwd", None, "x"),
        FileChange("/etc/netplan/sub/x.yaml", None, "x"),
        FileChange("/etc/netplan/x.yaml", None, "x", 0o666),
        SysctlChange("kernel.core_pattern", None, "x"),
        SysctlChange("net.ipv4/../../kernel.core_pattern", None, "x"),
        SysctlChange("net.ipv4.ip_forward", None, "1\n2"),
        FirewallChange("filter", "FORWARD", ("-j", "ACCEPT", "-F")),
        FirewallChange("filter", "-F", ("-j", "ACCEPT")),
        FirewallChange("filter", "FORWARD", ()),
    ],
)
def test_what_root_must_not_do_is_refused_at_once(tmp_path: Path, change: FileChange) -> None:
    machine = plans.prepared(tmp_path)
    with pytest.raises(PlanRefused):
        start.start(plans.guarded(machine), plans.request(only(changes=(change,))), ("false",))
    assert not (machine.root / "var/lib/stellwerk").exists()


@pytest.mark.parametrize("end", ["confirm", "revert"])
def test_a_unit_that_goes_is_disabled_while_its_file_is_there_and_comes_back_enabled(tmp_path: Path, end: str) -> None:
    machine = plans.prepared(tmp_path)
    machine.write("/etc/systemd/system/stellwerk-firewall.service", "old\n", 0o644)
    machine.set("enabled", ["stellwerk-firewall.service"])
    machine.set("rules", [["filter", "DOCKER-USER", *plans.RULE]])
    rule = ("filter", "DOCKER-USER", *plans.RULE)
    changes = (
        CommandChange(("firewall-delete", *rule), ("firewall-insert", *rule)),
        UnitChange("stellwerk-firewall.service", "old\n", None),
    )
    files, live = machine.tree(), machine.live()
    transaction = carry_out(
        machine, plans.request(only(changes=changes, reconfigure=(), expect_addresses=(), expect_mtu=())), end
    )
    if end == "revert":
        assert (machine.tree(), machine.live()) == (files, live)
        return
    assert transaction.state is GuardState.CONFIRMED, transaction.board.status()
    assert "etc/systemd/system/stellwerk-firewall.service" not in machine.tree()
    assert (machine.live()["enabled"], machine.live()["rules"]) == ([], [])
