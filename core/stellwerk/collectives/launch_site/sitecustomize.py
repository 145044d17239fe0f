"""Put in front of a program's module path by `stellwerk launch`: swaps the NCCL backend for "stellwerk".

Python imports a module of this name at start. It does nothing until the program imports torch.distributed.
"""

from __future__ import annotations

import functools
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

TARGET = "torch.distributed.distributed_c10d"
HERE = Path(__file__).resolve().parent


def _swapped(backend: Any) -> Any:
    """`nccl`, `cuda:nccl` and mixtures with it become `stellwerk`; everything else stays."""
    words = str(backend).lower().split(",")
    return "stellwerk" if any(word.split(":")[-1] == "nccl" for word in words) else backend


def _wrap(function: Callable[..., Any]) -> Callable[..., Any]:
    place = list(inspect.signature(function).parameters).index("backend")

    @functools.wraps(function)
    def wrapper(*arguments: Any, **named: Any) -> Any:
        by_place = len(arguments) > place
        before = arguments[place] if by_place else named.get("backend")
        after = _swapped(before) if before is not None else before
        if after is not before:
            import stellwerk.collectives.torch_backend  # noqa: F401 - registers the backend

            if by_place:
                arguments = (*arguments[:place], after, *arguments[place + 1 :])
            else:
                named["backend"] = after
            named.pop("device_id", None)  # binds a process to a GPU for NCCL; we take no part in that
        return function(*arguments, **named)

    return wrapper


def patch(module: ModuleType) -> None:
    """Wrap the two functions that name a backend, also where torch.distributed has them."""
    for name in ("init_process_group", "new_group"):
        setattr(module, name, _wrap(getattr(module, name)))


class _Patching(importlib.abc.Loader):
    """Loads a module with its own loader and patches it."""

    def __init__(self, loader: importlib.abc.Loader) -> None:
        self._loader = loader

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        patch(module)


class _Finder(importlib.abc.MetaPathFinder):
    """Waits for the one module."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != TARGET:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Patching(spec.loader)
        return spec


def _run_the_next_one() -> None:
    """A sitecustomize that this one hides must run as well."""
    elsewhere = [entry for entry in sys.path if Path(entry or ".").resolve() != HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", elsewhere)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


if __name__ == "sitecustomize":
    sys.meta_path.insert(0, _Finder())
    _run_the_next_one()
