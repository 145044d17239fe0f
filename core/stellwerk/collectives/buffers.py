"""Where the elements of an array lie: numpy arrays, torch CPU tensors, anything with the buffer protocol.

Neither numpy nor torch is imported here; their objects are recognised by what they offer.
"""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

from stellwerk.collectives.kinds import DataType

_BY_NAME = {
    "float32": DataType.FLOAT32,
    "float64": DataType.FLOAT64,
    "float16": DataType.FLOAT16,
    "bfloat16": DataType.BFLOAT16,
    "int32": DataType.INT32,
    "int64": DataType.INT64,
    "uint8": DataType.UINT8,
    "bool": DataType.UINT8,
    "int8": DataType.UINT8,  # bytes to be moved; a reduction of it is refused
}
_BY_FORMAT = {
    "f": DataType.FLOAT32,
    "d": DataType.FLOAT64,
    "e": DataType.FLOAT16,
    "i": DataType.INT32,
    "l": DataType.INT64 if ctypes.sizeof(ctypes.c_long) == 8 else DataType.INT32,
    "q": DataType.INT64,
    "B": DataType.UINT8,
    "c": DataType.UINT8,
    "?": DataType.UINT8,
    "b": DataType.UINT8,
}
# Types whose bytes can be moved but must not be added up as unsigned bytes.
_MOVED_ONLY = {"bool", "int8", "?", "b", "c"}
# What a library's own type objects mean here; filled as they are met, because looking at their names is slow.
_TORCH: dict[Any, tuple[DataType, bool]] = {}
_NUMPY: dict[Any, tuple[DataType, bool]] = {}


class Buffer(NamedTuple):
    """Contiguous elements in memory. `keep` holds whatever must stay alive while the address is used.

    A named tuple and not a dataclass, because one is made per call and costs a third.
    """

    address: int
    elements: int
    dtype: DataType
    reducible: bool
    keep: Any

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return self.elements * self.dtype.bytes


def buffer_of(array: Any, *, writable: bool) -> Buffer:
    """Describe an array. TypeError for a type that is not carried, ValueError for memory that cannot be used."""
    if hasattr(array, "data_ptr"):
        return _from_torch(array)
    dtype = getattr(array, "dtype", None)
    if dtype is not None and hasattr(array, "__array_interface__"):
        return _from_numpy(array, dtype, writable)
    return _from_memory(array, writable)


def _from_torch(tensor: Any) -> Buffer:
    dtype = tensor.dtype
    known = _TORCH.get(dtype)
    if known is None:
        name = str(dtype).removeprefix("torch.")
        if name not in _BY_NAME:
            raise TypeError(f"tensors of {dtype} are not carried; known are: {', '.join(_BY_NAME)}")
        known = _TORCH[dtype] = (_BY_NAME[name], name not in _MOVED_ONLY)
    if not tensor.is_cpu:
        raise ValueError(f"the tensor is on {tensor.device}; a communicator takes CPU memory")
    if not tensor.is_contiguous():
        raise ValueError("the tensor is not contiguous; call .contiguous() first")
    return Buffer(tensor.data_ptr(), tensor.numel(), *known, tensor)


def _from_numpy(array: Any, dtype: Any, writable: bool) -> Buffer:
    known = _NUMPY.get(dtype)
    if known is None:
        name = dtype.name
        if name not in _BY_NAME or not dtype.isnative:
            raise TypeError(f"arrays of {dtype} are not carried; known are: {', '.join(_BY_NAME)}")
        known = _NUMPY[dtype] = (_BY_NAME[name], name not in _MOVED_ONLY)
    flags = array.flags
    if not flags.c_contiguous:
        raise ValueError("the array is not contiguous; use numpy.ascontiguousarray first")
    if not flags.writeable:
        if writable:
            raise ValueError("the array is read-only and cannot take a result")
        return Buffer(array.ctypes.data, array.size, *known, array)
    size: int = array.size
    if not size:
        return Buffer(0, 0, *known, array)
    try:
        # Several times as fast as array.ctypes.data; types that are not of C (bfloat16) have no buffer.
        return Buffer(ctypes.addressof(ctypes.c_char.from_buffer(array)), size, *known, array)
    except (TypeError, ValueError):
        return Buffer(array.ctypes.data, size, *known, array)


def _from_memory(array: Any, writable: bool) -> Buffer:
    try:
        view = memoryview(array)
    except TypeError:
        raise TypeError(
            f"{type(array).__name__} is neither a numpy array, a torch tensor, nor an object with the buffer protocol"
        ) from None
    code = view.format.lstrip("@=<")
    if code not in _BY_FORMAT or view.itemsize != _BY_FORMAT[code].bytes:
        raise TypeError(f"elements of format {view.format!r} are not carried")
    if not view.c_contiguous:
        raise ValueError("the memory is not contiguous")
    if writable and view.readonly:
        raise ValueError("the memory is read-only and cannot take a result")
    count = view.nbytes // view.itemsize
    dtype, reducible = _BY_FORMAT[code], code not in _MOVED_ONLY
    if view.nbytes == 0:
        return Buffer(0, 0, dtype, reducible, view)
    if view.readonly:
        copy = ctypes.create_string_buffer(bytes(view), view.nbytes)  # ctypes gives no address of read-only memory
        return Buffer(ctypes.addressof(copy), count, dtype, reducible, copy)
    held = (ctypes.c_char * view.nbytes).from_buffer(view.cast("B") if view.ndim > 1 or code != "B" else view)
    return Buffer(ctypes.addressof(held), count, dtype, reducible, held)


def view_of(address: int, nbytes: int) -> memoryview:
    """Memory at an address as bytes; the caller keeps it alive."""
    if nbytes == 0:
        return memoryview(bytearray())
    return memoryview((ctypes.c_char * nbytes).from_address(address)).cast("B")
