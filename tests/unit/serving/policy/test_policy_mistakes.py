"""What is wrong with a policy is said with line, column, card and remedy, all of it at once."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stellwerk.serving.policy.errors import PolicyErrors, Problem
from stellwerk.serving.policy.load import load_policy, parse_policy
from unit.serving.policy.policy_texts import SAMPLE, with_steps, word_count


def problems(text: str) -> tuple[Problem, ...]:
    with pytest.raises(PolicyErrors) as caught:
        parse_policy(text)
    return caught.value.problems


def with_condition(condition: str) -> str:
    return with_steps(f"  start:\n    when: [{{if: {condition}, to: large}}]\n    else: small\n")


OTHER_LABELS = SAMPLE.replace("classify: difficulty", "classify: judge").replace(
    "simple: small, complex", "easy: small, complex"
)
ALIASES = "version: 1\nx0: &x0 [a, a]\n" + "".join(f"x{n + 1}: &x{n + 1} [*x{n}, *x{n}]\n" for n in range(60))
# Longer than Python could follow by calling itself.
LONG_WAY = with_steps(
    "".join(f"  s{n}: {{try: [s{n + 1}]}}\n" for n in range(1499)) + "  s1499: {try: [large]}", "x: s0"
)

# Name; what is written (a pair: this of the sample, replaced by that); where it is wrong; what is said; which remedy.
# fmt: off
MISTAKES: list[tuple[str, str | tuple[str, str], str, str, str]] = [
    ("an unknown target", with_steps("  start: {try: [larg]}\n"),
     "11:17 step start", "There is no step or pool `larg`.", "Did you mean `large`?"),
    ("an unknown key", ("balance: ", "ballance: "),
     "11:5 pool small", "Unknown key `ballance` in a pool.", "Did you mean `balance`?"),
    ("an unknown condition", ("{tools: true}", "{tool: true}"),
     "25:15 step triage", "Unknown condition `tool`.", "Did you mean `tools`?"),
    ("an unknown choice", ("sticky: conversation", "sticky: convers"),
     "35:13 step split_hard", "`sticky` cannot be `convers`.", "Did you mean `conversation`?"),
    ("an unknown kind of step", with_steps("  start: {tri: [large]}\n"),
     "11:11 step start", "This step has no kind.", "Did you mean `try`?"),
    ("a cycle", with_steps("  start: {try: [next, small]}\n  next: {split: {start: 1}}\n"),
     "12:18 step next", "The steps go in a circle: start -> next -> start.", "lead to a pool"),
    ("a step that leads to itself", with_steps("  start: {try: [start]}\n"),
     "11:17 step start", "The steps go in a circle: start -> start.", "lead to a pool"),
    ("an unreachable step", with_steps("  start: {try: [small]}\n  lost: {try: [large]}\n"),
     "12:3 step lost", "No request can reach the step `lost`.", "Lead a wire"),
    ("a weight that is no number", ("safe: 80", "safe: many"),
     "34:19 step split_hard", "The weight of `safe` is not a number.", "like `80`"),
    ("a weight that is infinite", ("safe: 80", "safe: .inf"),
     "34:19 step split_hard", "The weight of `safe` is not a number.", "like `80`"),
    ("a negative weight", ("safe: 80", "safe: -1"),
     "34:19 step split_hard", "The weight of `safe` is -1.", "0 or more"),
    ("weights that sum to 0", ("safe: 80, small: 20", "safe: 0, small: 0"),
     "34:12 step split_hard", "The weights sum to 0, so no request has a way.", "above 0"),
    ("a missing else", ("    else: ask\n", ""),
     "24:5 step triage", "A `when` step has no `else`.", "Target when no condition holds."),
    ("a pool without replicas", ("[{node: spark-5, port: 8000, ranks: [spark-5, spark-6, spark-7, spark-8]}]", "[]"),
     "17:15 pool large", "This pool has no replicas, so nothing can answer.", "Add one"),
    ("a threshold outside 0..1", ("share: {simple: 70%}  ", "threshold: 1.5  "),
     "32:16 step ask", "`threshold` is 1.5.", "0 to 1"),
    ("a share for a label that is not there", ("share: {simple", "share: {simpel"),
     "32:13 step ask", "`share` names the label `simpel`, which `to` has not.", "Did you mean `simple`?"),
    ("shares above 100 %", ("share: {simple: 70%}", "share: {simple: 70%, complex: 40%}"),
     "32:12 step ask", "The shares sum to 110 %.", "100 %"),
    ("a name twice", SAMPLE + "  safe: {try: [small]}\n",
     "38:3", "`safe` is there twice (first in line 36).", "Keep one"),
    ("a step called like a pool", with_steps("  start: {try: [small]}\n  large: {try: [small]}\n"),
     "12:3 step large", "A pool is called `large` too (line 7).", "Rename one"),
    ("a classifier that is not there", ("classify: difficulty", "classify: dificulty"),
     "30:15 step ask", "There is no classifier `dificulty`.", "Did you mean `difficulty`?"),
    ("a judge without a target for a label", OTHER_LABELS,
     "31:9 step ask", "The label `simple` has no target.", "Add it"),
    ("a share with a judge", ("classify: difficulty", "classify: judge"),
     "32:12 step ask", "`share` needs a score, and a judge of kind `llm` gives only labels.", "Take it out"),
    ("a comparison without a sign", ('"> 16000"', "16000"),
     "26:30 step triage", "`prompt_tokens` does not say more or less than.", '"> 16000"'),
    ("a broken regular expression", ("{tools: true}", "{matches: '('}"),
     "25:24 step triage", "This is no regular expression", "Single quotes"),
    ("a regular expression that never ends", ("{tools: true}", "{matches: '(a+)+$'}"),
     "25:24 step triage", "can match the same text in several ways", "Take one"),
    ("a port that is none", ("{node: spark-1, port: 8000}", "{node: spark-1, port: 80000}"),
     "9:31 pool small", "`port` is 80000.", "from 1 to 65535"),
    ("a replica twice", ("node: spark-2", "node: spark-1"),
     "10:9 pool small", "The replica spark-1:8000 is there twice.", "Take one out"),
    ("a key in the place of its variable",
     ("{node: spark-1, port: 8000}", '{url: "http://h/v1", key_env: sk-secret-123}'),
     "9:39 pool small", "`key_env` is not the name of an environment variable.", "environment variable"),
    ("credentials in a URL", ("{node: spark-1, port: 8000}", '{url: "http://me:pw@h/v1"}'),
     "9:15 pool small", "This is no base URL of an engine.", "key_env"),
    ("a tab", "version: 1\n\tmodels: {}\n", "2:1", "A tab stands where YAML wants spaces.", "Indent"),
    ("an open bracket", "version: 1\nmodels: {a: b\n", "3:1", "YAML: ", "brackets"),
    ("an empty file", "", "1:1", "The file is empty.", "version: 1"),
    ("only a comment", "# nothing\n", "1:1", "The file is empty.", "version: 1"),
    ("a list", "- a\n", "1:1", "A policy is a mapping.", "version: 1"),
    ("two documents", "version: 1\n---\nversion: 1\n", "2:1", "A second document begins here", "one policy"),
    ("a newer version", ("version: 1", "version: 9"), "1:10", "Version 9 is newer", "Update"),
    ("an older version", ("version: 1", "version: 0"), "1:10", "older format", "--upgrade"),
    ("a NUL character", "version: 1\nx: \0\n", "2:4", "This is not YAML", "UTF-8"),
    ("no pools", "version: 1\nmodels: {a: b}\npools: {}\n", "3:8", "There are no pools", "Define"),
    ("an alias that contains itself", with_condition("&x {not: *x}"),
     "12:17", "The anchor `x` contains an alias of itself.", "Write out"),
    ("an alias that doubles itself", with_condition("&x {any: [*x, *x]}"),
     "12:17", "The anchor `x` contains an alias of itself.", "Write out"),
    ("aliases of aliases of aliases", ALIASES,
     "1:1", "Aliases repeat", "fewer"),
    ("a merge of what is no mapping", ("    context_window: 32768", "    <<: [7]"),
     "14:10 pool small", "`<<` takes in a mapping", "*anchor"),
    ("a URL with a port that is none", ("{node: spark-1, port: 8000}", '{url: "http://h:99999/v1"}'),
     "9:15 pool small", "This is no base URL of an engine.", "host:port"),
    ("a way without end", LONG_WAY,
     "2:13 model x", "1500 steps follow one another", "64 steps"),
]
# fmt: on


@pytest.mark.parametrize(
    ("written", "place", "what", "remedy"), [m[1:] for m in MISTAKES], ids=[m[0] for m in MISTAKES]
)
def test_a_mistake_is_named_with_its_place_and_remedy(
    written: str | tuple[str, str], place: str, what: str, remedy: str
) -> None:
    found = problems(written if isinstance(written, str) else SAMPLE.replace(*written))
    fitting = [p for p in found if what in p.what]
    assert fitting, f"said instead: {[str(p) for p in found]}"
    first = fitting[0]
    assert f"{first.line}:{first.column} {first.card or ''}".rstrip() == place
    assert remedy in first.remedy
    assert "sk-secret" not in str(found)


def test_all_mistakes_are_told_at_once_in_the_order_of_the_file() -> None:
    text = (
        SAMPLE.replace("balance: least_busy", "balance: best")
        .replace("safe: 80", "safe: x")
        .replace("large, small]", "lrge]")
    )
    found = problems(text)
    assert [p.line for p in found] == [11, 34, 37]


def test_nesting_beyond_all_sense_is_refused_before_it_costs_anything() -> None:
    assert "nested too deeply" in problems("version: 1\nmodels: " + "[" * 5000)[0].what
    assert "nested too deeply" in problems("version: 1\nmodels: " + "\n".join("[" * 100 for _ in range(50)))[0].what
    deep = "\n".join(" " * depth + "a:" for depth in range(1200))
    assert "nested too deeply" in problems(deep)[0].what


def test_a_huge_file_is_refused() -> None:
    assert "larger than" in problems("#" * 2_000_000)[0].what


def test_weights_that_cannot_be_read_are_a_problem_of_their_card() -> None:
    text = SAMPLE.replace("{kind: embedded}", "{kind: embedded, weights: /nowhere/mine.bin}")
    with pytest.raises(PolicyErrors) as caught:
        load_policy(text)
    (problem,) = caught.value.problems
    assert (problem.line, problem.card) == (20, "classifier difficulty")
    assert "/nowhere/mine.bin" in problem.what


@settings(deadline=None)
@given(st.text(max_size=200) | st.binary(max_size=200).map(lambda raw: raw.decode("latin-1")))
def test_any_text_is_a_policy_or_problems(text: str) -> None:
    try:
        parse_policy(text)
    except PolicyErrors as errors:
        assert errors.problems
        assert all(problem.line >= 1 and problem.column >= 1 and problem.remedy for problem in errors.problems)


_LINES = SAMPLE.splitlines(keepends=True)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_damaged_policy_is_a_policy_or_problems(data: st.DataObject) -> None:
    lines = list(_LINES)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(lines) - 1))
        match data.draw(st.sampled_from(("drop", "cut", "swap", "indent"))):
            case "drop":
                lines[at] = ""
            case "cut":
                lines[at] = lines[at][: data.draw(st.integers(0, len(lines[at])))]
            case "swap":
                other = data.draw(st.integers(0, len(lines) - 1))
                lines[at], lines[other] = lines[other], lines[at]
            case "indent":
                lines[at] = "  " + lines[at]
    try:
        load_policy("".join(lines), load_difficulty=word_count)
    except PolicyErrors as errors:
        assert errors.problems
