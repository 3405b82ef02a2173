"""The main screen: what waits, the question that is looked at, and every answer by key. Talks to no server."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container, Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from assent.contract.approval import Answer, Said, Scope
from assent.tui import render, widgets
from assent.tui.answering import ARMING, Answering
from assent.tui.dialogs import Help, Leaving, OfferDialog
from assent.tui.questions import InboxQuestion
from assent.tui.widgets import Detail, QuestionList

if TYPE_CHECKING:
    from assent.tui.app import InboxApp

STAY = 0.7  # seconds that an ended question stays in view before the next takes its place
NOTHING = render.lines(
    Content.styled("Nothing waits for you", "bold"),
    Content(""),
    Content.styled(
        "When an agent wants to do something that your rules leave open, it is shown here, and the terminal rings. "
        "Leave this open.",
        "$soft",
    ),
    Content(""),
    render.sentence("`v` shows what that looks like", "$soft"),
    render.sentence("`assent audit tail` shows what was decided without you", "$soft"),
)


class Inbox(Screen[None]):
    """List and question. `chosen` is the id of the question that is looked at, and that keys answer."""

    BINDINGS = [
        Binding("down,j", "move(1)"),
        Binding("up,k", "move(-1)"),
        Binding("pagedown,space", "page(1)"),
        Binding("pageup", "page(-1)"),
        Binding("home", "scroll_top"),
        *(Binding(key, action) for key, _, action, _ in (*widgets.ALLOWING, *widgets.DENYING)),
        Binding("enter", "open"),
        Binding("d", "receipt"),
        Binding("w", "whole"),
        Binding("o", "offer"),
        Binding("v", "example"),
        Binding("question_mark", "help"),
        Binding("f2", "app.light_or_dark"),
        Binding("q,ctrl+c,ctrl+q", "quit_inbox", priority=True),
    ]

    app: InboxApp

    def __init__(self) -> None:
        super().__init__()
        self.chosen = ""
        self._armed = 0.0

    def compose(self) -> ComposeResult:
        yield widgets.StatusLine("", markup=False, id="line")
        yield widgets.OfferLine("", markup=False, id="offer")
        with Container(id="frame"):
            yield QuestionList(id="list")
            yield Detail(id="detail")
            with Container(id="nothing"):
                yield Static(NOTHING, markup=False, id="nothing-told")
        with Vertical(id="foot"):
            yield widgets.KeyBar("allow", widgets.ALLOWING, classes="answer")
            yield widgets.KeyBar("deny", widgets.DENYING, widgets.MORE, classes="answer")
            yield widgets.KeyBar("", widgets.EXAMPLE, widgets.MORE[2:], classes="idle")

    def on_mount(self) -> None:
        self.query_one("#offer").display = False
        self.query_one(QuestionList).focus()
        self.set_interval(0.5, self.tick)
        self.draw()

    def on_resize(self) -> None:
        self.call_after_refresh(self.draw)

    # What is shown

    @property
    def _there(self) -> bool:
        """Whether there is something to draw on: not before the screen is made, and not while it is taken down."""
        return bool(self.query("#line")) and bool(self.query("#list")) and bool(self.query(".idle"))

    def draw(self) -> None:
        """Everything anew, from what is known."""
        if not self._there:
            return
        known, now = self.app.questions, self.app.now
        groups = known.groups()
        self._follow([each for group in groups for each in group], now)
        found = self.query_one(QuestionList)
        found.tall = self.has_class("-wide")
        found.draw(groups, self.chosen, now)
        question = known.get(self.chosen)
        self.query_one(Detail).draw(question)
        found.display = bool(groups)
        self.query_one("#nothing").display = not groups
        self.query_one("#foot").set_class(not groups, "-idle")
        for each in self.query(".idle"):
            each.display = not groups
        self.query_one("#offer", widgets.OfferLine).draw(known.offers[-1] if known.offers else None)
        self._draw_line()

    def _draw_line(self) -> None:
        waiting = self.app.questions.waiting()
        self.query_one("#line", widgets.StatusLine).draw(
            waiting=len(waiting),
            sessions=len({each.group for each in waiting}),
            who=self.app.client.who,
            state=self.app.state,
            note=self.app.note,
        )

    def tick(self) -> None:
        """Clocks; what ended makes room."""
        if not self._there:
            return
        if self.app.questions.sweep(self.app.now) or self._is_done():
            self.draw()
        self.query_one(QuestionList).tick(self.app.now)
        self._draw_line()

    def _is_done(self) -> bool:
        question = self.app.questions.get(self.chosen)
        return question is not None and question.over is not None and bool(self.app.questions.waiting())

    def _follow(self, questions: list[InboxQuestion], now: float) -> None:
        """Stay with what is looked at. Only what has ended makes room for the next, and that is not armed at once."""
        current = self.app.questions.get(self.chosen)
        if current is not None and (current.over is None or now - current.over.at < STAY):
            return
        following = next((each for each in questions if each.over is None), None)
        if following is not None:
            self._choose(following.id)
        elif current is None:
            self._choose(questions[0].id if questions else "")

    def _choose(self, id: str) -> None:
        if id != self.chosen:
            self.chosen = id
            self.arm()

    def arm(self) -> None:
        """A question that has just come under the finger is not answered by it."""
        self._armed = time.monotonic() + ARMING

    def on_screen_resume(self) -> None:
        self.arm()

    # Looking around

    def action_move(self, by: int) -> None:
        questions = self.app.questions.in_order()
        at = next((at for at, each in enumerate(questions) if each.id == self.chosen), -1)
        if questions:
            self.chosen = questions[max(0, min(at + by, len(questions) - 1))].id
            self.draw()

    def on_question_list_chosen(self, event: QuestionList.Chosen) -> None:
        self._choose(event.question)
        self.draw()

    def action_page(self, by: int) -> None:
        detail = self.query_one(Detail)
        (detail.scroll_page_down if by > 0 else detail.scroll_page_up)(animate=False)

    def action_scroll_top(self) -> None:
        self.query_one(Detail).scroll_home(animate=False)

    def action_receipt(self) -> None:
        question = self.app.questions.get(self.chosen)
        if question is not None:
            self.query_one(Detail).toggle_receipt(question)

    @work(exclusive=True, group="whole")
    async def action_whole(self) -> None:
        """All of a long question, once it has come."""
        question = self.app.questions.get(self.chosen)
        if question is None or question.whole or question.over is not None:
            return
        wrong = await self.app.open_whole(question)
        if wrong:
            self.app.tell(wrong, bad=True)
        else:
            self.query_one(Detail).open_whole(question)

    def action_help(self) -> None:
        self.app.push_screen(Help())

    # Answering

    def _answerable(self) -> InboxQuestion | None:
        question = self.app.questions.get(self.chosen)
        if question is None or time.monotonic() < self._armed:
            return None
        if question.over is not None:
            self.app.tell("this one has ended; choose another", bad=True)
            return None
        return question

    @work
    async def action_say(self, said: str) -> None:
        question = self._answerable()
        if question is not None and question.id not in self.app.sending:
            wrong = await self.app.say(question, Answer(Said(said)))
            if wrong:
                self.app.tell(wrong, bad=True)

    def action_edit(self, scope: str) -> None:
        self._open("rule", Scope(scope))

    def action_message(self) -> None:
        self._open("message")

    def action_open(self) -> None:
        self._open("menu")

    def _open(self, step: str, scope: Scope = Scope.ONCE) -> None:
        question = self._answerable()
        if question is not None:
            self.app.answering = question
            dialog = Answering(question, self.app.say, self.app.reach, step=step, scope=scope)
            self.app.push_screen(dialog, lambda how: self.app.closed(question, how or "away"))

    def action_example(self) -> None:
        if not self.app.questions.in_order():
            self.app.show_example()

    @work
    async def action_offer(self) -> None:
        if not self.app.questions.offers:
            return
        offer = self.app.questions.offers[-1]
        chosen = await self.app.push_screen_wait(OfferDialog(offer))
        if chosen is not None:
            await self.app.take_offer(offer, *chosen)

    @work
    async def action_quit_inbox(self) -> None:
        """Quit. If nobody else sees what waits, that is said first."""
        waiting = len(self.app.questions.waiting())
        if waiting and await self.app.is_alone() and not await self.app.push_screen_wait(Leaving(waiting)):
            return
        self.app.exit()
