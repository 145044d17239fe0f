"""Samples: once a second, faster on request, kept over a change of the daemon."""

from __future__ import annotations

import os

import pytest

from engine.agent.support import Desktop, Failed, Node, eventually
from engine.agent.test_attach import _archive
from stellwerk import wire
from stellwerk.model.sample import Sample
from unit.agent import spark_tree


async def test_a_sample_holds_raw_counters_and_none_for_what_is_not_there(node: Node) -> None:
    desktop = await Desktop.attach(node)
    sample = wire.from_wire(Sample, await desktop.call("sample.latest"))
    assert set(sample.net) == {"enP7s7", *spark_tree.HALVES}
    assert sample.net["enp1s0f0np0"].carrier is True
    rdma = sample.rdma["rocep1s0f0"]
    assert (rdma.xmit_words, rdma.rcv_words, rdma.out_of_sequence, rdma.cnp_sent) == (1000, 2000, 3, 3)
    assert (sample.cpu_busy_ticks, sample.cpu_total_ticks, sample.load1) == (155, 975, 0.52)
    assert (sample.mem_total_kb, sample.mem_available_kb, sample.swap_used_kb) == (127535084, 14386092, 0)
    assert sample.temperatures_c == {"acpitz": 47.5}
    assert sample.gpus == ()
    await desktop.close()


async def test_a_subscription_follows_the_counters_at_its_rate_also_when_files_are_replaced(node: Node) -> None:
    desktop = await Desktop.attach(node)
    counter = node.root / "sys/class/infiniband/rocep1s0f0/ports/1/counters/port_xmit_data"
    assert await desktop.call("sample.subscribe", {"rate_hz": 50}) == {"rate_hz": 10.0}
    await desktop.until(lambda: len(desktop.notifications) >= 3)
    counter.write_text("5000\n")
    fresh = counter.with_name("fresh")
    await desktop.until(lambda: desktop.notifications[-1]["params"]["rdma"]["rocep1s0f0"]["xmit_words"] == 5000)
    fresh.write_text("6000\n")
    fresh.replace(counter)
    await desktop.until(lambda: desktop.notifications[-1]["params"]["rdma"]["rocep1s0f0"]["xmit_words"] == 6000)
    samples = [wire.from_wire(Sample, note["params"]) for note in desktop.notifications]
    assert [s.sequence for s in samples] == sorted({s.sequence for s in samples})
    await desktop.call("sample.unsubscribe")
    with pytest.raises(Failed, match="above 0"):
        await desktop.call("sample.subscribe", {"rate_hz": 0})
    await desktop.close()


async def test_an_interface_that_comes_or_goes_is_followed(node: Node) -> None:
    desktop = await Desktop.attach(node)
    await desktop.call("sample.subscribe", {"rate_hz": 10})
    await desktop.until(lambda: bool(desktop.notifications))
    os.rename(node.root / "sys/class/net/enP7s7", node.root / "sys/class/net/renamed0")  # noqa: PTH104
    await desktop.until(lambda: "renamed0" in desktop.notifications[-1]["params"]["net"])
    assert "enP7s7" not in desktop.notifications[-1]["params"]["net"]
    await desktop.close()


async def test_history_has_no_hole_over_a_change_of_the_daemon(node: Node) -> None:
    desktop = await Desktop.attach(node)

    async def has_two() -> bool:
        return len((await desktop.call("sample.history", {"after_sequence": 0}))["samples"]) >= 2

    await eventually(has_two)
    old = (await desktop.call("sample.history", {"after_sequence": 0}))["samples"]
    node.command, node.extra_environment = _archive(node), {}
    new = await Desktop.attach(node)
    after = (await new.call("sample.history", {"after_sequence": old[0]["sequence"]}))["samples"]
    assert [s["sequence"] for s in after[: len(old) - 1]] == [s["sequence"] for s in old[1:]]

    async def goes_on() -> bool:
        found = (await new.call("sample.history", {"after_sequence": old[-1]["sequence"]}))["samples"]
        return len(found) >= 2

    await eventually(goes_on)
    for one in (desktop, new):
        await one.close()


SMI = """
import sys
fields = sys.argv[1] if len(sys.argv) > 1 else ""
if "utilization" in fields: print("0, 52, 10.8, 2405, [N/A]")
elif "compute-apps" in fields: print("3150, python3, 218\\n6330, sglang::scheduler, 96073")
elif "query-gpu" in fields: print("NVIDIA GB10, GPU-1234, 0000000F:01:00.0, [N/A], 580.126.09, 12.1")
else: print("| NVIDIA-SMI 580.159.03   Driver Version: 580.159.03   CUDA Version: 13.0 |")
"""


async def test_without_nvml_the_gpu_is_read_through_nvidia_smi(node: Node) -> None:
    node.program("nvidia-smi", SMI)
    desktop = await Desktop.attach(node)
    await desktop.call("sample.subscribe", {"rate_hz": 5})
    await desktop.until(lambda: any(note["params"]["gpus"] for note in desktop.notifications))
    gpu = next(note["params"]["gpus"] for note in desktop.notifications if note["params"]["gpus"])[0]
    assert gpu == {
        "utilisation_pct": 0.0,
        "temperature_c": 52.0,
        "power_w": 10.8,
        "clock_mhz": 2405.0,
        "memory_used_mib": None,
        "process_memory_mib": 96291.0,
    }
    fact = (await desktop.call("facts"))["gpus"][0]
    assert (fact["name"], fact["memory_total_mib"], fact["cuda"]) == ("NVIDIA GB10", None, "13.0")
    assert (fact["driver"], fact["compute_capability"]) == ("580.126.09", "12.1")
    await desktop.close()
