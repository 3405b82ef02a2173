"""The reader of plain lines says what the whole reader says, or nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.effects.shell.syntax.compounds import Reader
from assent.effects.shell.syntax.plain import read_plain

PIECE = st.sampled_from(
    """ls -la a.py src/x '' 'a b' "c d" "" "$x" 'it"s' # #a a#b ! !x { } } if then in time do a=b A[1]=2 =x x= ~ ~/a *
    ? [a] a[b] $x `a` \\ \\a && || | |& & ; ;; ( ) (a) < > >> >& 2>&1 2>& 2>/dev/null >x 1>>x 12>x a>b &>x >|x <x <<E
    2>&1& >'q' >$x function coproc f() 'a'b a'b' "a"'b' é \t""".split(" ")
)
LINE = st.lists(st.tuples(PIECE, st.sampled_from([" ", " ", " ", "", "  ", "\t", "\n"])), max_size=8).map(
    lambda pairs: "".join(piece + blank for piece, blank in pairs)
)


@given(LINE)
def test_where_the_plain_reader_answers_it_is_the_whole_readers_answer(text: str) -> None:
    plain = read_plain(text)
    reader = Reader(text)
    assert plain is None or (plain, []) == (reader.lines(), reader.gaps)


@pytest.mark.parametrize(
    "text",
    [
        "ls",
        "git log --oneline -20",
        "grep -rn 'a b' src | wc -l && echo \"done\"",
        "make test 2>&1 | tail -30",
        "ls missing 2>/dev/null || true;",
    ],
)
def test_everyday_lines_are_plain(text: str) -> None:
    assert read_plain(text) is not None


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", ";", "ls &&", "ls |", "ls ;;", "| ls", "ls && && ls", "ls &", "ls |& wc", "ls > ", "ls\n", "ls # x"),
        *("if a; then b; fi", "time ls", "! ls", "{ ls; }", "a=b ls", "a=b", "f() { ls; }", "> x ls", "'ls' -l"),
        *("ls *", "ls ~", "ls $x", "ls `a`", "ls a\\ b", "ls {a,b}", 'ls "$x"', "ls a'b'", "ls 2>$x", "ls 12>x"),
        *("cat <<E", "cat < x", "ls >| x", "ls &> x", "ls >& x", "ls a>b"),
    ],
)
def test_what_is_not_plain_is_left_to_the_whole_reader(text: str) -> None:
    assert read_plain(text) is None
