"""The clusters that this desktop knows: one folder each, in the user's configuration folder."""

from __future__ import annotations

import getpass
import io
import os
import re
import secrets
import shutil
import socket
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

import filelock
import platformdirs
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from stellwerk.model.errors import BadInput, Busy
from stellwerk.model.text import say
from stellwerk.setup.files import cannot_write, write_atomic
from stellwerk.setup.journal import Journal

FORMAT_VERSION = 1
MAX_CLUSTER_FILE_BYTES = 1_000_000
MAX_NODES = 8


@dataclass(frozen=True, slots=True)
class NodeEntry:
    """A machine of a cluster, as it is reached."""

    name: str
    host: str
    port: int = 22
    user: str = ""
    node_id: str = ""
    host_key: str = ""  # SHA256 fingerprint, for the eye; trust itself is in known_hosts
    jump: str = ""
    number: int = 0  # 1..8, the last octet of its fabric addresses; stays when others come and go


@dataclass(frozen=True, slots=True)
class Cluster:
    """What `cluster.yaml` holds."""

    cluster_id: str
    name: str
    nodes: tuple[NodeEntry, ...] = ()
    topology: str | None = None
    mtu: int = 9000
    address_pool: str | None = None
    page: str = "find"  # where the wizard stands
    mesh: bool = False  # the machines may reach each other by SSH
    unpaired: tuple[NodeEntry, ...] = ()  # named in the wizard, not paired yet: kept for when it is opened again
    extra: dict[str, Any] = field(default_factory=dict)

    def node(self, name: str) -> NodeEntry:
        for node in self.nodes:
            if node.name == name:
                return node
        raise BadInput(
            say("there is no node {name} in the cluster {cluster}", name=repr(name), cluster=repr(self.name)),
            remedy=say("Known: {known}", known=self._names()),
        )

    def with_node(self, entry: NodeEntry) -> Cluster:
        """The cluster with `entry` added or replaced by name; a new one gets the lowest free number."""
        if entry.number == 0:
            taken = {n.number for n in self.nodes if n.name != entry.name}
            entry = replace(entry, number=next(i for i in count(1) if i not in taken))
        kept = tuple(entry if n.name == entry.name else n for n in self.nodes)
        left = tuple(n for n in self.unpaired if (n.host, n.port) != (entry.host, entry.port))
        return replace(self, nodes=kept if entry in kept else (*kept, entry), unpaired=left)

    def without_node(self, name: str) -> Cluster:
        return replace(self, nodes=tuple(n for n in self.nodes if n.name != name))

    def _names(self) -> str:
        return ", ".join(n.name for n in self.nodes) or say("none")


class ClusterFolder:
    """One cluster's folder: its file, journal, keys, trust, reports."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.journal = Journal(path / "journal.jsonl")

    @property
    def cluster_file(self) -> Path:
        return self.path / "cluster.yaml"

    @property
    def known_hosts(self) -> Path:
        return self.path / "known_hosts"

    @property
    def key_file(self) -> Path:
        return self.path / "keys" / "id_ed25519"

    @property
    def reports(self) -> Path:
        return self.path / "reports"

    @property
    def plans(self) -> Path:
        return self.path / "plans"

    def load(self) -> Cluster:
        """Read `cluster.yaml`. Raises `BadInput` with file, line and reason; the file stays as it is."""
        try:
            with self.cluster_file.open("rb") as stream:
                raw = stream.read(MAX_CLUSTER_FILE_BYTES + 1)
        except OSError as error:
            raise BadInput(
                say("{cluster_file} cannot be read", cluster_file=self.cluster_file),
                why=error.strerror or str(error),
                remedy="Restore it from a backup",
            ) from error
        return parse_cluster(raw, self.cluster_file)

    def save(self, cluster: Cluster) -> None:
        """Write `cluster.yaml`; comments and unknown keys that a person added stay."""
        write_atomic(self.cluster_file, render_cluster(cluster, self._existing()))

    def _existing(self) -> bytes | None:
        return self.cluster_file.read_bytes() if self.cluster_file.exists() else None

    def lock(self) -> ClusterLock:
        return ClusterLock(self.path / "lock")


class ClusterLock:
    """Keeps a second window off a cluster; names who holds it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = filelock.FileLock(path, timeout=0, mode=0o600)

    def __enter__(self) -> ClusterLock:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock.acquire()
        except OSError as error:  # no `filelock.Timeout`, although that is one, too
            if not isinstance(error, filelock.Timeout):
                raise cannot_write(self._path, error) from error
            raise Busy(
                "this cluster is already open in another window",
                why=say("it is held by {holder}", holder=self._holder()),
                remedy="Close it there, or use that window",
            ) from None
        try:
            self._holder_file.write_text(f"process {os.getpid()} of {getpass.getuser()} on {socket.gethostname()}")
        except OSError as error:
            self._lock.release()
            raise cannot_write(self._holder_file, error) from error
        return self

    def __exit__(self, *exc: object) -> None:
        self._holder_file.unlink(missing_ok=True)
        self._lock.release()

    @property
    def _holder_file(self) -> Path:
        return self._path.with_name("lock.holder")

    def _holder(self) -> str:
        try:
            return self._holder_file.read_text()[:200]
        except OSError:
            return "a process that did not say its name"


class ClusterStore:
    """All clusters of this user."""

    def __init__(self, base: Path | None = None) -> None:
        self.base = base or default_base()

    def folder(self, cluster_id: str) -> ClusterFolder:
        return ClusterFolder(self.base / "clusters" / cluster_id)

    def all(self) -> list[ClusterFolder]:
        root = self.base / "clusters"
        if not root.is_dir():
            return []
        return [ClusterFolder(p) for p in sorted(root.iterdir()) if (p / "cluster.yaml").exists()]

    def create(self, name: str) -> tuple[ClusterFolder, Cluster]:
        """A new, empty cluster; two clusters may have the same name, never the same id."""
        clean = clean_name(name)
        cluster_id = f"{re.sub(r'[^a-z0-9]+', '-', clean.lower()).strip('-') or 'cluster'}-{secrets.token_hex(3)}"
        folder = self.folder(cluster_id)
        cluster = Cluster(cluster_id=cluster_id, name=clean)
        folder.save(cluster)
        return folder, cluster

    def find(self, name: str | None) -> ClusterFolder:
        """The cluster called `name` (or its id); with None the only one there is."""
        folders = self.all()
        if name is None:
            if len(folders) == 1:
                return folders[0]
            known = ", ".join(f.path.name for f in folders)
            raise BadInput(
                "no cluster is set up on this computer" if not folders else "there is more than one cluster",
                remedy="Run `stellwerk setup`, or `stellwerk pair HOST …`"
                if not folders
                else say("Name one: --cluster {known}", known=known),
            )
        for folder in folders:
            if folder.path.name == name:
                return folder
        matching = [f for f in folders if f.load().name == name]
        if len(matching) == 1:
            return matching[0]
        known = ", ".join(f.path.name for f in folders) or say("none")
        raise BadInput(say("there is no cluster {name}", name=repr(name)), remedy=say("Known: {known}", known=known))

    def remove(self, folder: ClusterFolder) -> None:
        shutil.rmtree(folder.path)


def default_base() -> Path:
    """`$STELLWERK_HOME`, or the user's configuration folder."""
    override = os.environ.get("STELLWERK_HOME")
    return Path(override) if override else platformdirs.user_config_path("stellwerk", appauthor=False)


def clean_name(name: str) -> str:
    """A cluster or node name for the eye: printable, 1 to 40 characters."""
    clean = "".join(c for c in name if c.isprintable()).strip()[:40]
    if not clean:
        raise BadInput("a name must have at least one printable character", remedy="Choose another name")
    return clean


def parse_cluster(raw: bytes, path: Path) -> Cluster:
    """`cluster.yaml` -> Cluster; `BadInput` names line, key and remedy."""
    remedy = "Correct that line, or restore the file from a backup; nothing was changed"
    if len(raw) > MAX_CLUSTER_FILE_BYTES:
        raise BadInput(
            say(
                "{path} is larger than {size} kB",
                path=path,
                size=MAX_CLUSTER_FILE_BYTES // 1000,
            ),
            remedy=remedy,
        )
    try:
        data = YAML(typ="rt").load(raw.decode("utf-8"))
    except (YAMLError, UnicodeDecodeError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = say(", line {line}", line=mark.line + 1) if mark is not None else ""
        why = str(getattr(error, "problem", None) or error).splitlines()[0]
        raise BadInput(
            say("{path}{where} is not readable YAML", path=path, where=where), why=why, remedy=remedy
        ) from error
    if not isinstance(data, dict):
        raise BadInput(
            say("{path} does not hold a cluster", path=path), why="the top level must be keys and values", remedy=remedy
        )
    version = data.get("version")
    if version != FORMAT_VERSION:
        newer = isinstance(version, int) and version > FORMAT_VERSION
        raise BadInput(
            say(
                "{path} has version {version}; this program reads version {format_version}",
                path=path,
                version=repr(version),
                format_version=FORMAT_VERSION,
            ),
            remedy="Update Stellwerk" if newer else remedy,
        )
    reader = _Reader(path, remedy)
    known = {"version", "id", "name", "nodes", "topology", "mtu", "address_pool", "page", "mesh", "unpaired"}
    return Cluster(
        cluster_id=reader.text(data, "id", path.parent.name),
        name=reader.text(data, "name", path.parent.name),
        nodes=reader.nodes(data, "nodes"),
        topology=reader.text(data, "topology", "") or None,
        mtu=reader.number(data, "mtu", 9000),
        address_pool=reader.text(data, "address_pool", "") or None,
        page=reader.text(data, "page", "find"),
        mesh=reader.flag(data, "mesh"),
        unpaired=reader.nodes(data, "unpaired"),
        extra={k: v for k, v in data.items() if k not in known},
    )


class _Reader:
    """Typed access to a loaded mapping; a wrong type is named with its line."""

    def __init__(self, path: Path, remedy: str) -> None:
        self._path = path
        self._remedy = remedy

    def nodes(self, data: Any, key: str) -> tuple[NodeEntry, ...]:
        found = data.get(key) or []
        if not isinstance(found, list):
            raise BadInput(say("{path}: `{key}` must be a list", path=self._path, key=key), remedy=self._remedy)
        return tuple(self._node(item, key, i) for i, item in enumerate(found))

    def _node(self, item: Any, key: str, index: int) -> NodeEntry:
        if not isinstance(item, dict):
            raise BadInput(
                say("{path}: entry {index} of `{key}` must have keys", path=self._path, index=index + 1, key=key),
                remedy=self._remedy,
            )
        return NodeEntry(
            name=self.text(item, "name"),
            host=self.text(item, "host"),
            port=self.number(item, "port", 22),
            user=self.text(item, "user", ""),
            node_id=self.text(item, "node_id", ""),
            host_key=self.text(item, "host_key", ""),
            jump=self.text(item, "jump", ""),
            number=self.number(item, "number", index + 1),
        )

    def text(self, data: Any, key: str, default: str | None = None) -> str:
        value = data.get(key, default)
        if value is None and default is not None:
            return default
        if isinstance(value, str):
            return str(value)
        raise self._wrong(data, key, "text")

    def number(self, data: Any, key: str, default: int) -> int:
        value = data.get(key, default)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31:
            return int(value)
        raise self._wrong(data, key, say("a whole number"))

    def flag(self, data: Any, key: str) -> bool:
        value = data.get(key, False)
        if isinstance(value, bool):
            return value
        raise self._wrong(data, key, say("true or false"))

    def _wrong(self, data: Any, key: str, kind: str) -> BadInput:
        try:
            line: str = say(", line {line}", line=data.lc.key(key)[0] + 1)
        except (AttributeError, KeyError):
            line = ""
        return BadInput(
            say("{path}{line}: `{key}` must be {kind}", path=self._path, line=line, key=key, kind=kind),
            remedy=self._remedy,
        )


def render_cluster(cluster: Cluster, existing: bytes | None) -> bytes:
    """YAML text of `cluster`; starts from the existing text, so that comments stay."""
    yaml = YAML(typ="rt")
    yaml.width = 120
    data: Any = yaml.load(existing.decode("utf-8")) if existing else None
    if not isinstance(data, dict):
        data = yaml.load("{}")
        data.fa.set_block_style()
    data["version"] = FORMAT_VERSION
    data["id"], data["name"] = cluster.cluster_id, cluster.name
    optional = (("topology", cluster.topology), ("address_pool", cluster.address_pool), ("mesh", cluster.mesh or None))
    for key, value in optional:
        if value is not None:
            data[key] = value
        else:
            data.pop(key, None)
    data["mtu"], data["page"] = cluster.mtu, cluster.page
    data["nodes"] = [_render_node(n) for n in cluster.nodes]
    if cluster.unpaired:
        data["unpaired"] = [_render_node(n) for n in cluster.unpaired]
    else:
        data.pop("unpaired", None)
    buffer = io.BytesIO()
    yaml.dump(data, buffer)
    return buffer.getvalue()


def _render_node(node: NodeEntry) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": node.name, "number": node.number, "host": node.host, "port": node.port}
    for key in ("user", "node_id", "host_key", "jump"):
        if getattr(node, key):
            entry[key] = getattr(node, key)
    return entry
