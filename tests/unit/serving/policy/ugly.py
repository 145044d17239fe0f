"""Policy files as hands write them: every style of YAML that an edit must leave alone."""

from __future__ import annotations

UGLY = {
    "aligned comments": """\
# top comment
version: 1   # one


models:   {auto: triage,   fast:small-x ,   'quoted one': "double" }   # flow
pools:
    # indented by four
    small:        # why small
        model:    MiniCPM5-2B       # the name
        replicas:
        - {node: spark-1, port: 8000}     # first
        # between the replicas
        -   {node: spark-2,
             port: 8000}    # over two lines

        max_running: 16

    # the large one

    large:
        model: "Qwen \\"3.8\\""
        replicas: [ {node: spark-5, port: 8000, ranks: [spark-5, spark-6]}, ]   # trailing comma
# a comment at column 0
        context_window: 131072
steps:
  triage:
    when:
      - if: {tools: true}      # compact mapping
        to: large
      -
        if:
          prompt_tokens: "> 16000"
        to: large
      - {if: {header: {x-tier: premium}}, to: large}
    else: ask
  ask: {split: {large: 80, small: 20}, sticky: conversation}
# the end
""",
    "no newline at the end": "version: 1\nmodels: {auto: a}\npools:\n  a: {model: m, replicas: [{node: n, port: 1}]}",
    "carriage returns": "version: 1\r\nmodels:\r\n  auto: a   # x\r\n  other: a\r\npools:\r\n  a:\r\n    model: m\r\n"
    "    replicas:\r\n      - {node: n, port: 1}\r\n      - node: o\r\n        port: 2\r\n",
    "document markers": "%YAML 1.2\n---\n# begins\nversion: 1\nmodels:\n  auto: a\n"
    "pools:\n  a:\n    model: m\n    replicas:\n    - node: n\n      port: 1\n...\n# after the end\n",
    "all in one line": "{version: 1, models: {auto: a}, pools: {a: {model: m, replicas: [{node: n, port: 1}]}}}\n",
    "block scalars": """\
version: 1
models: {auto: a}
classifiers:
  judge:
    kind: llm
    prompt: |
      Say which it is:
        simple or complex. # this is no comment

      Nothing else.

    pool: a   # after the block
    labels:
      - simple
      - complex
    on_error: >-
      complex
pools:
  a:
    model: 'it''s'
    replicas:
      - url: "https://host/v1"   # outside
        key_env: KEY
    health: {path: none}
""",
    "anchors": """\
version: 1
models: {auto: a, b: b}
pools:
  a: &base
    model: m
    replicas: &r
      - {node: n, port: 1}
  b:
    <<: *base
    model: other
  c:
    model: third
    replicas: *r     # shared
    max_running: 4
""",
    "wide and empty": """\
version:    1
"models":
    "auto"  :   a
    ? long
    : a
steps:
classifiers: {}
pools:

    a:

        model: m


        replicas:

          -   node: n

              port: 1

          - {}
        deadlines: ~
        price:
""",
    "unicode": """\
version: 1
models: {größe: a}   # ü, 模型, 🚉
pools:
  a:
    model: "模型 🚉"   # ä
    replicas:
      - {node: knoten-ß, port: 1}   # é
""",
}
