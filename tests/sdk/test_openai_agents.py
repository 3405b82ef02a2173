"""OpenAI Agents: all that can run is gated or refused, and answers go to the run that they were given for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from agents import (
    Agent,
    ApplyPatchTool,
    CustomTool,
    FunctionTool,
    LocalShellTool,
    Runner,
    RunState,
    ShellTool,
    ToolInputGuardrailTripwireTriggered,
    WebSearchTool,
    function_tool,
    handoff,
)
from agents.editor import ApplyPatchOperation
from agents.mcp import MCPServer
from agents.sandbox import SandboxAgent
from agents.tool import ShellActionRequest, ShellCallData, ShellCommandRequest
from mcp.types import CallToolResult, TextContent
from mcp.types import Tool as MCPTool
from openai.types.responses import ResponseFunctionToolCall
from pydantic import BaseModel

from assent import Denied, Gate, PayloadError, Tool
from assent.sdk.openai_agents import answered, guard, questions, taken
from assent.sdk.tool_guard import answer

from .kit import ALLOWED, ASKED, ASKED_TOO, DENIED, TOOLS, WRITES, Person, Ran, Use, no, opened, stop
from .openai_host import QUIET, Chief, Scripted, noting, told

Opens = Callable[..., Gate]


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Opens]:
    gates: list[Gate] = []

    def make(person: Person | None = None, **given: Any) -> Gate:
        gates.append(opened(tmp_path, **{**({"channels": [person]} if person else {}), **given}))
        return gates[-1]

    yield make
    for each in gates:
        each.close()


def worker(ran: Ran, *uses: Use, **given: Any) -> Agent[Any]:
    return Agent(**{"name": "worker", "model": Scripted([uses]), "tools": [noting(ran)], **given})


def run(agent: Agent[Any], start: Any = "go") -> Any:
    return asyncio.run(Runner.run(agent, start, run_config=QUIET))


def calls(name: str, *given: str) -> list[ResponseFunctionToolCall]:
    return [
        ResponseFunctionToolCall(arguments=each, call_id=f"c{i}", name=name, type="function_call")
        for i, each in enumerate(given)
    ]


class Notes(MCPServer):
    """A server with one tool, `run`."""

    def __init__(self, ran: Ran) -> None:
        super().__init__()
        self._ran = ran

    name = "notes"

    async def connect(self) -> None: ...

    async def cleanup(self) -> None: ...

    async def list_tools(self, run_context: Any = None, agent: Any = None) -> list[MCPTool]:
        schema = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
        return [MCPTool(name="run", input_schema=schema)]

    async def call_tool(self, tool_name: str, arguments: dict[str, Any] | None, meta: Any = None) -> CallToolResult:
        self._ran.commands.append(str((arguments or {})["command"]))
        return CallToolResult(content=[TextContent(type="text", text="noted")])

    async def list_prompts(self) -> Any:
        raise NotImplementedError

    async def get_prompt(self, name: str, arguments: Any = None) -> Any:
        raise NotImplementedError


def test_the_tools_of_mcp_servers_are_gated_by_the_names_that_rules_know(gate: Opens) -> None:
    ran = Ran()
    agent = guard(
        gate(allow=["mcp__notes__run"]), Agent(name="a", model=Scripted([[Use("x")]]), mcp_servers=[Notes(ran)])
    )
    run(agent)
    assert ran.commands == ["x"]
    agent = guard(gate(), Agent(name="a", model=Scripted([[Use("x")]]), mcp_servers=[Notes(ran)]))
    run(agent)
    assert ran.commands == ["x"]


def test_a_tool_of_an_mcp_server_can_pause_the_run(gate: Opens) -> None:
    ran = Ran()
    opened_gate = gate()
    agent = guard(opened_gate, Agent(name="a", model=Scripted([[Use("x")]]), mcp_servers=[Notes(ran)]), durable=True)
    done = run(agent)
    [asked] = questions(opened_gate, done)
    assert (asked["tool"], ran.commands) == ("mcp__notes__run", [])

    async def resumed() -> None:
        state = await RunState.from_string(agent, done.to_state().to_string())
        with answered(opened_gate, state, [answer(asked, allow=True, who="ada")]):
            await Runner.run(agent, state, run_config=QUIET)

    asyncio.run(resumed())
    assert ran.commands == ["x"]


def test_names_by_which_rules_would_miss_mcp_tools_are_refused(gate: Opens) -> None:
    agent = Agent[Any](name="a", mcp_servers=[Notes(Ran())], mcp_config={"include_server_in_tool_names": True})
    with pytest.raises(PayloadError, match="include_server_in_tool_names"):
        guard(gate(), agent)


@pytest.mark.parametrize("way", [lambda agent: agent, handoff], ids=["agent", "handoff"])
def test_an_agent_that_is_handed_over_to_is_gated(gate: Opens, way: Callable[[Any], Any]) -> None:
    ran = Ran()
    inner = worker(ran, Use(ASKED))
    name = "transfer_to_worker"
    outer = Agent[Any](name="chief", model=Chief(list(calls(name, "{}"))), handoffs=[way(inner)])
    guard(gate(), outer)
    run(outer)
    assert ran.commands == []


@pytest.mark.parametrize("awaited", [False, True])
@pytest.mark.parametrize(
    ("rules", "ran"),
    [
        ({}, False),
        ({"deny": ["transfer_to_worker"]}, False),
        ({"tools": {"transfer_to_worker": Tool("nothing")}}, True),
    ],
)
def test_a_function_of_a_handoff_is_gated(gate: Opens, rules: dict[str, Any], ran: bool, awaited: bool) -> None:
    handed: list[str] = []

    class Reason(BaseModel):
        why: str

    def now(context: Any, given: Reason) -> None:
        handed.append(given.why)

    async def later(context: Any, given: Reason) -> None:
        handed.append(given.why)

    way = handoff(worker(Ran()), on_handoff=later if awaited else now, input_type=Reason)
    model = Chief(list(calls("transfer_to_worker", '{"why": "refund"}')))
    agent = Agent[Any](name="chief", model=model, handoffs=[way])
    for _ in range(2):  # gated again, it asks once
        guard(gate(**{**rules, "tools": {**TOOLS, **rules.get("tools", {})}}), agent)
    with pytest.raises(Denied) if not ran else nullcontext():
        run(agent)
    assert handed == (["refund"] if ran else [])


def test_agents_in_a_circle_are_gated_once(gate: Opens) -> None:
    person, ran = Person({ASKED: True}), Ran()
    agent = worker(ran, Use(ASKED))
    agent.handoffs = [agent]
    run(guard(gate(person), agent))
    assert (ran.commands, person.asked) == ([ASKED], [ASKED])


def test_a_tool_that_cannot_be_seen_is_refused_unless_it_is_left_out_by_name(gate: Opens) -> None:
    agent = Agent[Any](name="a", tools=[WebSearchTool()])
    with pytest.raises(PayloadError, match="web_search"):
        guard(gate(), agent)
    assert guard(gate(), agent, leave=["web_search"]).tools == [WebSearchTool()]


def test_an_agent_that_brings_tools_by_itself_is_refused_unless_it_is_left_out_by_name(gate: Opens) -> None:
    agent = SandboxAgent[Any](name="box", tools=[noting(Ran())])
    with pytest.raises(PayloadError, match="box"):
        guard(gate(), agent)
    [tool] = guard(gate(), agent, leave=["box"]).tools
    assert isinstance(tool, FunctionTool)
    assert len(tool.tool_input_guardrails or ()) == 1


def test_gated_again_an_agent_asks_once_in_the_new_session(gate: Opens) -> None:
    first, second, ran = Person({ASKED: True}), Person({ASKED: True}), Ran()
    agent = worker(ran, Use(ASKED))
    guard(gate(first), agent, durable=True)
    run(guard(gate(second), agent))
    assert (ran.commands, first.asked, second.asked) == ([ASKED], [], [ASKED])


def test_a_tool_of_another_agent_is_not_touched(gate: Opens) -> None:
    ran = Ran()
    tool = noting(ran)
    guard(gate(), Agent[Any](name="a", tools=[tool]))
    assert (tool.tool_input_guardrails, tool.needs_approval) == (None, False)


def test_a_person_who_says_stop_ends_the_run(gate: Opens) -> None:
    ran = Ran()
    with pytest.raises(ToolInputGuardrailTripwireTriggered) as raised:
        run(guard(gate(Person({ASKED: stop("enough")})), worker(ran, Use(ASKED))))
    assert "enough" in raised.value.output.output_info
    assert ran.commands == []


def test_arguments_that_can_be_read_in_two_ways_do_not_run(gate: Opens) -> None:
    ran = Ran()
    chief = Chief(list(calls("run", json.dumps({"command": ALLOWED})[:-1] + ', "command": "ls"}')))
    run(guard(gate(), Agent(name="a", model=chief, tools=[noting(ran)])))
    assert ran.commands == []
    assert "given twice" in told(chief.seen)["c0"]


def test_two_tools_of_one_name_in_two_namespaces_are_two_tools(gate: Opens) -> None:
    from agents import tool_namespace

    tools = tool_namespace(name="shop", description="x", tools=[noting(Ran())])
    agent = guard(gate(tools={"run": Tool("nothing")}), Agent[Any](name="a", tools=[*tools]))
    [found] = [each for each in agent.tools if isinstance(each, FunctionTool)]
    assert found.tool_input_guardrails is not None
    assert found.tool_input_guardrails[0]._name == "shop.run"  # type: ignore[attr-defined]


# Pauses


def paused(gate: Gate, agent: Agent[Any]) -> tuple[Any, list[dict[str, Any]]]:
    done = run(agent)
    return done.to_state(), questions(gate, done)


def resumed(gate: Gate, agent: Agent[Any], state: Any, answers: list[dict[str, Any]]) -> Any:
    with answered(gate, state, answers):
        return run(agent, state)


def test_the_tools_of_an_agent_within_can_pause_the_run(gate: Opens) -> None:
    ran, opened_gate = Ran(), gate()
    inner = worker(ran, Use(ASKED)).as_tool("delegate", "a part")
    chief = Agent[Any](name="chief", model=Chief(list(calls("delegate", '{"input": "x"}'))), tools=[inner])
    guard(opened_gate, chief, durable=True)
    state, [asked] = paused(opened_gate, chief)
    resumed(opened_gate, chief, state, [answer(asked, allow=True, who="ada")])
    assert (asked["preview"], ran.commands) == (ASKED, [ASKED])


def test_two_agents_within_that_use_the_same_call_ids_get_each_their_own_answer(gate: Opens) -> None:
    ran, opened_gate = Ran(), gate(tools={**TOOLS, "one": Tool("nothing"), "two": Tool("nothing")})
    tools = [
        worker(ran, Use(command), name=name).as_tool(name, "a part")
        for name, command in (("one", ASKED), ("two", ASKED_TOO))
    ]
    [one], [two] = calls("one", '{"input": "x"}'), calls("two", '{"input": "x"}')
    both = [one, two.model_copy(update={"call_id": "c9"})]
    chief = Agent[Any](name="chief", model=Chief(both), tools=[*tools])
    guard(opened_gate, chief, durable=True)
    state, asked = paused(opened_gate, chief)
    answers = [answer(each, allow=each["preview"] == ASKED_TOO, who="ada", message="no") for each in reversed(asked)]
    resumed(opened_gate, chief, state, answers)
    assert (sorted(str(each["preview"]) for each in asked), ran.commands) == ([ASKED, ASKED_TOO], [ASKED_TOO])


def test_answers_are_seen_by_no_other_run(gate: Opens) -> None:
    ran, opened_gate = Ran(), gate()
    agent = guard(opened_gate, worker(ran, Use(ASKED)), durable=True)
    state, [asked] = paused(opened_gate, agent)
    plain = guard(opened_gate, worker(ran, Use(ASKED)))

    async def another_meanwhile() -> None:
        begun = asyncio.Event()

        async def other() -> None:
            await begun.wait()
            await Runner.run(plain, "go", run_config=QUIET)

        task = asyncio.create_task(other())
        with answered(opened_gate, state, [answer(asked, allow=True, who="ada")]):
            begun.set()
            await task

    asyncio.run(another_meanwhile())
    run(plain)
    assert ran.commands == []


def test_an_answer_is_taken_once(gate: Opens) -> None:
    opened_gate = gate()
    agent = guard(opened_gate, worker(Ran(), Use(ASKED)), durable=True)
    state, [asked] = paused(opened_gate, agent)
    [item] = state.get_interruptions()
    with answered(opened_gate, state, [answer(asked, allow=True, who="ada")]):
        found = [taken(item.call_id, "run", item.arguments) for _ in range(2)]
    assert [each is None for each in found] == [False, True]
    assert taken(item.call_id, "run", item.arguments) is None


def test_what_the_framework_pauses_for_by_itself_goes_on_without_an_answer_where_the_gate_asks_nothing(
    gate: Opens,
) -> None:
    """The framework pauses for arguments with defaults, before it looks whether it should."""
    ran, opened_gate = Ran(), gate(tools={"run": Tool("nothing")})

    @function_tool(strict_mode=False)
    def run_it(command: str = "x") -> str:
        ran.commands.append(command)
        return command

    opened_gate.declare("run_it", Tool("nothing"))
    agent = Agent[Any](name="a", model=Chief(list(calls("run_it", "{}"))), tools=[run_it])
    guard(opened_gate, agent, durable=True)
    state, asked = paused(opened_gate, agent)
    assert (asked, ran.commands) == ([], [])
    resumed(opened_gate, agent, state, [])
    assert ran.commands == ["x"]


def test_the_author_s_own_approval_holds_beside_the_gate(gate: Opens) -> None:
    ran, opened_gate = Ran(), gate()
    tool = noting(ran)
    tool.needs_approval = True
    agent = guard(opened_gate, Agent[Any](name="a", model=Scripted([[Use(ALLOWED)]]), tools=[tool]), durable=True)
    state, asked = paused(opened_gate, agent)
    assert asked == []
    assert [each.name for each in resumed(opened_gate, agent, state, []).interruptions] == ["run"]
    assert ran.commands == []
    state.approve(state.get_interruptions()[0])
    resumed(opened_gate, agent, state, [])
    assert ran.commands == [ALLOWED]


def test_runs_that_stream_are_gated_and_go_on_with_their_answers(gate: Opens) -> None:
    ran, opened_gate = Ran(), gate()
    agent = guard(opened_gate, worker(ran, Use(ASKED, "a"), Use(DENIED, "b")), durable=True)

    async def streamed() -> list[str]:
        begun = Runner.run_streamed(agent, "go", run_config=QUIET)
        _ = [each async for each in begun.stream_events()]
        [asked], before = questions(opened_gate, begun), list(ran.commands)
        with answered(opened_gate, begun.to_state(), [answer(asked, allow=True, who="ada")]) as state:
            again = Runner.run_streamed(agent, state, run_config=QUIET)
        _ = [each async for each in again.stream_events()]
        return before

    assert (asyncio.run(streamed()), ran.commands) == ([], [ASKED])


# Tools beside functions


def shell_call(*commands: str) -> ShellCommandRequest:
    return ShellCommandRequest(None, ShellCallData("c", ShellActionRequest(list(commands))))  # type: ignore[arg-type]


def executed(tool: Any, request: ShellCommandRequest) -> str:
    return str(asyncio.run(tool.executor(request)))


def shell(ran: Ran) -> ShellTool:
    def execute(request: ShellCommandRequest) -> str:
        ran.commands.extend(request.data.action.commands)
        return "ran"

    return ShellTool(execute)


@pytest.mark.parametrize("commands", [[ALLOWED], [ALLOWED, "pwd"]])
def test_the_local_shell_runs_what_is_allowed(gate: Opens, commands: list[str]) -> None:
    ran = Ran()
    [tool] = guard(gate(), Agent[Any](name="a", tools=[shell(ran)])).tools
    executed(tool, shell_call(*commands))
    assert ran.commands == commands


@pytest.mark.parametrize("commands", [[DENIED], [ALLOWED, DENIED], ["cd /etc", WRITES], [ASKED]])
def test_the_local_shell_runs_nothing_of_a_call_in_which_a_part_is_not_allowed(
    gate: Opens, commands: list[str]
) -> None:
    ran = Ran()
    [tool] = guard(gate(), Agent[Any](name="a", tools=[shell(ran)])).tools
    said = executed(tool, shell_call(*commands))
    assert ran.commands == []
    assert "not run" in str(said)


class Editor:
    def __init__(self) -> None:
        self.done: list[str] = []

    def create_file(self, operation: ApplyPatchOperation) -> None:
        self.done.append(operation.path)

    update_file = delete_file = create_file


def test_patches_are_gated_by_every_path_that_they_name(gate: Opens) -> None:
    editor = Editor()
    [tool] = guard(gate(), Agent[Any](name="a", tools=[ApplyPatchTool(editor)])).tools
    assert isinstance(tool, ApplyPatchTool)

    async def edit() -> list[Any]:
        return [
            await tool.editor.create_file(ApplyPatchOperation("create_file", "made.txt", "+x")),  # type: ignore[misc]
            await tool.editor.update_file(ApplyPatchOperation("update_file", "~/.bashrc", "+x")),  # type: ignore[misc]
            await tool.editor.update_file(ApplyPatchOperation("update_file", "a", "+x", move_to="/etc/x")),  # type: ignore[misc]
            await tool.editor.delete_file(ApplyPatchOperation("delete_file", "a")),  # type: ignore[misc]
        ]

    said = asyncio.run(edit())
    assert editor.done == ["made.txt"]
    assert [getattr(each, "status", None) for each in said] == [None, "failed", "failed", "failed"]


def test_a_tool_of_free_text_and_the_older_shell_are_gated_too(gate: Opens) -> None:
    ran = Ran()
    custom = CustomTool("sql", "x", lambda context, text: ran.commands.append(text))
    older = LocalShellTool(lambda request: ran.commands.append("older") or "")  # type: ignore[func-returns-value]
    first, second = guard(gate(), Agent[Any](name="a", tools=[custom, older])).tools

    class Action:
        command, env, working_directory = ["make", "it"], {"A": "b"}, None

    class Request:
        class data:
            action = Action

    said = [
        asyncio.run(first.on_invoke_tool(None, "drop table x")),  # type: ignore[union-attr,arg-type]
        executed(second, Request),  # type: ignore[arg-type]
    ]
    assert ran.commands == []
    assert ["not run" in each for each in said] == [True, True]


def test_stop_in_the_local_shell_ends_the_run(gate: Opens) -> None:
    [tool] = guard(gate(Person({ASKED: stop("enough")})), Agent[Any](name="a", tools=[ShellTool(lambda _: "")])).tools
    with pytest.raises(Denied, match="enough"):
        executed(tool, shell_call(ASKED))


def test_commands_that_change_while_a_person_is_asked_do_not_run(gate: Opens) -> None:
    ran, request = Ran(), shell_call(ASKED)

    async def late(_: Any) -> bool:
        request.data.action.commands[0] = DENIED
        return True

    [tool] = guard(gate(channels=[late]), Agent[Any](name="a", tools=[shell(ran)])).tools
    executed(tool, request)
    assert ran.commands == []


def test_what_a_person_denied_is_told_in_the_words_of_the_person(gate: Opens) -> None:
    [tool] = guard(gate(Person({ASKED: no("later")})), Agent[Any](name="a", tools=[ShellTool(lambda _: "")])).tools
    assert "later" in executed(tool, shell_call(ASKED))
