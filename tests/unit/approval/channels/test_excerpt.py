"""Foreign text keeps within its space, hides nothing, tells its true length, and costs no more than is shown of it."""

from __future__ import annotations

import random
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.approval.channels import excerpt
from assent.approval.channels.slack import messages
from assent.approval.channels.webhook import events
from assent.contract import display
from tests.broker.stage import held

TEXTS = st.text(st.sampled_from("ab \n\\u{}202e\u202e\u0301а\x1b中"), max_size=400)


@given(TEXTS, st.integers(20, 400))
def test_it_fits_hides_nothing_and_is_whole_where_that_fits(raw: str, limit: int) -> None:
    for shown, made in ((display.code, excerpt.code), (display.visible, excerpt.prose)):
        found = made(raw, limit)
        assert len(found) <= limit
        assert [each for each in found if display.is_hidden(each)] == []
        if len(shown(raw)) <= limit and len(raw) <= limit:
            assert found == shown(raw)
        elif limit > excerpt.SHORT:
            assert f"[cut: {len(raw):,} characters in all]" in found
    assert excerpt.fits(raw, limit) is (excerpt.code(raw, limit) == display.code(raw))
    assert "\n" not in excerpt.flat(raw, limit)


@given(st.integers(1, 300), st.integers(1, 300), st.integers(121, 200))
def test_a_character_that_is_written_out_is_not_torn_apart(before: int, after: int, limit: int) -> None:
    found = excerpt.code("a" * before + "\u202e" * 300 + "b" * after, limit)
    assert re.sub(r" … \[cut: [\d,]+ characters in all\] … |\\u\{202e\}|[ab]", "", found) == ""


@pytest.mark.slow
def test_a_long_text_of_the_worst_kind_is_drawn_at_once() -> None:
    """A loop that draws it serves everybody else too."""
    chance = random.Random(0)
    worst = "".join(chance.choice("aа\u0301б\u202eé中") for _ in range(100_000))
    question = held(command=worst)
    question.call.description = worst
    question.effects = (worst,) * 200
    question.warnings = (worst,) * 200
    begun = time.process_time()
    messages.question(question, "t", deadline=0.0)
    messages.bare(question, "t")
    assert time.process_time() - begun < 1.5
    assert len(events.question(question, "n", deadline=0.0, behind=0, back="/")) < 1_500_000
