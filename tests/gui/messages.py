"""Reads the window's sources for texts that people see, and the translation files that go with them.

`python tests/gui/messages.py` brings `stellwerk_de.ts` up to date (new texts unfinished, gone ones removed) and
compiles `stellwerk_de.qm` with Qt's own lrelease.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "gui" / "stellwerk_gui"
TS = ROOT / "resources" / "stellwerk_resources" / "translations" / "stellwerk_de.ts"
QM = TS.with_suffix(".qm")
WRAPPERS = ("translate", "mark")  # functions of a module that translate in the module's own context


@dataclass(frozen=True, slots=True, order=True)
class Message:
    """A text with the context under which Qt looks it up."""

    context: str
    text: str


class NotLiteral(Exception):
    """A text that is put together at run time cannot be found by a translator."""


def messages() -> set[Message]:
    """Every text of the window."""
    found: set[Message] = set()
    for path in sorted(SOURCES.rglob("*.py")):
        found |= set(messages_of(path.read_text("utf-8"), path.name))
    return found


def messages_of(source: str, name: str = "") -> Iterator[Message]:
    """`self.tr(…)` under its class, `translate(…)` under the module's context, Qt's own with the one it names."""
    tree = ast.parse(source)
    context = _module_context(tree)
    yield from _walk(tree, "", context, name)


def _module_context(tree: ast.Module) -> str:
    """The context that the module's own `translate` or `mark` uses."""
    for call in ast.walk(tree):
        if _is_qt(call) and isinstance(call.args[1], ast.Name):  # type: ignore[attr-defined]
            first = call.args[0]  # type: ignore[attr-defined]
            if isinstance(first, ast.Constant):
                return str(first.value)
        # A property that translates a field: translate("metrics", self.title)
        if _is_qt(call) and isinstance(call.args[1], ast.Attribute):  # type: ignore[attr-defined]
            return str(call.args[0].value)  # type: ignore[attr-defined]
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and any(a.name == "translate" for a in node.names):
            return (node.module or "").rpartition(".")[2]
    return ""


def _is_qt(call: ast.AST) -> bool:
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "translate"
        and len(call.args) >= 2
    )


def _walk(node: ast.AST, owner: str, context: str, name: str) -> Iterator[Message]:
    for child in ast.iter_child_nodes(node):
        inner = child.name if isinstance(child, ast.ClassDef) else owner
        yield from _walk(child, inner, context, name)
        if isinstance(child, ast.Call):
            yield from _message(child, owner, context, name)


def _message(call: ast.Call, owner: str, context: str, name: str) -> Iterator[Message]:
    if isinstance(call.func, ast.Attribute) and call.func.attr == "tr":
        # A helper outside a class is handed an object and uses its class: `page.tr`, `owner.tr`.
        given = owner or {"page": "SetupPage", "owner": "Application"}.get(ast.unparse(call.func.value), "")
        if not given:
            raise NotLiteral(f"{name}: {ast.unparse(call)} has no class")
        yield Message(given, _literal(call.args[0], name))
    elif _is_qt(call):
        if isinstance(call.args[1], ast.Constant):
            yield Message(_literal(call.args[0], name), _literal(call.args[1], name))
    elif isinstance(call.func, ast.Name) and call.func.id in WRAPPERS:
        if not context:
            raise NotLiteral(f"{name}: {ast.unparse(call)} has no context")
        yield Message(context, _literal(call.args[0], name))


def _literal(node: ast.expr, name: str) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise NotLiteral(f"{name}: {ast.unparse(node)} is no literal text")


def translations() -> dict[Message, str]:
    """What the .ts file holds; an unfinished text is empty."""
    found: dict[Message, str] = {}
    if not TS.exists():
        return found
    for context in ElementTree.parse(TS).getroot().iter("context"):
        where = context.findtext("name") or ""
        for message in context.iter("message"):
            target = message.find("translation")
            done = target is not None and target.get("type") is None
            text = (target.text or "") if done and target is not None else ""
            found[Message(where, message.findtext("source") or "")] = text
    return found


def write(known: dict[Message, str], wanted: set[Message]) -> None:
    """Write the .ts file for `wanted`, with the translations that are known."""
    root = ElementTree.Element("TS", version="2.1", language="de_DE", sourcelanguage="en")
    for name in sorted({m.context for m in wanted}):
        context = ElementTree.SubElement(root, "context")
        ElementTree.SubElement(context, "name").text = name
        for message in sorted(m for m in wanted if m.context == name):
            entry = ElementTree.SubElement(context, "message")
            ElementTree.SubElement(entry, "source").text = message.text
            text = known.get(message, "")
            target = ElementTree.SubElement(entry, "translation", {} if text else {"type": "unfinished"})
            target.text = text or None
    ElementTree.indent(root, " ")
    body = ElementTree.tostring(root, encoding="unicode")
    TS.write_text(f'<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n{body}\n', "utf-8")


def compile_ts() -> None:
    """Compile the .ts file with the lrelease that comes with PySide6."""
    import PySide6

    tool = Path(PySide6.__file__).parent / "lrelease"
    subprocess.run([str(tool), "-silent", str(TS), "-qm", str(QM)], check=True)


def main() -> int:
    wanted, known = messages(), translations()
    # The same text under another class: take its translation over, a person looks at it anyway.
    by_text = {m.text: t for m, t in known.items() if t}
    for message in wanted:
        known.setdefault(message, by_text.get(message.text, ""))
    write(known, wanted)
    compile_ts()
    missing = sorted(m for m in wanted if not known.get(m))
    for message in missing:
        print(f"not translated: {message.context}: {message.text!r}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
