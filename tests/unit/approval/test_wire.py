"""Words of approval as JSON: what is written is read back the same, and nothing else is read at all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.approval import wire
from assent.contract import Call, Decision, Layer, Outcome, Part, PayloadError, Value, fields
from assent.contract.approval import Answer, Consequence, Ending, Held, Preview, Resolution, Said, Scope, Suggestion
from tests.broker.stage import YES, held
from tests.examples import examples

texts = st.text(max_size=8) | st.sampled_from(["\ud800", "\x00", "\u202e", "é"])
many_texts = st.lists(texts, max_size=3).map(tuple)
numbers = st.floats(allow_nan=False, allow_infinity=False)
jsons = st.recursive(
    st.none() | st.booleans() | st.integers() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
calls = st.builds(
    Call,
    texts,
    st.dictionaries(texts, jsons, max_size=3),
    cwd=texts,
    roots=many_texts,
    home=texts,
    session=texts,
    runtime=texts,
    description=texts,
    shell=texts,
)
parts = st.builds(
    Part,
    st.sampled_from(list(Outcome)),
    st.sampled_from(list(Layer)),
    texts,
    texts,
    what=texts,
    where=texts,
    rule=texts,
    source=texts,
    flip=texts,
    message=texts,
    high=st.booleans(),
    also=many_texts,
)
decisions = st.builds(
    Decision,
    st.sampled_from(list(Outcome)),
    parts,
    st.lists(parts, max_size=2).map(tuple),
    lost=st.lists(st.tuples(texts, texts), max_size=2).map(tuple),
    mode=texts,
    risk=texts,
    tool=texts,
)
helds = st.builds(
    Held,
    texts,
    calls,
    texts,
    decisions,
    st.builds(Preview, texts, texts, path=texts, length=st.integers(0, 10**9)),
    effects=many_texts,
    consequences=st.lists(st.builds(Consequence, texts, texts, cut=st.booleans()), max_size=2).map(tuple),
    suggestions=st.lists(st.builds(Suggestion, many_texts, texts), max_size=2).map(tuple),
    warnings=many_texts,
    project=texts,
    made=numbers,
    timeout=numbers,
    unseen=numbers,
    attended=st.booleans(),
)
answers = st.builds(
    Answer,
    st.sampled_from(list(Said)),
    scope=st.sampled_from(list(Scope)),
    rules=many_texts,
    message=texts,
    who=texts,
    channel=texts,
)
resolutions = st.builds(
    Resolution,
    texts,
    st.sampled_from(list(Ending)),
    allowed=st.booleans(),
    answer=st.none() | answers,
    reason=texts,
    waited=numbers,
)


@examples(60)
@given(helds, answers, resolutions)
def test_what_is_written_is_read_back_the_same(question: Held, answer: Answer, resolution: Resolution) -> None:
    assert wire.read_held(wire.loads(wire.dumps(question))) == question
    assert wire.read_answer(wire.loads(wire.dumps(answer))) == answer
    assert wire.read_resolution(wire.loads(wire.dumps(resolution))) == resolution
    assert wire.dumps(question).isascii()


@pytest.mark.parametrize("kind", list(wire.FIELDS))
def test_every_field_of_every_word_is_carried(kind: type[Value]) -> None:
    """A field that the contract gains and this forgets would be lost on the way."""
    assert set(wire.FIELDS[kind]) == set(fields(kind))


def changed(**fields: object) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(wire.dumps(held("a")))
    return {**data, **fields}


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        "held",
        {},
        changed(id=5),
        changed(call=None),
        changed(call={"tool": "bash"}),
        changed(call={"tool": "bash", "input": ["command"]}),
        changed(timeout="300"),
        changed(timeout=True),
        changed(timeout=float("inf")),
        changed(attended=1),
        changed(effects="all"),
        changed(effects=[1]),
        changed(decision={"outcome": "maybe"}),
        changed(preview={"kind": "command", "text": "x", "length": 1.5}),
    ],
)
def test_what_is_not_a_question_is_not_read_as_one(data: object) -> None:
    with pytest.raises(PayloadError):
        wire.read_held(data)


@pytest.mark.parametrize("said", ["ALLOW", "yes", True, None, 0])
def test_an_answer_says_exactly_one_of_the_known_words(said: object) -> None:
    with pytest.raises(PayloadError):
        wire.read_answer({"said": said})


def test_fields_of_a_newer_sender_are_passed_over() -> None:
    assert wire.read_held(changed(novelty=1)) == held("a")
    assert wire.read_answer({"said": "allow", "who": "ada", "channel": "desk", "mood": "good"}) == YES


@pytest.mark.parametrize("value", [b"x", {1: 2}, {"a": object()}, float("nan"), float("inf"), [1 << 100_000], {1, 2}])
def test_what_json_cannot_hold_is_refused_rather_than_changed(value: object) -> None:
    with pytest.raises(PayloadError):
        wire.dumps(Call("bash", {"x": value}))


def test_depth_without_end_is_refused() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(PayloadError):
        wire.dumps(Call("bash", {"x": deep}))
    with pytest.raises(PayloadError):
        wire.loads("[" * 100_000)


@pytest.mark.parametrize("text", ["", "{", "nonsense", b"\xff\xfe"])
def test_what_is_not_json_is_refused_in_words(text: str | bytes) -> None:
    with pytest.raises(PayloadError, match="not JSON"):
        wire.loads(text)
