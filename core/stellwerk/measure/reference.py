"""A small reference transformer that decodes token by token, whole or split over ranks (tensor parallel).

RMSNorm, rotary attention with a KV cache, MLP. Query, key, value and up-projection are split by columns (a rank has
whole heads), output and down-projection by rows, so a layer needs two all-reduces per token. Embedding and head are on
every rank. The weights come from a seed: what is measured is the exchange, not the text.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Shape:
    """The size of a model. `tokens`: how many positions the KV cache holds."""

    layers: int
    width: int
    heads: int
    tokens: int
    vocabulary: int = 512

    def __post_init__(self) -> None:
        if self.width % self.heads or self.width // self.heads % 2:
            raise ValueError(f"a width of {self.width} cannot be dealt out to {self.heads} heads of even size")

    @property
    def head_width(self) -> int:
        """Elements of one head."""
        return self.width // self.heads

    @property
    def hidden(self) -> int:
        """Elements between the projections of the MLP."""
        return 4 * self.width


@dataclass(frozen=True, slots=True)
class Layer:
    """The weights of one layer, or one rank's part of them."""

    queries: Tensor
    keys: Tensor
    values: Tensor
    out: Tensor
    up: Tensor
    down: Tensor


@dataclass(frozen=True, slots=True)
class Weights:
    """A whole model, or one rank's part of it."""

    embedding: Tensor
    head: Tensor
    layers: tuple[Layer, ...]


def whole(shape: Shape, seed: int, dtype: torch.dtype = torch.float32) -> Weights:
    """The weights that belong to a seed, the same in every type but for rounding."""
    generator = torch.Generator().manual_seed(seed)

    def matrix(rows: int, columns: int) -> Tensor:
        return (torch.randn(rows, columns, generator=generator) / math.sqrt(columns)).to(dtype)

    w, h = shape.width, shape.hidden
    layers = tuple(
        Layer(matrix(w, w), matrix(w, w), matrix(w, w), matrix(w, w), matrix(h, w), matrix(w, h))
        for _ in range(shape.layers)
    )
    return Weights(matrix(shape.vocabulary, w), matrix(shape.vocabulary, w), layers)


def span(total: int, rank: int, ranks: int) -> slice:
    """A rank's share of so many things, as even as can be."""
    return slice(total * rank // ranks, total * (rank + 1) // ranks)


def part(shape: Shape, weights: Weights, rank: int, ranks: int) -> Weights:
    """One rank's share. ValueError if there are more ranks than heads."""
    if ranks > shape.heads:
        raise ValueError(f"{shape.heads} heads cannot be dealt out to {ranks} ranks")
    heads = span(shape.heads, rank, ranks)
    mine = slice(heads.start * shape.head_width, heads.stop * shape.head_width)
    hidden = span(shape.hidden, rank, ranks)
    layers = tuple(
        Layer(
            layer.queries[mine].clone(),
            layer.keys[mine].clone(),
            layer.values[mine].clone(),
            layer.out[:, mine].clone(memory_format=torch.contiguous_format),
            layer.up[hidden].clone(),
            layer.down[:, hidden].clone(memory_format=torch.contiguous_format),
        )
        for layer in weights.layers
    )
    return Weights(weights.embedding, weights.head, layers)


def normed(x: Tensor) -> Tensor:
    """RMSNorm; random weights need no gains."""
    return x * torch.rsqrt(x.square().mean() + 1e-6)


class Decoder:
    """Decodes with one rank's part. Whoever calls `step` sums `partial` over the ranks whenever `reduce` is called."""

    def __init__(self, shape: Shape, weights: Weights) -> None:
        dtype = weights.embedding.dtype
        self._shape, self._weights = shape, weights
        heads = weights.layers[0].queries.shape[0] // shape.head_width
        cache = (shape.layers, heads, shape.tokens, shape.head_width)
        self._keys, self._values = torch.zeros(cache, dtype=dtype), torch.zeros(cache, dtype=dtype)
        rates = 10_000.0 ** (-torch.arange(0, shape.head_width, 2, dtype=torch.float64) / shape.head_width)
        angles = torch.outer(torch.arange(shape.tokens, dtype=torch.float64), rates)
        self._cos, self._sin = angles.cos().to(dtype), angles.sin().to(dtype)
        self.partial = torch.zeros(shape.width, dtype=dtype)
        self.position = 0

    def restart(self) -> None:
        """Forget the tokens decoded so far."""
        self.position = 0

    def step(self, token: int, reduce: Callable[[], Any]) -> Tensor:
        """The logits after one more token."""
        x = self._weights.embedding[token]
        for number, layer in enumerate(self._weights.layers):
            torch.mv(layer.out, self._attended(number, layer, normed(x)), out=self.partial)
            reduce()
            x = x + self.partial
            inner = torch.nn.functional.gelu(torch.mv(layer.up, normed(x)))
            torch.mv(layer.down, inner, out=self.partial)
            reduce()
            x = x + self.partial
        self.position += 1
        return torch.mv(self._weights.head, normed(x))

    def _attended(self, number: int, layer: Layer, x: Tensor) -> Tensor:
        at, until = self.position, self.position + 1
        size = self._shape.head_width
        self._keys[number, :, at] = self._rotated(torch.mv(layer.keys, x).view(-1, size))
        self._values[number, :, at] = torch.mv(layer.values, x).view(-1, size)
        query = self._rotated(torch.mv(layer.queries, x).view(-1, size))
        scores = torch.bmm(self._keys[number, :, :until], query.unsqueeze(2)).squeeze(2) / math.sqrt(size)
        weights = torch.softmax(scores, dim=1).unsqueeze(1)
        return torch.bmm(weights, self._values[number, :, :until]).reshape(-1)

    def _rotated(self, heads: Tensor) -> Tensor:
        cos, sin = self._cos[self.position], self._sin[self.position]
        even, odd = heads.chunk(2, dim=1)
        return torch.cat((even * cos - odd * sin, even * sin + odd * cos), dim=1)


@dataclass(frozen=True, slots=True)
class Decoded:
    """What a decoder said: the greedy token ids, and the logits behind each of them."""

    ids: list[int]
    logits: Tensor


@torch.inference_mode()
def decode(decoder: Decoder, tokens: int, reduce: Callable[[], Any], first: int = 1) -> Decoded:
    """Decode greedily from a first token."""
    decoder.restart()
    ids, logits, token = [], [], first
    for _ in range(tokens):
        logits.append(decoder.step(token, reduce))
        token = int(logits[-1].argmax())
        ids.append(token)
    return Decoded(ids, torch.stack(logits))
