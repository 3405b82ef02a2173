"""The plain subset of YAML is read as YAML, and nothing else is."""

from __future__ import annotations

import pytest

from assent.contract.plain_yaml import NotPlainYaml, read


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("a: b\nc: 'd: e'  # f\n", {"a": "b", "c": "d: e"}),
        ("---\na:\n  b:\n    - c\n    - d e: f\n      g: h\n", {"a": {"b": ["c", {"d e": "f", "g": "h"}]}}),
        ("a:\n- b\n-\n  - c\n", {"a": ["b", ["c"]]}),
        ("a: |\n  b\n    c\n\n  d\ne: >-\n  f\n  g\n", {"a": "b\n  c\n\nd", "e": "f g"}),
        ('a: [b, "c, d"]\ne: {f: g, h: i}\n', {"a": ["b", "c, d"], "e": {"f": "g", "h": "i"}}),
        ("x:y: rm -rf ~\n", {"x:y": "rm -rf ~"}),
        ('a: "b\\"c"\n', {"a": 'b"c'}),
        ("a:\nb: c\n", {"a": None, "b": "c"}),
    ],
)
def test_what_is_plain_is_read(text: str, value: object) -> None:
    assert read(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "a: &x b\n",
        "a: *x\n",
        "a: !!str b\n",
        "<<: a\n",
        "a: b\na: c\n",
        "a: b\n  c\n",
        "a:\n\tb: c\n",
        "a: b\n---\nc: d\n",
        "a: [b, [c]]\n",
        "a: 'b\n",
        'a: "\\x41"\n',
        "just text\n",
        "? a\n: b\n",
        "? a: b\n",
        "a:\n  - - b\n",
        "a: b: c\n",
        "a: b\rc: d\n",
        "a: b\x85c: d\n",
        "a: b\u2028c: d\n",
        "a: [b: c]\n",
        "a: {b: c, 'b': d}\n",
        "a: {b: c #}\n",
    ],
)
def test_what_is_more_than_plain_is_not(text: str) -> None:
    with pytest.raises(NotPlainYaml):
        read(text)
