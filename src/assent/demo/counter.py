"""The gate of the demo: a server like that of `assent serve`, in this process, over a scratch folder.

Decides nothing. Beside the page, questions come up in this terminal, or are answered by the demo."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable

from assent.approval.channels import Channel
from assent.approval.escalation import Offer
from assent.demo.look import DIM, Look
from assent.demo.workspace import Place
from assent.server import peers
from assent.server.listening import Listening
from assent.server.log import ServerLog
from assent.server.state import ServerState

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
AGAIN = 0.5  # seconds between two signals to end
OFFERED = 90.0  # seconds that the agent waits while an offer is open


class Quiet(ServerLog):
    """What the server says, in the manner of the demo."""

    def __init__(self, look: Look, codes: bool) -> None:
        super().__init__()
        self._look = look
        self._codes = codes

    def say(self, words: str) -> None:
        if self._codes:
            self._look.say(f"server: {words}", DIM)

    def show(self, text: str) -> None:
        if self._codes:
            self._look.say(text.strip("\n").strip())


class Counter:
    """The running server. Made inside the event loop."""

    def __init__(self, place: Place, port: int, look: Look, *, seated: bool) -> None:
        peers.close_to_debuggers()  # it keeps codes and sessions, and starts what the agent wants to run
        self._listening = Listening(place.state, port=port)
        self.house = ServerState(
            os.environ, port=self._listening.port, socket=self._listening.path, folder=place.project
        )
        self.house.log = Quiet(look, seated)
        self._serving: asyncio.Task[None] | None = None

    @property
    def socket(self) -> str:
        return self._listening.path

    def attach(self, make: Callable[[ServerState], Channel]) -> None:
        self.house.gate.broker.attach(make(self.house))

    def when_offer_ends(self, told: Callable[[], None]) -> None:
        """Tell somebody of every offer that was taken up or turned down, beside the pages."""
        offers = self.house.gate.broker.offers
        before = offers.closed

        def closed(offer: Offer) -> None:
            if before is not None:
                before(offer)
            told()

        offers.closed = closed

    def start(self, ended: Callable[[], object]) -> None:
        """Serve in the background; `ended` is told when it was made to end, as by Ctrl-C."""
        from assent.server import app

        loop = asyncio.get_running_loop()
        for number in SIGNALS:  # until the server takes them over, and for the one that it leaves alone
            loop.add_signal_handler(number, ended)
        self._serving = asyncio.create_task(app.serve(self.house, self._listening))
        self._serving.add_done_callback(lambda _: ended())

    async def offers_answered(self) -> None:
        """Wait while an offer is open: a person reads it, and the agent would go over it with its next question."""
        end = asyncio.get_running_loop().time() + OFFERED
        while self.house.gate.broker.offers.open() and asyncio.get_running_loop().time() < end:
            await asyncio.sleep(0.1)

    async def stop(self) -> None:
        if self._serving is None:
            return
        while not self._serving.done():
            os.kill(os.getpid(), signal.SIGTERM)  # the way in which a server is always ended, once it listens to that
            await asyncio.wait({self._serving}, timeout=AGAIN)
        self._listening.close()
        for number in SIGNALS:
            asyncio.get_running_loop().remove_signal_handler(number)
