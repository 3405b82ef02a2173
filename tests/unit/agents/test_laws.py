"""What holds for every adapter and every payload: nothing but PayloadError is raised, and no answer opens a call that
was not allowed."""

from __future__ import annotations

import json
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent import agents
from assent.agents import capabilities, known, probes
from assent.agents.adapter import Event, EventKind, Rendered
from assent.contract import Call, Outcome, PayloadError, Reply

WORDS = st.sampled_from(
    "hook_event_name tool_name tool_input cwd session_id permission_mode event tool args directory servers "
    "tool_call tool_result id name input workspaceRoots toolName toolArgs toolResult sessionId hookName toolInput "
    "payload mcp_context server_name conversation_id workspace_roots command file_path agent_id sessionContext "
    "rootSessionId prompt source".split()
)
NAMES = st.sampled_from(
    "PreToolUse PermissionRequest BeforeTool tool.execute.before permission.asked tool_call beforeTool preToolUse "
    "permissionRequest beforeShellExecution beforeMCPExecution beforeReadFile pre_tool_use ConfigChange Stop "
    "UserPromptSubmit PostToolUse Bash plan /workspace".split()
)
SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=8) | NAMES
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS | st.text(max_size=4), inner, max_size=4)
)
PAYLOADS = st.dictionaries(WORDS | st.text(max_size=4), VALUES, max_size=10)
REPLIES = st.builds(
    Reply,
    st.sampled_from(list(Outcome)),
    st.text(max_size=20),
    message=st.text(max_size=20),
    stop=st.booleans(),
    context=st.text(max_size=20),
    fault=st.booleans(),
)
TOOLS = ["Bash", "bash", "run_shell_command", "Write", "mcp__a__b", "task", "run_commands", "read", "skill"]
CALLS = st.builds(
    lambda tool, text: Call(tool, {"command": text}, cwd="/w"),
    st.sampled_from(TOOLS),
    st.text(max_size=20) | st.sampled_from(["ls", "cd x", "> f", "X=1", "cd a && ls", "if ls; then ls; fi"]),
)
# The events before a call, by runtime: the name, and the form where there are several.
BEFORE: list[tuple[str, str, str]] = [
    ("claude", "PreToolUse", ""),
    ("claude-prompt", "permission-prompt-tool", ""),
    ("codex", "PreToolUse", ""),
    ("gemini", "BeforeTool", ""),
    ("opencode", "tool.execute.before", ""),
    ("qwen", "PreToolUse", ""),
    ("copilot", "preToolUse", "own"),
    ("copilot", "PreToolUse", "claude"),
    ("cursor", "beforeShellExecution", ""),
    ("cursor", "preToolUse", ""),
    ("cline", "tool_call", ""),
    ("cline", "beforeTool", ""),
    ("openharness", "pre_tool_use", ""),
]
KINDS = st.sampled_from([EventKind.BEFORE_TOOL, EventKind.PERMISSION])
before = pytest.mark.parametrize(("runtime", "name", "form"), BEFORE)
ENVIRON = {"CLAUDE_PROJECT_DIR": "/workspace", "SHELL": "/bin/bash", "PWD": "/workspace"}
# What a runtime reads as leave to run the call, in any of their forms.
LEAVE = [
    ("permissionDecision", "allow"),
    ("decision", "allow"),
    ("behavior", "allow"),
    ("permission", "allow"),
    ("cancel", False),
    ("autoApprove", True),
]
HOLDS = [
    *((key, word) for key in ("permissionDecision", "decision", "permission") for word in ("deny", "ask")),
    ("behavior", "deny"),
    ("skip", True),
    ("cancel", True),
    ("autoApprove", False),
]


@pytest.mark.parametrize("runtime", known.runtimes())
@given(payload=PAYLOADS, reply=REPLIES)
def test_any_payload_is_an_event_or_a_payload_error(runtime: str, payload: dict[str, object], reply: Reply) -> None:
    adapter = agents.load(runtime)
    try:
        event = adapter.parse_text(json.dumps(payload), environ=ENVIRON, home="/home/me", project="/workspace")
    except PayloadError:
        event = None
    adapter.render(event, reply)
    roots = event.call.roots if event is not None and event.call is not None else ()
    assert [root for root in roots if not root.startswith("/")] == []


@pytest.mark.parametrize("runtime", known.runtimes())
@given(text=st.text() | st.binary())
def test_any_text_is_an_event_or_a_payload_error(runtime: str, text: str | bytes) -> None:
    with pytest.raises(PayloadError):
        agents.load(runtime).parse_text(text, environ={}, home="")


def opens(rendered: Rendered, kind: EventKind) -> bool:
    """Whether a runtime would run the call after this, as far as the hook has a say."""
    if rendered.status == 2 and (rendered.stderr.strip() or rendered.stdout.strip()):
        return False
    answer: dict[str, object] = json.loads(rendered.stdout) if rendered.stdout.strip() else {}
    if any(pair in LEAVE for pair in pairs(answer)):
        return True
    if kind is EventKind.PERMISSION:  # silence leaves the dialog standing
        return False
    return not any(pair in HOLDS for pair in pairs(answer))


def pairs(value: object) -> list[tuple[str, object]]:
    if not isinstance(value, dict):
        return []
    return [pair for item in value.items() for pair in (item, *pairs(item[1])) if not isinstance(pair[1], dict)]


@before
@given(kind=KINDS, call=CALLS, reply=REPLIES)
def test_only_an_allow_opens(runtime: str, name: str, form: str, kind: EventKind, call: Call, reply: Reply) -> None:
    event = Event(kind, name, call, form=form)
    rendered = agents.load(runtime).render(event, reply)
    if opens(rendered, event.kind):
        assert reply.outcome is Outcome.ALLOW


@before
@given(call=CALLS, reason=st.text(max_size=20))
def test_an_allow_is_never_a_block(runtime: str, name: str, form: str, call: Call, reason: str) -> None:
    event = Event(EventKind.BEFORE_TOOL, name, call, form=form)
    rendered = agents.load(runtime).render(event, Reply(Outcome.ALLOW, reason))
    assert rendered.status == 0
    assert opens(rendered, event.kind)


COMMAND = "/home/me/.assent/bin/assent-contain 0123456789abcdef"
INPUTS = st.dictionaries(WORDS | st.text(max_size=4), VALUES, max_size=5)


@before
@given(tool=st.sampled_from(TOOLS), given=INPUTS, text=st.text(max_size=20), kind=KINDS)
def test_an_allow_with_another_command_has_the_whole_input_and_that_command(
    runtime: str, name: str, form: str, tool: str, given: dict[str, object], text: str, kind: EventKind
) -> None:
    adapter = agents.load(runtime)
    event = Event(kind, name, Call(tool, {**given, "command": text}, cwd="/w"), form=form)
    if not adapter.replaces(event):
        return
    assert kind is EventKind.BEFORE_TOOL
    answer = json.loads(adapter.render(event, Reply(Outcome.ALLOW, "contained", command=COMMAND)).stdout)
    inner = answer.get("hookSpecificOutput", answer)
    found = next(inner[key] for key in ("updatedInput", "modifiedArgs", "args") if key in inner)
    assert found == json.loads(json.dumps({**given, "command": COMMAND}))


@before
@given(call=CALLS, outcome=st.sampled_from([Outcome.ASK, Outcome.DENY]))
def test_only_an_allow_has_another_command(runtime: str, name: str, form: str, call: Call, outcome: Outcome) -> None:
    event = Event(EventKind.BEFORE_TOOL, name, call, form=form)
    rendered = agents.load(runtime).render(event, Reply(outcome, "no", command=COMMAND))
    assert COMMAND not in rendered.stdout + rendered.stderr


def test_the_programs_whose_commands_are_replaced_are_those_that_were_tried() -> None:
    call = Call("Bash", {"command": "ls"}, cwd="/w")
    calls = (call, call.but(tool="bash"))
    found = {
        (runtime, form)
        for runtime, name, form in BEFORE
        for each in calls
        if agents.load(runtime).replaces(Event(EventKind.BEFORE_TOOL, name, each, form=form))
    }
    assert found == {("claude", ""), ("codex", ""), ("opencode", ""), ("copilot", "own")}


@pytest.mark.parametrize("runtime", known.runtimes())
@given(reply=REPLIES)
def test_what_was_no_payload_never_runs(runtime: str, reply: Reply) -> None:
    denial = Reply(Outcome.DENY, reply.reason, message=reply.message, fault=reply.fault)
    assert not opens(agents.load(runtime).render(None, denial), EventKind.BEFORE_TOOL)


@before
@given(kind=KINDS, call=CALLS, reply=REPLIES)
def test_stdout_is_one_answer_and_all_output_can_be_printed(
    runtime: str, name: str, form: str, kind: EventKind, call: Call, reply: Reply
) -> None:
    event = Event(kind, name, call, form=form)
    rendered = agents.load(runtime).render(event, reply)
    rendered.stdout.encode("utf-8")
    rendered.stderr.encode("utf-8")
    assert "\x1b" not in rendered.stdout + rendered.stderr
    if runtime != "openharness" and rendered.stdout:
        assert rendered.stdout.count("\n") == 1
        assert isinstance(json.loads(rendered.stdout), dict)
    assert not (rendered.stdout and rendered.stderr)


@pytest.mark.parametrize("runtime", ["claude", "openharness"])
@given(kind=KINDS, call=CALLS, reply=REPLIES)
def test_over_http_only_an_allow_opens(runtime: str, kind: EventKind, call: Call, reply: Reply) -> None:
    event = Event(kind, "PreToolUse", call)
    response = agents.load(runtime).respond(event, reply)
    if runtime == "openharness":
        assert (response.status == 200) == (reply.outcome is Outcome.ALLOW or event.kind is not EventKind.BEFORE_TOOL)
    else:
        assert response.status == 200  # the body of any other status is not read
        if opens(Rendered(response.body), event.kind):
            assert reply.outcome is Outcome.ALLOW


@given(text=st.text())
def test_a_command_behind_the_asking_program_is_the_same_command(text: str) -> None:
    event = Event(EventKind.BEFORE_TOOL, "PreToolUse", Call("Bash", {"command": text}, cwd="/w"))
    rendered = agents.load("codex").render(event, Reply(Outcome.ASK, through="/opt/a b/assent-ask"))
    inner = json.loads(rendered.stdout)["hookSpecificOutput"]
    if text and "\0" not in text:
        assert shlex.split(inner["updatedInput"]["command"]) == ["/opt/a b/assent-ask", text]
    else:
        assert inner["permissionDecision"] == "deny"


@pytest.mark.parametrize("runtime", known.runtimes())
def test_a_key_given_twice_is_no_payload(runtime: str) -> None:
    twice = '{"tool_name": "Bash", "tool_input": {"command": "ls", "command": "rm"}}'
    with pytest.raises(PayloadError, match="key `command` is given twice"):
        agents.load(runtime).parse_text(twice, environ={}, home="")


@pytest.mark.parametrize("runtime", [each for each in known.runtimes() if each != "claude-prompt"])
@pytest.mark.parametrize("sender", [each for each in known.runtimes() if each != "claude-prompt"])
def test_a_call_in_another_runtimes_words_is_decided_or_refused(runtime: str, sender: str) -> None:
    """A hook may have been put into the wrong program: no call passes it as news of something else."""
    given = probes.event(sender, "ls", "/workspace")
    try:
        event = agents.load(runtime).parse(given, environ=ENVIRON, home="/home/me", project="/workspace")
    except PayloadError:
        return
    assert event.kind is EventKind.BEFORE_TOOL
    assert event.call is not None


@pytest.mark.parametrize(
    "text", ['{"a": NaN}', "[]", "{", '"x"', "", "[" * 9999, '{"a":' * 500 + "1" + "}" * 500, b"\xff{}"]
)
def test_what_is_not_one_json_object_is_no_payload(text: str | bytes) -> None:
    with pytest.raises(PayloadError):
        agents.load("claude").parse_text(text, environ={}, home="")


def test_every_runtime_says_what_it_honours_and_is_its_own_adapter() -> None:
    assert list(capabilities.CAPABILITIES) == list(known.runtimes())
    assert [agents.load(runtime).runtime for runtime in known.runtimes()] == list(known.runtimes())


def test_no_answer_of_ours_but_an_allow_lets_a_call_run_in_any_runtime() -> None:
    open_to = (capabilities.Does.RUNS, capabilities.Does.HOST)
    for each in capabilities.CAPABILITIES.values():
        assert each.does["deny"] in (capabilities.Does.BLOCKS, capabilities.Does.ENDS)
        assert each.does["error"] in (capabilities.Does.BLOCKS, capabilities.Does.ENDS)
        assert each.does["ask"] not in open_to
        assert each.does["ask_headless"] not in open_to
