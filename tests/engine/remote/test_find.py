"""Finding machines over real mDNS on the loopback interface."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator

import pytest
from zeroconf import IPVersion
from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

from stellwerk.model.errors import StellwerkError
from stellwerk.remote.find import SERVICE, Finder, Interface

LOOPBACK = Interface("lo", 1, ("127.0.0.1/8",))


@pytest.fixture
async def announcer() -> AsyncIterator[AsyncZeroconf]:
    announcer = AsyncZeroconf(interfaces=["127.0.0.1"], ip_version=IPVersion.V4Only)
    yield announcer
    await announcer.async_close()


async def until(finder: Finder, names: list[str]) -> None:
    async with asyncio.timeout(20):
        while [machine.name for machine in finder.machines] != names:
            finder.changed.clear()
            await finder.changed.wait()


async def test_a_machine_appears_and_disappears_by_itself(announcer: AsyncZeroconf) -> None:
    info = AsyncServiceInfo(
        SERVICE, f"spark-lab.{SERVICE}", port=2222, server="spark-lab.local.", addresses=[socket.inet_aton("127.0.0.1")]
    )
    async with Finder.open([LOOPBACK]) as finder:
        await announcer.async_register_service(info)
        await until(finder, ["spark-lab"])
        [machine] = finder.machines
        assert (machine.host, machine.port, machine.hostname) == ("127.0.0.1", 2222, "spark-lab.local")
        await (await announcer.async_unregister_service(info))
        await until(finder, [])
    assert [task for task in asyncio.all_tasks() if "_ask" in repr(task)] == []


async def test_without_a_network_the_message_says_what_to_do_instead() -> None:
    with pytest.raises(StellwerkError, match="Type the machines"):
        async with Finder.open([Interface("docker0", 1, ("172.17.0.1/16",))]):
            pass
