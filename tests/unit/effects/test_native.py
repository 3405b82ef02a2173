"""Native tools lower to effects on the arguments that they really use."""

from __future__ import annotations

import pytest

from assent.contract import Call, Effect, Gap, Kind, Lowering, Operation, Outcome, PayloadError, Target, Via
from assent.effects import native
from assent.effects.paths import path_target
from tests.cases import decide


def lower(tool: str, given: dict[str, object], cwd: str = "/w", runtime: str = "") -> Lowering:
    call = Call(tool, given, cwd=cwd, roots=("/w",), home="/home/u", runtime=runtime)
    return native.lower(call, lambda call, text: heard(call, text))


def surely(lowering: Lowering) -> list[Effect]:
    """Its effects, without what arguments that the tool does not read may name."""
    return [effect for effect in lowering.effects if effect.via is not Via.PERHAPS]


def heard(call: Call, text: str) -> Lowering:
    """Replaces the shell reader, and shows what it was given."""
    return Lowering("bash", inert=True, text=f"{call.cwd}: {text}")


def path(text: str, cwd: str = "/w") -> Target:
    return path_target(text, cwd, "/home/u")


def test_a_read_is_a_read_of_its_path() -> None:
    assert lower("Read", {"file_path": "a", "offset": 3}) == Lowering(
        "read", (Effect(Operation.READ, path("a"), "file_path"),)
    )


def test_every_path_argument_counts() -> None:
    lowering = lower("read_file", {"file_path": "a", "path": "b", "odd": "c"})
    assert {effect.target.name for effect in lowering.effects} == {"/w/a", "/w/b", "/w/c"}
    assert {effect.target.name for effect in surely(lowering)} == {"/w/a", "/w/b"}


def test_an_argument_that_the_runtime_does_not_read_counts_for_rules_as_read_and_as_written() -> None:
    lowering = lower("write_file", {"file_path": "a", "path": "b"}, runtime="gemini")
    assert [(effect.operation, effect.target.name, effect.via) for effect in lowering.effects] == [
        (Operation.WRITE, "/w/a", Via.OPERAND),
        (Operation.READ, "/w/b", Via.PERHAPS),
        (Operation.WRITE, "/w/b", Via.PERHAPS),
    ]
    assert lowering.gaps == ()


def test_an_argument_that_nobody_knows_is_a_gap_where_a_tool_writes() -> None:
    assert [gap.where for gap in lower("write", {"file_path": "a", "odd": 1}, runtime="claude").gaps] == ["odd"]
    assert lower("read", {"file_path": "a", "odd": 1}, runtime="claude").gaps == ()


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
    lowering = lower("Glob", {"pattern": "../*/x", "path": "src"}, runtime="claude")
    assert [effect.target.name for effect in lowering.effects] == ["/w/src", "/w/*/x"]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"command": "ls"}, "/w: ls"),
        ({"cmd": "ls"}, "/w: ls"),
        ({"command": "ls", "workdir": "sub"}, "/w: ls"),
        ({"command": "ls", "dir_path": "/other"}, "/other: ls"),
    ],
)
def test_shell_text_is_handed_over_in_its_folder(given: dict[str, object], text: str) -> None:
    assert lower("run_shell_command", given).text == text


@pytest.mark.parametrize(
    ("words", "text"), [(["bash", "-lc", "ls | wc"], "/w: ls | wc"), (["rm", "a b", "$x"], "/w: rm 'a b' '$x'")]
)
def test_a_command_is_a_list_of_words_only_where_the_runtime_takes_one(words: list[object], text: str) -> None:
    assert lower("local_shell", {"command": words}, runtime="codex").text == text
    assert [gap.where for gap in lower("Bash", {"command": words}, runtime="claude").gaps] == ["command"]


def test_the_folder_of_a_command_is_the_one_that_its_runtime_reads() -> None:
    given: dict[str, object] = {"command": "ls", "directory": "sub"}
    assert lower("Bash", given, runtime="claude").text == "/w: ls"
    assert lower("run_shell_command", given, runtime="qwen").text == "/w/sub: ls"
    assert lower("bash", {"command": "ls", "workdir": "sub"}).text == "/w: ls\n/w/sub: ls"


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
    assert [(effect.operation, effect.target.name) for effect in surely(lowering)] == [
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
    lowering = lower("apply_patch", {"input": "nothing"}, runtime="cline")
    assert lowering.gaps == (Gap("gap.call.patch", "input", "send a patch that names its files", "the patch"),)


def test_several_commands_are_each_read_and_none_is_an_argument_of_another() -> None:
    lowering = lower("run_commands", {"commands": ["ls", "rm -rf x"]})
    assert (lowering.text, lowering.gaps) == ("/w: ls\n/w: rm -rf x", ())


def test_several_commands_may_be_written_as_text_and_as_words() -> None:
    assert lower("run_commands", {"commands": '["ls", "pwd"]'}).text == '/w: ["ls", "pwd"]\n/w: ls\n/w: pwd'
    given: dict[str, object] = {"commands": ["ls", {"command": "rm", "args": ["a b"]}]}
    assert lower("run_commands", given).text == "/w: ls\n/w: rm 'a b'"


def test_a_command_among_several_that_is_no_text_is_a_gap() -> None:
    assert [gap.code for gap in lower("run_commands", {"commands": ["ls", {"run": "rm"}]}).gaps] == ["gap.call.input"]


@pytest.mark.parametrize(
    ("pattern", "folders"),
    [
        ("src/**/*.py", ["/w/src"]),
        ("*", ["/w"]),
        ("~/.ssh/*", ["/home/u/.ssh"]),
        ("~/.s*/id", ["/home/u"]),
        ("src/a.py", ["/w/src/a.py"]),
        ("{~/.ssh,src}/*", ["/w", "/home/u/.ssh"]),
        ("a/*/../../x", [""]),
    ],
)
def test_a_pattern_reads_all_below_the_folder_that_it_begins_with(pattern: str, folders: list[str]) -> None:
    givens: list[dict[str, object]] = [{"include": [pattern]}, {"include": pattern, "exclude": ["/etc"]}]
    for given in givens:
        effects = lower("read_many_files", given).effects
        below = [effect.target.name for effect in effects if effect.recursive or not effect.target.name]
        assert [name for name in folders if name not in below] == []
        assert all(effect.operation is Operation.READ for effect in effects)


@pytest.mark.parametrize(
    ("glob", "names"),
    [
        (".env", ["/w/.env"]),
        ("**/.env", ["/w/.env"]),
        ("*/.env", ["/w/.env"]),
        ("*.env", ["/w/.env", "/w/x.env"]),
        ("{a,.env}", ["/w/{a,.env}", "/w/a", "/w/.env"]),
        (".e{nv,x}", [".e{nv,x}", ".env", ".ex"]),
        ("*.ts, .env", ["/w/.env"]),
        ("secrets/**", ["/w/secrets"]),
        ("[.]env", ["/w/[.]env"]),
        ("\\.env", ["/w/.env"]),
        ("@(.env|a)", ["/w/.env"]),
        ("src/**/*.py", ["/w/src/.py", "/w/src/x.py"]),
    ],
)
def test_a_search_in_files_of_a_name_reads_these(glob: str, names: list[str]) -> None:
    effects = lower("Grep", {"pattern": "x", "glob": glob}, runtime="claude").effects
    read = [effect.target.name for effect in effects if effect.operation is Operation.READ]
    assert [name for name in names if not any(each.endswith(name) for each in read)] == []


@pytest.mark.parametrize("glob", ["*", "**", "**/*", "*.*", "!.env", ""])
def test_a_search_in_files_of_any_name_is_a_search_and_no_more(glob: str) -> None:
    effects = lower("Grep", {"pattern": "x", "glob": glob}, runtime="claude").effects
    assert [effect.operation for effect in effects] == [Operation.SEARCH]


def test_the_paths_of_a_tool_that_reads_many_files_may_be_patterns() -> None:
    effects = lower("read_many_files", {"paths": ["/etc/s*"]}).effects
    assert Effect(Operation.READ, path("/etc/"), "paths", recursive=True) in effects


def test_a_todo_list_in_a_file_is_a_write_of_that_file() -> None:
    given: dict[str, object] = {"item": "/etc/shadow", "path": "TODO.md"}
    assert lower("todo_write", given) == Lowering("todo", (Effect(Operation.WRITE, path("TODO.md"), "path"),))


def test_a_web_search_at_an_address_of_the_call_is_a_fetch_too() -> None:
    lowering = lower("web_search", {"query": "x", "search_url": "http://a.test/q"})
    assert [(effect.operation, effect.target.name) for effect in lowering.effects] == [
        (Operation.SEARCH, "web"),
        (Operation.FETCH, "a.test"),
    ]


def test_every_request_of_a_fetch_is_seen() -> None:
    given: dict[str, object] = {"requests": [{"url": "https://a.test"}, {"URL": "https://b.test", "prompt": "x"}]}
    assert [effect.target.name for effect in lower("fetch_web_content", given).effects] == ["a.test", "b.test"]


def test_a_sub_agent_that_is_started_by_a_command_is_more_than_a_sub_agent() -> None:
    lowering = lower("agent", {"subagent_type": "x", "command": "/srv/run"})
    assert [(effect.operation, effect.target.name) for effect in surely(lowering)] == [
        (Operation.DELEGATE, "x"),
        (Operation.EXECUTE, "agent"),
        (Operation.READ, "/srv/run"),
    ]


# The tools of the known runtimes, by the names that they have there.
NATIVE = {
    "claude": {
        "bash": "Bash Monitor",
        "read": "Read NotebookRead",
        "write": "Write Edit MultiEdit NotebookEdit",
        "list": "Glob LS",
        "search": "Grep",
        "fetch": "WebFetch",
        "websearch": "WebSearch",
        "agent": "Agent Task",
        "todo": "TodoWrite TaskCreate TaskUpdate",
        "plan": "ExitPlanMode EnterPlanMode",
        "question": "AskUserQuestion StructuredOutput",
        "task_output": "BashOutput KillShell TaskOutput TaskStop TaskGet TaskList ToolSearch",
        "": "Skill SlashCommand PowerShell LSP Workflow SendMessage EnterWorktree ReadMcpResourceTool mcp__a__read",
    },
    "codex": {
        "bash": "Bash shell exec_command local_shell shell_command",
        "write": "apply_patch",
        "read": "view_image",
        "agent": "spawn_agent collaborationspawn_agent collaborationsend_message",
        "plan": "update_plan",
        "websearch": "web_search",
        "question": "request_user_input",
        "": "write_stdin request_permissions mcp__s__t",
    },
    "gemini": {
        "bash": "run_shell_command",
        "read": "read_file read_many_files",
        "write": "write_file replace",
        "list": "glob list_directory",
        "search": "search_file_content grep_search",
        "fetch": "web_fetch",
        "websearch": "google_web_search",
        "agent": "invoke_agent",
        "todo": "write_todos update_topic tracker_create_task",
        "plan": "enter_plan_mode exit_plan_mode",
        "question": "ask_user complete_task",
        "": "save_memory activate_skill get_internal_docs mcp_s_t read_mcp_resource",
    },
    "opencode": {
        "bash": "bash",
        "read": "read",
        "write": "write edit multiedit patch apply_patch",
        "list": "glob list",
        "search": "grep",
        "fetch": "webfetch",
        "websearch": "websearch",
        "agent": "task",
        "todo": "todowrite todoread",
        "question": "question",
        "think": "invalid",
        "": "skill lsp batch codesearch",
    },
    "qwen": {
        "bash": "run_shell_command monitor",
        "write": "edit write_file notebook_edit",
        "list": "glob list_directory",
        "search": "grep_search",
        "agent": "agent",
        "todo": "todo_write",
        "plan": "exit_plan_mode",
        "": "skill save_memory task_create cron_create tool_call workflow create_sub_session",
    },
    "copilot": {
        "bash": "bash",
        "read": "view",
        "write": "create edit apply_patch str_replace_editor",
        "task_output": "read_bash stop_bash list_bash read_agent list_agents",
        "fetch": "web_fetch",
        "todo": "report_intent",
        "": "write_bash write_agent store_memory sql",
    },
    "cline": {
        "bash": "run_commands execute_command",
        "read": "read_files",
        "write": "editor apply_patch write_to_file replace_in_file",
        "search": "search_codebase",
        "fetch": "fetch_web_content",
        "question": "ask_question submit_and_exit",
        "agent": "spawn_agent",
        "": "skills team_task use_mcp_tool",
    },
    "openharness": {
        "bash": "bash",
        "read": "read_file",
        "write": "edit_file write_file notebook_edit",
        "list": "glob",
        "search": "grep",
        "": "task_create cron_create config remote_trigger skill lsp send_message",
    },
}


@pytest.mark.parametrize(
    ("tool", "word"),
    [(tool, word) for words in NATIVE.values() for word, tools in words.items() for tool in tools.split()],
)
def test_the_tools_of_the_runtimes_are_known_by_their_own_names(tool: str, word: str) -> None:
    assert lower(tool, {}).tool == (word or (tool if tool.startswith("mcp__") else tool.lower()))


@pytest.mark.parametrize("tool", [tool for words in NATIVE.values() for tool in words[""].split()])
def test_a_tool_that_is_not_known_runs_something(tool: str) -> None:
    assert [effect.operation for effect in lower(tool, {}).effects] == [Operation.EXECUTE]


@pytest.mark.parametrize("tool", ["write", "read", "move", "search"])
def test_arguments_that_nest_too_deep_are_refused(tool: str) -> None:
    listed: object = "/etc/passwd"
    named: object = "/etc/passwd"
    for _ in range(500):
        listed, named = [listed], {"path": named}
    for value in (listed, named):
        answer = decide(tool, {"file_path": value}, "yolo")
        assert (answer.outcome, answer.code) == (Outcome.DENY, "gap.call.input")


def test_a_command_of_more_than_a_mebibyte_is_refused_unread() -> None:
    long = decide("bash", "echo a; " * (1024 * 1024 // 8) + "ls", "full_auto")
    assert (long.outcome, long.code) == (Outcome.DENY, "gap.call.input")
    assert "put it into a file" in long.deciding.reason
    assert decide("write", {"file_path": "a", "content": "x" * 2_000_000}, "auto").outcome is Outcome.ALLOW
