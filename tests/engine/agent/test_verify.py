"""Verification through the daemon, with programs that stand in for ping, ip and perftest."""

from __future__ import annotations

import pytest

from engine.agent.support import Desktop, Failed, Node, eventually

PING = """
import sys
words = sys.argv[1:]
size = int(words[words.index("-s") + 1])
assert words[-1] == "10.0.0.2" and words[words.index("-I") + 1] == "enp1s0f0np0"
if "-M" in words and size > 1472:
    print("ping: local error: message too long, mtu=1500")
    print("3 packets transmitted, 0 received, +3 errors, 100% packet loss, time 400ms")
    sys.exit(1)
print("3 packets transmitted, 3 received, 0% packet loss, time 400ms")
print("rtt min/avg/max/mdev = 0.1/0.2/0.3/0.0 ms")
"""

IP = """
import json, sys
words = sys.argv[1:]
if words[:3] == ["-j", "route", "get"]:
    if words[3] == "10.9.9.9":
        sys.exit("RTNETLINK answers: Network is unreachable")
    print(json.dumps([{"dst": words[3], "dev": "enp1s0f0np0", "from": "10.0.0.1", "flags": []}]))
elif words[1] == "neigh":
    print(json.dumps([{"dst": "10.0.0.2", "dev": "enp1s0f0np0", "lladdr": "3c:6d:66:00:00:02", "state": ["STALE"]}]))
else:
    print("[]")
"""

# Server and client meet at a Unix socket in the home; the figures are made up, the output is perftest's.
PERF = """
import os, pathlib, socket, sys
words = sys.argv[1:]
port = words[words.index("-p") + 1]
path = str(pathlib.Path(os.environ["HOME"], f"perf-{port}"))
end = socket.socket(socket.AF_UNIX)
if words[-1] != "10.0.0.2":
    end.bind(path)
    end.listen()
    end.accept()[0].recv(1)
else:
    try:
        end.connect(path)
    except OSError:
        sys.exit(" Couldn't connect to 10.0.0.2:" + port)
    end.send(b"x")
if "lat" in sys.argv[0]:
    print(" #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]")
    print(" 2       1000          1.42           1.93         1.47                1.47")
else:
    print(" #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]    MsgRate[Mpps]")
    print(" 65536      882805           0.00               92.57                0.176554")
"""


async def test_pings_tell_whether_the_long_packet_passes(node: Node) -> None:
    node.program("ping", PING)
    desktop = await Desktop.attach(node)
    ask = {"destination": "10.0.0.2", "netdev": "enp1s0f0np0", "count": 3, "dont_fragment": True, "timeout_s": 10.0}
    good = await desktop.call("verify.ping", {**ask, "payload_bytes": 1472})
    assert (good["received"], good["rtt_avg_ms"], good["error"]) == (3, 0.2, None)
    bad = await desktop.call("verify.ping", {**ask, "payload_bytes": 8972})
    assert (bad["sent"], bad["received"]) == (3, 0)
    assert "message too long, mtu=1500" in bad["error"]
    await desktop.close()


async def test_routes_and_neighbours(node: Node) -> None:
    node.program("ip", IP)
    desktop = await Desktop.attach(node)
    route = await desktop.call("verify.route", {"destination": "10.0.0.2"})
    assert (route["device"], route["source"], route["error"]) == ("enp1s0f0np0", "10.0.0.1", None)
    none = await desktop.call("verify.route", {"destination": "10.9.9.9"})
    assert (none["device"], none["error"]) == (None, "Network is unreachable")
    (neighbour,) = (await desktop.call("verify.neighbours"))["neighbours"]
    assert (neighbour["mac"], neighbour["state"]) == ("3c:6d:66:00:00:02", "STALE")
    await desktop.close()


@pytest.mark.parametrize(("tool", "figure"), [("ib_write_bw", 92.57), ("ib_write_lat", 1.47)])
async def test_a_client_waits_for_its_server_and_the_server_ends_with_it(node: Node, tool: str, figure: float) -> None:
    node.program(tool, PERF)
    desktop = await Desktop.attach(node)
    ask = {"tool": tool, "device": "rocep1s0f0", "port": 12000, "gid_index": 3, "seconds": 1.0}
    early = await desktop.start("verify.rdma_client", {**ask, "server": "10.0.0.2"})
    job = (await desktop.call("verify.rdma_server", ask))["job_id"]
    perf = await desktop.answer(early)
    assert figure in (perf["bandwidth_gbps"], perf["latency_us"])
    assert perf["error"] is None

    async def ended() -> bool:
        return bool((await desktop.call("job.status", {"job_id": job}))["state"] == "exited")

    await eventually(ended)
    await desktop.close()


async def test_a_tool_that_is_missing_is_named_with_its_package(node: Node) -> None:
    desktop = await Desktop.attach(node)
    ask = {"tool": "ib_write_bw", "device": "rocep1s0f0", "port": 12000, "seconds": 1.0}
    with pytest.raises(Failed, match="ib_write_bw is not installed") as caught:
        await desktop.call("verify.rdma_server", ask)
    assert "perftest" in caught.value.data["remedy"]
    await desktop.close()
