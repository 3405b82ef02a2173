"""A call in, a yes or a no with words for the model out: from the server where one runs, else decided in this process.

Waits while a person is asked. Whatever goes wrong is a no."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from assent import configure
from assent.contract.call import Call
from assent.contract.decision import Outcome
from assent.contract.errors import AssentError, PolicyError
from assent.contract.value import Value
from assent.facts import files
from assent.gate import Gate, unloaded
from assent.memory import Memory
from assent.policy import explain
from assent.ui import warm
from assent.ui.mcp import http

if TYPE_CHECKING:  # needs the broker, which most calls do without
    from assent.ui.mcp.elicit import AskClient, Elicitation

WAIT = 25.0  # seconds that the server holds one request
QUIET = 40.0  # seconds for an answer to one request
AWAY = 60.0  # seconds for a server that went away to come back, while a question is held
AGAIN = 0.5  # seconds between tries
LARGEST = 8 * 1024 * 1024  # bytes that the server takes, and that an answer may have


class Told(Value):
    """Whether a call may run, and what the model is told where it may not."""

    __slots__ = ("allowed", "message")

    def __init__(self, allowed: bool, message: str = "") -> None:
        self.allowed = allowed
        self.message = message


class NoServer(Exception):
    """No server took the call."""


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
                    return await self._by_server(call, project)
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

    # By the server

    async def _by_server(self, call: Call, project: str) -> Told:
        body = {
            "tool": call.tool,
            "input": call.input,
            "cwd": call.cwd,
            "project": project,
            "session": call.session,
            "runtime": call.runtime,
            "description": call.description,
            "shell": call.shell,
            "wait": 0,  # so that a question can be taken back from the first moment on
        }
        # INVARIANT: while a server runs, no size of a call goes around it.
        if len(json.dumps(body)) > LARGEST:
            return Told(False, f"This call was not run: it is larger than {LARGEST} bytes. Send less at a time.")
        asking = asyncio.ensure_future(self._request("/v1/calls", body))
        try:
            status, answer = await asyncio.shield(asking)
            if status != 202:
                return told(status, answer)
            return await self._held(f"/v1/calls/{answer['id']}", answer["digest"])
        except asyncio.CancelledError:
            await self._withdraw(asking)
            raise
        except OSError as error:
            raise NoServer(str(error)) from None

    async def _withdraw(self, asking: asyncio.Future[tuple[int, dict[str, Any]]]) -> None:
        with suppress(Exception):
            status, answer = await asking
            if status == 202:
                await self._request(f"/v1/calls/{answer['id']}/withdraw", {"digest": answer["digest"]})

    async def _held(self, target: str, digest: object) -> Told:
        """Wait for a person. The call does not go another way by now."""
        seen = time.monotonic()
        while True:
            try:
                status, answer = await self._request(target, {"digest": digest, "wait": WAIT})
            except OSError:
                if time.monotonic() - seen > AWAY:
                    return Told(False, "This call was not run: the server that asked about it went away.")
                await asyncio.sleep(AGAIN)
                continue
            if status != 202:
                return told(status, answer)
            seen = time.monotonic()

    async def _request(self, target: str, body: object) -> tuple[int, dict[str, Any]]:
        """One request over the socket. Raises OSError where no whole answer came."""
        exchange = await self._connect()
        try:
            async with asyncio.timeout(QUIET):
                headers = {"Host": "localhost", "Content-Type": "application/json"}
                await exchange.send("POST", target, headers, json.dumps(body).encode())
                raw = await http.whole(exchange.body(), LARGEST)
            found = json.loads(raw)
        except ValueError:
            raise http.HttpError("the server's answer is not JSON") from None
        finally:
            exchange.close()
        if not isinstance(found, dict):
            raise http.HttpError("the server's answer is no object")
        return exchange.head.status, found

    async def _connect(self) -> http.Exchange:
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            line.setblocking(False)
            async with asyncio.timeout(warm.CONNECT):
                await asyncio.get_running_loop().sock_connect(line, self._path)
            warm.owned_by_us(line)
            reader, writer = await asyncio.open_unix_connection(sock=line, limit=http.HEAD)
        except BaseException:
            line.close()
            raise
        return http.Exchange(reader, writer)

    # By ourselves

    def _alone(self, call: Call, project: str) -> Told:
        """Decide and record; there is nobody to ask, so what asks is refused."""
        try:
            gate, here = self._gate(call, project)
        except PolicyError as error:
            return Told(False, explain.to_agent(unloaded(error)))
        settled = self._memory(here).settle(gate, _placed(call, here, project), project=project, headless=True)
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


def told(status: int, answer: Mapping[str, Any]) -> Told:
    """The server's verdict. INVARIANT: nothing but an explicit yes is one."""
    if status == 200 and answer.get("waiting") is False and answer.get("allowed") is True:
        return Told(True)
    message = answer.get("message") if status == 200 else None
    error = answer.get("error")
    if isinstance(error, dict):
        message = f"This call was not run: {error.get('message')}."
    return Told(False, message if isinstance(message, str) and message else "This call was not run.")
