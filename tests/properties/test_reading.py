"""Laws of the reader that hold for any text at all."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from assent.contract import Value, fields
from assent.effects.shell.syntax import read
from assent.effects.shell.tree import Reading, Simple, Word
from tests.examples import examples

PIECES = (
    "a -x 1 E x= x=( x[ ' \" ` \\ $ $( ${ $(( $[ $' ( ) (( )) { } {a,b} [ ] [[ ]] < > >> << <<- <<< <( >( & && | || "
    "; ;; ! # ~ * ? @( : = == =~ :- + , .. if then else fi for in do done while case esac function time coproc declare"
).split()
TEXTS = st.lists(
    st.sampled_from([*PIECES, " ", " ", "\n", "\t", "\\\n", "\r", "\0", "\x7f", "\udcff", "é", "\nE\n"])
).map("".join)
ANY = st.text(st.characters(exclude_categories=())) | TEXTS


def nodes(node: object) -> Iterator[object]:
    """Every node of a tree."""
    yield node
    if isinstance(node, Value):
        for name in fields(type(node)):
            yield from nodes(getattr(node, name))
    elif isinstance(node, tuple):
        for item in node:
            yield from nodes(item)


def commands(reading: Reading) -> list[tuple[str, ...]]:
    """The words of the simple commands, at any depth."""
    return [tuple(word.text for word in node.words) for node in nodes(reading.script) if isinstance(node, Simple)]


@examples(300)
@given(ANY)
def test_reading_never_raises_and_every_field_is_filled(text: str) -> None:
    reading = read(text)
    assert repr(reading) == repr(read(text))


@examples(300)
@given(ANY)
def test_every_gap_has_a_code_a_place_and_advice(text: str) -> None:
    for code, at, advice in read(text).gaps:
        assert code.startswith("gap.shell.")
        assert 0 <= at <= len(text)
        assert advice == advice.strip(" .")
        assert advice


@examples(300)
@given(ANY)
def test_every_text_without_commands_is_blank_or_doubtful(text: str) -> None:
    reading = read(text)
    if not reading.script.commands and not reading.gaps:
        lines = [line.strip(" \t") for line in text.replace("\\\n", "").split("\n")]
        assert all(not line or line.startswith("#") for line in lines)


@examples(300)
@given(TEXTS)
def test_wrapping_a_text_hides_none_of_its_commands(text: str) -> None:
    reading = read(text)
    if reading.gaps or not reading.script.commands:
        return
    for before, after in (
        ("{ ", "\n}"),
        ("( ", "\n)"),
        ("x $( ", "\n)"),
        ("if y; then ", "\nfi"),
        ("z <( ", "\n)"),
        ("", "\nw"),
    ):
        wrapped = read(before + text + after)
        assert wrapped.gaps or set(commands(reading)) <= set(commands(wrapped))


@examples(300)
@given(TEXTS)
def test_words_stand_where_they_say(text: str) -> None:
    if "`" in text or "\\\n" in text or "<<-" in text or "{" in text or "\0" in text:
        return  # what is there is read from a text of its own
    for node in nodes(read(text).script):
        if isinstance(node, Word):
            assert text[node.start : node.end] == node.text
