"""Words for people that can be said in another language later.

`say("DGX OS {version} is too old", version=found)` is the English sentence: a `str` like any other for the command
line, JSON and logs. It also remembers its template and what was put in, so a window can look the template up in its
catalogue and fill in the same arguments. Only a template is ever looked up: an argument is data (names, paths, what a
program said) and is never read as a template, unless it is a `Text` itself.

An f-string, `+` or `.format` makes a plain `str` of it and loses the template; `say` with the pieces as arguments
keeps it. `str(error)` of a `StellwerkError` and `str(ref)` of a `PortRef` are `Text`s.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

# Not a template to be looked up: says how an error's parts make one paragraph (see `paragraph`).
PARAGRAPH = "{node}: {what}: {why}. {remedy}."
_HOLE = re.compile(r"\{\{|\}\}|\{(\w+)\}")
_MAX_DEPTH = 16

Translate = Callable[[str], str]


class Text(str):
    """An English text that remembers how it was made."""

    __slots__ = ("args", "template")
    template: str
    args: Mapping[str, str]

    def __new__(cls, template: str, args: Mapping[str, str]) -> Text:
        made = super().__new__(cls, _compose(template, args))
        made.template, made.args = template, args
        return made

    def __str__(self) -> str:
        return self  # `str(text)` keeps what it is

    def __reduce__(self) -> tuple[Any, ...]:
        return Text, (self.template, dict(self.args))

    def __copy__(self) -> Text:
        return self

    def __deepcopy__(self, memo: Any) -> Text:
        return self

    def render(self, translate: Translate) -> str:
        """The same in the language of `translate`, which takes a template and gives it back in that language."""
        args = {k: v.render(translate) if isinstance(v, Text) else v for k, v in self.args.items()}
        return _compose(PARAGRAPH if self.template == PARAGRAPH else translate(self.template), args)


def say(template: str, /, **args: object) -> Text:
    """The English text, with its template; `template` has to be written out where `say` is called."""
    return Text(template, {name: _plain(value) for name, value in args.items()})


def whole(text: str) -> Text:
    """A string that may be a literal text of ours, as a `Text` without arguments: it is looked up as a whole."""
    return text if isinstance(text, Text) else Text(text.replace("{", "{{").replace("}", "}}"), {})


def joined(items: Iterable[object], between: str = ", ") -> str:
    """Texts one after the other; `between` is punctuation and the same in every language."""
    listed = [_plain(item) for item in items]
    if not any(isinstance(item, Text) for item in listed):
        return between.join(listed)
    gap = between.replace("{", "{{").replace("}", "}}")
    return Text(gap.join(f"{{p{i}}}" for i in range(len(listed))), {f"p{i}": item for i, item in enumerate(listed)})


def words(items: Iterable[object]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    listed = list(items)
    if len(listed) < 2:
        return joined(listed)
    return say("{first} and {last}", first=joined(listed[:-1]), last=listed[-1])


def paragraph(node: str, what: str, why: str, remedy: str) -> str:
    """What happened, where, why and what to do, as one paragraph."""
    return Text(PARAGRAPH, {"node": node, "what": what, "why": why, "remedy": remedy})


def fill(template: str, args: Mapping[str, str]) -> str:
    """Put `args` into the holes `{name}`; whatever else stands there stays. `{{` and `}}` are braces.

    Never `str.format`: a template may have come from another machine, and `{x.y}` or `{x:>999999}` must do nothing.
    """

    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        return match.group()[0] if name is None else args.get(name, match.group())

    return _HOLE.sub(value, template)


def _plain(value: object) -> str:
    """An object whose `__str__` gives a `Text` (an error, a port) keeps it."""
    return str(value)


def _compose(template: str, args: Mapping[str, str]) -> str:
    if template == PARAGRAPH:
        return _paragraph(*(args.get(part, "") for part in ("node", "what", "why", "remedy")))
    return fill(template, args)


def _paragraph(node: str, what: str, why: str, remedy: str) -> str:
    text = f"{node}: {what}" if node else what
    if why and why[0].islower() and not text.endswith((".", "!", "?")):
        text = f"{text}: {why}"  # a clause, not a sentence of its own
    elif why:
        text = f"{_sentence(text)} {why}"
    text = _sentence(text)
    return f"{text} {_sentence(remedy[0].upper() + remedy[1:])}" if remedy else text


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else text + "."


# --- as JSON, beside the plain string --------------------------------------------------------------------------------


def to_form(value: Any) -> Any:
    """How a `Text`, or the `Text`s in a list, were made; None where there is none."""
    if isinstance(value, Text):
        return {"say": value.template, "with": {k: to_form(v) or str(v) for k, v in value.args.items()}}
    if isinstance(value, (list, tuple)):
        forms = [to_form(item) for item in value]
        return forms if any(form is not None for form in forms) else None
    return None


def from_form(plain: Any, form: Any, depth: int = 0) -> Any:
    """`plain` as the `Text` that `form` describes, when it says exactly the same; otherwise `plain` as it is."""
    if isinstance(plain, (list, tuple)) and isinstance(form, list) and len(form) == len(plain):
        return type(plain)(from_form(p, f, depth + 1) for p, f in zip(plain, form, strict=True))
    made = _made(form, depth)
    return made if isinstance(plain, str) and made is not None and made == plain else plain


def _made(form: Any, depth: int) -> Text | None:
    if depth > _MAX_DEPTH or not isinstance(form, dict):
        return None
    template, given = form.get("say"), form.get("with")
    if not isinstance(template, str) or not isinstance(given, dict):
        return None
    args: dict[str, str] = {}
    for name, value in given.items():
        item = value if isinstance(value, str) else _made(value, depth + 1)
        if item is None:
            return None
        args[str(name)] = item
    return Text(template, args)
