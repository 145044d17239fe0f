"""netguard against real netplan, systemd-networkd, sudo and kernel, in namespaces of this machine (root only)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.netguard.namespace import OVERLAY, TOOLS, Namespace
from stellwerk import wire
from stellwerk.model.plan import FileChange, NodePlan, SysctlChange, UnitChange
from stellwerk.remote.artefact import build_agent

PASSWORD = "läb-pass"
OURS = "/etc/netplan/60-stellwerk.yaml"
FOREIGN = "/etc/netplan/40-cx7.yaml"
FOREIGN_TEXT = """\
network:
  version: 2
  ethernets:
    mgmt0: {addresses: [192.168.1.7/24], routes: [{to: default, via: 192.168.1.1}]}   # the way out
    fab0: {addresses: [10.9.0.1/24]}
"""
FOREIGN_AFTER = FOREIGN_TEXT.replace("    fab0: {addresses: [10.9.0.1/24]}\n", "")
OUR_TEXT = """\
network:
  version: 2
  ethernets:
    fab0: {addresses: [10.0.1.1/24], mtu: 9000, dhcp4: false, link-local: [], optional: true}
    fab1: {addresses: [10.0.2.1/24], mtu: 9000, dhcp4: false, link-local: [], optional: true}
"""
UNIT = "stellwerk-lab.service"
UNIT_TEXT = "[Service]\nType=oneshot\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n"


class Lab:
    """The namespace with the agent in it, and what the tests ask it."""

    def __init__(self, manager: str = "networkd") -> None:
        self.space = Namespace(PASSWORD)
        out = self.space.out
        put(self.space, "/etc/netplan/01-all.yaml", f"network: {{version: 2, renderer: {manager}}}\n")
        put(self.space, FOREIGN, FOREIGN_TEXT)
        out("sh", "-c", "chmod 600 /etc/netplan/*; netplan generate")
        assert self.space.run(["start-manager", manager])["rc"] == 0
        self.wait_for("fab0", {"10.9.0.1/24"})
        self.wait_for("mgmt0", {"192.168.1.7/24"})

    def install(self, agent: Path, script: Path) -> None:
        """Bring the agent and the daemon's side in, readable for every user."""
        self.space.out("install", "-m", "644", str(agent), "/run/lab/agent.pyz")
        self.space.out("install", "-m", "644", str(script), "/run/lab/user_side.py")

    def user(self, name: str, *words: tuple[str, Any]) -> list[dict[str, Any]]:
        """Let a new daemon of a user do some things, one after the other."""
        argv = ["/usr/bin/python3", "-I", "/run/lab/user_side.py", "/run/lab/agent.pyz", json.dumps(words)]
        home = f"/run/home-{name}"
        done = self.space.run(argv, user=name, environment={"HOME": home, "USER": name, "LOGNAME": name})
        assert done["rc"] == 0, done["err"]
        return [json.loads(line) for line in done["out"].splitlines()]

    def trusted(self, word: str, told: Any = None) -> dict[str, Any]:
        """One thing, done by the user with NOPASSWD; it must not be an error."""
        (answer,) = self.user("trusted", (word, told))
        assert "result" in answer, answer
        return dict(answer["result"])

    def addresses(self, device: str) -> set[str]:
        (link,) = json.loads(self.space.out("ip", "-j", "addr", "show", "dev", device))
        return {f"{a['local']}/{a['prefixlen']}" for a in link["addr_info"] if a["family"] == "inet"}

    def mtu(self, device: str) -> int:
        return int(json.loads(self.space.out("ip", "-j", "link", "show", "dev", device))[0]["mtu"])

    def wait(self, condition: Callable[[], bool]) -> None:
        end = time.monotonic() + 30
        while not condition():
            assert time.monotonic() < end, self.space.out("cat", "/run/lab/manager.log")
            time.sleep(0.1)

    def wait_for(self, device: str, wanted: set[str]) -> None:
        self.wait(lambda: self.addresses(device) == wanted)

    def state(self) -> dict[str, str]:
        """Everything that a change may touch, as text."""
        out = self.space.out
        return {
            "files": out(
                "sh", "-c", "cd /etc; find netplan sysctl.d systemd/system | sort | xargs ls -ld --time-style=+"
            ),
            "texts": out("sh", "-c", "cd /etc; cat netplan/* systemd/system/stellwerk* 2>/dev/null; true"),
            "addresses": json.dumps([sorted(self.addresses(d)) for d in ("fab0", "fab1", "mgmt0")]),
            "mtu": json.dumps([self.mtu(d) for d in ("fab0", "fab1", "mgmt0")]),
            "routes": out("ip", "route", "show", "default"),
            "sysctl": out("cat", "/proc/sys/net/ipv4/conf/fab0/arp_ignore"),
        }


def put(space: Namespace, path: str, text: str) -> None:
    space.out(
        "/usr/bin/python3", "-c", "import sys, pathlib; pathlib.Path(sys.argv[1]).write_text(sys.argv[2])", path, text
    )


def plan(plan_id: str, ours: str = OUR_TEXT) -> dict[str, Any]:
    node = NodePlan(
        node="spark-1",
        node_id="n1",
        rows=(),
        changes=(
            FileChange(OURS, None, ours),
            FileChange(FOREIGN, FOREIGN_TEXT, FOREIGN_AFTER),
            SysctlChange("net.ipv4.conf.fab0.arp_ignore", "0", "1"),
            UnitChange(UNIT, None, UNIT_TEXT),
        ),
        reconfigure=("fab0", "fab1"),
        expect_addresses=(("fab0", "10.0.1.1/24"), ("fab1", "10.0.2.1/24")),
        expect_mtu=(("fab0", 9000), ("fab1", 9000)),
    )
    return {"plan": wire.to_wire(node), "plan_id": plan_id}


def make_lab(manager: str, directory: Path) -> Lab:
    """The lab, or a skip that says why there can be none."""
    if os.geteuid() != 0:
        pytest.skip("needs root: namespaces, users and addresses of their own")
    refused = subprocess.run(
        ["unshare", "--mount", "--net", "--pid", "--fork", "true"], capture_output=True, check=False
    )
    if refused.returncode != 0:
        pytest.skip(f"this environment makes no namespaces: {refused.stderr.decode().strip()}")
    missing = sorted({package for tool, package in TOOLS.items() if shutil.which(tool) is None})
    assert not missing, f"apt-get install {' '.join(missing)}"
    agent = directory / "agent.pyz"
    agent.write_bytes(build_agent().data)
    made = Lab(manager)
    made.install(agent, Path(__file__).with_name("user_side.py"))
    return made


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    made = make_lab("networkd", tmp_path_factory.mktemp("agent"))
    yield made
    made.space.close()


@pytest.fixture
def manager_lab(tmp_path: Path) -> Iterator[Lab]:
    if shutil.which("NetworkManager", path="/usr/sbin") is None and OVERLAY not in os.environ:
        pytest.skip(f"NetworkManager is not installed here (or unpacked at {OVERLAY})")
    made = make_lab("NetworkManager", tmp_path)
    yield made
    made.space.close()


def test_the_real_sudo_is_understood(lab: Lab) -> None:
    assert lab.user("trusted", ("state", None))[0]["result"]["state"] == "nopasswd"
    locked, wrong, right, files, state = lab.user(
        "admin", ("state", None), ("unlock", "wröng"), ("unlock", PASSWORD), ("read-netplan", None), ("state", None)
    )
    assert locked["result"]["state"] == "password"
    assert (wrong["error"], wrong["what"]) == ("sudo", "the sudo password is wrong")
    assert right["result"]["unlocked"] is True
    assert files["result"][FOREIGN] == FOREIGN_TEXT
    assert state["result"] == {"state": "password", "why": None, "unlocked": True}
    again, denied, state = lab.user("stranger", ("state", None), ("unlock", PASSWORD), ("state", None))
    assert again["result"]["state"] == "password", "sudo tells strangers only after their password"
    assert denied["error"] == "sudo" and "not in the sudoers file" in denied["why"]
    assert state["result"]["state"] == "none"


def test_root_runs_a_root_owned_copy_and_no_credentials_are_left_behind(lab: Lab) -> None:
    lab.user("admin", ("unlock", PASSWORD), ("read-netplan", None))
    listing = lab.space.out("sh", "-c", "stat -c '%U %a' /var/lib/stellwerk /var/lib/stellwerk/*/agent.pyz")
    assert set(listing.splitlines()) == {"root 755", "root 644"}
    assert lab.space.run(["sudo", "-n", "true"], user="admin")["rc"] == 1


def test_a_plan_is_applied_by_the_real_network_service_and_taken_back(lab: Lab) -> None:
    before = lab.state()
    started = lab.trusted("start", plan("apply"))
    assert started["state"] == "holding", started
    assert (lab.addresses("fab0"), lab.addresses("fab1")) == ({"10.0.1.1/24"}, {"10.0.2.1/24"})
    assert (lab.mtu("fab0"), lab.mtu("fab1")) == (9000, 9000)
    assert lab.addresses("mgmt0") == {"192.168.1.7/24"}
    assert lab.state()["sysctl"] == "1\n"
    assert lab.space.out("systemctl", "is-enabled", UNIT) == "enabled\n"
    assert lab.space.out("systemctl", "is-enabled", "stellwerk-restore.service") == "enabled\n"
    reverted = lab.trusted("revert", "apply")
    assert (reverted["state"], reverted["why"]) == ("reverted", "asked")
    assert lab.state() == before


def test_a_confirmed_plan_can_be_undone(lab: Lab) -> None:
    before = lab.state()
    assert lab.trusted("start", plan("undone"))["state"] == "holding"
    assert lab.trusted("confirm", "undone")["state"] == "confirmed"
    assert lab.space.run(["systemctl", "is-enabled", "stellwerk-restore.service"])["rc"] != 0
    undone = lab.trusted("undo", "undone")
    assert (undone["state"], undone["plan_id"]) == ("holding", "undone.undo1")
    assert lab.trusted("confirm", "undone.undo1")["state"] == "confirmed"
    after = lab.state()
    assert after == before


def test_netplans_own_words_tell_what_is_wrong(lab: Lab) -> None:
    before = lab.state()
    refused = lab.trusted("start", plan("bad", OUR_TEXT.replace("10.0.1.1/24", "10.0.1.1")))
    assert refused["state"] == "reverted"
    assert "netplan refuses the planned files" in refused["why"]
    assert "/etc/netplan/60-stellwerk.yaml:4" in refused["why"] and "missing /prefixlength" in refused["why"]
    assert lab.state() == before


def test_killed_guards_are_cleaned_up_after(lab: Lab) -> None:
    before = lab.state()
    assert lab.trusted("start", plan("killed"))["state"] == "holding"
    lab.space.out("pkill", "-9", "-f", "root guard --plan-id killed")
    status = lab.trusted("status")
    assert (status["state"], status["plan_id"]) == ("reverted", "killed")
    assert lab.state() == before


def test_a_lost_lease_brings_everything_back(lab: Lab) -> None:
    before = lab.state()
    assert lab.trusted("start", {**plan("lease"), "lease_s": 2.0})["state"] == "holding"
    end = time.monotonic() + 60
    while (status := lab.trusted("status"))["state"] not in ("reverted", "failed"):
        assert time.monotonic() < end, status
        time.sleep(0.2)
    assert status["why"].startswith("lease lost")
    assert lab.state() == before


def test_the_boot_units_own_command_puts_the_files_back(lab: Lab) -> None:
    before = lab.state()
    assert lab.trusted("start", plan("boot"))["state"] == "holding"
    lab.space.out("pkill", "-9", "-f", "root guard --plan-id boot")
    unit = lab.space.out("cat", "/etc/systemd/system/stellwerk-restore.service")
    command = next(line for line in unit.splitlines() if line.startswith("ExecStart=")).removeprefix("ExecStart=")
    done = lab.space.run(["/bin/sh", "-c", command], environment={"PATH": "/nonexistent"})
    assert json.loads(done["out"])["why"] == "reverted at boot: unconfirmed", done
    after = lab.state()
    assert (after["files"], after["texts"]) == (before["files"], before["texts"])
    # What a boot does by itself: the service takes up what was generated from the old files.
    for device in ("fab0", "fab1"):
        lab.space.out("ip", "addr", "flush", "dev", device)
        lab.space.out("ip", "link", "set", "dev", device, "mtu", "1500")
    lab.space.out("networkctl", "reload")
    lab.space.out("networkctl", "reconfigure", "fab0")
    lab.wait_for("fab0", {"10.9.0.1/24"})
    assert lab.trusted("status")["why"] == "reverted at boot: unconfirmed"


def test_the_real_networkmanager_takes_a_plan_up_and_gives_everything_back(manager_lab: Lab) -> None:
    """As on a stock Spark: netplan renders for NetworkManager, a half without a file runs a profile made by itself."""
    lab = manager_lab

    def active() -> str:
        return lab.space.out("nmcli", "-g", "GENERAL.CONNECTION", "device", "show", "fab1").strip()

    lab.wait(lambda: active() != "")
    before, profile = lab.state(), active()
    assert profile.startswith("Wired connection")
    started = lab.trusted("start", plan("nm"))
    assert started["state"] == "holding", started
    assert not [line for line in started["log"] if "netplan apply" in line]
    assert (lab.addresses("fab0"), lab.addresses("fab1")) == ({"10.0.1.1/24"}, {"10.0.2.1/24"})
    assert (lab.mtu("fab0"), lab.mtu("fab1"), lab.addresses("mgmt0")) == (9000, 9000, {"192.168.1.7/24"})
    assert active() == "netplan-fab1"
    assert lab.trusted("revert", "nm")["state"] == "reverted"
    assert lab.state() == before
    lab.wait(lambda: active() == profile)
    assert lab.trusted("start", plan("nm2"))["state"] == "holding"
    assert lab.trusted("confirm", "nm2")["state"] == "confirmed"
    undone = lab.trusted("undo", "nm2")
    assert undone["state"] == "holding", undone
    assert lab.trusted("confirm", "nm2.undo1")["state"] == "confirmed"
    assert lab.state() == before
