"""The list of questions, by session. Draws only the rows that are seen, so a thousand cost no more than ten."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from assent.tui import words
from assent.tui.questions import InboxQuestion

RISK_MARKS = {"high": "▲", "medium": "●", "low": "●"}


class QuestionList(ScrollView, can_focus=True):
    """Rows of questions under a row for each session. `tall` gives each question a second line that says why."""

    COMPONENT_CLASSES = {
        *("list--session", "list--project", "list--title", "list--queued", "list--soft", "list--chosen"),
        *("list--high", "list--medium", "list--low", "list--allowed", "list--denied", "list--late"),
    }

    class Chosen(Message):
        """The person pointed at a question."""

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
        """Show these, with one of them chosen."""
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
        project = words.folder(question.held.project or call.cwd) or "no project"
        who = f"{words.runtime(call.runtime)}{' · ' + words.flat(call.session, 12) if call.session else ''}"
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
                words.ending(over.ending, over.said, over.scope, over.allowed).partition(";")[0],
                mark_style,
            )
            end = end.partition(":")[0]
        else:
            mark, mark_style = RISK_MARKS.get(risk, "●"), risk if risk in RISK_MARKS else "medium"
            end = words.clock(left) if left is not None else "queued" if question.queued else ""
            end_style = "late" if left is not None and left < 20 else "soft"
        room = max(width - 6 - cell_len(end), 4)
        title = words.headline(question.held, room)
        title_style = "soft" if over is not None else "queued" if question.queued else "title"
        return [
            ("▌" if chosen else " ", self._style("project")),
            (f"{mark} ", self._style(mark_style)),
            (set_cell_size(title, room), self._style(title_style)),
            (f" {end} ", self._style(end_style)),
        ]

    def _why(self, question: InboxQuestion, width: int, chosen: bool) -> list[tuple[str, Style]]:
        text = question.over.reason if question.over else question.held.decision.deciding.reason
        shown = words.flat(text.replace("`", ""), max(width - 5, 4))
        return [("▌" if chosen else " ", self._style("project")), (f"  {shown}", self._style("soft"))]
