"""Frames: what is read is written with the same value, and nothing else is passed."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assent.mcp import frames
from assent.mcp.frames import BadMessage, Frame, FrameKind, Lines

numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(st.characters(exclude_categories=()), max_size=20)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(texts.filter(lambda key: key.casefold().strip() not in frames.KEYS), values, max_size=4)


def with_version(body: dict[str, object]) -> dict[str, object]:
    return {"jsonrpc": "2.0", **body}


messages = st.one_of(
    st.fixed_dictionaries({"id": values, "method": texts.filter(bool)}, optional={"params": objects}),
    st.fixed_dictionaries({"method": texts.filter(bool)}, optional={"params": objects}),
    st.fixed_dictionaries({"id": values, "result": values}),
    st.fixed_dictionaries({"id": values, "error": objects}),
).map(with_version)


@given(messages, objects)
def test_a_message_is_written_with_the_value_that_was_read(message: dict[str, object], more: dict[str, object]) -> None:
    given_line = json.dumps({**more, **message}, ensure_ascii=False).encode("utf-8", "surrogatepass")
    try:
        found = frames.read(given_line)
    except BadMessage:  # half a character that is not written as an escape is no UTF-8
        assert any(0xD800 <= ord(each) <= 0xDFFF for each in given_line.decode("utf-8", "surrogatepass"))
        return
    assert isinstance(found, Frame)
    line = frames.write(found.body)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert line.isascii()
    assert json.loads(line) == {**more, **message}
    assert frames.write(json.loads(line)) == line
    assert frames.read(line) == found


@given(st.lists(messages, min_size=1, max_size=4))
def test_a_batch_is_read_message_by_message(batch: list[dict[str, object]]) -> None:
    found = frames.read(frames.write(batch))
    assert isinstance(found, list)
    assert [each.body for each in found if isinstance(each, Frame)] == batch


@given(st.binary(max_size=200) | texts.map(lambda text: text.encode("utf-8", "surrogatepass")))
@example(b"")
@example(b'{"jsonrpc":"2.0","id":1,"method":"x"}{')
@example(b"[" * 100_000)
@example(b'{"a":' * 100_000)
@example(b"1" * 10_000)
def test_whatever_comes_is_a_message_or_refused(line: bytes) -> None:
    try:
        found = frames.read(line)
    except BadMessage as error:
        answer = error.answer()
        assert set(answer) == {"jsonrpc", "id", "error"}
        return
    for each in found if isinstance(found, list) else [found]:
        if isinstance(each, Frame):
            assert each.body["jsonrpc"] == "2.0"


@given(messages, st.data())
def test_a_key_given_twice_is_refused_wherever_it_stands(message: dict[str, object], data: st.DataObject) -> None:
    message["params"] = {"a": [{"b": 1}]}
    line = json.dumps(message)
    key = data.draw(st.sampled_from(["jsonrpc", "params", "a", "b"]))
    spelled = data.draw(st.sampled_from([key, f"\\u{ord(key[0]):04x}{key[1:]}"]))
    spoiled = line.replace(f'"{key}": ', f'"{spelled}": 0, "{key}": ', 1)
    with pytest.raises(BadMessage):
        frames.read(spoiled.encode())


def test_kinds_are_told_apart() -> None:
    def kind(**body: object) -> FrameKind:
        return frames.frame({"jsonrpc": "2.0", **body}).kind

    assert kind(id=1, method="m") is FrameKind.REQUEST
    assert kind(id=None, method="m") is FrameKind.REQUEST
    assert kind(method="m") is FrameKind.NOTIFICATION
    assert kind(id=1, result=None) is FrameKind.RESPONSE
    assert kind(id=1, error={}) is FrameKind.RESPONSE


@pytest.mark.parametrize(
    "body",
    [
        {"id": 1},
        {"id": 1, "result": 1, "error": {}},
        {"result": 1},
        {"id": 1, "method": "m", "result": 1},
        {"id": 1, "method": ""},
        {"id": 1, "method": ["tools/call"]},
        {"id": 1, "method": "m", "params": "x"},
        {"id": 1, "error": "x"},
        {"id": 1, "method": "m", "Params": {}},
        {"id": 1, "method": "m", " params": {}},
        {"id": 1, "result": 1, "params": {}},
    ],
    ids=str,
)
def test_a_message_that_is_two_things_or_none_is_refused(body: dict[str, object]) -> None:
    with pytest.raises(BadMessage):
        frames.frame({"jsonrpc": "2.0", **body})


@pytest.mark.parametrize(
    ("line", "id"),
    [
        (b'{"id":7,"a":1,"a":2}', 7),
        (b'{"id":"x","a":NaN}', "x"),
        (b'{"id":7,"id":8}', None),
        (b'{"id":[7],"a":1,"a":2}', None),
        (b'{"id":true,"a":1,"a":2}', None),
        (b'[{"id":7,"a":1,"a":2}]', None),
        (b'{"id":7', None),
    ],
)
def test_an_error_names_the_id_only_where_there_is_one(line: bytes, id: object) -> None:
    with pytest.raises(BadMessage) as refused:
        frames.read(line)
    assert refused.value.answer()["id"] == id


def test_ids_are_told_apart_by_type() -> None:
    ids: list[object] = [1, 1.0, "1", True, None, "null", [1], {"a": 1}, 2**64, 0.1]
    assert len({frames.key_of(each) for each in ids}) == len(ids)


@given(st.lists(st.binary(max_size=30).filter(lambda line: b"\n" not in line), max_size=8), st.data())
def test_lines_do_not_depend_on_how_they_come(lines: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=5)))
    cutter = Lines(20)
    found: list[bytes | None] = []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        found += cutter.feed(stream[start:end])
    expected = [None if len(line) > 20 else line.strip(b" \t\r") for line in lines]
    assert found == [line for line in expected if line is None or line]
