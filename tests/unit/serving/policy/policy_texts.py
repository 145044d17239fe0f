"""Policy files that several tests read."""

from __future__ import annotations

from collections.abc import Sequence

from stellwerk.serving.classifier.types import Verdict
from stellwerk.serving.decision.request import Turn

SAMPLE = """\
version: 1
models:                      # what a client may send as "model" -> where the request starts
  auto: triage
  fast: small                # straight into a pool
pools:
  small:
    model: MiniCPM5-2B       # name sent to the engine
    replicas:
      - {node: spark-1, port: 8000}
      - {node: spark-2, port: 8000}        # {url: "https://…/v1", key_env: NAME} for one outside the cluster
    balance: least_busy      # least_busy | round_robin | prefix
    max_running: 16          # per replica; more wait
    max_waiting: 64          # then 429 with Retry-After
    context_window: 32768
  large:
    model: Qwen3.8-Flash-Next
    replicas: [{node: spark-5, port: 8000, ranks: [spark-5, spark-6, spark-7, spark-8]}]
    context_window: 131072
classifiers:
  difficulty: {kind: embedded}                       # in process, no GPU
  judge: {kind: llm, pool: small, labels: [simple, complex], timeout: 400ms, on_error: complex}
steps:
  triage:
    when:                                            # first match wins
      - {if: {tools: true}, to: large}
      - {if: {prompt_tokens: "> 16000"}, to: large}
      - {if: {header: {x-tier: premium}}, to: large}
    else: ask
  ask:
    classify: difficulty
    to: {simple: small, complex: split_hard}
    share: {simple: 70%}                             # or `threshold: 0.6`
  split_hard:
    split: {safe: 80, small: 20}
    sticky: conversation                             # conversation | user | none
  safe:
    try: [large, small]                              # next on failure, overload, or a context that does not fit
"""

POOLS = """\
pools:
  small:
    model: s
    replicas: [{node: spark-1, port: 8000}]
  large:
    model: l
    replicas: [{node: spark-2, port: 8000}]
"""


class WordCount:
    """Difficulty by the number of words of the last turn, up to a hundred: a stand-in that tests can foresee."""

    def judge(self, turns: Sequence[Turn], *, explain: bool = False) -> Verdict:
        text = turns[-1].text if turns else ""
        features = (("number of words", 1.0),) if explain else ()
        return Verdict(min(1.0, len(text.split()) / 100), "the last turn", features)


def word_count(_weights: str | None) -> WordCount:
    return WordCount()


def with_steps(steps: str, models: str = "auto: start") -> str:
    return f"version: 1\nmodels: {{{models}}}\n{POOLS}steps:\n{steps}"
