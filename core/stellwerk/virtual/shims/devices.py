"""`ethtool`, `ibdev2netdev`, `rdma`, `ibv_devinfo`, `show_gids`, `lspci`, `nvidia-smi`."""

from __future__ import annotations

import asyncio
from typing import Any

from stellwerk.virtual import hardware, simroot
from stellwerk.virtual.call import Call, Usage, Words
from stellwerk.virtual.shims.perf import rdma_mtu


async def ethtool(call: Call) -> int:
    """ethtool IF | -i IF"""
    words = Words(call.argv)
    network = call.machine.network
    drivers = bool(words.take("-i", "--driver"))
    if (option := words.peek()) is not None and option.startswith("-"):
        raise Usage("ethtool: bad command line argument(s)\nFor more information run ethtool -h", 1)
    name = words.need("ethtool: bad command line argument(s)\nFor more information run ethtool -h", 1)
    interface = network.interfaces.get(name)
    if interface is None:
        raise Usage("netlink error: No such device", 76)
    half = call.machine.hardware.half(name)
    if drivers:
        driver = "mlx5_core" if half else {"lan": "r8127", "wifi": "mt7925e"}.get(interface.kind, interface.kind)
        firmware = f"{hardware.FIRMWARE} ({hardware.BOARD_ID})" if half else ""
        call.line(f"driver: {driver}\nversion: {hardware.KERNEL_RELEASE}\nfirmware-version: {firmware}\n"
                  f"expansion-rom-version: \nbus-info: {half.pci if half else ''}")  # fmt: skip
        return 0
    speed = call.cluster.speeds(call.machine).get(name) if interface.running else None
    if not call.root:
        call.err("netlink error: Operation not permitted")
    call.line(f"Settings for {name}:")
    if interface.kind != "loopback":
        call.line("\tSupported ports: [ FIBRE ]" if half else "\tSupported ports: [ TP ]")
        call.line(f"\tSpeed: {speed}Mb/s" if speed else "\tSpeed: Unknown!")
        call.line("\tDuplex: Full" if speed else "\tDuplex: Unknown! (255)")
        call.line("\tAuto-negotiation: on")
    call.line(f"\tLink detected: {'yes' if interface.running else 'no'}")
    return 0


async def ibdev2netdev(call: Call) -> int:
    """ibdev2netdev"""
    for half in call.machine.hardware.halves:
        state = "Up" if call.machine.network.interfaces[half.netdev].running else "Down"
        call.line(f"{half.rdma} port 1 ==> {half.netdev} ({state})")
    return 0


async def rdma(call: Call) -> int:
    """rdma [-j] link [show] | dev [show]"""
    words = Words(call.argv)
    as_json = bool(words.take("-j", "--json"))
    what = words.take() or "dev"
    rows: list[dict[str, Any]] = []
    for index, half in enumerate(call.machine.hardware.halves):
        up = call.machine.network.interfaces[half.netdev].running
        if what == "link":
            rows.append({"ifindex": index, "ifname": half.rdma, "port": 1, "state": "ACTIVE" if up else "DOWN",
                         "physical_state": "LINK_UP" if up else "DISABLED", "netdev": half.netdev,
                         "netdev_index": half.index})  # fmt: skip
        elif what == "dev":
            rows.append({"ifindex": index, "ifname": half.rdma, "node_type": "ca", "fw": hardware.FIRMWARE})
        else:
            raise Usage(f'Unknown argument "{what}".', 1)
    if as_json:
        call.json(rows)
        return 0
    for row in rows:
        if what == "link":
            call.line(f"link {row['ifname']}/1 state {row['state']} physical_state {row['physical_state']} "
                      f"netdev {row['netdev']} ")  # fmt: skip
        else:
            call.line(f"{row['ifindex']}: {row['ifname']}: node_type ca fw {row['fw']} ")
    return 0


async def ibv_devinfo(call: Call) -> int:
    """ibv_devinfo"""
    for half in call.machine.hardware.halves:
        interface = call.machine.network.interfaces[half.netdev]
        mtu = rdma_mtu(interface.mtu)
        code = {1024: 3, 2048: 4, 4096: 5}[mtu]
        state = "PORT_ACTIVE (4)" if interface.running else "PORT_DOWN (1)"
        call.out(f"hca_id:\t{half.rdma}\n\ttransport:\t\t\tInfiniBand (0)\n\tfw_ver:\t\t\t\t{hardware.FIRMWARE}\n"
                 f"\tvendor_id:\t\t\t0x02c9\n\tvendor_part_id:\t\t\t4129\n\tboard_id:\t\t\t{hardware.BOARD_ID}\n"
                 f"\tphys_port_cnt:\t\t\t1\n\t\tport:\t1\n\t\t\tstate:\t\t\t{state}\n\t\t\tmax_mtu:\t\t4096 (5)\n"
                 f"\t\t\tactive_mtu:\t\t{mtu} ({code})\n\t\t\tlink_layer:\t\tEthernet\n\n")  # fmt: skip
    return 0


async def show_gids(call: Call) -> int:
    """show_gids"""
    call.line("DEV     PORT    INDEX   GID                                     IPv4            VER     DEV")
    call.line("---     ----    -----   ---                                     ------------    ---     ---")
    count = 0
    for half in call.machine.hardware.halves:
        interface = call.machine.network.interfaces[half.netdev]
        for index, (gid, kind) in enumerate(simroot.gid_table(interface)):
            mapped = ".".join(str(int(gid.replace(":", "")[24 + at : 26 + at], 16)) for at in (0, 2, 4, 6))
            ipv4 = mapped if gid.startswith("0000:0000:0000:0000:0000:ffff") else ""
            call.line(f"{half.rdma}\t1\t{index}\t{gid}\t{ipv4:<15}\t{'v1' if 'v1' in kind else 'v2'}\t{half.netdev}")
            count += 1
    call.line(f"n_gids_found={count}")
    return 0


async def lspci(call: Call) -> int:
    """lspci [-vv] [-D] [-s ADDRESS]"""
    words = Words(call.argv)
    verbose, wanted = False, None
    while words:
        word = words.take() or ""
        if word == "-s":
            wanted = words.need("lspci: option requires an argument -- 's'", 1)
        elif word.startswith("-v"):
            verbose = True
    for half in call.machine.hardware.halves:
        if wanted is not None and not half.pci.endswith(wanted):
            continue
        call.line(f"{half.pci} Ethernet controller: Mellanox Technologies MT2910 Family [ConnectX-7]")
        if verbose:
            call.line("\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x4, ASPM not supported")
            # Reading the link's state needs root on a real machine.
            call.line("\t\tLnkSta:\tSpeed 32GT/s, Width x4" if call.root else "\tCapabilities: <access denied>")
            call.line()
    if wanted is None or "000f:01:00.0".endswith(wanted):
        call.line("000f:01:00.0 3D controller: NVIDIA Corporation Device 2e12 (rev a1)")
    return 0


_CLOCKS = ("clocks.gr", "clocks.sm", "clocks.current.graphics", "clocks.max.gr", "clocks.max.graphics")
_UNITS = {
    "power.draw": " W",
    "utilization.gpu": " %",
    **dict.fromkeys(
        ("clocks.gr", "clocks.sm", "clocks.current.graphics", "clocks.max.gr", "clocks.max.graphics"), " MHz"
    ),
}


def _gpu_values(call: Call) -> dict[str, str]:
    activity = call.machine.metrics.activity
    serial = f"{call.machine.hardware.number:012x}"
    return {
        "name": hardware.GPU_NAME,
        "gpu_name": hardware.GPU_NAME,
        "index": "0",
        "count": "1",
        "uuid": f"GPU-51a11a7e-0000-4000-8000-{serial}",
        "gpu_uuid": f"GPU-51a11a7e-0000-4000-8000-{serial}",
        "pci.bus_id": hardware.GPU_BUS,
        "driver_version": hardware.DRIVER_VERSION,
        "compute_cap": "12.1",
        "temperature.gpu": f"{activity.gpu_temperature_c:.0f}",
        "power.draw": f"{activity.gpu_power_w:.2f}",
        "utilization.gpu": f"{activity.gpu_pct:.0f}",
        "clocks.gr": str(activity.gpu_clock_mhz),
        "clocks.current.graphics": str(activity.gpu_clock_mhz),
        "clocks.sm": str(activity.gpu_clock_mhz),
        "clocks.max.gr": "3003",
        "clocks.max.graphics": "3003",
        "pstate": "P0" if activity.gpu_pct else "P8",
        "pcie.link.gen.current": "1",
        "pcie.link.width.current": "1",
    }


async def nvidia_smi(call: Call) -> int:
    """nvidia-smi [-q | -L | --query-gpu=… | --query-compute-apps=…] [--format=…] [-l S | -lms MS]"""
    options: dict[str, str] = {}
    words = Words(call.argv)
    while words:
        name, equals, value = words.need("", 1).partition("=")
        if name in ("-l", "-lms", "-i", "--loop", "--loop-ms", "--id") and not equals:
            value = words.need(f"Option {name} is missing its value.", 1)
        options[name] = value
    every_s = _period(options)
    while True:
        call.out(_smi(call, options))
        if every_s is None:
            return 0
        await call.drain()
        await asyncio.sleep(every_s)


def _period(options: dict[str, str]) -> float | None:
    try:
        for name, factor in (("-l", 1.0), ("--loop", 1.0), ("-lms", 0.001), ("--loop-ms", 0.001)):
            if name in options:
                return max(0.1, float(options[name]) * factor)
    except ValueError:
        raise Usage("Invalid loop interval.", 1) from None
    return None


def _smi(call: Call, options: dict[str, str]) -> str:
    query = options.get("--query-gpu")
    fmt = options.get("--format", "csv").split(",")
    if query is not None:
        fields = [field.strip() for field in query.split(",")]
        known = _gpu_values(call)
        row = [known[f] + ("" if "nounits" in fmt else _UNITS.get(f, "")) if f in known else "[N/A]" for f in fields]
        head = "" if "noheader" in fmt else ", ".join(fields) + "\n"
        return head + ", ".join(row) + "\n"
    if "--query-compute-apps" in options:
        used_mib = call.machine.metrics.activity.memory_kb // 1024
        unit = "" if "nounits" in fmt else " MiB"
        head = "" if "noheader" in fmt else "pid, process_name, used_gpu_memory [MiB]\n"
        return head + (f"4242, python3, {used_mib}{unit}\n" if used_mib else "")
    if "-L" in options:
        return f"GPU 0: {hardware.GPU_NAME} (UUID: {_gpu_values(call)['uuid']})\n"
    if "-q" in options:
        return (
            f"\nDriver Version                            : {hardware.DRIVER_VERSION}\n"
            f"CUDA Version                              : {hardware.CUDA_VERSION}\n\n"
            f"Attached GPUs                             : 1\nGPU {hardware.GPU_BUS}\n"
            f"    Product Name                          : {hardware.GPU_NAME}\n"
            f"    GSP Firmware Version                  : {hardware.DRIVER_VERSION}\n"
        )
    return _smi_table(call)


def _smi_table(call: Call) -> str:
    activity = call.machine.metrics.activity
    driver = hardware.DRIVER_VERSION
    line = f"+{'-' * 89}+\n"
    middle = f"+{'-' * 41}+{'-' * 24}+{'-' * 22}+\n"
    watts, percent = f"{activity.gpu_power_w:.0f}W", f"{activity.gpu_pct:.0f}%"
    state = "P0" if activity.gpu_pct else "P8"
    versions = f"NVIDIA-SMI {driver:<22} Driver Version: {driver:<14} CUDA Version: {hardware.CUDA_VERSION}"
    name = f"  0  {hardware.GPU_NAME:<31} On"
    heat = f"N/A  {activity.gpu_temperature_c:3.0f}C    {state}          {watts:>5} /  N/A"
    return (
        f"{line}| {versions:<88}|\n{middle}"
        "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n"
        "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n"
        f"|{'=' * 41}+{'=' * 24}+{'=' * 22}|\n"
        f"| {name:<40}|   {hardware.GPU_BUS} Off |                  N/A |\n"
        f"| {heat:<40}| {'Not Supported':<23}| {percent:>8}     Default |\n{middle}"
    )
