"""The keys of a policy file, declared once: parser, defaults, JSON schema and error messages come from here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "text", "name", "integer", "number", "flag", "duration", "bytes", "choice", "texts", "path_or_none", "custom"
]


@dataclass(frozen=True, slots=True)
class Field:
    """One key. `attribute` is the field of the dataclass in `model.py` where it differs from the key."""

    key: str
    kind: Kind
    doc: str
    required: bool = False
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    attribute: str = ""

    @property
    def target(self) -> str:
        return self.attribute or self.key


TOP = (
    Field("version", "custom", "Version of the file format; this program writes 1.", required=True),
    Field(
        "models", "custom", "What a client may send as `model`, and the step or pool where the request starts.", True
    ),
    Field("pools", "custom", "Models and the replicas that serve them.", required=True),
    Field("classifiers", "custom", "What judges how hard a prompt is."),
    Field("steps", "custom", "The steps between model names and pools."),
    Field("gateway", "custom", "Options of the endpoint itself."),
    Field("salt", "text", "Mixed into sticky splits; changing it deals all sessions anew."),
)

REPLICA = (
    Field("node", "text", "Node of the cluster that serves HTTP for this replica."),
    Field("port", "integer", "Port of the engine on that node.", least=1, most=65535),
    Field("url", "text", "Base URL of an engine outside the cluster, ending in /v1."),
    Field("ranks", "texts", "All nodes of a replica that spans several."),
    Field("key_env", "text", "Name of the environment variable that holds the bearer token."),
)

DEADLINES = (
    Field("connect", "duration", "Longest time to open a connection.", least=0.001, attribute="connect_s"),
    Field(
        "first_byte", "duration", "Longest wait for the first byte of an answer.", least=0.001, attribute="first_byte_s"
    ),
    Field("idle", "duration", "Longest silence within an answer.", least=0.001, attribute="idle_s"),
    Field("total", "duration", "Longest time for a request with all its attempts.", least=0.001, attribute="total_s"),
)

HEALTH = (
    Field("path", "path_or_none", "Path that is asked; `none` for passive checks only."),
    Field("every", "duration", "Time between two checks.", least=0.05, attribute="every_s"),
    Field("timeout", "duration", "Longest wait for a check.", least=0.01, attribute="timeout_s"),
    Field("fails", "integer", "Failures in a row that eject a replica.", least=1, most=1000),
    Field("passes", "integer", "Passes in a row that bring it back.", least=1, most=1000),
    Field("eject", "duration", "Rest after a passive ejection before one trial request.", least=0, attribute="eject_s"),
    Field(
        "slow_start",
        "duration",
        "Time in which a returned replica grows to its share.",
        least=0,
        attribute="slow_start_s",
    ),
)

PRICE = (
    Field("input", "number", "Cost per million prompt tokens.", least=0),
    Field("output", "number", "Cost per million answered tokens.", least=0),
)

POOL = (
    Field("model", "text", "Name of the model that is sent to the engine.", required=True),
    Field("replicas", "custom", "The engines that serve it.", required=True),
    Field(
        "balance",
        "choice",
        "How a replica is chosen; `prefix` keeps a conversation on one, for its KV cache.",
        choices=("least_busy", "round_robin", "prefix"),
    ),
    Field("max_running", "integer", "Requests at once per replica; more wait.", least=1, most=100_000),
    Field("max_waiting", "integer", "Requests that wait per pool; more are answered 429.", least=0, most=1_000_000),
    Field("max_wait", "duration", "Longest stay in the queue.", least=0, attribute="max_wait_s"),
    Field("context_window", "integer", "Tokens of prompt and answer together.", least=1),
    Field("retries", "integer", "Further replicas of this pool that are tried after a failure.", least=0, most=100),
    Field("deadlines", "custom", "Time limits."),
    Field("health", "custom", "Health checks and ejection."),
    Field("price", "custom", "Cost per million tokens, for the count of savings."),
)

EMBEDDED = (
    Field("kind", "choice", "`embedded` judges in process.", required=True, choices=("embedded", "llm")),
    Field("weights", "text", "File of a model trained with `stellwerk policy train`; the shipped one without."),
)

LLM = (
    Field("kind", "choice", "`llm` asks a pool.", required=True, choices=("embedded", "llm")),
    Field("pool", "name", "Pool that is asked.", required=True),
    Field("labels", "texts", "The answers it may give, easiest first.", required=True),
    Field("timeout", "duration", "Longest wait for the answer.", least=0.001, attribute="timeout_s"),
    Field("on_error", "text", "Label that stands when it is late or answers nonsense.", required=True),
    Field("prompt", "text", "Instruction of the judge; built in without."),
)

WHEN = (
    Field("when", "custom", "Conditions in order; the first that holds decides.", required=True),
    Field("else", "name", "Target when no condition holds.", required=True),
)

CLASSIFY = (
    Field("classify", "name", "Classifier that is asked.", required=True),
    Field("to", "custom", "Label -> target, easiest first.", required=True),
    Field("threshold", "custom", "Difficulty, 0 to 1, from which the next label applies; a list for more than two."),
    Field("share", "custom", "Label -> share of calls, held by calibrating on recent traffic."),
)

SPLIT = (
    Field("split", "custom", "Target -> weight.", required=True),
    Field(
        "sticky",
        "choice",
        "What stays together: `conversation`, `user`, or `none`.",
        choices=("conversation", "user", "none"),
    ),
)

TRY = (Field("try", "custom", "Targets in order; the next one after failure, overload or overflow.", required=True),)

SWITCHYARD = (
    Field(
        "switchyard",
        "choice",
        "Algorithm of NeMo Switchyard.",
        required=True,
        choices=("random", "stage_router"),
    ),
    Field("to", "custom", "Label of the algorithm -> target.", required=True),
    Field("options", "custom", "Arguments of the algorithm."),
    Field("on_error", "text", "Label when the algorithm fails."),
    Field("timeout", "duration", "Longest time for the algorithm.", least=0.001, attribute="timeout_s"),
)

BRANCH = (
    Field("if", "custom", "Conditions; all of them must hold.", required=True),
    Field("to", "name", "Target when they hold.", required=True),
)

GATEWAY = (
    Field("override", "custom", "May the header x-stellwerk-pool choose? `true`, or names of API keys that may."),
    Field("require_keys", "flag", "Refuse requests without an API key."),
    Field("allowed_hosts", "texts", "Host names that are answered beside the bound address."),
    Field("allowed_origins", "texts", "Origins of browsers that are answered."),
    Field("max_body", "bytes", "Largest request body.", least=1024, attribute="max_body_bytes"),
    Field("max_connections", "integer", "Most open client connections.", least=1, most=1_000_000),
    Field("baseline", "name", "Pool against which savings are counted."),
    Field("log_prompts", "flag", "Write prompt texts to the log."),
)

STEP_KINDS: dict[str, tuple[Field, ...]] = {
    "when": WHEN,
    "classify": CLASSIFY,
    "split": SPLIT,
    "try": TRY,
    "switchyard": SWITCHYARD,
}

CONDITIONS: dict[str, str] = {
    "model": "The model name that was asked for; a name, a shell pattern, or a list.",
    "tools": "Are tools offered?",
    "images": "Is an image in the conversation?",
    "json": "Is JSON demanded as the form of the answer?",
    "stream": "Is a streamed answer wanted?",
    "prompt_tokens": 'Estimated tokens of the prompt, as in `"> 16000"`.',
    "max_tokens": 'The most tokens that are asked for, as in `">= 4096"`.',
    "turns": 'User turns so far, as in `"> 6"`.',
    "language": "ISO 639-1 code of the last user turn, or a list.",
    "matches": "Regular expression searched in the last user turn.",
    "header": "Request headers, name -> value or shell pattern; `true`: is there at all.",
    "api_key": "Name of the API key, a shell pattern, or a list.",
    "user": "Who asks, a shell pattern, or a list.",
    "load": 'Pool -> how busy, as in `"> 80%"`.',
    "all": "A list of conditions that all hold.",
    "any": "A list of conditions of which one holds.",
    "not": "A condition that does not hold.",
}
