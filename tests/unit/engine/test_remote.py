"""What a server answers: nothing but an explicit yes that follows from what was decided lets a call run."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from assent.approval import wire
from assent.contract import Decision, Layer, Outcome, Part
from assent.contract.approval import Answer, Ending, Resolution, Said
from assent.engine.engine import refusal
from assent.engine.remote import verdict

PASSED = Part(Outcome.ALLOW, Layer.MODE, "mode.look", "it only looks")
ALLOWED = wire.plain(Decision(Outcome.ALLOW, PASSED, (PASSED,)))
DENIED = wire.plain(refusal("deny.rule", "no"))
YES = wire.plain(Resolution("1", Ending.ANSWERED, allowed=True, answer=Answer(Said.ALLOW, who="ada")))
NO = wire.plain(Resolution("1", Ending.ANSWERED, allowed=False, answer=Answer(Said.DENY, who="ada")))
WHOLE: dict[str, Any] = {"waiting": False, "allowed": True, "id": "1", "decision": ALLOWED, "resolution": None}


@pytest.mark.parametrize(
    ("more", "status", "allowed"),
    [
        ({}, 200, True),
        ({"decision": DENIED, "resolution": YES}, 200, True),
        ({"decision": DENIED}, 200, False),
        ({"resolution": NO}, 200, False),
        ({"allowed": "true"}, 200, False),
        ({"allowed": 1}, 200, False),
        ({"waiting": True}, 200, False),
        ({"waiting": None}, 200, False),
        ({}, 202, False),
        ({}, 500, False),
    ],
)
def test_nothing_but_a_yes_that_follows_is_one(more: dict[str, Any], status: int, allowed: bool) -> None:
    assert verdict(status, {**WHOLE, **more}).allowed is allowed


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in items:
        yield (*path, key)
        yield from places(each, (*path, key))


@pytest.mark.parametrize("junk", [None, 1, -1, "x", [], {}, [1], {"a": 1}, [[]], float("inf")])
def test_an_answer_with_anything_in_it_is_read_or_denied(junk: object) -> None:
    whole = {**WHOLE, "decision": DENIED, "resolution": YES}
    for path in places(whole):
        given = copy.deepcopy(whole)
        inner: Any = given
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = junk
        assert verdict(200, given).allowed in (True, False)
