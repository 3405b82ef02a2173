"""The channels of programs: a function that is asked, and a headless one, which denies at once."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable
from functools import partial

from assent.approval.accounts import words
from assent.approval.channels import Question
from assent.approval.patience import contained, in_thread
from assent.contract.approval import Answer, Held, Resolution

LOG = logging.getLogger("assent.channels")
Said = Answer | Awaitable[Answer | None] | None
Asked = Callable[[Held], Said]
NOBODY = "this session runs without a person who could answer"


class CallbackChannel:
    """Asks a function of the program. None dismisses the question, and an exception ends it: denied.

    A coroutine function runs in the loop and is cancelled when the question ends in another channel. A plain one runs
    in a thread, since it may wait for somebody; a late result is ignored."""

    def __init__(self, asked: Asked, *, name: str = "callback") -> None:
        self.name = name
        self._asked = asked
        self._quick = inspect.iscoroutinefunction(asked)
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def show(self, question: Question) -> None:
        await self.withdraw(question.held.id)
        task = self._tasks[question.held.id] = asyncio.create_task(self._ask(question))
        task.add_done_callback(lambda done: self._drop(question.held.id, done))

    async def withdraw(self, id: str, resolution: Resolution | None = None) -> None:
        if (task := self._tasks.pop(id, None)) is not None:
            task.cancel()

    async def _ask(self, question: Question) -> None:
        try:
            answer = await self._call(question.held)
        except Exception as error:
            LOG.warning("the function that was asked failed: %s", words(error), exc_info=error)
            question.fail(f"the function that was asked failed: {words(error)}")
            return
        except BaseException:
            question.dismiss()
            raise
        if answer is None:
            question.dismiss()
        else:
            # This outlives the task, which is cancelled as soon as the answer has counted.
            await asyncio.shield(asyncio.ensure_future(question.answer(answer)))

    async def _call(self, held: Held) -> Answer | None:
        found = self._asked(held) if self._quick else await in_thread(partial(self._asked, held), "assent question")
        return await contained(found) if isinstance(found, Awaitable) else found

    def _drop(self, id: str, task: asyncio.Task[None]) -> None:
        if self._tasks.get(id) is task:
            del self._tasks[id]
        if not task.cancelled():
            task.exception()  # the question was dismissed with it


class HeadlessChannel:
    """For batch runs and CI. The agent gets the denial at once, instead of after a timeout."""

    name = "headless"

    async def show(self, question: Question) -> None:
        question.nobody(NOBODY)

    async def queued(self, question: Question, position: int) -> None:
        question.nobody(NOBODY)

    async def withdraw(self, id: str, resolution: Resolution) -> None:
        pass
