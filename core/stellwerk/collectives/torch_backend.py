"""The `torch.distributed` backend "stellwerk".

    import stellwerk.collectives.torch_backend
    torch.distributed.init_process_group("stellwerk")

A Python `ProcessGroup`: torch 2.13 lets Python implement that class (not `Backend`). What a communicator does not offer
(bitwise reductions, coalesced forms, ...) goes to an inner Gloo group. If the start-up tests fail on any rank, *all*
ranks use Gloo, with a warning that says why.

CUDA tensors are copied through pinned host memory and block the caller: correct, slower than NCCL, not for CUDA graphs.
Environment: `STELLWERK_TRANSPORT` (auto, shm, tcp, python) and `STELLWERK_ADDRESS` (this rank's own address).
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

from stellwerk.collectives.communicator import Communicator
from stellwerk.collectives.errors import SetupFailed
from stellwerk.collectives.kinds import ReduceOp
from stellwerk.collectives.options import Options
from stellwerk.collectives.torch_tensors import (
    Received,
    Staged,
    Tensors,
    TorchWork,
    bytes_of,
    copy_into,
    finished,
    finisher,
    joined,
    split_bytes,
)

log = logging.getLogger("stellwerk.collectives")

# torch's type hints overload every method twice; only one form of each arrives here.
c10d: Any = dist
_options: Any = torch._C._distributed_c10d
if TYPE_CHECKING:

    class _ProcessGroup:
        def __init__(self, *arguments: Any) -> None: ...
else:
    _ProcessGroup = dist.ProcessGroup

NAME = "stellwerk"
SETUP_S = 120.0
_OPS = {
    _options.ReduceOp.RedOpType.SUM: ReduceOp.SUM,
    _options.ReduceOp.RedOpType.AVG: ReduceOp.AVG,
    _options.ReduceOp.RedOpType.MAX: ReduceOp.MAX,
    _options.ReduceOp.RedOpType.MIN: ReduceOp.MIN,
    _options.ReduceOp.RedOpType.PRODUCT: ReduceOp.PRODUCT,
}
_REDUCED = {torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int32, torch.int64, torch.uint8}


def _op(options: Any) -> ReduceOp | None:
    """Our word for torch's reduction, None if we have none."""
    # torch hands out an object that hides an enumeration; both hash by value
    return _OPS.get(options.reduceOp.op) if hasattr(options.reduceOp, "op") else _OPS.get(options.reduceOp)


class StellwerkProcessGroup(_ProcessGroup):
    """One communicator as a process group."""

    def __init__(self, store: Any, rank: int, size: int, timeout: timedelta) -> None:
        super().__init__(rank, size)
        self._store, self._my_rank, self._my_size, self._timeout = store, rank, size, timeout
        self._inner: Any = None
        self._name = self._desc = ""
        self._done = TorchWork([], None, None)
        self.fallback = ""
        self.communicator: Communicator | None = None
        self._connect()

    def _connect(self) -> None:
        options = Options(
            transport=os.environ.get("STELLWERK_TRANSPORT", "auto"),
            address=os.environ.get("STELLWERK_ADDRESS", ""),
            timeout_s=max(0.1, self._timeout.total_seconds()),
            setup_timeout_s=min(SETUP_S, max(1.0, self._timeout.total_seconds())),
        )
        why = ""
        try:
            self.communicator = Communicator.connect(self._my_rank, self._my_size, self._store, options=options)
        except SetupFailed as error:
            why = str(error)
        self.fallback = self._first_trouble(why)
        if self.fallback:
            # A half-made backend would be worse than a slow one, so this is decided by all ranks together.
            if self.communicator is not None:
                self.communicator.close()
                self.communicator = None
            log.warning("stellwerk is off on every rank, Gloo is used instead: %s", self.fallback)

    def _first_trouble(self, why: str) -> str:
        self._store.set(f"stellwerk/verdict/{self._my_rank}", why or "fine")
        for rank in range(self._my_size):
            word = self._store.get(f"stellwerk/verdict/{rank}").decode()
            if word != "fine":
                return f"rank {rank}: {word}"
        return ""

    @property
    def gloo(self) -> Any:
        """The inner Gloo group, made when it is needed first; all ranks need it in the same call."""
        if self._inner is None:
            store = c10d.PrefixStore("stellwerk-gloo", self._store)
            self._inner = c10d.ProcessGroupGloo(store, self._my_rank, self._my_size, self._timeout)
        return self._inner

    def _ours(self, tensors: Sequence[torch.Tensor], reduces: Any = None) -> Communicator | None:
        """The communicator, if it can do this call on every rank alike: that depends on type and reduction only."""
        comm = self.communicator
        if comm is None or any(t.is_sparse for t in tensors):
            return None
        if reduces is not None and (_op(reduces) is None or any(t.dtype not in _REDUCED for t in tensors)):
            return None
        return comm

    # ---- what torch asks for ---------------------------------------------------------------------------------------

    def name(self) -> str:
        """The backend's name."""
        return NAME

    def getBackendName(self) -> str:
        """The backend's name."""
        return NAME

    # torch keeps a group's name in its C++ backend, of which there is none here.

    def _set_group_name(self, name: str) -> None:
        self._name = name

    def _set_group_desc(self, text: str) -> None:
        self._desc = text

    @property
    def group_name(self) -> str:
        """torch's name for this group."""
        return self._name

    @property
    def group_desc(self) -> str:
        """torch's description of this group."""
        return self._desc

    def getGroupName(self) -> str:
        """The name, for C++."""
        return self._name

    def getGroupDesc(self) -> str:
        """The description, for C++."""
        return self._desc

    def size(self) -> int:
        """Number of ranks."""
        return self._my_size

    def rank(self) -> int:
        """This rank."""
        return self._my_rank

    def shutdown(self) -> None:
        """Leave in good order (`destroy_process_group`)."""
        if self.communicator is not None:
            self.communicator.close()
        self._inner = None

    def abort(self) -> None:
        """End the group on every rank now."""
        if self.communicator is not None:
            self.communicator.abort("torch aborted the process group")

    def _run(self, options: Any, call: Callable[[bool], Any], outputs: Any, staged: Sequence[Staged]) -> Any:
        """Execute in the caller's thread if torch is going to wait anyway, else queue it."""
        asynchronous = getattr(options, "asyncOp", True)
        work = call(asynchronous)
        done = TorchWork([work] if work is not None else [], outputs, finisher(staged))
        if not asynchronous:
            done.wait()
        return done

    def allreduce(self, tensors: Tensors, opts: Any = None) -> Any:
        """Combine one tensor in place."""
        opts = opts or _options.AllreduceOptions()
        tensor = tensors[0]
        comm = self.communicator
        # The way of a small message, kept short: every microsecond here is paid per layer and token.
        if comm is not None and not opts.asyncOp and tensor.is_cpu and tensor.dtype in _REDUCED and len(tensors) == 1:
            op = _op(opts)
            if op is not None and tensor.is_contiguous():
                comm.all_reduce(tensor, op)
                return self._done
        comm, op = self._ours(tensors, opts), _op(opts)
        if comm is None or op is None or len(tensors) != 1:
            return self.gloo.allreduce(tensors, opts)
        staged = Staged(tensor)
        return self._run(opts, lambda a: comm.all_reduce(staged.tensor, op, async_op=a), tensors, [staged])

    def allreduce_coalesced(self, tensors: Tensors, opts: Any = None) -> Any:
        """Combine several tensors in place."""
        opts = opts or _options.AllreduceCoalescedOptions()
        comm = self._ours(tensors, opts)
        if comm is None:
            return self.gloo.allreduce_coalesced(tensors, opts)
        staged = [Staged(t) for t in tensors]
        works = [comm.all_reduce(s.tensor, _op(opts) or ReduceOp.SUM, async_op=True) for s in staged]
        return TorchWork([w for w in works if w], tensors, finisher(staged))

    def broadcast(self, tensors: Tensors, opts: Any) -> Any:
        """Give every rank the root's tensor."""
        comm = self._ours(tensors)
        if comm is None:
            return self.gloo.broadcast(tensors, opts)
        staged = Staged(tensors[0])
        data = bytes_of(staged.tensor)
        return self._run(opts, lambda a: comm.broadcast(data, opts.rootRank, async_op=a), tensors, [staged])

    def allgather(self, output_lists: list[Tensors], inputs: Tensors, opts: Any = None) -> Any:
        """Every rank's tensor into a list; tensors of different sizes are sent one by one."""
        opts = opts or _options.AllgatherOptions()
        outputs = output_lists[0]
        comm = self._ours([*inputs, *outputs])
        if comm is None:
            return self.gloo.allgather(output_lists, inputs, opts)
        if any(o.numel() != inputs[0].numel() for o in outputs):
            return self._gather_uneven(comm, outputs, inputs[0], output_lists)
        source = bytes_of(Staged(inputs[0]).tensor)
        flat = torch.empty(source.numel() * self._my_size, dtype=torch.uint8)

        def finish() -> None:
            for output, part in zip(outputs, flat.chunk(self._my_size), strict=True):
                output.copy_(part.view(output.dtype).view(output.shape) if part.numel() else output)

        work = comm.all_gather(flat, source, async_op=opts.asyncOp)
        return finished(opts, TorchWork([work] if work else [], output_lists, finish))

    def _gather_uneven(self, comm: Communicator, outputs: Tensors, own: torch.Tensor, results: Any) -> Any:
        staged = [Staged(output, read=False) for output in outputs]
        staged[self._my_rank].tensor.copy_(own)
        works = [comm.broadcast(bytes_of(s.tensor), root, async_op=True) for root, s in enumerate(staged)]
        return TorchWork([w for w in works if w], results, finisher(staged))

    def _allgather_base(self, output: torch.Tensor, input_: torch.Tensor, opts: Any = None) -> Any:
        """Every rank's tensor into one."""
        opts = opts or _options.AllgatherOptions()
        comm = self._ours([output, input_])
        if comm is None:
            return self.gloo._allgather_base(output, input_, opts)
        target, source = Staged(output, read=False), Staged(input_)
        out, data = bytes_of(target.tensor), bytes_of(source.tensor)
        return self._run(opts, lambda a: comm.all_gather(out, data, async_op=a), output, [target])

    def allgather_into_tensor_coalesced(self, outputs: Tensors, inputs: Tensors, opts: Any = None) -> Any:
        """Several `_allgather_base`."""
        works = [self._allgather_base(o, i) for o, i in zip(outputs, inputs, strict=True)]
        return joined(works, outputs)

    def reduce_scatter(self, outputs: Tensors, input_lists: list[Tensors], opts: Any = None) -> Any:
        """Combine lists of tensors, each rank keeps its part."""
        opts = opts or _options.ReduceScatterOptions()
        inputs = input_lists[0]
        comm = self._ours([*outputs, *inputs], opts)
        op = _op(opts)
        if comm is None or op is None:
            return self.gloo.reduce_scatter(outputs, input_lists, opts)
        if any(i.numel() != outputs[0].numel() for i in inputs):
            staged = [Staged(i.clone()) for i in inputs]
            works = [comm.reduce(s.tensor, root, op, async_op=True) for root, s in enumerate(staged)]
            mine = staged[self._my_rank].tensor
            return TorchWork([w for w in works if w], outputs, lambda: copy_into(outputs[0], mine))
        flat = torch.cat([i.reshape(-1) for i in inputs]).cpu()
        target = Staged(outputs[0], read=False)
        return self._run(opts, lambda a: comm.reduce_scatter(target.tensor, flat, op, async_op=a), outputs, [target])

    def _reduce_scatter_base(self, output: torch.Tensor, input_: torch.Tensor, opts: Any = None) -> Any:
        """Combine one tensor of all parts, each rank keeps its part."""
        opts = opts or _options.ReduceScatterOptions()
        comm, op = self._ours([output, input_], opts), _op(opts)
        if comm is None or op is None:
            return self.gloo._reduce_scatter_base(output, input_, opts)
        target, source = Staged(output, read=False), Staged(input_)
        return self._run(
            opts, lambda a: comm.reduce_scatter(target.tensor, source.tensor, op, async_op=a), output, [target]
        )

    def reduce_scatter_tensor_coalesced(self, outputs: Tensors, inputs: Tensors, opts: Any = None) -> Any:
        """Several `_reduce_scatter_base`."""
        works = [self._reduce_scatter_base(o, i, opts) for o, i in zip(outputs, inputs, strict=True)]
        return joined(works, outputs)

    def alltoall_base(
        self, output: torch.Tensor, input_: torch.Tensor, output_split: list[int], input_split: list[int], opts: Any
    ) -> Any:
        """Parts of one tensor to all ranks; splits count rows."""
        comm = self._ours([output, input_])
        if comm is None:
            return self.gloo.alltoall_base(output, input_, output_split, input_split, opts)
        target, source = Staged(output, read=False), Staged(input_)
        out, data = bytes_of(target.tensor), bytes_of(source.tensor)
        sends = split_bytes(input_, input_split) if input_split or output_split else None
        receives = split_bytes(output, output_split) if input_split or output_split else None
        return self._run(
            opts,
            lambda a: comm.all_to_all(out, data, sends=sends, receives=receives, async_op=a),
            output,
            [target],
        )

    def alltoall(self, outputs: Tensors, inputs: Tensors, opts: Any = None) -> Any:
        """A tensor to each rank, a tensor from each rank."""
        opts = opts or _options.AllToAllOptions()
        comm = self._ours([*outputs, *inputs])
        if comm is None:
            return self.gloo.alltoall(outputs, inputs, opts)
        data = torch.cat([bytes_of(Staged(i).tensor) for i in inputs])
        sends = [i.numel() * i.element_size() for i in inputs]
        receives = [o.numel() * o.element_size() for o in outputs]
        flat = torch.empty(sum(receives), dtype=torch.uint8)

        def finish() -> None:
            for output, part in zip(outputs, torch.split_with_sizes(flat, receives), strict=True):
                copy_into(output, part)

        work = comm.all_to_all(flat, data, sends=sends, receives=receives, async_op=opts.asyncOp)
        return finished(opts, TorchWork([work] if work else [], outputs, finish))

    def barrier(self, opts: Any = None) -> Any:
        """Return when every rank is here."""
        if self.communicator is None:
            return self.gloo.barrier(opts or _options.BarrierOptions())
        comm = self.communicator
        return self._run(opts, lambda a: comm.barrier(async_op=a), [], [])

    def monitored_barrier(self, timeout: timedelta | None = None, wait_all_ranks: bool = False) -> None:
        """A barrier; a communicator's error names the missing rank anyway."""
        if self.communicator is None:
            self.gloo.monitored_barrier(timeout or self._timeout, wait_all_ranks)
        else:
            self.communicator.barrier()

    def reduce(self, tensors: Tensors, opts: Any) -> Any:
        """Combine at the root."""
        comm, op = self._ours(tensors, opts), _op(opts)
        if comm is None or op is None:
            return self.gloo.reduce(tensors, opts)
        staged = Staged(tensors[0])
        at_root = [staged] if self._my_rank == opts.rootRank else []
        return self._run(opts, lambda a: comm.reduce(staged.tensor, opts.rootRank, op, async_op=a), tensors, at_root)

    def gather(self, output_lists: list[Tensors], inputs: Tensors, opts: Any) -> Any:
        """All tensors at the root."""
        comm = self._ours(inputs)
        if comm is None:
            return self.gloo.gather(output_lists, inputs, opts)
        source = bytes_of(Staged(inputs[0]).tensor)
        outputs = output_lists[0] if output_lists else []
        flat = torch.empty(source.numel() * len(outputs), dtype=torch.uint8)

        def finish() -> None:
            for output, part in zip(outputs, flat.chunk(len(outputs)) if outputs else [], strict=True):
                copy_into(output, part)

        work = comm.gather(source, opts.rootRank, out=flat if outputs else None, async_op=opts.asyncOp)
        return finished(opts, TorchWork([work] if work else [], output_lists, finish))

    def scatter(self, outputs: Tensors, input_lists: list[Tensors], opts: Any) -> Any:
        """The root's tensors to the ranks."""
        comm = self._ours(outputs)
        if comm is None:
            return self.gloo.scatter(outputs, input_lists, opts)
        dealt = torch.cat([bytes_of(Staged(i).tensor) for i in input_lists[0]]) if input_lists else None
        target = Staged(outputs[0], read=False)
        out = bytes_of(target.tensor)
        return self._run(opts, lambda a: comm.scatter(out, opts.rootRank, array=dealt, async_op=a), outputs, [target])

    def send(self, tensors: Tensors, dst_rank: int, tag: int = 0) -> Any:
        """Send to one rank."""
        if self.communicator is None:
            return self.gloo.send(tensors, dst_rank, tag)
        work = self.communicator.send(bytes_of(Staged(tensors[0]).tensor), dst_rank, tag=tag, async_op=True)
        return TorchWork([work] if work else [], tensors, None)

    def recv(self, tensors: Tensors, src_rank: int, tag: int = 0) -> Any:
        """Receive from one rank."""
        if self.communicator is None:
            return self.gloo.recv(tensors, src_rank, tag)
        staged = Staged(tensors[0], read=False)
        work = self.communicator.recv(bytes_of(staged.tensor), src_rank, tag=tag, async_op=True)
        return TorchWork([work] if work else [], tensors, finisher([staged]))

    def recv_anysource(self, tensors: Tensors, tag: int = 0) -> Any:
        """Receive from whoever sends first."""
        if self.communicator is None:
            return self.gloo.recv_anysource(tensors, tag)
        staged = Staged(tensors[0], read=False)
        source = self.communicator.recv_any(bytes_of(staged.tensor), tag=tag)
        staged.put_back()
        return Received(tensors, source)


# The names of torch 2.13; the older ones are still what C++ calls.
for _new, _old in (
    ("all_gather_single", "_allgather_base"),
    ("all_gather_single_coalesced", "allgather_into_tensor_coalesced"),
    ("reduce_scatter_single", "_reduce_scatter_base"),
    ("reduce_scatter_single_coalesced", "reduce_scatter_tensor_coalesced"),
    ("all_to_all_single", "alltoall_base"),
):
    setattr(StellwerkProcessGroup, _new, getattr(StellwerkProcessGroup, _old))


def _create(store: Any, rank: int, size: int, timeout: timedelta) -> StellwerkProcessGroup:
    return StellwerkProcessGroup(store, rank, size, timeout)


def register() -> None:
    """Make the backend known to torch; importing this module does it."""
    if not hasattr(dist.Backend, NAME.upper()):
        dist.Backend.register_backend(NAME, _create, devices=["cpu", "cuda"])


register()
