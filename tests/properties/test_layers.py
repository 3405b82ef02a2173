"""The laws of the six layers, on generated calls and rules."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assent.contract import Outcome
from assent.policy.document import document_of
from assent.policy.rules import Origin
from tests.cases import ROOT, call, gate
from tests.examples import examples
from tests.reference import evaluate

MODES = st.sampled_from(["plan", "default", "auto", "full_auto", "yolo"])
NAMES = st.sampled_from(["src", "docs", "a.py", "b.txt", "deep"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
PLACES = st.one_of(PATHS, PATHS.map(lambda path: f"/srv/{path}"), PATHS.map(lambda path: f"{ROOT}/{path}"))
GLOB_NAMES = st.sampled_from(["src", "docs", "*", "**", "*.py", "b.*", "?.py", "deep"])
GLOBS = st.lists(GLOB_NAMES, min_size=1, max_size=3).map("/".join)
SPECS = st.one_of(GLOBS, GLOBS.map(lambda glob: f"/srv/{glob}"), GLOBS.map(lambda glob: f"**/{glob}"))
RULES = st.builds(lambda tool, spec: f"{tool}({spec})", st.sampled_from(["read", "write", "delete", "path"]), SPECS)
LISTS = st.lists(RULES, max_size=4)
TOOLS = st.sampled_from(["read", "write", "delete"])
CALLS = st.builds(call, TOOLS, PLACES)
SENSITIVE = st.sampled_from(["/home/user/.ssh/id_rsa", "~/.aws/credentials", "/etc/shadow", ".assent/x", "~/.netrc"])


def outcome(decision_gate: object, made: object) -> Outcome:
    return decision_gate.decide(made, links={}).outcome  # type: ignore[attr-defined,no-any-return]


@examples(300)
@given(TOOLS, PLACES, MODES, LISTS, LISTS, LISTS)
def test_the_gate_agrees_with_the_slow_reference(
    tool: str, path: str, mode: str, deny: list[str], ask: list[str], allow: list[str]
) -> None:
    whole = path if path.startswith("/") else f"{ROOT}/{path}"
    made = gate(mode, deny=deny, ask=ask, allow=allow)
    if (
        tool == "delete"
    ):  # the delete tool may remove a folder with all that it holds, which the reference does not know
        return
    expected = evaluate(tool, whole, mode=mode, root=ROOT, deny=deny, ask=ask, allow=allow)
    assert outcome(made, call(tool, path)).word == expected


@examples(200)
@given(CALLS, MODES, LISTS, LISTS, LISTS, RULES)
def test_adding_a_deny_or_ask_rule_never_loosens(
    made: object, mode: str, deny: list[str], ask: list[str], allow: list[str], extra: str
) -> None:
    before = outcome(gate(mode, deny=deny, ask=ask, allow=allow), made)
    assert outcome(gate(mode, deny=[*deny, extra], ask=ask, allow=allow), made) >= before
    assert outcome(gate(mode, deny=deny, ask=[*ask, extra], allow=allow), made) >= before


@examples(200)
@given(CALLS, MODES, LISTS, LISTS, LISTS, MODES)
def test_adding_a_project_file_never_loosens(
    made: object, mode: str, allow: list[str], deny: list[str], ask: list[str], most: str
) -> None:
    before = outcome(gate(mode, allow=allow), made)
    project = document_of({"deny": deny, "ask": ask, "max_mode": most}, ".assent.toml", Origin.PROJECT)
    assert outcome(gate(mode, allow=allow, more=[project]), made) >= before


@examples(200)
@given(CALLS, st.sampled_from(["plan", "default", "auto", "full_auto"]), LISTS, LISTS, LISTS)
def test_an_allow_rule_never_beats_deny_or_ask(
    made: object, mode: str, deny: list[str], ask: list[str], allow: list[str]
) -> None:
    without = outcome(gate("full_auto", deny=deny, ask=ask), made)
    assert outcome(gate(mode, deny=deny, ask=ask, allow=allow), made) >= without


@examples(200)
@given(st.sampled_from(["write", "delete"]), PLACES, LISTS)
def test_plan_never_lets_a_mutation_through(tool: str, path: str, allow: list[str]) -> None:
    assert outcome(gate("plan", allow=[*allow, "write", "delete", "path"]), call(tool, path)) is Outcome.DENY


@examples(200)
@given(TOOLS, SENSITIVE, MODES, LISTS)
def test_the_floor_holds_in_all_modes_and_against_all_rules(tool: str, path: str, mode: str, allow: list[str]) -> None:
    made = gate(mode, allow=[*allow, "read", "write", "delete", "path"])
    assert outcome(made, call(tool, path)) is Outcome.DENY


@examples(150)
@given(st.lists(PLACES, min_size=1, max_size=5), MODES, LISTS, LISTS)
def test_the_strictest_part_wins(paths: list[str], mode: str, deny: list[str], allow: list[str]) -> None:
    made = gate(mode, deny=deny, allow=allow)
    together = outcome(made, call("read_many_files", {"paths": paths}))
    apart = [outcome(made, call("read", path)) for path in paths]
    assert together >= max(apart)  # a search of a folder may meet more rules than a read of it


@examples(150)
@given(CALLS, MODES, LISTS, LISTS)
def test_headless_turns_ask_into_deny_and_nothing_else(
    made: object, mode: str, deny: list[str], ask: list[str]
) -> None:
    ready = gate(mode, deny=deny, ask=ask)
    attended = ready.decide(made, links={}).outcome  # type: ignore[arg-type]
    alone = ready.decide(made, links={}, headless=True).outcome  # type: ignore[arg-type]
    assert alone is (Outcome.DENY if attended is Outcome.ASK else attended)


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=20)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=8,
)
KEYS = st.sampled_from(["file_path", "path", "command", "url", "pattern", "edits", "patch", "input", "x"])
ANY_TOOL = st.sampled_from(
    [
        "bash",
        "read",
        "edit",
        "apply_patch",
        "grep",
        "glob",
        "webfetch",
        "Task",
        "mcp__a__b",
        "what",
        "TodoWrite",
        "move_file",
    ]
)


@examples(300)
@given(ANY_TOOL, st.dictionaries(KEYS, JSON, max_size=4), MODES, st.text(max_size=10))
def test_any_payload_is_answered_and_never_breaks_the_gate(
    tool: str, given_input: dict[str, object], mode: str, cwd: str
) -> None:
    decision = gate(mode).decide(call(tool, given_input, cwd=cwd), links={})
    assert decision.code != "gate.fault", decision.reason
