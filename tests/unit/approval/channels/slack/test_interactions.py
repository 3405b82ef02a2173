"""Under any order of presses, outages and other answers: only a listed person's own yes to a question lets it run."""

from __future__ import annotations

import asyncio
import copy
import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.approval.channels.remote import RateLimited
from assent.approval.channels.slack import interactions, messages
from assent.approval.channels.slack.channel import SlackChannel
from assent.approval.channels.slack.interactions import Interactions
from assent.contract.approval import Held, Reach, Resolution, Said, Scope, Suggestion
from tests.broker.stage import NO, Scene, calm, held, play
from tests.examples import examples

ANN, MALLORY, TEAM = "U0ANN", "U0MALLORY", "T0HOME"


class Slack:
    """Slack's Web API as a function, with faults. Messages are kept by their time."""

    def __init__(self) -> None:
        self.messages: dict[str, dict[str, Any]] = {}
        self.whispers: list[str] = []
        self.views: list[dict[str, Any]] = []
        self.fault: Exception | None = None
        self._count = itertools.count(1)

    async def call(self, method: str, **fields: Any) -> dict[str, Any]:
        if self.fault is not None:
            raise self.fault
        if method == "chat.postMessage":
            ts = f"{next(self._count)}.0"
            self.messages[ts] = fields
            return {"channel": "C0", "ts": ts}
        if method == "chat.update":
            self.messages[fields["ts"]] = fields
        if method == "chat.postEphemeral":
            self.whispers.append(fields["text"])
        if method == "views.open":
            self.views.append(fields["view"])
        return {}

    async def snippet(self, channel: str, thread: str, name: str, text: str) -> None: ...

    def tickets(self) -> dict[str, str]:
        """The tickets of open messages, by their times."""
        return {
            ts: each["elements"][0]["value"]
            for ts, message in self.messages.items()
            for each in message["blocks"]
            if each["type"] == "actions"
        }


class Stage:
    """A broker that asks in Slack and at a desk."""

    def __init__(self) -> None:
        self.slack = Slack()
        self.scene = Scene()
        self.refused: list[str] = []
        self.triggers = itertools.count()
        self.channel = SlackChannel(
            self.slack,
            "C0",
            reach=self.reach,
            report=lambda words: None,
            again=lambda: self.scene.broker.attach(self.channel),
            is_up=lambda: True,
            mark="home",
        )
        self.interactions = Interactions(
            self.channel,
            users=(ANN,),
            team=lambda: TEAM,
            refused=self.refused.append,
            clock=asyncio.get_running_loop().time,
        )
        self.scene.broker.attach(self.channel)

    async def reach(self, question: Held, rules: tuple[str, ...], scope: Scope) -> Reach:
        return Reach(1, 0, 10)

    def press(
        self, ticket: str, action: str, *, user: str = ANN, team: str = TEAM, trigger: str = ""
    ) -> dict[str, Any]:
        return {
            "type": "block_actions",
            "user": {"id": user, "username": "ann", "team_id": team},
            "team": {"id": TEAM},
            "trigger_id": trigger or f"t{next(self.triggers)}",
            "container": {"channel_id": "C0", "message_ts": "1.0"},
            "actions": [{"action_id": action, "value": ticket, "action_ts": "100.0"}],
        }


ACTIONS = st.sampled_from([*messages.SCOPES, messages.DENY, messages.WHY, messages.EDIT, "assent_nonsense", ""])
PRESSES = st.fixed_dictionaries(
    {
        "of": st.integers(0, 3),
        "action": ACTIONS,
        "user": st.sampled_from([ANN, ANN, MALLORY, ""]),
        "team": st.sampled_from([TEAM, TEAM, "T0GUEST"]),
        "ticket": st.sampled_from(["right", "right", "nonce", "mark", "cut", "none"]),
        "trigger": st.sampled_from(["", "", "", "same"]),
    }
)
EVENTS = st.lists(
    st.one_of(
        PRESSES,
        st.sampled_from(["ask", "ask", "down", "up", "busy", "deny at the desk", "wait", "attach"]),
    ),
    max_size=14,
)


def spoiled(ticket: str, how: str) -> str:
    id, _, _ = ticket.split(".")
    return {
        "right": ticket,
        "nonce": f"{id}.{'A' * 24}.home",
        "mark": ticket.replace(".home", ".away"),
        "cut": ticket.rpartition(".")[0],
        "none": "",
    }[how]


@examples(120)
@given(EVENTS)
def test_only_a_listed_persons_yes_to_a_question_lets_it_run(events: list[Any]) -> None:
    async def scene() -> None:
        stage = Stage()
        asked: list[tuple[Held, asyncio.Task[Resolution]]] = []
        seen: dict[str, str] = {}  # question → ticket
        entitled: set[str] = set()
        pressed_same = False
        for event in events:
            match event:
                case "ask":
                    question = held(session=f"s{len(asked)}")
                    asked.append((question, stage.scene.ask(question)))
                case "down":
                    stage.slack.fault = ConnectionError("down")
                case "busy":
                    stage.slack.fault = RateLimited(5)
                case "up":
                    stage.slack.fault = None
                case "wait":
                    await asyncio.sleep(40)
                case "attach":
                    stage.scene.broker.attach(stage.channel)
                case "deny at the desk":
                    for each in stage.scene.broker.pending()[:1]:
                        await stage.scene.broker.answer(each.held.id, each.held.digest, NO)
                case dict():
                    await calm()
                    seen |= {ticket.partition(".")[0]: ticket for ticket in stage.slack.tickets().values()}
                    known = [each for each, _ in asked if each.id in seen]
                    if not known:
                        continue
                    question = known[event["of"] % len(known)]
                    same = event["trigger"] == "same"
                    press = stage.press(
                        spoiled(seen[question.id], event["ticket"]),
                        event["action"],
                        user=event["user"],
                        team=event["team"],
                        trigger="the same" if same else "",
                    )
                    right = event["user"] == ANN and event["team"] == TEAM and event["ticket"] == "right"
                    if right and event["action"] in messages.SCOPES and not (same and pressed_same):
                        entitled.add(question.id)
                    pressed_same = pressed_same or same
                    assert await stage.interactions.take(press) == {}
            await calm()
        stage.slack.fault = None
        await asyncio.sleep(1000)
        for question, task in asked:
            resolution = await task
            assert not resolution.allowed or question.id in entitled, "nobody who may said yes to it"
            if resolution.allowed:
                assert resolution.answer is not None
                assert (resolution.answer.said, resolution.answer.channel) == (Said.ALLOW, "slack")
                assert resolution.answer.who == "U0ANN (ann)"
        assert stage.slack.tickets() == {}, "no message of a question that has ended can be pressed"
        stage.scene.assert_empty()
        await stage.scene.broker.close()

    play(scene())


def test_a_question_that_came_late_is_answered_and_its_clock_runs_from_then() -> None:
    async def scene() -> None:
        stage = Stage()
        stage.slack.fault = RateLimited(20)
        asked = stage.scene.ask(held(session="s"))
        await asyncio.sleep(10)
        assert stage.slack.messages == {}
        stage.slack.fault = None
        await asyncio.sleep(15)
        (ticket,) = stage.slack.tickets().values()
        await stage.interactions.take(stage.press(ticket, messages.ONCE))
        assert (await asked).allowed
        await stage.scene.broker.close()

    play(scene())


def test_a_message_is_drawn_anew_when_its_end_is_near(monkeypatch: Any) -> None:
    async def scene() -> None:
        loop = asyncio.get_running_loop()
        monkeypatch.setattr("time.time", lambda: 1_700_000_000.0 + loop.time())
        stage = Stage()
        asked = stage.scene.ask(held(session="s", timeout=300))
        await asyncio.sleep(200)
        assert "in less than a minute" not in str(stage.slack.messages)
        await asyncio.sleep(50)
        assert "in less than a minute" in str(stage.slack.messages)
        assert len(stage.slack.tickets()) == 1
        assert not (await asked).allowed
        await stage.scene.broker.close()

    play(scene())


def test_those_who_may_not_answer_are_told_so_but_not_without_end() -> None:
    async def scene() -> None:
        stage = Stage()
        asked = stage.scene.ask(held(session="s"))
        await calm()
        (ticket,) = stage.slack.tickets().values()
        for _ in range(50):
            await stage.interactions.take(stage.press(ticket, messages.ONCE, user=MALLORY))
        await calm()
        assert len(stage.slack.whispers) == 8
        assert len(stage.refused) == 50
        assert not asked.done()
        await stage.interactions.take(stage.press(ticket, messages.DENY))
        assert not (await asked).allowed
        await stage.scene.broker.close()

    play(scene())


def test_what_a_rule_would_reach_is_found_out_for_few_questions_at_a_time() -> None:
    async def scene() -> None:
        stage = Stage()
        reaching = [0, 0]  # now, at the most

        async def slow(question: Held, rules: tuple[str, ...], scope: Scope) -> Reach:
            reaching[0] += 1
            reaching[1] = max(reaching)
            try:
                await asyncio.sleep(1)
            finally:
                reaching[0] -= 1
            return Reach(1, 0, 10)

        stage.channel._reach = slow
        asked = [stage.scene.ask(held(session=f"s{number}")) for number in range(20)]
        await asyncio.sleep(5)
        assert len(stage.slack.tickets()) == 20
        assert reaching == [0, 2]
        for ticket in stage.slack.tickets().values():
            await stage.interactions.take(stage.press(ticket, messages.DENY))
        assert [(await each).allowed for each in asked] == [False] * 20
        await stage.scene.broker.close()

    play(scene())


def view(kind: str = interactions.RULE) -> dict[str, Any]:
    question = held()
    made = (
        interactions.rule(question, "id.word", ("bash(make:*)",), Scope.SESSION, None)
        if kind == interactions.RULE
        else interactions.reason(question, "id.word")
    )
    values = {
        "rule": {"rule": {"value": "bash(make all)"}},
        "scope": {"scope": {"selected_option": {"value": "15m"}}},
        "reason": {"reason": {"value": " no "}},
        "stop": {"stop": {"selected_options": [{"value": "stop"}]}},
    }
    return {**made, "state": {"values": values}}


def test_what_was_typed_and_picked_is_read() -> None:
    mark = interactions.mark(("bash(make:*)",), Scope.SESSION)
    assert interactions.read(view()) == interactions.Submission(
        interactions.RULE, "id.word", shown=mark, rules="bash(make all)", scope=Scope.QUARTER
    )
    assert interactions.read(view(interactions.REASON)) == interactions.Submission(
        interactions.REASON, "id.word", message="no", stop=True
    )


NAMES = st.sampled_from(["rule", "value", "values", "ticket"])
JSON = st.recursive(
    st.none() | st.booleans() | st.text(max_size=5), lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner)
)
PLACES = st.sampled_from(
    [
        "private_metadata", "state", "callback_id", "state.values", "state.values.scope", "state.values.rule",
        "state.values.reason",
    ]
)  # fmt: skip


@given(st.sampled_from([interactions.RULE, interactions.REASON]), st.lists(PLACES, min_size=1, max_size=3), JSON)
def test_what_is_not_of_that_form_is_none_or_carries_nothing_it_was_not_given(
    kind: str, places: list[str], value: object
) -> None:
    broken = copy.deepcopy(view(kind))
    for place in places:
        inner: Any = broken
        *path, last = place.split(".")
        for name in path:
            inner = inner.get(name) if isinstance(inner, dict) else None
        if isinstance(inner, dict):
            inner[last] = value
    found = interactions.read(broken)
    assert found is None or found.ticket in ("id.word", "") or "ticket" in str(value)


def test_a_rule_that_was_offered_goes_back_as_it_was_offered() -> None:
    question = held()
    odd = ("bash(make \u202e)",)
    question.suggestions = (Suggestion(odd, "x"),)
    assert interactions.shown(odd) == "bash(make \\u{202e})"
    assert interactions.typed_rules(question, interactions.shown(odd)) == odd
    assert interactions.typed_rules(question, "bash(a)\n\n  bash(b) \n") == ("bash(a)", "bash(b)")


@pytest.mark.parametrize("other", [(("bash(make)",), Scope.QUARTER), (("bash(make", ")"), Scope.SESSION)])
def test_rules_that_were_not_shown_have_another_mark(other: tuple[tuple[str, ...], Scope]) -> None:
    assert interactions.mark(("bash(make)",), Scope.SESSION) != interactions.mark(*other)
