"""Every fault breaks what it says, and mending it mends it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import asyncssh
import psutil
import pytest

from engine.virtual.support import connect, eventually, shell
from stellwerk.model.errors import BadInput
from stellwerk.virtual import VirtualCluster


async def test_a_pulled_cable_takes_the_link_at_both_ends_and_comes_back() -> None:
    async with shell(2, "pair") as sh:
        await sh.network("spark-1", "spark-2")
        ping = "ping -c 1 -W 1 192.168.100.2"
        await sh.ok("spark-1", ping)
        await sh.cluster.set_fault("cable-unplugged", node="spark-1")
        for node in ("spark-1", "spark-2"):
            assert sh.root(node, "/sys/class/net/enp1s0f1np1/carrier").read_text() == "0\n"
        assert (await sh.on("spark-1", ping)).exit_status == 1
        assert await sh.cluster.cables() == []
        await sh.cluster.clear_fault("cable-unplugged", node="spark-1")
        await sh.ok("spark-1", ping)
        # In the wrong port: the other end sees light, and the addresses are where no cable is.
        for _ in range(2):  # what is in the wrong port is not put right by being broken once more
            listed = await sh.cluster.set_fault("cable-wrong-port", node="spark-1")
        assert [fault["kind"] for fault in listed].count("cable-wrong-port") == 1
        assert [c["ends"] for c in await sh.cluster.cables()] == [["spark-1:0", "spark-2:1"]]
        assert sh.root("spark-1", "/sys/class/net/enp1s0f0np0/carrier").read_text() == "1\n"
        assert (await sh.on("spark-1", ping)).exit_status == 1
        await sh.cluster.clear_fault("cable-wrong-port", node="spark-1")
        await sh.ok("spark-1", ping)
        # MTU back at 1500 on one node: only large packets are lost, and only they.
        large = "ping -c 1 -W 1 -M do -s 8972 192.168.100.2"
        await sh.ok("spark-1", large)
        await sh.cluster.set_fault("mtu-reset", node="spark-2")
        assert (await sh.on("spark-1", large)).exit_status == 1
        await sh.ok("spark-1", ping)
        await sh.cluster.clear_fault("mtu-reset", node="spark-2")
        await sh.ok("spark-1", large)


async def test_a_node_without_power_is_gone_and_boots_with_its_files_and_its_host_key() -> None:
    async with shell(2, "pair") as sh:
        await sh.network("spark-1", "spark-2")
        node = sh.cluster.node("spark-2")
        Path(node.home, "kept").write_text("yes")
        boot = sh.root("spark-2", "/proc/sys/kernel/random/boot_id").read_text()
        await sh.cluster.set_fault("power-off", node="spark-2")
        assert not sh.cluster.node("spark-2").powered
        with pytest.raises(TimeoutError):  # a refusal would say that the machine is there
            async with asyncio.timeout(1.5):
                await connect(node)
        assert sh.root("spark-1", "/sys/class/net/enp1s0f1np1/carrier").read_text() == "0\n"
        await sh.cluster.clear_fault("power-off", node="spark-2")
        assert sh.cluster.node("spark-2") == node
        assert sh.root("spark-2", "/proc/sys/kernel/random/boot_id").read_text() != boot
        assert await sh.ok("spark-2", "read line < kept; echo $line") == "yes\n"
        await sh.ok("spark-1", "ping -c 1 192.168.101.2")  # netplan's addresses are back
        arp = sh.root("spark-2", "/proc/sys/net/ipv4/conf/enp1s0f1np1/arp_ignore").read_text()
        assert arp == "0\n"  # what no file keeps is lost
        await sh.cluster.set_fault("reinstall", node="spark-2")
        fresh = sh.cluster.node("spark-2")
        assert fresh.host_key_fingerprint != node.host_key_fingerprint
        assert fresh.port == node.port
        assert not Path(node.home, "kept").exists()
        assert not sh.root("spark-2", "/etc/netplan/60-stellwerk.yaml").exists()


async def test_power_can_go_in_the_middle_of_a_command() -> None:
    async with shell(2, "pair") as sh:
        await sh.network("spark-1", "spark-2")
        plan = sh.root("spark-1", "/etc/netplan/60-stellwerk.yaml")
        plan.write_text(plan.read_text().replace("192.168.100.1/24", "192.168.100.9/24"))
        await sh.cluster.set_fault("power-off", node="spark-1", on_command="nmcli connection reload")
        assert (await sh.cluster.faults())[-1]["state"] == "waiting"
        done = await sh.on("spark-1", "sudo -n netplan generate; sudo -n nmcli connection reload")
        assert done.exit_status is None  # the connection was lost
        assert (await sh.cluster.faults())[-1]["state"] == "active"
        log = [entry["argv"] for entry in await sh.cluster.log("spark-1")]
        assert ["generate"] in log
        assert log.count(["connection", "reload"]) == 1  # that of the first set-up; this one never ran
        await sh.cluster.clear_fault("power-off", node="spark-1")
        await sh.ok("spark-2", "ping -c 1 192.168.100.9")  # the file was written; the boot applied it


async def test_sudo_faults() -> None:
    async with VirtualCluster.start(1, "single") as cluster:
        node = cluster.nodes[0]
        async with connect(node) as connection:

            async def sudo(password: str, command: str = "true") -> tuple[int | None, str]:
                Path(node.home, "ask").write_text(f"#!/bin/sh\necho '{password}'\n")
                Path(node.home, "ask").chmod(0o700)
                done = await connection.run(f"SUDO_ASKPASS=$HOME/ask sudo -k -A -- {command}")
                return done.exit_status, str(done.stderr)

            assert await sudo(node.password) == (0, "")
            assert await sudo("nonsense") == (
                1, "Sorry, try again.\nSorry, try again.\nsudo: 3 incorrect password attempts\n",
            )  # fmt: skip
            assert (await connection.run("sudo -k -n true")).stderr == "sudo: a password is required\n"
            await cluster.set_fault("sudo-wrong-password")
            assert (await sudo(node.password))[0] == 1
            assert (await sudo(cluster.nodes[0].sudo_password))[0] == 0
            await cluster.clear_fault("sudo-wrong-password")
            await cluster.set_fault("sudo-none")
            assert await sudo(node.password) == (1, "nvidia is not in the sudoers file.\n")
            assert (await connection.run("sudo -k -n true")).exit_status == 1
            await cluster.clear_fault("sudo-none")
            await cluster.set_fault("sudo-nopasswd")
            assert (await connection.run("sudo -k -n true")).exit_status == 0
            # Root sticks to a process whatever becomes of its environment, session and parents.
            program = (
                "import os, subprocess\n"
                "if os.fork(): os._exit(os.waitstatus_to_exitcode(os.wait()[1]))\n"
                "os.setsid()\n"
                "env = {'PATH': os.environ['PATH']}\n"
                "argv = 'ip link set dev enp1s0f0np0 mtu 4200'.split()\n"
                "os._exit(subprocess.run(argv, env=env).returncode)"
            )
            assert (await connection.run(f'sudo -n python3 -c "{program}"')).exit_status == 0
            assert "mtu 4200" in str((await connection.run("ip link show enp1s0f0np0")).stdout)
            assert (await connection.run(f'python3 -c "{program}"')).exit_status == 2
            environment = await connection.run(
                "A=1 SUDO_ASKPASS=x sudo -n python3 -c 'import os; print(sorted(os.environ))'"
            )
            assert "'A'" not in str(environment.stdout)
            assert "'SUDO_UID'" in str(environment.stdout)


async def test_on_a_full_disk_nothing_is_written_and_what_was_there_stays() -> None:
    async with VirtualCluster.start(1, "single") as cluster:
        async with connect(cluster.nodes[0]) as connection, connection.start_sftp_client() as sftp:
            async with sftp.open("old", "w") as file:
                await file.write("old\n")
            late = await connection.create_process("read go; echo x > late; echo $?")
            await cluster.set_fault("disk-full", node="spark-1")
            for refused in (sftp.mkdir("dir"), sftp.put(__file__, "new")):
                with pytest.raises(asyncssh.SFTPError):
                    await refused
            assert (await connection.run("echo x > new2")).exit_status != 0
            late.stdin.write("go\n")  # a process from before the fault may not write either
            assert (await late.wait()).stdout != "0\n"
            await cluster.clear_fault("disk-full", node="spark-1")
            assert (await connection.run("echo x > new3 && read line < old && echo $line")).stdout == "old\n"


async def test_addresses_of_twins_link_local_and_a_foreign_file() -> None:
    async with shell(2, "pair") as sh:
        await sh.cluster.set_fault("twins-one-subnet")
        routes = await sh.json("spark-1", "ip -j -4 route show table main")
        assert [r["dev"] for r in routes if r["dst"] == "192.168.201.0/24"] == ["enp1s0f1np1", "enP2p1s0f1np1"]
        await sh.cluster.clear_fault("twins-one-subnet")
        shown = await sh.json("spark-1", "ip -j addr show dev enp1s0f1np1")
        assert [a["family"] for a in shown[0]["addr_info"]] == ["inet6"]
        await sh.cluster.set_fault("link-local-off", node="spark-1")
        assert (await sh.json("spark-1", "ip -j addr show dev enp1s0f1np1"))[0]["addr_info"] == []
        assert (await sh.json("spark-2", "ip -j addr show dev enp1s0f1np1"))[0]["addr_info"] != []
        await sh.cluster.set_fault("foreign-netplan", node="spark-2")
        assert "192.168.178.62/24" in await sh.ok("spark-2", "ip -br addr show enP7s7")
        foreign = sh.root("spark-2", "/etc/netplan/99-fastlink.yaml")
        text = foreign.read_text()
        # Whoever drops the management part cuts himself off.
        at = text.index("    enp1s0f1np1:")
        foreign.write_text("network:\n  version: 2\n  ethernets:\n" + text[at:])
        cut = await sh.on("spark-2", "sudo -n netplan apply; python3 -c 'import time; time.sleep(600)'")
        assert cut.exit_status is None
        with pytest.raises((asyncssh.Error, OSError)):
            await connect(sh.cluster.node("spark-2"))


async def test_connections_can_be_dropped_now_later_and_at_a_step_of_a_guarded_change() -> None:
    async with VirtualCluster.start(2, "pair") as cluster:
        node = cluster.node("spark-1")
        for trigger in ({}, {"after_s": 0.05}, {"on_step": "state:applying"}):
            async with connect(node) as connection, connect(cluster.node("spark-2")) as other:
                wanted = {"on_step": '"state","value":"applying"'} if "on_step" in trigger else trigger
                if "on_step" in trigger:  # netguard clears a change of long ago away just when the journals are listed
                    gone = Path(node.root, "var/lib/stellwerk/guard/plan-0/journal.jsonl")
                    gone.parent.mkdir(parents=True)
                    gone.symlink_to("cleared-away")
                await cluster.set_fault("ssh-drop", node="spark-1", **wanted)
                if "on_step" in trigger:
                    journal = Path(node.root, "var/lib/stellwerk/guard/plan-1/journal.jsonl")
                    journal.parent.mkdir(parents=True)
                    journal.write_text('{"event":"state","value":"preparing"}\n')
                    assert [f["state"] for f in await cluster.faults()] == ["waiting"]
                    with journal.open("a") as stream:
                        stream.write('{"event":"state","value":"applying"}\n')

                async def dropped(connection: asyncssh.SSHClientConnection = connection) -> bool:
                    return connection.is_closed()

                await eventually(dropped, f"the connection is dropped ({trigger})")
                assert (await other.run("echo still here")).exit_status == 0
        await cluster.set_fault("ssh-drop", node="spark-1", hold_s=60)
        with pytest.raises((asyncssh.Error, OSError)):
            await connect(node)


async def test_the_clock_can_be_wrong_and_the_agent_can_be_killed() -> None:
    import time

    async with VirtualCluster.start(1, "single") as cluster:
        node = cluster.nodes[0]

        def node_time() -> float:
            stat = dict(line.split(" ", 1) for line in Path(node.root, "proc/stat").read_text().splitlines())
            return float(stat["btime"]) + float(Path(node.root, "proc/uptime").read_text().split()[0])

        assert abs(node_time() - time.time()) < 3
        await cluster.set_fault("clock-skew")

        async def skewed() -> bool:
            return abs(node_time() - time.time() - 600) < 3

        await eventually(skewed, "the clock is ten minutes ahead")
        with pytest.raises(BadInput, match="no agent runs on spark-1"):
            await cluster.set_fault("agent-killed", node="spark-1")
        program = (
            "import os, socket, sys\n"
            "os.makedirs(os.environ['HOME'] + '/.local/state/stellwerk')\n"
            "s = socket.socket(socket.AF_UNIX); s.bind(os.environ['HOME'] + '/.local/state/stellwerk/agent.sock')\n"
            "s.listen(); print(os.getpid(), flush=True)\n"
            "while True: s.accept()\n"
        )
        async with connect(node) as connection:
            agent = await connection.create_process(f'exec python3 -c "{program}"')
            pid = int(await agent.stdout.readline())
            await cluster.set_fault("agent-killed", node="spark-1")
            await agent.wait()
        assert agent.exit_signal is not None
        assert agent.exit_signal[0] == "KILL"
        assert not psutil.pid_exists(pid)


async def test_what_cannot_be_broken_is_refused_with_what_can() -> None:
    async with VirtualCluster.start(1, "single") as cluster:
        for kind, more, said in (
            ("nonsense", {}, "there is no fault 'nonsense'"),
            ("reboot", {"node": "spark-9"}, "there is no node 'spark-9'"),
            ("cable-unplugged", {}, "spark-1 has no cable"),
            ("clock-skew", {"port": 1}, "clock-skew has no parameter 'port'"),
            ("link-100g", {"port": 7}, "spark-1 has no port 7"),
        ):
            with pytest.raises(BadInput, match=said):
                await cluster.set_fault(kind, **more)
        with pytest.raises(BadInput, match="disk-full is not set"):
            await cluster.clear_fault("disk-full")
        assert await cluster.faults() == []


async def test_load_moves_the_rdma_counters_of_both_ends_and_no_others() -> None:
    async with VirtualCluster.start(3, "ring") as cluster:

        def words(node: str, device: str, way: str = "xmit") -> int:
            path = f"sys/class/infiniband/{device}/ports/1/counters/port_{way}_data"
            return int(Path(cluster.node(node).root, path).read_text())

        await cluster.load("spark-1:0", 150)  # goes to spark-2 port 1

        async def moved() -> bool:
            return all(words("spark-1", d) > 1e8 for d in ("rocep1s0f0", "roceP2p1s0f0")) and all(
                words("spark-2", d, "rcv") > 1e8 for d in ("rocep1s0f1", "roceP2p1s0f1")
            )

        await eventually(moved, "the counters of the loaded cable move")
        assert words("spark-3", "rocep1s0f0") == words("spark-1", "rocep1s0f1") == 0
        netdev = Path(cluster.node("spark-1").root, "sys/class/net/enp1s0f0np0/statistics/tx_bytes")
        assert netdev.read_text() == "0\n"  # RoCE by-passes the network stack
        state = await cluster.state()
        assert state["nodes"][0]["interfaces"]["enp1s0f0np0"]["tx_gbps"] == pytest.approx(75, abs=1)
        await cluster.load("spark-1:0", 0)
        await cluster.load("spark-2:0", 150)  # of the other cable; while its counters move, the clock goes on

        async def moved_to(more: float) -> bool:
            return words("spark-2", "rocep1s0f0") > more

        await eventually(lambda: moved_to(0), "the counters of the other cable move")
        still, words_then = words("spark-1", "rocep1s0f0"), words("spark-2", "rocep1s0f0")
        await eventually(lambda: moved_to(words_then + 1e8), "they move on")
        assert words("spark-1", "rocep1s0f0") == still


async def test_cables_are_moved_by_hand_and_what_cannot_be_plugged_is_refused() -> None:
    async with VirtualCluster.start(3, "chain") as cluster:
        await cluster.unplug("spark-2:0")
        await cluster.plug("spark-2:0", "spark-3:0")
        assert [c["ends"] for c in await cluster.cables()] == [["spark-1:0", "spark-2:1"], ["spark-2:0", "spark-3:0"]]
        carrier = Path(cluster.node("spark-3").root, "sys/class/net/enp1s0f0np0/carrier")
        assert carrier.read_text() == "1\n"
        for end, to, said in (
            ("spark-1:0", "spark-3:1", "spark-1:0 already holds a cable"),
            ("spark-9:0", "spark-3:1", "there is no node 'spark-9'"),
            ("spark-3:1", "switch-1", "there is no switch 'switch-1'"),
            ("spark-3", "spark-1:1", "is no cable end"),
        ):
            with pytest.raises(BadInput, match=said):
                await cluster.plug(end, to)
        with pytest.raises(BadInput, match="nothing is plugged into spark-3:1"):
            await cluster.unplug("spark-3:1")


async def test_python_can_be_missing_and_other_commands_still_run() -> None:
    async with shell(1, "single", {"kind": "python-missing"}) as sh:
        assert (await sh.on("spark-1", "command -v python3")).exit_status != 0
        await sh.ok("spark-1", "ip link")
        await sh.cluster.clear_fault("python-missing")
        await sh.ok("spark-1", "python3 -c pass")


async def test_a_trigger_that_fails_is_told_and_does_no_harm() -> None:
    async with shell(1, "single", {"kind": "agent-killed", "on_command": "ip addr"}) as sh:
        await sh.ok("spark-1", "ip addr")
        state = await sh.cluster.state()
        assert len(state["complaints"]) == 1
        assert "no agent runs on spark-1" in state["complaints"][0]
        assert [fault["kind"] for fault in state["faults"]] == ["sudo-nopasswd"]
