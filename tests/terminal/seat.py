"""A person before the terminal inbox, driven by Textual's Pilot against a real server. Tests nothing."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager

import pytest

try:
    import textual  # noqa: F401
except ImportError:
    assert os.environ.get("CI") != "true", "CI must have textual: pip install 'assent[inbox]'"
    pytest.skip("textual is not installed; pip install 'assent[inbox]'", allow_module_level=True)

from textual.pilot import Pilot

from assent.contract.approval import Reach
from assent.server.listening import running
from assent.tui.answering import ARMING, Answering
from assent.tui.app import InboxApp
from assent.tui.client import Client
from assent.tui.questions import InboxQuestion
from tests.server.program import Answer, Program

PATIENCE = 60.0  # seconds, for a machine that has much else to do
ARMED = ARMING + 0.8  # seconds after which a question that came up in a terminal can be answered
EDGES = re.compile(r"[\s│▌]+")


class Seat:
    """The inbox, its keys and its screen."""

    def __init__(self, app: InboxApp, pilot: Pilot[None], program: Program) -> None:
        self.app = app
        self.pilot = pilot
        self.program = program

    async def until(self, what: Callable[[], object], said: str = "") -> None:
        end = time.monotonic() + PATIENCE
        while not what():
            if time.monotonic() > end:
                raise AssertionError(f"{said or 'it did not happen'}:\n{self.screen()}")
            await self.pilot.pause(0.03)

    def screen(self) -> str:
        """What can be read on the screen."""
        compositor = self.app.screen._compositor
        rows = ["".join(segment.text for segment in strip) for strip in compositor.render_strips()]
        return "\n".join(row.rstrip() for row in rows)

    def notes(self) -> str:
        """The notes that were shown."""
        return "\n".join(each.message for each in self.app._notifications)

    def flowing(self) -> str:
        """The same as one text, without what frames it."""
        return EDGES.sub(" ", self.screen())

    async def sees(self, *texts: str) -> str:
        """The screen, once it shows all of these, which may go over several lines."""
        await self.until(lambda: all(each in self.flowing() for each in texts), f"{texts} not seen")
        return self.screen()

    async def told(self, text: str) -> str:
        await self.until(lambda: text in self.notes(), f"`{text}` was not told, but `{self.notes()}`")
        return self.notes()

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def type(self, text: str) -> None:
        await self.pilot.press(*(each if each.isalnum() else NAMES[each] for each in text))

    async def call(self, command: str, **more: object) -> Future[Answer]:
        """An agent asks; returns once the question is chosen and can be answered."""
        before = len(self.app.questions.waiting())
        asked = self.program.calling(command, **more)
        await self.until(lambda: len(self.app.questions.waiting()) > before, f"`{command}` did not come")
        await self.armed()
        return asked

    async def armed(self) -> None:
        await self.pilot.pause(ARMING + 0.15)

    def may_save(self) -> bool:
        found = self.reach()
        return found is not None and not found.refusal

    async def chosen(self, command: str) -> None:
        """Wait until a question is selected, and can be answered."""
        await self.until(lambda: self.app.inbox.chosen == self.question(command).id, f"`{command}` is not chosen")
        await self.armed()

    def question(self, command: str) -> InboxQuestion:
        return next(each for each in self.app.questions.in_order() if each.held.call.input["command"] == command)

    def reach(self) -> Reach | None:
        """How far the rules in the open dialog reach, once that is shown."""
        return self.app.screen._shown_reach if isinstance(self.app.screen, Answering) else None


NAMES = {" ": "space", "(": "left_parenthesis", ")": "right_parenthesis", ":": "colon", "*": "asterisk", "-": "minus"}


@asynccontextmanager
async def seated(program: Program, size: tuple[int, int] = (80, 24), *, sign_in: bool = True) -> AsyncIterator[Seat]:
    """A person before the inbox, signed in."""
    app = InboxApp(Client(lambda: running(str(program.state))), bell=False)
    async with app.run_test(size=size, notifications=True) as pilot:
        seat = Seat(app, pilot, program)
        if sign_in:
            await signs_in(seat)
        yield seat
    app.end_now()


async def signs_in(seat: Seat) -> None:
    await seat.sees("one-time code")
    code = await asyncio.to_thread(seat.program.code)
    await seat.type(code)
    await seat.press("enter")
    await seat.until(lambda: seat.app.state == "live", "not signed in")


async def verdict(asked: Future[Answer]) -> tuple[bool, str, bool]:
    """What came of a call: whether it may run, what the agent is told, whether it should stop."""
    answer = await asyncio.to_thread(asked.result, 30)
    found = answer.json
    assert answer.status == 200, found
    return found["allowed"], found["message"], found["stop"]
