"""A call in, a yes or a no with words for the model out: from the server where one runs, else decided in this process.

Waits while a person is asked. Whatever goes wrong is a no."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from assent.approval.channels import excerpt
from assent.approval.channels.callback import CallbackChannel
from assent.approval.store import SqliteStore
from assent.contract import AssentError, Call, Decision, PolicyError, Value
from assent.contract.approval import Answer, Held, Said, Verdict
from assent.contract.display import code, visible
from assent.engine import configure
from assent.engine.engine import Engine, Judged, unloaded
from assent.engine.memory import Memory
from assent.engine.remote import NoServer, RemoteServer, denied
from assent.engine.request import Request, Settled
from assent.gate import CallGate, verdict
from assent.mcp.frames import Body
from assent.state import files


class Told(Value):
    """Whether a call may run, and what the model is told where it may not."""

    __slots__ = ("allowed", "message")

    def __init__(self, allowed: bool, message: str = "") -> None:
        self.allowed = allowed
        self.message = message


class McpJudge:
    """Judges calls for one process. `state` is Assent's folder, `path` the server's socket (`""`: in that folder)."""

    def __init__(self, environ: Mapping[str, str], *, state: str = "", path: str = "") -> None:
        self._environ = {**environ, "ASSENT_HOME": state} if state else dict(environ)
        self.home = environ.get("HOME", "") or os.path.expanduser("~")
        self.state = files.assent_home(self._environ, self.home)
        self._path = path or os.path.join(self.state, "server.sock")
        self._memories: dict[str, Memory] = {}
        self._elicitation: Elicitation | None = None

    async def ask(self, call: Call, *, project: str, ask_client: AskClient | None = None) -> Told:
        """Whether a call may run. A task that is cancelled while it waits takes its question back. `ask_client` puts
        a question to the person at the client, for where no server runs."""
        found = await self.verdict(call, project=project, ask_client=ask_client)
        return Told(found.allowed is True, found.message)

    async def verdict(self, call: Call, *, project: str, ask_client: AskClient | None = None) -> Verdict:
        """The same, with what it rests on.

        ASSENT_MODE is this process's own matter, as in hooks, and can only tighten."""
        try:
            if self._has_server():
                with suppress(NoServer):
                    return await RemoteServer(self._path).ask(call, project=project)
            if ask_client is not None:
                return await self._through_client(call, project, ask_client)
            return await asyncio.to_thread(self._alone, call, project)
        except AssentError as error:
            return denied(str(error))
        except Exception as error:  # the one net: whatever breaks inside, the call does not run
            return denied(f"Assent failed inside: {type(error).__name__}: {error}")

    async def check(self, call: Call, *, project: str) -> Decision:
        """What would be decided now. Asks nobody, records nothing, never raises."""
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
        """Put away what is still asked."""
        if self._elicitation is not None:
            await self._elicitation.close()

    def close(self) -> None:
        for each in self._memories.values():
            each.trail.close()

    # By ourselves

    def _checked(self, call: Call, project: str) -> Decision:
        try:
            gate, here = self._gate(call, project)
        except PolicyError as error:
            return unloaded(error)
        return CallGate(self._memory(here)).judge(Request(gate, _placed(call, here, project), project)).decision

    def _alone(self, call: Call, project: str) -> Verdict:
        """Decide and record; there is nobody to ask, so what asks is refused."""
        try:
            gate, here = self._gate(call, project)
        except PolicyError as error:
            return verdict(Settled(Judged(unloaded(error)), ""))
        placed = _placed(call, here, project)
        request = Request(gate, placed, project, headless=True, reopen=lambda: self._gate(call, project)[0])
        return verdict(CallGate(self._memory(here)).decide(request))

    async def _through_client(self, call: Call, project: str, ask_client: AskClient) -> Verdict:
        """The same, but what asks is put to the person at the client."""
        try:
            gate, here = await asyncio.to_thread(self._gate, call, project)
        except PolicyError as error:
            return verdict(Settled(Judged(unloaded(error)), ""))
        if self._elicitation is None:
            self._elicitation = Elicitation(ask_client, self._environ, self._memory(here))
        return await self._elicitation.guard(gate, _placed(call, here, project), project=project)

    def _gate(self, call: Call, project: str) -> tuple[Engine, configure.Place]:
        here = configure.place(project or "/", self._environ, home=call.home or self.home)
        return configure.open_gate(here, self._environ, session=call.session, hook=True)

    def _memory(self, here: configure.Place) -> Memory:
        return self._memories.setdefault(here.state, Memory(here.state))


def _placed(call: Call, here: configure.Place, project: str) -> Call:
    """The call in the session's workspace; without a project there is none."""
    return call.but(roots=here.roots if project else (), home=here.home)


YES, NO = "allow once", "deny"
LONGEST = 16_000  # characters of a call that are shown
NOT_WHOLE = "Not all of it is shown, so it can only be denied here. Run `assent serve` to see all of it, and allow it."

AskClient = Callable[[Body], Awaitable[Body]]


def question(held: Held) -> Body:
    """What the client is asked to show."""
    shown, whole = excerpt.code(held.preview.text, LONGEST), is_whole(held)
    lines = [
        f"May this call run? {code(held.call.tool)}",
        "",
        *([code(held.preview.path)] if held.preview.path else []),
    ]
    lines += [shown, "", f"In: {code(held.call.cwd)}", f"Assent asks: {held.decision.reason}"]
    lines += [f"Take care: {visible(each)}" for each in held.warnings]
    lines += [] if whole else [NOT_WHOLE]
    answer = {"type": "string", "title": "Answer", "enum": [NO, YES] if whole else [NO]}
    form = {"type": "object", "properties": {"answer": answer}, "required": ["answer"]}
    return {"message": "\n".join(lines), "requestedSchema": form}


def is_whole(held: Held) -> bool:
    """Whether the form shows all of what would run."""
    return held.preview.whole and excerpt.fits(held.preview.text, LONGEST)


def answer_of(response: Mapping[str, object], who: str) -> Answer | None:
    """What the person said. INVARIANT: nothing but the explicit choice is a yes; no choice at all puts it away."""
    result = response.get("result")
    action = result.get("action") if isinstance(result, dict) else None
    content = result.get("content") if isinstance(result, dict) else None
    if action == "accept" and isinstance(content, dict) and content.get("answer") == YES:
        return Answer(Said.ALLOW, who=who, channel="elicitation")
    if action in ("accept", "decline"):
        return Answer(Said.DENY, who=who, channel="elicitation")
    return None


class Elicitation:
    """A gate whose only channel is the client."""

    def __init__(self, ask_client: AskClient, environ: Mapping[str, str], memory: Memory) -> None:
        self._ask_client = ask_client
        self._environ = environ
        self._store = SqliteStore(os.path.join(memory.state, "held.db"))
        self._gate = CallGate(memory, self._store, self._engine_of)
        self._gate.broker.attach(CallbackChannel(self._ask, name="elicitation"))

    async def guard(self, gate: Engine, call: Call, *, project: str) -> Verdict:
        def reopen() -> Engine:
            return self._opened(project, call)

        return await self._gate.guard(Request(gate, call, project, reopen=reopen), attended=True)

    async def close(self) -> None:
        await self._gate.broker.close()
        await self._store.close()

    async def _ask(self, held: Held) -> Answer | None:
        said = answer_of(await self._ask_client(question(held)), self._gate.memory.who)
        # INVARIANT: what the form did not show whole is not allowed by it, whatever the client sends back.
        return None if said is not None and said.said is Said.ALLOW and not is_whole(held) else said

    def _engine_of(self, held: Held) -> Engine:
        """As the files are now."""
        return self._opened(held.project, held.call)

    def _opened(self, project: str, call: Call) -> Engine:
        here = configure.place(project or "/", self._environ, home=call.home)
        return configure.open_gate(here, self._environ, session=call.session, hook=True)[0]
