"""The gate server of the demo, in this process: like that of `assent serve`, with its state in the scratch folder.

Questions are shown on the page and in this terminal, or answered by the demo itself."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable

from assent.approval.channels import Offering, Question, screen
from assent.approval.channels.terminal import TerminalChannel
from assent.approval.escalation import Offer
from assent.contract.approval import Answer, Held, Resolution, Said
from assent.demo.output import DIM, DemoOutput
from assent.demo.script import ScratchFolder
from assent.server import peers
from assent.server.listening import Listening
from assent.server.log import ServerLog
from assent.server.state import ServerState

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
AGAIN = 0.5  # seconds between two signals to end
OFFER_TIMEOUT = 90.0  # seconds that the agent waits while an offer is open
PRINTED = 0.5  # seconds after which the end of a call has been printed
WHO = "demo"
PLAN = "plan"


class DemoServer:
    """The running server. Must be created inside the event loop. `attended`: a person sits at the terminal."""

    def __init__(self, scratch: ScratchFolder, port: int, output: DemoOutput, *, attended: bool) -> None:
        peers.close_to_debuggers()  # it keeps codes and sessions, and starts what the agent wants to run
        self._listening = Listening(scratch.state, port=port)
        self.socket = self._listening.path
        self.state = ServerState(os.environ, port=self._listening.port, socket=self.socket, folder=scratch.project)
        self.state.log = DemoLog(output, attended)
        self._task: asyncio.Task[None] | None = None

    def start(self, ended: Callable[[], object]) -> None:
        """Serve in the background; `ended` is called when the server ends, as after Ctrl-C."""
        from assent.server import app

        for number in SIGNALS:  # until the server handles them, and for the one that it leaves alone
            asyncio.get_running_loop().add_signal_handler(number, ended)
        self._task = asyncio.create_task(app.serve(self.state, self._listening))
        self._task.add_done_callback(lambda _: ended())

    async def offers_answered(self) -> None:
        """Wait while an offer is open: the agent's next question would replace it while a person reads it."""
        loop = asyncio.get_running_loop()
        end = loop.time() + OFFER_TIMEOUT
        while self.state.gate.broker.offers.open() and loop.time() < end:
            await asyncio.sleep(0.1)

    async def stop(self) -> None:
        if self._task is None:
            return
        while not self._task.done():
            os.kill(os.getpid(), signal.SIGTERM)  # as every server is ended; repeated until it handles the signal
            await asyncio.wait({self._task}, timeout=AGAIN)
        self._listening.close()
        for number in SIGNALS:
            asyncio.get_running_loop().remove_signal_handler(number)


class DemoLog(ServerLog):
    """Prints what the server says among the demo's output; nothing if nobody is there."""

    def __init__(self, output: DemoOutput, attended: bool) -> None:
        super().__init__()
        self._output, self._attended = output, attended

    def say(self, words: str) -> None:
        if self._attended:
            self._output.say(f"server: {words}", DIM)

    def show(self, text: str) -> None:
        if self._attended:
            self._output.say(text.strip())


class DemoTerminal(TerminalChannel):
    """This terminal. An offer is shown after the end of the call before it is printed, if it is still open."""

    def __init__(self, state: ServerState) -> None:
        super().__init__(who=state.gate.memory.who, reach=state.gate.reach)
        self._offers = state.gate.broker.offers
        self._closed, self._offers.closed = self._offers.closed, self._offer_closed

    async def offer(self, offering: Offering) -> None:
        await asyncio.sleep(PRINTED)
        if offering.offer in self._offers.open():
            await super().offer(offering)

    def _offer_closed(self, offer: Offer) -> None:
        """An offer was answered, here or on the page."""
        if self._closed is not None:
            self._closed(offer)
        if self._offered is not None:
            self._offered.end("\n  answered on the page\n")


class DemoAnswers:
    """A channel without a person, which prints each question as a person sees it. Answers yes, no, or what `script`
    says. For the scratch gate of the demo only."""

    name = "demo"
    serial = True

    def __init__(self, how: str, output: DemoOutput, script: Callable[[Held], bool]) -> None:
        self._how, self._output, self._script = how, output, script
        self._tasks: set[asyncio.Future[object]] = set()

    async def show(self, question: Question) -> None:
        print(screen.question(question.held, self._output), end="")
        yes = self._script(question.held) if self._how == "script" else self._how == "yes"
        self._output.say(f"> the demo answers {'y' if yes else 'n'}: --answer {self._how}", DIM)
        answer = Answer(Said.ALLOW if yes else Said.DENY, who=WHO, channel=self.name)
        task: asyncio.Future[object] = asyncio.ensure_future(question.answer(answer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def withdraw(self, id: str, resolution: Resolution) -> None:
        return

    async def offer(self, offering: Offering) -> None:
        """After three denials in a row the script takes plan mode; `yes` and `no` reject the offer."""
        await asyncio.sleep(PRINTED)
        print(screen.offer(offering.offer, self._output).rstrip("> \n"))
        accepts = self._how == "script" and PLAN in offering.offer.modes
        self._output.say(f"> the demo answers {'p' if accepts else 'n'}: --answer {self._how}", DIM)
        self._output.say(await offering.accept(mode=PLAN, who=WHO) if accepts else offering.reject(who=WHO))
