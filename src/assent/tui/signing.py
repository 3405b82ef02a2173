"""Signing in: the person types the one-time code. Keeps no code."""

from __future__ import annotations

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, Static

from assent.contract import AccessError, StoreError
from assent.tui import paint
from assent.tui.client import Client

LOOK = 1.0  # seconds between looks for a server


class SignIn(Screen[bool]):
    """Ends with True once the person is signed in."""

    BINDINGS = [
        Binding("escape,ctrl+c,ctrl+q", "leave", "quit", priority=True),
    ]

    def __init__(self, client: Client, note: str = "") -> None:
        super().__init__()
        self._client = client
        self._note = note
        self._there = False

    def compose(self) -> ComposeResult:
        with Vertical(id="sign-in"):
            yield Static("Assent inbox", markup=False, id="sign-in-title")
            yield Static("", markup=False, id="sign-in-where")
            yield Input(placeholder="XXXX-XXXX", max_length=32, id="sign-in-code", select_on_focus=False)
            yield Static("", markup=False, id="sign-in-told")
            yield Static(
                Content.assemble(("↵", "bold"), " sign in   ", ("Esc", "bold"), " quit"),
                markup=False,
                classes="hint",
            )

    def on_mount(self) -> None:
        self._draw(there=False)
        self._tell(self._note, "$warning")
        self.query_one(Input).focus()
        self._look()
        self.set_interval(LOOK, self._look)

    def action_leave(self) -> None:
        self.dismiss(False)

    @work(exclusive=True, group="look")
    async def _look(self) -> None:
        """See whether a server is there. Asking who is signed in makes it show a code if it has shown none."""
        try:
            await self._client.ask("GET", "/healthz" if self._there else "/v1/session", patience=3)
            there = True
        except (AccessError, StoreError):
            there = False
        if there != self._there:
            self._draw(there=there)

    def _draw(self, *, there: bool) -> None:
        self._there = there
        where = (
            "Type the one-time code that the server shows in its terminal: press Enter there for a new one. For a "
            "server in the background run `assent sign-in` in another terminal."
            if there
            else "No server runs. Start one with `assent serve` in another terminal; this page will notice."
        )
        self.query_one("#sign-in-where", Static).update(paint.sentence(where, "$soft"))
        self.query_one(Input).disabled = not there
        if there:
            self.query_one(Input).focus()

    async def on_input_submitted(self, event: Input.Submitted) -> None:
        code, event.input.value = event.value.strip(), ""
        if not code:
            return
        self._tell("signing in…", "$soft")
        try:
            await self._client.sign_in(code)
        except (AccessError, StoreError) as error:
            self._tell(str(error), "$text-error")
            return
        self.dismiss(True)

    def _tell(self, words: str, style: str) -> None:
        self.query_one("#sign-in-told", Static).update(paint.sentence(words, style))
