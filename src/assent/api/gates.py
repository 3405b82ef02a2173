"""The gate for programs that embed it: decide, guard, decorate. The public API; `embedded` and `remote` do the work."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any, TypeVar, overload

from assent.api.background import Awaited, Thread
from assent.api.embedded import DAY, ChannelSpec, Embedded, check_channels, copied, fault, unchanged
from assent.api.functions import guard_function
from assent.api.values import read_arguments
from assent.contract import Call, Decision, PayloadError, StoreError, texts
from assent.contract.approval import Answer, Held, Said, Verdict
from assent.effects.declared import Tool
from assent.effects.native import LIKE
from assent.engine.cache import EngineCache, add_tool
from assent.engine.engine import is_declarable
from assent.engine.journal import new_id
from assent.engine.remote import SOCKET_FILE, RemoteServer
from assent.policy.document import document_of, read_document
from assent.policy.modes import parse_mode
from assent.policy.rules import Origin
from assent.state import files

F = TypeVar("F", bound=Callable[..., Any])
PLAN = "plan"


class PermissionMode(StrEnum):
    """The five modes, from the strictest to the loosest."""

    PLAN = "plan"
    DEFAULT = "default"
    AUTO = "auto"
    FULL_AUTO = "full_auto"
    YOLO = "yolo"


@dataclass(frozen=True, slots=True)
class Approval:
    """A call that waits for an answer from outside: a run that is paused and stored.

    Give `id` back with the answer. `verdict` is set if no answer is needed; otherwise `held` is the question, with all
    that a person should see."""

    id: str
    verdict: Verdict | None = None
    held: Held | None = None

    def __bool__(self) -> bool:
        raise TypeError("an approval is neither true nor false; look at `approval.verdict` and `approval.held`")


PROGRAM = "python"  # the runtime of a program that names none: its tools are what it declares, and nothing else


class Session:
    """One run of an agent at a gate: what a person allows for the session is allowed for this."""

    def __init__(
        self,
        way: Embedded | Connected,
        id: str,
        *,
        cwd: str = "",
        runtime: str = "",
        mode: str = "",
        rewrites: bool = False,
    ) -> None:
        """`rewrites`: the owner runs `Verdict.command` in place of a call's own command, if there is one."""
        self._rewrites = rewrites
        self._way = way
        self.id = id
        self.project = way.project
        self.cwd = cwd  # in which its calls run; empty if not given
        self._runtime = runtime
        self._host_mode = PLAN if mode == PLAN else ""

    def call(
        self,
        tool: str,
        input: Mapping[str, object],
        *,
        cwd: str = "",
        description: str = "",
        runtime: str = "",
        shell: str = "",
    ) -> Call:
        return self._own(Call(tool, input, cwd=cwd, runtime=runtime, description=description, shell=shell))

    def decide(self, call: Call) -> Decision:
        """Allow, ask or deny, by the current rules and grants. Asks nobody, records nothing, never raises."""
        return self._way.decide(self._own(call), host_mode=self._host_mode)

    def guard(self, call: Call) -> Coroutine[Any, Any, Verdict]:
        """Whether a call may run. If it asks, a person is asked, and this waits for the answer: `await` it.

        Raises nothing but CancelledError, which withdraws the question. Run the call only if `verdict.allowed`."""
        return Awaited(self._way.guard(self._own(call), host_mode=self._host_mode, rewrites=self._rewrites))

    def guard_sync(self, call: Call) -> Verdict:
        """The same for programs without an event loop. It blocks its thread, never a loop of the gate."""
        return self._way.guard_sync(self._own(call), host_mode=self._host_mode, rewrites=self._rewrites)

    def rewriting(self) -> Session:
        """The same session for an owner that runs `Verdict.command` in place of a call's own command."""
        mode = self._host_mode
        return Session(self._way, self.id, cwd=self.cwd, runtime=self._runtime, mode=mode, rewrites=True)

    @overload
    def guarded(self, function: F, /) -> F: ...

    @overload
    def guarded(
        self,
        /,
        *,
        operation: str = "execute",
        paths: Sequence[str] = (),
        addresses: Sequence[str] = (),
        like: str = "",
        name: str = "",
    ) -> Callable[[F], F]: ...

    def guarded(
        self,
        function: Any = None,
        /,
        *,
        operation: str = "execute",
        paths: Sequence[str] = (),
        addresses: Sequence[str] = (),
        like: str = "",
        name: str = "",
    ) -> Any:
        """Pass every call of a function through the gate first. A denied one raises `Denied`, and does not run.

        `operation` and `paths` say what the function does and which arguments are paths, as for `Tool`; without them
        every call asks. The function's signature becomes the tool's schema, at its attribute `tool`."""
        tool = Tool(operation, paths=paths, addresses=addresses, like=like)
        found = partial(guard_function, self.declare, self.guard, self.guard_sync, tool=tool, name=name)
        return found if function is None else found(function)

    def request_approval(self, call: Call, *, seconds: float = DAY) -> Approval:
        """For frameworks that pause a run: the question about a call, to be answered with `resolve_approval` within so
        many seconds, in this process or another. Never raises; a fault is a verdict that denies."""
        try:
            verdict, held = self._embedded().hold(self._own(call), host_mode=self._host_mode, seconds=seconds)
        except Exception as error:  # the net: after a fault the call does not run
            return Approval("", verdict=fault(error))
        return Approval(held.id if held is not None else verdict.id if verdict is not None else "", verdict, held)

    def resolve_approval(
        self, id: str, call: Call, *, allow: bool, who: str, message: str = "", channel: str = "program"
    ) -> Verdict:
        """The verdict on a call that waited, by the answer that somebody gave outside. The trail names `who`.

        The approval counts once, for exactly the call that was shown; the call is decided again, and a denial wins."""
        said = Said.ALLOW if allow is True and who else Said.DENY
        answer = Answer(said, message=message, who=who, channel=channel)
        try:
            return self._embedded().release(id, self._own(call), answer, host_mode=self._host_mode)
        except Exception as error:  # the net
            return fault(error)

    def declare(self, name: str, tool: Tool) -> None:
        """Say what a tool does. Raises PayloadError if it was declared otherwise before."""
        self._way.declare(name, tool)

    def planning(self) -> Session:
        """This session while its agent only plans: every change is denied."""
        return Session(self._way, self.id, cwd=self.cwd, runtime=self._runtime, mode=PLAN)

    def _embedded(self) -> Embedded:
        if not isinstance(self._way, Embedded):
            raise StoreError("a gate server keeps its questions itself; use `guard`, or an embedded gate")
        return self._way

    def _own(self, call: Call) -> Call:
        """The call as one of this session, unless it says otherwise."""
        if call.session and call.cwd and call.runtime:
            return call
        return call.but(
            cwd=call.cwd or self.cwd or self.project,
            session=call.session or self.id,
            runtime=call.runtime or self._runtime or PROGRAM,
        )


class Gate(Session):
    """The gate of one program. By itself it is also the program's one session; `session` makes others.

    `project` is the folder that the agent works in (default: this one). The rules are those of the files on this
    machine; `mode`, `allow`, `ask`, `deny` and `policy` (the settings of a configuration file, as a mapping or as TOML
    text) come on top. `files=False` leaves the user's and the project's file out, and lets ASSENT_MODE only tighten;
    what an administrator set and the floor always hold. `tools` says what the agent's own tools do.

    `channels` are where to ask: `"terminal"`, `"server"` (the pages of the gate server), `"nobody"`, a function that
    gets the question and returns True, False or an Answer, or a channel. Default: the terminal, if there is one.
    `state` is Assent's folder. `name` is for gates that are to share what people allow for a session: in other
    processes, or after a restart. Without one, equal session ids of two gates are two sessions. Raises PolicyError if
    the policy does not load."""

    def __init__(
        self,
        project: str = "",
        *,
        mode: str = "",
        allow: Sequence[str] = (),
        ask: Sequence[str] = (),
        deny: Sequence[str] = (),
        policy: Mapping[str, object] | str = "",
        files: bool = True,
        config: str = "",
        tools: Mapping[str, Tool | str] | None = None,
        channels: Sequence[ChannelSpec] | None = None,
        state: str = "",
        name: str = "",
    ) -> None:
        declared = _tools(tools)
        check_channels(channels)
        project = os.path.abspath(project or os.getcwd())
        environ = {**os.environ, "ASSENT_HOME": os.path.abspath(state)} if state else dict(os.environ)
        more = [_document(policy)] if policy else []
        rules = {key: [*texts(value, key)] for key, value in (("allow", allow), ("ask", ask), ("deny", deny))}
        more.append(document_of(rules, "the program", Origin.USER))
        mode = mode.value if isinstance(mode, PermissionMode) else mode
        if not mode and policy and more[0].mode is not None:
            mode = more[0].mode.word  # the environment does not override what the program says
        gates = EngineCache(environ, mode=mode, config=config, more=more, alone=not files)
        gates.check(project)
        super().__init__(Embedded(gates, project, _state(environ), channels, name=name), new_id())
        for name, tool in declared.items():
            self.declare(name, tool)

    @classmethod
    def connect(cls, project: str = "", *, socket: str = "", state: str = "") -> Gate:
        """A gate whose decisions and questions are those of the running server. Raises StoreError if none runs."""
        environ = {**os.environ, "ASSENT_HOME": os.path.abspath(state)} if state else dict(os.environ)
        path = socket or os.path.join(_state(environ), SOCKET_FILE)
        if not os.path.exists(path):
            raise StoreError(f"no server listens on `{path}`; start one with `assent serve`")
        gate = cls.__new__(cls)
        Session.__init__(gate, Connected(RemoteServer(path), os.path.abspath(project or os.getcwd())), new_id())
        return gate

    def session(self, id: str = "", *, cwd: str = "", runtime: str = "", mode: str = "") -> Session:
        """Another session at this gate, with an id of its own unless one is given. `mode` is the session's."""
        found = Session(self._way, id or new_id(), cwd=cwd, runtime=runtime, mode=mode)
        if mode and mode != PLAN:
            memory = self._embedded().memory
            memory.choose_mode(found.id, parse_mode(mode).word, who=memory.who, channel="program")
        return found

    def close(self) -> None:
        """Deny what waits, and free everything."""
        self._way.close()

    def __enter__(self) -> Gate:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Connected:
    """Decisions and questions of a running server."""

    def __init__(self, server: RemoteServer, project: str) -> None:
        self._server = server
        self.project = project
        self._thread = Thread()
        self._tools: dict[str, Tool] = {}

    def declare(self, name: str, tool: Tool) -> None:
        """The server knows what tools do; only `like` counts here."""
        add_tool(self._tools, name, tool)

    def _named(self, call: Call) -> Call:
        tool = self._tools.get(call.tool.lower()) if is_declarable(call) else None
        return call.but(tool=tool.like, runtime=LIKE) if tool is not None and tool.like else call

    def decide(self, call: Call, *, host_mode: str = "") -> Decision:
        try:
            return self._thread.wait(self._server.check(self._named(call), project=self.project, host_mode=host_mode))
        except Exception as error:  # the net: after a fault the call does not run
            return fault(error).decision

    async def guard(self, call: Call, *, host_mode: str = "", rewrites: bool = False) -> Verdict:
        try:
            mine = copied(call)
            named = self._named(copied(mine))
            found = await self._server.ask(
                named, project=self.project, host_mode=host_mode, rewrites=rewrites, environ=os.environ
            )
            return unchanged(found, lambda: read_arguments(call.input), mine.input).on(mine)
        except Exception as error:  # the net
            return fault(error)

    def guard_sync(self, call: Call, *, host_mode: str = "", rewrites: bool = False) -> Verdict:
        try:
            return self._thread.wait(self.guard(call, host_mode=host_mode, rewrites=rewrites))
        except Exception as error:  # the net
            return fault(error)

    def close(self) -> None:
        self._thread.close()


def _document(policy: Mapping[str, object] | str) -> Any:
    if isinstance(policy, str):
        return read_document(policy, "the program's policy", Origin.USER)
    if not isinstance(policy, Mapping):
        raise PayloadError("`policy` is a mapping, or TOML text")
    return document_of(policy, "the program's policy", Origin.USER)


def _tools(given: object) -> dict[str, Tool]:
    """What the author declares about their tools. Raises PayloadError if it is no such declaration."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise PayloadError('`tools` says what each tool does; write `tools={"name": Tool("read", paths=["path"])}`')
    for name, tool in given.items():
        if not isinstance(name, str) or not isinstance(tool, Tool | str):
            raise PayloadError(f'`{name!r:.80}` is not declared so; write `tools={{"name": Tool("read")}}`')
    return {name: Tool(like=tool) if isinstance(tool, str) else tool for name, tool in given.items()}


def _state(environ: Mapping[str, str]) -> str:
    return files.assent_home(environ, environ.get("HOME", "") or os.path.expanduser("~"))
