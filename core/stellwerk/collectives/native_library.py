"""ctypes bindings of the native library: its structures, its functions, and schedules in its form."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from stellwerk.collectives.kinds import DataType
from stellwerk.collectives.schedule import Operand, Schedule
from stellwerk.native import COLLECTIVES, NativeMissing

ABI = 2
NO_PORT = 255

OK = 0
AGAIN = 1
CLOSED = -1
MISMATCH = -2
ABORTED = -3


class CCall(ctypes.Structure):
    """`struct sw_call`."""

    _fields_ = (
        ("count", ctypes.c_uint64),
        ("seq", ctypes.c_uint32),
        ("op", ctypes.c_uint16),
        ("algorithm", ctypes.c_uint16),
        ("dtype", ctypes.c_uint8),
        ("redop", ctypes.c_uint8),
        ("root", ctypes.c_uint16),
    )


class COperand(ctypes.Structure):
    """`struct sw_operand`."""

    _fields_ = (
        ("offset", ctypes.c_uint64),
        ("where", ctypes.c_uint8),
        ("peer", ctypes.c_uint8),
        ("wide", ctypes.c_uint8),
        ("pad", ctypes.c_uint8 * 5),
    )


class CStep(ctypes.Structure):
    """`struct sw_step`."""

    _fields_ = (
        ("dst", COperand),
        ("len", ctypes.c_uint64),
        ("first", ctypes.c_uint32),
        ("sources", ctypes.c_uint32),
        ("mask", ctypes.c_uint32),
        ("kind", ctypes.c_uint8),
        ("peer", ctypes.c_uint8),
        ("finish", ctypes.c_uint8),
        ("pad", ctypes.c_uint8),
    )


class CPlan(ctypes.Structure):
    """`struct sw_plan`."""

    _fields_ = (
        ("call", CCall),
        ("steps", ctypes.POINTER(CStep)),
        ("sources", ctypes.POINTER(COperand)),
        ("scratch_bytes", ctypes.c_uint64),
        ("step_count", ctypes.c_uint32),
        ("ranks_in_average", ctypes.c_uint32),
    )


class CLink(ctypes.Structure):
    """`struct sw_link`."""

    _fields_ = (("delay_ns", ctypes.c_uint64), ("bytes_per_s", ctypes.c_uint64))


class CFailure(ctypes.Structure):
    """`struct sw_failure`."""

    _fields_ = (
        ("status", ctypes.c_int32),
        ("peer", ctypes.c_int32),
        ("system_error", ctypes.c_int32),
        ("expected", CCall),
        ("got", CCall),
        ("expected_bytes", ctypes.c_uint64),
        ("got_bytes", ctypes.c_uint64),
        ("text", ctypes.c_char * 200),
    )


class CHealth(ctypes.Structure):
    """`struct sw_health`."""

    _fields_ = (
        ("calls", ctypes.c_uint64),
        ("done", ctypes.c_uint64),
        ("messages", ctypes.c_uint64),
        ("bytes", ctypes.c_uint64),
        ("blocked", ctypes.c_uint64),
        ("waiting_on", ctypes.c_int32),
        ("aborted", ctypes.c_int32),
    )


class CTcpConfig(ctypes.Structure):
    """`struct sw_tcp_config`."""

    _fields_ = (("fds", ctypes.POINTER(ctypes.c_int32)), ("link", CLink))


class CShmConfig(ctypes.Structure):
    """`struct sw_shm_config`."""

    _fields_ = (("base", ctypes.c_void_p), ("ring_bytes", ctypes.c_uint64), ("link", CLink))


class CVerbsPort(ctypes.Structure):
    """`struct sw_verbs_port`."""

    _fields_ = (
        ("device", ctypes.c_char_p),
        ("number", ctypes.c_uint8),
        ("gid_index", ctypes.c_uint8),
        ("pad", ctypes.c_uint8 * 6),
    )


class CVerbsAddress(ctypes.Structure):
    """`struct sw_verbs_address`."""

    _fields_ = (
        ("gid", ctypes.c_uint8 * 16),
        ("base", ctypes.c_uint64),
        ("key", ctypes.c_uint32),
        ("qpn", ctypes.c_uint32),
        ("psn", ctypes.c_uint32),
        ("mtu", ctypes.c_uint32),
        ("lid", ctypes.c_uint16),
        ("pad", ctypes.c_uint16 * 3),
    )


def _struct_sizes() -> int:
    size = ctypes.sizeof
    return (
        size(CCall)
        + (size(CStep) << 8)
        + (size(COperand) << 16)
        + (size(CPlan) << 24)
        + (size(CFailure) << 32)
        + (size(CVerbsAddress) << 44)
    )


def _load(path: Path) -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(str(path), use_errno=True)
        abi = int(library.sw_abi())
        library.sw_struct_sizes.restype = ctypes.c_uint64
        sizes = int(library.sw_struct_sizes())
        library.sw_sources.restype = ctypes.c_char_p
        sources = library.sw_sources().decode()
    except (OSError, AttributeError) as error:
        raise NativeMissing(f"{path} cannot be loaded: {error}") from error
    if abi != ABI or sizes != _struct_sizes():
        raise NativeMissing(f"{path} is of another version (ABI {abi}, wanted {ABI})")
    COLLECTIVES.check_sources(path, sources)
    _declare(library)
    return library


def _declare(library: ctypes.CDLL) -> None:
    pointer, u64, i32, u32 = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int, ctypes.c_uint32
    signatures: dict[str, tuple[object, list[object]]] = {
        "sw_now_ns": (u64, []),
        "sw_shm_bytes": (u64, [i32, u64]),
        "sw_open_tcp": (pointer, [i32, i32, ctypes.POINTER(CTcpConfig)]),
        "sw_open_shm": (pointer, [i32, i32, ctypes.POINTER(CShmConfig)]),
        "sw_open_verbs": (pointer, [i32, i32, pointer, i32, pointer, i32, u64, ctypes.c_char_p, ctypes.c_char_p]),
        "sw_verbs_addresses": (i32, [pointer, pointer]),
        "sw_verbs_join": (i32, [pointer, pointer]),
        "sw_execute": (i32, [pointer, pointer, pointer, pointer, u64]),
        "sw_resume": (i32, [pointer, u64]),
        "sw_set_waiting": (None, [pointer, u32, u32]),
        "sw_abort": (None, [pointer]),
        "sw_failure": (None, [pointer, ctypes.POINTER(CFailure)]),
        "sw_health": (None, [pointer, ctypes.POINTER(CHealth)]),
        "sw_close": (None, [pointer]),
        "sw_reduce_arrays": (i32, [i32, i32, pointer, ctypes.POINTER(pointer), i32, u64, u32]),
        "sw_test_fill": (i32, [u64, i32, i32, i32, pointer, u64]),
        "sw_test_check": (ctypes.c_int64, [u64, i32, i32, i32, pointer, u64]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments


@cache
def load() -> ctypes.CDLL:
    """The native library. NativeMissing if there is none for this machine and it cannot be compiled."""
    return COLLECTIVES.load(_load)


def _c_operand(operand: Operand) -> COperand:
    return COperand(operand.offset, int(operand.where), operand.peer, int(operand.wide))


@dataclass(frozen=True, slots=True)
class NativePlan:
    """A schedule in the form that the library executes, and what it points to."""

    plan: CPlan
    address: int
    keep: tuple[object, ...]


def native_plan(
    schedule: Schedule, *, count: int, op: int, algorithm: int, dtype: DataType, redop: int, root: int, ranks: int
) -> NativePlan:
    """Translate a schedule; done once per kind of call and kept."""
    sources: list[COperand] = []
    steps = (CStep * max(1, len(schedule.steps)))()
    for c_step, step in zip(steps, schedule.steps, strict=False):
        c_step.dst = _c_operand(step.dst)
        c_step.len = step.length
        c_step.first = len(sources)
        c_step.sources = len(step.sources)
        c_step.mask = sum(1 << peer for peer in step.peers)
        c_step.kind = int(step.kind)
        c_step.peer = step.peer
        c_step.finish = int(step.finish)
        sources.extend(_c_operand(source) for source in step.sources)
    c_sources = (COperand * max(1, len(sources)))(*sources)
    call = CCall(count, 0, op, algorithm, int(dtype), redop, root)
    plan = CPlan(
        call,
        ctypes.cast(steps, ctypes.POINTER(CStep)),
        ctypes.cast(c_sources, ctypes.POINTER(COperand)),
        schedule.scratch_bytes,
        len(schedule.steps),
        ranks,
    )
    return NativePlan(plan, ctypes.addressof(plan), (steps, c_sources))


def tcp_config(fds: Sequence[int], link: CLink) -> CTcpConfig:
    """The configuration of `sw_open_tcp`; the array is copied by the library."""
    array = (ctypes.c_int32 * len(fds))(*fds)
    return CTcpConfig(ctypes.cast(array, ctypes.POINTER(ctypes.c_int32)), link)
