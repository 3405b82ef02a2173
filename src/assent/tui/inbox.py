"""The main screen: the list of questions, the chosen one, and a key for each answer. Sends nothing itself."""

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
from assent.tui.copies import CopiesDialog
from assent.tui.dialogs import Help, Leaving, OfferDialog
from assent.tui.questions import InboxQuestion
from assent.tui.widgets import Detail, QuestionList

if TYPE_CHECKING:
    from assent.tui.app import InboxApp

STAY = 0.7  # seconds that an ended question stays chosen before the next one is
NOTHING = render.lines(
    Content.styled("Nothing waits for you", "bold"),
    Content(""),
    Content.styled(
        "When an agent wants to do something that your rules do not settle, the question is shown here, and the "
        "terminal rings. Leave this open.",
        "$soft",
    ),
    Content(""),
    render.sentence("`v` shows an example question", "$soft"),
    render.sentence("`assent audit tail` shows what was decided without you", "$soft"),
)


class Inbox(Screen[None]):
    """`chosen` is the id of the question that is shown, and that keys answer."""

    BINDINGS = [
        Binding("down,j", "move(1)"),
        Binding("up,k", "move(-1)"),
        Binding("pagedown,space", "page(1)"),
        Binding("pageup", "page(-1)"),
        Binding("home", "page(0)"),
        *(Binding(key, action) for key, _, action, _ in (*widgets.ALLOWING, *widgets.DENYING)),
        Binding("enter", "open_dialog"),
        Binding("d", "receipt"),
        Binding("w", "whole"),
        Binding("o", "offer"),
        Binding("u", "undo"),
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
                yield Static(NOTHING, markup=False, id="nothing-text")
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
    def _has_widgets(self) -> bool:
        """False before the screen is composed, and while it is removed."""
        return bool(self.query("#line")) and bool(self.query("#list")) and bool(self.query(".idle"))

    def draw(self) -> None:
        if not self._has_widgets:
            return
        known, now = self.app.questions, time.monotonic()
        groups = known.groups()
        self._follow([each for group in groups for each in group], now)
        found = self.query_one(QuestionList)
        found.tall = self.has_class("-wide")
        found.draw(groups, self.chosen, now)
        self.query_one(Detail).draw(known.get(self.chosen))
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
        """Update the clocks; drop what has ended."""
        if not self._has_widgets:
            return
        chosen = self.app.questions.get(self.chosen)
        is_done = chosen is not None and chosen.over is not None and bool(self.app.questions.waiting())
        if self.app.questions.sweep(time.monotonic()) or is_done:
            self.draw()
        self.query_one(QuestionList).tick(time.monotonic())
        self._draw_line()

    def _follow(self, questions: list[InboxQuestion], now: float) -> None:
        """Keep the chosen question until it has ended; then choose the next one, which ignores keys at first."""
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
        """Ignore keys for a moment: they were meant for the question that was chosen before."""
        self._armed = time.monotonic() + ARMING

    def on_screen_resume(self) -> None:
        self.arm()

    # Reading

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
        """Scroll the question a page down (1) or up (-1), or to its beginning (0)."""
        detail = self.query_one(Detail)
        {1: detail.scroll_page_down, -1: detail.scroll_page_up, 0: detail.scroll_home}[by](animate=False)

    def action_receipt(self) -> None:
        question = self.app.questions.get(self.chosen)
        if question is not None:
            self.query_one(Detail).toggle_receipt(question)

    @work(exclusive=True, group="whole")
    async def action_whole(self) -> None:
        """Load and show all of a long question."""
        question = self.app.questions.get(self.chosen)
        if question is None or question.whole or question.over is not None:
            return
        wrong = await self.app.open_whole(question)
        if wrong:
            self.app.tell(wrong, bad=True)
        else:
            self.query_one(Detail).open_whole(question)

    def action_undo(self) -> None:
        self.app.push_screen(CopiesDialog())

    def action_help(self) -> None:
        self.app.push_screen(Help())

    # Answering

    def _answerable(self) -> InboxQuestion | None:
        question = self.app.questions.get(self.chosen)
        if question is None or time.monotonic() < self._armed:
            return None
        if question.over is not None:
            self.app.tell("this question has ended; choose another", bad=True)
            return None
        return question

    @work
    async def action_say(self, said: str) -> None:
        question = self._answerable()
        if question is not None and question.id not in self.app.sending:
            wrong = await self.app.say(question, Answer(Said(said)))
            if wrong:
                self.app.tell(wrong, bad=True)

    def action_open_dialog(self, step: str = "menu", scope: str = Scope.ONCE.value) -> None:
        question = self._answerable()
        if question is not None:
            self.app.answering = question
            dialog = Answering(question, self.app.say, self.app.reach, step=step, scope=Scope(scope))
            self.app.push_screen(dialog, lambda how: self.app.closed(question, how or "dismissed"))

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
        """Quit; ask first, if nobody else sees what waits."""
        waiting = len(self.app.questions.waiting())
        if waiting and await self.app.is_alone() and not await self.app.push_screen_wait(Leaving(waiting)):
            return
        self.app.exit()
