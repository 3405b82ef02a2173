"""Asking a person through the client's own form, where no gate server runs. Decides nothing.

The client shows the form, not the model; whether it does so honestly is the client's to keep. So this is off unless
it is asked for."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping

from assent.approval.channels import excerpt
from assent.approval.channels.callback import CallbackChannel
from assent.approval.store import SqliteStore
from assent.contract import Call
from assent.contract.approval import Answer, Held, Said, Verdict
from assent.contract.display import code, visible
from assent.engine import configure
from assent.engine.engine import Engine
from assent.engine.memory import Memory
from assent.engine.request import Request
from assent.gate import CallGate
from assent.mcp.frames import Body

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
