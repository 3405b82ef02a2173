"""The dialog for copies in the inbox: lists them, previews putting one back, puts it back."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from assent.contract import AssentError
from assent.tui import render

if TYPE_CHECKING:
    from assent.tui.app import InboxApp

PATIENCE = 90.0  # seconds: many files may be compared, or put back
LISTED = Content.assemble(("↵", "bold"), " compare   ", ("Esc", "bold"), " close")
COMPARED = Content.assemble(("p", "bold"), " put back   ", ("Esc", "bold"), " back to the list")
SAME = Content.assemble(("Esc", "bold"), " back to the list")
STYLES = {"+": "$success", "-": "$error", "@": "$soft"}


class CopiesDialog(ModalScreen[None]):
    """`chosen` is the id of the copy that is compared, "" while the list is shown."""

    BINDINGS = [
        Binding("escape", "back", priority=True),
        Binding("ctrl+c", "dismiss(None)", priority=True),
        Binding("p", "put_back"),
    ]

    app: InboxApp

    def __init__(self) -> None:
        super().__init__()
        self.chosen = ""
        self._ready = False  # the changes are shown, and there are some

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog", id="copies"):
            yield Static(Content.styled("Can be put back", "bold"), markup=False, id="copies-title")
            yield OptionList(id="copies-list")
            with VerticalScroll(id="copies-detail"):
                yield Static("", markup=False, id="copies-text")
            yield Static(LISTED, markup=False, classes="hint", id="copies-hint")

    def on_mount(self) -> None:
        self.query_one("#copies-detail").display = False
        self._load()

    @work(exclusive=True, group="copies")
    async def _load(self) -> None:
        listed = self.query_one(OptionList)
        listed.clear_options()
        try:
            found = await self.app.client.ask("GET", "/v1/undo", patience=PATIENCE)
        except AssentError as error:
            self._title(render.sentence(str(error), "$error"))
            return
        copies = [each for each in found.get("copies", ()) if isinstance(each, dict)]
        listed.add_options(Option(_row(each), id=str(each.get("id", ""))) for each in copies)
        self._title(Content.styled("Can be put back" if copies else "There is nothing to put back", "bold"))
        listed.highlighted = 0 if copies else None
        listed.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.chosen = event.option.id or ""
        self._compare()

    @work(exclusive=True, group="copies")
    async def _compare(self) -> None:
        self._show_detail(Content.styled("comparing…", "$soft"), SAME)
        try:
            found = await self.app.client.ask("GET", f"/v1/undo/{self.chosen}", patience=PATIENCE)
        except AssentError as error:
            self._show_detail(render.sentence(str(error), "$error"), SAME)
            return
        lines = [str(line) for line in found.get("differences", ())]
        self._ready = bool(lines)
        rows = [_line(line) for line in lines] or [Content("nothing to put back: the files are unchanged")]
        if found.get("more"):
            rows.append(Content.styled("… and more", "$soft"))
        head = render.marked(render.flat(str(found.get("call", "")), 300), "bold")
        self._show_detail(render.lines(head, Content(""), *rows), COMPARED if lines else SAME)

    def action_put_back(self) -> None:
        if self.chosen and self._ready:
            self._ready = False
            self._put_back()

    @work(exclusive=True, group="copies")
    async def _put_back(self) -> None:
        try:
            reply = await self.app.client.ask("POST", f"/v1/undo/{self.chosen}", {}, patience=PATIENCE)
        except AssentError as error:
            self._show_detail(render.sentence(str(error), "$error"), SAME)
            return
        note = str(reply.get("note", ""))
        self.app.tell(note or "put back; what that replaced is kept too, and can be put back itself", bad=bool(note))
        self.action_back()
        self._load()

    def action_back(self) -> None:
        if not self.chosen:
            self.dismiss(None)
            return
        self.chosen, self._ready = "", False
        self.query_one("#copies-detail").display = False
        self.query_one(OptionList).display = True
        self.query_one("#copies-hint", Static).update(LISTED)
        self.query_one(OptionList).focus()

    def _title(self, text: Content) -> None:
        self.query_one("#copies-title", Static).update(text)

    def _show_detail(self, text: Content, hint: Content) -> None:
        self.query_one(OptionList).display = False
        detail = self.query_one("#copies-detail", VerticalScroll)
        detail.display = True
        self.query_one("#copies-text", Static).update(text)
        self.query_one("#copies-hint", Static).update(hint)
        detail.focus()


def _row(copy: dict[str, Any]) -> Content:
    call = "replaced by an undo" if copy.get("undoes") else render.flat(str(copy.get("call", "")), 120)
    when = datetime.fromtimestamp(float(copy.get("time", 0))).strftime("%d %b %H:%M")
    about = f"{when}, {render.plural(int(copy.get('count', 0)), 'path')}, {_size(int(copy.get('size', 0)))}"
    session = render.flat(str(copy.get("session", "")), 30)
    return render.lines(
        render.marked(call, "bold"), Content.styled(f"  {about}{', session ' if session else ''}{session}", "$soft")
    )


def _line(text: str) -> Content:
    shown = render.flat(text, 300) if text.strip() else text
    style = "$soft" if text.startswith(("+++", "---", "@@")) else STYLES.get(text[:1], "")
    return render.marked(shown, style)


def _size(size: int) -> str:
    for unit, large in (("GB", 10**9), ("MB", 10**6), ("kB", 1000)):
        if size >= large:
            return f"{size / large:.1f} {unit}"
    return render.plural(size, "byte")
