"""The parts of the main screen: the list of questions, the chosen question, the status line, the offer, the keys."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from assent.contract.approval import Scope
from assent.contract.words import DENY, MESSAGE, STOP, of_scope
from assent.tui import render
from assent.tui.questions import InboxQuestion, ModeOffer


class CodeView(Widget):
    """A command, a change or the input of a tool, in rows."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._lines: list[render.CodeLine] = []
        self._rows: list[Content] = []
        self._width = -1

    def draw(self, lines: list[render.CodeLine]) -> None:
        self._lines, self._width = lines, -1
        self.refresh(layout=True)

    def _fit(self, width: int) -> list[Content]:
        if width != self._width:
            self._width, self._rows = width, render.code_rows(self._lines, width)
        return self._rows

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._fit(width))

    def render(self) -> Content:
        return Content("\n").join(self._fit(self.content_size.width))


class Block(Static):
    """A part of the question under a fixed title; hidden if it is empty."""

    def __init__(self, title: str, *, id: str) -> None:
        super().__init__("", markup=False, id=id, classes="block")
        self._title = Content.styled(title, "$soft")

    def draw(self, content: Content | None) -> None:
        self.display = content is not None
        if content is not None:
            self.update(render.lines(self._title, content))


class Detail(VerticalScroll, can_focus=False):
    """The chosen question: who asks, what would run, what it does, and why it asks."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._shown = ""
        self.receipt_open = False

    def compose(self) -> ComposeResult:
        yield Static("", markup=False, id="head")
        yield Static("", markup=False, id="over")
        yield Block("warnings:", id="warnings")
        yield Static("", markup=False, id="file")
        yield CodeView(id="code")
        yield Block("the agent's own words, which prove nothing:", id="says")
        yield Block("what it does:", id="effects")
        yield Block("what it would cause:", id="consequences")
        yield Block("why it asks:", id="why")
        yield Block("receipt:", id="receipt")

    def draw(self, question: InboxQuestion | None) -> None:
        """Show this question, from its beginning unless it was shown before."""
        self.display = question is not None
        if question is None:
            self._shown = ""
            return
        held = question.held
        self.query_one("#head", Static).update(render.head(question))
        over = self.query_one("#over", Static)
        over.display = question.over is not None
        if question.over is not None:
            over.set_class(question.over.allowed, "-allowed").update(render.over(question))
        if held.id == self._shown:
            return
        self._shown, self.receipt_open = held.id, False
        file = self.query_one("#file", Static)
        file.display = bool(held.preview.path)
        file.update(render.marked(render.flat(render.within(held.preview.path, held.project)), "bold $accent"))
        self.query_one(CodeView).draw(render.preview(question))
        for name, content in {
            "warnings": render.warnings(held) if held.warnings else None,
            "says": render.says(held) if held.call.description else None,
            "effects": render.effects(held),
            "consequences": render.consequences(held) if held.consequences else None,
            "why": render.why(held),
            "receipt": None,
        }.items():
            self._block(name, content)
        self.scroll_home(animate=False)

    def open_whole(self, question: InboxQuestion) -> None:
        if question.id == self._shown:
            self.query_one(CodeView).draw(render.preview(question))

    def toggle_receipt(self, question: InboxQuestion) -> None:
        self.receipt_open = not self.receipt_open
        self._block("receipt", render.receipt(question.held) if self.receipt_open else None)
        if self.receipt_open:
            self.call_after_refresh(self.query_one("#receipt").scroll_visible, top=True, animate=False)

    def _block(self, name: str, content: Content | None) -> None:
        self.query_one(f"#{name}", Block).draw(content)


KeyRow = tuple[tuple[str, str, str, str], ...]  # key, the words for it, the action of the screen, a colour

ALLOWING = (
    (of_scope(Scope.ONCE).key, of_scope(Scope.ONCE).short, "say('allow')", "-yes"),
    *(
        (of_scope(each).key, of_scope(each).short, f"open_dialog('rule', '{each.value}')", "-yes")
        for each in Scope
        if each is not Scope.ONCE
    ),
)
DENYING = (
    (DENY.key, "deny", "say('deny')", "-no"),
    (MESSAGE[0], "say why", "open_dialog('message')", "-no"),
    (STOP.key, "and stop", "say('stop')", "-no"),
)
MORE = (
    ("↵", "answers", "open_dialog", ""),
    ("d", "receipt", "receipt", ""),
    ("?", "help", "help", ""),
    ("q", "quit", "quit_inbox", ""),
)
EXAMPLE = (("v", "show an example question", "example", ""), ("u", "undo", "undo", ""))


class StatusLine(Static):
    """How many questions wait, who is signed in, and whether the inbox is connected."""

    def draw(self, *, waiting: int, sessions: int, who: str, state: str, note: str) -> None:
        what = render.plural(waiting, "question") if waiting else "no questions wait"
        where = f" in {render.plural(sessions, 'session')}" if sessions > 1 else ""
        mark, style = {"live": ("● live", "$success"), "wait": ("◌ connecting", "$warning")}.get(
            state, ("✗ no connection", "bold $error")
        )
        left = Content.assemble(
            (" assent ", "bold $primary"),
            (f" {what}{where}", "bold" if waiting else "$soft"),
            (f"  {render.prose(note)}" if note else "", "$warning"),
        )
        right = Content.assemble((f"{render.flat(who, 20)}  " if who else "", "$soft"), (f"{mark} ", style))
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
    """A row of keys after one word, and more keys at its end."""

    def __init__(self, word: str, keys: KeyRow, more: KeyRow = (), *, classes: str = "") -> None:
        super().__init__(classes=f"keys {classes}".strip())
        self._word, self._keys, self._more = word, keys, more

    def compose(self) -> ComposeResult:
        if self._word:
            yield Static(self._word, markup=False, classes="word")
        yield from (Key(*each) for each in self._keys)
        if self._more:
            yield Static("", markup=False, classes="gap")
        yield from (Key(*each) for each in self._more)


class OfferLine(Static):
    def draw(self, offer: ModeOffer | None) -> None:
        self.display = offer is not None
        if offer is not None:
            self.update(Content.assemble(f" {render.prose(offer.words)}  ", ("o", "bold"), " show the offer"))


RISK_MARKS = {"high": "▲", "medium": "●", "low": "●"}


class QuestionList(ScrollView, can_focus=True):
    """Rows of questions under a row for each session. `tall` gives each question a second line that says why."""

    COMPONENT_CLASSES = {
        *("list--session", "list--project", "list--title", "list--queued", "list--soft", "list--chosen"),
        *("list--high", "list--medium", "list--low", "list--allowed", "list--denied", "list--late"),
    }

    class Chosen(Message):
        """The person clicked a question."""

        def __init__(self, id: str) -> None:
            super().__init__()
            self.question = id

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._rows: list[tuple[InboxQuestion, str]] = []  # with `session`, `title` or `why`
        self._groups: list[list[InboxQuestion]] = []
        self._chosen = ""
        self._now = 0.0
        self.tall = False

    def draw(self, groups: list[list[InboxQuestion]], chosen: str, now: float) -> None:
        moved = chosen != self._chosen
        self._groups, self._chosen, self._now = groups, chosen, now
        self._lay_out()
        if moved:
            self.call_after_refresh(self._show_chosen)

    def tick(self, now: float) -> None:
        self._now = now
        self.refresh()

    def _lay_out(self) -> None:
        kinds = ("title", "why") if self.tall else ("title",)
        self._rows = []
        for group in self._groups:
            self._rows.append((group[0], "session"))
            self._rows += [(question, kind) for question in group for kind in kinds]
        self.virtual_size = Size(self.size.width, len(self._rows))
        self.styles.height = "1fr" if self.tall else min(max(len(self._rows), 2), max(8, self.app.size.height // 3))
        self.refresh()

    def _show_chosen(self) -> None:
        found = [
            at for at, (question, kind) in enumerate(self._rows) if question.id == self._chosen and kind != "session"
        ]
        if found:
            top = found[0] - 1 if found[0] == 1 else found[0]
            self.scroll_to_region(Region(0, top, 1, found[-1] - top + 1), animate=False)

    def on_resize(self) -> None:
        self._lay_out()

    def on_click(self, event: events.Click) -> None:
        at = event.y + self.scroll_offset.y
        if 0 <= at < len(self._rows) and self._rows[at][1] != "session":
            self.post_message(self.Chosen(self._rows[at][0].id))

    # Rows

    def render_line(self, y: int) -> Strip:
        at, width = y + self.scroll_offset.y, self.size.width
        if at >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        question, kind = self._rows[at]
        if kind == "session":
            return self._session(question, width)
        chosen = question.id == self._chosen
        base = self._style("chosen") if chosen else self.rich_style
        pieces = self._title(question, width, chosen) if kind == "title" else self._why(question, width, chosen)
        return Strip([Segment(text, base + style) for text, style in pieces]).adjust_cell_length(width, base)

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"list--{name}", partial=name != "chosen")

    def _session(self, question: InboxQuestion, width: int) -> Strip:
        call = question.held.call
        project = render.folder(question.held.project or call.cwd) or "no project"
        who = f"{render.runtime(call.runtime)}{' · ' + render.flat(call.session, 12) if call.session else ''}"
        base = self.rich_style
        rest = width - cell_len(project) - cell_len(who) - 5
        return Strip(
            [
                Segment(f" {project} ", base + self._style("project")),
                Segment(f" {who} ", base + self._style("session")),
                Segment("─" * max(0, rest), base + self._style("soft")),
            ]
        ).adjust_cell_length(width, base)

    def _title(self, question: InboxQuestion, width: int, chosen: bool) -> list[tuple[str, Style]]:
        over, risk = question.over, question.held.decision.risk
        left = question.left(self._now)
        if over is not None:
            mark, mark_style = ("✓", "allowed") if over.allowed else ("✗", "denied")
            end, end_style = (
                render.ending(over.ending, over.said, over.scope, over.allowed).partition(";")[0],
                mark_style,
            )
            end = end.partition(":")[0]
        else:
            mark, mark_style = RISK_MARKS.get(risk, "●"), risk if risk in RISK_MARKS else "medium"
            end = render.clock(left) if left is not None else "queued" if question.queued else ""
            end_style = "late" if left is not None and left < 20 else "soft"
        room = max(width - 6 - cell_len(end), 4)
        title = render.headline(question.held, room)
        title_style = "soft" if over is not None else "queued" if question.queued else "title"
        return [
            ("▌" if chosen else " ", self._style("project")),
            (f"{mark} ", self._style(mark_style)),
            (set_cell_size(title, room), self._style(title_style)),
            (f" {end} ", self._style(end_style)),
        ]

    def _why(self, question: InboxQuestion, width: int, chosen: bool) -> list[tuple[str, Style]]:
        text = question.over.reason if question.over else question.held.decision.deciding.reason
        shown = render.flat(text.replace("`", ""), max(width - 5, 4))
        return [("▌" if chosen else " ", self._style("project")), (f"  {shown}", self._style("soft"))]
