"""The answer dialog of one question: every answer, the rule that goes with a wider one, the message of a denial.

INVARIANT: a question is being answered while this is open for it. Put away, it is denied; nothing else is."""

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

SETTLED = 0.2  # seconds without typing before the server is asked for the reach
LONGEST_MESSAGE = 4000
SHORT = 130  # characters of a suggestion in the list
ARMING = 0.35  # a dialog that has just come under the finger is not answered by it
MENU: tuple[tuple[str, str, Answer | Scope | None], ...] = (
    (of_scope(Scope.ONCE).key, of_scope(Scope.ONCE).offer, Answer(Said.ALLOW)),
    *((of_scope(each).key, f"{of_scope(each).offer}…", each) for each in Scope if each is not Scope.ONCE),
    (DENY.key, DENY.offer, Answer(Said.DENY)),
    (MESSAGE[0], f"{MESSAGE[1]}…", None),
    (STOP.key, STOP.offer, Answer(Said.STOP)),
)
HINTS = {
    "menu": (("↵", "choose"), ("L", "leave it waiting"), ("Esc", "put away: denies it")),
    "rule": (("↵", "save"), ("1-9", "choose"), ("Tab", "edit"), ("Esc", "back"), ("Ctrl-C", "denies it")),
    "message": (("↵", "deny and send"), ("Esc", "back"), ("Ctrl-C", "denies it")),
    "over": (("↵", "close"),),
}

Say = Callable[[InboxQuestion, Answer], Awaitable[str]]  # what went wrong; "" where it counted
ReachOf = Callable[[InboxQuestion, tuple[str, ...], Scope], Awaitable[Reach]]


class Text(TextArea):
    """A text of a line or few; Enter ends it."""

    class InputEnded(Message):
        """The person pressed Enter."""

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            event.prevent_default().stop()
            self.post_message(self.InputEnded())
            return
        if event.key in ("shift+enter", "ctrl+j"):
            event.prevent_default().stop()
            self.insert("\n")
            return
        await super()._on_key(event)


class Answering(ModalScreen[str]):
    """Ends with `answered`, `away` (put away: it is to be denied), `later` or `over` (it ended elsewhere)."""

    BINDINGS = [
        Binding("escape", "back", priority=True),
        Binding("ctrl+c,ctrl+q", "put_away", priority=True),
    ]

    def __init__(
        self, question: InboxQuestion, say: Say, reach: ReachOf, *, step: str = "menu", scope: Scope = Scope.ONCE
    ) -> None:
        super().__init__()
        self.question = question
        self.step = step
        self.scope = scope
        self._say, self._reach = say, reach
        self._told: Reach | None = None  # of the rules that are in the field now
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
                    yield Static("", markup=False, id="over-told")
            yield Static("", markup=False, id="answering-told")
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
        """Show one step."""
        self.step = step
        self.query_one(ContentSwitcher).current = f"step-{step}"
        if step != "over":
            self.tell("")
        hint: list[str | tuple[str, str]] = []
        for key, meaning in HINTS[step]:
            hint += [(key, "bold"), f" {meaning}   "]
        self.query_one("#answering-hint", Static).update(Content.assemble(*hint))
        match step:
            case "menu":
                self.query_one("#menu").focus()
            case "rule":
                self._open_rule()
            case "message":
                self.query_one("#message").focus()
            case _:
                self.query_one("#step-over").focus()

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
        self._put(0)

    def tick(self) -> None:
        """The clock, and whether it ended meanwhile."""
        if self.question.over is not None and self.step != "over" and not self._busy:
            self.query_one("#over-told", Static).update(render.over(self.question))
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
        """What went wrong, in the dialog."""
        told = self.query_one("#answering-told", Static)
        told.display = bool(text)
        told.update(render.sentence(text, "$text-error"))
        if text:
            self.call_after_refresh(told.scroll_visible, animate=False)

    # Keys

    def on_key(self, event: events.Key) -> None:
        key = event.character or event.key
        if self.step == "menu" and (time.monotonic() >= self._armed):
            if key in ("l", "L"):
                event.stop()
                self.dismiss("later")
            elif any(key == each for each, _, _ in MENU):
                event.stop()
                self._choose(key)
        elif self.step == "rule" and self.focused is not self.query_one("#rule") and key.isdigit():
            at = int(key) - 1
            if 0 <= at < len(self.question.choices):
                event.stop()
                self.query_one("#choices", OptionList).highlighted = at
        elif self.step == "over" and key in ("enter", "\r"):
            event.stop()
            self.dismiss("over")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        if event.option_list.id == "menu":
            if time.monotonic() >= self._armed:
                self._choose(event.option.id or "")
        else:
            self._save()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_list.id == "choices" and self.step == "rule":
            self._put(event.option_index)

    def _choose(self, key: str) -> None:
        wanted = next((each for name, _, each in MENU if name == key), None)
        if isinstance(wanted, Answer):
            self._send(wanted)
        elif isinstance(wanted, Scope):
            self.scope = wanted
            self.go("rule")
        else:
            self.go("message")

    def action_back(self) -> None:
        if self.step in ("rule", "message"):
            self.go("menu")
        elif self.step == "over":
            self.dismiss("over")
        else:
            self.action_put_away()

    def action_put_away(self) -> None:
        self.dismiss("over" if self.question.over is not None else "away")

    # The rule

    def _put(self, at: int) -> None:
        """Put a suggestion into the field."""
        field = self.query_one("#rule", Text)
        field.text = "\n".join(self.question.choices[at].shown)
        field.move_cursor(field.document.end if len(self.question.choices[at].rules) == 1 else (0, 0))
        self._look()

    def rules(self) -> tuple[str, ...]:
        """A rule that was suggested goes back as it was suggested; what was typed, as it was typed."""
        text = self.query_one("#rule", Text).text
        for each in self.question.choices:
            if "\n".join(each.shown) == text:
                return each.rules
        return tuple(line.strip() for line in text.split("\n") if line.strip())

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        if event.text_area.id == "rule" and self.step == "rule":
            self._look()

    @work(exclusive=True, group="reach")
    async def _look(self) -> None:
        """Ask the server how far the rules reach. What was asked before is forgotten."""
        self._told = None
        shown, label = self.query_one("#reach", Static), self.query_one("#rule-label", Static)
        shown.update(Content.styled("looking how far that reaches…", "$soft"))
        await asyncio.sleep(SETTLED)
        if not self.is_attached:  # the dialog was left meanwhile
            return
        rules = self.rules()
        many = f"the {len(rules)} rules as they" if len(rules) > 1 else "the rule as it"
        label.update(f"{many} will be remembered, one in a line")
        try:
            self._told = await self._reach(self.question, rules, self.scope)
            shown.update(render.reach(self._told, len(rules)))
            self.tell("")
        except (AccessError, StoreError) as error:
            shown.update(render.sentence(f"its reach is not known, so it is not saved: {error}", "$text-error"))

    def _save(self) -> None:
        if self._told is None:
            self.tell("one moment: how far the rule reaches is shown before it is saved")
        elif self._told.refusal:
            self.tell("this rule is not saved; choose or write another, or Esc and `y` to allow it once")
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
                f"a message has at most {LONGEST_MESSAGE:,} characters, and this one {len(message):,}; shorten it"
            )
        else:
            self._send(Answer(Said.DENY, message=message))

    @work(group="say")
    async def _send(self, answer: Answer) -> None:
        if self._busy or self.question.over is not None:
            return
        self._busy = True
        try:
            wrong = await self._say(self.question, answer)
        finally:
            self._busy = False
        if not self.is_current:
            return
        if not wrong:
            self.dismiss("answered")
            return
        self.tick()
        self.tell(wrong)


def _option(number: int, choice: Choice) -> Option:
    """A suggestion, short: the field shows it whole."""
    shown = render.flat(" ; ".join(choice.shown), SHORT) or "this exact call"
    parts: list[str | Content | tuple[str, str]] = [(f" {number} ", "bold $primary"), " ", render.marked(shown, "bold")]
    if choice.rules:
        parts += ["\n    ", (render.flat(choice.width, SHORT), "$soft")]
    return Option(Content.assemble(*parts))
