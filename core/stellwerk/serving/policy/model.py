"""What a policy file says, as plain frozen data. No YAML, no I/O, nothing that decides.

Order matters wherever a file has order: branches of a `when`, labels of a `classify` (easiest first), arms of a
`split`, entries of a `try`. A *target* is the name of a step or of a pool; the two share one name space.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from stellwerk.serving.policy.errors import Problem

SCHEMA_VERSION = 1

Balance = Literal["least_busy", "round_robin", "prefix"]
Sticky = Literal["conversation", "user", "none"]
Operator = Literal["<", "<=", ">", ">=", "==", "!="]


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in the policy text. Both numbers count from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Replica:
    """One engine endpoint of a pool: either (`node`, `port`) inside the cluster or `url` outside of it."""

    node: str | None = None
    port: int | None = None
    url: str | None = None  # base URL ending in /v1, without a trailing slash
    ranks: tuple[str, ...] = ()  # all nodes of a replica that spans several; the first serves HTTP
    key_env: str | None = None  # environment variable that holds the bearer token for `url`

    @property
    def name(self) -> str:
        """Unique inside its pool: `spark-1:8000`, or the URL."""
        return self.url if self.url is not None else f"{self.node}:{self.port}"


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Time limits of one attempt, in seconds. `total_s` covers all attempts of one request."""

    connect_s: float = 2.0
    first_byte_s: float = 120.0
    idle_s: float = 60.0
    total_s: float = 1800.0


@dataclass(frozen=True, slots=True)
class Health:
    """Active checks (`path`, None: passive only), passive ejection and slow start of every replica of a pool."""

    path: str | None = "/health"
    every_s: float = 5.0
    timeout_s: float = 2.0
    fails: int = 3  # failures in a row that eject a replica
    passes: int = 2  # passes in a row that bring it back
    eject_s: float = 10.0  # how long a passively ejected replica rests before one trial request
    slow_start_s: float = 10.0  # time over which a returned replica grows back to its full share


@dataclass(frozen=True, slots=True)
class Price:
    """Cost per million tokens, in any currency, the same for all pools of a policy."""

    input: float = 0.0
    output: float = 0.0


@dataclass(frozen=True, slots=True)
class Pool:
    """A model and the replicas that serve it."""

    name: str
    model: str  # the name sent to the engine
    replicas: tuple[Replica, ...]
    balance: Balance = "least_busy"
    max_running: int = 16  # requests at once per replica; more wait
    max_waiting: int = 64  # requests that wait per pool; more are answered 429
    max_wait_s: float = 30.0  # longest stay in the queue; then 429
    context_window: int | None = None  # tokens; None: unknown, learned from the engine
    retries: int = 1  # further replicas of this pool that are tried after a failure before the first content byte
    deadlines: Deadlines = field(default_factory=Deadlines)
    health: Health = field(default_factory=Health)
    price: Price | None = None


@dataclass(frozen=True, slots=True)
class EmbeddedClassifier:
    """Difficulty by a linear model in this process. `weights` None: the ones that are shipped."""

    name: str
    weights: str | None = None


@dataclass(frozen=True, slots=True)
class LlmClassifier:
    """A question to a pool. `on_error` is the label when it does not answer in time or answers nonsense."""

    name: str
    pool: str
    labels: tuple[str, ...]
    on_error: str
    timeout_s: float = 0.4
    prompt: str | None = None  # instruction of the judge; None: the built-in one


Classifier = EmbeddedClassifier | LlmClassifier


# --- conditions -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Flag:
    """`tools: true`, `images: true`, `json: true`, `stream: false`."""

    kind: Literal["tools", "images", "json", "stream"]
    value: bool


@dataclass(frozen=True, slots=True)
class Compare:
    """`prompt_tokens: "> 16000"`, `max_tokens: ">= 4096"`, `turns: "> 6"`."""

    kind: Literal["prompt_tokens", "max_tokens", "turns"]
    operator: Operator
    number: float


@dataclass(frozen=True, slots=True)
class OneOf:
    """`model: gpt-*`, `language: [de, fr]`, `api_key: team-a`, `user: alice`: any of the shell patterns fits."""

    kind: Literal["model", "language", "api_key", "user"]
    patterns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Matches:
    """`matches: "(?i)prove|derive"`: a regular expression searched in the last user turn."""

    pattern: str


@dataclass(frozen=True, slots=True)
class Header:
    """`header: {x-tier: premium}`: a request header equals or fits a shell pattern; None: it is there at all."""

    name: str  # lower case
    pattern: str | None


@dataclass(frozen=True, slots=True)
class Load:
    """`load: {large: "> 80%"}`: (running + waiting) / running slots of a pool. 1.0 means every slot is taken."""

    pool: str
    operator: Operator
    fraction: float


@dataclass(frozen=True, slots=True)
class All:
    """Every part holds. Several keys in one `if` mean this."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one part holds."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The part does not hold."""

    part: Condition


Condition = Flag | Compare | OneOf | Matches | Header | Load | All | AnyOf | Not


# --- steps ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Branch:
    """One line of a `when`: the first whose condition holds decides."""

    condition: Condition
    to: str


@dataclass(frozen=True, slots=True)
class When:
    name: str
    branches: tuple[Branch, ...]
    otherwise: str


@dataclass(frozen=True, slots=True)
class Classify:
    """Labels with their targets, easiest first. Exactly one of `thresholds` and `shares` may be set.

    `thresholds`: one less than labels, ascending, 0..1. `shares`: label -> fraction of calls, for all labels.
    Neither: the embedded classifier's own middle (each label the same share of its reference prompts).
    """

    name: str
    classifier: str
    to: tuple[tuple[str, str], ...]
    thresholds: tuple[float, ...] | None = None
    shares: tuple[tuple[str, float], ...] | None = None


@dataclass(frozen=True, slots=True)
class Split:
    """Weighted arms. A weight of 0 keeps the wire but sends nothing."""

    name: str
    arms: tuple[tuple[str, float], ...]
    sticky: Sticky = "none"


@dataclass(frozen=True, slots=True)
class Try:
    """The first target that is healthy, not overloaded and large enough; the rest are what comes after a failure."""

    name: str
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SwitchyardStep:
    """One of NeMo Switchyard's algorithms chooses among `to` (label -> target). Needs `stellwerk[switchyard]`."""

    name: str
    algorithm: str
    to: tuple[tuple[str, str], ...]
    options: tuple[tuple[str, object], ...] = ()
    on_error: str | None = None  # label when the algorithm fails; None: the first of `to`
    timeout_s: float = 1.0


Step = When | Classify | Split | Try | SwitchyardStep


@dataclass(frozen=True, slots=True)
class GatewayOptions:
    """The `gateway:` section: what the proxy needs to know and no pool says."""

    override: bool | tuple[str, ...] = False  # may `x-stellwerk-pool` choose? True, or names of the API keys that may
    require_keys: bool = False
    allowed_hosts: tuple[str, ...] = ()  # Host values beside loopback names and the bound address
    allowed_origins: tuple[str, ...] = ()  # empty: any Origin is refused
    max_body_bytes: int = 32 * 1024 * 1024
    max_connections: int = 10_000
    baseline: str | None = None  # pool against which savings are counted ("always large")
    log_prompts: bool = False


@dataclass(frozen=True, slots=True)
class Policy:
    """A whole file, checked: every target exists, the graph is acyclic, every step is reachable."""

    version: int
    models: Mapping[str, str]  # what a client sends as `model` -> target; "*" takes every other name
    pools: Mapping[str, Pool]
    classifiers: Mapping[str, Classifier]
    steps: Mapping[str, Step]
    gateway: GatewayOptions = field(default_factory=GatewayOptions)
    salt: str = ""  # mixed into sticky splits; changing it deals all sessions anew
    marks: Mapping[tuple[str, str], Mark] = field(default_factory=dict)  # ("pools", name) -> place of the card
    warnings: tuple[Problem, ...] = ()  # what works, but not as its writer may think
