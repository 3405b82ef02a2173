"""The answer dialog of one question: all answers, the rule of a wider answer, the message of a denial.

INVARIANT: a question is being answered while this dialog is open for it. Dismissing it denies that question alone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import ContentSwitcher, OptionList, Static, TextArea
from textual.widgets.option_list import Option

from assent.contract import AccessError, StoreError
from assent.contract.approval import Answer, Reach, Said, Scope
from assent.contract.words import DENY, MESSAGE, STOP, of_scope, sentence
from assent.tui import render
from assent.tui.questions import Choice, InboxQuestion

TYPING = 0.2  # seconds without typing before the server is asked for the reach
LONGEST_MESSAGE = 4000
SHORT = 130  # characters of a suggestion in the list
ARMING = 0.35  # seconds in which a new dialog ignores keys: they were meant for what was there before
MENU: tuple[tuple[str, str, Answer | Scope | None], ...] = (
    (of_scope(Scope.ONCE).key, of_scope(Scope.ONCE).offer, Answer(Said.ALLOW)),
    *((of_scope(each).key, f"{of_scope(each).offer}…", each) for each in Scope if each is not Scope.ONCE),
    (DENY.key, DENY.offer, Answer(Said.DENY)),
    (MESSAGE[0], f"{MESSAGE[1]}…", None),
    (STOP.key, STOP.offer, Answer(Said.STOP)),
)
HINTS = {
    "menu": (("↵", "choose"), ("L", "leave it waiting"), ("Esc", "dismiss: denies it")),
    "rule": (("↵", "save"), ("1-9", "choose"), ("Tab", "edit"), ("Esc", "back"), ("Ctrl-C", "denies it")),
    "message": (("↵", "deny and send"), ("Esc", "back"), ("Ctrl-C", "denies it")),
    "over": (("↵", "close"),),
}

SendAnswer = Callable[[InboxQuestion, Answer], Awaitable[str]]  # returns what went wrong; "" if it counted
ReachOf = Callable[[InboxQuestion, tuple[str, ...], Scope], Awaitable[Reach]]


class Text(TextArea):
    """A text of a few lines; Enter ends it."""

    class InputEnded(Message):
        """The person pressed Enter."""

    async def _on_key(self, event: events.Key) -> None:
        if event.key not in ("enter", "shift+enter", "ctrl+j"):
            await super()._on_key(event)
            return
        event.prevent_default().stop()
        if event.key == "enter":
            self.post_message(self.InputEnded())
        else:
            self.insert("\n")


class Answering(ModalScreen[str]):
    """Returns `answered`, `dismissed` (it is to be denied), `later` or `over` (it ended elsewhere)."""

    BINDINGS = [
        Binding("escape", "back", priority=True),
        Binding("ctrl+c,ctrl+q", "close", priority=True),
    ]

    def __init__(
        self, question: InboxQuestion, send: SendAnswer, reach: ReachOf, *, step: str, scope: Scope = Scope.ONCE
    ) -> None:
        super().__init__()
        self.question, self.step, self.scope = question, step, scope
        self._send_answer, self._reach = send, reach
        self._shown_reach: Reach | None = None  # of the rules that are in the field now
        self._busy = False
        self._armed = time.monotonic() + ARMING

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog", id="answering"):
            yield Static("", markup=False, id="answering-head")
            with ContentSwitcher(initial="step-menu", id="answering-step"):
                with Vertical(id="step-menu"):
                    yield OptionList(*self._menu(), id="menu", compact=True, markup=False)
                with Vertical(id="step-rule"):
                    yield Static("", markup=False, id="rule-title")
                    yield OptionList(
                        *(_option(*each) for each in enumerate(self.question.choices[:9], 1)),
                        id="choices",
                        compact=True,
                        markup=False,
                    )
                    yield Static("", markup=False, id="rule-label")
                    yield Text("", id="rule", compact=True, soft_wrap=True, highlight_cursor_line=False)
                    yield Static("", markup=False, id="reach")
                with Vertical(id="step-message"):
                    yield Static("Deny, and tell the agent:", markup=False, classes="title")
                    yield Text(
                        "",
                        id="message",
                        compact=True,
                        soft_wrap=True,
                        highlight_cursor_line=False,
                        placeholder="use the staging database instead",
                    )
                with VerticalScroll(id="step-over", can_focus=True):
                    yield Static("", markup=False, id="over-text")
            yield Static("", markup=False, id="answering-text")
            yield Static("", markup=False, classes="hint", id="answering-hint")

    def _menu(self) -> list[Option]:
        styles = {"y": "$success", "n": "$error", "t": "$error", "x": "$error"}
        return [
            Option(Content.assemble((f" {key} ", f"bold {styles.get(key, '$primary')}"), f" {meaning}"), id=key)
            for key, meaning, _ in MENU
        ]

    def on_mount(self) -> None:
        self.query_one("#menu", OptionList).highlighted = None
        self.tick()
        self.go(self.step)
        self.set_interval(0.5, self.tick)

    # Steps

    def go(self, step: str) -> None:
        self.step = step
        self.query_one(ContentSwitcher).current = f"step-{step}"
        if step != "over":
            self.tell("")
        hint = [part for key, meaning in HINTS[step] for part in ((key, "bold"), f" {meaning}   ")]
        self.query_one("#answering-hint", Static).update(Content.assemble(*hint))
        if step == "rule":
            self._open_rule()
        else:
            self.query_one("#step-over" if step == "over" else f"#{step}").focus()

    def _open_rule(self) -> None:
        self.query_one("#rule-title", Static).update(
            Content.styled(f"{sentence(of_scope(self.scope).offer)}: which calls?", "bold")
        )
        editable = any(each.rules for each in self.question.choices)
        self.query_one("#rule").display = self.query_one("#rule-label").display = editable
        choices = self.query_one("#choices", OptionList)
        choices.highlighted = None
        choices.highlighted = 0
        choices.focus()
        self._fill_in(0)

    def tick(self) -> None:
        """Update the clock, and show the end of a question that has ended."""
        if self.question.over is not None and self.step != "over" and not self._busy:
            self.query_one("#over-text", Static).update(render.over(self.question))
            self.go("over")
        held = self.question.held
        left = self.question.left(time.monotonic())
        clock = "" if left is None else f"{render.clock(left)} left"
        self.query_one("#answering-head", Static).update(
            Content.assemble(
                (f"{render.runtime(held.call.runtime)} {render.title(held)}", "bold $primary"),
                (f"  {clock}", "bold $error" if left is not None and left < 20 else "$soft"),
                "\n",
                render.marked(render.headline(held, 300), "bold"),
            )
        )

    def tell(self, text: str) -> None:
        problem = self.query_one("#answering-text", Static)
        problem.display = bool(text)
        problem.update(render.sentence(text, "$text-error"))
        if text:
            self.call_after_refresh(problem.scroll_visible, animate=False)

    # Keys

    def on_key(self, event: events.Key) -> None:
        key = event.character or event.key
        at = int(key) - 1 if key.isdigit() else -1
        if self.step == "menu" and time.monotonic() >= self._armed and key in ("l", "L"):
            self.dismiss("later")
        elif self.step == "menu" and time.monotonic() >= self._armed and any(key == each for each, _, _ in MENU):
            self._choose(key)
        elif (
            self.step == "rule" and self.focused is not self.query_one("#rule") and 0 <= at < len(self.question.choices)
        ):
            self.query_one("#choices", OptionList).highlighted = at
        elif self.step == "over" and key in ("enter", "\r"):
            self.dismiss("over")
        else:
            return
        event.stop()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        if event.option_list.id == "menu":
            if time.monotonic() >= self._armed:
                self._choose(event.option.id or "")
        else:
            self._save()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_list.id == "choices" and self.step == "rule":
            self._fill_in(event.option_index)

    def _choose(self, key: str) -> None:
        chosen = next((each for name, _, each in MENU if name == key), None)
        if isinstance(chosen, Answer):
            self._send(chosen)
        elif isinstance(chosen, Scope):
            self.scope = chosen
            self.go("rule")
        else:
            self.go("message")

    def action_back(self) -> None:
        if self.step in ("rule", "message"):
            self.go("menu")
        else:
            self.action_close()

    def action_close(self) -> None:
        self.dismiss("over" if self.step == "over" or self.question.over is not None else "dismissed")

    # The rule

    def _fill_in(self, at: int) -> None:
        """Put a suggestion into the field."""
        field = self.query_one("#rule", Text)
        field.text = "\n".join(self.question.choices[at].shown)
        field.move_cursor(field.document.end if len(self.question.choices[at].rules) == 1 else (0, 0))
        self._show_reach()

    def rules(self) -> tuple[str, ...]:
        """The rules in the field: a suggestion that was not edited is returned as the server sent it."""
        text = self.query_one("#rule", Text).text
        typed = tuple(line.strip() for line in text.split("\n") if line.strip())
        return next((each.rules for each in self.question.choices if "\n".join(each.shown) == text), typed)

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        if event.text_area.id == "rule" and self.step == "rule":
            self._show_reach()

    @work(exclusive=True, group="reach")
    async def _show_reach(self) -> None:
        """Ask the server what the rules would have matched; replaces an earlier request."""
        self._shown_reach = None
        shown, label = self.query_one("#reach", Static), self.query_one("#rule-label", Static)
        shown.update(Content.styled("checking which past calls this matches…", "$soft"))
        await asyncio.sleep(TYPING)
        if not self.is_attached:  # the dialog has been closed
            return
        rules = self.rules()
        label.update(f"the {len(rules)} rules to remember, one per line" if len(rules) > 1 else "the rule to remember")
        try:
            self._shown_reach = await self._reach(self.question, rules, self.scope)
            shown.update(render.reach(self._shown_reach, len(rules)))
            self.tell("")
        except (AccessError, StoreError) as error:
            shown.update(render.sentence(f"what it matches is not known, so it is not saved: {error}", "$text-error"))

    def _save(self) -> None:
        if self._shown_reach is None:
            self.tell("one moment: what the rule matches is shown before it is saved")
        elif self._shown_reach.refusal:
            self.tell("this rule cannot be saved; choose or write another, or press Esc and `y` to allow it once")
        else:
            self._send(Answer(Said.ALLOW, scope=self.scope, rules=self.rules()))

    def on_text_input_ended(self, event: Text.InputEnded) -> None:
        if self.step == "rule":
            self._save()
        elif self.step == "message":
            self._send_message(self.query_one("#message", Text).text.strip())

    def _send_message(self, message: str) -> None:
        if len(message) > LONGEST_MESSAGE:
            self.tell(
                f"a message has at most {LONGEST_MESSAGE:,} characters, this one has {len(message):,}; shorten it"
            )
        else:
            self._send(Answer(Said.DENY, message=message))

    @work(group="say")
    async def _send(self, answer: Answer) -> None:
        if self._busy or self.question.over is not None:
            return
        self._busy = True
        try:
            wrong = await self._send_answer(self.question, answer)
        finally:
            self._busy = False
        if self.is_current and not wrong:
            self.dismiss("answered")
        elif self.is_current:
            self.tick()
            self.tell(wrong)


def _option(number: int, choice: Choice) -> Option:
    """A suggestion, shortened: the field shows it in full."""
    shown = render.flat(" ; ".join(choice.shown), SHORT) or "this exact call"
    parts: list[str | Content | tuple[str, str]] = [(f" {number} ", "bold $primary"), " ", render.marked(shown, "bold")]
    if choice.rules:
        parts += ["\n    ", (render.flat(choice.width, SHORT), "$soft")]
    return Option(Content.assemble(*parts))
