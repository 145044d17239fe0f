"""Frames of cable discovery, and the words for how listening went."""

from __future__ import annotations

import json
import socket
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk.model.facts import NetDevice
from stellwerk_agent import hear_frames, hear_ports, hearing
from stellwerk_agent.hear_frames import Said
from stellwerk_agent.hearing import RawWay, Round, judge_state

WORD = st.text(
    st.characters(min_codepoint=33, max_codepoint=0x24F, exclude_categories=("C", "Z")), min_size=1, max_size=40
)
MACS = st.binary(min_size=6, max_size=6).map(hear_frames.format_mac)
SAID = st.builds(Said, WORD, WORD, WORD, MACS, WORD)


@given(SAID, st.binary(min_size=6, max_size=6))
def test_what_is_said_is_heard_on_every_carrier(said: Said, source: bytes) -> None:
    payload = hear_frames.build_payload(said)
    assert hear_frames.parse_payload(payload) == said
    frame = hear_frames.ethernet_frame(source, payload)
    assert len(frame) >= 60
    event = hear_ports.judge_frame("eth0", frame)
    assert event is not None
    assert event.said == said


@given(st.binary(max_size=300))
def test_any_bytes_on_the_wire_are_no_error(data: bytes) -> None:
    hear_frames.parse_payload(data)
    hear_frames.parse_payload(hear_frames.MAGIC + data)
    hear_ports.judge_frame("eth0", data)
    hear_frames.parse_lldp(b"\x01\x80\xc2\x00\x00\x0e" + bytes(6) + b"\x88\xcc" + data, "eth0")


def test_a_multicast_packet_as_a_frame_is_what_rfc_2464_and_8200_say() -> None:
    group = socket.inet_pton(socket.AF_INET6, "ff02::5357:4845")
    frame = hear_frames.multicast6_frame(bytes.fromhex("3c6d6601b3b0"), group, 47531, b"odd")
    assert frame[:14].hex() == "3333535748453c6d6601b3b086dd"
    assert socket.inet_ntop(socket.AF_INET6, frame[22:38]) == "fe80::3e6d:66ff:fe01:b3b0"
    assert frame[38:54] == group
    assert struct.unpack("!HHH", frame[54:60]) == (47531, 47531, 11)
    # The receiver's sum over pseudo-header and packet, checksum included, is all ones.
    data = frame[22:54] + struct.pack("!II", 11, 17) + frame[54:65] + b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    assert (total & 0xFFFF) + (total >> 16) == 0xFFFF


def test_a_payload_from_a_stranger_is_cleaned_bounded_and_checked() -> None:
    body = {"node_id": "a\x1b[31m" + "x" * 500, "hostname": "<img>\u202e", "netdev": "e", "mac": "02:00:00:00:00:01"}
    said = hear_frames.parse_payload(hear_frames.MAGIC + json.dumps(body).encode())
    assert said is not None
    assert said.node_id.startswith("a[31mx")
    assert len(said.node_id) == 128
    assert said.hostname == "<img>"
    for bad in ({**body, "mac": "no mac"}, {**body, "netdev": 5}, {**body, "node_id": ""}, []):
        assert hear_frames.parse_payload(hear_frames.MAGIC + json.dumps(bad).encode()) is None


def _tlv(kind: int, value: bytes) -> bytes:
    return struct.pack("!H", kind << 9 | len(value)) + value


def _lldp(*tlvs: bytes, tag: bytes = b"") -> bytes:
    return b"\x01\x80\xc2\x00\x00\x0e" + bytes(6) + tag + b"\x88\xcc" + b"".join(tlvs) + _tlv(0, b"")


CHASSIS = _tlv(1, b"\x04\x74\x4d\x28\x00\x00\x01")
PORT = _tlv(2, b"\x05qsfp56-1-1")


def test_a_switch_names_itself_by_lldp_also_behind_a_vlan_tag() -> None:
    for tag in (b"", b"\x81\x00\x00\x05"):
        frame = _lldp(CHASSIS, PORT, _tlv(3, b"\0\x78"), _tlv(4, b"port 1\x07"), _tlv(5, b"MikroTik"), tag=tag)
        found = hear_frames.parse_lldp(frame, "enp1s0f0np0")
        assert found is not None
        assert (found.chassis, found.port, found.system_name) == ("74:4d:28:00:00:01", "qsfp56-1-1", "MikroTik")
        assert found.port_description == "port 1"
    assert hear_frames.parse_lldp(_lldp(CHASSIS), "x") is None


@given(st.lists(st.tuples(st.integers(0, 127), st.binary(max_size=40)), max_size=6))
def test_any_lldp_frame_is_no_error(tlvs: list[tuple[int, bytes]]) -> None:
    hear_frames.parse_lldp(_lldp(*(_tlv(kind, value) for kind, value in tlvs)), "x")


def test_spanning_tree_is_told_from_other_frames() -> None:
    assert hear_frames.is_bpdu(bytes.fromhex("0180c2000000 020000000001 0026 424203") + bytes(40))
    assert hear_frames.is_bpdu(bytes.fromhex("01000ccccccd 020000000001 0032 aaaa03") + bytes(40))
    assert not hear_frames.is_bpdu(bytes.fromhex("0180c2000000 020000000001 88cc 0207") + bytes(40))
    assert not hear_frames.is_bpdu(b"\x01\x80")


def test_lldpctl_with_one_and_with_several_interfaces() -> None:
    body = {
        "chassis": {"switch-1": {"id": {"type": "mac", "value": "74:4d:28:00:00:01"}}},
        "port": {"id": {"type": "ifname", "value": "swp3"}, "descr": "third"},
    }
    one = hearing.parse_lldpctl(json.dumps({"lldp": {"interface": {"eth0": body}}}))
    several = hearing.parse_lldpctl(json.dumps({"lldp": {"interface": [{"eth0": body}, {"eth1": body}]}}))
    assert [n.netdev for n in one + several] == ["eth0", "eth0", "eth1"]
    assert (one[0].chassis, one[0].port, one[0].system_name) == ("74:4d:28:00:00:01", "swp3", "switch-1")
    assert one[0].port_description == "third"


@given(
    st.recursive(
        st.none() | st.text(max_size=5),
        lambda x: st.lists(x, max_size=2) | st.dictionaries(st.text(max_size=5), x, max_size=2),
    )
)
def test_any_answer_of_lldpctl_is_no_error(value: object) -> None:
    hearing.parse_lldpctl(json.dumps({"lldp": {"interface": value}}))
    hearing.parse_lldpctl(json.dumps(value))
    hearing.parse_lldpctl(str(value))


UP = NetDevice("e0", admin_up=True, carrier=True)
DOWN = NetDevice("e0", admin_up=False)
ROOT = RawWay(True)
NO_ROOT = RawWay(False, why="needs the sudo password")


@pytest.mark.parametrize(
    ("device", "heard", "problems", "raw", "state", "word"),
    [
        (UP, True, {"ipv6": "no-link-local"}, NO_ROOT, "heard", None),
        (UP, False, {"ipv6": None, "ipv4": "no-ipv4"}, NO_ROOT, "silent", "nobody answered"),
        (UP, False, {"ipv6": "no-link-local", "ipv4": "no-ipv4"}, NO_ROOT, "needs-sudo", "needs the sudo password"),
        (UP, False, {"ipv6": "no-link-local", "raw": "Device busy"}, ROOT, "failed", "Device busy"),
        (UP, False, {"ipv6": "no-carrier"}, NO_ROOT, "no-carrier", "no signal"),
        (NetDevice("e0", admin_up=True, carrier=False), False, {}, NO_ROOT, "no-carrier", "no signal"),
        (DOWN, False, {"ipv6": "down"}, ROOT, "down", "may be brought up"),
        (DOWN, False, {"ipv6": "down"}, RawWay(False, True, "needs the sudo password"), "needs-sudo", "bringing it up"),
        (DOWN, False, {"ipv6": "down", "raw": None}, RawWay(True, True), "silent", "nobody"),
        (DOWN, False, {"raw": "no-carrier"}, RawWay(True, True), "no-carrier", "no signal"),
        (DOWN, False, {"raw": "cannot be brought up: denied"}, RawWay(True, True), "failed", "denied"),
    ],
)
def test_how_listening_went_is_said_in_words(
    device: NetDevice, heard: bool, problems: dict[str, str | None], raw: RawWay, state: str, word: str | None
) -> None:
    found = judge_state(device, heard, problems, raw)
    assert found.state == state
    assert (word or "") in (found.why or "")


def test_one_talkative_stranger_does_not_fill_the_memory() -> None:
    heard = Round("me", "host")
    for number in range(1000):
        heard.take(hear_ports.Event("e0", "ipv6", said=Said(f"n{number}", "h", "e", "02:00:00:00:00:01")))
    assert len(heard.report([UP], ROOT).heard) == hearing.MAX_HEARD
