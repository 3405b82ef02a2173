"""The guarded tools of one agent: every call is checked, judged by the gate, and done only after a yes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from threading import Event
from typing import Protocol

from assent.approval.preview import preview
from assent.contract import Call, Decision, Outcome, PayloadError, texts
from assent.contract.approval import Preview, Verdict
from assent.contract.display import visible
from assent.contract.tools import OURS
from assent.tools.bash import BashTool, environment
from assent.tools.files import EditTool, ReadTool, WriteTool
from assent.tools.process import Stopped
from assent.tools.search import GlobTool, GrepTool
from assent.tools.tool import GuardedTool, Problem, Result, ToolContext, ToolJob

TOOLS: dict[str, GuardedTool] = {
    each.name: each for each in (BashTool(), ReadTool(), WriteTool(), EditTool(), GlobTool(), GrepTool())
}
NAMES = tuple(TOOLS)
AT_ONCE = 64  # calls that run at the same time
POLL = 0.02  # seconds between checks whether a call has stopped
REFUSED = "This call was not run."
SHELL = "bash"


class ToolGate(Protocol):
    """A gate or one of its sessions. A call that names no session belongs to that one."""

    def decide(self, call: Call) -> Decision: ...

    async def guard(self, call: Call) -> Verdict: ...

    def guard_sync(self, call: Call) -> Verdict: ...


class Toolset:
    """The tools of one agent in one folder, behind a gate or one of its sessions. Files that were read are noted per
    set.

    `names` are the tools to offer; `hidden` are environment variables that commands do not get, in addition to
    Assent's. Safe for threads and loops."""

    def __init__(
        self, gate: ToolGate, folder: str = "", *, names: Sequence[str] = NAMES, hidden: Sequence[str] = ()
    ) -> None:
        names = texts(names, "names")
        unknown = [each for each in names if each not in TOOLS]
        if unknown:
            raise PayloadError(f"there is no tool `{unknown[0]}`; there are {', '.join(NAMES)}")
        # A gate that can run a command contained says so by this method.
        self._gate: ToolGate = gate.rewriting() if "bash" in names and hasattr(gate, "rewriting") else gate
        self._tools = {each: TOOLS[each] for each in names}
        self.folder = os.path.realpath(folder or os.getcwd())
        environ = environment(os.environ, frozenset(texts(hidden, "hidden")))
        self._context = ToolContext(self.folder, environ, self._readable)
        self._workers = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="assent-tool")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    def schemas(self) -> list[dict[str, object]]:
        """The tools for a model: name, description and the JSON schema of the arguments."""
        return [
            {"name": each.name, "description": each.description, "parameters": each.schema()}
            for each in self._tools.values()
        ]

    def risk(self, name: str) -> str:
        return self._tools[name].risk

    def preview(self, name: str, given: Mapping[str, object], description: str = "") -> Preview:
        """The call as a person would see it. Raises PayloadError if the call makes no sense."""
        try:
            return preview(self._prepared(name, given, description)[1])
        except Problem as problem:
            raise PayloadError(str(problem)) from None

    async def call(self, name: str, given: Mapping[str, object], *, description: str = "") -> Result:
        """Do a call, if the gate lets it pass. Raises nothing but CancelledError, which withdraws the question and ends
        what runs."""
        stop = Event()
        loop = asyncio.get_running_loop()
        try:
            job, call = await loop.run_in_executor(self._workers, self._prepared, name, given, description)
            if job.problem != "" and await loop.run_in_executor(self._workers, self._hopeless, call):
                return Result(visible(job.problem), True)
            verdict = await self._gate.guard(call)
            if verdict.allowed is not True:
                return Result(verdict.message or REFUSED, True, verdict)
            working = self._workers.submit(_run, _as_judged(job, verdict), verdict, stop)
        except Exception as error:  # the net: what breaks here did not run
            return _failed(error)
        try:
            return await asyncio.shield(asyncio.wrap_future(working))
        except asyncio.CancelledError:
            stop.set()
            if not working.cancel():
                while not working.done():  # however often this is cancelled again
                    with suppress(asyncio.CancelledError):
                        await asyncio.sleep(POLL)
            raise

    def call_sync(self, name: str, given: Mapping[str, object], *, description: str = "") -> Result:
        """The same for programs without an event loop. An interrupt ends what runs."""
        try:
            job, call = self._prepared(name, given, description)
            if job.problem and self._hopeless(call):
                return Result(visible(job.problem), True)
            verdict = self._gate.guard_sync(call)
            if verdict.allowed is not True:
                return Result(verdict.message or REFUSED, True, verdict)
        except Exception as error:  # the net
            return _failed(error)
        return _run(_as_judged(job, verdict), verdict, Event())

    def close(self) -> None:
        self._workers.shutdown(wait=False, cancel_futures=True)

    def _prepared(self, name: str, given: Mapping[str, object], description: str) -> tuple[ToolJob, Call]:
        tool = self._tools.get(name)
        if tool is None:
            raise Problem(f"there is no tool `{name}`; there are {', '.join(self._tools)}")
        checked = tool.check(dict(given) if isinstance(given, Mapping) else given)
        job = tool.prepare(self._context, checked)
        description = description or str(checked.get("description", ""))
        shell = SHELL if name == "bash" else ""
        return job, Call(name, job.input, cwd=self.folder, description=description, runtime=OURS, shell=shell)

    def _hopeless(self, call: Call) -> bool:
        """Whether a call that has a problem ends here: nobody is asked about it. What the gate denies is denied first,
        and recorded as such."""
        return self._gate.decide(call).outcome is not Outcome.DENY

    def _readable(self, path: str) -> bool:
        call = Call("read", {"file_path": path}, cwd=self.folder, runtime=OURS)
        return self._gate.decide(call).outcome is Outcome.ALLOW


def _as_judged(job: ToolJob, verdict: Verdict) -> ToolJob:
    """The job to run: contained, if the gate says so. A job that cannot be contained then has a problem."""
    if not verdict.command and not verdict.decision.contained:
        return job
    if not verdict.command or job.contained is None or verdict.decision.outcome is not Outcome.ALLOW:
        return replace(job, problem=job.problem or "it was to run contained, and that cannot be done")
    return replace(job, work=job.contained(verdict.command))


def _run(job: ToolJob, verdict: Verdict, stop: Event) -> Result:
    try:
        if job.problem:
            raise Problem(job.problem)
        if stop.is_set():
            raise Stopped
        return replace(job.work(stop), verdict=verdict)
    except Stopped:
        return Result("the call was cancelled", True, verdict)
    except Exception as error:  # the net: a fault of a tool is reported, and affects no other call
        return replace(_failed(error), verdict=verdict)


def _failed(error: Exception) -> Result:
    problem = isinstance(error, Problem)
    return Result(visible(str(error) if problem else f"the tool failed: {type(error).__name__}: {error}"), True)
