"""The simulated engine keeps its promises: timing, batch, queue, window, seeds, and its label."""

from __future__ import annotations

import asyncio
import time

from engine.serving.kit import Yard, chat, until
from stellwerk.serving.engines.simulated.settings import SimulatedSettings


def tiny(text: str = "hello", **more: object) -> dict[str, object]:
    return {**chat(text, **more), "model": "tiny"}


async def test_the_same_seed_gives_the_same_words_and_another_gives_others(yard: Yard) -> None:
    _, yard.port = await yard.engine()
    texts = [(await yard.ask(body=tiny(seed=seed))).json()["choices"][0]["message"]["content"] for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]


async def test_every_answer_says_that_it_is_simulated(yard: Yard) -> None:
    _, yard.port = await yard.engine()
    for path in ("/v1/chat/completions", "/v1/completions", "/v1/embeddings", "/v1/responses", "/v1/messages"):
        for stream in (False, True):
            answer = await yard.ask(path, tiny(stream=stream, input="x", prompt="x"))
            assert answer.status == 200
            assert answer.headers["x-simulated"] == "true"
            assert b"simulated" in answer.body
    assert (await yard.get("/nowhere")).headers["x-simulated"] == "true"


async def test_stop_texts_and_token_limits_end_an_answer(yard: Yard) -> None:
    _, yard.port = await yard.engine()
    whole = (await yard.ask(body=tiny(seed=3, max_tokens=12))).json()
    text = whole["choices"][0]["message"]["content"]
    assert whole["choices"][0]["finish_reason"] == "length" or whole["usage"]["completion_tokens"] < 12
    word = text.split()[3]
    cut = (await yard.ask(body=tiny(seed=3, max_tokens=12, stop=[f" {word}"]))).json()
    assert cut["choices"][0]["message"]["content"] == text[: text.find(f" {word}")]
    assert cut["choices"][0]["finish_reason"] == "stop"
    exact = (await yard.ask(body=tiny(max_tokens=33, ignore_eos=True))).json()
    assert exact["usage"]["completion_tokens"] == 33


async def test_the_first_token_and_the_rate_take_their_time(yard: Yard) -> None:
    _, yard.port = await yard.engine(SimulatedSettings("tiny", ttft_s=0.1, rate=100))
    begun_s = time.monotonic()
    await yard.ask(body=tiny(stream=True, max_tokens=21, ignore_eos=True))
    # Never faster than said; how much slower is the machine's affair.
    assert time.monotonic() - begun_s >= 0.1 + 20 / 100


async def test_a_full_batch_queues_and_a_full_queue_refuses(yard: Yard) -> None:
    engine, yard.port = await yard.engine(SimulatedSettings("tiny", ttft_s=0.2, batch=2, queue=1))
    tasks = [asyncio.create_task(yard.ask(body=tiny(f"{number}", max_tokens=1))) for number in range(3)]
    await until(lambda: len(engine.running) == 2 and len(engine.waiting) == 1)
    assert (await yard.ask(body=tiny())).status == 503
    assert [(await task).status for task in tasks] == [200, 200, 200]


async def test_a_fuller_batch_is_slower_per_stream(yard: Yard) -> None:
    engine, _ = await yard.engine(SimulatedSettings("tiny", rate=100, batch=5, batch_share=0.5))
    alone_s = engine.pause_s()
    engine.running.update(object() for _ in range(5))  # type: ignore[arg-type]
    full_s = engine.pause_s()
    engine.running.clear()
    assert (alone_s, full_s) == (0.01, 0.02)


async def test_a_prompt_beyond_the_window_and_a_foreign_model_are_refused_like_elsewhere(yard: Yard) -> None:
    _, yard.port = await yard.engine(SimulatedSettings("tiny", context_window=50))
    long = await yard.ask(body=tiny("word " * 100))
    assert long.status == 400
    assert "maximum context length is 50 tokens" in long.json()["error"]["message"]
    assert (await yard.ask(body=chat())).status == 404
    assert (await yard.ask(body=b"{")).status == 400


async def test_faults_are_ordered_by_header_or_for_the_next_requests(yard: Yard) -> None:
    engine, yard.port = await yard.engine()
    assert (await yard.ask(body=tiny(), x_simulated_fault="status:418")).status == 418
    assert (await yard.ask("/simulated/faults", {"fault": "status:503", "count": 2})).json() == {"ordered": 2}
    assert [(await yard.ask(body=tiny())).status for _ in range(3)] == [503, 503, 200]
    assert (await yard.ask("/simulated/faults", {"fault": "nonsense"})).status == 400
    assert (await yard.ask("/simulated/faults", {"fault": "stall", "count": 9})).json() == {"ordered": 9}
    assert (await yard.ask("/simulated/faults", b"", method="DELETE")).json() == {"ordered": 0}
    assert (await yard.ask(body=tiny())).status == 200
    assert (await yard.get("/simulated/state")).json()["served"] == engine.served == 2
