"""What runs on its own on a simulated node: transient units, and units at boot."""

from __future__ import annotations

from pathlib import Path

from engine.virtual.support import shell


async def test_systemd_run_starts_what_outlives_the_session_and_units_run_at_boot_before_the_network() -> None:
    async with shell(1, "single") as sh:
        home = sh.cluster.nodes[0].home
        sleeper = "python3 -c 'import time; time.sleep(600)'"
        await sh.ok("spark-1", f"sudo -n systemd-run --quiet --collect --unit=stellwerk-guard-1 -- {sleeper}")
        assert await sh.ok("spark-1", "systemctl is-active stellwerk-guard-1") == "active\n"
        await sh.ok("spark-1", "sudo -n systemctl stop stellwerk-guard-1")
        assert (await sh.on("spark-1", "systemctl is-active stellwerk-guard-1")).exit_status == 3
        program = (
            "import json, subprocess; "
            f"open('{home}/booted', 'a').write(subprocess.run(['ip', '-j', 'addr', 'show', 'dev', 'enP7s7'], "
            "capture_output=True, text=True).stdout)"
        )
        unit = (
            "[Unit]\nBefore=network-pre.target\n[Service]\nType=oneshot\n"
            f'ExecStart={sh.root("spark-1", "/").parent}/bin/python3 -c "{program}"\n'
            "[Install]\nWantedBy=multi-user.target\n"
        )
        sh.root("spark-1", "/etc/systemd/system/stellwerk-restore.service").write_text(unit)
        await sh.ok("spark-1", "sudo -n systemctl daemon-reload && sudo -n systemctl enable stellwerk-restore.service")
        assert await sh.ok("spark-1", "systemctl is-enabled stellwerk-restore.service") == "enabled\n"
        await sh.cluster.set_fault("reboot", node="spark-1")

        early = Path(home, "booted").read_text()
        assert '"addr_info":[]' in early  # the unit ran, and there was no address yet
        await sh.ok("spark-1", "sudo -n systemctl disable stellwerk-restore.service")
        assert (await sh.on("spark-1", "systemctl is-enabled stellwerk-restore.service")).exit_status == 1
