"""Reads counters cheaply again and again: files stay open and are read in place."""

from __future__ import annotations

import os
from pathlib import Path

from stellwerk.model.sample import NetCounters, RdmaCounters
from stellwerk_agent.reading import clean

MAX_NETDEVS = 64
MAX_RDMA = 32
MAX_ZONES = 32

NET_FIELDS = (
    "rx_bytes",
    "tx_bytes",
    "rx_packets",
    "tx_packets",
    "rx_errors",
    "tx_errors",
    "rx_dropped",
    "tx_dropped",
)
# Field of RdmaCounters -> files below the port that are added up for it (mlx5's names, then others').
RDMA_FILES = {
    "xmit_words": ("counters/port_xmit_data",),
    "rcv_words": ("counters/port_rcv_data",),
    "xmit_packets": ("counters/port_xmit_packets",),
    "rcv_packets": ("counters/port_rcv_packets",),
    # What makes the sender send again: a NAK for a lost packet, and an acknowledgement that never came.
    "retransmits": ("hw_counters/packet_seq_err", "hw_counters/local_ack_timeout_err"),
    "out_of_sequence": ("hw_counters/out_of_sequence",),
    "cnp_sent": ("hw_counters/np_cnp_sent",),
    "cnp_handled": ("hw_counters/rp_cnp_handled",),
}
RDMA_REQUIRED = ("xmit_words", "rcv_words")


class OpenFile:
    """One file that is read over and over. Opened at the first read, and again when it was replaced."""

    __slots__ = ("_descriptor", "_path")

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = -1

    def read(self, size: int = 64) -> bytes | None:
        """The first `size` bytes as they are now; None when that cannot be read."""
        try:
            if self._descriptor < 0:
                self._descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
            elif os.fstat(self._descriptor).st_nlink == 0:  # another file has this name now
                self.close()
                self._descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
            return os.pread(self._descriptor, size, 0)
        except OSError:
            self.close()  # an interface went away, or the carrier of one that is down is asked for
            return None

    def number(self) -> int | None:
        """The file's integer."""
        data = self.read()
        try:
            return int(data) if data else None
        except ValueError:
            return None

    def close(self) -> None:
        """Give the descriptor back; the next read opens the file again."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


class NetFiles:
    """The counter files of one netdev."""

    def __init__(self, directory: Path) -> None:
        self._files = [OpenFile(directory / "statistics" / name) for name in NET_FIELDS]
        self._carrier = OpenFile(directory / "carrier")

    def read(self) -> NetCounters | None:
        values = [file.number() for file in self._files]
        if None in values[:4]:
            return None
        carrier = self._carrier.number()
        counts = {name: value or 0 for name, value in zip(NET_FIELDS, values, strict=True)}
        return NetCounters(**counts, carrier=None if carrier is None else carrier > 0)

    def close(self) -> None:
        for file in (*self._files, self._carrier):
            file.close()


class RdmaFiles:
    """The counter files of one RDMA port."""

    def __init__(self, port: Path) -> None:
        self._files = {field: [OpenFile(port / name) for name in names] for field, names in RDMA_FILES.items()}

    def read(self) -> RdmaCounters | None:
        values: dict[str, int] = {}
        for field, files in self._files.items():
            numbers = [n for n in (file.number() for file in files) if n is not None]
            if numbers:
                values[field] = sum(numbers)
        return RdmaCounters(**values) if all(field in values for field in RDMA_REQUIRED) else None

    def close(self) -> None:
        for files in self._files.values():
            for file in files:
                file.close()


class Counters:
    """All counters of the node. `rescan` follows interfaces that come and go."""

    def __init__(self, root: Path) -> None:
        self._net_dir = root / "sys/class/net"
        self._rdma_dir = root / "sys/class/infiniband"
        self._thermal_dir = root / "sys/class/thermal"
        self._net: dict[str, NetFiles] = {}
        self._rdma: dict[str, RdmaFiles] = {}
        self._zones: dict[str, OpenFile] = {}
        self._stat = OpenFile(root / "proc/stat")
        self._load = OpenFile(root / "proc/loadavg")
        self._memory = OpenFile(root / "proc/meminfo")

    def rescan(self) -> None:
        """Look which interfaces, devices and zones there are now."""
        nets = [n for n in _names(self._net_dir) if self._is_counted(n)][:MAX_NETDEVS]
        for name in set(self._net) - set(nets):
            self._net.pop(name).close()
        for name in nets:
            if name not in self._net:
                self._net[name] = NetFiles(self._net_dir / name)
        devices = _names(self._rdma_dir)[:MAX_RDMA]
        for name in set(self._rdma) - set(devices):
            self._rdma.pop(name).close()
        for name in devices:
            if name not in self._rdma:
                self._rdma[name] = RdmaFiles(self._rdma_dir / name / "ports/1")
        if not self._zones:  # zones do not come and go
            self._zones = self._find_zones()

    def _is_counted(self, name: str) -> bool:
        """Not the loopback, and not the containers' ends of veth pairs: dozens of them say nothing about a fabric."""
        directory = self._net_dir / name
        return name != "lo" and not name.startswith("veth") and (directory / "ifindex").exists()

    def _find_zones(self) -> dict[str, OpenFile]:
        zones: dict[str, OpenFile] = {}
        for name in sorted(n for n in _names(self._thermal_dir) if n.startswith("thermal_zone"))[:MAX_ZONES]:
            kind = OpenFile(self._thermal_dir / name / "type")
            text = clean((kind.read() or b"").decode("utf-8", "replace")) or name
            kind.close()
            # GB10 has several zones of one type.
            zones[text if text not in zones else f"{text} {name.removeprefix('thermal_zone')}"] = OpenFile(
                self._thermal_dir / name / "temp"
            )
        return zones

    def net(self) -> dict[str, NetCounters]:
        found = ((name, files.read()) for name, files in self._net.items())
        return {name: value for name, value in found if value is not None}

    def rdma(self) -> dict[str, RdmaCounters]:
        found = ((name, files.read()) for name, files in self._rdma.items())
        return {name: value for name, value in found if value is not None}

    def temperatures_c(self) -> dict[str, float]:
        found = ((name, file.number()) for name, file in self._zones.items())
        return {name: value / 1000 for name, value in found if value is not None}

    def cpu_ticks(self) -> tuple[int | None, int | None]:
        """(busy, total) ticks of all CPUs since the boot."""
        words = (self._stat.read(256) or b"").split(b"\n", 1)[0].split()
        if len(words) < 6 or words[0] != b"cpu" or not all(word.isdigit() for word in words[1:]):
            return None, None
        # Guest time is in user time already (proc(5)).
        ticks = [int(word) for word in words[1:9]]
        return sum(ticks) - ticks[3] - ticks[4], sum(ticks)

    def load1(self) -> float | None:
        words = (self._load.read() or b"").split()
        try:
            return float(words[0]) if words else None
        except ValueError:
            return None

    def memory_kb(self) -> dict[str, int]:
        """The lines of /proc/meminfo that a sample needs."""
        found: dict[str, int] = {}
        for line in (self._memory.read(4096) or b"").splitlines():
            name, _, rest = line.partition(b":")
            if name in (b"MemTotal", b"MemAvailable", b"SwapTotal", b"SwapFree"):
                number = rest.split()[:1]
                if number and number[0].isdigit():
                    found[name.decode()] = int(number[0])
        return found

    def close(self) -> None:
        """Close every file."""
        for net in self._net.values():
            net.close()
        for rdma in self._rdma.values():
            rdma.close()
        for file in (*self._zones.values(), self._stat, self._load, self._memory):
            file.close()


def _names(directory: Path) -> list[str]:
    try:
        return sorted(os.listdir(directory))  # noqa: PTH208  (names are wanted, not paths)
    except OSError:
        return []
