"""An index of the tables says the same as the tables, only sooner."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.effects.shell.commands.shelf import Shelf, shelf


@pytest.fixture(scope="module")
def indexed() -> Shelf:
    found = Shelf()
    found.known = shelf.index()
    return found


def test_every_program_and_every_alias_is_found_by_the_index(indexed: Shelf) -> None:
    programs = dict.fromkeys(name.partition(" ")[0] for name in shelf.names())
    assert len(programs) > 500
    assert [name for name in programs if indexed.rows(name) != shelf.rows(name) or not indexed.rows(name)] == []
    aliases = [line.partition("\t")[0][1:] for line in indexed.known.decode().splitlines() if line.startswith("=")]
    assert len(aliases) > 100
    assert [name for name in aliases if indexed.behind(name) != shelf.behind(name) or not indexed.behind(name)] == []


ODD = st.one_of(
    st.text(max_size=12), st.sampled_from(["=git", "git\t", "git\tgit.toml\nls", "a\nb", "[git", 'git"', ""])
)


@given(ODD)
def test_what_no_table_speaks_of_is_not_in_the_index(indexed: Shelf, name: str) -> None:
    assert (indexed.rows(name), indexed.behind(name)) == (shelf.rows(name), shelf.behind(name))


def test_a_line_of_the_index_is_never_read_across_its_end(indexed: Shelf) -> None:
    lines = indexed.known.decode().strip("\n").split("\n")
    for one, two in pairwise(lines):
        name = f"{one}\n{two.partition(chr(9))[0]}".removeprefix("=")
        assert (indexed.rows(name), indexed.behind(name)) == ({}, "")
