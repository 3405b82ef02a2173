"""A stand-in for Slack on this machine: its Web API over HTTP and Socket Mode over WebSocket. Tests nothing.

It refuses what Slack refuses (tokens, blocks beyond the limits, triggers that are used), and can be told to fail."""

from __future__ import annotations

import asyncio
import copy
import hashlib
import hmac
import json
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar
from urllib.parse import urlencode

from aiohttp import WSMsgType, web

from tests.slack import kit

T = TypeVar("T")
BOT, APP, SIGNING = "xoxb-1-bot", "xapp-1-app", "5167ec5e8f7ab01"
TEAM, BOT_USER, PLACE = "T0HOME", "U0ASSENT", "C0ASKED"
ANN, MALLORY = "U0ANN", "U0MALLORY"


class Posted:
    """One message as Slack has it now."""

    def __init__(self, channel: str, ts: str, fields: dict[str, Any]) -> None:
        self.channel = channel
        self.ts = ts
        self.fields = fields
        self.history = [copy.deepcopy(fields)]

    @property
    def blocks(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.fields.get("blocks", [])
        return found

    @property
    def buttons(self) -> dict[str, dict[str, Any]]:
        rows = [each["elements"] for each in self.blocks if each["type"] == "actions"]
        return {button["action_id"]: button for row in rows for button in row}

    @property
    def words(self) -> str:
        return "\n".join(kit.texts(self.blocks))


class StandIn:
    """Slack, on a port of its own, in a thread of its own."""

    def __init__(self) -> None:
        self.messages: list[Posted] = []
        self.whispers: list[dict[str, Any]] = []
        self.views: list[dict[str, Any]] = []
        self.files: list[dict[str, Any]] = []
        self.calls: list[str] = []
        self.refuses: dict[str, str] = {}  # method → error
        self.limited: dict[str, int] = {}  # method → seconds, for as long as it is set
        self.down = False
        self.objects = ""  # blocks with this text are refused
        self.sockets: list[web.WebSocketResponse] = []
        self._triggers: dict[str, bool] = {}
        self._acks: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._uploads: dict[str, dict[str, Any]] = {}
        self._count = 0
        self._loop = asyncio.new_event_loop()
        started = threading.Event()
        self._thread = threading.Thread(target=self._serve, args=(started,), daemon=True)
        self._thread.start()
        assert started.wait(10)

    # What a test does

    @property
    def api(self) -> str:
        return f"http://127.0.0.1:{self.port}/api/"

    def message(self, number: int = 0, *, about: str = "", seconds: float = 15) -> Posted:
        """The message of this number, among those that mention something, once it is there."""

        def found() -> Posted | None:
            fitting = [each for each in self.messages if about in each.history[0].get("text", "") + each.words]
            return fitting[number] if len(fitting) > number else None

        return until(found, seconds, f"no message {number} about {about!r}, but {[m.words for m in self.messages]}")

    def changed(self, posted: Posted, words: str, *, seconds: float = 15) -> Posted:
        """A message, once it says something."""
        return until(lambda: posted if words in posted.words else None, seconds, f"it says {posted.words!r}")

    def connected(self, *, seconds: float = 20) -> None:
        until(lambda: self.sockets or None, seconds, "no socket is open")

    def press(self, posted: Posted, action: str, *, user: str = ANN, **more: Any) -> dict[str, Any]:
        """Press a button, by Socket Mode; returns the acknowledgement."""
        return self.send(self.pressed(posted, action, user=user, **more))

    def pressed(
        self, posted: Posted, action: str, *, user: str = ANN, team: str = TEAM, home: str = TEAM, after: float = 5.0
    ) -> dict[str, Any]:
        """What Slack would send when a button is pressed."""
        shown = {**posted.history[0], **posted.fields}
        first = Posted(posted.channel, posted.ts, {"blocks": posted.history[0].get("blocks", [])})
        button = (posted.buttons or first.buttons)[action]
        stamp = f"{float(posted.ts) + after:.6f}"
        return {
            "type": "block_actions",
            "user": {"id": user, "username": user.lower(), "name": user.lower(), "team_id": home},
            "team": {"id": team, "domain": "home"},
            "trigger_id": self.trigger(),
            "container": {"type": "message", "message_ts": posted.ts, "channel_id": posted.channel},
            "channel": {"id": posted.channel, "name": "asked"},
            "message": {"ts": posted.ts, "blocks": shown.get("blocks", [])},
            "actions": [{"type": "button", "action_id": action, "value": button["value"], "action_ts": stamp}],
        }

    def view(self, number: int = 0, *, seconds: float = 10) -> dict[str, Any]:
        """A dialog that was opened."""
        return until(lambda: self.views[number] if len(self.views) > number else None, seconds, "no dialog")

    def submitted(self, view: dict[str, Any], values: dict[str, Any], *, user: str = ANN) -> dict[str, Any]:
        state = {name: {name: value} for name, value in values.items()}
        return {
            "type": "view_submission",
            "user": {"id": user, "username": user.lower(), "team_id": TEAM},
            "team": {"id": TEAM, "domain": "home"},
            "trigger_id": self.trigger(),
            "view": {**view, "id": "V1", "state": {"values": state}},
        }

    def send(self, payload: dict[str, Any], *, envelope: str = "") -> dict[str, Any]:
        """Send an interaction by Socket Mode, and wait until it is acknowledged."""
        self.connected()
        return asyncio.run_coroutine_threadsafe(self._send(payload, envelope), self._loop).result(15)

    def trigger(self) -> str:
        name = uuid.uuid4().hex
        self._triggers[name] = True
        return name

    def drop(self) -> None:
        """Break every open socket."""
        asyncio.run_coroutine_threadsafe(self._drop(), self._loop).result(10)

    def refresh(self) -> None:
        """Ask for another connection, as Slack does now and then."""

        async def told() -> None:
            for each in list(self.sockets):
                await each.send_json({"type": "disconnect", "reason": "refresh_requested"})

        asyncio.run_coroutine_threadsafe(told(), self._loop).result(10)

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    # The server

    def _serve(self, started: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        app = web.Application(client_max_size=1 << 22)
        app.router.add_post("/api/{method}", self._method)
        app.router.add_post("/upload/{id}", self._uploaded)
        app.router.add_get("/link/{ticket}", self._socket)
        self._runner = web.AppRunner(app)
        self._loop.run_until_complete(self._runner.setup())
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        self._loop.run_until_complete(site.start())
        self.port = int(self._runner.addresses[0][1])
        started.set()
        self._loop.run_forever()

    async def _stop(self) -> None:
        await self._drop()
        await self._runner.cleanup()

    async def _method(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        self.calls.append(method)
        if self.down:
            return web.Response(status=503, text="<html>down</html>", content_type="text/html")
        if method in self.limited:
            headers = {"Retry-After": str(self.limited[method])}
            return web.json_response({"ok": False, "error": "ratelimited"}, status=429, headers=headers)
        error = self.refuses.get(method) or self._unauthorised(request, method)
        if error:
            return web.json_response({"ok": False, "error": error})
        is_json = request.content_type == "application/json"
        fields = await request.json() if is_json else dict((await request.post()).items())
        found = getattr(self, f"_{method.replace('.', '_')}")({**request.query, **fields})
        return web.json_response(found if "error" in found else {"ok": True, **found})

    def _unauthorised(self, request: web.Request, method: str) -> str:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if token not in (BOT, APP):
            return "invalid_auth"
        return "" if token == (APP if method == "apps.connections.open" else BOT) else "not_allowed_token_type"

    def _auth_test(self, fields: dict[str, Any]) -> dict[str, Any]:
        return {"team_id": TEAM, "team": "Home", "user": "assent", "user_id": BOT_USER, "url": "https://x.slack.com/"}

    def _chat_postMessage(self, fields: dict[str, Any]) -> dict[str, Any]:
        if fields["channel"] not in (PLACE, ANN):
            return {"ok": False, "error": "channel_not_found"}
        if self.objects and self.objects in str(fields.get("blocks")):
            return {"ok": False, "error": "invalid_blocks"}
        if "blocks" in fields and (wrong := kit.objections(fields["blocks"])):
            return {"ok": False, "error": "invalid_blocks", "response_metadata": {"messages": wrong}}
        self._count += 1
        ts = f"{int(time.time())}.{self._count:06d}"
        self.messages.append(Posted(fields["channel"], ts, fields))
        return {"channel": fields["channel"], "ts": ts}

    def _chat_update(self, fields: dict[str, Any]) -> dict[str, Any]:
        for each in self.messages:
            if (each.channel, each.ts) == (fields["channel"], fields["ts"]):
                if wrong := kit.objections(fields["blocks"]):
                    return {"ok": False, "error": "invalid_blocks", "response_metadata": {"messages": wrong}}
                each.fields = fields
                each.history.append(fields)
                return {"channel": each.channel, "ts": each.ts}
        return {"ok": False, "error": "message_not_found"}

    def _chat_postEphemeral(self, fields: dict[str, Any]) -> dict[str, Any]:
        self.whispers.append(fields)
        return {"message_ts": "1.1"}

    def _views_open(self, fields: dict[str, Any]) -> dict[str, Any]:
        if not self._triggers.pop(fields["trigger_id"], False):
            return {"ok": False, "error": "expired_trigger_id"}
        if kit.view_objections(fields["view"]):
            return {"ok": False, "error": "invalid_arguments"}
        self.views.append(fields["view"])
        return {"view": {"id": f"V{len(self.views)}"}}

    def _apps_connections_open(self, fields: dict[str, Any]) -> dict[str, Any]:
        return {"url": f"ws://127.0.0.1:{self.port}/link/{uuid.uuid4().hex}"}

    def _files_getUploadURLExternal(self, fields: dict[str, Any]) -> dict[str, Any]:
        name = uuid.uuid4().hex
        self._uploads[name] = dict(fields)
        return {"upload_url": f"http://127.0.0.1:{self.port}/upload/{name}", "file_id": name}

    async def _uploaded(self, request: web.Request) -> web.StreamResponse:
        self._uploads[request.match_info["id"]]["content"] = await request.read()
        return web.Response(text="OK - 1")

    def _files_completeUploadExternal(self, fields: dict[str, Any]) -> dict[str, Any]:
        listed = fields["files"] if isinstance(fields["files"], list) else json.loads(fields["files"])
        for each in listed:
            self.files.append({**self._uploads[each["id"]], **fields})
        return {"files": listed}

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_json({"type": "hello", "num_connections": 1})
        self.sockets.append(socket)
        try:
            async for message in socket:
                if message.type == WSMsgType.TEXT:
                    self._acknowledged(json.loads(message.data))
        finally:
            if socket in self.sockets:
                self.sockets.remove(socket)
        return socket

    def _acknowledged(self, message: dict[str, Any]) -> None:
        waiting = self._acks.pop(message.get("envelope_id", ""), None)
        if waiting is not None and not waiting.done():
            waiting.set_result(message.get("payload") or {})

    async def _send(self, payload: dict[str, Any], envelope: str) -> dict[str, Any]:
        name = envelope or uuid.uuid4().hex
        waiting = self._acks[name] = self._loop.create_future()
        sent = {"type": "interactive", "envelope_id": name, "payload": payload, "accepts_response_payload": True}
        for _ in range(5):  # what is not acknowledged is sent again, on whatever connection there is by then
            with suppress(IndexError, ConnectionError):
                await self.sockets[-1].send_json(sent)
            await asyncio.wait({waiting}, timeout=2)
            if waiting.done():
                return dict(waiting.result())
        raise TimeoutError("it was never acknowledged")

    async def _drop(self) -> None:
        for each in list(self.sockets):
            await each.close()


def form(payload: dict[str, Any]) -> bytes:
    """An interaction as Slack sends it over HTTP."""
    return urlencode({"payload": json.dumps(payload)}).encode()


def signature(body: bytes, *, secret: str = SIGNING, at: float | None = None) -> dict[str, str]:
    """The headers of a request that Slack signed."""
    stamp = str(int(time.time() if at is None else at))
    made = hmac.new(secret.encode(), f"v0:{stamp}:".encode() + body, hashlib.sha256).hexdigest()
    return {
        "Content-Type": "application/x-www-form-urlencoded",
        "X-Slack-Request-Timestamp": stamp,
        "X-Slack-Signature": f"v0={made}",
    }


def until(look: Callable[[], T | None], seconds: float, words: object) -> T:
    """What a look finds, once it finds something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if (found := look()) is not None:
            return found
        time.sleep(0.02)
    raise AssertionError(words)
