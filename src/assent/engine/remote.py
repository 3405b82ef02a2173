"""A client of the gate server: sends calls over its socket, waits while a person is asked, and reconnects. Decides
nothing; only an explicit yes counts as one."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from assent.approval import wire
from assent.approval.channels import Question
from assent.contract import Call, Decision, Outcome, PayloadError, StoreError
from assent.contract.approval import Answer, Ending, Resolution, Said, Verdict
from assent.engine import http
from assent.engine.engine import refusal

SOCKET_FILE = "server.sock"
WAIT = 25.0  # seconds that the server holds one request
QUIET = 40.0  # seconds for an answer to one request
AWAY = 60.0  # seconds for a server to come back, while a question is held
AGAIN = 0.5  # seconds between tries
LARGEST = 8 * 1024 * 1024  # bytes that the server takes, and that an answer may have

Received = tuple[int, dict[str, Any]]


class NoServer(StoreError):
    """No server took the call."""


class RemoteServer:
    def __init__(self, path: str) -> None:
        self.path = path

    async def check(self, call: Call, *, project: str, host_mode: str = "") -> Decision:
        """The decision of the server, without a record. Raises NoServer, or PayloadError if its answer cannot be
        read."""
        status, answer = await self.request(
            "/v1/check", {**_body(call, project), "host_mode": host_mode, "whole": True}
        )
        if status != 200:
            raise PayloadError(_problem(answer) or f"the server refused the call (status {status})")
        return wire.read_decision(answer["decision"])

    async def ask(
        self,
        call: Call,
        *,
        project: str,
        host_mode: str = "",
        confirm: bool = False,
        rewrites: bool = False,
        environ: Mapping[str, str] | None = None,
        taken: Callable[[], None] | None = None,
    ) -> Verdict:
        """The server's verdict. Raises NoServer if none took the call. A task that is cancelled while it waits
        withdraws its question.

        `confirm`: ask a person even if the server's own policy allows the call. `rewrites`: as in Request, and then
        `environ` is the environment of the command. `taken` is called once a question is held."""
        body = {**_body(call, project), "host_mode": host_mode, "confirm": confirm, "wait": 0}
        if rewrites:
            body |= {"rewrites": True, "path": (environ or {}).get("PATH", "")}
        # INVARIANT: while a server runs, no call avoids it by its size.
        if len(json.dumps(body)) > LARGEST:
            return denied(f"it is larger than {LARGEST} bytes; send less at a time")
        # The first request does not wait, so that a question can be withdrawn from the start.
        asking = asyncio.ensure_future(self.request("/v1/calls", body))
        try:
            status, answer = await asyncio.shield(asking)
            if status != 202:
                return verdict(status, answer, rewrites=rewrites)
            if taken is not None:
                taken()
            return await self._held(f"/v1/calls/{answer['id']}", answer["digest"])
        except asyncio.CancelledError:
            await self._withdraw(asking)
            raise

    async def _withdraw(self, asking: asyncio.Future[Received]) -> None:
        with suppress(Exception):
            status, answer = await asking
            if status == 202:
                await self.request(f"/v1/calls/{answer['id']}/withdraw", {"digest": answer["digest"]})

    async def _held(self, target: str, digest: object) -> Verdict:
        """Wait for a person. From here on only the server decides the call."""
        seen = time.monotonic()
        while True:
            try:
                status, answer = await self.request(target, {"digest": digest, "wait": WAIT})
            except NoServer:
                if time.monotonic() - seen > AWAY:
                    return denied("the server that asked about it has stopped")
                await asyncio.sleep(AGAIN)
                continue
            if status != 202:
                return verdict(status, answer)
            seen = time.monotonic()

    async def request(self, target: str, body: object) -> Received:
        """Send one request. Raises NoServer if no complete answer came."""
        try:
            exchange = await http.connect_unix(self.path)
            try:
                async with asyncio.timeout(QUIET):
                    headers = {"Host": "localhost", "Content-Type": "application/json"}
                    await exchange.send("POST", target, headers, json.dumps(body).encode())
                    raw = await http.whole(exchange.body(), LARGEST)
                found = json.loads(raw)
            finally:
                exchange.close()
        except OSError as error:
            raise NoServer(f"no server answers on `{self.path}`: {error}; start one with `assent serve`") from None
        except ValueError:
            raise NoServer("the server's answer is not JSON") from None
        if not isinstance(found, dict):
            raise NoServer("the server's answer is no object")
        return exchange.head.status, found


class ServerChannel:
    """The surfaces of a running gate server, as a channel of a gate in another process.

    The server judges the call too: a denial by its own policy counts."""

    name = "server"

    def __init__(self, server: RemoteServer) -> None:
        self._server = server
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def show(self, question: Question) -> None:
        """Send a question to the server. Raises NoServer if none runs."""
        id = question.held.id
        if id in self._tasks:
            return
        taken = asyncio.get_running_loop().create_future()
        task = self._tasks[id] = asyncio.create_task(self._ask(question, taken))
        task.add_done_callback(lambda done: self._over(id, done, taken))
        await taken

    async def _ask(self, question: Question, taken: asyncio.Future[None]) -> None:
        held = question.held
        found = await self._server.ask(held.call, project=held.project, confirm=True, taken=lambda: _settle(taken))
        _settle(taken)
        end = found.resolution
        if end is None:  # its policy denies the call
            await self._answer(question, Answer(Said.DENY, message=found.decision.reason, channel=self.name))
        elif end.answer is not None:
            said = Said.ALLOW if found.allowed else Said.STOP if found.stop else Said.DENY
            given = end.answer
            await self._answer(question, Answer(said, message=given.message, who=given.who, channel=given.channel))
        elif end.ending is Ending.DISMISSED:
            question.dismiss()
        else:
            question.gone()

    async def _answer(self, question: Question, answer: Answer) -> None:
        """Answer in another task: this one is cancelled as soon as the answer counts."""
        await asyncio.shield(asyncio.ensure_future(question.answer(answer)))

    def _over(self, id: str, done: asyncio.Task[None], taken: asyncio.Future[None]) -> None:
        self._tasks.pop(id, None)
        error = None if done.cancelled() else done.exception()
        if not taken.done():
            taken.set_exception(error or NoServer("the question was withdrawn"))

    async def withdraw(self, id: str, resolution: Resolution) -> None:
        task = self._tasks.get(id)
        if task is not None and task is not asyncio.current_task():
            task.cancel()


def _settle(taken: asyncio.Future[None]) -> None:
    if not taken.done():
        taken.set_result(None)


def _body(call: Call, project: str) -> dict[str, object]:
    return {
        "tool": call.tool,
        "input": call.input,
        "cwd": call.cwd,
        "project": project,
        "session": call.session,
        "runtime": call.runtime,
        "description": call.description,
        "shell": call.shell,
        "hint": call.hint,
        "agent": call.agent,
        **({"annotations": call.annotations} if call.annotations else {}),
        **({"definition": call.definition} if call.definition else {}),
    }


def verdict(status: int, answer: Mapping[str, Any], *, rewrites: bool = False) -> Verdict:
    """The server's verdict. INVARIANT: only an explicit yes that agrees with the decision is a yes. A call that must
    run contained has a command for it, sent only to callers that run it (`rewrites`)."""
    if status != 200 or answer.get("waiting") is not False:
        return denied(_problem(answer) or "the server did not say yes")
    message = answer.get("message")
    try:
        decision, given = wire.read_decision(answer["decision"]), answer.get("resolution")
        end = None if given is None else wire.read_resolution(given)
        meant = decision.outcome is Outcome.ALLOW if end is None else end.allowed
        command = answer.get("command", "")
        if bool(decision.contained) is not bool(command) or (command and not (rewrites and end is None)):
            return denied("it was to run contained, and that cannot be done")
        return Verdict(
            answer.get("allowed") is True and meant is True,
            decision,
            str(answer.get("id", "")),
            message=message if isinstance(message, str) else "",
            stop=answer.get("stop") is True,
            resolution=end,
            command=str(command),
        )
    except (PayloadError, KeyError) as error:
        return denied(f"the server's answer cannot be read: {error}")


def denied(reason: str, code: str = "gate.fault") -> Verdict:
    """The verdict if the server gave none."""
    return Verdict(False, refusal(code, reason), message=f"This call was not run: {reason}.")


def _problem(answer: Mapping[str, Any]) -> str:
    error = answer.get("error")
    message = error.get("message") if isinstance(error, dict) else None
    return message if isinstance(message, str) else ""
