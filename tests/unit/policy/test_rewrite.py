"""Rules are added to a policy's text, and everything else is kept."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.contract import PolicyError
from assent.policy import rewrite, shipped

TEXTS = [
    "",
    "# only a note",
    'allow = ["bash(a)"] # one\n',
    'allow = [\n  "bash(a)" # no comma\n  # a note\n]\n[packs]\n# none yet\n',
    'allow = [\r\n  "bash(a)",\r\n]\r\n\r\n[approval]\r\ntimeout = 5\r\n',
    'allow = [{ rule = "bash(a)", reason = """\n[packs]\nmode = 1 # no\n""" }]\n\n# about asking\n[approval]\n',
    shipped.starter(),
]


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_added_is_all_that_changes(text: str) -> None:
    before = tomllib.loads(text)
    after = rewrite.with_packs(rewrite.with_rules(rewrite.with_mode(text, "auto"), "allow", ["bash(b #)"]), ["x", "y"])
    wanted = {"mode": "auto", **before}
    wanted["allow"] = [*before.get("allow", []), "bash(b #)"]
    wanted["packs"] = {**before.get("packs", {}), "on": [*before.get("packs", {}).get("on", []), "x", "y"]}
    assert tomllib.loads(after) == wanted
    assert [line for line in text.splitlines() if "#" in line and line.strip().startswith("#")] == [
        line for line in after.splitlines() if line.strip().startswith("#")
    ]
    again = rewrite.with_packs(rewrite.with_rules(rewrite.with_mode(after, "plan"), "allow", ["bash(b #)"]), ["y"])
    assert again == after


@given(st.lists(st.sampled_from([*TEXTS[1:-1], "x = 1\n", "\n", "[z]\n", "deny = []\n"]), max_size=3).map("\n".join))
def test_a_text_is_either_changed_as_meant_or_refused(text: str) -> None:
    try:
        before = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        with pytest.raises(PolicyError):
            rewrite.with_rules(text, "deny", ["bash(z)"])
        return
    try:
        after = rewrite.with_rules(text, "deny", ["bash(z)"])
    except PolicyError:
        return
    assert tomllib.loads(after) == {**before, "deny": [*before.get("deny", []), "bash(z)"]}


def test_a_list_in_an_unusual_place_is_refused() -> None:
    with pytest.raises(PolicyError, match="by hand"):
        rewrite.with_packs("packs = { on = [] }\n", ["x"])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "\n[server]\nstart = true\n"),
        ("# mine\nmode = 'auto'", "# mine\nmode = 'auto'\n\n[server]\nstart = true\n"),
        (
            "[server] # mine\nidle = 9\n[packs]\non = []\n",
            "[server] # mine\nstart = true\nidle = 9\n[packs]\non = []\n",
        ),
        ("[server]\nstart = false\n", "[server]\nstart = false\n"),
        ("server.start = true\n", "server.start = true\n"),
        ("[packs]\r\non = []\r\n", "[packs]\r\non = []\r\n\r\n[server]\r\nstart = true\r\n"),
    ],
)
def test_the_start_of_the_server_is_added_once_and_kept_as_it_is_said(before: str, after: str) -> None:
    assert rewrite.with_start(before) == after
