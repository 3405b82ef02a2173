"""A process that holds a question in a store and is killed in the middle of it: run by test_crash, never imported.

Arguments: the store, how far to go (`shown`, `answered`, `used`). Prints a line when it is there, then waits."""

from __future__ import annotations

import asyncio
import sys

from assent.approval.broker import Broker
from assent.approval.channels import Question
from assent.approval.channels.callback import CallbackChannel
from assent.approval.commands import Recheck, SecondLook
from assent.approval.store import SqliteStore
from assent.contract.approval import Held
from tests.broker.stage import YES, Desk, held


class Told(SqliteStore):
    """Says when the approval is used up, and goes no further."""

    async def use(self, id: str) -> bool:
        done = await super().use(id)
        print("used", flush=True)
        await asyncio.sleep(30)
        return done


class Shows(Desk):
    async def show(self, question: Question) -> None:
        await super().show(question)
        asyncio.get_running_loop().call_later(0.05, lambda: print("shown", flush=True))


async def main(path: str, until: str) -> None:
    async def recheck(held: Held) -> Recheck:
        if until == "answered":
            print("answered", flush=True)
            await asyncio.sleep(30)
        return Recheck(SecondLook.STANDS)

    broker = Broker(store=(Told if until == "used" else SqliteStore)(path), recheck=recheck)
    broker.attach(Shows() if until == "shown" else CallbackChannel(lambda held: YES))
    resolution = await broker.ask(held("crashed", timeout=25))
    print("allowed" if resolution.allowed else "denied", flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
