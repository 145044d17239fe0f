"""What the torch backend hands to torch: works, futures, and tensors staged in memory that a communicator can use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from stellwerk.collectives.work import Work

Tensors = list[torch.Tensor]


class TorchWork(dist.Work):
    """What torch waits for. `finish` puts staged results where they belong, once, in the waiting thread."""

    def __init__(self, works: Sequence[Work], outputs: Any, finish: Callable[[], None] | None) -> None:
        super().__init__()
        self._works = [work for work in works if work is not None]
        self._outputs = outputs
        self._finish = finish
        self._future: Any = None

    def wait(self, timeout: timedelta = timedelta(0)) -> bool:
        """Wait for all parts; raises what the communicator raised. A zero time-out means the communicator's own."""
        seconds = timeout.total_seconds() or None
        for work in self._works:
            work.wait(seconds)
        self._finish_once()
        return True

    def _finish_once(self) -> None:
        if self._finish is not None:
            finish, self._finish = self._finish, None
            finish()

    def is_completed(self) -> bool:
        """True once every part has ended."""
        return all(work.done() for work in self._works)

    def is_success(self) -> bool:
        """True once every part has ended well."""
        return self.is_completed() and all(work.exception() is None for work in self._works)

    def exception(self) -> Any:
        """The first error."""
        return next((e for work in self._works if (e := work.exception()) is not None), None)

    def result(self) -> Any:
        """The output tensors."""
        return self._outputs

    def get_future(self) -> Any:
        """A torch future that is completed with the output tensors (DDP's gradient buckets use it)."""
        if self._future is None:
            self._future = torch.futures.Future()
            if not self._works:
                self._resolve(None)
            else:
                # Calls are executed in order, so the last part ends last.
                self._works[-1].when_done(self._resolve)
        return self._future

    def _resolve(self, error: BaseException | None) -> None:
        error = error or self.exception()
        if error is None:
            self._finish_once()
            self._future.set_result(self._outputs)
        else:
            self._future.set_exception(error)


class Staged:
    """A tensor in memory that the communicator can use: itself, or a contiguous CPU copy of it."""

    def __init__(self, tensor: torch.Tensor, *, read: bool = True) -> None:
        self.original = tensor
        if tensor.is_cpu and tensor.is_contiguous():
            self.tensor = tensor
            return
        self.tensor = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=tensor.is_cuda)
        if read:
            self.tensor.copy_(tensor)

    @property
    def is_copy(self) -> bool:
        return self.tensor is not self.original

    def put_back(self) -> None:
        if self.is_copy:
            self.original.copy_(self.tensor)


def finisher(staged: Sequence[Staged]) -> Callable[[], None] | None:
    copies = [s for s in staged if s.is_copy]
    if not copies:
        return None

    def finish() -> None:
        for s in copies:
            s.put_back()

    return finish


class Received(TorchWork):
    """A finished receive that knows who sent."""

    def __init__(self, outputs: Any, source: int) -> None:
        super().__init__([], outputs, None)
        self._source = source

    def _source_rank(self) -> int:
        return self._source

    def source_rank(self) -> int:
        """The sender."""
        return self._source


def finished(options: Any, work: TorchWork) -> TorchWork:
    """Wait now if torch is going to wait anyway."""
    if not options.asyncOp:
        work.wait()
    return work


def joined(works: Sequence[Any], outputs: Any) -> TorchWork:
    def finish() -> None:
        for work in works:
            work.wait()

    return TorchWork([part for work in works for part in work._works], outputs, finish)


def bytes_of(tensor: torch.Tensor) -> torch.Tensor:
    """A contiguous tensor as bytes: what is only moved may have any type."""
    return tensor.detach().reshape(-1).view(torch.uint8) if tensor.numel() else torch.empty(0, dtype=torch.uint8)


def copy_into(output: torch.Tensor, part: torch.Tensor) -> None:
    if output.numel():
        output.copy_(part.view(output.dtype).view(output.shape))


def split_bytes(tensor: torch.Tensor, rows: list[int]) -> list[int] | None:
    if not rows:
        return None
    row = tensor.element_size() * (tensor.numel() // tensor.shape[0] if tensor.shape[0] else 0)
    return [count * row for count in rows]
