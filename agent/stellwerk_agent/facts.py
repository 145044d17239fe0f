"""`facts`: everything about the node that is read in one call."""

from __future__ import annotations

import asyncio
import os
import platform
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from stellwerk.model.facts import OWN_FILES, Gpu, NetDevice, NetplanFile, NodeFacts, Sudo
from stellwerk.model.text import say
from stellwerk_agent import commands
from stellwerk_agent.options import Options
from stellwerk_agent.probes import gpu, host, net, rdma
from stellwerk_agent.reading import Reader

# What the desktop's checks may want to run; the answer says which of them are here.
TOOLS = (
    "ip", "ethtool", "rdma", "ibdev2netdev", "netplan", "networkctl", "nmcli", "sudo", "ping", "ib_write_bw",
    "ib_write_lat", "nvidia-smi", "systemctl", "systemd-run", "lldpctl", "iptables", "sysctl", "ssh", "ssh-keygen",
    "ssh-keyscan", "docker", "podman", "cc", "mpirun",
)  # fmt: skip

SudoState = Callable[[], Awaitable[Sudo]]
ReadNetplan = Callable[[], Awaitable["dict[str, str] | str"]]


async def read_facts(
    options: Options, ssh_connection: str | None, sudo_state: SudoState, netplan_as_root: ReadNetplan
) -> NodeFacts:
    """Read the node. Whatever fails becomes None and an entry of `unavailable`; nothing here raises for it."""
    reader = Reader(options.root)
    links, routes, neighbours = await asyncio.gather(
        net.ip_json(reader, "addresses", "addr", "show"),
        net.ip_json(reader, "routes", "-4", "route", "show", "table", "main"),
        net.ip_json(reader, "neighbours", "neigh", "show"),
    )
    owners, hints, mtus, (gpus, gpu_note), sudo = await asyncio.gather(
        net.network_owners(), rdma.netdev_hints(), rdma.active_mtus(), _gpus(reader), sudo_state()
    )
    base = await asyncio.to_thread(_read_host, options, reader)
    devices = net.with_addresses(await asyncio.to_thread(net.read_netdevs, reader), links)
    devices = await _with_ethtool(reader, [replace(d, managed_by=owners.get(d.name)) for d in devices])
    adapters = await asyncio.to_thread(rdma.read_rdma, reader, hints)
    return replace(
        base,
        gpus=gpus,
        gpu_note=gpu_note,
        netdevs=tuple(devices),
        rdma=tuple(replace(a, active_mtu=mtus.get(a.name)) for a in adapters),
        rdma_note=None if adapters else rdma.why_no_rdma(reader),
        routes=net.parse_routes(routes),
        neighbours=net.parse_neighbours(neighbours),
        netplan=await _netplan(reader, sudo, netplan_as_root),
        own_files=await asyncio.to_thread(_own_files, reader),
        network_owner=net.owner_of_node(devices, owners),
        sudo=sudo,
        session=net.session_route(ssh_connection, devices),
        unavailable=reader.notes,
    )


def _read_host(options: Options, reader: Reader) -> NodeFacts:
    """The part that comes out of plain files."""
    cpu_model, cpu_count = host.parse_cpuinfo(reader.lines("/proc/cpuinfo", limit=1024 * 1024))
    release = "/etc/dgx-release"
    fastos = "/etc/fastos-release"
    return NodeFacts(
        node_id=host.node_id(reader, options.state_dir),
        boot_id=host.boot_id(reader),
        hostname=host.hostname(reader),
        user=host.user_name(),
        uid=os.getuid(),
        gid=os.getgid(),
        home=str(Path.home()),
        product=host.product(reader),
        dgx=host.parse_dgx_release(reader.lines(release)) if reader.exists(release) else None,
        fastos_version=dict(host.parse_assignments(reader.lines(fastos))).get("VERSION")
        if reader.exists(fastos)
        else None,
        os_name=host.os_name(reader),
        kernel=reader.text("/proc/sys/kernel/osrelease"),
        architecture=host.architecture(reader),
        cpu_model=cpu_model,
        cpu_count=cpu_count,
        python=platform.python_version(),
        wall_time_s=host.wall_time_s(reader),
        uptime_s=host.uptime_s(reader),
        memory=host.parse_meminfo(reader.lines("/proc/meminfo")),
        tools={name: commands.find(name) for name in TOOLS},
        sysctls=net.read_sysctls(reader),
        disk_free_bytes=_disk_free(reader),
    )


def _own_files(reader: Reader) -> dict[str, str]:
    """What the files that our plans write outside /etc/netplan hold now."""
    found: dict[str, str] = {}
    for path in OWN_FILES:
        try:
            found[path] = reader.raw(path)
        except FileNotFoundError:
            continue
        except OSError as error:
            reader.note(path, error.strerror or str(error))
    return found


def _disk_free(reader: Reader) -> int | None:
    """Bytes that this user may still write in the home directory."""
    try:
        status = os.statvfs(Path.home())
    except OSError as error:
        reader.note("free disk space", error.strerror or str(error))
        return None
    return status.f_bavail * status.f_frsize


async def _gpus(reader: Reader) -> tuple[tuple[Gpu, ...], str | None]:
    nvml = await asyncio.to_thread(gpu.Nvml.open, reader)
    if nvml is not None:
        return await asyncio.to_thread(nvml.gpus), None
    gpus, complaint = await gpu.smi_gpus()
    return gpus, None if gpus else gpu.why_no_gpu(reader, complaint or say("nvidia-smi shows none"))


async def _with_ethtool(reader: Reader, devices: list[NetDevice]) -> list[NetDevice]:
    """Speeds that sysfs does not tell though there is a carrier, by ethtool."""
    found = []
    for device in devices:
        if device.kind == "ethernet" and device.carrier and device.speed_mbps is None and commands.find("ethtool"):
            result = await commands.run(["ethtool", device.name])
            # Without root it complains about some settings and still prints the speed.
            device = replace(device, speed_mbps=net.parse_ethtool_speed(result.out))
            if device.speed_mbps is None:
                reader.note(
                    f"speed of {device.name}", result.complaint() if not result.ok else "the driver does not tell"
                )
        found.append(device)
    return found


async def _netplan(reader: Reader, sudo: Sudo, as_root: ReadNetplan) -> tuple[NetplanFile, ...]:
    """The netplan files; those that only root may read through root, where that needs no question."""
    files = await asyncio.to_thread(net.read_netplan, reader)
    if all(file.text is not None for file in files):
        return files
    if sudo.state not in ("root", "nopasswd") and not sudo.unlocked:
        return files
    texts = await as_root()
    if isinstance(texts, str):
        reader.note("netplan files that only root may read", texts)
        return files
    return tuple(replace(f, text=texts[f.path], why=None) if f.path in texts else f for f in files)
