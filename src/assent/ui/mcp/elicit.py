"""Asking a person through the client's own form, where no gate server runs. Decides nothing.

The client shows the form, not the model; whether it does so honestly is the client's to keep. So this is off unless
it is asked for."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping

from assent import configure
from assent.contract.call import Call
from assent.contract.display import code, visible
from assent.contract.review import Answer, Held, Said, Verdict
from assent.desk import Desk
from assent.engine import Engine
from assent.memory import Memory
from assent.review.channels.callback import CallbackChannel
from assent.review.store import SqliteStore
from assent.ui.mcp.frames import Body

YES, NO = "allow once", "deny"
LONGEST = 4000  # characters of a call that are shown
FORM: Body = {
    "type": "object",
    "properties": {"answer": {"type": "string", "title": "Answer", "enum": [NO, YES]}},
    "required": ["answer"],
}

AskClient = Callable[[Body], Awaitable[Body]]


def question(held: Held) -> Body:
    """What the client is asked to show."""
    text = code(held.preview.text)
    shown = text if len(text) <= LONGEST else f"{text[:LONGEST]}… and {len(text) - LONGEST} characters more"
    lines = [f"May this call run? {code(held.call.tool)}", "", shown, "", f"Assent asks: {held.decision.reason}"]
    lines += [f"Take care: {visible(each)}" for each in held.warnings]
    return {"message": "\n".join(lines), "requestedSchema": FORM}


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
    """A desk whose only channel is the client."""

    def __init__(self, ask_client: AskClient, environ: Mapping[str, str], memory: Memory) -> None:
        self._ask_client = ask_client
        self._environ = environ
        self._store = SqliteStore(os.path.join(memory.state, "held.db"))
        self._desk = Desk(memory, self._store, self._gate_of)
        self._desk.broker.attach(CallbackChannel(self._ask, name="elicitation"))

    async def guard(self, gate: Engine, call: Call, *, project: str) -> Verdict:
        def reopen() -> Engine:
            return self._opened(project, call)

        return await self._desk.guard(gate, call, project=project, attended=True, reopen=reopen)

    async def close(self) -> None:
        await self._desk.broker.close()
        await self._store.close()

    async def _ask(self, held: Held) -> Answer | None:
        return answer_of(await self._ask_client(question(held)), self._desk.memory.who)

    def _gate_of(self, held: Held) -> Engine:
        """As the files are now."""
        return self._opened(held.project, held.call)

    def _opened(self, project: str, call: Call) -> Engine:
        here = configure.place(project or "/", self._environ, home=call.home)
        return configure.open_gate(here, self._environ, session=call.session, hook=True)[0]
