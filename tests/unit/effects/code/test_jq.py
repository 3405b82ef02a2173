"""jq and yq."""

from __future__ import annotations

import pytest

from assent.effects.shell.command import Arg
from tests.unit.effects.shell.commands.commands import does


@pytest.mark.parametrize(
    "text", [".a", '.env, .["ENV"]', 'select(.x == "env")', "{env: 1}", "$ENV.HOME", "env.PATH", "input_filename"]
)
def test_a_filter_only_reads(text: str) -> None:
    assert does(("jq", text, "f")) == ["READ f"]


@pytest.mark.parametrize("text", ["env", "$ENV", "env.GITHUB_TOKEN", '"\\(env)"', '. # "\n| env # "'])
def test_the_environment_prints_secrets(text: str) -> None:
    assert does(("jq", text, "f")) == ["READ f", "READ <jq> !prints-secret"]


def test_an_unknown_filter_may_ask_for_all() -> None:
    assert does(("jq", Arg("$x", kind="word"))) == ["READ ?", "READ <jq> !prints-secret"]


def test_modules_are_files() -> None:
    assert does(("jq", 'import "a" as a; .')) == ["READ ?", "EXECUTE <jq>"]
    assert does("jq --slurpfile x in.json . f") == ["READ in.json", "READ f"]


def test_yq_edits_in_place_and_loads() -> None:
    assert does("yq '.a' f.yml") == ["READ f.yml", "READ .a"]
    assert set(does("yq -i '.a = 1' f.yml")) == {"READ f.yml", "WRITE f.yml"}
    assert "READ x" in does("yq 'load(\"x\")' f.yml")
    assert "READ ?" in does("yq 'load(\"x\" + .y)' f.yml")
    assert "READ <yq> !prints-secret" in does("yq 'strenv(TOKEN)' f.yml")


@pytest.mark.parametrize(
    "text", ["path(.[env:])", "$ ENV", '"\\("a\\(env)")"', "{env}", "{(env): 1}", "{a: if 1 then 2, env, 3 else 4 end}"]
)
def test_the_environment_is_found_where_a_key_could_stand(text: str) -> None:
    assert does(("jq", text, "f")) == ["READ f", "READ <jq> !prints-secret"]


@pytest.mark.parametrize("text", ["frobnicate", "def f: 1; g", ". # a \\\n| 1", "`x`"])
def test_what_is_not_known_is_not_proved(text: str) -> None:
    assert "EXECUTE <jq>" in does(("jq", text, "f"))


@pytest.mark.parametrize("text", ["{name, id: .x}", "def f(g): g; f(.a)", '"\\(.a): \\(.b | tostring)"', ".a // empty"])
def test_everyday_filters_only_read(text: str) -> None:
    assert does(("jq", text, "f")) == ["READ f"]
