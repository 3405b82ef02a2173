"""What a server does for callers, and what it keeps for persons."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from assent.server.state import SLICE, ServerState


def test_of_many_callers_at_once_the_first_are_served_at_once_and_then_everybody_has_a_turn(tmp_path: Path) -> None:
    async def play() -> list[bool]:
        server = ServerState({"HOME": str(tmp_path), "ASSENT_HOME": str(tmp_path / "state")}, port=1, socket="none")
        found = [server.has_time(), server.has_time()]
        time.sleep(SLICE)
        found.append(server.has_time())
        await asyncio.sleep(0)
        found.append(server.has_time())
        await server.close()
        return found

    assert asyncio.run(play()) == [True, True, False, True]
