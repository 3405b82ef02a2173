"""How a place elsewhere stands, and who hears of it: the server's terminal, the trail. Asks nobody anything."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from assent.contract import AssentError, Record, display
from assent.engine.journal import new_id
from assent.server.access import Bucket

if TYPE_CHECKING:
    from assent.server.state import ServerState

LAST = 4.0  # seconds for a place to be told that everything has ended
TOLD, TOLD_EVERY = 8, 10.0  # refusals that are told at once, then one in so many seconds
UP = "up"


class Standing:
    """How one place stands, and who hears of it."""

    def __init__(self, house: ServerState, name: str) -> None:
        self._house = house
        self._name = name
        self._problems: dict[str, str] = {}
        self._bucket = Bucket(time.monotonic, TOLD, TOLD_EVERY)

    @property
    def problem(self) -> str:
        """What is wrong, on one line; `""` where nothing is."""
        return display.one_line(next((each for each in self._problems.values() if each), ""), 300)

    def told(self, part: str, words: str, fine: str) -> None:
        """A part of a place has a problem, or `""`. Said once, when it changes."""
        before, self._problems[part] = self._problems.get(part), words
        if before != words and (words or before is not None or fine):
            self._house.voice.say(f"{self._name}: {display.one_line(words or fine or 'works again', 300)}")

    def refused(self, words: str) -> None:
        """Somebody was not heard. It is said and recorded, but not without end: anybody can knock."""
        if self._bucket.take() > 0:
            return
        house, shown = self._house, display.one_line(words, 300)
        house.voice.say(f"{self._name}: refused: {shown}")
        record = Record("event", new_id(), house.clock(), channel=self._name, reason=f"refused: {shown}")
        asyncio.get_running_loop().run_in_executor(None, _record, house, record)


def _record(house: ServerState, record: Record) -> None:
    try:
        house.gate.memory.record(record)
    except AssentError as error:
        house.voice.say(f"a refusal was not recorded: {error}")
