"""The fork server of the ranks is started before the first test, so that no test is blamed for it."""

from __future__ import annotations

from collections.abc import Iterator
from multiprocessing import forkserver, resource_tracker

import pytest

from engine.collectives import ranks


@pytest.fixture(scope="session", autouse=True)
def fork_server() -> Iterator[None]:
    ranks.CONTEXT.Process  # noqa: B018 - the context has been told what to import
    resource_tracker.ensure_running()
    forkserver.ensure_running()
    yield
    forkserver._forkserver._stop()  # type: ignore[attr-defined]
