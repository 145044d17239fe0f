"""Where netguard keeps things, below the root of the machine."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path

from stellwerk.model.errors import PlanRefused
from stellwerk.model.text import say

RESTORE_UNIT = "stellwerk-restore.service"
_PLAN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class Layout:
    """Paths of one machine."""

    root: Path

    def under(self, path: str) -> Path:
        """An absolute path of the machine, below the root."""
        return self.root / path.lstrip("/")

    @property
    def base(self) -> Path:
        """What root keeps for the agent; readable by all, writable by root."""
        return self.under("/var/lib/stellwerk")

    @property
    def guard(self) -> Path:
        """Journals, backups and undo; for root alone."""
        return self.base / "guard"

    @property
    def lock(self) -> Path:
        """Held by the guard as long as it lives."""
        return self.guard / "lock"

    @property
    def outcome(self) -> Path:
        """The last status, so that it can be read without root."""
        return self.base / "outcome.json"

    @property
    def boot_unit(self) -> Path:
        """The unit that takes an unconfirmed change back at boot."""
        return self.under(f"/etc/systemd/system/{RESTORE_UNIT}")

    @property
    def has_systemd(self) -> bool:
        """True when systemd is the running init (sd_booted(3))."""
        return self.under("/run/systemd/system").is_dir()

    def plan(self, plan_id: str) -> Path:
        """The directory of one transaction. Raises `PlanRefused` for a name that is no plain name."""
        if not _PLAN_ID.fullmatch(plan_id):
            raise PlanRefused(say("{plan_id} is not a plan's name", plan_id=repr(plan_id)))
        return self.guard / plan_id

    def socket(self, uid: int) -> Path:
        """Where a running guard listens for the user who started it."""
        return self.under(f"/run/stellwerk/guard-{uid}.sock")

    def sysctl(self, key: str) -> Path:
        """The file of a sysctl; in `key` dots and slashes are swapped, as sysctl(8) wants it."""
        return self.under("/proc/sys/" + key.translate(str.maketrans("./", "/.")))

    def boot_id(self) -> str:
        """The kernel's name for this boot; empty when it cannot be read."""
        try:
            return self.under("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        except OSError:
            return ""

    def carrier(self, device: str) -> bool | None:
        """Whether a device has a link; None when it is down or not there."""
        try:
            return self.under(f"/sys/class/net/{device}/carrier").read_text("ascii").strip() == "1"
        except OSError:
            return None


def now_s() -> float:
    """Seconds since boot, time asleep included: no clock setting moves it."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)
