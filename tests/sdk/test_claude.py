"""The Claude Agent SDK: its own options stay, a hook that fails blocks, and the real Claude Code does as it is told."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import claude_agent_sdk
import pytest
from claude_agent_sdk import ClaudeAgentOptions, HookMatcher, PermissionResultAllow, PermissionResultDeny, query

from assent import Gate, PayloadError
from assent.sdk.claude import guard
from tests.clients.model import Call, Model, Say
from tests.clients.model import Use as Turn

from .kit import ALLOWED, ASKED, DENIED, WRITES, Person, no, opened, stop

BUNDLED = Path(claude_agent_sdk.__file__).parent / "_bundled/claude"
PROMPT = "do as the script says"
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


def hook(options: ClaudeAgentOptions, at: int = 0) -> Any:
    return (options.hooks or {})["PreToolUse"][at].hooks[0]


def event(command: str, **more: Any) -> dict[str, Any]:
    return {"tool_name": "Bash", "tool_input": {"command": command}, "hook_event_name": "PreToolUse", **more}


def said(options: ClaudeAgentOptions, given: dict[str, Any], at: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = asyncio.run(hook(options, at)(given, "id", None))
    return found


def test_what_else_stands_in_the_options_stays(gate: Opens) -> None:
    async def other(*_: Any) -> Any:
        return {"systemMessage": "seen"}

    given = ClaudeAgentOptions(
        model="m", hooks={"PreToolUse": [HookMatcher("Bash", [other])], "Stop": [HookMatcher(hooks=[other])]}
    )
    options = guard(gate(), given)
    assert (options.model, (options.hooks or {})["Stop"]) == ("m", (given.hooks or {})["Stop"])
    assert [each.matcher for each in (options.hooks or {})["PreToolUse"]] == [None, "Bash"]
    assert said(options, event(ALLOWED), at=1) == {"systemMessage": "seen"}
    assert (given.can_use_tool, len((given.hooks or {})["PreToolUse"])) == (None, 1)


def test_a_hook_that_fails_or_hangs_blocks(gate: Opens) -> None:
    [ours] = (guard(gate()).hooks or {})["PreToolUse"]
    assert (ours.on_failure, ours.matcher, (ours.timeout or 0) > 3600) == ("block", None, True)
    with pytest.raises(KeyError):
        asyncio.run(ours.hooks[0]({}, "id", None))  # type: ignore[arg-type]  # the program blocks then


def test_options_that_ask_another_program_are_refused(gate: Opens) -> None:
    with pytest.raises(PayloadError, match="permission_prompt_tool_name"):
        guard(gate(), ClaudeAgentOptions(permission_prompt_tool_name="mcp__a__b"))


@pytest.mark.parametrize(
    ("command", "theirs", "word", "asked"),
    [
        (ALLOWED, PermissionResultAllow(), "allow", [ALLOWED]),
        (ALLOWED, PermissionResultAllow(updated_input={"command": "pwd"}), "allow", [ALLOWED]),
        (ALLOWED, PermissionResultAllow(updated_input={"command": DENIED}), "deny", [ALLOWED]),
        (ALLOWED, PermissionResultDeny(message="not by me"), "deny", [ALLOWED]),
        (DENIED, PermissionResultAllow(), "deny", []),
    ],
)
def test_a_callback_of_the_program_is_asked_after_the_gate_and_loosens_nothing(
    gate: Opens, command: str, theirs: Any, word: str, asked: list[str]
) -> None:
    seen: list[str] = []

    async def callback(tool: str, given: dict[str, Any], context: Any) -> Any:
        seen.append(given["command"])
        return theirs

    may_use: Any = guard(gate(), ClaudeAgentOptions(can_use_tool=callback)).can_use_tool
    said = asyncio.run(may_use("Bash", {"command": command}, None))
    assert (said.behavior, seen) == (word, asked)


def test_what_only_plans_changes_nothing(gate: Opens, tmp_path: Path) -> None:
    options = guard(gate())
    words = []
    for mode in ("default", "plan"):
        given = event(WRITES, permission_mode=mode, cwd=str(tmp_path / "project"))
        words.append(said(options, given)["hookSpecificOutput"]["permissionDecision"])
    assert words == ["allow", "deny"]


def test_a_person_who_says_stop_ends_the_run(gate: Opens) -> None:
    options = guard(gate(Person({ASKED: stop("enough")})))
    answer = said(options, event(ASKED))
    assert (answer["continue_"], "enough" in answer["stopReason"]) == (False, True)
    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"
    may_use: Any = options.can_use_tool
    denied = asyncio.run(may_use("Bash", {"command": ASKED}, None))
    assert isinstance(denied, PermissionResultDeny)
    assert (denied.interrupt, "enough" in denied.message) == (True, True)


def test_what_may_be_used_runs_with_the_arguments_that_were_judged(gate: Opens) -> None:
    may_use: Any = guard(gate()).can_use_tool
    found = asyncio.run(may_use("Bash", {"command": ALLOWED}, None))
    assert found == PermissionResultAllow(updated_input={"command": ALLOWED})


# The real Claude Code


async def _raising(*_: Any) -> Any:
    raise RuntimeError("the hook broke")


class Here:
    """This machine's own loopback, for the scripted model."""

    @staticmethod
    def inside(do: Callable[[], Any]) -> Any:
        return do()


class Program:
    """Claude Code as it comes with the SDK, in a home of its own, with a model that follows a script."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project = folder / "home", folder / "project"
        self.home.mkdir()

    def run(self, session: Any, *turns: Any, sub: tuple[Any, ...] = (), breaks: bool = False) -> list[str]:
        model = Model(cast(Any, Here), [*turns, Say("done")], PROMPT, sub)
        environ = {
            "HOME": str(self.home),
            "ANTHROPIC_BASE_URL": model.url,
            "ANTHROPIC_API_KEY": "no-key-at-all",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",
        }
        settings: dict[str, Any] = {"cwd": self.project, "env": environ, "setting_sources": [], "cli_path": BUNDLED}
        settings |= {"permission_mode": "bypassPermissions"}
        options = guard(session, ClaudeAgentOptions(**settings))
        if breaks:
            (options.hooks or {})["PreToolUse"][0].hooks[:] = [_raising]

        async def talk() -> None:
            async with asyncio.timeout(90):
                async for _ in query(prompt=PROMPT, options=options):
                    pass

        try:
            asyncio.run(talk())
            return [*model.told(), *model.told(sub=True)]
        finally:
            model.close()

    @property
    def made(self) -> set[str]:
        return set(os.listdir(self.project))


@pytest.fixture
def program(tmp_path: Path) -> Program:
    if not BUNDLED.exists() or shutil.which("bash") is None:
        pytest.skip("the SDK comes without Claude Code here")
    return Program(tmp_path)


def bash(command: str) -> Call:
    return Call("Bash", {"command": command, "description": "a command"})


@pytest.mark.filterwarnings("ignore:can_use_tool will not be invoked")
def test_claude_code_runs_what_passes_and_nothing_else(program: Program, gate: Opens) -> None:
    person = Person({"./yes": True, "./no": no("not today")}, after=0.5)
    for name in ("yes", "no"):
        (program.project / name).write_text(f'#!/bin/sh\n"$(command -v touch)" made-by-{name}\n')
        (program.project / name).chmod(0o755)
    told = program.run(
        gate(person),
        Turn(bash("touch allowed")),
        Turn(bash("./yes"), bash("./no")),
        Turn(bash(DENIED.replace("~", "$HOME"))),
    )
    assert program.made == {"yes", "no", "allowed", "made-by-yes"}
    assert (sorted(person.asked), person.most) == (["./no", "./yes"], 1)
    assert ["not today" in each for each in told] == [False, False, True, False]
    assert "not run" in told[3]


@pytest.mark.filterwarnings("ignore:can_use_tool will not be invoked")
def test_claude_code_gates_its_sub_agents_and_blocks_where_the_gate_cannot_be_reached(
    program: Program, gate: Opens
) -> None:
    delegate = Call(
        "Agent",
        {
            "description": "a part",
            "prompt": "do your part",
            "subagent_type": "general-purpose",
            "run_in_background": False,
        },
    )
    person = Person({"": True, ASKED: no("not within")})  # the first is the delegation
    told = program.run(gate(person), Turn(delegate), sub=(Turn(bash("touch within")), Turn(bash(ASKED)), Say("ok")))
    assert (program.made, person.asked) == ({"within"}, ["", ASKED])
    assert "not within" in told[-1]

    def missing() -> Any:
        raise LookupError("no gate today")

    told = program.run(missing, Turn(bash("touch later")))
    assert program.made == {"within"}
    assert "no gate today" in told[0]


@pytest.mark.filterwarnings("ignore:can_use_tool will not be invoked")
def test_claude_code_blocks_where_the_hook_breaks(program: Program, gate: Opens) -> None:
    told = program.run(gate(), Turn(bash("touch made")), breaks=True)
    assert (program.made, len(told)) == (set(), 1)
