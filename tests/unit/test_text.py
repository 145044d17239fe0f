"""Texts: the English sentence, and what another language needs to say it."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import dataclass, replace

from hypothesis import given
from hypothesis import strategies as st

from fixtures.core_texts import core_texts, texts_of
from stellwerk.model.errors import BadInput, StellwerkError
from stellwerk.model.fabric import PortRef
from stellwerk.model.text import Text, fill, from_form, joined, say, to_form, words
from stellwerk.wire import decode, encode, error_from_wire, error_to_wire, from_wire, result, to_wire

NAMES = st.from_regex(r"[a-z][a-z_0-9]{0,6}", fullmatch=True).filter(lambda n: n != "template")
PLAIN = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
PIECE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="{}"), max_size=8) | st.sampled_from(
    ["{{", "}}"]
)
GERMAN = {
    "{port} is not connected to {other}.": "{port} ist nicht mit {other} verbunden.",
    "{node} port {port}": "{node} Port {port}",
    "the disk is full": "die Platte ist voll",
    "{first} and {last}": "{first} und {last}",
}


@dataclass(frozen=True)
class Said:
    title: str
    steps: tuple[str, ...] = ()
    more: str | None = None
    node: str = ""


@st.composite
def templates(draw: st.DrawFn) -> tuple[str, dict[str, str]]:
    args = draw(st.dictionaries(NAMES, PLAIN, max_size=4))
    holes = [f"{{{name}}}" for name in args]
    pieces = draw(st.lists(PIECE | st.sampled_from(holes) if holes else PIECE, max_size=8))
    return "".join(pieces), args


TEXTS = st.recursive(
    templates().map(lambda made: say(made[0], **made[1])),
    lambda inner: st.builds(lambda a, b: say("{a} – {b}", a=a, b=b), inner, inner | PLAIN),
    max_leaves=6,
)


def german(text: str) -> str:
    return text.render(lambda template: GERMAN.get(template, template)) if isinstance(text, Text) else text


@given(templates())
def test_say_is_what_format_makes_of_it(made: tuple[str, dict[str, str]]) -> None:
    template, args = made
    assert say(template, **args) == template.format(**args)


@given(TEXTS)
def test_a_text_goes_through_pickle_copy_and_json_whole(text: Text) -> None:
    form = json.loads(json.dumps(to_form(text)))
    for again in (pickle.loads(pickle.dumps(text)), copy.deepcopy(text), from_form(str.__str__(text), form), str(text)):
        assert isinstance(again, Text)
        assert (again, again.template, again.args) == (text, text.template, text.args)


@given(TEXTS, PLAIN)
def test_the_wire_carries_texts_beside_the_plain_string(text: Text, plain: str) -> None:
    said = Said(text, (plain, text), None, plain)
    message = decode(encode(result(1, said)))["result"]
    assert {k: v for k, v in message.items() if k != "_say"} == to_wire(said)
    again = from_wire(Said, message)
    assert again == said
    assert isinstance(again.title, Text) and isinstance(again.steps[1], Text) and type(again.steps[0]) is str
    assert to_form(again.title) == to_form(text)


@given(st.recursive(st.none() | st.booleans() | PLAIN, lambda v: st.lists(v) | st.dictionaries(PLAIN, v), max_leaves=8))
def test_a_form_that_does_not_say_the_same_is_ignored(form: object) -> None:
    assert from_form("as it is", form) == "as it is"
    assert from_wire(Said, {"title": "as it is", "_say": {"title": form}, "steps": []}).title == "as it is"


def test_a_form_never_changes_what_is_said() -> None:
    form = {"say": "delete {what}", "with": {"what": "everything"}}
    assert type(from_form("the disk is full", form)) is str


@given(PLAIN)
def test_what_a_machine_says_is_never_read_as_a_template(said: str) -> None:
    assert german(say("{said}", said=f"{{x}} {said} {{0.__class__}}")) == f"{{x}} {said} {{0.__class__}}"


def test_only_plain_holes_are_filled() -> None:
    assert fill("{a.b} {a[0]} {a:>9} {missing}", {"a": "1"}) == "{a.b} {a[0]} {a:>9} {missing}"


def test_a_port_inside_a_sentence_is_translated_with_it() -> None:
    text = say("{port} is not connected to {other}.", port=PortRef("spark-1", 0), other=PortRef("spark-2", 1))
    assert text == "spark-1 port 0 is not connected to spark-2 port 1."
    assert german(text) == "spark-1 Port 0 ist nicht mit spark-2 Port 1 verbunden."


def test_lists_are_joined_in_the_language_of_the_reader() -> None:
    assert [words([]), words(["a"]), words("ab"), words("abc")] == ["", "a", "a and b", "a, b and c"]
    assert german(words([PortRef("n", 1), "x", "y"])) == "n Port 1, x und y"
    assert type(joined(["{a}", "{b}"], "; ")) is str
    assert german(joined(["{a}", say("the disk is full")], "; ")) == "{a}; die Platte ist voll"


def test_an_error_as_one_paragraph_is_a_text_of_its_parts() -> None:
    error = BadInput("x", node="n", why=say("the disk is full"), remedy="free some")
    assert str(error) == "n: x: the disk is full. Free some."
    assert german(str(error)) == "n: x: die Platte ist voll. Free some."
    assert german(str(StellwerkError(say("the disk is full")))) == "die Platte ist voll."


def test_an_error_keeps_its_texts_over_the_wire() -> None:
    error = BadInput(say("the disk is full"), node="n", why="{raw}", remedy=say("{first} and {last}", first=1, last=2))
    body = decode(encode(error_to_wire(7, error)))["error"]
    again = error_from_wire(body)
    assert str(again) == str(error) and german(again.remedy) == "1 und 2"
    assert german(replace(Said("t"), title=str(again)).title).startswith("n: die Platte ist voll.")


def test_no_text_of_the_core_loses_its_template() -> None:
    assert core_texts().lost == []


def test_a_text_that_could_not_be_translated_is_found() -> None:
    source = """
def one(x):
    why = f"{x} is wrong" if x else "it is right"
    raise BadInput("a" + x, why=why, remedy=helper(x))

def helper(x):
    return "{} is old".format(x)

def fine(x):
    return BadInput(say("{x} is {how}", x=x, how=say("new")), why="literally", remedy=say("{y}", y="as it is"))
"""
    found = texts_of(source)
    assert found.texts == {"it is right", "{x} is {how}", "new", "literally"}
    assert [line.split(": ")[1] for line in found.lost] == [
        "a text put together with an operator",
        "an f-string",
        "a text made with .format",
        "a literal argument of say()",
    ]
