"""The simulated commands print what the real ones print, and act on one state."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from engine.virtual.support import HALVES, Shell, shell

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def sh() -> AsyncIterator[Shell]:
    """One networked pair for all tests here; a test that changes it puts it back."""
    async with shell(2, "pair") as made:
        await made.network("spark-1", "spark-2")
        yield made


IBDEV2NETDEV = re.compile(r"^(\S+) port (\d+) ==> (\S+) \((Up|Down)\)$")
RDMA_LINK = re.compile(r"^link (\S+)/1 state (\S+) physical_state (\S+) netdev (\S+) *$")


async def test_devices_are_told_as_on_a_spark_with_one_cable_in_port_1(sh: Shell) -> None:
    lines = (await sh.ok("spark-1", "ibdev2netdev")).splitlines()
    found = [match.groups() for match in map(IBDEV2NETDEV.match, lines) if match]
    assert found == [
        ("rocep1s0f0", "1", "enp1s0f0np0", "Down"),
        ("rocep1s0f1", "1", "enp1s0f1np1", "Up"),
        ("roceP2p1s0f0", "1", "enP2p1s0f0np0", "Down"),
        ("roceP2p1s0f1", "1", "enP2p1s0f1np1", "Up"),
    ]
    links = [RDMA_LINK.match(line) for line in (await sh.ok("spark-1", "rdma link show")).splitlines()]
    assert [m and m.groups()[1:] for m in links] == [
        ("DOWN", "DISABLED", "enp1s0f0np0"),
        ("ACTIVE", "LINK_UP", "enp1s0f1np1"),
        ("DOWN", "DISABLED", "enP2p1s0f0np0"),
        ("ACTIVE", "LINK_UP", "enP2p1s0f1np1"),
    ]
    done = await sh.on("spark-1", "ethtool enp1s0f1np1")
    assert "\tSpeed: 200000Mb/s\n" in str(done.stdout)
    assert done.stderr == "netlink error: Operation not permitted\n"
    assert (await sh.on("spark-1", "sudo -n ethtool enp1s0f1np1")).stderr == ""
    assert "Speed: Unknown!" in await sh.ok("spark-1", "ethtool enp1s0f0np0")
    cards = (await sh.ok("spark-1", "lspci")).splitlines()
    assert cards[0] == "0000:01:00.0 Ethernet controller: Mellanox Technologies MT2910 Family [ConnectX-7]"
    width = "LnkSta:\tSpeed 32GT/s, Width x4"
    assert width in await sh.ok("spark-1", "sudo -n lspci -vv -s 0002:01:00.1")


async def test_addresses_are_printed_as_iproute2_prints_them(sh: Shell) -> None:
    text = await sh.ok("spark-1", "ip addr show enp1s0f1np1")
    assert text == (
        "4: enp1s0f1np1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 qdisc mq state UP group default qlen 1000\n"
        "    link/ether 3c:6d:66:01:b3:b1 brd ff:ff:ff:ff:ff:ff\n"
        "    inet6 fe80::3e6d:66ff:fe01:b3b1/64 scope link\n"
        "       valid_lft forever preferred_lft forever\n"
        "    inet 192.168.100.1/24 brd 192.168.100.255 scope global noprefixroute enp1s0f1np1\n"
        "       valid_lft forever preferred_lft forever\n"
    )
    shown = await sh.json("spark-1", "ip -j addr show dev enp1s0f1np1")
    assert shown[0]["mtu"] == 9000
    assert [(a["local"], a["prefixlen"], a["scope"]) for a in shown[0]["addr_info"]] == [
        ("fe80::3e6d:66ff:fe01:b3b1", 64, "link"),
        ("192.168.100.1", 24, "global"),
    ]
    brief = (await sh.ok("spark-1", "ip -br link show enp1s0f1np1")).split()
    assert brief == ["enp1s0f1np1", "UP", "3c:6d:66:01:b3:b1", "<BROADCAST,MULTICAST,UP,LOWER_UP>"]
    route = await sh.json("spark-1", "ip -j route get 192.168.101.2")
    assert (route[0]["dev"], route[0]["prefsrc"]) == ("enP2p1s0f1np1", "192.168.101.1")
    bound = await sh.json("spark-1", "ip -j route get 192.168.101.2 from 192.168.101.1 oif enP2p1s0f1np1")
    assert (bound[0]["from"], "prefsrc" in bound[0]) == ("192.168.101.1", False)
    table = await sh.json("spark-1", "ip -j -4 route show table main")
    assert {"dst": "192.168.100.0/24", "dev": "enp1s0f1np1", "protocol": "kernel", "scope": "link",
            "prefsrc": "192.168.100.1", "metric": 102, "flags": []} in table  # fmt: skip


async def test_routes_and_addresses_can_be_changed_by_root_and_complain_like_the_kernel(sh: Shell) -> None:
    refused = await sh.on("spark-1", "ip addr add 10.1.1.1/24 dev enp1s0f1np1")
    assert (refused.exit_status, refused.stderr) == (2, "RTNETLINK answers: Operation not permitted\n")
    await sh.ok("spark-1", "sudo -n ip addr add 10.1.1.1/24 dev enp1s0f1np1")
    again = await sh.on("spark-1", "sudo -n ip addr add 10.1.1.1/24 dev enp1s0f1np1")
    assert again.stderr == "RTNETLINK answers: File exists\n"
    await sh.ok("spark-1", "sudo -n ip route replace 10.5.0.0/24 via 192.168.100.2 dev enp1s0f1np1 metric 7")
    assert "10.5.0.0/24 via 192.168.100.2 dev enp1s0f1np1 metric 7" in await sh.ok("spark-1", "ip route")
    await sh.ok("spark-1", "sudo -n ip route del 10.5.0.0/24 via 192.168.100.2 dev enp1s0f1np1")
    gone = await sh.on("spark-1", "sudo -n ip route del 10.5.0.0/24 dev enp1s0f1np1")
    assert (gone.exit_status, gone.stderr) == (2, "RTNETLINK answers: No such process\n")
    away = await sh.on("spark-1", "ip route get 100.64.0.1 oif nothing")
    assert away.stderr == 'Cannot find device "nothing"\n'
    await sh.ok("spark-1", "sudo -n ip addr del 10.1.1.1/24 dev enp1s0f1np1")
    missing = await sh.on("spark-1", "sudo -n ip addr del 10.1.1.1/24 dev enp1s0f1np1")
    assert missing.stderr == "RTNETLINK answers: Cannot assign requested address\n"


async def test_pings_prove_the_mtu_of_both_ends(sh: Shell) -> None:
    big = "ping -n -c 3 -i 0.2 -W 1 -M do -s 8972 -I enP2p1s0f1np1 192.168.101.2"
    text = await sh.ok("spark-1", big)
    assert text.startswith("PING 192.168.101.2 (192.168.101.2) from 192.168.101.1 enP2p1s0f1np1: 8972(9000) bytes")
    assert "\n3 packets transmitted, 3 received, 0% packet loss, time " in text
    assert re.search(r"^rtt min/avg/max/mdev = [\d.]+/[\d.]+/[\d.]+/[\d.]+ ms$", text, re.MULTILINE)
    await sh.ok("spark-2", "sudo -n ip link set dev enP2p1s0f1np1 mtu 1500")
    lost = await sh.on("spark-1", big)
    assert (lost.exit_status, "3 packets transmitted, 0 received, 100% packet loss" in str(lost.stdout)) == (
        1,
        True,
    )
    back = await sh.on("spark-2", "ping -c 1 -M do -s 8972 -I enP2p1s0f1np1 192.168.101.1")
    assert back.stderr == "ping: local error: message too long, mtu=1500\n"
    assert (await sh.on("spark-1", "ping -c 1 100.64.0.1")).exit_status in (1, 2)
    await sh.ok("spark-2", "sudo -n ip link set dev enP2p1s0f1np1 mtu 9000")


async def measure(sh: Shell, device: str, server: str, port: int) -> float:
    words = f"-d {device} -i 1 -p {port} -F --report_gbits -D 1"
    waiting = asyncio.create_task(sh.on("spark-2", f"ib_write_bw {words}"))
    while True:
        done = await sh.on("spark-1", f"ib_write_bw {words} {server}")
        if "Couldn't connect" not in str(done.stderr):
            break
    assert (await waiting).exit_status == 0
    assert done.exit_status == 0, done.stderr
    rows = [line.split() for line in str(done.stdout).splitlines() if line.startswith(" 65536")]
    assert len(rows) == 1
    return float(rows[0][3])


async def test_both_halves_together_carry_what_a_cable_carries_and_a_slow_link_is_shared(sh: Shell) -> None:

    async def both() -> tuple[float, float]:
        return await asyncio.gather(
            measure(sh, "rocep1s0f1", "192.168.100.2", 12000), measure(sh, "roceP2p1s0f1", "192.168.101.2", 12001)
        )

    first, second = await both()
    assert 92 <= first <= 100
    assert 92 <= second <= 100
    await sh.cluster.set_fault("half-13g", node="spark-1")
    first, second = await both()
    assert first > 92
    assert second == pytest.approx(13.0, abs=0.2)
    await sh.cluster.clear_fault("half-13g", node="spark-1")
    await sh.cluster.set_fault("link-100g", node="spark-1")
    assert "Speed: 100000Mb/s" in await sh.ok("spark-2", "ethtool enp1s0f1np1")
    first, second = await both()
    await sh.cluster.clear_fault("link-100g", node="spark-1")
    assert first + second < 130  # the two overlap for most of their time
    latency = asyncio.create_task(sh.on("spark-2", "ib_write_lat -d rocep1s0f1 -i 1 -p 13000 -F"))
    client = "ib_write_lat -d rocep1s0f1 -i 1 -p 13000 -F 192.168.100.2"
    while "Couldn't connect" in str((done := await sh.on("spark-1", client)).stderr):
        pass
    assert (await latency).exit_status == 0
    assert "t_typical[usec]" in str(done.stdout)


async def test_a_neighbour_entry_with_the_twins_mac_ends_rdma_with_retries(sh: Shell) -> None:
    for half in HALVES:
        sh.root("spark-2", f"/proc/sys/net/ipv4/conf/{half}/arp_ignore").write_text("0\n")
    await sh.ok("spark-1", "sudo -n ip neigh flush dev enP2p1s0f1np1; ping -c 1 -I enP2p1s0f1np1 192.168.101.2")
    entry = await sh.json("spark-1", "ip -j neigh show to 192.168.101.2 dev enP2p1s0f1np1")
    assert entry == [{"dst": "192.168.101.2", "lladdr": "3c:6d:66:02:b3:b1", "state": ["REACHABLE"]}]
    words = "-d roceP2p1s0f1 -i 1 -p 12001 -F --report_gbits -D 1"
    server = asyncio.create_task(sh.on("spark-2", f"ib_write_bw {words}"))
    while "Couldn't connect" in str((done := await sh.on("spark-1", f"ib_write_bw {words} 192.168.101.2")).stderr):
        pass
    await server
    for half in HALVES:
        sh.root("spark-2", f"/proc/sys/net/ipv4/conf/{half}/arp_ignore").write_text("1\n")
    assert done.exit_status == 1
    assert "Failed status 12: wr_id 0 syndrom 0x81" in str(done.stderr)


async def test_the_gpu_is_a_gb10_whose_memory_is_not_available(sh: Shell) -> None:
    query = "nvidia-smi --query-gpu=name,memory.total,memory.used,temperature.gpu,power.draw --format=csv,noheader"
    assert await sh.ok("spark-1", query) == "NVIDIA GB10, [N/A], [N/A], 39, 3.70 W\n"
    table = await sh.ok("spark-1", "nvidia-smi")
    assert "Not Supported" in table
    assert "CUDA Version: 13.0" in table
    assert len({len(line) for line in table.splitlines()}) == 1
    apps = "nvidia-smi --query-compute-apps=pid,process_name,used_memory --format=csv,noheader,nounits"
    assert await sh.ok("spark-1", apps) == ""


async def test_nodes_reach_each_other_by_ssh_over_the_fabric_with_pinned_host_keys(sh: Shell) -> None:
    if (await sh.on("spark-1", "command -v ssh && command -v ssh-keygen")).exit_status != 0:
        pytest.skip("this computer has no OpenSSH client")
    first, second = (Path(sh.cluster.node(name).home) / ".ssh" for name in ("spark-1", "spark-2"))
    first.mkdir(mode=0o700)
    second.mkdir(mode=0o700)
    await sh.ok("spark-1", "ssh-keygen -q -t ed25519 -N '' -f $HOME/.ssh/id_mesh")
    scanned = await sh.ok("spark-1", "ssh-keyscan -t ed25519 192.168.100.2")
    host_key = sh.root("spark-2", "/etc/ssh/ssh_host_ed25519_key.pub").read_text().split()[1]
    assert scanned.split()[1:] == ["ssh-ed25519", host_key]
    (first / "pinned").write_text(scanned)
    (first / "mesh").write_text(
        "Host fabric-2\n  HostName 192.168.100.2\n  IdentityFile ~/.ssh/id_mesh\n  UserKnownHostsFile ~/.ssh/pinned\n"
    )
    (first / "config").write_text("Include mesh\nHost other\n  HostName 192.0.2.7\n")
    (second / "authorized_keys").write_text((first / "id_mesh.pub").read_text())
    command = "ssh -o BatchMode=yes fabric-2 'echo $HOME'"
    assert await sh.ok("spark-1", command) == f"{sh.cluster.node('spark-2').home}\n"
    await sh.cluster.set_fault("cable-unplugged", node="spark-2")
    refused = await sh.on("spark-1", command)
    await sh.cluster.clear_fault("cable-unplugged", node="spark-2")
    assert refused.exit_status == 255
    assert "No route to host" in str(refused.stderr)


async def test_wrong_command_lines_are_refused_in_words_and_never_with_a_traceback(sh: Shell) -> None:
    for command in ("ip addr add", "ip nonsense", "ping", "rdma nonsense", "ethtool", "netplan", "nmcli x y",
                    "sudo", "systemctl frobnicate x", "sudo -n iptables", "ib_write_bw -d nope", "ib_write_bw -p x",
                    "networkctl frobnicate", "sysctl nonsense.key", "ip route get x", "ping -c x 1.2.3.4",
                    "sudo -n systemd-run", "sudo -n ip link set dev enp1s0f0np0 mtu 99999"):  # fmt: skip
        done = await sh.on("spark-1", command)
        assert done.exit_status not in (0, 125), command
        assert str(done.stderr).strip(), command
        assert "Traceback" not in str(done.stderr), command
