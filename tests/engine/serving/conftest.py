"""Every test here runs twice: on plain asyncio with the own parser, and on uvloop with httptools."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping

import pytest

from engine.serving.kit import Yard


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    factories: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {"asyncio-pure": asyncio.new_event_loop}
    try:
        import httptools  # noqa: F401
        import uvloop
    except ImportError:
        return factories
    return {**factories, "uvloop-httptools": uvloop.new_event_loop}


@pytest.fixture
async def yard() -> AsyncIterator[Yard]:
    yard = Yard(pure=type(asyncio.get_running_loop()).__module__.startswith("asyncio"))
    yield yard
    await yard.stop()
