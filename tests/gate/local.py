"""The entries without a server: `assent run`, the embedded gate, a framework, paused runs, MCP, a hook alone."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import signal
import subprocess
import sys
from typing import Any, Self

from assent import Answer, Gate, Held, Said, Scope
from assent.agents import load
from assent.approval.channels.terminal import DEAF
from assent.contract import Call
from assent.hook import hook
from assent.mcp.judge import NO, YES, McpJudge
from tests.gate.entry import SESSION, Entry, until
from tests.sdk.kit import Use
from tests.sdk.pydantic_host import PydanticAI

PERSON = "ann"


class Run(Entry):
    """`assent run`: a process for each call, in a terminal with a person who types."""

    name, channel, runtime = "run", "terminal", "assent"

    async def __aenter__(self) -> Self:
        self._opened: list[tuple[subprocess.Popen[bytes], int]] = []
        self._seen: dict[int, str] = {}
        return self

    async def __aexit__(self, *_: object) -> None:
        for process, terminal in self._opened:
            if process.poll() is None:
                process.kill()
                process.wait()
            asyncio.get_running_loop().remove_reader(terminal)
            os.close(terminal)

    async def call(self, command: str) -> bool:
        process = self._start(command)
        await until(lambda: process.poll() is not None, "the end of the process")
        return process.returncode != 4

    def _start(self, command: str) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-m", "assent", "run", "--session", SESSION, command]
        environ = {**os.environ, **self.scratch.environ, "TERM": "dumb"}
        options: dict[str, Any] = {"env": environ, "cwd": self.scratch.project}
        if not self.person:
            none = subprocess.DEVNULL
            return subprocess.Popen(words, stdin=none, stdout=none, stderr=none, start_new_session=True, **options)
        terminal, inner = pty.openpty()
        process = subprocess.Popen(["setsid", "--ctty", *words], stdin=inner, stdout=inner, stderr=inner, **options)
        os.close(inner)
        self._opened.append((process, terminal))
        self._seen[terminal] = ""
        asyncio.get_running_loop().add_reader(terminal, self._read, terminal)
        return process

    def _read(self, terminal: int) -> None:
        try:
            self._seen[terminal] += os.read(terminal, 65536).decode(errors="replace")
        except OSError:  # the process has ended
            asyncio.get_running_loop().remove_reader(terminal)

    def _open(self) -> tuple[subprocess.Popen[bytes], int] | None:
        """The first process whose question is open."""
        return next(
            ((each, at) for each, at in self._opened if each.poll() is None and "[y] once" in self._seen[at]), None
        )

    async def shown(self) -> None:
        await until(self._open, "a question in a terminal")
        await asyncio.sleep(DEAF + 0.1)

    async def say(self, yes: bool, *, session: bool = False) -> None:
        found = self._open()
        assert found is not None
        process, terminal = found
        if session:
            os.write(terminal, b"s")
            await until(lambda: "which calls?" in self._seen[terminal], "the choice of a rule")
            os.write(terminal, b"1")
            await until(lambda: "would have matched" in self._seen[terminal], "what the rule matches")
        os.write(terminal, b"\r" if session else b"y" if yes else b"n")
        await until(lambda: process.poll() is not None, "the end of the process")

    async def cancel(self, calling: asyncio.Task[bool]) -> None:
        found = self._open()
        assert found is not None
        found[0].send_signal(signal.SIGTERM)
        await asyncio.wait({calling})


class Asking:
    """A person who is asked by a function, and answers when the play says so."""

    def __init__(self) -> None:
        self.open: list[tuple[Held, asyncio.Future[Answer]]] = []

    async def __call__(self, held: Held) -> Answer:
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.open.append((held, answer))
        try:
            return await answer
        finally:
            self.open.remove((held, answer))

    async def shown(self) -> None:
        await until(lambda: self.open, "a question to the function")

    def say(self, yes: bool, session: bool) -> None:
        held, waiting = self.open[0]
        rules = held.suggestions[0].rules if session else ()
        scope = Scope.SESSION if session else Scope.ONCE
        said = Said.ALLOW if yes else Said.DENY
        waiting.set_result(Answer(said, scope=scope, rules=rules, who=PERSON, channel="callback"))


class Embedded(Entry):
    """`Gate.guard` in the program of the agent, whose author gives the function that asks."""

    name, channel, runtime, who = "embedded", "callback", "python", PERSON
    declares = True

    async def __aenter__(self) -> Self:
        self._asking = Asking()
        self._gate = Gate(
            str(self.scratch.project),
            state=str(self.scratch.state),
            channels=[self._asking] if self.person else ["nobody"],
            tools={self.tool: "bash"},
        )
        self._session = self._gate.session(SESSION)
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self._gate.close)

    async def call(self, command: str) -> bool:
        return (await self._session.guard(self._session.call("bash", {"command": command}))).allowed

    async def shown(self) -> None:
        await self._asking.shown()

    async def say(self, yes: bool, *, session: bool = False) -> None:
        self._asking.say(yes, session)


class Framework(Embedded):
    """The same gate before an agent of a framework, whose model calls the tool."""

    name, tool, runtime = "framework", "run", "pydantic-ai"

    async def call(self, command: str) -> bool:
        return bool((await PydanticAI().run(self._session, [[Use(command)]])).commands)


class Paused(Embedded):
    """`request_approval` and `resolve_approval`: the run pauses, and goes on with an answer from elsewhere."""

    name, channel = "paused", "program"

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        self._held: list[asyncio.Future[bool]] = []
        return self

    async def call(self, command: str) -> bool:
        call = self._session.call("bash", {"command": command})
        seconds = float(self.scratch.timeout)
        approval = await asyncio.to_thread(self._session.request_approval, call, seconds=seconds)
        if approval.verdict is not None:
            return approval.verdict.allowed
        if not self.person:
            return False
        answer = asyncio.get_running_loop().create_future()
        self._held.append(answer)
        try:
            said = await asyncio.wait_for(answer, seconds + 0.1)
        except TimeoutError:
            said = True  # too late
        finally:
            self._held.remove(answer)
        found = await asyncio.to_thread(self._session.resolve_approval, approval.id, call, allow=said, who=PERSON)
        return found.allowed

    async def shown(self) -> None:
        await until(lambda: self._held, "a run that pauses")

    async def say(self, yes: bool, *, session: bool = False) -> None:
        self._held[0].set_result(yes)


class Mcp(Entry):
    """The judge of the MCP proxy, which asks in the client's own form."""

    name, channel, runtime = "mcp", "elicitation", "assent"
    served = False

    async def __aenter__(self) -> Self:
        self._forms: list[asyncio.Future[dict[str, Any]]] = []
        self._judge = McpJudge(self.scratch.environ)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._judge.leave()
        self._judge.close()

    async def call(self, command: str) -> bool:
        project = str(self.scratch.project)
        call = Call(
            "bash",
            {"command": command},
            cwd=project,
            session=SESSION,
            runtime=self.runtime,
            shell="bash",
            roots=(project,),
        )
        ask = self._ask if self.person and not self.served else None
        return (await self._judge.ask(call, project=project, ask_client=ask)).allowed

    async def _ask(self, form: dict[str, Any]) -> dict[str, Any]:
        assert form["requestedSchema"]["properties"]["answer"]["enum"] == [NO, YES]
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._forms.append(answer)
        try:
            return await answer
        finally:
            self._forms.remove(answer)

    async def shown(self) -> None:
        await until(lambda: self._forms, "a form")

    async def say(self, yes: bool, *, session: bool = False) -> None:
        content = {"answer": YES if yes else NO}
        self._forms[0].set_result({"result": {"action": "accept", "content": content}})


class Claude(Entry):
    """A session of Claude Code, which runs what its hook allows, and opens its own dialog if the hook asks."""

    channel, tool, runtime = "dialog", "Bash", "claude"

    async def __aenter__(self) -> Self:
        self._dialogs: list[asyncio.Future[bool]] = []
        return self

    def payload(self, event: str, command: str = "") -> str:
        call = {"tool_name": self.tool, "tool_input": {"command": command}} if command else {}
        common = {"session_id": SESSION, "cwd": str(self.scratch.project), "permission_mode": "default"}
        return json.dumps({**common, "hook_event_name": event, **call})

    @property
    def told(self) -> dict[str, str]:
        """What the program tells its hooks in their environment."""
        return {
            "HOME": str(self.scratch.home),
            "SHELL": "/bin/bash",
            "CLAUDE_PROJECT_DIR": str(self.scratch.project),
            "CLAUDE_CODE_SESSION_ATTENDED": "1" if self.attended else "0",
        }

    @property
    def attended(self) -> bool:
        return self.person

    @property
    def patience(self) -> float:
        """The seconds after which a dialog without an answer is put away: once the question on the page has ended."""
        return self.scratch.timeout + 0.5 if self.person else 0.2

    async def send(self, event: str, command: str = "") -> str:
        """What the hook says to an event: `allow`, `deny`, `ask`, or nothing."""
        raise NotImplementedError

    async def call(self, command: str) -> bool:
        said = await self.send("PreToolUse", command)
        runs = said == "allow" or (said == "ask" and await self.dialog(command))
        if runs:
            await self.send("PostToolUse", command)
        return runs

    async def dialog(self, command: str) -> bool:
        """The program's own dialog: what is not allowed there is not run, and the session goes on."""
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._dialogs.append(answer)
        try:
            yes = await asyncio.wait_for(answer, self.patience)
        except TimeoutError:
            yes = False
        finally:
            self._dialogs.remove(answer)
        if not yes:
            await self.send("Stop")
        return yes

    async def shown(self) -> None:
        await until(lambda: self._dialogs, "the program's dialog")

    async def say(self, yes: bool, *, session: bool = False) -> None:
        self._dialogs[0].set_result(yes)

    async def cancel(self, calling: asyncio.Task[bool]) -> None:
        await self.say(False)
        await asyncio.wait({calling})


def said_by_hook(stdout: str) -> str:
    """The decision in what a hook of Claude Code prints, `""` if it says nothing."""
    found = json.loads(stdout).get("hookSpecificOutput", {}) if stdout.strip() else {}
    return str(found.get("permissionDecision") or found.get("decision", {}).get("behavior", ""))


class HookAlone(Claude):
    """The hook of an agent program without a server."""

    name = "hook-alone"

    async def send(self, event: str, command: str = "") -> str:
        text, state = self.payload(event, command).encode(), str(self.scratch.state)
        rendered = await asyncio.to_thread(hook.answer, load("claude"), text, self.told, state=state)
        return said_by_hook(rendered.stdout)
