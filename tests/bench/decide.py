"""How long one decision takes: `python tests/bench/decide.py [--json FILE]`. Aim: under 20 µs without a classifier."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from stellwerk.serving.decision.decide import decide
from stellwerk.serving.decision.request import RequestView
from stellwerk.serving.decision.state import PoolState, StateSnapshot
from stellwerk.serving.policy.load import load_policy

POOLS = """
pools:
  small: {model: s, replicas: [{node: n, port: 1}]}
  large: {model: l, replicas: [{node: n, port: 2}]}
"""
STEPS = {
    "a pool": "models: {auto: small}",
    "when + split": """
models: {auto: triage}
steps:
  triage:
    when:
      - {if: {tools: true}, to: large}
      - {if: {prompt_tokens: "> 16000"}, to: large}
      - {if: {header: {x-tier: premium}}, to: large}
    else: mix
  mix: {split: {large: 80, small: 20}, sticky: none}
""",
    "when + sticky split + try": """
models: {auto: triage}
steps:
  triage:
    when: [{if: {tools: true}, to: large}, {if: {prompt_tokens: "> 16000"}, to: large}]
    else: mix
  mix: {split: {safe: 80, small: 20}, sticky: conversation}
  safe: {try: [large, small]}
""",
    "classifier": """
models: {auto: ask}
classifiers: {d: {kind: embedded}}
steps:
  ask: {classify: d, to: {simple: small, complex: large}, threshold: 0.6}
""",
}
REPEATS, CALLS = 40, 50


def best_us(function: Callable[[], object]) -> float:
    """Microseconds of the fastest of many rounds: what the code takes when nothing else gets in its way."""
    best = float("inf")
    for _ in range(REPEATS):
        begun_s = perf_counter()
        for _ in range(CALLS):
            function()
        best = min(best, (perf_counter() - begun_s) / CALLS)
    return best * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    turns = [
        {"role": "system", "content": "You are a helpful assistant. " * 4},
        {"role": "user", "content": "Tell me how a signal box sets its points, in a few sentences. " * 4},
    ]
    body = json.dumps({"model": "auto", "messages": turns, "stream": True}).encode()
    found = {}
    print(f"one request of {len(body)} bytes; microseconds, fastest of {REPEATS} rounds of {CALLS}")
    print(f"{'policy':28}{'decide':>10}{'with its view':>16}")
    for name, steps in STEPS.items():
        policy = load_policy(f"version: 1\n{steps}{POOLS}")
        state = StateSnapshot({pool: PoolState(slots=16) for pool in policy.pools})
        ready = RequestView("auto", body, request_id="r")
        decide(policy, ready, state)
        decided = best_us(lambda policy=policy, ready=ready, state=state: decide(policy, ready, state))
        whole = best_us(
            lambda policy=policy, state=state: decide(policy, RequestView("auto", body, request_id="r"), state)
        )
        found[name] = {"decide_us": round(decided, 2), "with_view_us": round(whole, 2)}
        print(f"{name:28}{decided:10.1f}{whole:16.1f}")
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
