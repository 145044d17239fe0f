"""A machine inside this machine: own mounts, network, processes; real netplan, network service, sudo and kernel.

Everything that is written lands in memory or in copies: /etc is a copy, /var/lib and /run are empty. Simulated is one
thing: there is no systemd as process 1, so `systemctl daemon-reload` says yes and does nothing; `enable` and `disable`
are systemd's own and work without it. The fabric interfaces are veth pairs.

NetworkManager need not be installed: STELLWERK_LAB_OVERLAY may name a directory with the unpacked packages
(`dpkg -x`), which is laid over /usr inside.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

TOOLS = {
    "unshare": "util-linux",
    "setpriv": "util-linux",
    "ip": "iproute2",
    "netplan": "netplan.io",
    "networkctl": "systemd",
    "dbus-daemon": "dbus",
    "sudo": "sudo",
    "useradd": "passwd",
    "openssl": "openssl",
}

OVERLAY = "STELLWERK_LAB_OVERLAY"
MANAGERS = {
    "networkd": ["/lib/systemd/systemd-networkd"],
    "NetworkManager": ["/usr/sbin/NetworkManager", "--no-daemon"],
}

SET_UP = """
set -e
mount --make-rprivate /
if [ -n "$OVERLAY" ]; then mount -t overlay -o "lowerdir=$OVERLAY/usr:/usr" overlay /usr; fi
copy=$(mktemp -d)
mount -t tmpfs tmpfs $copy
cp -a /etc/. $copy
mount --bind $copy /etc
umount $copy; rmdir $copy
if [ -n "$OVERLAY" ]; then cp -a "$OVERLAY/etc/." /etc; fi
mount -t tmpfs tmpfs /var/lib
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /var/lib/sudo /var/lib/NetworkManager /run/sudo /run/dbus /run/lab /etc/NetworkManager/conf.d
printf '[keyfile]\\nunmanaged-devices=interface-name:peer-*\\n' > /etc/NetworkManager/conf.d/lab.conf
mount -t sysfs -o ro sysfs /sys   # networkd asks udev only where /sys can be written; here is no udev
for user in admin trusted stranger; do
    useradd --no-create-home --home-dir /run/home-$user --password "$(openssl passwd -6 "$PASSWORD")" $user
    mkdir /run/home-$user; chown $user /run/home-$user
done
rm -f /etc/sudoers.d/*
echo 'admin ALL=(ALL) ALL' > /etc/sudoers.d/lab
echo 'trusted ALL=(ALL) NOPASSWD: ALL' >> /etc/sudoers.d/lab
chmod 440 /etc/sudoers.d/lab
ip link set lo up
for device in fab0 fab1 mgmt0; do
    ip link add $device type veth peer name peer-$device
    ip link set peer-$device up
done
rm -rf /etc/netplan; mkdir -p /etc/netplan
cp /usr/bin/systemctl /run/lab/systemctl.real
cat > /run/lab/systemctl <<'END'
#!/bin/sh
[ "$1" = daemon-reload ] && exit 0
export SYSTEMD_OFFLINE=1
exec /run/lab/systemctl.real "$@"
END
chmod 755 /run/lab/systemctl
mount --bind /run/lab/systemctl "$(command -v systemctl)"
dbus-daemon --system --fork --nopidfile
"""


class Namespace:
    """Runs commands inside; everything ends with it."""

    def __init__(self, password: str) -> None:
        self._process = subprocess.Popen(
            [
                "unshare",
                "--mount",
                "--net",
                "--pid",
                "--fork",
                "--kill-child",
                "--mount-proc",
                sys.executable,
                __file__,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        done = self.run(
            ["sh", "-c", SET_UP], environment={"PASSWORD": password, "OVERLAY": os.environ.get(OVERLAY, "")}
        )
        assert done["rc"] == 0, done

    def run(
        self, argv: list[str], user: str | None = None, environment: dict[str, str] | None = None
    ) -> dict[str, Any]:
        """Run one command to its end, as root or as a user: {rc, out, err}."""
        assert self._process.stdin is not None and self._process.stdout is not None
        if user is not None:
            argv = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--", *argv]
        self._process.stdin.write(json.dumps({"argv": argv, "environment": environment or {}}) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def out(self, *argv: str) -> str:
        """What a command prints; it must succeed."""
        done = self.run(list(argv))
        assert done["rc"] == 0, done
        return str(done["out"])

    def close(self) -> None:
        """End everything inside."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(10)
        self._process.stdout.close()


def serve() -> None:
    """Inside: run what is asked for."""
    manager: subprocess.Popen[bytes] | None = None
    for line in sys.stdin:
        asked = json.loads(line)
        environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"}
        if asked["argv"][0] == "start-manager":
            with Path("/run/lab/manager.log").open("wb") as log:
                manager = subprocess.Popen(MANAGERS[asked["argv"][1]], stdout=log, stderr=log, env=environment)
            answer = {"rc": 0 if manager.poll() is None else 1, "out": "", "err": ""}
        else:
            done = subprocess.run(
                asked["argv"],
                capture_output=True,
                env={**environment, **asked["environment"]},
                stdin=subprocess.DEVNULL,
                cwd="/",
                check=False,
            )
            answer = {"rc": done.returncode, "out": done.stdout.decode(), "err": done.stderr.decode("utf-8", "replace")}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    if manager is not None:
        manager.kill()
        manager.wait()


if __name__ == "__main__":
    serve()
