"""What ping and perftest print, as results. Outputs are re-typed from field reports."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk.model.errors import BadInput
from stellwerk.model.guard import PingResult, RdmaPerf
from stellwerk_agent import verify
from stellwerk_agent.commands import Result

PING = PingResult("10.0.0.2", None, 8972, True, 0, 0)

GOOD = """\
PING 10.0.0.2 (10.0.0.2) 8972(9000) bytes of data.
8980 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=0.100 ms

--- 10.0.0.2 ping statistics ---
3 packets transmitted, 3 received, 0% packet loss, time 2003ms
rtt min/avg/max/mdev = 0.100/0.150/0.200/0.040 ms
"""
BUSYBOX = "3 packets transmitted, 2 packets received, 33% packet loss\nround-trip min/avg/max = 0.1/0.25/0.4 ms\n"
TOO_LONG = (
    "PING 10.0.0.2 (10.0.0.2) 8972(9000) bytes of data.\nping: local error: message too long, mtu=1500\n"
    "--- 10.0.0.2 ping statistics ---\n3 packets transmitted, 0 received, +3 errors, 100% packet loss, time 2000ms\n"
)
LOST = "--- 10.0.0.2 ping statistics ---\n3 packets transmitted, 0 received, 100% packet loss, time 2037ms\n"


def test_a_ping_that_came_back() -> None:
    result = verify.judge_ping(PING, Result(0, GOOD, ""))
    assert (result.sent, result.received, result.rtt_avg_ms, result.error) == (3, 3, 0.15, None)
    assert verify.judge_ping(PING, Result(0, BUSYBOX, "")).rtt_avg_ms == 0.25


def test_a_packet_that_is_too_long_is_an_error_and_loss_is_none() -> None:
    result = verify.judge_ping(PING, Result(1, TOO_LONG, ""))
    assert (result.sent, result.received) == (3, 0)
    assert result.error == "ping: local error: message too long, mtu=1500"
    assert verify.judge_ping(PING, Result(1, LOST, "")).error is None


def test_a_ping_without_statistics_says_why() -> None:
    assert verify.judge_ping(PING, Result(2, "", "ping: connect: Network is unreachable\n")).error == (
        "ping: connect: Network is unreachable"
    )
    assert verify.judge_ping(PING, Result(None, "", "", "ping is not installed")).error == "ping is not installed"


HEAD = """\
                    RDMA_Write BW Test
 Mtu             : 1024[B]
 local address:  LID 0000 QPN 0x0129 PSN 0x57279d RKey 0x184300 VAddr 0x00ec99bedad000
---------------------------------------------------------------------------------------
"""
BANDWIDTH = HEAD + (
    " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]    MsgRate[Mpps]\n"
    " 65536      882805           0.00               92.57                0.176554\n"
)
SIX = HEAD + (
    " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]   CPU_Util[%]\n"
    " 65536      20000            111.72             111.71             0.213070       5.02\n"
)
MEGABYTES = HEAD + (
    " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n"
    " 65536      5000            11000.00            10000.00             0.16\n"
)
LATENCY = (
    " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   "
    "99% percentile[usec]   99.9% percentile[usec] \n"
    " 2       1000          1.42           1.93         1.47                1.50             0.00            1.57"
    "                    1.93\n"
)
BY_DURATION = " #bytes   #iterations   t_avg[usec]    tps average\n 2   500000   1.61           620000\n"


def test_bandwidth_with_five_and_six_columns_and_in_megabytes() -> None:
    assert verify.parse_bandwidth_gbps(BANDWIDTH) == 92.57
    assert verify.parse_bandwidth_gbps(SIX) == 111.71
    assert verify.parse_bandwidth_gbps(MEGABYTES) == pytest.approx(83.886, abs=0.001)
    assert verify.parse_bandwidth_gbps(HEAD) is None


def test_the_last_line_of_a_repeated_run_counts() -> None:
    assert verify.parse_bandwidth_gbps(BANDWIDTH + " 65536 882802 0.00 97.28 0.18\n") == 97.28


def test_latency_by_iterations_and_by_duration() -> None:
    assert verify.parse_latency_us(LATENCY) == 1.47
    assert verify.parse_latency_us(BY_DURATION) == 1.61
    assert verify.parse_latency_us(LATENCY.replace("1.47 ", "inf ")) == 1.50
    assert verify.parse_latency_us("nothing") is None


@given(st.text(max_size=300))
def test_any_output_is_a_result(text: str) -> None:
    perf = RdmaPerf("ib_write_bw", "rocep1s0f0", "10.0.0.2")
    assert verify.judge_perf(perf, Result(0, text, text)).error
    verify.judge_perf(RdmaPerf("ib_write_lat", "rocep1s0f0", "10.0.0.2"), Result(0, text, ""))
    verify.judge_ping(PING, Result(1, text, text))


@given(st.floats(0.01, 400), st.booleans())
def test_any_bandwidth_that_perftest_prints_is_read(gbps: float, six: bool) -> None:
    row = f" 65536 5000 0.00 {gbps:.2f} 0.17" + (" 3.1" if six else "")
    head = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]"
    assert verify.parse_bandwidth_gbps(f"{HEAD}{head}\n{row}\n{'-' * 80}\n") == float(f"{gbps:.2f}")


def test_the_first_complaint_of_perftest_is_the_reason() -> None:
    text = "Failed to modify QP 313 to RTR\n Unable to Connect the HCA's through the link\n"
    result = verify.judge_perf(RdmaPerf("ib_write_bw", "d", "s"), Result(1, "", text))
    assert (result.bandwidth_gbps, result.error) == (None, "Failed to modify QP 313 to RTR")
    assert "modify QP" in result.output


def test_a_figure_of_a_run_that_failed_does_not_count() -> None:
    assert verify.judge_perf(RdmaPerf("ib_write_bw", "d", "s"), Result(1, BANDWIDTH, "")).bandwidth_gbps is None


def test_perftests_words_are_typed() -> None:
    assert verify.perf_argv("ib_write_bw", "rocep1s0f0", 12000, 3, 2.2) == [
        "ib_write_bw", "-d", "rocep1s0f0", "-i", "1", "-p", "12000", "-F", "-x", "3", "--report_gbits", "-D", "3",
    ]  # fmt: skip
    for words in (("rm", "d", 12000, None), ("ib_write_bw", "-d", 12000, None), ("ib_write_bw", "d", 80, None)):
        with pytest.raises(BadInput):
            verify.perf_argv(*words, 5)
    for text in ("-h", "localhost", "", "10.0.0.1; reboot"):
        with pytest.raises(BadInput):
            verify.check_address(text)
