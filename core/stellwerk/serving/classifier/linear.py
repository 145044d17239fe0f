"""Two logistic heads over sparse rows, fitted by L-BFGS. Needs numpy; only training imports it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stellwerk.native import NativeMissing
from stellwerk.serving.classifier.scanner import native_scanner

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]

HEADS = 2
_MEMORY = 8
_BACKTRACKS = 20


@dataclass(frozen=True, slots=True)
class Rows:
    """A sparse matrix by rows: row i has the columns `columns[start[i]:start[i + 1]]` with `values`."""

    start: Ints
    columns: NDArray[np.int32]
    values: Floats

    def __len__(self) -> int:
        return len(self.start) - 1

    def take(self, rows: Ints) -> Rows:
        """The given rows, in their order."""
        lengths = np.diff(self.start)[rows]
        start = np.concatenate(([0], np.cumsum(lengths)))
        at = np.repeat(self.start[rows] - start[:-1], lengths) + np.arange(start[-1])
        return Rows(start, self.columns[at], self.values[at])

    def dot(self, weights: Floats) -> Floats:
        """[rows, 2] = matrix times [columns, 2]."""
        out = np.empty((len(self), HEADS), np.float32)
        native = _native()
        if native is not None:
            native.sw_rows_dot(len(self), *self._pointers(), _pointer(weights), _pointer(out))
            return out
        for head in range(HEADS):
            pulled = self.values * weights[self.columns, head]
            out[:, head] = np.bincount(self._row_of(), weights=pulled, minlength=len(self))
        return out

    def dot_transposed(self, errors: Floats, columns: int) -> Floats:
        """[columns, 2] = transposed matrix times [rows, 2]."""
        out = np.zeros((columns, HEADS), np.float32)
        native = _native()
        if native is not None:
            native.sw_rows_dot_transposed(len(self), *self._pointers(), _pointer(errors), _pointer(out))
            return out
        for head in range(HEADS):
            pushed = self.values * errors[self._row_of(), head]
            out[:, head] = np.bincount(self.columns, weights=pushed, minlength=columns)
        return out

    def _row_of(self) -> Ints:
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    def _pointers(self) -> tuple[ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]:
        return _pointer(self.start), _pointer(self.columns), _pointer(self.values)


def _pointer(values: NDArray[np.generic]) -> ctypes.c_void_p:
    assert values.flags.c_contiguous
    return ctypes.c_void_p(values.ctypes.data)


def _native() -> ctypes.CDLL | None:
    try:
        library = native_scanner().library
    except NativeMissing:
        return None
    for name in ("sw_rows_dot", "sw_rows_dot_transposed"):
        function = getattr(library, name)
        function.restype = None
        function.argtypes = [ctypes.c_uint64, *[ctypes.c_void_p] * 5]
    return library


@dataclass(frozen=True, slots=True)
class Heads:
    """What was fitted: [columns, 2], [lexical, 2], [2]; column 0 is "strong is right", 1 "weak is right"."""

    hashed: Floats
    lexical: Floats
    bias: Floats

    def logits(self, rows: Rows, lexical: Floats) -> Floats:
        return np.asarray(rows.dot(self.hashed) + lexical @ self.lexical + self.bias, np.float32)


def sigmoid(logits: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(logits, -30, 30))), np.float32)


def fit(
    rows: Rows,
    lexical: Floats,
    targets: Floats,
    columns: int,
    *,
    hashed_l2: float,
    lexical_l2: float,
    iterations: int = 40,
    tolerance: float = 1e-5,
) -> Heads:
    """Minimise the summed log loss plus l2 / 2 * |w|^2 (the bias is free).

    Args:
        lexical: [rows, features], already scaled.
        targets: [rows, 2] in 0..1; values between are probabilities.
        tolerance: relative gain of a step below which the fit is done.
    """
    # One penalty for all columns, by scaling the lexical ones: the problem is the same but far rounder, so that L-BFGS
    # needs a third of the steps.
    scale = np.float32(np.sqrt(hashed_l2 / lexical_l2))
    lexical = lexical * scale
    features = lexical.shape[1]
    penalty = np.full(columns + features + 1, hashed_l2, np.float32)
    penalty[-1] = 0
    penalty = penalty[:, None]
    weights = np.zeros((columns + features + 1, HEADS), np.float32)
    mean = np.clip(targets.mean(0), 1e-3, 1 - 1e-3)
    weights[-1] = np.log(mean / (1 - mean))

    def loss(at: Floats) -> tuple[float, Floats]:
        logits = rows.dot(np.ascontiguousarray(at[:columns])) + lexical @ at[columns:-1] + at[-1]
        value = float(np.sum(np.logaddexp(0, logits) - targets * logits, dtype=np.float64))
        value += 0.5 * float(np.sum(penalty * at * at, dtype=np.float64))
        errors = sigmoid(logits) - targets
        gradient = np.concatenate((rows.dot_transposed(errors, columns), lexical.T @ errors, errors.sum(0)[None]))
        return value, np.asarray(gradient + penalty * at, np.float32)

    weights = _lbfgs(loss, weights, iterations, tolerance)
    return Heads(weights[:columns], weights[columns:-1] * scale, weights[-1])


def _lbfgs(
    loss: Callable[[Floats], tuple[float, Floats]], weights: Floats, iterations: int, tolerance: float
) -> Floats:
    """Limited-memory BFGS with backtracking (Nocedal and Wright, algorithm 7.5)."""
    value, gradient = loss(weights)
    steps: list[tuple[Floats, Floats, float]] = []
    for _ in range(iterations):
        direction = gradient.copy()
        kept: list[float] = []
        for step, change, inner in reversed(steps):
            factor = float(np.vdot(step, direction)) / inner
            kept.append(factor)
            direction -= np.float32(factor) * change
        if steps:
            step, change, inner = steps[-1]
            direction *= np.float32(inner / float(np.vdot(change, change)))
        else:
            direction /= np.float32(max(1.0, float(np.linalg.norm(gradient))))
        for (step, change, inner), factor in zip(steps, reversed(kept), strict=True):
            direction += step * np.float32(factor - float(np.vdot(change, direction)) / inner)
        slope = float(np.vdot(gradient, direction))
        scale = 1.0
        for _ in range(_BACKTRACKS):
            tried = weights - np.float32(scale) * direction
            tried_value, tried_gradient = loss(tried)
            if tried_value <= value - 1e-4 * scale * slope:
                break
            scale /= 2
        else:
            return weights  # single precision has nothing more to give
        step, change = tried - weights, tried_gradient - gradient
        inner = float(np.vdot(step, change))
        if inner > 1e-10:
            steps = [*steps, (step, change, inner)][-_MEMORY:]
        improved = value - tried_value
        weights, value, gradient = tried, tried_value, tried_gradient
        if improved < tolerance * abs(value):
            break
    return weights
