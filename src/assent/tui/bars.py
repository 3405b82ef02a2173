"""The lines at the edges: what waits and whether the line stands, the offer, the keys. Answers nothing by itself."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

from assent.contract.approval import Scope
from assent.contract.words import DENY, MESSAGE, STOP, of_scope
from assent.tui import words
from assent.tui.questions import ModeOffer

KeyRow = tuple[tuple[str, str, str, str], ...]  # key, the words for it, the action of the screen, a colour

ALLOWING = (
    (of_scope(Scope.ONCE).key, of_scope(Scope.ONCE).short, "say('allow')", "-yes"),
    *(
        (of_scope(each).key, of_scope(each).short, f"edit('{each.value}')", "-yes")
        for each in Scope
        if each is not Scope.ONCE
    ),
)
DENYING = (
    (DENY.key, "deny", "say('deny')", "-no"),
    (MESSAGE[0], "say why", "message", "-no"),
    (STOP.key, "and stop", "say('stop')", "-no"),
)
MORE = (
    ("↵", "open", "open", ""),
    ("d", "receipt", "receipt", ""),
    ("?", "help", "help", ""),
    ("q", "quit", "quit_inbox", ""),
)
EXAMPLE = (("v", "show me what a question looks like", "example", ""),)


class StatusLine(Static):
    """The line to the server, the questions, the person."""

    def draw(self, *, waiting: int, sessions: int, who: str, state: str, note: str) -> None:
        what = words.plural(waiting, "question") if waiting else "nothing waits"
        where = f" in {words.plural(sessions, 'session')}" if sessions > 1 else ""
        mark, style = {"live": ("● live", "$success"), "wait": ("◌ connecting", "$warning")}.get(
            state, ("✗ no connection", "bold $error")
        )
        left = Content.assemble(
            (" assent ", "bold $primary"),
            (f" {what}{where}", "bold" if waiting else "$soft"),
            (f"  {words.prose(note)}" if note else "", "$warning"),
        )
        right = Content.assemble((f"{words.flat(who, 20)}  " if who else "", "$soft"), (f"{mark} ", style))
        room = self.size.width - left.cell_length - right.cell_length
        self.update(Content.assemble(left.truncate(max(left.cell_length + min(room, 0), 0)), " " * max(room, 0), right))


class Key(Static):
    """A key and what it does; a click does the same."""

    def __init__(self, key: str, meaning: str, action: str, style: str) -> None:
        super().__init__(Content.assemble((key, "bold"), " ", meaning), markup=False, classes=f"key {style}")
        self._action = action

    async def on_click(self) -> None:
        await self.screen.run_action(self._action)


class KeyBar(Horizontal):
    """A row of keys behind one word, and more at its end."""

    def __init__(self, word: str, keys: KeyRow, more: KeyRow = (), *, classes: str = "") -> None:
        super().__init__(classes=f"keys {classes}".strip())
        self._word, self._keys, self._more = word, keys, more

    def compose(self) -> ComposeResult:
        if self._word:
            yield Static(self._word, markup=False, classes="word")
        for each in self._keys:
            yield Key(*each)
        if self._more:
            yield Static("", markup=False, classes="gap")
        for each in self._more:
            yield Key(*each)


class OfferLine(Static):
    """An offer that is open."""

    def draw(self, offer: ModeOffer | None) -> None:
        self.display = offer is not None
        if offer is not None:
            self.update(Content.assemble(f" {words.prose(offer.words)}  ", ("o", "bold"), " another way?"))
