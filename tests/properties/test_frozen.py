"""Settings that were serialized and loaded decide every call of the corpus the same."""

from __future__ import annotations

import pytest

from assent.contract import Call
from assent.engine.engine import Engine
from assent.policy.rules import Origin
from tests.cases import CORPUS, HOME, ROOT, rows
from tests.examples import combinations
from tests.unit.policy.test_frozen import ALL, made, thawed

NAMES = sorted(path.stem for path in CORPUS.glob("*.jsonl"))


@pytest.mark.parametrize(("name", "texts"), combinations(NAMES, [ALL[0], ALL[2]]))
def test_the_corpus_is_decided_the_same(name: str, texts: tuple[tuple[str, Origin], ...]) -> None:
    settings = made(*texts)
    plain, frozen = Engine(settings), Engine(thawed(settings))
    for row in rows(name):
        tool, given = row.get("tool", "bash"), row.get("input") or {"command": row.get("command", "")}
        assert isinstance(tool, str)
        assert isinstance(given, dict)
        call = Call(tool, given, cwd=ROOT, roots=(ROOT,), home=HOME)
        assert frozen.decide(call, links={}) == plain.decide(call, links={}), row
