"""A node of its own for every test; whatever the agent started there is ended afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.agent.support import Node
from unit.agent import spark_tree


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    found = Node(tmp_path)
    spark_tree.build(found.root)
    yield found
    found.end()
