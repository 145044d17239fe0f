"""The reference transformer: split over ranks it is the same model, and its cache does not change what it says."""

from __future__ import annotations

from threading import Barrier, Thread

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from stellwerk.measure.decode_ranks import compared  # noqa: E402 - only where torch is
from stellwerk.measure.reference import Decoded, Decoder, Shape, decode, part, span, whole  # noqa: E402

TOKENS = 5


def split(shape: Shape, weights: object, ranks: int) -> list[Decoded]:
    """Every rank in a thread; the all-reduce is a sum in rank order between two barriers."""
    decoders = [Decoder(shape, part(shape, weights, rank, ranks)) for rank in range(ranks)]  # type: ignore[arg-type]
    met, total = Barrier(ranks, timeout=20), torch.zeros(shape.width, dtype=torch.float64)
    found: dict[int, Decoded] = {}

    def rank_of(rank: int) -> None:
        def reduce() -> None:
            if met.wait() == 0:
                total.copy_(sum(d.partial for d in decoders))
            met.wait()
            decoders[rank].partial.copy_(total)

        found[rank] = decode(decoders[rank], TOKENS, reduce)

    threads = [Thread(target=rank_of, args=(rank,)) for rank in range(ranks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [found[rank] for rank in range(ranks)]


@settings(max_examples=25, deadline=None)
@given(
    ranks=st.integers(1, 5),
    more_heads=st.integers(0, 3),
    half_head=st.integers(1, 4),
    layers=st.integers(1, 3),
    seed=st.integers(0, 99),
)
def test_a_model_split_over_ranks_decodes_like_the_whole_model(
    ranks: int, more_heads: int, half_head: int, layers: int, seed: int
) -> None:
    heads = ranks + more_heads
    shape = Shape(layers, 2 * half_head * heads, heads, TOKENS, vocabulary=31)
    weights = whole(shape, seed, torch.float64)
    wanted = decode(Decoder(shape, weights), TOKENS, lambda: None)
    answers = split(shape, weights, ranks)
    for got in answers:
        torch.testing.assert_close(got.logits, wanted.logits, rtol=1e-9, atol=1e-9)
        assert got.ids == wanted.ids
        assert torch.equal(got.logits, answers[0].logits)


def test_the_cache_gives_what_attention_over_all_tokens_gives() -> None:
    shape = Shape(1, 12, 3, 4, vocabulary=17)
    weights = whole(shape, 7, torch.float64)
    layer, size = weights.layers[0], shape.head_width
    ids = [1, *decode(Decoder(shape, weights), 4, lambda: None).ids[:3]]
    x = weights.embedding[ids]

    def norm(rows: torch.Tensor) -> torch.Tensor:
        return rows / (rows.square().mean(1, keepdim=True) + 1e-6).sqrt()

    def turned(rows: torch.Tensor) -> torch.Tensor:
        pairs = torch.complex(*rows.view(4, 3, size).chunk(2, dim=2))
        rates = 10_000.0 ** (-torch.arange(0, size, 2, dtype=torch.float64) / size)
        angles = torch.outer(torch.arange(4, dtype=torch.float64), rates)
        rotated = pairs * torch.polar(torch.ones_like(angles), angles)[:, None]
        return torch.cat((rotated.real, rotated.imag), dim=2).transpose(0, 1)

    n = norm(x)
    queries, keys = turned(n @ layer.queries.T), turned(n @ layer.keys.T)
    values = (n @ layer.values.T).view(4, 3, size).transpose(0, 1)
    attended = torch.nn.functional.scaled_dot_product_attention(queries, keys, values, is_causal=True)
    x = x + attended.transpose(0, 1).reshape(4, 12) @ layer.out.T
    x = x + torch.nn.functional.gelu(norm(x) @ layer.up.T) @ layer.down.T
    logits = norm(x) @ weights.head.T
    torch.testing.assert_close(decode(Decoder(shape, weights), 4, lambda: None).logits, logits, rtol=1e-9, atol=1e-9)


@given(total=st.integers(0, 99), ranks=st.integers(1, 16))
def test_shares_cover_everything_once_and_differ_by_one_at_most(total: int, ranks: int) -> None:
    shares = [list(range(total))[span(total, rank, ranks)] for rank in range(ranks)]
    assert [i for share in shares for i in share] == list(range(total))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_more_ranks_than_heads_are_refused() -> None:
    shape = Shape(1, 8, 2, 1)
    with pytest.raises(ValueError, match="2 heads cannot be dealt out to 3 ranks"):
        part(shape, whole(shape, 1), 0, 3)


def test_where_two_decodings_part_is_named_and_what_follows_is_not_compared() -> None:
    a = Decoded([4, 5, 6], torch.tensor([[0.0], [1.0], [2.0]]))
    assert compared(a, a) == (-1, 0.0)
    assert compared(a, Decoded([4, 7, 9], torch.tensor([[0.5], [1.0], [99.0]]))) == (1, 0.5)
