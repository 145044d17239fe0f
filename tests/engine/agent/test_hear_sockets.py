"""The three kinds of sockets on real interfaces: two network namespaces, joined by a veth cable."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import IO, Any

import pytest

from engine.agent.support import SOURCES

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root")

# One end of the cable: says what it is told on stdin, one JSON object a line.
END = """
import json, os, socket, subprocess, sys, time
from stellwerk_agent import hear_ports
from stellwerk_agent.hear_frames import Said, build_payload

def run(*words): subprocess.run(words, check=True)

print(os.getpid(), flush=True)
me, peer_pid, role = json.loads(sys.stdin.readline())
if peer_pid:
    run("ip", "link", "add", "end0", "type", "veth", "peer", "name", "end0", "netns", str(peer_pid))
print("cable", flush=True)
sys.stdin.readline()
run("sysctl", "-qw", "net.ipv6.conf.end0.accept_dad=0")
if role != "root":
    run("ip", "addr", "add", f"169.254.7.{me}/16", "dev", "end0")
else:
    run("sysctl", "-qw", "net.ipv6.conf.end0.addr_gen_mode=1")  # no link-local address
run("ip", "link", "set", "end0", "up")
mac = json.loads(subprocess.check_output(["ip", "-j", "link", "show", "end0"]))[0]["address"]
until = time.monotonic() + 10
wanted = b"link/ether" if role == "root" else b"fe80"
while wanted not in subprocess.check_output(["ip", "addr", "show", "end0"]) and time.monotonic() < until:
    time.sleep(0.05)
index = socket.if_nametoindex("end0")
ports = []
if role != "root":
    ports += [hear_ports.open_port("sockets", "end0", index, kind) for kind in ("ipv6", "ipv4")]
if role != "user":
    ports += hear_ports.open_raw_ports("sockets", "end0", mac)
print("ready", flush=True)
sys.stdin.readline()
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as switch:  # what a switch at this end would say
    switch.bind(("end0", 0))
    switch.send(bytes.fromhex("0180c200000e02000000000188cc0207040200000000010405057377703106020078" "0000"))
    switch.send(bytes.fromhex("0180c20000000200000000010026424203") + bytes(40))
heard = []
payload = build_payload(Said(f"node-{me}", "host", "end0", mac, "tok"))
hear_ports.exchange(ports, {"end0": payload}, 1.5, heard.append, lambda: False)
problems = {port.kind: port.problem for port in ports}
print(json.dumps({"heard": sorted({(e.kind, e.said.node_id) for e in heard if e.said}), "problems": problems,
                  "lldp": [e.lldp.chassis for e in heard if e.lldp], "bpdu": any(e.bpdu for e in heard)}), flush=True)
"""


class End:
    def __init__(self) -> None:
        self.process = subprocess.Popen(
            ["unshare", "-n", sys.executable, "-c", END],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": SOURCES},
        )
        self.pid = int(self.hear())

    def hear(self) -> str:
        line = _pipe(self.process.stdout).readline()
        assert line, "one end of the cable failed"
        return line.strip()

    def say(self, value: Any) -> None:
        pipe = _pipe(self.process.stdin)
        pipe.write(json.dumps(value) + "\n")
        pipe.flush()

    def close(self) -> None:
        self.process.kill()
        _pipe(self.process.stdin).close()
        _pipe(self.process.stdout).close()
        self.process.wait()


def _pipe(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


@pytest.fixture
def ends() -> Iterator[tuple[End, End]]:
    made = [End(), End()]
    yield made[0], made[1]
    for end in made:
        end.close()


def exchanged(ends: tuple[End, End], *roles: str) -> list[Any]:
    """What both ends report; the roles: all, root (raw frames alone, no address), user (no raw frames)."""
    first, second = ends
    second.say([2, None, roles[1]])
    assert second.hear() == "cable"
    first.say([1, second.pid, roles[0]])
    assert first.hear() == "cable"
    for step in ("ready", None):
        for end in ends:
            end.say("go")
        if step:
            assert [end.hear() for end in ends] == [step, step]
    return [json.loads(end.hear()) for end in ends]


def test_an_end_with_root_and_no_address_is_heard_by_one_without_root(ends: tuple[End, End]) -> None:
    _, user = exchanged(ends, "root", "user")
    assert user["heard"] == [["ipv6", "node-1"]]


def test_each_kind_of_socket_hears_the_other_end_and_not_itself(ends: tuple[End, End]) -> None:
    results = exchanged(ends, "all", "all")
    for result, other in zip(results, ("node-2", "node-1"), strict=True):
        assert result["heard"] == [["ipv4", other], ["ipv6", other], ["raw", other]]
        assert set(result["problems"].values()) == {None}
        assert result["lldp"] == ["02:00:00:00:00:01"]
        assert result["bpdu"] is True
