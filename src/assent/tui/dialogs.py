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
    """Ends with a mode or a rule, with neither where the offer is turned down, with None where it is left open."""

    BINDINGS = [Binding("escape,ctrl+c", "later", priority=True)]

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
            yield Static("Would another way suit this session better? Nothing changes by itself.", markup=False)
            yield Static(render.lines(*self._choices()), markup=False, classes="choices")
            hint = Content.assemble(("n", "bold"), " leave everything as it is   ", ("Esc", "bold"), " decide later")
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

    def action_later(self) -> None:
        self.dismiss(None)


class Leaving(ModalScreen[bool]):
    """Whether to leave though nobody else sees what waits."""

    BINDINGS = [
        Binding("y,q,ctrl+c", "leave", priority=True),
        Binding("n,escape", "stay", priority=True),
    ]

    def __init__(self, waiting: int) -> None:
        super().__init__()
        self._waiting = waiting

    def compose(self) -> ComposeResult:
        many = self._waiting != 1
        with Vertical(classes="dialog"):
            said = f"{render.plural(self._waiting, 'question')} {'are' if many else 'is'} shown here and nowhere else"
            yield Static(Content.styled(said, "bold"), markup=False)
            told = "they are denied unless another place shows them" if many else "it is denied unless another shows it"
            yield Static(f"If you leave, {told} within 10 seconds: the page, or another inbox.", markup=False)
            hint = Content.assemble(("q", "bold"), " leave   ", ("Esc", "bold"), " stay")
            yield Static(hint, markup=False, classes="hint")

    def action_leave(self) -> None:
        self.dismiss(True)

    def action_stay(self) -> None:
        self.dismiss(False)


HELP = (
    ("↑ ↓  j k", "choose a question"),
    ("PgUp PgDn space", "read on in the question"),
    ("d", "the receipt and the raw input"),
    ("w", "all of a long question, which can be allowed then"),
    ("↵", "open the answers of the question"),
    *((of_scope(scope).key, of_scope(scope).offer) for scope in Scope),
    (DENY.key, DENY.offer),
    MESSAGE,
    (STOP.key, STOP.offer),
    ("o", "look at an offer of another mode"),
    ("F2", "light or dark"),
    ("q  Ctrl-C", "quit"),
)


class Help(ModalScreen[None]):
    """The keys, and what Esc means where."""

    BINDINGS = [Binding("escape,ctrl+c,q,enter,question_mark", "close", priority=True)]

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog"):
            rows = [Content.assemble((f"{key:>16}  ", "bold $primary"), meaning) for key, meaning in HELP]
            yield Static(render.lines(*rows), markup=False)
            told = (
                "A question is being answered while its answers are open. There, Esc goes one step back and, on the "
                "first step, puts the question away: that denies it. Ctrl-C and a closed terminal do so at once. "
                "Nothing else is denied by them. L leaves it waiting."
            )
            yield Static(Content.styled(told, "$soft"), markup=False, classes="choices")
            yield Static(Content.assemble(("Esc", "bold"), " close"), markup=False, classes="hint")

    def action_close(self) -> None:
        self.dismiss(None)


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
        self.query_one("#sign-in-where", Static).update(render.sentence(where, "$soft"))
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
        self.query_one("#sign-in-told", Static).update(render.sentence(words, style))
