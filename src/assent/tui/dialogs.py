"""Small dialogs that answer no question: an offer of another mode, leaving while something waits, the keys."""

from __future__ import annotations

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widgets import Input, Static

from assent.approval.escalation import MODE_WORDS, RULE_WORDS
from assent.contract import AccessError, StoreError
from assent.contract.approval import Scope
from assent.contract.words import DENY, MESSAGE, STOP, of_scope
from assent.tui import render
from assent.tui.client import Client
from assent.tui.questions import ModeOffer

MODES = {"plan": "p", "full_auto": "f"}


class OfferDialog(ModalScreen[tuple[str, str] | None]):
    """Returns a mode or a rule, neither if the offer is rejected, None if it stays open."""

    BINDINGS = [Binding("escape,ctrl+c", "dismiss(None)", priority=True)]

    def __init__(self, offer: ModeOffer) -> None:
        super().__init__()
        self._offer = offer
        self._modes = {MODES[mode]: mode for mode in offer.modes if mode in MODES}
        self._rules = {str(number): rule for number, rule in enumerate(offer.rules[:9], 1)}

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            session = f"{render.runtime(self._offer.runtime)} · {render.flat(self._offer.session, 30)}"
            yield Static(Content.styled(session, "$soft"), markup=False)
            yield Static(Content.styled(render.prose(self._offer.words), "bold"), markup=False)
            yield Static("Change how this session works? Nothing changes unless you choose it.", markup=False)
            yield Static(render.lines(*self._choices()), markup=False, classes="choices")
            hint = Content.assemble(("n", "bold"), " keep everything as it is   ", ("Esc", "bold"), " decide later")
            yield Static(hint, markup=False, classes="hint")

    def _choices(self) -> list[Content]:
        out = []
        for key, rule in self._rules.items():
            shown = render.marked(render.flat(rule, 200), "bold")
            out += [Content.assemble((f" {key} ", "bold $primary"), shown), Content(f"   {RULE_WORDS}")]
        for key, mode in self._modes.items():
            out += [Content.assemble((f" {key} ", "bold $primary"), mode), Content(f"   {MODE_WORDS[mode]}")]
        return out

    def key_n(self) -> None:
        self.dismiss(("", ""))

    def on_key(self, event: object) -> None:
        key = getattr(event, "key", "")
        if key in self._modes or key in self._rules:
            self.dismiss((self._modes.get(key, ""), self._rules.get(key, "")))


class Leaving(ModalScreen[bool]):
    """Whether to quit although nobody else sees what waits."""

    BINDINGS = [
        Binding("y,q,ctrl+c", "dismiss(True)", priority=True),
        Binding("n,escape", "dismiss(False)", priority=True),
    ]

    def __init__(self, waiting: int) -> None:
        super().__init__()
        self._waiting = waiting

    def compose(self) -> ComposeResult:
        many = self._waiting != 1
        with Vertical(classes="dialog"):
            said = f"{render.plural(self._waiting, 'question')} {'are' if many else 'is'} shown here and nowhere else"
            yield Static(Content.styled(said, "bold"), markup=False)
            they, them = ("they are", "them") if many else ("it is", "it")
            shown = f"unless the page or another inbox shows {them} within 10 seconds"
            yield Static(f"If you quit, {they} denied {shown}.", markup=False)
            hint = Content.assemble(("q", "bold"), " quit   ", ("Esc", "bold"), " stay")
            yield Static(hint, markup=False, classes="hint")


HELP = (
    ("↑ ↓  j k", "choose a question"),
    ("PgUp PgDn space", "scroll the question"),
    ("d", "show the receipt and the raw input"),
    ("w", "show all of a long question, so that it can be allowed"),
    ("↵", "choose an answer"),
    *((of_scope(scope).key, of_scope(scope).offer) for scope in Scope),
    (DENY.key, DENY.offer),
    MESSAGE,
    (STOP.key, STOP.offer),
    ("o", "show an offer of another mode"),
    ("u", "show what can be put back"),
    ("F2", "light or dark"),
    ("q  Ctrl-C", "quit"),
)


class Help(ModalScreen[None]):
    """The keys, and what Esc does."""

    BINDINGS = [Binding("escape,ctrl+c,q,enter,question_mark", "dismiss(None)", priority=True)]

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog"):
            rows = [Content.assemble((f"{key:>16}  ", "bold $primary"), meaning) for key, meaning in HELP]
            yield Static(render.lines(*rows), markup=False)
            hint = (
                "A question is being answered while its answers are open. There, Esc goes one step back and, on the "
                "first step, dismisses the question, which denies it. Ctrl-C and closing the terminal dismiss it at "
                "once. No other question is denied by that. L leaves it waiting."
            )
            yield Static(Content.styled(hint, "$soft"), markup=False, classes="choices")
            yield Static(Content.assemble(("Esc", "bold"), " close"), markup=False, classes="hint")


RETRY = 1.0  # seconds between checks for a server


class SignIn(Screen[bool]):
    """The person types the one-time code. Returns True once signed in."""

    BINDINGS = [
        Binding("escape,ctrl+c,ctrl+q", "dismiss(False)", "quit", priority=True),
    ]

    def __init__(self, client: Client, note: str = "") -> None:
        super().__init__()
        self._client = client
        self._note = note
        self._connected = False

    def compose(self) -> ComposeResult:
        with Vertical(id="sign-in"):
            yield Static("Assent inbox", markup=False, id="sign-in-title")
            yield Static("", markup=False, id="sign-in-where")
            yield Input(placeholder="XXXX-XXXX", max_length=32, id="sign-in-code", select_on_focus=False)
            yield Static("", markup=False, id="sign-in-text")
            yield Static(
                Content.assemble(("↵", "bold"), " sign in   ", ("Esc", "bold"), " quit"),
                markup=False,
                classes="hint",
            )

    def on_mount(self) -> None:
        self._draw(connected=False)
        self._tell(self._note, "$warning")
        self.query_one(Input).focus()
        self._check_server()
        self.set_interval(RETRY, self._check_server)

    @work(exclusive=True, group="check")
    async def _check_server(self) -> None:
        """Check whether a server runs. Asking it who is signed in makes it show a code, if it has shown none."""
        try:
            await self._client.ask("GET", "/healthz" if self._connected else "/v1/session", patience=3)
            connected = True
        except (AccessError, StoreError):
            connected = False
        if connected != self._connected:
            self._draw(connected=connected)

    def _draw(self, *, connected: bool) -> None:
        self._connected = connected
        where = (
            "Type the one-time code that the server shows in its terminal: press Enter there for a new one. For a "
            "server in the background run `assent sign-in` in another terminal."
            if connected
            else "No server runs. Start one with `assent serve` in another terminal; this screen connects by itself."
        )
        self.query_one("#sign-in-where", Static).update(render.sentence(where, "$soft"))
        self.query_one(Input).disabled = not connected
        if connected:
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
        self.query_one("#sign-in-text", Static).update(render.sentence(words, style))
