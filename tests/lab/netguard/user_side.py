"""What a daemon of the agent does, as an unprivileged user inside the namespace: `user_side.py AGENT WORDS…` as JSON.

Each run is a new process, as after a restart of the daemon. Prints one JSON object a line: the result, or the error.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

sys.path.insert(0, sys.argv[1])

from stellwerk import wire
from stellwerk.model.errors import StellwerkError
from stellwerk.model.plan import NodePlan
from stellwerk_agent.netguard.client import GuardClient, read_netplan
from stellwerk_agent.options import Options
from stellwerk_agent.sudo import Sudo


async def act(sudo: Sudo, client: GuardClient, word: str, told: Any) -> Any:
    if word == "state":
        return await sudo.state()
    if word == "unlock":
        return await sudo.unlock(told)
    if word == "read-netplan":
        return await read_netplan(sudo)
    if word == "start":
        plan = wire.from_wire(NodePlan, told["plan"])
        return await client.start(plan, told["plan_id"], lease_s=told.get("lease_s", 90.0))
    if word == "undo":
        return await client.undo(told)
    if word == "confirm":
        return await client.confirm(told)
    if word == "revert":
        return await client.revert(told, "asked")
    return await client.status()


async def main() -> None:
    options = Options()
    sudo = Sudo(options)
    client = GuardClient(options, sudo)
    for word, told in json.loads(sys.argv[2]):
        try:
            answer = {"result": wire.to_wire(await act(sudo, client, word, told))}
        except StellwerkError as error:
            answer = {"error": error.code, "what": error.what, "why": error.why, "text": str(error)}
        sys.stdout.write(json.dumps(answer) + "\n")


asyncio.run(main())
