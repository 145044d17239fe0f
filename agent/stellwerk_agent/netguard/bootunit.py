"""The one-shot unit that takes an unconfirmed change back when the machine boots."""

from __future__ import annotations

from stellwerk.model.errors import PlanRefused
from stellwerk_agent.netguard import files
from stellwerk_agent.netguard.commands import Runner
from stellwerk_agent.netguard.layout import RESTORE_UNIT, Layout


def unit_text(argv: tuple[str, ...]) -> str:
    """The unit. It runs before anything reads network files or sysctls, so DefaultDependencies must be off."""
    command = " ".join(f'"{_escaped(word)}"' for word in argv)
    return f"""\
[Unit]
Description=Take back a network change of Stellwerk that was not confirmed
DefaultDependencies=no
After=local-fs.target
Before=network-pre.target systemd-sysctl.service shutdown.target
Wants=network-pre.target
Conflicts=shutdown.target
RequiresMountsFor=/var/lib/stellwerk /etc

[Service]
Type=oneshot
ExecStart={command}
TimeoutStartSec=180

[Install]
WantedBy=sysinit.target
"""


def _escaped(word: str) -> str:
    """A word within quotes on a command line of systemd (systemd.service(5))."""
    return word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")


def install(layout: Layout, argv: tuple[str, ...], run: Runner) -> None:
    """Put the unit in place and enable it, durably. Raises `PlanRefused`: without it nothing live may change."""
    files.make_directory(layout.boot_unit.parent, 0o755)
    files.place(layout.boot_unit, unit_text(argv).encode(), 0o644)
    for words in (("systemctl", "daemon-reload"), ("systemctl", "enable", RESTORE_UNIT)):
        done = run(words)
        if not done.ok:
            raise PlanRefused("the way back at boot cannot be installed", why=done.complaint)
    sync(layout)


def remove(layout: Layout, run: Runner) -> None:
    """Disable and remove the unit; it may be gone already. Raises `OSError`."""
    if not layout.boot_unit.exists():
        if layout.boot_unit.parent.is_dir():
            files.remove(layout.boot_unit)  # a half-written one
        return
    run(("systemctl", "disable", RESTORE_UNIT))
    # Where systemctl does not work, its one link goes by hand: the unit's [Install] section is ours.
    files.remove(layout.boot_unit.parent / "sysinit.target.wants" / RESTORE_UNIT)
    files.remove(layout.boot_unit)
    run(("systemctl", "daemon-reload"))
    sync(layout)


def sync(layout: Layout) -> None:
    """Make systemd's links durable: `systemctl enable` does not."""
    directory = layout.boot_unit.parent
    for place in (directory, *directory.glob("*.wants"), *directory.glob("*.requires")):
        if place.is_dir():
            files.sync_directory(place)
