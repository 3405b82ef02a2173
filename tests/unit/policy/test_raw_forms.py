"""The texts of a whole command that deny and ask rules are tried on: quick for megabytes, and as they always were."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from assent.policy.match import raw_forms

PIECES = ["a", "b ", " ", "|", "||", "&", "&&", ";", "|&", "\t", "\n", "\x1c", "\u2003", "\u200b", "'"]
APART = re.compile(r"\s*(\|&|\|\||&&|[|;&])\s*")


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_operators_are_set_apart_and_blanks_are_one(text: str) -> None:
    one = re.sub(r"\s+", " ", text.strip())
    assert raw_forms(text) == tuple(dict.fromkeys((text.strip(), one, " ".join(APART.split(one)))))
