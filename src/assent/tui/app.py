"""The inbox as a program: keeps the event stream open, sends answers to the server, and reports their results."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from textual import work
from textual.app import App
from textual.theme import Theme

from assent.contract import AccessError, AssentError, PayloadError, StoreError
from assent.contract.approval import Answer, Reach, Said, Scope
from assent.tui import render
from assent.tui.answering import Answering
from assent.tui.client import SIGNED_OUT, Client
from assent.tui.dialogs import SignIn
from assent.tui.inbox import Inbox
from assent.tui.questions import InboxQuestion, ModeOffer, Questions

ANSWER_TIMEOUT = 90.0  # seconds: the server re-evaluates an approved call before it replies
LONGEST = 400_000  # characters of a question that a terminal can show in full
MANY = 200  # number of questions from which drawing is delayed
RINGING = 2.0  # seconds between two rings
FIRST_WAIT, LONGEST_WAIT = 0.4, 5.0  # seconds between tries to connect
EXAMPLE: dict[str, Any] = {
    "tool": "bash",
    "input": {"command": "git push origin main"},
    "runtime": "example",
    "session": "example",
    "description": "An example: nothing runs, whatever you answer",
    "wait": 120,
}
SIGNED_OUT_NOTE = "you were signed out: the server was restarted, or the session ended after a day"


class InboxApp(App[None]):
    """`state` is `live`, `wait` or `off`. `sending` holds the ids of questions whose answer is being sent, `answering`
    is the question whose answer dialog is open."""

    CSS_PATH = "inbox.tcss"
    TITLE = "Assent inbox"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (32, "-high")]
    BINDINGS = []

    def __init__(self, client: Client, *, theme: str = "dark", bell: bool = True) -> None:
        super().__init__()
        self.client = client
        self.questions = Questions()
        self.state = "wait"
        self.note = ""
        self.sending: set[str] = set()
        self.answering: InboxQuestion | None = None
        self._bell, self._last_ring = bell, 0.0
        self._drawing = False
        for each in (DARK, LIGHT):
            self.register_theme(each)
        self.theme = f"assent-{theme}"

    def on_mount(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGHUP, signal.SIGTERM):
            with suppress(RuntimeError, ValueError):  # not the main thread
                loop.add_signal_handler(number, self._terminal_closed)
        self.inbox = Inbox()
        self.push_screen(self.inbox)
        self._stay_connected()

    def action_light_or_dark(self) -> None:
        self.theme = LIGHT.name if self.theme == DARK.name else DARK.name

    def tell(self, text: str, *, bad: bool = False) -> None:
        self.notify(
            render.prose(text), severity="error" if bad else "information", timeout=8 if bad else 4, markup=False
        )

    # The line to the server

    @work(exclusive=True, group="stream")
    async def _stay_connected(self) -> None:
        """Sign in and read events; connect again whenever the connection breaks."""
        note, wait = "", FIRST_WAIT
        while True:
            if not self.client.who:
                if not await self.push_screen_wait(SignIn(self.client, note)):
                    self.exit()
                    return
                wait = FIRST_WAIT
            try:
                self._set_state("wait", self.note)
                async for name, data in self.client.events():
                    wait = FIRST_WAIT
                    self._take_event(name, data)
                note = "the server ended the connection"
            except (AccessError, StoreError) as error:
                note = str(error)
                if isinstance(error, AccessError) and error.code == SIGNED_OUT:
                    self.client.who, note = "", SIGNED_OUT_NOTE
                    continue
            self._set_state("off", f"{note}; trying again")
            await asyncio.sleep(wait)
            wait = min(wait * 2, LONGEST_WAIT)

    def _take_event(self, name: str, data: dict[str, Any]) -> None:
        self._set_state("live", "")
        try:
            fresh = self.questions.take(name, data, time.monotonic())
        except PayloadError as error:
            self.tell(f"a question cannot be shown here: {error}; answer it on the page", bad=True)
            return
        if fresh is not None:
            self._ring()
        if name != "ping":
            self._draw_soon()

    def _ring(self) -> None:
        """Ring once for questions that come together."""
        if self._bell and time.monotonic() - self._last_ring > RINGING:
            self._last_ring = time.monotonic()
            self.bell()

    def _set_state(self, state: str, note: str) -> None:
        if (state, note) != (self.state, self.note):
            self.state, self.note = state, note
            self._draw_soon()

    def _draw_soon(self) -> None:
        """Draw once for many events."""
        if not self._drawing:
            self._drawing = True
            self.set_timer(0.03 if len(self.questions) < MANY else 0.3, self._draw)

    def _draw(self) -> None:
        self._drawing = False
        if self.screen_stack:  # otherwise the program is ending
            self.inbox.draw()
            if isinstance(self.screen, Answering):
                self.screen.tick()

    # What a person does

    async def say(self, question: InboxQuestion, answer: Answer) -> str:
        """Send an answer to the server. Returns what went wrong and what to do next, "" if it counted."""
        if answer.said is Said.ALLOW and not question.whole:
            return "not all of it is shown yet: leave with L, press w to see all of it, then allow it"
        body = {
            "digest": question.held.digest,
            "said": answer.said.value,
            "scope": answer.scope.value,
            "rules": list(answer.rules),
            "message": answer.message,
        }
        self.sending.add(question.id)
        question.mine = True
        try:
            reply = await self.client.ask("POST", f"/v1/held/{question.id}/answer", body, patience=ANSWER_TIMEOUT)
        except AssentError as error:
            question.mine = False
            self._draw_soon()
            return self._not_delivered(error)
        finally:
            self.sending.discard(question.id)
        if question.over is None:  # the event may come after the reply
            self.questions.take("ended", reply, time.monotonic())
            self._draw_soon()
        if reply.get("note"):
            self.tell(str(reply["note"]), bad=True)
        elif answer.said.value == "allow" and not reply.get("allowed"):
            self.tell(f"you allowed it, but it did not run: {reply.get('reason', '')}", bad=True)
        return ""

    async def open_whole(self, question: InboxQuestion) -> str:
        """Load the rest of a long question. Returns what went wrong."""
        if question.held.preview.length > LONGEST:
            return "it is too long for a terminal; read it and answer it on the page"
        text, start = question.text, question.sent if question.sent < question.held.preview.length else 0
        try:
            while start:
                piece = await self.client.ask("GET", f"/v1/held/{question.id}/preview?from={start}", patience=30.0)
                text, start = text + str(piece.get("text", "")), int(piece.get("next", 0))
        except AssentError as error:
            return f"the rest of it could not be loaded: {error}"
        question.text, question.opened = text, True
        return ""

    def _not_delivered(self, error: AssentError) -> str:
        if isinstance(error, AccessError):
            if error.code == SIGNED_OUT and self.client.who:
                self.client.who = ""
                self._stay_connected()
            step = render.next_step(error.code)
            return f"your answer did not count: {error}{'; ' + step if step else ''}"
        return (
            f"it is not known whether your answer arrived: {error}; once the connection is back, "
            "answer again if the question still waits"
        )

    async def reach(self, question: InboxQuestion, rules: tuple[str, ...], scope: Scope) -> Reach:
        """What rules would have matched. Raises AccessError or StoreError."""
        body = {"rules": list(rules), "scope": scope.value}
        data = await self.client.ask("POST", f"/v1/held/{question.id}/reach", body, patience=30.0)
        numbers = {name: int(data.get(name, 0)) for name in ("matched", "denied", "looked_at")}
        return Reach(**numbers, refusal=str(data.get("refusal", "")), covers=data.get("covers") is True)

    def closed(self, question: InboxQuestion, how: str) -> None:
        """The answer dialog closed. A question that was dismissed is denied, and no other."""
        self.answering = None
        if how == "dismissed":
            self._dismiss(question)

    @work(group="dismiss")
    async def _dismiss(self, question: InboxQuestion) -> None:
        body = {"digest": question.held.digest}
        try:
            await self.client.ask("POST", f"/v1/held/{question.id}/dismiss", body)
            self.tell("dismissed: the call is denied")
        except AccessError as error:
            self.tell(f"it was not dismissed: {error}", bad=True)
        except StoreError as error:
            self.tell(
                f"it is not known whether it was dismissed: {error}; it is denied when its time is over", bad=True
            )

    async def take_offer(self, offer: ModeOffer, mode: str, rule: str) -> None:
        """Accept an offer with a mode or a rule, or reject it with neither."""
        self.questions.drop_offer(offer.id)
        try:
            reply = await self.client.ask("POST", "/v1/offers", {"id": offer.id, "mode": mode, "rule": rule})
            self.tell(str(reply.get("words", "")))
        except AssentError as error:
            self.tell(f"nothing was changed: {error}", bad=True)
        self._draw_soon()

    @work(group="example")
    async def show_example(self) -> None:
        """Ask an example question as an agent would. Nothing runs, whatever is answered."""
        try:
            reply = await self.client.ask("POST", "/v1/calls", EXAMPLE, patience=EXAMPLE["wait"] + 10)
        except AssentError as error:
            self.tell(f"the example question failed: {error}", bad=True)
            return
        if not reply.get("waiting") and not reply.get("resolution"):
            self.tell(f"your policy {'allows' if reply.get('allowed') else 'denies'} this example without asking")

    # The end

    async def is_alone(self) -> bool:
        """Whether no other page or inbox is open; if unknown, assume so while connected."""
        try:
            status = await self.client.ask("GET", "/v1/status", patience=3.0)
            return int(status.get("streams", 1)) <= 1
        except AssentError:
            return self.state == "live"

    def end_now(self) -> None:
        """Before this process ends, for whatever reason: deny what was being answered, and nothing else."""
        question, self.answering = self.answering, None
        if question is not None and question.over is None:
            self.client.end_now(question.id, question.held.digest)
        self.client.end_now()

    def _terminal_closed(self) -> None:
        self.end_now()
        self.exit()
        if not os.isatty(0):
            os._exit(129)


DARK = Theme(
    name="assent-dark",
    dark=True,
    primary="#8fadff",
    secondary="#8fadff",
    accent="#7fc8d8",
    warning="#f2bb66",
    error="#ff8b82",
    success="#5fd09a",
    foreground="#e9e7e2",
    background="#131416",
    surface="#1b1d20",
    panel="#25282c",
    variables={
        "soft": "#a5a199",
        "line": "#3c4047",
        "chosen": "#2b3654",
        "block-cursor-background": "#2b3654",
        "block-cursor-foreground": "#e9e7e2",
        "block-cursor-text-style": "none",
    },
)
LIGHT = Theme(
    name="assent-light",
    dark=False,
    primary="#2c5bd4",
    secondary="#2c5bd4",
    accent="#0f6b7c",
    warning="#955800",
    error="#b3261e",
    success="#187447",
    foreground="#1f1e1b",
    background="#f5f4f0",
    surface="#fffefc",
    panel="#ebe8e0",
    variables={
        "soft": "#66625a",
        "line": "#cfcbc0",
        "chosen": "#d5dff8",
        "block-cursor-background": "#d5dff8",
        "block-cursor-foreground": "#1f1e1b",
        "block-cursor-text-style": "none",
    },
)


def background(environ: Mapping[str, str]) -> str:
    """`light` if the terminal says that its background is light, else `dark`."""
    return "light" if environ.get("COLORFGBG", "").rpartition(";")[2] in ("7", "15") else "dark"
