"""Policy text -> Policy -> CompiledPolicy."""

from __future__ import annotations

import re
from typing import Any, cast
from urllib.parse import urlsplit

from stellwerk.serving.classifier.types import DifficultyLoader
from stellwerk.serving.policy import fields
from stellwerk.serving.policy.check import check_graph
from stellwerk.serving.policy.compile import compile_policy
from stellwerk.serving.policy.compiled import CompiledPolicy
from stellwerk.serving.policy.errors import PolicyErrors, Problem
from stellwerk.serving.policy.model import (
    SCHEMA_VERSION,
    Classifier,
    Deadlines,
    EmbeddedClassifier,
    GatewayOptions,
    Health,
    LlmClassifier,
    Mark,
    Policy,
    Pool,
    Price,
    Replica,
    Step,
)
from stellwerk.serving.policy.read_steps import Wires, read_step
from stellwerk.serving.policy.reader import Reader, nearest
from stellwerk.serving.policy.source import MappingNode, Node, ScalarNode, SequenceNode, compose, tag_of


def load_policy(text: str, *, load_difficulty: DifficultyLoader | None = None) -> CompiledPolicy:
    """Read, check and compile a policy file.

    Args:
        text: the whole YAML file.
        load_difficulty: gives the model of an embedded classifier by the path in `weights` (None: the shipped one).

    Raises:
        PolicyErrors: everything that is wrong, each with line, column, card and remedy.
    """
    policy = parse_policy(text)
    if load_difficulty is None:
        from stellwerk.serving.classifier.load import load_difficulty as default_loader

        load_difficulty = default_loader
    try:
        return compile_policy(policy, text, load_difficulty)
    except (OSError, ValueError) as error:
        raise PolicyErrors((_weights_problem(policy, error),)) from error


def parse_policy(text: str) -> Policy:
    """Read and check a policy file without binding it. Raises PolicyErrors."""
    reader = Reader()
    try:
        root = compose(text)
        policy = _read(reader, root)
    except RecursionError:
        raise PolicyErrors((Problem(1, 1, "The file is nested too deeply.", "Make it flatter."),)) from None
    if reader.problems or policy is None:
        problems = sorted(dict.fromkeys(reader.problems), key=lambda problem: (problem.line, problem.column))
        raise PolicyErrors(tuple(problems))
    return policy


def _weights_problem(policy: Policy, error: Exception) -> Problem:
    for name, classifier in policy.classifiers.items():
        if isinstance(classifier, EmbeddedClassifier) and (classifier.weights or "") in str(error):
            mark = policy.marks.get(("classifiers", name), Mark(1, 1))
            remedy = "Name a file made by `stellwerk policy train`, or leave `weights` out."
            return Problem(
                mark.line, mark.column, f"Its weights cannot be read: {error}.", remedy, f"classifier {name}"
            )
    return Problem(1, 1, f"The weights of a classifier cannot be read: {error}.", "Train them anew.")


def _read(reader: Reader, root: MappingNode) -> Policy | None:
    values = reader.section(root, fields.TOP, "the policy")
    version = _version(reader, values.get("version"))
    marks: dict[tuple[str, str], Mark] = {}
    cards = {
        section: _cards(reader, values.get(section), section, marks) for section in ("pools", "classifiers", "steps")
    }
    _same_names(reader, cards["pools"], cards["steps"])
    pools: dict[str, Pool] = {}
    for name, (_, node) in cards["pools"].items():
        reader.card = f"pool {name}"
        pool = _pool(reader, name, node)
        if pool is not None:
            pools[name] = pool
    classifiers: dict[str, Classifier] = {}
    pool_nodes = {name: node for name, (_, node) in cards["pools"].items()}
    for name, (_, node) in cards["classifiers"].items():
        reader.card = f"classifier {name}"
        classifier = _classifier(reader, name, node, pool_nodes)
        if classifier is not None:
            classifiers[name] = classifier
    steps: dict[str, Step] = {}
    wires: dict[str, Wires] = {}
    for name, (_, node) in cards["steps"].items():
        reader.card = f"step {name}"
        step, wires[name] = read_step(reader, name, node, pool_nodes)
        if step is not None:
            steps[name] = step
    reader.card = None
    models, entries = _models(reader, values.get("models"), marks)
    reader.card = None
    gateway = _gateway(reader, values.get("gateway"), pool_nodes)
    salt = reader.text(values["salt"], "`salt`") if "salt" in values else ""
    keys = {section: {name: key for name, (key, _) in found.items()} for section, found in cards.items()}
    check_graph(reader, entries, wires, keys["pools"], keys["steps"])
    for name, step in steps.items():
        reader.card = f"step {name}"
        _check_classify(reader, step, cards["steps"][name][1], classifiers, set(keys["classifiers"]))
    if version is None or "models" not in values or "pools" not in values:
        return None
    return Policy(version, models, pools, classifiers, steps, gateway, salt or "", marks, tuple(reader.warnings))


def _version(reader: Reader, node: Node | None) -> int | None:
    if node is None:
        return None
    if not isinstance(node, ScalarNode) or tag_of(node) != "int":
        reader.error(node, "`version` must be a whole number.", f"Write `version: {SCHEMA_VERSION}`.")
        return None
    version = int(node.value.replace("_", ""), 0) if re.fullmatch(r"[-+]?\d+", node.value) else -1
    if version == SCHEMA_VERSION:
        return version
    if version > SCHEMA_VERSION:
        reader.error(node, f"Version {version} is newer than this program knows.", "Update Stellwerk.")
    else:
        reader.error(node, f"Version {version} is an older format.", "Run `stellwerk policy check --upgrade` on it.")
    return None


Cards = dict[str, tuple[ScalarNode, Node]]


def _cards(reader: Reader, node: Node | None, section: str, marks: dict[tuple[str, str], Mark]) -> Cards:
    """Named cards of one section."""
    cards: Cards = {}
    if node is None or (isinstance(node, ScalarNode) and tag_of(node) == "null" and section != "pools"):
        return cards
    singular = section.removesuffix("s")
    for key, value in reader.pairs(node, f"`{section}`", f"{section}: {{name: {{…}}}}"):
        reader.card = f"{singular} {key.value}"
        if reader.name(key, singular):
            cards[key.value] = (key, value)
            marks[(section, key.value)] = reader.mark(key)
    reader.card = None
    if section == "pools" and isinstance(node, MappingNode) and not node.value:
        reader.error(node, "There are no pools, so nothing can answer.", "Define at least one.")
    return cards


def _same_names(reader: Reader, pools: Cards, steps: Cards) -> None:
    for name in steps.keys() & pools.keys():
        reader.card = f"step {name}"
        line = pools[name][0].start_mark.line + 1
        reader.error(
            steps[name][0], f"A pool is called `{name}` too (line {line}).", "Rename one: targets must be plain."
        )
    reader.card = None


def _models(
    reader: Reader, node: Node | None, marks: dict[tuple[str, str], Mark]
) -> tuple[dict[str, str], dict[str, tuple[str, Node]]]:
    models: dict[str, str] = {}
    entries: dict[str, tuple[str, Node]] = {}
    if node is None:
        return models, entries
    for key, value in reader.pairs(node, "`models`", "models: {auto: triage}"):
        reader.card = f"model {key.value}"
        if not key.value or not key.value.isprintable() or len(key.value) > 200:
            reader.error(key, f"{key.value!r} cannot be a model name.", "Use printable characters.")
            continue
        target = reader.text(value, f"The target of `{key.value}`")
        if target is not None:
            models[key.value] = target
            entries[key.value] = (target, value)
            marks[("models", key.value)] = reader.mark(key)
    if isinstance(node, MappingNode) and not node.value:
        reader.card = None
        reader.error(node, "There are no models, so no request has a way in.", "Write e.g. `models: {auto: NAME}`.")
    return models, entries


def _pool(reader: Reader, name: str, node: Node) -> Pool | None:
    values = reader.section(node, fields.POOL, "a pool")
    arguments: dict[str, Any] = reader.plain(values, fields.POOL)
    for key, table, kind in (
        ("deadlines", fields.DEADLINES, Deadlines),
        ("health", fields.HEALTH, Health),
        ("price", fields.PRICE, Price),
    ):
        if key in values:
            arguments[key] = kind(**cast(Any, reader.plain(reader.section(values[key], table, f"`{key}`"), table)))
    arguments["replicas"] = _replicas(reader, values["replicas"]) if "replicas" in values else ()
    if "model" not in arguments:
        return None
    return Pool(name=name, **arguments)


def _replicas(reader: Reader, node: Node) -> tuple[Replica, ...]:
    entries = reader.items(node, "`replicas`", "replicas: [{node: spark-1, port: 8000}]")
    if isinstance(node, SequenceNode) and not entries:
        reader.error(
            node, "This pool has no replicas, so nothing can answer.", "Add one, as in `{node: spark-1, port: 8000}`."
        )
    replicas: list[Replica] = []
    for entry in entries:
        replica = _replica(reader, entry)
        if replica is None:
            continue
        if any(other.name == replica.name for other in replicas):
            reader.error(entry, f"The replica {replica.name} is there twice.", "Take one out.")
        replicas.append(replica)
    return tuple(replicas)


def _replica(reader: Reader, node: Node) -> Replica | None:
    values = reader.section(node, fields.REPLICA, "a replica")
    arguments: dict[str, Any] = reader.plain(values, fields.REPLICA)
    if "url" in values and ("node" in values or "port" in values):
        reader.error(node, "A replica has either `node` and `port`, or `url`.", "Take one of the two out.")
        return None
    if "url" in values:
        url = str(arguments.get("url", ""))
        if "url" in arguments and not _is_base_url(url):
            hint = "Write it like `https://host:port/v1`; a key belongs in `key_env`, not in the URL."
            reader.error(values["url"], "This is no base URL of an engine.", hint)
        arguments["url"] = url.rstrip("/")
    elif isinstance(node, MappingNode):
        for key in ("node", "port"):
            if key not in values:
                reader.error(node, f"A replica has no `{key}`.", "Write `{node: NAME, port: NUMBER}` or `{url: …}`.")
    key_env = arguments.get("key_env")
    if key_env is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", key_env):
        # The value may be a key pasted by mistake: it must not appear in a message.
        hint = "Put the key into an environment variable and write that variable's name here."
        reader.error(values["key_env"], "`key_env` is not the name of an environment variable.", hint)
        del arguments["key_env"]
    ranks = arguments.get("ranks", ())
    if ranks and arguments.get("node") is not None and ranks[0] != arguments["node"]:
        hint = "The first rank serves HTTP; put it first, or change `node`."
        reader.error(values["ranks"], f"`ranks` begins with {ranks[0]}, `node` says {arguments['node']}.", hint)
    usable = bool(arguments.get("url")) or ("node" in arguments and "port" in arguments)
    return Replica(**arguments) if usable else None


def _is_base_url(url: str) -> bool:
    if not re.fullmatch(r"https?://[^\s/@?#]+(/[!-~]*)?", url) or re.search("[?#@]", url):
        return False
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port beyond 65535, brackets that do not match
        return False


def _classifier(reader: Reader, name: str, node: Node, pools: dict[str, Node]) -> Classifier | None:
    pairs = node.value if isinstance(node, MappingNode) else []
    kind = next((value.value for key, value in pairs if isinstance(key, ScalarNode) and key.value == "kind"), None)
    table = fields.LLM if kind == "llm" else fields.EMBEDDED
    values = reader.section(node, table, f"a classifier of kind `{kind}`" if kind == "llm" else "a classifier")
    arguments: dict[str, Any] = reader.plain(values, table)
    if arguments.pop("kind", None) is None:
        return None
    if kind != "llm":
        return EmbeddedClassifier(name, arguments.get("weights"))
    if "pool" in arguments and arguments["pool"] not in pools:
        reader.error(values["pool"], f"There is no pool `{arguments['pool']}`.", nearest(arguments["pool"], pools))
    labels = arguments.get("labels", ())
    if "labels" in arguments and (len(labels) < 2 or len(set(labels)) < len(labels)):
        reader.error(
            values["labels"], "A judge needs at least two different labels.", "Write e.g. `[simple, complex]`."
        )
    elif "on_error" in arguments and labels and arguments["on_error"] not in labels:
        hint = nearest(arguments["on_error"], labels)
        reader.error(values["on_error"], f"`on_error` is not among the labels: `{arguments['on_error']}`.", hint)
    if not {"pool", "labels", "on_error"} <= arguments.keys():
        return None
    return LlmClassifier(name=name, **arguments)


# What would match nothing is a mistake: the gateway compares whole names.
_WHO_MAY_ASK = (
    (
        "allowed_hosts",
        re.compile(r"[^\s/:@*\[\]]+(:\d{1,5})?|\[[0-9A-Fa-f:.]+\](:\d{1,5})?"),
        "Write a name or an address as in `gate.example` or `[fd00::1]`, without `http://`; `*` means nothing here.",
    ),
    (
        "allowed_origins",
        re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s/?#@*]+/?"),
        "Write it like `https://app.example`, and every one of them: `*` would let any web page ask.",
    ),
)


def _gateway(reader: Reader, node: Node | None, pools: dict[str, Node]) -> GatewayOptions:
    if node is None:
        return GatewayOptions()
    values = reader.section(node, fields.GATEWAY, "`gateway`")
    arguments: dict[str, Any] = reader.plain(values, fields.GATEWAY)
    override = values.get("override")
    if override is not None:
        is_flag = isinstance(override, ScalarNode) and tag_of(override) == "bool"
        found = reader.flag(override, "`override`") if is_flag else reader.texts(override, "`override`")
        arguments["override"] = found if found is not None else False
    for key, form, hint in _WHO_MAY_ASK:
        node = values.get(key)
        for entry in (node.value if isinstance(node, SequenceNode) else [node]) if node is not None else ():
            if isinstance(entry, ScalarNode) and entry.value and not form.fullmatch(entry.value):
                reader.error(entry, f"`{key}` cannot hold `{entry.value[:100]}`.", hint)
    if "baseline" in arguments and arguments["baseline"] not in pools:
        hint = nearest(arguments["baseline"], pools)
        reader.error(values["baseline"], f"There is no pool `{arguments['baseline']}`.", hint)
    return GatewayOptions(**arguments)


def _check_classify(
    reader: Reader, step: Step, node: Node, classifiers: dict[str, Classifier], known: set[str]
) -> None:
    from stellwerk.serving.policy.model import Classify

    if not isinstance(step, Classify):
        return
    values = {key.value: value for key, value in node.value if isinstance(key, ScalarNode)}
    at = values.get("classify", node)
    if step.classifier not in known:
        reader.error(at, f"There is no classifier `{step.classifier}`.", nearest(step.classifier, sorted(known)))
        return
    classifier = classifiers.get(step.classifier)
    if not isinstance(classifier, LlmClassifier):
        return
    for key in ("threshold", "share"):
        if key in values:
            hint = "Take it out, or use a classifier of kind `embedded`."
            reader.error(values[key], f"`{key}` needs a score, and a judge of kind `llm` gives only labels.", hint)
    labels = {label for label, _ in step.to}
    for label in classifier.labels:
        if label not in labels:
            hint = "Add it to `to`, or take it out of the classifier's `labels`."
            reader.error(values.get("to", node), f"The label `{label}` has no target.", hint)
    for label in labels - set(classifier.labels):
        hint = nearest(label, classifier.labels)
        reader.error(values.get("to", node), f"`{step.classifier}` never answers `{label}`.", hint)
