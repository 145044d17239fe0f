"""What the command line refuses before it touches anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from e2e.support import journey, stellwerk


@pytest.mark.timeout(180)
async def test_apply_without_root_and_without_an_answer_touches_nothing(tmp_path: Path) -> None:
    async with journey(tmp_path) as made:
        # Closed input at the question: nobody said yes, and nobody said no.
        ran = await stellwerk(tmp_path, "apply", "--password-file", str(_file(tmp_path, made)), timeout_s=60)
        assert ran.code == 2, ran.text
        assert "--yes" in ran.text
        await made.session.forget_sudo()
        ran = await stellwerk(tmp_path, "apply", "--yes", timeout_s=60)
        assert ran.code == 2, ran.text
        assert "root is needed on spark-1, spark-2" in ran.text
        assert "--password-file" in ran.text
        assert not [entry for entry in made.folder.journal.entries() if entry.event == "begin"]
        for node in ("spark-1", "spark-2"):
            assert not made.root(node, "/etc/netplan/60-stellwerk.yaml").exists()


def _file(folder: Path, made: object) -> Path:
    path = folder / "sudo"
    path.touch(mode=0o600)
    path.write_text(made.cluster.node("spark-1").sudo_password)  # type: ignore[attr-defined]
    return path
