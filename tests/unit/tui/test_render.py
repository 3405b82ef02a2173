"""Nothing of an agent's text is interpreted in the terminal inbox: not as markup, not as an escape, not as a style."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples

try:
    import textual  # noqa: F401
except ImportError:
    assert os.environ.get("CI") != "true", "CI must have textual: pip install 'assent[inbox]'"
    pytest.skip("textual is not installed; pip install 'assent[inbox]'", allow_module_level=True)

from textual.app import App, ComposeResult
from textual.content import Content

from assent.contract import Call, Decision, Layer, Outcome, Part
from assent.contract.approval import Consequence, Held, Preview, Reach
from assent.contract.display import code, for_terminal
from assent.tui import app, render
from assent.tui.questions import MOST_LINES, InboxQuestion, Questions
from assent.tui.widgets import Detail, QuestionList

STEERS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
PIECES = (
    *(
        "[bold red]x[/]",
        "[/]",
        "[@click=app.exit]y[/]",
        "[link=http://a.b]z[/link]",
        "[$error]",
        "[on red]",
        "\\[b]",
        "[",
    ),
    *(
        "\x1b[31m",
        "\x1b]8;;http://a.b\x07",
        "\x9b2J",
        "\x07",
        "\r",
        "\t",
        "\n",
        "\u202e",
        "\u200b",
        "$x",
        "{{x}}",
        "<b>",
    ),
)
texts = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=8)), max_size=6).map("".join)
words_in = texts.filter(lambda text: bool(text.strip()))


def asked(text: str, kind: str = "command") -> InboxQuestion:
    """A question in which every field that an agent can fill is the text."""
    part = Part(
        Outcome.ASK,
        Layer.ASK,
        "ask.rule",
        text,
        what=text,
        where=text,
        rule=text,
        source=text,
        flip=text,
    )
    decision = Decision(Outcome.ASK, part, (part,), lost=((text, text),), mode="default", risk="high", tool=text)
    call = Call(text, {"command": text, text: [text]}, cwd=text, session=text, runtime=text, description=text)
    preview = Preview(kind, text, path=text)
    held = Held(
        text,
        call,
        text,
        decision,
        preview,
        effects=(f"run {text}", text),
        consequences=(Consequence(text, text), Consequence(text, f"removes `{text}`", cut=True)),
        warnings=(text,),
        project=text,
        timeout=300,
    )
    return InboxQuestion(held, queued=False, position=0, deadline=60.0, choices=())


def painted(question: InboxQuestion) -> Iterator[Content]:
    held = question.held
    for build in (*(render.warnings, render.says, render.effects, render.consequences, render.why, render.receipt),):
        yield build(held)
    yield render.head(question)
    yield render.reach(Reach(refusal=held.call.description), 1)
    yield from render.code_rows(render.preview(question), 40)


# Every style that this program sets. A style that came out of a text would be another.
OURS = re.compile(r"(bold|italic|on|\$[a-z-]+| )*")


@given(texts, st.sampled_from(["command", "diff", "input"]))
@examples(150)
def test_no_text_steers_the_terminal_or_sets_a_style(text: str, kind: str) -> None:
    for content in painted(asked(text, kind)):
        assert STEERS.search(content.plain) is None
        assert all(isinstance(span.style, str) and OURS.fullmatch(span.style) for span in content.spans)


def test_consequences_are_lines_with_names_in_bold() -> None:
    found = (Consequence("deletion", "removes 3 files, 12 bytes"), Consequence("deletion", "git has not `src/[b]x`"))
    asked_about = asked("make")
    held = Held(
        "id", asked_about.held.call, "d", asked_about.held.decision, Preview("command", "make"), consequences=found
    )
    shown = render.consequences(held)
    assert shown.plain == "· removes 3 files, 12 bytes\n· git has not src/[b]x"
    assert "bold" in {span.style for span in shown.spans if shown.plain[span.start : span.end] == "src/[b]x"}


@given(words_in)
@examples(150)
def test_what_would_be_markup_is_shown_as_it_is(text: str) -> None:
    question = asked(text)
    shown = for_terminal(code(text))
    rows = render.code_rows(render.preview(question), 4000)
    assert [row.plain[2:].rstrip() for row in rows] == [line.rstrip() for line in shown.split("\n")]
    assert render.marked(shown).plain == shown
    assert render.sentence(text).plain == render.prose(text).replace("`", "")


@given(words_in, st.integers(20, 60))
@examples(150)
def test_a_long_line_is_cut_into_rows_of_one_width_and_nothing_is_left_out(text: str, width: int) -> None:
    line = for_terminal(code(text)).replace("\n", "")
    rows = render.code_rows([render.CodeLine("code", "$", line)], width)
    assert {row.cell_length for row in rows} == {width}
    together = "".join(row.plain[2:] for row in rows)
    assert together.replace(" ", "") == line.replace(" ", "")  # a wide letter may leave a cell free at the edge
    assert [row.plain[0] for row in rows[1:]] == ["↪"] * (len(rows) - 1)


class Shown(App[None]):
    """The two widgets that show foreign text, as the inbox has them."""

    def compose(self) -> ComposeResult:
        yield QuestionList(id="list")
        yield Detail(id="detail")

    def on_mount(self) -> None:
        self.register_theme(app.DARK)
        self.theme = app.DARK.name


@pytest.mark.slow
def test_on_the_screen_too_every_cell_is_text_and_carries_no_action() -> None:
    async def play() -> None:
        async with Shown().run_test(size=(120, 60)) as pilot:
            app = pilot.app
            for text in (*PIECES, "".join(PIECES)):
                question = asked(f"a{text}b")
                app.query_one(QuestionList).draw([[question]], question.id, 0.0)
                app.query_one(Detail).draw(question)
                app.query_one(Detail).toggle_receipt(question)
                await pilot.pause()
                for strip in app.screen._compositor.render_strips():
                    for segment in strip:
                        assert STEERS.search(segment.text) is None
                        assert segment.control is None
                        assert segment.style is None or segment.style.link is None
                        assert "@click" not in (segment.style.meta if segment.style else {})

    asyncio.run(play())


def test_every_line_of_a_diff_is_shown_numbered_and_told_apart() -> None:
    text = "# a.py\n@@ -3,3 +3,3 @@\n same\n-old\n+new\n+++ not a head\n--- nor this\n\n\\ No newline"
    found = [(each.kind, each.mark, each.text) for each in render.preview(of(Preview("diff", text)))]
    assert found == [
        ("hunk", "", "# a.py"),
        ("hunk", "", "@@ -3,3 +3,3 @@"),
        ("same", "3  ", "same"),
        ("del", "4 -", "old"),
        ("add", "4 +", "new"),
        ("add", "5 +", "++ not a head"),
        ("del", "5 -", "-- nor this"),
        ("same", "6  ", ""),
        ("hunk", "", "\\ No newline"),
    ]


def test_what_is_cut_says_so() -> None:
    short = of(Preview("command", "x" * 10, length=99), sent=10)
    told = "cut: 1 lines of 99 characters are shown; press w to see all of it, so that it can be allowed"
    assert (render.preview(short)[-1].text, short.whole) == (told, False)
    many = of(Preview("input", "\n".join("x" * 3000)))
    assert (len(render.preview(many)), many.whole) == (MOST_LINES + 1, False)
    many.opened = True
    assert (len(render.preview(many)), many.whole) == (3000, True)


def of(preview: Preview, sent: int | None = None) -> InboxQuestion:
    old = asked("x").held
    held = Held(old.id, old.call, old.digest, old.decision, preview)
    return InboxQuestion(held, queued=False, position=0, deadline=None, choices=(), sent=sent)


@given(
    st.lists(
        st.tuples(st.sampled_from(["hello", "held", "ended", "offer", "ping", "new"]), st.dictionaries(texts, texts))
    )
)
@examples(60)
def test_events_that_cannot_be_read_raise_what_the_app_expects(events: list[tuple[str, dict[str, str]]]) -> None:
    from assent.contract import PayloadError

    known = Questions()
    for name, data in events:
        try:
            known.take(name, dict(data), 0.0)
        except PayloadError:
            assert name == "held"
    assert known.waiting() == []
