"""The play: what an agent, a person and a model do in each scene, whatever the entry. Tests nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tests.classifier.service import SAFE, UNSAFE
from tests.gate.entry import DENIED, SCRIPT, Entry, until

READS, BUILDS, RESPELLED, RUNS = "ls", "make it", "make  it  # again", f"sh {SCRIPT}"


@dataclass(frozen=True)
class Scene:
    """`play` gives whether each of its calls ran. The other fields are those of Scratch.configure and Entry."""

    name: str
    play: Callable[[Entry], Awaitable[list[bool]]]
    timeout: int = 60
    unseen: int = 60
    classifier: bool = False
    person: bool = True


async def allow(entry: Entry) -> list[bool]:
    return [await entry.call(READS)]


async def deny(entry: Entry) -> list[bool]:
    return [await entry.call(DENIED)]


async def ask_yes(entry: Entry) -> list[bool]:
    calling = await asked(entry, BUILDS)
    await entry.say(True)
    return [await calling]


async def ask_no(entry: Entry) -> list[bool]:
    calling = await asked(entry, BUILDS)
    await entry.say(False)
    return [await calling]


async def unanswered(entry: Entry) -> list[bool]:
    """A question that is shown and not answered, or that nobody is there to answer."""
    return [await entry.call(BUILDS)]


async def cancel(entry: Entry) -> list[bool]:
    calling = await asked(entry, BUILDS)
    await entry.cancel(calling)
    return [not calling.cancelled() and calling.result()]


async def changed(entry: Entry) -> list[bool]:
    """The script that a call runs changes while its question is open, and then it is allowed."""
    script = entry.scratch.project / SCRIPT
    script.write_text("make it\n")
    calling = await asked(entry, RUNS)
    script.write_text("make another\n")
    await entry.say(True)
    return [await calling]


async def overruled(entry: Entry) -> list[bool]:
    """The user's file denies a call while its question is open, and then it is allowed."""
    calling = await asked(entry, BUILDS)
    entry.scratch.configure("bash(make:*)")
    await entry.say(True)
    return [await calling]


async def grant(entry: Entry) -> list[bool]:
    """A call is allowed for the session, and made again."""
    calling = await asked(entry, BUILDS)
    await entry.say(True, session=True)
    first = await calling
    return [first, await answered(entry, asyncio.ensure_future(entry.call(BUILDS)), yes=True)]


async def safe(entry: Entry) -> list[bool]:
    entry.scratch.service.answers = SAFE
    return [await entry.call(BUILDS)]


async def unsafe(entry: Entry) -> list[bool]:
    """The model does not call it safe, the person says no, and the model would call it safe by then."""
    entry.scratch.service.answers = UNSAFE
    calling = await asked(entry, BUILDS)
    await entry.say(False)
    first = await calling
    entry.scratch.service.answers = SAFE
    return [first, await answered(entry, asyncio.ensure_future(entry.call(BUILDS)), yes=False)]


async def twin(entry: Entry) -> list[bool]:
    """While a call waits for a person it is made again in another spelling, which the model would call safe."""
    entry.scratch.service.answers = UNSAFE
    first = await asked(entry, BUILDS)
    entry.scratch.service.answers = SAFE
    second = asyncio.ensure_future(entry.call(RESPELLED))
    await until(lambda: len(entry.scratch.trail()) == 2, "the decision on the respelled call")
    await entry.say(False)
    return [await first, await answered(entry, second, yes=False)]


async def asked(entry: Entry, command: str) -> asyncio.Task[bool]:
    """A call whose question is shown."""
    calling = asyncio.ensure_future(entry.call(command))
    assert await is_shown(entry, calling), f"`{command}` was decided without a question"
    return calling


async def answered(entry: Entry, calling: asyncio.Task[bool], *, yes: bool) -> bool:
    """The result of a call, whose question gets this answer if it asks."""
    if await is_shown(entry, calling):
        await entry.say(yes)
    return await calling


async def is_shown(entry: Entry, calling: asyncio.Task[bool]) -> bool:
    """Wait for the question of a call, or for its end without one."""
    showing = asyncio.ensure_future(entry.shown())
    await asyncio.wait({showing, calling}, return_when=asyncio.FIRST_COMPLETED)
    if not showing.done():
        showing.cancel()
        return False
    showing.result()
    return True


SCENES = (
    Scene("allow", allow),
    Scene("deny", deny),
    Scene("ask-yes", ask_yes),
    Scene("ask-no", ask_no),
    Scene("timeout", unanswered, timeout=1),
    Scene("nobody", unanswered, unseen=1, person=False),
    Scene("cancel", cancel),
    Scene("changed", changed),
    Scene("overruled", overruled),
    Scene("grant", grant),
    Scene("safe", safe, classifier=True),
    Scene("unsafe", unsafe, classifier=True),
    Scene("twin", twin, classifier=True),
)
