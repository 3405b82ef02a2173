"""Judges the calls of MCP clients: by the gate server if one runs, else in this process, which can ask a person through
the client's form.

The client shows the form, not the model; whether it does so honestly is up to the client, so this is off by default.
Any fault is a denial."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress

from assent.approval.channels import excerpt
from assent.approval.channels.callback import CallbackChannel
from assent.approval.store import SqliteStore
from assent.contract import AssentError, Call, Decision, PolicyError
from assent.contract.approval import Answer, Held, Said, Verdict
from assent.contract.display import code, visible
from assent.engine import configure, contained_server
from assent.engine.contained_server import ServerStart
from assent.engine.engine import Engine, Judged, Request, Settled, unloaded
from assent.engine.memory import Memory
from assent.engine.remote import NoServer, RemoteServer, denied
from assent.gate import CallGate, verdict
from assent.mcp.frames import CANCELLED, Body, Frame, key_of
from assent.state import files

YES, NO = "allow once", "deny"
LONGEST = 16_000  # shown characters of a call
NOT_WHOLE = "Not all of it is shown, so it can only be denied here. Run `assent serve` to see all of it, and allow it."
PROGRESS = 15.0  # seconds between progress messages

Send = Callable[[object], Awaitable[None]]
AskClient = Callable[[Body], Awaitable[Body]]


class McpJudge:
    """Judges calls for one process. `state` is Assent's folder, `path` the server's socket (`""`: in that folder)."""

    def __init__(self, environ: Mapping[str, str], *, state: str = "", path: str = "") -> None:
        self._environ = {**environ, "ASSENT_HOME": state} if state else dict(environ)
        self.home = environ.get("HOME", "") or os.path.expanduser("~")
        self.state = files.assent_home(self._environ, self.home)
        self._path = path or os.path.join(self.state, "server.sock")
        self._memories: dict[str, Memory] = {}
        self._elicitation: Elicitation | None = None

    async def ask(
        self, call: Call, *, project: str, ask_client: AskClient | None = None, rewrites: bool = False
    ) -> Verdict:
        """Whether a call may run. A task that is cancelled while it waits withdraws its question. `ask_client` shows a
        question to the person at the client, if no server runs. `rewrites`: as in Request.

        ASSENT_MODE applies to this process alone, as in hooks, and can only tighten."""
        try:
            if self._has_server():
                with suppress(NoServer):
                    server = RemoteServer(self._path)
                    return await server.ask(call, project=project, rewrites=rewrites, environ=self._environ)
            try:
                engine, here = await asyncio.to_thread(self._engine, call, project)
            except PolicyError as error:
                return verdict(Settled(Judged(unloaded(error)), ""))
            placed = _placed(call, here, project)
            if ask_client is not None:
                if self._elicitation is None:
                    self._elicitation = Elicitation(ask_client, self._memory(here), self._engine)
                return await self._elicitation.guard(engine, placed, project=project)
            # There is nobody to ask, so an ask is refused.
            request = Request(engine, placed, project, headless=True, reopen=lambda: self._engine(call, project)[0])
            request.rewrites, request.environ = rewrites, self._environ
            return verdict(await asyncio.to_thread(CallGate(self._memory(here)).decide, request))
        except AssentError as error:
            return denied(str(error))
        except Exception as error:  # the one net: after a fault the call does not run
            return denied(f"Assent failed inside: {type(error).__name__}: {error}")

    async def start(self, call: Call, command: Sequence[str], *, project: str, writes: bool = False) -> ServerStart:
        """How to start a server; `call` is its start command as a call of the shell. If it must run contained and
        cannot, the gate judges it like any call: a rule or a person may let it run outside."""
        try:
            start = await asyncio.to_thread(self._start, call, command, project, writes)
        except AssentError as error:
            return ServerStart(why=str(error), denied=True)
        except Exception as error:  # the net
            return ServerStart(why=f"Assent failed inside: {type(error).__name__}: {error}", denied=True)
        if not start.why or start.denied:
            return start
        found = await self.ask(call, project=project)
        return ServerStart() if found.allowed is True else start

    def _start(self, call: Call, command: Sequence[str], project: str, writes: bool) -> ServerStart:
        engine, here = self._engine(call, project)
        if engine.settings.contain is None:
            return ServerStart()
        memory = self._memory(here)
        request = Request(engine, _placed(call, here, project), project, environ=self._environ)
        return contained_server.prepare(memory, request, CallGate(memory).judge(request), command, writes=writes)

    def ended(self, start: ServerStart) -> str:
        """How a contained server failed, in words that follow `it`."""
        return contained_server.ended(Memory(self.state), start) if start.ticket else ""

    async def check(self, call: Call, *, project: str) -> Decision:
        """The decision on a call now. Asks nobody, records nothing, never raises."""
        try:
            if self._has_server():
                with suppress(NoServer):
                    return await RemoteServer(self._path).check(call, project=project)
            return await asyncio.to_thread(self._checked, call, project)
        except Exception as error:  # the net
            return denied(f"Assent failed inside: {type(error).__name__}: {error}").decision

    def _has_server(self) -> bool:
        return not self._environ.get("ASSENT_MODE") and os.path.exists(self._path)

    async def leave(self) -> None:
        if self._elicitation is not None:
            await self._elicitation.close()

    def close(self) -> None:
        for each in self._memories.values():
            each.trail.close()

    def _checked(self, call: Call, project: str) -> Decision:
        try:
            engine, here = self._engine(call, project)
        except PolicyError as error:
            return unloaded(error)
        return CallGate(self._memory(here)).judge(Request(engine, _placed(call, here, project), project)).decision

    def _engine(self, call: Call, project: str) -> tuple[Engine, configure.Place]:
        """By the current files."""
        here = configure.place(project or "/", self._environ, home=call.home or self.home)
        return configure.open_gate(here, self._environ, session=call.session, hook=True)

    def _memory(self, here: configure.Place) -> Memory:
        return self._memories.setdefault(here.state, Memory(here.state))


def _placed(call: Call, here: configure.Place, project: str) -> Call:
    """The call in the session's workspace; without a project there is none."""
    return call.but(roots=here.roots if project else (), home=here.home)


def question(held: Held) -> Body:
    whole = is_whole(held)
    lines = [
        f"May this call run? {code(held.call.tool)}",
        "",
        *([code(held.preview.path)] if held.preview.path else []),
        *(excerpt.code(held.preview.text, LONGEST), ""),
        *(f"In: {code(held.call.cwd)}", f"Assent asks: {held.decision.reason}"),
        *(f"It would cause: {visible(each.text)}" for each in held.consequences),
        *(f"Take care: {visible(each)}" for each in held.warnings),
        *([] if whole else [NOT_WHOLE]),
    ]
    answer = {"type": "string", "title": "Answer", "enum": [NO, YES] if whole else [NO]}
    form = {"type": "object", "properties": {"answer": answer}, "required": ["answer"]}
    return {"message": "\n".join(lines), "requestedSchema": form}


def is_whole(held: Held) -> bool:
    return held.preview.whole and excerpt.fits(held.preview.text, LONGEST)


def answer_of(response: Mapping[str, object], who: str) -> Answer | None:
    """The person's answer. INVARIANT: only the explicit choice is a yes; no choice at all dismisses the question."""
    found = response.get("result")
    result = found if isinstance(found, dict) else {}
    action, content = result.get("action"), result.get("content")
    if action == "accept" and isinstance(content, dict) and content.get("answer") == YES:
        return Answer(Said.ALLOW, who=who, channel="elicitation")
    if action in ("accept", "decline"):
        return Answer(Said.DENY, who=who, channel="elicitation")
    return None


class Elicitation:
    def __init__(
        self,
        ask_client: AskClient,
        memory: Memory,
        open_engine: Callable[[Call, str], tuple[Engine, configure.Place]],
    ) -> None:
        self._ask_client = ask_client
        self._open_engine = open_engine
        self._store = SqliteStore(os.path.join(memory.state, "held.db"))
        self._gate = CallGate(memory, self._store, lambda held: open_engine(held.call, held.project)[0])
        self._gate.broker.attach(CallbackChannel(self._ask, name="elicitation"))

    async def guard(self, engine: Engine, call: Call, *, project: str) -> Verdict:
        request = Request(engine, call, project, reopen=lambda: self._open_engine(call, project)[0])
        return await self._gate.guard(request, attended=True)

    async def close(self) -> None:
        await self._gate.broker.close()
        await self._store.close()

    async def _ask(self, held: Held) -> Answer | None:
        said = answer_of(await self._ask_client(question(held)), self._gate.memory.who)
        # INVARIANT: a call that the form did not show whole is not allowed through it, whatever the client returns.
        return None if said is not None and said.said is Said.ALLOW and not is_whole(held) else said


class ClientForms:
    """The requests that we send to a client ourselves, to have it show a form."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._waiting: dict[str, asyncio.Future[Body]] = {}
        self._prefix = f"assent-{secrets.token_hex(8)}-"  # of the ids of these requests
        self._count = 0

    async def ask(self, params: Body) -> Body:
        """Have the client show a form; return its response."""
        self._count += 1
        id = f"{self._prefix}{self._count}"
        waiting: asyncio.Future[Body] = asyncio.get_running_loop().create_future()
        self._waiting[key_of(id)] = waiting
        try:
            await self._send({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params})
            return await waiting
        except asyncio.CancelledError:
            cancelled = {"requestId": id, "reason": "the question has ended"}
            await self._send({"jsonrpc": "2.0", "method": CANCELLED, "params": cancelled})
            raise
        finally:
            self._waiting.pop(key_of(id), None)

    def take(self, response: Frame) -> bool:
        """Take a response of the client; false if it answers none of these requests. A late one is dropped."""
        waiting = self._waiting.pop(response.key, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(response.body)
        return str(response.body["id"]).startswith(self._prefix)


async def report_progress(frame: Frame, send: Send, message: str, step: float = 1) -> None:
    """Send progress to a client that asked for it, so that its request does not time out."""
    token = frame.meta.get("progressToken")
    count = 0
    while token is not None:
        await asyncio.sleep(PROGRESS)
        count += 1
        params = {"progressToken": token, "progress": count * step, "message": message}
        await send({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
