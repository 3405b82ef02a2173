"""The entries with a server: `/v1/calls`, hooks whose session is and is not attended, and the MCP proxy beside it.

The server is the real one, with its socket and its port, in the loop of the play; a person is signed in on its page."""

from __future__ import annotations

import asyncio
import http.client
import json
from contextlib import suppress
from typing import Any, Self
from unittest.mock import patch

from assent.hook.client import parsed
from assent.server import app, held_calls
from assent.server.listening import Listening
from assent.server.state import ServerState
from tests.gate.entry import SESSION, Entry, Scratch, until
from tests.gate.local import Claude, Mcp, said_by_hook
from tests.server.program import Person, Program


class Page(Program):
    """A server in this process, and the page on which a person answers."""

    def __init__(self, scratch: Scratch) -> None:
        self.scratch = scratch
        self.state, self.project = scratch.state, scratch.project

    async def open(self, *, person: bool) -> None:
        self._listening = Listening(str(self.state), port=0)
        self.port, self.socket = self._listening.port, self._listening.path
        self._house = ServerState(self.scratch.environ, port=self.port, socket=self.socket, folder=str(self.project))
        self._serving = asyncio.create_task(app.serve(self._house, self._listening))
        self.person = await asyncio.to_thread(self._signed_in) if person else None
        if self.person is not None:
            await until(lambda: self._house.hub.streams, "the page's stream of events")

    def _signed_in(self) -> Person:
        answer = self.ask("POST", "/v1/session", {"code": self._house.access.codes.fresh()})
        found = Person(self, answer.headers["set-cookie"].split(";")[0], answer.json["key"])
        self._stream = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        self._stream.request("GET", "/v1/events", headers=found.headers)
        self._events = self._stream.getresponse()
        return found

    async def close(self) -> None:
        await self._house.close()
        self._serving.cancel()
        with suppress(asyncio.CancelledError):
            await self._serving
        if self.person is not None:
            self._stream.close()
        self._listening.close()

    def held(self) -> list[Any]:
        return [each for each in self._house.gate.broker.pending() if each.deadline is not None]

    async def shown(self) -> None:
        await until(self.held, "a question on the page")

    async def say(self, yes: bool, *, session: bool = False) -> None:
        assert self.person is not None
        question = (await asyncio.to_thread(self.person.held))[0]
        rules = question["suggestions"][0]["rules"] if session else []
        more = {"scope": "session", "rules": rules} if session else {}
        answer = await asyncio.to_thread(self.person.answer, question, "allow" if yes else "deny", **more)
        assert answer.status == 200, answer.raw

    async def post(self, path: str, body: object) -> tuple[int, bytes]:
        """One request over the socket. A task that is cancelled hangs up."""
        reader, writer = await asyncio.open_unix_connection(self.socket)
        data = json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
        try:
            writer.write(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)
            raw = await reader.read()
        finally:
            writer.close()
        found, _, content = raw.partition(b"\r\n\r\n")
        return int(found.split()[1]), content


class Served(Entry):
    """An entry of a server, whose page asks."""

    channel = "web"

    async def __aenter__(self) -> Self:
        self.page = Page(self.scratch)
        await self.page.open(person=self.person)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.page.close()

    async def shown(self) -> None:
        await self.page.shown()

    async def say(self, yes: bool, *, session: bool = False) -> None:
        await self.page.say(yes, session=session)


class Calls(Served):
    """`/v1/calls`, asked again until there is a verdict."""

    name, runtime = "calls", "openharness"
    _held: dict[str, str] = {}  # replaced, never changed

    async def call(self, command: str) -> bool:
        where = str(self.scratch.project)
        body = {"tool": "bash", "input": {"command": command}, "cwd": where, "project": where, "wait": 0}
        more = {"session": SESSION, "runtime": self.runtime, "shell": "bash", "headless": not self.person}
        status, raw = await self.page.post("/v1/calls", {**body, **more})
        while status == 202:
            self._held = json.loads(raw)
            again = {"digest": self._held["digest"], "wait": 20}
            status, raw = await self.page.post(f"/v1/calls/{self._held['id']}", again)
        assert status == 200, raw
        return json.loads(raw)["allowed"] is True

    async def cancel(self, calling: asyncio.Task[bool]) -> None:
        async with asyncio.timeout(10):
            while not self._held:  # the page may hear of a question before its caller does
                await asyncio.sleep(0.01)
        await self.page.post(f"/v1/calls/{self._held['id']}/withdraw", {"digest": self._held["digest"]})
        await asyncio.wait({calling})


class Hook(Served, Claude):
    """`/v1/hooks/claude` for a session that nobody attends: the hook waits for the page."""

    name, channel = "hook", "web"

    async def __aenter__(self) -> Self:
        await Claude.__aenter__(self)
        return await Served.__aenter__(self)

    @property
    def attended(self) -> bool:
        return False

    async def send(self, event: str, command: str = "") -> str:
        body: dict[str, object] = {"payload": self.payload(event, command), "environ": self.told}
        while True:
            status, raw = await self.page.post("/v1/hooks/claude", body)
            assert status == 200, raw
            found = parsed(raw)
            if not isinstance(found, dict):
                return said_by_hook(found.stdout)
            body["held"] = found

    async def cancel(self, calling: asyncio.Task[bool]) -> None:
        """The hook ends, and does not come back for its question."""
        with patch.object(held_calls, "GRACE", 0.1):
            calling.cancel()
            await until(lambda: not self.page.held(), "the end of a question that nobody waits for")


class HttpHook(Hook):
    """`/hook/claude`: the payload is the request, and the answer comes in one go. The environment of the session comes
    from an earlier command hook."""

    name = "http-hook"

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        await super().send("SessionStart")
        return self

    async def send(self, event: str, command: str = "") -> str:
        status, raw = await self.page.post("/hook/claude", json.loads(self.payload(event, command)))
        assert status == 200, raw
        return said_by_hook(raw.decode())


class Dialog(Hook):
    """The same for an attended session: the program's own dialog opens, and the page is asked beside it."""

    name = "dialog"

    @property
    def attended(self) -> bool:
        return True

    async def dialog(self, command: str) -> bool:
        beside = asyncio.ensure_future(self.send("PermissionRequest", command))
        inside = asyncio.ensure_future(super().dialog(command))
        await asyncio.wait({beside, inside}, return_when=asyncio.FIRST_COMPLETED)
        if beside.done() and beside.result() in ("allow", "deny"):
            inside.cancel()
            return beside.result() == "allow"
        found = await inside
        await beside
        return found

    async def cancel(self, calling: asyncio.Task[bool]) -> None:
        self._dialogs[0].set_result(False)
        await asyncio.wait({calling})


class McpServed(Served, Mcp):
    """The judge of the MCP proxy beside a server."""

    name, channel, served = "mcp-served", "web", True

    async def __aenter__(self) -> Self:
        await Served.__aenter__(self)
        return await Mcp.__aenter__(self)

    async def __aexit__(self, *_: object) -> None:
        await Mcp.__aexit__(self)
        await Served.__aexit__(self)
