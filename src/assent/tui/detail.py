"""The question that is looked at, drawn whole: who asks, what would run, what it does, why. Answers nothing."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import Static

from assent.tui import paint, words
from assent.tui.questions import InboxQuestion


class Code(Widget):
    """Code as it is, in rows: a command, a change or the input of a tool."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._lines: list[paint.CodeLine] = []
        self._rows: list[Content] = []
        self._width = -1

    def draw(self, lines: list[paint.CodeLine]) -> None:
        self._lines, self._width = lines, -1
        self.refresh(layout=True)

    def _fit(self, width: int) -> list[Content]:
        if width != self._width:
            self._width, self._rows = width, paint.code_rows(self._lines, width)
        return self._rows

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._fit(width))

    def render(self) -> Content:
        return Content("\n").join(self._fit(self.content_size.width))


class Block(Static):
    """A part of the question under a fixed title. Shown only where there is something to show."""

    def __init__(self, title: str, *, id: str) -> None:
        super().__init__("", markup=False, id=id, classes="block")
        self._title = Content.styled(title, "$soft")

    def draw(self, content: Content | None) -> None:
        self.display = content is not None
        if content is not None:
            self.update(paint.lines(self._title, content))


class Detail(VerticalScroll, can_focus=False):
    """The whole question. `d` opens the receipt."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._shown = ""
        self.receipt_open = False

    def compose(self) -> ComposeResult:
        yield Static("", markup=False, id="head")
        yield Static("", markup=False, id="over")
        yield Block("look twice:", id="warnings")
        yield Static("", markup=False, id="file")
        yield Code(id="code")
        yield Block("the agent's own words, which prove nothing:", id="says")
        yield Block("what it does:", id="effects")
        yield Block("why it asks:", id="why")
        yield Block("receipt:", id="receipt")

    def draw(self, question: InboxQuestion | None) -> None:
        """Show this question, from its beginning unless it is shown already."""
        self.display = question is not None
        if question is None:
            self._shown = ""
            return
        held = question.held
        self.query_one("#head", Static).update(paint.head(question))
        over = self.query_one("#over", Static)
        over.display = question.over is not None
        if question.over is not None:
            over.update(paint.over(question))
            over.set_class(question.over.allowed, "-allowed")
        if held.id == self._shown:
            return
        self._shown, self.receipt_open = held.id, False
        file = self.query_one("#file", Static)
        file.display = bool(held.preview.path)
        file.update(paint.marked(words.flat(words.within(held.preview.path, held.project)), "bold $accent"))
        self.query_one(Code).draw(paint.preview(question))
        self._block("warnings", paint.warnings(held) if held.warnings else None)
        self._block("says", paint.says(held) if held.call.description else None)
        self._block("effects", paint.effects(held))
        self._block("why", paint.why(held))
        self._block("receipt", None)
        self.scroll_home(animate=False)

    def open_whole(self, question: InboxQuestion) -> None:
        """Draw all of a long question, from where it was read."""
        if question.id == self._shown:
            self.query_one(Code).draw(paint.preview(question))

    def toggle_receipt(self, question: InboxQuestion) -> None:
        self.receipt_open = not self.receipt_open
        self._block("receipt", paint.receipt(question.held) if self.receipt_open else None)
        if self.receipt_open:
            self.call_after_refresh(self.query_one("#receipt").scroll_visible, top=True, animate=False)

    def _block(self, name: str, content: Content | None) -> None:
        self.query_one(f"#{name}", Block).draw(content)
