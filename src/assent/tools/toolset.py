"""The guarded tools of one agent: every call is looked at, judged by the gate, and done only after a yes.

Decides nothing, and runs nothing that the gate did not let pass."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Protocol

from assent.approval.preview import preview
from assent.contract import Call, Decision, Outcome, PayloadError, texts
from assent.contract.approval import Preview, Verdict
from assent.contract.display import visible
from assent.contract.tools import OURS
from assent.tools import arguments
from assent.tools.bash import BashTool, environment
from assent.tools.changing import EditTool, WriteTool
from assent.tools.looking import GlobTool, GrepTool
from assent.tools.process import Stopped
from assent.tools.reading import ReadTool
from assent.tools.tool import Bench, Guarded, Job, Problem, Result, Stop

TOOLS: dict[str, Guarded] = {
    each.name: each for each in (BashTool(), ReadTool(), WriteTool(), EditTool(), GlobTool(), GrepTool())
}
NAMES = tuple(TOOLS)
AT_ONCE = 64  # calls that work at the same time
LOOK = 0.02  # seconds between looks whether a call has stopped
REFUSED = "This call was not run."
SHELL = "bash"


class Judge(Protocol):
    """A gate or one of its sessions."""

    def call(
        self,
        tool: str,
        input: Mapping[str, object],
        *,
        cwd: str = "",
        description: str = "",
        runtime: str = "",
        shell: str = "",
    ) -> Call: ...

    def decide(self, call: Call) -> Decision: ...

    async def guard(self, call: Call) -> Verdict: ...

    def guard_sync(self, call: Call) -> Verdict: ...


class Toolset:
    """The tools of one agent in one folder, behind a gate or one of its sessions. What was read counts for this set.

    `names` are the tools that there are; `hidden` are environment variables that commands do not get, beside Assent's
    own. Safe for threads and loops."""

    def __init__(
        self, gate: Judge, folder: str = "", *, names: Sequence[str] = NAMES, hidden: Sequence[str] = ()
    ) -> None:
        names = texts(names, "names")
        unknown = [each for each in names if each not in TOOLS]
        if unknown:
            raise PayloadError(f"there is no tool `{unknown[0]}`; there are {', '.join(NAMES)}")
        self._gate = gate
        self._tools = {each: TOOLS[each] for each in names}
        self.folder = os.path.realpath(folder or os.getcwd())
        self._bench = Bench(self.folder, environment(os.environ, frozenset(texts(hidden, "hidden"))), self._readable)
        self._workers = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="assent-tool")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    def schemas(self) -> list[dict[str, object]]:
        """The tools for a model: name, description and the JSON schema of the arguments."""
        return [
            {"name": each.name, "description": each.description, "parameters": arguments.schema(each)}
            for each in self._tools.values()
        ]

    def risk(self, name: str) -> str:
        """The worst that a tool does: read, write or execute."""
        return self._tools[name].risk.value

    def preview(self, name: str, given: Mapping[str, object], description: str = "") -> Preview:
        """What a person would be shown of a call. Raises PayloadError where the call makes no sense."""
        try:
            return preview(self._prepared(name, given, description)[1])
        except Problem as problem:
            raise PayloadError(str(problem)) from None

    async def call(self, name: str, given: Mapping[str, object], *, description: str = "") -> Result:
        """Do a call, if the gate lets it pass. Raises nothing but CancelledError, which takes back the question and
        ends what runs."""
        stop = Stop()
        loop = asyncio.get_running_loop()
        try:
            job, call = await loop.run_in_executor(self._workers, self._prepared, name, given, description)
            if job.problem and (told := await loop.run_in_executor(self._workers, self._hopeless, job, call)):
                return told
            verdict = await self._gate.guard(call)
            if verdict.allowed is not True:
                return _refused(verdict)
            working = self._workers.submit(self._done, job, verdict, stop)
        except Exception as error:  # the net: what breaks here did not run
            return _failed(error)
        try:
            return await asyncio.shield(asyncio.wrap_future(working))
        except asyncio.CancelledError:
            stop.set()
            if not working.cancel():
                await _over(working)
            raise

    def call_sync(self, name: str, given: Mapping[str, object], *, description: str = "") -> Result:
        """The same for programs without an event loop. An interrupt ends what runs."""
        stop = Stop()
        try:
            job, call = self._prepared(name, given, description)
            if job.problem and (told := self._hopeless(job, call)):
                return told
            verdict = self._gate.guard_sync(call)
            if verdict.allowed is not True:
                return _refused(verdict)
        except Exception as error:  # the net
            return _failed(error)
        return self._done(job, verdict, stop)

    def close(self) -> None:
        self._workers.shutdown(wait=False, cancel_futures=True)

    # How it is done

    def _prepared(self, name: str, given: Mapping[str, object], description: str) -> tuple[Job, Call]:
        tool = self._tools.get(name)
        if tool is None:
            raise Problem(f"there is no tool `{name}`; there are {', '.join(self._tools)}")
        checked = arguments.checked(tool, dict(given) if isinstance(given, Mapping) else given)
        job = tool.prepare(self._bench, checked)
        said = description or str(checked.get("description", ""))
        shell = SHELL if name == "bash" else ""
        return job, self._gate.call(name, job.input, cwd=self.folder, description=said, runtime=OURS, shell=shell)

    def _hopeless(self, job: Job, call: Call) -> Result | None:
        """A call that would fail anyway asks nobody. What the gate denies is denied first, and recorded as such."""
        if self._gate.decide(call).outcome is Outcome.DENY:
            return None
        return Result(visible(job.problem), True)

    def _done(self, job: Job, verdict: Verdict, stop: Stop) -> Result:
        try:
            if job.problem:
                raise Problem(job.problem)
            if stop:
                raise Stopped
            done = job.run(stop)
            return Result(done.text, done.error, verdict)
        except Stopped:
            return Result("the call was taken back", True, verdict)
        except Exception as error:  # the net: a fault of a tool is told, and hurts nobody else
            return Result(_failed(error).text, True, verdict)

    def _readable(self, path: str) -> bool:
        """Whether a file may be read without asking."""
        call = self._gate.call("read", {"file_path": path}, cwd=self.folder, runtime=OURS)
        return self._gate.decide(call).outcome is Outcome.ALLOW


async def _over(working: Future[Result]) -> None:
    """Wait until what was told to stop has stopped, however often we are told again."""
    while not working.done():
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(LOOK)


def _refused(verdict: Verdict) -> Result:
    return Result(verdict.message or REFUSED, True, verdict)


def _failed(error: Exception) -> Result:
    if isinstance(error, Problem):
        return Result(visible(str(error)), True)
    return Result(visible(f"the tool failed: {type(error).__name__}: {error}"), True)
