"""RDMA devices with their GID tables, and GPUs by nvidia-smi or NVML."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk_agent.probes import gpu, rdma
from stellwerk_agent.reading import Reader
from unit.agent import spark_tree


def test_an_rdma_device_is_read_with_the_used_part_of_its_gid_table(tmp_path: Path) -> None:
    devices = {d.name: d for d in rdma.read_rdma(Reader(spark_tree.build(tmp_path)), {})}
    device = devices["roceP2p1s0f0"]
    assert (device.netdev, device.pci_address) == ("enP2p1s0f0np0", "0002:01:00.0")
    assert (device.state, device.physical_state, device.rate_gbps) == ("ACTIVE", "LINK_UP", 200.0)
    assert (device.firmware, device.board) == ("28.45.4028", "NVD0000000087")
    assert [(g.index, g.kind, g.ipv4) for g in device.gids] == [
        (0, "RoCE v1", None),
        (1, "RoCE v2", None),
        (2, "RoCE v1", "192.168.100.10"),
        (3, "RoCE v2", "192.168.100.10"),
    ]


def test_without_gids_and_sysfs_links_the_tools_name_the_interface(tmp_path: Path) -> None:
    spark_tree.write(tmp_path / "sys/class/infiniband/rocep1s0f0/ports/1/state", "1: DOWN\n")
    spark_tree.write(tmp_path / "sys/class/infiniband/rocep1s0f0/ports/1/phys_state", "3: Disabled\n")
    (device,) = rdma.read_rdma(Reader(tmp_path), {"rocep1s0f0": "enp1s0f0np0"})
    assert (device.netdev, device.state, device.physical_state) == ("enp1s0f0np0", "DOWN", "DISABLED")
    assert device.gids == ()
    assert device.rate_gbps is None


@given(st.integers(0, 2**32 - 1))
def test_an_ipv4_gid_gives_its_address(number: int) -> None:
    address = ipaddress.IPv4Address(number)
    assert rdma.gid_ipv4(ipaddress.IPv6Address(f"::ffff:{address}").exploded) == str(address)


@given(st.text(max_size=200))
def test_any_text_of_the_rdma_tools_is_read_without_error(text: str) -> None:
    rdma.gid_ipv4(text)
    rdma.parse_rate(text)
    rdma.parse_physical_state(text)
    rdma.parse_ibdev2netdev(text)
    rdma.parse_rdma_link(text)
    rdma.parse_devinfo_mtu(text)


def test_ibdev2netdev_in_any_order_and_rdma_link() -> None:
    expected = {"rocep1s0f0": "enp1s0f0np0", "roceP2p1s0f0": "enP2p1s0f0np0"}
    text = "roceP2p1s0f0 port 1 ==> enP2p1s0f0np0 (Down)\nrocep1s0f0 port 1 ==> enp1s0f0np0 (Up)\nnoise\n"
    assert rdma.parse_ibdev2netdev(text) == expected
    link = (
        "link rocep1s0f0/1 state ACTIVE physical_state LINK_UP netdev enp1s0f0np0\n"
        "link roceP2p1s0f0/1 state DOWN physical_state DISABLED netdev enP2p1s0f0np0\n"
        "link ib0/1 state DOWN physical_state DISABLED\n"
    )
    assert rdma.parse_rdma_link(link) == expected


def test_the_active_rdma_mtu_is_what_ibv_devinfo_prints() -> None:
    text = "hca_id:\trocep1s0f0\n\ttransport:\n\t\tport:\t1\n\t\t\tmax_mtu:\t4096 (5)\n\t\t\tactive_mtu:\t1024 (3)\n"
    assert rdma.parse_devinfo_mtu(text) == {"rocep1s0f0": 1024}


def test_why_there_is_no_rdma_device(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    assert "no ConnectX" in rdma.why_no_rdma(reader)
    spark_tree.write(tmp_path / "sys/bus/pci/devices/0000:01:00.0/vendor", "0x15b3\n")
    spark_tree.write(tmp_path / "sys/bus/pci/devices/0000:01:00.0/class", "0x020000\n")
    assert "mlx5_ib" in rdma.why_no_rdma(reader)
    assert "no NVIDIA GPU" in gpu.why_no_gpu(reader, "x")
    spark_tree.write(tmp_path / "sys/bus/pci/devices/000f:01:00.0/vendor", "0x10de\n")
    spark_tree.write(tmp_path / "sys/bus/pci/devices/000f:01:00.0/class", "0x030200\n")
    assert gpu.why_no_gpu(reader, "Driver/library version mismatch").endswith("Driver/library version mismatch")


@pytest.mark.parametrize("text", ["[N/A]", "N/A", "Not Supported", "[Not Supported]", "[Unknown Error]", "", "ERR!"])
def test_what_gb10_does_not_tell_is_none_and_never_zero(text: str) -> None:
    assert gpu.value_or_none(text) is None
    assert gpu.number_or_none(text) is None


def test_gb10_by_nvidia_smi() -> None:
    (found,) = gpu.parse_gpus("NVIDIA GB10, GPU-1, 0000000F:01:00.0, [N/A], 580.126.09, 12.1\n")
    assert (found.name, found.memory_total_mib, found.compute_capability) == ("NVIDIA GB10", None, "12.1")
    (sample,) = gpu.parse_samples("0, 39, 3.74 W, 2405 MHz, [N/A]\n", 96291.0)
    assert (sample.utilisation_pct, sample.power_w, sample.clock_mhz) == (0.0, 3.74, 2405.0)
    assert (sample.memory_used_mib, sample.process_memory_mib) == (None, 96291.0)
    assert gpu.parse_gpus("No devices were found\n") == ()


def test_the_memory_of_processes_is_added_up_whatever_their_names() -> None:
    assert gpu.parse_process_memory("3150, python3, 218\n6330, a, b::c, 96073\n") == 96291.0
    assert gpu.parse_process_memory("3150, python3, [N/A]\n") is None
    assert gpu.parse_process_memory("") is None


@given(st.text(max_size=300))
def test_any_text_of_nvidia_smi_is_read_without_error(text: str) -> None:
    gpu.parse_gpus(text)
    gpu.parse_samples(text, None)
    gpu.parse_process_memory(text)
    gpu.parse_cuda(text)


def test_the_cuda_version_is_in_the_head_of_the_table() -> None:
    assert gpu.parse_cuda("| NVIDIA-SMI 580.1  Driver Version: 580.1  CUDA Version: 13.0  |") == "13.0"
    assert gpu.parse_cuda("CUDA Version                              : 13.0\n") == "13.0"


class _Error(Exception):
    pass


def _nvml(**answers: Any) -> Any:
    """A stand-in for pynvml on GB10: what is not given is not supported."""

    def refuse(*_: Any) -> Any:
        raise _Error

    names = [
        "nvmlDeviceGetMemoryInfo", "nvmlDeviceGetPciInfo", "nvmlDeviceGetName", "nvmlDeviceGetUUID",
        "nvmlSystemGetDriverVersion", "nvmlSystemGetCudaDriverVersion", "nvmlDeviceGetCudaComputeCapability",
        "nvmlDeviceGetUtilizationRates", "nvmlDeviceGetPowerUsage", "nvmlDeviceGetComputeRunningProcesses",
        "nvmlDeviceGetTemperature", "nvmlDeviceGetClockInfo",
    ]  # fmt: skip
    base: dict[str, Any] = dict.fromkeys(names, refuse)
    base |= {"NVMLError": _Error, "NVML_TEMPERATURE_GPU": 0, "NVML_CLOCK_GRAPHICS": 0, "nvmlDeviceGetCount": lambda: 1}
    base["nvmlDeviceGetHandleByIndex"] = lambda index: index
    return SimpleNamespace(**{**base, **answers})


def test_nvml_gives_none_for_what_the_driver_does_not_support() -> None:
    library = _nvml(
        nvmlDeviceGetName=lambda _: b"NVIDIA GB10",
        nvmlSystemGetCudaDriverVersion=lambda: 13000,
        nvmlDeviceGetCudaComputeCapability=lambda _: (12, 1),
        nvmlDeviceGetPowerUsage=lambda _: 10800,
        nvmlDeviceGetComputeRunningProcesses=lambda _: [
            SimpleNamespace(usedGpuMemory=2**30),
            SimpleNamespace(usedGpuMemory=None),
        ],
    )
    nvml = gpu.Nvml(library)
    (found,) = nvml.gpus()
    assert (found.name, found.cuda, found.compute_capability, found.memory_total_mib) == (
        "NVIDIA GB10",
        "13.0",
        "12.1",
        None,
    )
    (sample,) = nvml.samples()
    assert (sample.power_w, sample.process_memory_mib, sample.memory_used_mib) == (10.8, 1024.0, None)
    assert sample.utilisation_pct is None


def test_nvml_is_not_asked_about_a_machine_below_another_root(tmp_path: Path) -> None:
    assert gpu.Nvml.open(Reader(tmp_path)) is None
