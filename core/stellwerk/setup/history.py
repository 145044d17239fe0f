"""Proofs that were kept: one JSON file each in the cluster's folder, to read again and to compare."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from stellwerk.model.finding import Verdict, Verification
from stellwerk.setup.files import write_atomic
from stellwerk.wire import WireError, from_wire, to_wire

FORMAT = 1
MAX_BYTES = 20_000_000
KEEP = 50


@dataclass(frozen=True, slots=True)
class Kept:
    """One kept proof, for lists."""

    run_id: str
    path: Path
    at: str
    verdict: Verdict
    passed: int
    total: int

    @property
    def words(self) -> str:
        """`30 Nov 13:41, 61 of 64 pass`."""
        try:
            when = datetime.fromisoformat(self.at).astimezone().strftime("%d %b %H:%M")
        except ValueError:
            when = self.at
        return f"{when}, {self.passed} of {self.total} pass"


def save(folder: Path, proof: Verification) -> Path:
    """Keep a proof; the oldest beyond `KEEP` go."""
    path = folder / f"{_safe(proof.run_id)}.json"
    write_atomic(path, json.dumps({"format": FORMAT, "verification": to_wire(proof, texts=True)}, indent=1).encode())
    for old in sorted(folder.glob("*.json"))[:-KEEP]:
        old.unlink()
    return path


def load(folder: Path, run_id: str) -> Verification | None:
    """A kept proof, or None when it is not there or not readable."""
    return _read(folder / f"{_safe(run_id)}.json")


def newest(folder: Path) -> Verification | None:
    """The newest readable proof."""
    for path in sorted(folder.glob("*.json"), reverse=True) if folder.is_dir() else []:
        proof = _read(path)
        if proof is not None:
            return proof
    return None


def listing(folder: Path) -> list[Kept]:
    """All readable proofs, newest first."""
    kept: list[Kept] = []
    for path in sorted(folder.glob("*.json"), reverse=True) if folder.is_dir() else []:
        proof = _read(path)
        if proof is not None:
            passed = sum(c.verdict is Verdict.PASS for c in proof.checks)
            kept.append(Kept(proof.run_id, path, proof.started_at, proof.verdict, passed, len(proof.checks)))
    return kept


def _read(path: Path) -> Verification | None:
    try:
        if path.stat().st_size > MAX_BYTES:
            return None
        data = json.loads(path.read_bytes())
        if data.get("format") != FORMAT:
            return None
        return from_wire(Verification, data["verification"])
    except (OSError, ValueError, KeyError, AttributeError, WireError):
        return None


def _safe(run_id: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "-", run_id)[:80]
