"""A saved answer settles the question it once answered, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from assent.contract import Decision, Gap, Layer, Lowering, Outcome, Part
from assent.contract.approval import Grant, Scope
from assent.policy import grants
from assent.policy.decide import decide
from tests.cases import call, gate

SAME = "the call itself"


def grant(*rules: str, answers: Sequence[str] = (), identity: str = "", id: str = "g1") -> Grant:
    return Grant(id, Scope.SESSION, rules=rules, answers=tuple(answers), identity=identity)


def settled(
    tool: str,
    given: Mapping[str, object] | str,
    *held: Grant,
    mode: str = "default",
    links: Mapping[str, str] | None = None,
    **rules: Sequence[object],
) -> Decision:
    judged = gate(mode, **rules).judge(call(tool, given), links=links or {})  # type: ignore[arg-type]  # passed on
    assert judged.lowering is not None
    assert judged.facts is not None
    assert judged.policy is not None
    after = grants.settle(
        judged.lowering, judged.facts, judged.policy, judged.decision, held, identity=SAME, running={}
    )
    assert after is judged.decision or (judged.decision.outcome, after.outcome) == (Outcome.ASK, Outcome.ALLOW)
    return after


def outcome(*args: object, **named: object) -> str:
    return settled(*args, **named).outcome.word  # type: ignore[arg-type]  # passed on


def test_a_rule_settles_what_it_names_and_the_receipt_says_which_grant_did() -> None:
    after = settled("bash", "npm test", grant("bash(npm test:*)", id="abc"))
    assert after.deciding == Part(
        Outcome.ALLOW,
        Layer.GRANT,
        "grant.rule",
        "a person allowed `bash(npm test:*)`, and the answer still applies",
        what="run npm test",
        where="command[0:8]",
        rule="bash(npm test:*)",
        source="grant abc",
    )


def test_without_a_grant_the_decision_is_the_same_object() -> None:
    assert outcome("bash", "npm test") == "ask"
    assert outcome("bash", "npm test", grant("bash(npm run:*)")) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "npm test; curl http://evil.example",
        "npm test && rm -rf src",
        "npm test | tee /srv/log",
        "npm test > out.txt",
        "npm test $(make x)",
        "PATH=/tmp npm test",
        "sudo npm test",
        "cd /srv && npm test",
        "npm test < /srv/data",
        "$RUN npm test",
        "npm publish",
    ],
)
def test_a_rule_for_one_command_settles_nothing_with_another_part(command: str) -> None:
    assert outcome("bash", command, grant("bash(npm test:*)")) != "allow"


def test_every_part_may_be_settled_by_a_grant_of_its_own() -> None:
    both = grant("bash(npm test:*)", id="a"), grant("write(out.txt)", id="b")
    after = settled("bash", "npm test > out.txt", *both)
    assert [part.source for part in after.parts if part.layer is Layer.GRANT] == ["grant a", "grant b"]


def test_only_the_ask_rule_that_was_answered_is_settled() -> None:
    push = grant("bash(git push origin:*)", answers=["bash(git push:*)"])
    one: Mapping[str, Sequence[object]] = {"ask": ["bash(git push:*)"]}
    two: Mapping[str, Sequence[object]] = {"ask": ["bash(git push:*)", "bash(git push * main)"]}
    assert outcome("bash", "git push origin x", push, mode="full_auto", **one) == "allow"
    assert outcome("bash", "git push origin main", push, mode="full_auto", **two) == "ask"
    assert outcome("bash", "git push origin x", grant("bash(git push origin:*)"), mode="full_auto", **one) == "ask"


def test_an_ask_rule_is_settled_only_for_the_part_that_the_grant_names() -> None:
    push = grant("bash(git push origin x)", answers=["bash(git push:*)"])
    ask: Sequence[object] = ["bash(git push:*)"]
    assert outcome("bash", "git push origin x && git push origin y", push, mode="full_auto", ask=ask) == "ask"
    assert outcome("bash", "git push origin x && npm test", push, mode="full_auto", ask=ask) == "allow"


def test_an_ask_rule_on_a_path_is_settled_by_a_rule_on_that_path() -> None:
    ask: Sequence[object] = ["write(src/**)"]
    one = grant("write(src/a.py)", answers=["write(src/**)"])
    assert outcome("write", "src/a.py", one, mode="auto", ask=ask) == "allow"
    assert outcome("write", "src/b.py", one, mode="auto", ask=ask) == "ask"
    assert outcome("bash", "echo x > src/a.py", one, mode="auto", ask=ask) == "allow"


def test_an_ask_rule_on_the_whole_shell_needs_every_command_to_be_named() -> None:
    ask: Sequence[object] = ["bash"]
    one = grant("bash(npm test:*)", answers=["bash"])
    assert outcome("bash", "npm test -- -w", one, ask=ask) == "allow"
    assert outcome("bash", "npm test; ls", one, ask=ask) == "ask"
    assert outcome("bash", "> x", grant("write(x)", answers=["bash"]), ask=ask) == "ask"


def test_a_rule_on_a_tool_settles_no_ask_rule_on_what_its_arguments_name() -> None:
    ask: Sequence[object] = ["write(data/**)"]
    tool = grant("mcp__fs__write_file", answers=["write(data/**)"])
    both = grant("mcp__fs__write_file", "write(data/x)", answers=["write(data/**)"])
    given = {"path": "data/x"}
    assert outcome("mcp__fs__write_file", given, tool, ask=ask) == "ask"
    assert outcome("mcp__fs__write_file", given, both, ask=ask) == "allow"
    assert outcome("mcp__fs__write_file", {"path": "data/y"}, both, ask=ask) == "ask"


def test_an_ask_rule_over_a_whole_pipe_is_settled_for_the_identical_call_only() -> None:
    ask: Sequence[object] = ["bash(make * | tee *)"]
    ruled = grant("bash(make:*)", "bash(tee:*)", answers=["bash(make * | tee *)"])
    same = grant(identity=SAME, answers=["bash(make * | tee *)"])
    assert outcome("bash", "make x | tee y", ruled, mode="full_auto", ask=ask) == "ask"
    assert outcome("bash", "make x | tee y", same, mode="full_auto", ask=ask) == "allow"


@pytest.mark.parametrize("command", ["$RUN", "eval $X", "npm test $(", "bash <(cat x)"])
def test_what_could_not_be_read_is_settled_for_the_identical_call_only(command: str) -> None:
    after = settled("bash", command, grant(identity=SAME))
    assert (after.outcome, after.code) == (Outcome.ALLOW, "grant.identical")
    assert outcome("bash", command, grant(identity="another call")) == "ask"
    assert outcome("bash", command, grant("bash(npm:*)", identity=SAME)) == "ask"


def test_the_identical_call_leaves_other_ask_rules_alone() -> None:
    ask: Sequence[object] = ["bash(git push:*)"]
    assert outcome("bash", "git push origin x", grant(identity=SAME), mode="full_auto", ask=ask) == "ask"
    answered = grant(identity=SAME, answers=["bash(git push:*)"])
    after = settled("bash", "git push origin x", answered, mode="full_auto", ask=ask)
    assert (after.outcome, after.lost) == (Outcome.ALLOW, (("bash(git push:*)", "rules:1"),))


def test_an_answered_ask_rule_uncovers_nothing_that_is_never_settled() -> None:
    rules: Mapping[str, Sequence[object]] = {"ask": ["read(conf/**)"], "deny": ["read(conf/key)"]}
    same = grant(identity=SAME, answers=["read(conf/**)"])
    assert outcome("bash", "cp -r conf /tmp/x", same, mode="full_auto", **rules) == "ask"
    assert outcome("bash", "cp -r conf /tmp/x", same, mode="full_auto", ask=["read(conf/**)"]) == "allow"


@pytest.mark.parametrize(
    ("tool", "given", "mode", "rules"),
    [
        ("bash", "rm -rf /", "yolo", {}),
        ("bash", "cat ~/.ssh/id_rsa", "default", {}),
        ("bash", "npm test", "default", {"deny": ["bash(npm:*)"]}),
        ("write", "src/a.py", "plan", {}),
        ("bash", "make", "plan", {}),
        ("bash", "$X", "plan", {}),
        ("fetch", "https://example.com", "plan", {}),
        ("bash", "tar czf /tmp/x.tgz ~", "default", {}),
        ("bash", "cp -r conf /tmp/x", "full_auto", {"deny": ["read(conf/key)"]}),
    ],
)
def test_denials_plan_mode_and_the_floor_are_never_settled(
    tool: str, given: str, mode: str, rules: Mapping[str, Sequence[object]]
) -> None:
    wide = ("bash", "write", "read", "path", "fetch", "delete")
    assert outcome(tool, given, grant(*wide), grant(identity=SAME), mode=mode, **rules) != "allow"


def test_a_link_out_of_the_folder_is_not_the_file_that_was_named() -> None:
    links = {"/workspace/repo/src/a": "/srv/secret"}
    assert outcome("write", "src/a", grant("write(src/**)"), links=links) == "ask"


def test_a_grant_that_is_no_rule_settles_nothing_and_breaks_nothing() -> None:
    assert outcome("bash", "npm test", grant("bash(npm", "bash(npm test)")) == "ask"
    assert outcome("bash", "npm test", grant("bash(npm"), grant("bash(npm test)")) == "allow"


def test_a_person_answers_every_ask_rule_that_holds_for_the_call() -> None:
    judged = gate("full_auto", ask=["bash(git push:*)", "bash(git:*)", "write(out)"]).decide(
        call("bash", "git push origin x > out"), links={}
    )
    assert grants.answered(judged) == ("bash(git:*)", "bash(git push:*)", "write(out)")


def test_a_call_in_which_nothing_was_judged_is_settled_for_the_identical_call_only() -> None:
    judged = gate().judge(call("bash", "ls"), links={})
    assert judged.facts is not None
    assert judged.policy is not None
    for lowering in (Lowering("strange"), Lowering("strange", gaps=(Gap("gap.call.input"),))):
        before = decide(lowering, judged.facts, judged.policy)
        for held, expected in ((grant("bash", "strange"), "ask"), (grant(identity=SAME), "allow")):
            after = grants.settle(lowering, judged.facts, judged.policy, before, (held,), identity=SAME, running={})
            assert after.outcome.word == expected


def test_an_ask_rule_is_answered_under_the_conditions_of_allow_rules_only() -> None:
    """In `full_auto` nothing else would ask, so these show the conditions themselves."""
    push: Sequence[object] = ["bash(git push:*)"]
    out: Sequence[object] = ["write(out)"]
    pushing = grant("bash(git push origin x)", answers=["bash(git push:*)"])
    copying = grant("bash(cp:*)", "bash(npm test:*)", answers=["write(out)"])
    assert outcome("bash", "git push origin x", pushing, mode="full_auto", ask=push) == "allow"
    assert outcome("bash", "cd /srv && git push origin x", pushing, mode="full_auto", ask=push) == "ask"
    assert outcome("bash", "GIT_SSH_COMMAND=./x git push origin x", pushing, mode="full_auto", ask=push) == "ask"
    assert outcome("bash", "cp a out", copying, mode="full_auto", ask=out) == "allow"
    assert outcome("bash", "cp a out < /srv/x", copying, mode="full_auto", ask=out) == "ask"
    assert outcome("bash", "npm test > out", copying, mode="full_auto", ask=out) == "ask"


def test_a_folder_that_was_allowed_is_no_unknown_file_in_it() -> None:
    ask: Sequence[object] = ["write(src/**)"]
    one = grant("write(src/**)", answers=["write(src/**)"])
    assert outcome("bash", "echo x > src/a", one, mode="full_auto", ask=ask) == "allow"
    assert outcome("bash", "find src -name '*.py' -exec touch {} +", one, mode="full_auto", ask=ask) == "ask"


def test_what_is_allowed_without_a_grant_stays_the_same_object() -> None:
    assert settled("bash", "ls", grant("bash(ls)"), grant(identity=SAME)).code == "intrinsic.read-only"


STEERED = [
    ("make test", "--eval=x", "-f /tmp/x", "-f/tmp/x", "SHELL=/tmp/e", "-C /tmp", "-C../x", "--file=x", '"$X"'),
    ("npm run test", "--prefix /tmp/e", "--script-shell=/tmp/e", "--pref=/tmp/e", "--node-options=-r/tmp/x"),
    ("git fetch", "--upload-pack=/tmp/e .", "--upl=/tmp/e .", "ext::sh"),
    ("git fetch origin", "--upload-pack /tmp/e"),
    ("go test", "-exec /tmp/e", "-toolexec=/tmp/e ./..."),
    ("cargo test", "--config target.runner=x", "--manifest-path /tmp/e/Cargo.toml"),
    ("pytest", "-p evil", "--rootdir=/tmp/e", "/tmp/e", "../e"),
    ("python -m pytest", "-p evil", "-c /tmp/x"),
    ("gradle test", "-I /tmp/x", "--init-script=/tmp/x"),
    ("mvn test", "-f /tmp/x", "exec:exec", "-Dexec.executable=/tmp/e"),
    ("helm upgrade a b", "--post-renderer /tmp/e"),
    ("docker build", "-f /tmp/x ."),
    ("frobnicate all", "--config=/tmp/x", "--exec /tmp/e", "--eval=x"),
]


@pytest.mark.parametrize(("beginning", "words"), [(first, word) for first, *rest in STEERED for word in rest])
def test_a_beginning_covers_no_word_that_makes_the_program_run_or_load_something_else(
    beginning: str, words: str
) -> None:
    rule = grant(f"bash({beginning}:*)", answers=["danger(deploy)"])
    assert outcome("bash", beginning, rule) == "allow"
    assert outcome("bash", f"{beginning} {words}", rule) == "ask"


@pytest.mark.parametrize(
    "command",
    ["make test -j8", "npm run test -- --watch", "git fetch origin main", "pytest -x tests", "go test -run X ./..."],
)
def test_a_beginning_covers_other_arguments(command: str) -> None:
    words = command.split()
    stem = " ".join(words[: 3 if words[1] == "run" else 1 if words[0] == "pytest" else 2])
    assert outcome("bash", command, grant(f"bash({stem}:*)")) == "allow"


def test_a_rule_that_shows_an_option_itself_covers_it() -> None:
    assert outcome("bash", "make -f ci.mk test", grant("bash(make -f ci.mk:*)")) == "allow"


def test_a_message_that_is_put_together_is_no_option() -> None:
    command = "git commit -m \"$(cat <<'EOF'\nwords\nEOF\n)\""
    assert outcome("bash", command, grant("bash(git commit:*)")) == "allow"


@pytest.mark.parametrize("rule", ["bash(./run.sh:*)", "bash(bash run.sh)", "bash(python tools/x.py:*)"])
def test_a_script_by_a_relative_name_is_meant_where_the_workspace_begins(rule: str) -> None:
    command = rule[5:].partition(":")[0].rstrip(")")
    assert outcome("bash", command, grant(rule)) == "allow"
    assert outcome("bash", f"cd sub && {command}", grant(rule)) == "ask"


@pytest.mark.parametrize(
    ("variable", "command"),
    [
        ("COMPOSE_FILE=/tmp/x", "docker compose up"),
        ("MSBUILD_EXE_PATH=/tmp/x", "dotnet test"),
        ("CustomBeforeMicrosoftCommonTargets=/tmp/x", "dotnet test"),
        ("MAKEFLAGS=--eval=x", "make test"),
        ("GOFLAGS=-toolexec=/tmp/x", "go test"),
        ("PYTEST_ADDOPTS=-pevil", "pytest"),
        ("HOME=/tmp/x", "npm test"),
    ],
)
def test_a_variable_that_changes_what_is_loaded_is_not_what_a_person_allowed(variable: str, command: str) -> None:
    for text in (f"{variable} {command}", f"env {variable} {command}", f"export {variable}; {command}"):
        assert outcome("bash", text, grant(f"bash({command}:*)")) == "ask"
