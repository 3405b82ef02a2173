"""The laws of saved answers, on generated calls and on every call of the corpus."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from assent.contract import AssentError, Call, Decision, Layer, Outcome
from assent.contract.approval import Grant, Scope, Suggestion
from assent.engine.engine import Judged
from assent.facts.digest import identity
from assent.policy import grants, suggest
from tests.cases import CORPUS, HOME, ROOT, batch, call, gate, rows
from tests.examples import examples, some

MODES = st.sampled_from(["plan", "default", "auto", "full_auto", "yolo"])
COMMANDS = [
    *("npm test", "npm run build", "git push origin main", "git commit -m x", "make", "python x.py", "rm -rf build"),
    *("cp a b", "curl https://example.com/x", "cat ~/.ssh/id_rsa", "ls src", "$X", "eval $Y", "tee out", "rm -rf /"),
]
JOINED = st.lists(st.sampled_from(COMMANDS), min_size=1, max_size=3).flatmap(
    lambda parts: st.sampled_from([" && ", "; ", " | ", " || "]).map(lambda by: by.join(parts))
)
WRAPPED = st.builds(lambda before, text: before + text, st.sampled_from(["", "sudo ", "env A=1 ", "PATH=/x "]), JOINED)
TEXTS = st.builds(lambda text, after: text + after, WRAPPED, st.sampled_from(["", " > out", " < in", " 2>&1"]))
RULES = st.sampled_from(
    [
        *("bash(npm test:*)", "bash(npm:*)", "bash(git push origin:*)", "bash(make)", "bash(rm:*)", "write(out)"),
        *("write(build/**)", "delete(build/**)", "fetch(domain:example.com)", "bash", "read(**)", "path(**)", "write"),
    ]
)
ASKS = st.lists(st.sampled_from(["bash(npm:*)", "bash(git push:*)", "write(out)", "bash", "bash(cat:*)"]), max_size=2)
DENIES = st.lists(st.sampled_from(["bash(make:*)", "write(out)", "bash(npm run:*)"]), max_size=1)
SAME = "same"
HELD = st.lists(
    st.builds(
        lambda rules, answers, same: Grant(
            "g",
            Scope.SESSION,
            rules=() if same else tuple(rules),
            identity=SAME if same else "",
            answers=tuple(answers),
        ),
        st.lists(RULES, min_size=1, max_size=3),
        ASKS,
        st.booleans(),
    ),
    max_size=3,
)


def settle(made: Judged, held: list[Grant], name: str = SAME) -> Decision:
    assert made.lowering is not None
    assert made.facts is not None
    assert made.policy is not None
    return grants.settle(made.lowering, made.facts, made.policy, made.decision, held, identity=name, running={})


@examples(300)
@given(TEXTS, MODES, ASKS, DENIES, HELD)
def test_grants_turn_asks_into_allows_and_nothing_else(
    text: str, mode: str, ask: list[str], deny: list[str], held: list[Grant]
) -> None:
    made = gate(mode, ask=ask, deny=deny).judge(call("bash", text), links={})
    after = settle(made, held)
    if made.decision.outcome is not Outcome.ASK or mode == "plan":
        assert after is made.decision
    else:
        assert after is made.decision or (after.outcome is Outcome.ALLOW and after.deciding.layer is Layer.GRANT)


@examples(200)
@given(TEXTS, MODES, ASKS, HELD, HELD)
def test_one_grant_more_never_makes_anything_stricter(
    text: str, mode: str, ask: list[str], held: list[Grant], more: list[Grant]
) -> None:
    made = gate(mode, ask=ask).judge(call("bash", text), links={})
    assert settle(made, [*held, *more]).outcome <= settle(made, held).outcome


@examples(200)
@given(TEXTS, MODES, ASKS, st.lists(RULES, min_size=1, max_size=3))
def test_rules_settle_no_more_as_a_grant_than_as_allow_rules_of_the_user(
    text: str, mode: str, ask: list[str], rules: list[str]
) -> None:
    """Where a grant answers no ask rule, it is an allow rule and nothing else."""
    made = gate(mode, ask=ask).judge(call("bash", text), links={})
    after = settle(made, [Grant("g", Scope.SESSION, rules=tuple(rules))])
    if after.outcome is Outcome.ALLOW and made.decision.outcome is Outcome.ASK:
        assert gate(mode, ask=ask, allow=rules).decide(call("bash", text), links={}).outcome is Outcome.ALLOW


@examples(200)
@given(st.sampled_from(COMMANDS), st.sampled_from(COMMANDS), st.sampled_from(["default", "auto"]))
def test_what_was_suggested_for_one_command_settles_no_compound_with_a_part_that_asks_for_itself(
    one: str, other: str, mode: str
) -> None:
    ready = gate(mode)
    alone, beside = (ready.judge(call("bash", text), links={}) for text in (one, other))
    both = ready.judge(call("bash", f"{one} && {other}"), links={})
    for suggestion in suggestions(alone):
        held = [Grant("g", Scope.SESSION, rules=suggestion.rules, answers=grants.answered(alone.decision))]
        if suggestion.rules and beside.decision.outcome is not Outcome.ALLOW:
            settled_alone = settle(beside, held).outcome is Outcome.ALLOW
            assert (settle(both, held).outcome is Outcome.ALLOW) <= settled_alone


def suggestions(made: Judged) -> tuple[Suggestion, ...]:
    if made.lowering is None or made.facts is None or made.policy is None:
        return ()
    return suggest.suggest_rules(made.lowering, made.facts, made.policy, made.decision)


def test_every_suggestion_for_a_call_of_the_corpus_settles_it_and_may_be_saved() -> None:
    wrong, tried = [], 0
    for row, made, made_call in (each for path in CORPUS.glob("*.jsonl") for each in judged_corpus(path.stem)):
        if made.decision.outcome is not Outcome.ASK:
            assert suggestions(made) == ()
            continue
        answers = grants.answered(made.decision)
        for each in suggestions(made):
            tried += 1
            named = identity(made_call)
            held = Grant("g", Scope.SESSION, rules=each.rules, identity="" if each.rules else named, answers=answers)
            refused = [rule for rule in each.rules if suggest.refusal(rule)]
            if settle(made, [held], named).outcome is not Outcome.ALLOW or refused:
                wrong.append((row, each, refused))
    assert wrong == []
    assert tried > 125


def judged_corpus(name: str) -> list[tuple[str, Judged, Call]]:
    ready = batch()
    found = []
    for row in some(rows(name)):
        whole = {"cwd": ROOT, "home": HOME, **row}
        here = ready.place(str(whole["cwd"]), str(whole["home"]))
        try:
            made = ready.gate(json.loads(json.dumps(whole)), here)
        except AssentError:
            continue
        body, facts = whole.get("input", {}), whole.get("facts", {})
        if not isinstance(body, dict) or not isinstance(facts, dict):
            continue
        made_call = Call(str(whole["tool"]), body, cwd=str(whole["cwd"]), roots=here.roots, home=here.home)
        found.append((str(row["id"]), made.judge(made_call, links=facts.get("symlinks", {})), made_call))
    return found
