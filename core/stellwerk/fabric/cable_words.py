"""The sentences of the cable findings: where a plug is, where it belongs, and what a hand has to do."""

from __future__ import annotations

from collections.abc import Sequence

from stellwerk.fabric.members import Member
from stellwerk.model.fabric import Cable, PortRef, TopologyKind
from stellwerk.model.finding import Severity
from stellwerk.model.text import Text, say

IN_WORDS = (
    say("no"), say("one"), say("two"), say("three"), say("four"), say("five"), say("six"), say("seven"), say("eight"),
)  # fmt: skip


def shape_in_words(members: Sequence[Member], wanted: TopologyKind) -> Text:
    """The topology as the beginning of a sentence."""
    if wanted is TopologyKind.PAIR:
        return say("A pair")
    number = IN_WORDS[len(members)] if len(members) < len(IN_WORDS) else len(members)
    if wanted is TopologyKind.RING:
        return say("A ring of {number}", number=number)
    return say("A chain of {number}", number=number)


def rule(wanted: TopologyKind) -> Text:
    return say("In a {kind} every cable goes from port 0 of one node to port 1 of the next.", kind=wanted.word)


def where(ref: PortRef) -> Text:
    """Port 0 is easily found: it is next to the RJ45."""
    if ref.port == 0:
        return say("port {port} (next to the RJ45)", port=ref.port)
    return say("port {port}", port=ref.port)


def move_it(plug: PortRef, to: PortRef) -> Text:
    here, there = where(plug), where(to)
    if plug.node == to.node:
        return say(
            "At the back of {node}, move the plug from {here} to {there}.", node=plug.node, here=here, there=there
        )
    return say(
        "Pull the plug out of {node} {here} and put it into {other} {there}.",
        node=plug.node,
        here=here,
        other=to.node,
        there=there,
    )


def what_is_wrong(plug: PortRef, to: PortRef, other: PortRef, wanted: TopologyKind) -> tuple[str, Severity, str, str]:
    """Code, severity, title and meaning of a plug that has to move."""
    if other.node == plug.node:
        title = say("A cable joins two ports of {node} to each other.", node=plug.node)
        return (
            "cable-loop",
            Severity.BAD,
            title,
            say("It belongs in {port}; a node needs no cable to itself.", port=to),
        )
    if wanted is TopologyKind.PAIR and plug.node == to.node:
        title = say(
            "The cable joins port {port} of {node} to port {other_port} of {other}.",
            port=other.port,
            node=other.node,
            other_port=plug.port,
            other=plug.node,
        )
        meaning = say("It works, but with the same port on both nodes every setting is the same on both, too.")
        return "port-mixed", Severity.WARN, title, meaning
    if plug.node == to.node:
        title = say("The cable from {other} is in the wrong port of {node}.", other=other.node, node=plug.node)
        meaning = say(
            "It joins port {port} to port {other_port}. {rule}",
            port=other.port,
            other_port=plug.port,
            rule=rule(wanted),
        )
        return "cable-wrong-port", Severity.BAD, title, meaning
    title = say("The cable from {port} goes to the wrong node.", port=other)
    return (
        "cable-wrong-machine",
        Severity.BAD,
        title,
        say("It goes to {port}; it belongs in {place}.", port=plug, place=to),
    )


def look_where(ports: object) -> Text:
    return say("There is a cable in {ports}, but nothing at its other end answers: look where it goes.", ports=ports)


def pull(cable: Cable) -> Text:
    return say("Pull the cable out of {port} and {other}.", port=cable.a, other=cable.b)
