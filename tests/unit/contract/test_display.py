"""What an agent writes is shown as it is: nothing hides, nothing steers, nothing passes for something else."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assent.contract import display
from tests.examples import examples

NASTY = st.sampled_from(
    [
        *("\x1b[31m", "\x1b]8;;http://x\x07", "\x9b2J", "\r", "\x08", "\x00", "\x7f", "\u202e", "\u2066", "\u200b"),
        *("\u200d", "\ufeff", "\u00a0", "\u3000", "\u2800", "\u3164", "\ufe0f", "\U000e0041", "\ud800", "\u2028"),
        *("а", "р", "ｒ", "𝐫", "\u0301", "\u0338", "\u20e0", "ﬁ", "<b>", "</script>", "&lt;", "`", "```", "\\u{202e}"),
        *("a", "rm", " ", "\n", "\t", "x" * 40, "<!channel>", "'", '"', "你好", "тест", "é", "\ue000", "\u0378"),
    ]
)
TEXT = st.one_of(st.text(max_size=60), st.lists(NASTY, max_size=14).map("".join))
STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
SURFACES = (display.visible, display.code, display.for_terminal, display.for_chat)


def unseen(text: str) -> list[str]:
    """Characters that no eye can see, by the categories of Unicode and not by the module's own list."""
    odd = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    blank = [each for each in text if unicodedata.category(each) == "Zs" and each != " "]
    return blank + [each for each in text if unicodedata.category(each) in odd and each not in "\n\t"]


@examples(400)
@given(TEXT)
@example("\u202e\u0301")
@example("a\u0301" * 5 + "\u0301" * 9)
def test_nothing_that_hides_or_steers_comes_out_on_any_surface(text: str) -> None:
    for surface in SURFACES:
        shown = surface(text)
        assert unseen(shown) == []
        assert STEERING.search(shown) is None
        assert not set(shown) & display.BLANK


@examples(300)
@given(TEXT)
def test_showing_twice_is_showing_once(text: str) -> None:
    for surface in (display.visible, display.code):
        assert surface(surface(text)) == surface(text)


@examples(300)
@given(TEXT)
def test_no_markup_of_the_text_comes_out_as_such(text: str) -> None:
    chat = display.for_chat(text)
    assert not set(chat) & set("<>`")
    assert re.sub(r"&(?:amp|lt|gt);", "", chat).count("&") == 0


@examples(300)
@given(TEXT, st.integers(0, 80))
def test_a_cut_text_hides_nothing_and_tells_its_length(text: str, limit: int) -> None:
    shown = display.visible(text)
    cut = display.clip(shown, limit)
    assert display.visible(cut) == cut
    if len(shown) <= limit:
        assert cut == shown
        return
    found = re.search(r" … \[(\d+) of (\d+) characters not shown\] … ", cut)
    assert found is not None
    head, tail = cut[: found.start()], cut[found.end() :]
    assert shown.startswith(head)
    assert shown.endswith(tail)
    assert len(head) + len(tail) + int(found[1]) == int(found[2]) == len(shown)
    assert len(head) + len(tail) <= limit


@examples(200)
@given(TEXT, st.integers(1, 6), st.integers(4, 40))
def test_lines_are_as_many_as_asked_for_and_none_holds_a_line_end(text: str, most: int, width: int) -> None:
    found = display.lines(text, most, width)
    assert len(found) <= most + 1
    assert not any("\n" in line or "\t" in line for line in found)
    assert "\n" not in display.one_line(text)


@pytest.mark.parametrize(
    "text",
    [
        "ls -la | grep x > y",
        "café naïve Ångström",
        "тесты идут с npm-пакетом и о git",
        "测试，运行 npm test",
        "10 kΩ",
        "e\u0301",
    ],
)
def test_honest_text_stays_as_it_is(text: str) -> None:
    assert display.visible(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2K\rls", "\\u{1b}[2K\\u{d}ls"),
        ("pаypal.com", "p\\u{430}ypal.com"),
        ("rm а.txt", "rm \\u{430}.txt"),
        ("https://сосо.com/", "https://\\u{441}\\u{43e}\\u{441}\\u{43e}.com/"),
        ("ｒｍ -rf", "\\u{ff52}\\u{ff4d} -rf"),
        ("𝐬udo", "\\u{1d42c}udo"),
        ("a\u0301\u0301\u0301", "a\u0301\u0301\\u{301}"),
        ("=\u0338", "=\\u{338}"),
        ("rm\u00a0-rf", "rm\\u{a0}-rf"),
        ("x\U000e0072\U000e006d", "x\\u{e0072}\\u{e006d}"),
    ],
)
def test_what_hides_or_disguises_is_written_out(text: str, shown: str) -> None:
    assert display.visible(text) == shown


def test_commands_are_shown_more_strictly_than_prose() -> None:
    assert display.visible("сор – “x”") == "сор – “x”"
    assert display.code("сор – “x”") == "\\u{441}\\u{43e}\\u{440} \\u{2013} \\u{201c}x\\u{201d}"
    assert display.code("rm א/../b") == "rm \\u{5d0}/../b"
    assert display.code("файл.txt") == "файл.txt"


def test_a_terminal_that_cannot_write_a_letter_shows_its_number() -> None:
    assert display.for_terminal("é\tx", "ascii") == "\\u{e9}   x"
    assert display.for_terminal("é", "utf-8") == "é"


def test_findings_name_what_was_found() -> None:
    assert display.hidden_in("a\u200bb\u200b\x1b") == ("\\u{200b}", "\\u{1b}")
    assert display.hidden_in("dos\r\nlines") == ()
    assert display.disguised_in("curl https://xn--pypal-4ve.com/ pаypal") == ("p\\u{430}ypal", "xn--pypal-4ve")
    assert display.disguised_in("git status") == ()
