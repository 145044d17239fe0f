"""The simulated /sys, /proc and /etc: what a program finds there."""

from __future__ import annotations

from pathlib import Path

import pytest

from stellwerk.virtual import hardware, simroot
from stellwerk.virtual.hardware import link_local6, spark
from stellwerk.virtual.network import NodeNetwork, address
from stellwerk.virtual.tree import Tree


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    tree = Tree(tmp_path)
    simroot.write_installation(tree, spark(1), simroot.Identity("a" * 32, "ssh-ed25519 AAAA root@spark\n"))
    simroot.write_boot(tree, spark(1), "boot-1")
    return tree


def read(tree: Tree, path: str) -> str:
    return tree.path(path).read_text().strip()


def test_the_product_says_that_it_is_simulated(tree: Tree) -> None:
    assert read(tree, "/sys/class/dmi/id/product_name") == "NVIDIA DGX Spark (simulated)"
    assert 'DGX_NAME="DGX Spark"' in read(tree, "/etc/dgx-release")


def test_the_four_halves_hang_on_two_pci_domains_and_lead_to_their_rdma_devices(tree: Tree) -> None:
    for half in spark(1).halves:
        device = tree.path(f"/sys/class/net/{half.netdev}/device")
        assert device.resolve().name == half.pci
        assert device.resolve().is_relative_to(tree.root)
        assert (device / "infiniband" / half.rdma / "ports/1").is_dir()
        assert (tree.path(f"/sys/class/infiniband/{half.rdma}/device/net") / half.netdev).is_dir()
        assert (device / "driver").resolve().name == "mlx5_core"
        assert read(tree, f"/sys/class/net/{half.netdev}/phys_port_name") == f"p{half.port}"
    switch = {read(tree, f"/sys/class/net/{name}/phys_switch_id") for name in hardware.FABRIC_NETDEVS}
    assert len(switch) == 1


def test_link_state_follows_the_cable(tree: Tree) -> None:
    machine = spark(1)
    network = NodeNetwork(machine, lambda key: 0)
    interface = network.interfaces["enp1s0f1np1"]
    base = "/sys/class/net/enp1s0f1np1"
    simroot.write_network(tree, machine, network, {})
    assert tree.path(f"{base}/carrier").read_text() == ""  # down: the kernel refuses to tell
    interface.admin_up = True
    simroot.write_network(tree, machine, network, {})
    assert (read(tree, f"{base}/carrier"), read(tree, f"{base}/speed")) == ("0", "-1")
    interface.carrier = True
    simroot.write_network(tree, machine, network, {"enp1s0f1np1": 200_000})
    assert (read(tree, f"{base}/carrier"), read(tree, f"{base}/speed")) == ("1", "200000")
    assert read(tree, f"{base}/operstate") == "up"
    port = "/sys/class/infiniband/rocep1s0f1/ports/1"
    assert (read(tree, f"{port}/state"), read(tree, f"{port}/rate")) == ("4: ACTIVE", "200 Gb/sec (4X HDR)")


def test_gids_come_in_pairs_and_carry_the_ipv4_address_at_index_3(tree: Tree) -> None:
    machine = spark(1)
    network = NodeNetwork(machine, lambda key: 0)
    interface = network.interfaces["enp1s0f1np1"]
    interface.admin_up = interface.carrier = True
    interface.addresses = [address(f"{link_local6(interface.mac)}/64"), address("192.168.100.10/24")]
    simroot.write_network(tree, machine, network, {"enp1s0f1np1": 200_000})
    port = "/sys/class/infiniband/rocep1s0f1/ports/1"
    assert read(tree, f"{port}/gids/3") == "0000:0000:0000:0000:0000:ffff:c0a8:640a"
    assert read(tree, f"{port}/gid_attrs/types/3") == "RoCE v2"
    assert read(tree, f"{port}/gids/1").startswith("fe80:0000:0000:0000:")
    assert (read(tree, f"{port}/gids/4"), tree.path(f"{port}/gid_attrs/types/4").read_text()) == (simroot.NO_GID, "")


def test_a_boot_empties_run_and_sets_sysctls_by_the_files(tree: Tree) -> None:
    stale = tree.path("/run/stellwerk/guard.sock")
    stale.parent.mkdir()
    stale.write_text("")
    tree.put("/etc/sysctl.d/60-stellwerk.conf", "net.ipv4.conf.enp1s0f1np1.arp_ignore = 1\n# no\nnet.no.such = 1\n")
    tree.path("/proc/sys/net/ipv4/ip_forward").write_text("1\n")  # set by hand, lost at boot
    simroot.write_boot(tree, spark(1), "boot-2")
    assert not stale.exists()
    assert read(tree, "/proc/sys/net/ipv4/conf/enp1s0f1np1/arp_ignore") == "1"
    assert read(tree, "/proc/sys/net/ipv4/ip_forward") == "0"
    assert read(tree, "/proc/sys/kernel/random/boot_id") == "boot-2"
    assert tree.path("/run/systemd/system").is_dir()


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("net.ipv4.ip_forward", "/proc/sys/net/ipv4/ip_forward"),
        ("net/ipv4/conf/eth0.1/rp_filter", "/proc/sys/net/ipv4/conf/eth0.1/rp_filter"),
        ("net.ipv4.conf.eth0/1.rp_filter", "/proc/sys/net/ipv4/conf/eth0.1/rp_filter"),
    ],
)
def test_sysctl_keys_are_read_as_sysctl_reads_them(key: str, path: str) -> None:
    assert simroot.sysctl_path(key) == path


def test_a_counter_file_is_never_empty_and_keeps_its_inode(tree: Tree) -> None:
    path = "/sys/class/infiniband/rocep1s0f1/ports/1/counters/port_xmit_data"
    inode = tree.path(path).stat().st_ino
    for value in (0, 5, 123456789, 7):
        tree.put_number(path, value)
        assert read(tree, path) == str(value)
    assert tree.path(path).stat().st_ino == inode
    tree.close()
