"""The demo as a play: opens the gate, lets the agent work, tells what becomes of each call, and sums up at the end.

Decides nothing: every call goes through the guarded tools to the gate."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable
from contextlib import suppress

from assent.api.gates import Gate
from assent.approval.channels import Offering
from assent.approval.channels.terminal import TerminalChannel, turn
from assent.approval.escalation import Offer
from assent.contract.approval import Ending, Held
from assent.contract.display import one_line, visible
from assent.contract.words import TELLING
from assent.demo import ending, model
from assent.demo.answers import Answers
from assent.demo.counter import Counter
from assent.demo.look import BOLD, DIM, Look
from assent.demo.script import STEPS, Do
from assent.demo.workspace import Place
from assent.tools import Result, Toolset

PAUSE = 0.9  # seconds between calls, for whoever watches
SETTLED = 0.5  # seconds after which the end of a call has been told
PUT_AWAY = 1.5  # seconds to press Ctrl-C a second time
INTERRUPTED = 130


class Seat(TerminalChannel):
    """This terminal. An offer comes up once it was told what became of the call before it, if it is open by then."""

    offers: Callable[[], tuple[Offer, ...]] = tuple

    async def offer(self, offering: Offering) -> None:
        await asyncio.sleep(SETTLED)
        if offering.offer in self.offers():
            await super().offer(offering)

    def offer_over(self) -> None:
        """An offer was answered, here or on the page."""
        if self._offered is not None:
            self._offered.end("\n  answered on the page\n")


class Play:
    """One showing. `answer` is how questions are answered without a person; `""` where there is one."""

    def __init__(self, place: Place, look: Look, options: argparse.Namespace, answer: str) -> None:
        self._place = place
        self._look = look
        self._options = options
        self._answer = answer
        self._done: list[ending.Done] = []
        self._now: Do | None = None  # what the script does at the moment

    async def run(self) -> int:
        talks = model.talk(self._options) if self._options.model else None  # a wrong option is told before anything
        counter = Counter(self._place, self._options.port, self._look, seated=not self._answer)
        task = asyncio.current_task()
        assert task is not None
        over = False

        def ended() -> None:
            if not over:
                task.cancel()

        terminal = self._seat(counter)
        self._open(counter)
        counter.start(ended)
        status = 0
        try:
            if terminal is None:
                await self._work(counter, talks)
            else:
                async with turn():
                    await self._work(counter, talks)
        except asyncio.CancelledError:
            self._look.say("\nended", DIM)
            status = INTERRUPTED
        finally:
            over = True
            if terminal is not None:
                with suppress(asyncio.CancelledError):
                    await terminal.close()
            await counter.stop()
        if not status:
            status = ending.show(self._look, self._place, self._done)
        return status

    def _seat(self, counter: Counter) -> Seat | None:
        """Where questions are answered, beside the page."""
        if self._answer:
            counter.attach(lambda _: Answers(self._answer, self._look, self._script_says))
            return None
        terminal = Seat(who=counter.house.gate.memory.who, reach=counter.house.gate.reach)
        counter.attach(lambda _: terminal)
        terminal.offers = counter.house.gate.broker.offers.open
        counter.when_offer_ends(terminal.offer_over)
        return terminal

    def _script_says(self, held: Held) -> bool:
        """What `--answer script` says. Of a model's calls nobody has seen it lets files of the project be changed, and
        nothing run."""
        if self._options.model:
            changed = str(held.call.input.get("file_path", ""))
            return held.call.tool in ("edit", "write") and changed.startswith(f"{self._place.project}/")
        return self._now is not None and self._now.yes

    def _open(self, counter: Counter) -> None:
        look = self._look
        look.title("assent demo", strong=True)
        look.say(
            "An agent works on a small project in a scratch folder. Its tools are real, and each of its calls passes "
            "the gate before it runs. Nothing of yours is touched."
        )
        print()
        look.say(f"project  {self._place.project}", DIM)
        look.say(f"page     {counter.house.address}", DIM)
        if self._answer:
            look.say(f"answers  by itself (--answer {self._answer})", DIM)
        else:
            look.say(f"code     {counter.house.access.codes.fresh()}  (to sign in on the page)", DIM)
            print()
            look.say(
                "Answer here with single keys, or on the page: whoever is first counts. Ctrl-C ends the demo.", BOLD
            )

    # The agent

    async def _work(self, counter: Counter, talks: model.Talk | None) -> None:
        gate = Gate.connect(self._place.project, socket=counter.socket)
        session = gate.session("demo", cwd=self._place.project)
        tools = Toolset(session, self._place.project, hidden=model.KEYS)
        try:
            if talks is None:
                await self._scripted(tools, counter)
            else:
                await self._modelled(tools, counter, talks)
        finally:
            tools.close()
            gate.close()

    async def _scripted(self, tools: Toolset, counter: Counter) -> None:
        for number, step in enumerate(STEPS, 1):
            await self._pause()
            self._look.title(f"{number} of {len(STEPS)}  {step.title}")
            self._look.say(step.about)
            for each in step.calls:
                await self._pause()
                self._now = each
                done = await self._call(tools, each.tool, each.given, each.said)
                await asyncio.sleep(0.1)  # an offer comes right after the denial that led to it
                await counter.offers_answered()
                if done.verdict is not None and done.verdict.stop:
                    self._look.say("\nYou told the agent to stop, so it stops.")
                    return

    async def _modelled(self, tools: Toolset, counter: Counter, talks: model.Talk) -> None:
        self._look.title(f"{one_line(self._options.model, 60)} works")
        self._look.say(one_line(talks.task, 400), DIM)
        async for part in talks.turns(tools.schemas()):
            if part.text:
                self._look.say()
                self._look.say(visible(part.text))
            for each in part.calls:
                done = await self._call(tools, each.name, each.given, str(each.given.get("description", "")))
                await asyncio.sleep(0.1)
                await counter.offers_answered()
                talks.tell(each, done.text, done.error)
                if done.verdict is not None and done.verdict.stop:
                    self._look.say("\nYou told the agent to stop, so it stops.")
                    return

    async def _call(self, tools: Toolset, name: str, given: dict[str, object], said: str) -> Result:
        shown = summary(given)
        self._look.call(one_line(name, 40), shown)
        done = await tools.call(name, given, description=said)
        outcome, words = ending.told(done)
        self._look.mark(outcome, words)
        self._look.result(done.text)
        self._done.append(ending.Done(one_line(name, 40), one_line(shown, 200), done))
        end = done.verdict.resolution if done.verdict is not None else None
        if end is not None and end.ending is Ending.DISMISSED:
            self._look.say("you put the question away; Ctrl-C again ends the demo", DIM)
            await asyncio.sleep(PUT_AWAY)
        return done

    async def _pause(self) -> None:
        if not self._answer and sys.stdout.isatty():
            await asyncio.sleep(PAUSE)


def summary(given: dict[str, object]) -> str:
    """The argument that says most of a call."""
    named = next((given[key] for key in TELLING if isinstance(given.get(key), str)), "")
    where = given.get("path") if "pattern" in given else None
    return f"{named}  in {where}" if where and named != where else str(named)
