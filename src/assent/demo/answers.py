"""Answers of the demo where nobody is there: yes, no, or what its script says. Shows each question as a person sees it.

For the demo's own scratch gate only."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from assent.approval.channels import Offering, Question, screen
from assent.contract.approval import Answer, Held, Resolution, Said
from assent.demo.look import DIM, Look

WHO = "demo"
PLAN = "plan"
SETTLED = 0.3  # seconds after which the end of a call has been told


class Answers:
    """A channel without a person. `script` says what the script answers."""

    name = "demo"
    serial = True

    def __init__(self, how: str, look: Look, script: Callable[[Held], bool]) -> None:
        self._how = how
        self._look = look
        self._script = script
        self._tasks: set[asyncio.Task[object]] = set()

    async def show(self, question: Question) -> None:
        print(screen.question(question.held, self._look.screen), end="")
        yes = self._says_yes(question.held)
        self._look.say(f"> the demo answers {'y' if yes else 'n'}: --answer {self._how}", DIM)
        answer = Answer(Said.ALLOW if yes else Said.DENY, who=WHO, channel=self.name)
        self._start(asyncio.ensure_future(question.answer(answer)))

    def _says_yes(self, held: Held) -> bool:
        return self._script(held) if self._how == "script" else self._how == "yes"

    async def withdraw(self, id: str, resolution: Resolution) -> None:
        return

    async def offer(self, offering: Offering) -> None:
        """Three denials in a row: the script takes plan mode, the others turn it down."""
        await asyncio.sleep(SETTLED)
        print(screen.offer(offering.offer, self._look.screen).rstrip("> \n"))
        takes = self._how == "script" and PLAN in offering.offer.modes
        self._look.say(f"> the demo answers {'p' if takes else 'n'}: --answer {self._how}", DIM)
        words = await offering.accept(mode=PLAN, who=WHO) if takes else offering.reject(who=WHO)
        self._look.say(words)

    def _start(self, task: asyncio.Future[object]) -> None:
        assert isinstance(task, asyncio.Task)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
