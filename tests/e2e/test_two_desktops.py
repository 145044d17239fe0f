"""Two desktops on one cluster, and a cluster file that somebody spoilt: said clearly, and nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from e2e.support import QUICK, journey, stellwerk
from stellwerk.cli.main import cli
from stellwerk.model.errors import Busy
from stellwerk.remote import Target, UserIdentity
from stellwerk.setup.session import ClusterSession
from stellwerk.setup.store import ClusterStore


async def test_one_desktop_at_a_time_changes_a_machine(tmp_path: Path) -> None:
    async with journey(tmp_path / "one") as made:
        first = made.session
        with made.folder.lock():
            # A second window on the same cluster, on this computer.
            ran = await stellwerk(tmp_path / "one", "apply", "--yes")
            assert ran.code == 2
            assert "already open in another window" in ran.text
            assert "it is held by process" in ran.text
            assert "Traceback" not in ran.text
        # Another computer that knows the same machines.
        folder, _ = ClusterStore(tmp_path / "two").create("other")
        async with ClusterSession.open(folder, identity=UserIdentity(), deadlines=QUICK) as second:
            for node in made.cluster.nodes:
                second.add(Target(node.host, node.port, node.user, node.name), node.name)
            assert set((await second.pair(made.person)).values()) == {None}
            await first.hold()
            with pytest.raises(Busy) as caught:
                await second.hold()
            assert caught.value.node in ("spark-1", "spark-2")
            assert "is held by" in caught.value.what
            assert made.folder.path.name in caught.value.what, "it says which cluster's desktop that is"
            assert "take the node over" in caught.value.remedy
            with pytest.raises(Busy, match="is held by"):
                await second.unpair("spark-2")
            assert second.ready == ("spark-1", "spark-2"), "who is refused loses no connection"
            with pytest.raises(Busy):
                await second.links["spark-1"].call("mesh.key", {})
            assert len(await second.facts()) == 2, "looking is allowed to everybody"
            # The lock outlives a lost connection: the desktop takes it again before anybody can use the link.
            link = first.links["spark-1"]
            await made.drop("spark-1")
            await link.call("mesh.remove", {})
            await second.links["spark-1"].ready(30)
            with pytest.raises(Busy):
                await second.links["spark-1"].call("mesh.key", {})
            await second.hold(force=True)
            with pytest.raises(Busy, match="is held by"):
                await link.call("mesh.key", {})
            await second.let_go()
            await first.hold()
            assert (await second.unpair("spark-2", take_over=True)).left == ()
        await first.close()
        # Closed is let go at once; nobody waits for a lock that no one has.
        ran = await stellwerk(tmp_path / "two", "mesh", "off")
        assert ran.code == 0, ran.text


SPOILT = {
    "no YAML": (b"version: 1\nname: [unclosed\nnodes: []\n", "is not readable YAML"),
    "a wrong type": (
        b"version: 1\nid: test\nname: test\nmtu: lots\nnodes: []\n",
        "line 4: `mtu` must be a whole number",
    ),
    "no cluster": (b"- 1\n- 2\n", "does not hold a cluster"),
    "from the future": (b"version: 99\nname: test\nnodes: []\n", "Update Stellwerk"),
    "bytes": (bytes(range(128, 256)), "is not readable YAML"),
    "a node without host": (b"version: 1\nname: test\nnodes:\n  - name: a\n", "`host` must be text"),
}


@pytest.mark.parametrize("kind", SPOILT)
def test_a_spoilt_cluster_file_is_named_with_its_line_and_left_alone(tmp_path: Path, kind: str) -> None:
    folder, _ = ClusterStore(tmp_path).create("test")
    text, words = SPOILT[kind]
    folder.cluster_file.write_bytes(text)
    ran = CliRunner().invoke(cli, ["facts"], env={"STELLWERK_HOME": str(tmp_path), "COLUMNS": "250"})
    said = " ".join(ran.output.split())
    assert ran.exit_code == 2
    assert isinstance(ran.exception, SystemExit), "an error for people, not a traceback"
    assert words in said
    assert str(folder.cluster_file) in said
    assert folder.cluster_file.read_bytes() == text
    assert [p.name for p in folder.path.iterdir()] == ["cluster.yaml"]
