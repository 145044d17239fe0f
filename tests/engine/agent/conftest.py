"""A node of its own for every test; whatever the agent started there is ended afterwards."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engine.agent.support import Node
from unit.agent import spark_tree


@pytest.fixture
async def node(tmp_path: Path) -> AsyncIterator[Node]:
    found = Node(tmp_path)
    spark_tree.build(found.root)
    yield found
    for desktop in found.desktops:
        await desktop.drop()
    found.end()
