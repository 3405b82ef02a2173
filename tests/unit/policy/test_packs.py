"""Packs: what their rules leave open, and what they never reach."""

from __future__ import annotations

import pytest

from assent.contract import Invocation
from assent.policy import match
from assent.policy.document import document_of
from assent.policy.parse import parse_rule
from assent.policy.rules import Origin
from tests.cases import call, gate

PACKS = document_of({"packs": {"on": ["dev-tasks", "git-local"]}}, "user", Origin.USER)


def outcome(command: str, mode: str = "default") -> str:
    return gate(mode, more=[PACKS]).decide(call("bash", command)).outcome.word


def proves(rule: str, command: str, origin: Origin = Origin.PACK) -> bool:
    words = tuple(command.split())
    return match.proves_command(parse_rule(rule, origin=origin), Invocation(words[0], words, literal=True))


def test_a_choice_is_one_of_its_words_and_no_other() -> None:
    assert proves("bash(npm run {test,lint}:*)", "npm run lint --fix")
    assert not proves("bash(npm run {test,lint}:*)", "npm run linter")
    assert not proves("bash(npm run {test,lint}:*)", "npm run test,lint")


def test_an_open_word_is_one_name_and_no_option_or_expansion() -> None:
    assert proves("bash(pnpm --filter {} test:*)", "pnpm --filter @org/web test")
    assert not proves("bash(pnpm --filter {} test:*)", "pnpm --filter a deploy test")
    assert not proves("bash(pnpm --filter {} test:*)", "pnpm --filter --dir test")
    assert not proves("bash(pnpm --filter {} test:*)", "pnpm --filter $X test")


def test_a_choice_in_the_first_word_names_each_program() -> None:
    assert proves("bash({make,gmake} {test,lint})", "gmake lint")
    assert not proves("bash({make,gmake} {test,lint})", "make lint deploy")


def test_braces_in_a_persons_rule_are_only_braces() -> None:
    assert not proves("bash(npm run {test,lint}:*)", "npm run lint", Origin.USER)
    assert proves("bash(npm run {test,lint}:*)", "npm run {test,lint}", Origin.USER)


@pytest.mark.parametrize(
    "command",
    ["go test $FLAGS", 'go test "$X"', "go test -$X", "go test ./$X", "go test $(echo -exec ./x)", "go test *"],
)
def test_a_word_that_may_be_an_excepted_option_voids_the_allow(command: str) -> None:
    assert outcome(command) == "ask"


@pytest.mark.parametrize(
    "command", ['go test "./$PKG"', 'go test -count="$N" ./...', "npm test && go vet ./...", "pytest -q | tail -5"]
)
def test_everyday_tasks_run_at_once(command: str) -> None:
    assert outcome(command) == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "go test ./... && ./deploy.sh",
        "npm test; rm -rf build",
        "npm test > ~/.bashrc",
        "GOFLAGS=-toolexec=./x go test ./...",
        "npm run deploy",
        "git commit -m x && git push",
        "git checkout -- .",
        "git fetch https://example.com/x.git",
        "uv run --with evil pytest",
        "npx cowsay",
    ],
)
def test_a_pack_covers_its_own_commands_only(command: str) -> None:
    assert outcome(command) != "allow"


@pytest.mark.parametrize("command", ["npm test", "git commit -m x", "gofmt -w a.go"])
def test_plan_mode_denies_what_a_pack_allows(command: str) -> None:
    assert outcome(command, "plan") == "deny"
