"""Which text of a conversation says how hard the next answer is.

Not simply the last line: "yes" after a hard plan is as hard as the plan, a tool result belongs to the question that
led to it, and what a program injects into a user's turn is not the user's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from stellwerk.serving.decision.request import Turn

# Text is looked at up to this length, from both ends: what is asked stands at the start or at the end of a long prompt.
HEAD_BYTES = 12_288
TAIL_BYTES = 4_096
_FOLLOW_UP_WORDS = 12
_NOD_WORDS = 4
_NOD_LETTERS = 60
_FOLLOW_UP_LETTERS = 200
_LOOK_BACK = 6  # user turns

# Blocks that agents and editors put into user turns on their own.
_INJECTED = re.compile(
    r"<(?=[aceilsu])(system-reminder|system_reminder|environment_context|environment_details|user_instructions|"
    r"local-command-stdout|local-command-caveat|command-name|command-message|command-args|ide_selection|"
    r"ide_opened_file|context|additional_data|attached_files)\b",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[^\W_]+(?:'[^\W_]+)?")

# Short turns of these words only let the work go on.
_NOD_TEXT = """
y yes yep yeah yup sure ok okay k fine good great perfect nice thanks thank you please correct right exactly agreed go
ahead on continue proceed next do it that this so more again now then start begin let's lets sounds looks and with both
all the first second third one two three option a b c 1 2 3 no nope not yet stop wait
ja jo jep klar gern gerne gut super prima danke bitte richtig genau stimmt weiter mach mache los fortfahren nochmal noch
einmal dann jetzt nein beide beides alle das die der erste zweite dritte so passt einverstanden
"""
_NODS = frozenset(_NOD_TEXT.split())


@dataclass(frozen=True, slots=True)
class Judged:
    """`score` 0..1, the text that gave it, and words for explanations about which part that was."""

    score: float
    text: bytes
    about: str


def spoken(text: str) -> str:
    """A user's turn without what programs put into it."""
    if "<" not in text:
        return text.strip()
    pieces: list[str] = []
    position = 0
    for opening in _INJECTED.finditer(text):
        if opening.start() < position:
            continue  # inside a block that has been left out
        end_of_tag = text.find(">", opening.end())
        if end_of_tag < 0:
            break  # no tag behind this one has an end either
        pieces.append(text[position : opening.start()])
        closing = _closing(opening[1].lower()).search(text, end_of_tag + 1)
        position = closing.end() if closing is not None else len(text)
    pieces.append(text[position:])
    return " ".join(pieces).strip()


@cache
def _closing(name: str) -> re.Pattern[str]:
    return re.compile(rf"</{re.escape(name)}\s*>", re.IGNORECASE)


def is_nod(text: str) -> bool:
    """Does this turn only say "go on"? A question or a new word of content makes it more than that."""
    if len(text) > _NOD_LETTERS:
        return False
    words = _WORDS.findall(text.lower().replace("’", "'"))
    if not words:
        return True
    return len(words) <= _NOD_WORDS and "?" not in text and all(word in _NODS for word in words)


def clipped(text: str) -> bytes:
    """UTF-8 of a text, its middle left out when it is very long."""
    if len(text) > HEAD_BYTES + TAIL_BYTES:  # a letter has a byte at least, so all that is kept is in these pieces
        head, tail = (piece.encode("utf-8", "replace") for piece in (text[:HEAD_BYTES], text[-TAIL_BYTES:]))
        return head[:HEAD_BYTES] + b"\n" + tail[-TAIL_BYTES:]
    raw = text.encode("utf-8", "replace")
    if len(raw) <= HEAD_BYTES + TAIL_BYTES:
        return raw
    return raw[:HEAD_BYTES] + b"\n" + raw[-TAIL_BYTES:]


def judge_turns(turns: Sequence[Turn], score: Callable[[bytes], float]) -> Judged:
    """The difficulty of what is asked now.

    The newest user turn of substance decides; nods are stepped over, tool results and the assistant's own turns do
    not count, so a tool loop stays where it began. A short follow-up is at least as hard as what it follows: it leans
    on the same context.
    """
    said = _recent(turns)
    if not said:
        return Judged(score(b""), b"", "an empty conversation")
    index = next((number for number, text in enumerate(said) if not is_nod(text)), None)
    if index is None:
        text = clipped(said[-1])
        return Judged(score(text), text, "a conversation of nods")
    about = "the last user turn" if index == 0 else f"the user turn before {index} short answer{'s' * (index > 1)}"
    text = clipped(said[index])
    best = Judged(score(text), text, about)
    if len(said[index]) <= _FOLLOW_UP_LETTERS and len(said[index].split()) <= _FOLLOW_UP_WORDS:
        earlier = next((other for other in said[index + 1 :] if not is_nod(other)), None)
        if earlier is not None:
            text = clipped(earlier)
            before = score(text)
            if before > best.score:
                return Judged(before, text, "the user turn that the last one follows up")
    return best


def _recent(turns: Sequence[Turn]) -> list[str]:
    """Up to `_LOOK_BACK` user turns that say something, newest first."""
    said: list[str] = []
    for turn in reversed(turns):
        if turn.role == "user":
            text = spoken(turn.text)
            if text:
                said.append(text)
                if len(said) == _LOOK_BACK:
                    break
    return said
