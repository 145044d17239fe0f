"""Long runs are left out unless they are asked for: `pytest -m soak tests/e2e`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fixtures.quick import quicken


@pytest.fixture(scope="session", autouse=True)
def quick() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        quicken(patch)
        yield


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.option.markexpr:
        return
    long = [item for item in items if item.get_closest_marker("soak") is not None]
    if long:
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if item not in long]
