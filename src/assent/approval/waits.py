"""One caller that waits for one question, and the words it gets when there is none to wait for. Asks nobody."""

from __future__ import annotations

import asyncio

from assent.approval.commands import Absent, Command, Late, Mismatch, Refusal, Release, Unknown
from assent.contract.approval import Held, Resolution


class Wait:
    """One caller that waits for one question."""

    __slots__ = ("held", "released", "ended", "concluded", "start", "note", "gone")

    def __init__(self, held: Held) -> None:
        loop = asyncio.get_running_loop()
        self.held = held
        self.released: asyncio.Future[Release] = loop.create_future()  # approved: look at it once more
        self.ended: asyncio.Future[Resolution] = loop.create_future()  # by the machine
        self.concluded: asyncio.Future[Resolution] = loop.create_future()  # recorded: what the caller gets
        self.start: asyncio.Task[None] | None = None  # keeps and records that the clock started
        self.note = ""  # what went wrong beside, for the person
        self.gone = False  # the caller was cancelled


async def nothing(wait: Wait) -> None:
    """A lost question is in the store and in the machine already."""


def refusal(commands: list[Command]) -> Refusal | None:
    last = commands[-1] if commands else None
    return last if isinstance(last, Late | Unknown | Mismatch | Absent) else None


def unattached(refused: Refusal | None) -> str:
    match refused:
        case Late():
            return f"the question has ended ({refused.ending.value})"
        case Mismatch():
            return "the digest is not that of the question"
        case _:
            return "no such question is known any more"
