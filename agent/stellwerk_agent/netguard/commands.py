"""Every command line that netguard and `sudo.py` run, and the one way to run them.

Nothing else is executed: no shell, no other option, no other order of words. `ROOT` is the value of `--root`.
All are found through PATH and run with `LC_ALL=C`. A command that is missing is rc 127.

As the user (`stellwerk_agent.sudo`), never with a terminal:

    sudo -k -n true                                   rc 0: NOPASSWD; else rc 1 and the reason on stderr
    sudo -k -A true                                   SUDO_ASKPASS set; rc 0: the password is right
    sudo -n -- PYTHON -I …                            with NOPASSWD
    sudo -k -A -- PYTHON -I …                         with a password, SUDO_ASKPASS set
        … = -c PROGRAM PYZ SHA256 DESTINATION         (bootstrap: copy to the root-owned place)
        … = ROOT/var/lib/stellwerk/SHA256/agent.pyz root VERB [--root ROOT …]
    PYTHON is /usr/bin/python3, under another root the absolute path of the `python3` in PATH.
    `-k` with a command means: ignore cached credentials and leave none behind.
    What is read from sudo's stderr (LC_ALL=C): "a password is required", "a terminal is required",
    "no password was provided", "incorrect password attempt", "not in the sudoers file", "is not allowed to",
    "may not run sudo", "must have a tty". After one wrong password askpass prints nothing and exits 1.
    sudo sets SUDO_UID (the uid that SO_PEERCRED shows for the caller), SUDO_USER and PATH, and clears the rest.

As root (`stellwerk_agent.netguard`):

    netplan generate --root-dir DIR                   DIR: a staging tree, or ROOT itself when ROOT is not /
    netplan generate                                  when ROOT is /
    netplan apply                                     the fallback, when a finer way fails
    networkctl reload
    networkctl reconfigure IF
    nmcli connection reload
    nmcli -g GENERAL.CONNECTION,GENERAL.CON-UUID device show IF      two lines, empty ones when nothing is active
    nmcli device reapply IF                           when IF already runs its netplan profile
    nmcli --wait 20 connection up id NAME ifname IF
    nmcli --wait 0 connection up uuid UUID ifname IF                 (going back to the profile of before)
    ip -j addr show
    ip -j -4 route show table main
    ip -j -6 route show table main
    ip addr add CIDR dev IF
    ip addr del CIDR dev IF
    ip link set dev IF mtu N
    ip link set dev IF up|down
    ip route replace DESTINATION [via GATEWAY] dev IF [src ADDRESS] [metric N]
    ip route del DESTINATION [via GATEWAY] dev IF
    ping -n -c 3 -W 1 -I IF ADDRESS                   only when peers are to be asked
    iptables -w 5 -t TABLE -C|-I|-D CHAIN RULE…       -C: rc 0 there, rc 1 not there
    systemctl daemon-reload
    systemctl enable NAME | disable NAME | is-enabled NAME           is-enabled: rc 0 and "enabled", else rc not 0
    systemd-run --quiet --collect --unit=stellwerk-guard-PLAN --property=KillMode=mixed
                --property=TimeoutStopSec=180 -- PYTHON -I …/agent.pyz root guard --root ROOT --plan-id PLAN
                                                      only where ROOT/run/systemd/system exists; else fork + setsid

What `netplan generate` leaves tells who owns an interface (checked under DIR):

    run/systemd/network/10-netplan-IF.network                        systemd-networkd owns IF
    run/NetworkManager/system-connections/netplan-IF.nmconnection    NetworkManager owns IF; the lines
        `id=NAME` and `interface-name=IF` are read

sysctls are the files ROOT/proc/sys/…, the boot id ROOT/proc/sys/kernel/random/boot_id, the carrier
ROOT/sys/class/net/IF/carrier. The boot unit is ROOT/etc/systemd/system/stellwerk-restore.service, enabled through
`systemctl enable`; its ExecStart is `PYTHON -I ROOT/var/lib/stellwerk/SHA256/agent.pyz root boot-restore --root ROOT`.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from stellwerk.model.text import say

MISSING = 127
TIMED_OUT = 124


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended."""

    argv: tuple[str, ...]
    rc: int
    stdout: str = ""
    stderr: str = ""

    @property
    def ok(self) -> bool:
        """True for exit status 0."""
        return self.rc == 0

    @property
    def complaint(self) -> str:
        """What went wrong, in one paragraph that names the command."""
        said = " ".join((self.stderr or self.stdout).split())
        command = " ".join(self.argv)
        if said:
            return say("`{command}` said: {said}", command=command, said=said)
        return say("`{command}` ended with {code}", command=command, code=self.rc)


class Runner(Protocol):
    """Runs one of the command lines of this module."""

    def __call__(self, argv: Sequence[str], timeout_s: float = 30.0) -> Done:
        """Run it to its end; a missing command is rc 127, one that takes too long rc 124."""


def run(argv: Sequence[str], timeout_s: float = 30.0) -> Done:
    """Run a command of the list above and wait for it."""
    words = tuple(argv)
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout_s,
            env={**os.environ, "LC_ALL": "C"},
            check=False,
        )
    except FileNotFoundError:
        return Done(words, MISSING, stderr=f"{words[0]}: command not found")
    except PermissionError as error:
        return Done(words, MISSING, stderr=f"{words[0]}: {error.strerror}")
    except subprocess.TimeoutExpired:
        return Done(words, TIMED_OUT, stderr=f"did not end within {timeout_s:.0f} s")
    return Done(words, done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))
