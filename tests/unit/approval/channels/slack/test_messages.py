"""Whatever an agent writes, a message in Slack shows it as text, within Slack's limits, and can be answered."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.approval.channels.slack import blocks, interactions, messages
from assent.contract import Call, Decision, Layer, Outcome, Part
from assent.contract.approval import (
    Answer,
    Consequence,
    Ending,
    Held,
    Preview,
    Reach,
    Resolution,
    Said,
    Scope,
    Suggestion,
)
from assent.contract.display import is_hidden
from tests.examples import examples
from tests.slack import kit

HOSTILE = st.one_of(
    st.text(max_size=400),
    st.lists(
        st.sampled_from(
            [
                "<!channel>", "<!here>", "<!everyone>", "<@U0ANN>", "<#C1>", "<https://evil.example|ok>", "```", "`",
                "*b*", "_i_", "~s~", "&amp;", "&lt;", "\x1b[31m", "\u202e", "\u2066", "\u200b", "\x00", "\r\n", "\n",
                ":smile:", "@here", "<!date^1^{date}|x>", "\U000e0061", "а", "rm -rf /", "x" * 900, "\ud800", "\t",
            ]
        ),
        max_size=40,
    ).map("".join),
)  # fmt: skip


def question(
    text: str = "make", *, kind: str = "command", risk: str = "medium", suggestions: int = 1, other: str = ""
) -> Held:
    part = Part(Outcome.ASK, Layer.MODE, "mode.execute", other or "it runs something", what=text, rule=other)
    decision = Decision(Outcome.ASK, part, (part,), mode="default", risk=risk)
    offered = tuple(Suggestion((f"bash(make {number}{other})",), f"exactly {other}") for number in range(suggestions))
    call = Call("bash", {"command": text}, cwd=f"/w{other}", session=other or "s", runtime=other, description=other)
    return Held(
        "5a01d93d-8ef5-4cc0-8431-e238e0e2c09a",
        call,
        "digest",
        decision,
        Preview(kind, text, path=other),
        effects=tuple([f"run {text}"] * 20) if other else ("run make",),
        consequences=tuple([Consequence("deletion", f"removes {other}")] * 20) if other else (),
        suggestions=offered,
        warnings=tuple([f"look {other}"] * 20) if other else (),
        project=f"/w{other}",
    )


def seen(message: messages.Message) -> str:
    return "\n".join([*kit.texts(message.blocks), message.text])


@examples(150)
@given(
    HOSTILE, HOSTILE, st.sampled_from(["command", "diff", "input"]), st.integers(0, 3), st.sampled_from(["low", "high"])
)
def test_no_text_of_an_agent_is_read_by_slack_or_hides(
    text: str, other: str, kind: str, suggestions: int, risk: str
) -> None:
    held = question(text, kind=kind, other=other, suggestions=suggestions, risk=risk)
    for reach in (None, Reach(3, 1, 40), Reach(refusal=other)):
        message = messages.question(held, "ticket", deadline=1_700_000_000.0, behind=2, reach=reach)
        assert kit.objections(message.blocks) == []
        check(message)
    answer = Answer(Said.DENY, message=other, who=other, channel=other)
    for ending in Ending:
        over = messages.over(held, Resolution(held.id, ending, answer=answer, reason=other))
        assert kit.objections(over.blocks) == []
        assert "actions" not in {each["type"] for each in over.blocks}
        check(over)


def check(message: messages.Message) -> None:
    # INVARIANT: Slack reads `mrkdwn` and the words of a notification, and nothing else that we send.
    assert "mrkdwn" not in set(kit.kinds(message.blocks))
    assert all(each.get("emoji") is False for each in plain_texts(message.blocks))
    assert re.sub(r"&(amp|lt|gt);", "", message.text).count("&") == 0
    assert not set(message.text) & set("<>`\n")
    assert [each for each in seen(message) if is_hidden(each)] == []
    seen(message).encode()  # can be sent


def plain_texts(value: object) -> list[dict[str, object]]:
    if isinstance(value, dict):
        mine = [value] if value.get("type") == "plain_text" else []
        return mine + [found for each in value.values() for found in plain_texts(each)]
    if isinstance(value, list):
        return [found for each in value for found in plain_texts(each)]
    return []


@examples(80)
@given(HOSTILE, HOSTILE, st.integers(1, 3))
def test_dialogs_are_within_slacks_limits_and_hide_nothing(text: str, other: str, suggestions: int) -> None:
    held = question(text, other=other, suggestions=suggestions)
    rules = held.suggestions[0].rules
    if not interactions.fits(rules):
        return
    for view in (
        interactions.reason(held, "ticket"),
        interactions.rule(held, "ticket", rules, Scope.SESSION, Reach(1, 1, 2, covers=False)),
        interactions.rule(held, "ticket", rules, Scope.QUARTER, None),
    ):
        assert kit.view_objections(view) == []
        assert "mrkdwn" not in set(kit.kinds(view))
        assert [each for text in kit.texts(view) for each in text if is_hidden(each)] == []


def test_a_rule_that_does_not_fit_into_a_dialog_whole_is_not_changed_there() -> None:
    assert [interactions.fits(each) for each in ((), ("x" * 2900,), ("x" * 2901,), ("x" * 1450, "x" * 1450))] == [
        False, True, False, False,
    ]  # fmt: skip


def test_a_long_command_is_cut_in_the_middle_with_its_true_length() -> None:
    message = messages.question(question("a" * 5000 + " && rm -rf /"), "t", deadline=0.0)
    code = next(each for each in kit.texts(message.blocks) if each.startswith("aaaa"))
    assert len(code) <= blocks.CODE
    assert code.endswith("&& rm -rf /")
    assert "[cut: 5,012 characters in all]" in code
    assert "cut: 5,012 characters in all" in seen(message)


def test_backticks_of_a_command_stay_as_they_are_where_they_are_shown() -> None:
    message = messages.question(question("echo `id` ```x```"), "t", deadline=0.0)
    assert "echo `id` ```x```" in list(kit.texts(message.blocks))


def test_only_what_can_be_remembered_has_buttons_that_remember() -> None:
    def actions(held: Held, reach: Reach | None = None) -> list[str]:
        message = messages.question(held, "t", deadline=0.0, reach=reach)
        return [each["action_id"] for row in message.blocks if row["type"] == "actions" for each in row["elements"]]

    wide = list(messages.WIDER)
    assert len(wide) >= 2
    assert [each for each in wide if each not in actions(question())] == []
    assert [each for each in (*wide, messages.EDIT) if each in actions(question(suggestions=0))] == []
    assert [each for each in wide if each in actions(question(), Reach(refusal="too broad"))] == []


def test_what_is_risky_is_confirmed_before_it_is_allowed_and_not_before_it_is_denied() -> None:
    message = messages.question(question(risk="high"), "t", deadline=0.0)
    found = {
        each["action_id"]: "confirm" in each
        for row in message.blocks
        if row["type"] == "actions"
        for each in row["elements"]
    }
    assert {name for name, confirmed in found.items() if confirmed} == {*messages.SCOPES}


@pytest.mark.parametrize("ending", list(Ending))
def test_every_end_has_words_and_only_an_approval_says_allowed(ending: Ending) -> None:
    told = messages.ended(Resolution("x", ending, allowed=False, answer=Answer(Said.DENY, who="ann", channel="web")))
    assert told
    assert not told.startswith("Allowed")


def test_what_a_message_cuts_is_whole_in_its_file_and_confirmed_before_it_is_allowed() -> None:
    assert messages.snippet(question("+ a", kind="diff")) == ""
    long = question("+\u202e" * 3000, kind="diff")
    assert messages.snippet(long) == "+\\u{202e}" * 3000
    many = question("make", other="x")
    assert messages.snippet(many).count("run make") == 20
    for held in (long, many):
        made = messages.question(held, "t", deadline=0.0)
        rows = [each for row in made.blocks if row["type"] == "actions" for each in row["elements"]]
        assert {each["action_id"] for each in rows if "confirm" in each} == {*messages.SCOPES}


def with_beside(
    *, effects: tuple[str, ...] = ("run make",), warnings: tuple[str, ...] = (), causes: tuple[str, ...] = ()
) -> Held:
    held = question()
    return Held(
        held.id,
        held.call,
        held.digest,
        held.decision,
        held.preview,
        effects=effects,
        consequences=tuple(Consequence("deletion", each) for each in causes),
        suggestions=held.suggestions,
        warnings=warnings,
        project=held.project,
    )


def test_consequences_are_a_list_below_what_it_does() -> None:
    made = messages.question(with_beside(causes=("removes 3 files, 12 bytes",)), "t", deadline=0.0)
    assert "What it would cause\nremoves 3 files, 12 bytes\nWhy it asks" in seen(made)
    assert "What it would cause" not in seen(messages.question(with_beside(), "t", deadline=0.0))


@pytest.mark.parametrize(
    "held",
    [
        with_beside(effects=("write /" + "a" * 300 + "/end",)),
        with_beside(causes=("removes " + "b" * 300 + "/end",)),
        with_beside(warnings=("look at " + "b" * 300 + "/end",)),
        with_beside(warnings=tuple(f"warning {number}." for number in range(messages.MOST_WARNINGS + 3))),
    ],
    ids=["a long effect", "a long consequence", "a long warning", "many warnings"],
)
def test_what_stands_beside_and_is_cut_is_in_the_file_and_confirmed_too(held: Held) -> None:
    made = messages.question(held, "t", deadline=0.0)
    rows = [each for row in made.blocks if row["type"] == "actions" for each in row["elements"]]
    assert {each["action_id"] for each in rows if "confirm" in each} == {*messages.SCOPES}
    assert all(each in messages.snippet(held) for each in (*held.effects, *held.warnings))
    assert all(each.text in messages.snippet(held) for each in held.consequences)
    more = len(held.warnings) - messages.MOST_WARNINGS
    assert (f"and {more} more, in the thread" in seen(made)) is (more > 0)


def test_a_press_remembers_no_rule_that_the_message_does_not_show_whole() -> None:
    held = question(other="y" * 700)
    made = messages.question(held, "t", deadline=0.0)
    actions = [each["action_id"] for row in made.blocks if row["type"] == "actions" for each in row["elements"]]
    assert actions == [messages.ONCE, messages.DENY, messages.EDIT, messages.WHY]
    assert (messages.pressed(held), messages.pressed(question())) == (None, question().suggestions[0])


@pytest.mark.parametrize("held", [question(), question("x" * 9000, risk="high", other="y")], ids=["short", "long"])
def test_no_button_moves_when_the_end_is_near(held: Held) -> None:
    first, again = (messages.question(held, "t", deadline=9.0, soon=soon).blocks for soon in (False, True))
    changed = [number for number, (one, other) in enumerate(zip(first, again, strict=True)) if one != other]
    told = [next(kit.texts(again[number])) for number in changed]
    assert told == ["⏳ Denied in less than a minute, unless it is answered by "]


def test_what_slack_does_not_take_can_still_be_denied_there_and_not_allowed() -> None:
    made = messages.bare(question("x" * 9000, other="<!channel>"), "ticket")
    assert kit.objections(made.blocks) == []
    assert [each["action_id"] for each in made.blocks[-1]["elements"]] == [messages.DENY]
    check(made)
