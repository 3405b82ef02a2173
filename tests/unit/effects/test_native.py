"""Native tools lower to effects on the arguments that they really use."""

from __future__ import annotations

import pytest

from assent.contract.call import Call
from assent.contract.effect import Effect, Gap, Kind, Lowering, Operation, Target
from assent.contract.errors import PayloadError
from assent.effects import native
from assent.effects.paths import path_target


def lower(tool: str, given: dict[str, object], cwd: str = "/w") -> Lowering:
    return native.lower(Call(tool, given, cwd=cwd, roots=("/w",), home="/home/u"), lambda call, text: heard(call, text))


def heard(call: Call, text: str) -> Lowering:
    """Stands where the shell reader does, and shows what was handed over."""
    return Lowering("bash", inert=True, text=f"{call.cwd}: {text}")


def path(text: str, cwd: str = "/w") -> Target:
    return path_target(text, cwd, "/home/u")


def test_a_read_is_a_read_of_its_path() -> None:
    assert lower("Read", {"file_path": "a", "offset": 3}) == Lowering(
        "read", (Effect(Operation.READ, path("a"), "file_path"),)
    )


def test_every_path_argument_counts() -> None:
    lowering = lower("read_file", {"file_path": "a", "path": "b", "odd": "c"})
    assert [effect.target.name for effect in lowering.effects] == ["/w/a", "/w/b", "/w/c"]


def test_text_arguments_are_no_paths() -> None:
    given: dict[str, object] = {"file_path": "a", "old_string": "/etc/shadow", "new_string": "~/.ssh"}
    assert lower("Edit", given) == Lowering("write", (Effect(Operation.WRITE, path("a"), "file_path"),))


def test_a_write_without_a_path_is_a_write_of_an_unknown_path() -> None:
    (effect,) = lower("write", {}).effects
    assert (effect.operation, effect.target.name, effect.target.certain) == (Operation.WRITE, "", False)


def test_a_view_with_the_editor_tool_is_a_read() -> None:
    (effect,) = lower("str_replace_based_edit_tool", {"command": "view", "path": "a"}).effects
    assert effect.operation is Operation.READ


def test_a_search_without_a_path_is_of_the_cwd() -> None:
    (effect,) = lower("Grep", {"pattern": "x"}).effects
    assert (effect.operation, effect.target.name, effect.recursive) == (Operation.SEARCH, "/w", True)


def test_a_glob_that_leads_out_is_seen() -> None:
    lowering = lower("Glob", {"pattern": "../*/x", "path": "src"})
    assert [effect.target.name for effect in lowering.effects] == ["/w/src", "/w/*/x"]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"command": "ls"}, "/w: ls"),
        ({"cmd": "ls"}, "/w: ls"),
        ({"command": ["bash", "-lc", "ls | wc"]}, "/w: ls | wc"),
        ({"command": ["rm", "a b", "$x"]}, "/w: rm 'a b' '$x'"),
        ({"command": "ls", "workdir": "sub"}, "/w/sub: ls"),
        ({"command": "ls", "dir_path": "/other"}, "/other: ls"),
    ],
)
def test_shell_text_is_handed_over_in_its_folder(given: dict[str, object], text: str) -> None:
    assert lower("run_shell_command", given).text == text


def test_a_second_command_under_another_key_is_a_gap() -> None:
    lowering = lower("bash", {"command": "ls", "cmd": "rm -rf /"})
    assert [gap.code for gap in lowering.gaps] == ["gap.call.input"]
    assert "rm -rf /" in lowering.text


def test_an_environment_beside_the_command_is_a_gap() -> None:
    assert [gap.code for gap in lower("bash", {"command": "ls", "env": {"PATH": "."}}).gaps] == ["gap.call.input"]


def test_the_same_argument_twice_is_no_call() -> None:
    with pytest.raises(PayloadError):
        lower("bash", {"command": "ls", "COMMAND": "rm"})


def test_a_fetch_names_its_host() -> None:
    (effect,) = lower(
        "WebFetch", {"url": "https://user@Example.com:8443/x", "prompt": "see http://other.test"}
    ).effects[:1]
    assert effect == Effect(Operation.FETCH, Target(Kind.HOST, "example.com", "https://user@Example.com:8443/x"), "url")


def test_a_fetch_of_a_file_is_a_read() -> None:
    (effect,) = lower("fetch", {"url": "file:///etc/shadow"}).effects
    assert (effect.operation, effect.target.name) == (Operation.READ, "/etc/shadow")


def test_addresses_in_a_prompt_are_fetched() -> None:
    effects = lower("web_fetch", {"prompt": "compare https://a.test/x and http://b.test."}).effects
    assert [effect.target.name for effect in effects] == ["a.test", "b.test"]


def test_an_unknown_tool_is_itself_and_its_paths() -> None:
    lowering = lower("mcp__fs__write_file", {"to": {"path": "/srv/x"}, "text": "hello"})
    assert [(effect.operation, effect.target.name) for effect in lowering.effects] == [
        (Operation.EXECUTE, "mcp__fs__write_file"),
        (Operation.READ, "/srv/x"),
        (Operation.WRITE, "/srv/x"),
    ]


def test_a_flood_of_arguments_is_a_gap() -> None:
    lowering = lower("mcp__x__y", {"list": ["x"] * 5000})
    assert [gap.code for gap in lowering.gaps] == ["gap.call.input"]


@pytest.mark.parametrize("tool", ["TodoWrite", "update_plan", "ExitPlanMode", "BashOutput", "task_list", "think"])
def test_tools_that_keep_lists_and_plans_are_inert(tool: str) -> None:
    assert lower(tool, {"x": "/etc/shadow"}).inert


def test_a_patch_that_cannot_be_read_is_a_gap() -> None:
    lowering = lower("apply_patch", {"input": "nothing"})
    assert lowering.gaps == (Gap("gap.call.patch", "input", "send a patch that names its files", "the patch"),)
