"""A simulated machine for netguard's tests: the commands of `netguard/commands.py` acting on one JSON file.

The same code answers in the process (`Machine.__call__` is a `Runner`) and as real commands in PATH (`write_shims`).
It is a model of netplan, networkd, NetworkManager, ip, iptables and systemctl, as far as netguard sees them.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stellwerk_agent.netguard.commands import Done

BOOT = "11111111-2222-3333-4444-555555555555"
COMMANDS = ("netplan", "networkctl", "nmcli", "ip", "ping", "iptables", "systemctl", "systemd-run")


class Refuse(Exception):
    """A command that ends with a status of its own."""

    def __init__(self, rc: int, text: str = "") -> None:
        super().__init__(text)
        self.rc = rc


class Machine:
    """`root` is the machine's file tree; what is live lies beside it in `live.json`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.file = root.parent / "live.json"
        self.data: dict[str, Any] = {}

    @classmethod
    def make(cls, base: Path, *, manager: str = "networkd", systemd: bool = False) -> Machine:
        """Two fabric halves that know nothing yet, and a management interface with the default route."""
        machine = cls(base / "root")
        root = machine.root
        for directory in (
            "etc/netplan",
            "etc/sysctl.d",
            "etc/systemd/system",
            "run",
            "var/lib",
            "proc/sys/kernel/random",
        ):
            (root / directory).mkdir(parents=True)
        if systemd:
            (root / "run/systemd/system").mkdir(parents=True)
        (root / "proc/sys/kernel/random/boot_id").write_text(BOOT + "\n")
        for device in ("fab0", "fab1"):
            conf = root / f"proc/sys/net/ipv4/conf/{device}"
            conf.mkdir(parents=True)
            (conf / "arp_ignore").write_text("0\n")
            (root / f"sys/class/net/{device}").mkdir(parents=True)
            (root / f"sys/class/net/{device}/carrier").write_text("1\n")
        management = "network:\n  version: 2\n  ethernets:\n    mgmt0:\n      addresses: [192.168.1.7/24]\n"
        if manager == "NetworkManager":
            management = management.replace("version: 2", "version: 2\n  renderer: NetworkManager")
        machine.write("/etc/netplan/01-home.yaml", management)
        machine.data = {
            "devices": {
                "mgmt0": {
                    "up": True,
                    "mtu": 1500,
                    "addresses": [["192.168.1.7/24", False]],
                    "profile": ["home", "u-0"],
                },
                "fab0": {"up": True, "mtu": 1500, "addresses": [["10.9.0.1/24", False]], "profile": None},
                "fab1": {"up": False, "mtu": 1500, "addresses": [], "profile": None},
            },
            "routes": [{"dst": "default", "dev": "mgmt0", "gateway": "192.168.1.1", "protocol": "static"}],
            "rules": [],
            "enabled": [],
            "fail": [],  # [words that a command line begins with, exit status, what it says]
            "spoil": [],  # after a reconfigure: [device, cidr] that does not appear, or ["lose", device]
            "calls": [],
        }
        machine.save()
        machine(["netplan", "generate", "--root-dir", str(root)])
        return machine

    def write(self, path: str, text: str, mode: int = 0o600) -> Path:
        target = self.root / path.lstrip("/")
        target.write_text(text)
        target.chmod(mode)
        return target

    def load(self) -> dict[str, Any]:
        self.data = json.loads(self.file.read_text())
        return self.data

    def save(self) -> None:
        temporary = self.file.with_suffix(f".{os.getpid()}")
        temporary.write_text(json.dumps(self.data))
        temporary.replace(self.file)

    def set(self, key: str, value: Any) -> None:
        self.load()[key] = value
        self.save()

    def fail(self, words: str, rc: int = 1, says: str = "it does not work") -> None:
        self.load()["fail"].append([words, rc, says])
        self.save()

    def calls(self, begin: str = "") -> list[str]:
        return [line for line in self.load()["calls"] if line.startswith(begin)]

    def live(self) -> dict[str, Any]:
        """What counts as the live state, comparable."""
        data = self.load()
        return {
            "devices": {n: (d["up"], d["mtu"], sorted(map(tuple, d["addresses"]))) for n, d in data["devices"].items()},
            "routes": data["routes"],
            "rules": data["rules"],
            "enabled": sorted(data["enabled"]),
        }

    def tree(self) -> dict[str, tuple[bytes, int]]:
        """Every file under /etc with its content and mode, and every sysctl."""
        places = [*(self.root / "etc").rglob("*"), *(self.root / "proc/sys/net").rglob("*")]
        return {
            str(path.relative_to(self.root)): (path.read_bytes(), path.stat().st_mode & 0o7777)
            for path in places
            if path.is_file()
        }

    # -- the commands ----------------------------------------------------------------------------------------------

    def __call__(self, argv: Sequence[str], timeout_s: float = 30.0) -> Done:
        from stellwerk_agent.netguard.commands import Done

        rc, out, err = self.answer(argv)
        return Done(tuple(argv), rc, out, err)

    def answer(self, argv: Sequence[str]) -> tuple[int, str, str]:
        """Exit status, stdout, stderr."""
        self.load()
        line = " ".join(argv)
        self.data["calls"].append(line)
        try:
            for words, rc, says in self.data["fail"]:
                if line.startswith(words):
                    raise Refuse(rc, says)
            out = getattr(self, "_" + argv[0].replace("-", "_"))(list(argv[1:]))
        except Refuse as refusal:
            self.save()
            return refusal.rc, "", str(refusal)
        self.save()
        return 0, out or "", ""

    def _netplan(self, words: list[str]) -> None:
        if words == ["apply"]:
            for device in self.data["devices"]:
                self._take_up(device)
            return
        assert words[:2] == ["generate", "--root-dir"], words
        generate(Path(words[2]))

    def _networkctl(self, words: list[str]) -> None:
        if words[0] == "reconfigure":
            self._take_up(words[1])
        else:
            assert words == ["reload"], words

    def _take_up(self, name: str) -> None:
        """What the network service does with an interface. It leaves old addresses behind, as netplan does."""
        device = self.data["devices"][name]
        wanted = generated(self.root, name)
        lost = [item[1] for item in self.data["spoil"] if item[0] == "lose"]
        for victim in lost:
            self.data["devices"][victim]["addresses"] = []
        if wanted is None:
            return
        for cidr in wanted["addresses"]:
            if [name, cidr] not in self.data["spoil"] and [cidr, False] not in device["addresses"]:
                device["addresses"].append([cidr, False])
        device.update(up=True, mtu=wanted["mtu"] or 1500)

    def _nmcli(self, words: list[str]) -> str | None:
        if words == ["connection", "reload"]:
            return None
        if words[:2] == ["-g", "GENERAL.CONNECTION,GENERAL.CON-UUID"]:
            if words[4] not in self.data["devices"]:
                raise Refuse(10, f"Error: Device '{words[4]}' not found.")
            profile = self.data["devices"][words[4]]["profile"] or ["", ""]
            return "\n".join(profile) + "\n"
        if words[:2] == ["device", "reapply"]:
            self._take_up(words[2])
            return None
        assert words[0] == "--wait" and words[2:4] == ["connection", "up"] and words[6] == "ifname", words
        device = self.data["devices"][words[7]]
        if words[4] == "id":
            assert (self.root / f"run/NetworkManager/system-connections/{words[5]}.nmconnection").is_file()
            device["profile"] = [words[5], f"u-{words[5]}"]
            device["addresses"] = []
            self._take_up(words[7])
        else:
            device["profile"] = ["before", words[5]]
        return None

    def _ip(self, words: list[str]) -> str | None:
        devices = self.data["devices"]
        if words == ["-j", "addr", "show"]:
            return json.dumps([_link(name, device) for name, device in devices.items()])
        if words[:2] == ["-j", "-4"]:
            return json.dumps(self.data["routes"])
        if words[:2] == ["-j", "-6"]:
            return "[]"
        if words[:2] == ["addr", "add"]:
            if [words[2], False] in devices[words[4]]["addresses"]:
                raise Refuse(2, "RTNETLINK answers: File exists")
            devices[words[4]]["addresses"].append([words[2], False])
        elif words[:2] == ["addr", "del"]:
            if [words[2], False] not in devices[words[4]]["addresses"]:
                raise Refuse(2, "RTNETLINK answers: Cannot assign requested address")
            devices[words[4]]["addresses"].remove([words[2], False])
        elif words[:3] == ["link", "set", "dev"]:
            change = (
                {"up": True} if words[4] == "up" else {"up": False} if words[4] == "down" else {"mtu": int(words[5])}
            )
            devices[words[3]].update(change)
        elif words[:2] == ["route", "replace"]:
            row = {"dst": words[2], "dev": words[words.index("dev") + 1], "protocol": "static"}
            if "via" in words:
                row["gateway"] = words[words.index("via") + 1]
            self.data["routes"] = [r for r in self.data["routes"] if r["dst"] != words[2]] + [row]
        else:
            raise AssertionError(words)
        return None

    def _ping(self, words: list[str]) -> None:
        if words[-1] in self.data.get("silent", []):
            raise Refuse(1)

    def _iptables(self, words: list[str]) -> None:
        assert words[:3] == ["-w", "5", "-t"], words
        rule = [words[3], *words[5:]]
        there = rule in self.data["rules"]
        if words[4] == "-C" and not there:
            raise Refuse(1)
        if words[4] == "-I":
            self.data["rules"].insert(0, rule)
        if words[4] == "-D":
            self.data["rules"].remove(rule)

    def _systemctl(self, words: list[str]) -> str | None:
        enabled = self.data["enabled"]
        if words[0] == "daemon-reload":
            return None
        name = words[1]
        if words[0] == "is-enabled":
            if name not in enabled:
                raise Refuse(1, "disabled")
            return "enabled\n"
        if not (self.root / "etc/systemd/system" / name).is_file():
            raise Refuse(1, f"Failed to {words[0]} unit: Unit file {name} does not exist.")
        if words[0] == "enable" and name not in enabled:
            enabled.append(name)
        if words[0] == "disable" and name in enabled:
            enabled.remove(name)
        return None

    def boot(self) -> None:
        """A power cycle: what was live is gone, the files speak. Boot units are run by the test."""
        data = self.load()
        (self.root / "proc/sys/kernel/random/boot_id").write_text("99999999-2222-3333-4444-555555555555\n")
        for device in data["devices"].values():
            device.update(up=False, mtu=1500, addresses=[])
        data.update(rules=[], routes=[])
        self.save()


def _link(name: str, device: dict[str, Any]) -> dict[str, Any]:
    infos = []
    for cidr, dynamic in device["addresses"]:
        local, length = cidr.split("/")
        infos.append(
            {"family": "inet", "local": local, "prefixlen": int(length), "scope": "global", "dynamic": dynamic}
        )
    return {"ifname": name, "mtu": device["mtu"], "flags": ["UP"] if device["up"] else [], "addr_info": infos}


def generate(tree: Path) -> None:
    """netplan's generator: merges all files, lists are concatenated; writes what the service reads."""
    import yaml

    renderer = "networkd"
    merged: dict[str, dict[str, Any]] = {}
    for path in sorted((tree / "etc/netplan").glob("*.yaml")):
        try:
            network = yaml.load(path.read_text(), yaml.CSafeLoader)["network"]
        except (yaml.YAMLError, TypeError, KeyError) as error:
            raise Refuse(1, f"{path}: Error in network definition: {error}") from None
        renderer = network.get("renderer", renderer)
        for name, wanted in network.get("ethernets", {}).items():
            entry = merged.setdefault(name, {"addresses": [], "mtu": None})
            for address in wanted.get("addresses", []):
                if "/" not in address:
                    raise Refuse(
                        1, f"{path}:1:1: Error in network definition: address '{address}' is missing /prefixlength"
                    )
                entry["addresses"].append(address)
            entry["mtu"] = wanted.get("mtu", entry["mtu"])
    networkd, manager = tree / "run/systemd/network", tree / "run/NetworkManager/system-connections"
    for place in (networkd, manager):
        place.mkdir(parents=True, exist_ok=True)
        for old in place.glob("*netplan-*"):
            old.unlink()
    for name, entry in merged.items():
        told = f"\n# {json.dumps(entry)}\n"
        if renderer == "networkd":
            (networkd / f"10-netplan-{name}.network").write_text(f"[Match]\nName={name}\n{told}")
        else:
            text = f"[connection]\nid=netplan-{name}\ninterface-name={name}\n{told}"
            (manager / f"netplan-{name}.nmconnection").write_text(text)


def generated(root: Path, name: str) -> dict[str, Any] | None:
    for place in (
        f"systemd/network/10-netplan-{name}.network",
        f"NetworkManager/system-connections/netplan-{name}.nmconnection",
    ):
        path = root / "run" / place
        if path.is_file():
            wanted: dict[str, Any] = json.loads(path.read_text().split("# ", 1)[1])
            return wanted
    return None


def write_shims(bin_dir: Path, root: Path) -> None:
    """The commands as real programs for a PATH of their own."""
    bin_dir.mkdir(parents=True, exist_ok=True)
    for name in COMMANDS:
        if name == "systemd-run":
            continue  # the tests' machine has no systemd: the guard starts as a session of its own
        shim = bin_dir / name
        here = Path(__file__).resolve().parent
        # Without site packages a command starts in a few milliseconds; only netplan needs one of them.
        paths = [str(here), *(p for p in sys.path if name == "netplan" and p.endswith("site-packages"))]
        shim.write_text(
            f"#!{os.path.realpath(sys.executable)} -IS\nimport sys\nsys.path += {paths!r}\n"
            f"from pathlib import Path\nfrom machine import Machine\n"
            f"rc, out, err = Machine(Path({str(root)!r})).answer([{name!r}, *sys.argv[1:]])\n"
            "sys.stdout.write(out)\nsys.stderr.write(err)\nsys.exit(rc)\n"
        )
        shim.chmod(0o755)
    python = bin_dir / "python3"
    python.symlink_to("/usr/bin/python3")
