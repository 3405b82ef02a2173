"""The gate server: endpoints and page on a Unix socket and on 127.0.0.1. Decides nothing.

Needs starlette and uvicorn, which `assent serve` imports only when it serves."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import resource
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import uvicorn
from starlette.routing import compile_path

from assent.agents import known
from assent.agents.capabilities import NAMES
from assent.contract import words
from assent.policy.modes import Mode
from assent.server.api.endpoint import Endpoint, HttpReply, Refusal
from assent.server.api.events import STREAM
from assent.server.api.openapi import ENDPOINTS
from assent.server.api.request_guard import Fields, Later, RequestGuard, answer, head, refused, usual, written
from assent.server.listening import Listening
from assent.server.log import LogHandler
from assent.server.peers import Peer
from assent.server.protocol import MOST_TCP, Protocol
from assent.server.state import ServerState

STOPPING = 15  # seconds for open requests to end
MOST_CONNECTIONS = 8192
SHARING = 1000  # connections up to which the loop reports all that have data in one round
SPARE = 128  # open files that are not connections: the trail, the store, files read to decide
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "page")
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
# Sent to a browser that looks for a service worker. We have none: one that another server on this port left would
# intercept our page.
UNREGISTER = HttpReply(
    b"addEventListener('install',()=>skipWaiting());addEventListener('activate',()=>registration.unregister());",
    kind=KINDS[".js"],
)


class App:
    """The ASGI application: a table of endpoints, found by path."""

    def __init__(self, server: ServerState) -> None:
        self._guard = RequestGuard(server)
        self._pages = load()
        self._fixed = {(each.method, each.path): each for each in ENDPOINTS if "{" not in each.path}
        self._routes = [(each.method, compile_path(each.path)[0], each) for each in ENDPOINTS if "{" in each.path]
        # By the target as it is sent: any other spelling takes the usual way to the same endpoint.
        self.immediate: dict[bytes, tuple[Endpoint, dict[str, str]]] = {}
        for each in ENDPOINTS:
            if each.immediate:
                for runtime in known.runtimes() if "{runtime}" in each.path else ("",):
                    path = each.path.replace("{runtime}", runtime)
                    self.immediate[path.encode()] = (each, {"runtime": runtime} if runtime else {})

    def at_once(
        self, target: bytes, fields: Fields, body: bytes, peer: Peer | None, receive: Any, *, last: bool
    ) -> bytes | Later:
        """Answer a complete request to one of `immediate`: the bytes to send, or an application that continues it and
        takes `receive`. `last`: the connection ends with it."""
        endpoint, path = self.immediate[target]
        shared = Protocol.connections.total() < SHARING
        found = self._guard.at_once(endpoint, path, fields, body, peer, receive, shared=shared)
        if not isinstance(found, HttpReply):
            return found
        if found.status == 200 and not found.headers:
            return written(found, peer, last=last)
        return partial(_sent, found, peer)

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        endpoint = self._fixed.get((method, scope["path"]))
        if endpoint is not None and not (endpoint.kind == STREAM and scope["method"] == "HEAD"):
            await self._guard.serve(endpoint, scope, receive, send)
            return
        for allowed, pattern, found in self._routes:
            if allowed == method and (match := pattern.match(scope["path"])):
                await self._guard.serve(found, {**scope, "path_params": match.groupdict()}, receive, send)
                return
        try:
            await answer(send, self._file(method, scope))
        except Refusal as refusal:
            await answer(send, refused(refusal))

    def _file(self, method: str, scope: dict[str, Any]) -> HttpReply:
        headers, path = head(scope["headers"]), scope["path"]
        self._guard.check_host(headers, scope["state"]["peer"])
        if headers.get(b"service-worker") == b"script":
            return UNREGISTER
        if method == "GET" and path in self._pages:
            return self._pages[path]
        methods = {each.method for each in ENDPOINTS if each.path == path}
        if methods:
            raise Refusal(405, "bad-method", f"use {', '.join(sorted(methods))} here")
        raise Refusal(404, "not-found", "there is nothing here; see /openapi.json")


async def _sent(reply: HttpReply, peer: Peer | None, scope: object, receive: object, send: Any) -> None:
    await answer(send, reply, usual(peer))


def load(folder: str = FOLDER) -> Mapping[str, HttpReply]:
    """Path → file, for every file of the page, and the words that it shares with the other surfaces. No other file can
    be requested."""
    table = {**words.plain(), "runtimes": NAMES, "modes": [mode.word for mode in Mode]}
    vocabulary = f"export default {json.dumps(table)};\n".encode("ascii")
    found = {"/page/vocabulary.js": HttpReply(vocabulary, kind=KINDS[".js"])}
    for path in (os.path.join(where, name) for where, _, names in os.walk(folder) for name in names):
        kind = KINDS.get(os.path.splitext(path)[1])
        if kind is not None:
            with open(path, "rb") as file:
                found[f"/page/{os.path.relpath(path, folder)}"] = HttpReply(file.read(), kind=kind)
    found["/"] = found.pop("/page/index.html")
    return found


class UvicornServer(uvicorn.Server):
    """uvicorn, with our state closed first: held calls are denied before connections close."""

    def __init__(self, config: uvicorn.Config, state: ServerState) -> None:
        super().__init__(config)
        self._state = state

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Ctrl-C and SIGTERM stop the server, which then ends the process in order."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        yield

    async def shutdown(self, sockets: Any = None) -> None:
        await self._state.close()
        await super().shutdown(sockets)


async def serve(server: ServerState, listening: Listening) -> None:
    await server.open()
    log = logging.getLogger("uvicorn")
    log.propagate = False
    log.handlers = [LogHandler(server.log)]
    most = min(MOST_CONNECTIONS, max(SPARE, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - SPARE))
    Protocol.most_on_socket = max(SPARE, most - MOST_TCP)
    config = uvicorn.Config(
        App(server),
        http=Protocol,
        ws="none",
        lifespan="off",
        loop="none",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        limit_concurrency=most + 1,  # `Protocol` lets no more in
        timeout_keep_alive=65,
        timeout_graceful_shutdown=STOPPING,
    )
    await UvicornServer(config, server).serve(sockets=[listening.unix, listening.tcp])


def many_files() -> None:
    """Raise the limit of open files to what the system allows: each held call is an open connection."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = 65536 if hard == resource.RLIM_INFINITY else min(hard, 65536)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
