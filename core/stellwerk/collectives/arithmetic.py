"""Reductions without the native library: with numpy where it is installed, else with the standard library alone."""

from __future__ import annotations

import importlib.util
import math
import struct
from array import array
from collections.abc import Callable, Sequence
from typing import Any

from stellwerk.collectives.kinds import DataType, ReduceOp

_CODES = {
    DataType.FLOAT32: "f",
    DataType.FLOAT64: "d",
    DataType.FLOAT16: "e",
    DataType.INT32: "i",
    DataType.INT64: "q",
    DataType.UINT8: "B",
}
_INTEGER_BITS = {DataType.INT32: 32, DataType.INT64: 64, DataType.UINT8: 8}

Source = tuple[memoryview, DataType]
Reducer = Callable[[memoryview, DataType, Sequence[Source], int, ReduceOp, int], None]


def reducer() -> Reducer:
    """The fastest reducer there is here. It combines `count` elements of the sources, in their order, into `dst`."""
    return reduce_with_numpy if importlib.util.find_spec("numpy") else reduce_with_lists


# ---- standard library ------------------------------------------------------------------------------------------------


def _read(view: memoryview, dtype: DataType, count: int) -> list[Any]:
    raw = view[: count * dtype.bytes]
    if dtype is DataType.BFLOAT16:
        wide = b"".join(b"\0\0" + raw[i : i + 2] for i in range(0, len(raw), 2))
        return list(struct.unpack(f"<{count}f", wide))
    return list(struct.unpack(f"<{count}{_CODES[dtype]}", raw))


def _bfloat16_bits(value: float) -> int:
    bits = int(struct.unpack("<I", struct.pack("<f", value))[0])
    if math.isnan(value):
        return bits >> 16 | 0x40
    return bits + 0x7FFF + (bits >> 16 & 1) >> 16


def _write(view: memoryview, dtype: DataType, values: list[Any]) -> None:
    if dtype is DataType.BFLOAT16:
        data = struct.pack(f"<{len(values)}H", *(_bfloat16_bits(v) for v in values))
    elif dtype is DataType.FLOAT16:
        data = b"".join(_half(v) for v in values)
    elif dtype in _INTEGER_BITS:
        bits = _INTEGER_BITS[dtype]
        data = b"".join((v & (1 << bits) - 1).to_bytes(bits // 8, "little") for v in values)
    elif dtype is DataType.FLOAT32:
        data = array("f", values).tobytes()  # rounds, and goes to infinity without an error
    else:
        data = struct.pack(f"<{len(values)}{_CODES[dtype]}", *values)
    view[: len(data)] = data


def _half(value: float) -> bytes:
    try:
        return struct.pack("<e", value)
    except OverflowError:
        return struct.pack("<e", math.copysign(math.inf, value))


def _larger(a: Any, b: Any) -> Any:
    return a if a > b or a != a else b


def _smaller(a: Any, b: Any) -> Any:
    return a if a < b or a != a else b


def reduce_with_lists(
    dst: memoryview, dst_type: DataType, sources: Sequence[Source], count: int, op: ReduceOp, divide_by: int
) -> None:
    """Element by element: slow, but needs nothing. Sums are made in double precision."""
    values = _read(*sources[0], count)
    for view, dtype in sources[1:]:
        more = _read(view, dtype, count)
        if op in (ReduceOp.SUM, ReduceOp.AVG):
            values = [a + b for a, b in zip(values, more, strict=True)]
        elif op is ReduceOp.PRODUCT:
            values = [a * b for a, b in zip(values, more, strict=True)]
        else:
            values = list(map(_larger if op is ReduceOp.MAX else _smaller, values, more))
    if op is ReduceOp.AVG and divide_by > 1:
        if dst_type in _INTEGER_BITS:
            values = [abs(v) // divide_by * (1 if v >= 0 else -1) for v in values]
        else:
            values = [v / divide_by for v in values]
    _write(dst, dst_type, values)


# ---- numpy -----------------------------------------------------------------------------------------------------------


def reduce_with_numpy(
    dst: memoryview, dst_type: DataType, sources: Sequence[Source], count: int, op: ReduceOp, divide_by: int
) -> None:
    """The same as the native library: half types in float32, everything else in its own type."""
    import numpy as np

    with np.errstate(all="ignore"):  # infinities and wrapped integers are results, not warnings
        total = _load(np, *sources[0], count)
        for view, dtype in sources[1:]:
            more = _load(np, view, dtype, count)
            if op in (ReduceOp.SUM, ReduceOp.AVG):
                total = total + more
            elif op is ReduceOp.PRODUCT:
                total = total * more
            else:
                total = np.maximum(total, more) if op is ReduceOp.MAX else np.minimum(total, more)
        if op is ReduceOp.AVG and divide_by > 1:
            if dst_type in _INTEGER_BITS:
                total = np.where(total < 0, -(-total // divide_by), total // divide_by).astype(total.dtype)
            else:
                total = total / total.dtype.type(divide_by)
        _store(np, dst, dst_type, total)


def _load(np: Any, view: memoryview, dtype: DataType, count: int) -> Any:
    raw = view[: count * dtype.bytes]
    if dtype is DataType.BFLOAT16:
        return (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4")
    loaded = np.frombuffer(raw, f"<{_CODES[dtype]}" if dtype is not DataType.INT32 else "<i4")
    return loaded.astype("<f4") if dtype is DataType.FLOAT16 else loaded


def _store(np: Any, dst: memoryview, dtype: DataType, values: Any) -> None:
    target = dst[: len(values) * dtype.bytes]
    if dtype is DataType.BFLOAT16:
        bits = values.astype("<f4").view("<u4")
        rounded = (bits + np.uint32(0x7FFF) + (bits >> 16 & 1)) >> 16
        quiet = bits >> 16 | 0x40
        np.frombuffer(target, "<u2")[:] = np.where(np.isnan(values), quiet, rounded).astype("<u2")
    else:
        code = "<i4" if dtype is DataType.INT32 else f"<{_CODES[dtype]}"
        np.frombuffer(target, code)[:] = values.astype(code)
