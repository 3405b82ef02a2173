"""A call in, a yes or a no with words for the model out: from the server where one runs, else decided in this process.

Waits while a person is asked. Whatever goes wrong is a no."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from assent import configure
from assent.contract.call import Call
from assent.contract.decision import Outcome
from assent.contract.errors import AssentError, PolicyError
from assent.contract.value import Value
from assent.facts import files
from assent.gate import Gate, unloaded
from assent.memory import Memory
from assent.policy import explain
from assent.remote import NoServer, Server

if TYPE_CHECKING:  # needs the broker, which most calls do without
    from assent.ui.mcp.elicit import AskClient, Elicitation


class Told(Value):
    """Whether a call may run, and what the model is told where it may not."""

    __slots__ = ("allowed", "message")

    def __init__(self, allowed: bool, message: str = "") -> None:
        self.allowed = allowed
        self.message = message


class Judge:
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
        a question to the person at the client, for where no server runs.

        ASSENT_MODE is this process's own matter, as in hooks, and can only tighten."""
        try:
            if not self._environ.get("ASSENT_MODE") and os.path.exists(self._path):
                with suppress(NoServer):
                    verdict = await Server(self._path).ask(call, project=project)
                    return Told(verdict.allowed is True, verdict.message)
            if ask_client is not None:
                return await self._through_client(call, project, ask_client)
            return await asyncio.to_thread(self._alone, call, project)
        except AssentError as error:
            return Told(False, f"This call was not run: {error}.")
        except Exception as error:  # the one net: whatever breaks inside, the call does not run
            return Told(False, f"This call was not run: Assent failed inside: {type(error).__name__}: {error}.")

    async def leave(self) -> None:
        """Put away what is still asked."""
        if self._elicitation is not None:
            await self._elicitation.close()

    def close(self) -> None:
        for each in self._memories.values():
            each.trail.close()

    # By ourselves

    def _alone(self, call: Call, project: str) -> Told:
        """Decide and record; there is nobody to ask, so what asks is refused."""
        try:
            gate, here = self._gate(call, project)
        except PolicyError as error:
            return Told(False, explain.to_agent(unloaded(error)))
        memory, placed = self._memory(here), _placed(call, here, project)
        settled = memory.settle(
            gate, placed, project=project, headless=True, reopen=lambda: self._gate(call, project)[0]
        )
        decision = settled.judged.decision
        return Told(decision.outcome is Outcome.ALLOW, explain.to_agent(decision))

    async def _through_client(self, call: Call, project: str, ask_client: AskClient) -> Told:
        """The same, but what asks is put to the person at the client."""
        try:
            gate, here = await asyncio.to_thread(self._gate, call, project)
        except PolicyError as error:
            return Told(False, explain.to_agent(unloaded(error)))
        if self._elicitation is None:
            from assent.ui.mcp.elicit import Elicitation

            self._elicitation = Elicitation(ask_client, self._environ, self._memory(here))
        verdict = await self._elicitation.guard(gate, _placed(call, here, project), project=project)
        return Told(verdict.allowed is True, verdict.message)

    def _gate(self, call: Call, project: str) -> tuple[Gate, configure.Place]:
        here = configure.place(project or "/", self._environ, home=call.home or self.home)
        return configure.open_gate(here, self._environ, session=call.session, hook=True)

    def _memory(self, here: configure.Place) -> Memory:
        return self._memories.setdefault(here.state, Memory(here.state))


def _placed(call: Call, here: configure.Place, project: str) -> Call:
    """The call in the session's workspace; without a project there is none."""
    return Call(
        call.tool,
        call.input,
        cwd=call.cwd,
        roots=here.roots if project else (),
        home=here.home,
        session=call.session,
        runtime=call.runtime,
        description=call.description,
        shell=call.shell,
    )
