"""The gate server: endpoints and page behind one door, on a Unix socket and on 127.0.0.1. Decides nothing.

Needs starlette and uvicorn, which `assent serve` imports only once it is told to serve."""

from __future__ import annotations

import asyncio
import logging
import re
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import uvicorn
from starlette.routing import compile_path

from assent.agents import known
from assent.server.api import pages
from assent.server.api.endpoint import Endpoint, HttpReply, Refusal
from assent.server.api.events import STREAM
from assent.server.api.openapi import ENDPOINTS
from assent.server.api.request_guard import Fields, Later, RequestGuard, answer, head, refused, usual, written
from assent.server.listening import Listening
from assent.server.peers import Peer
from assent.server.protocol import MOST_TCP, Protocol
from assent.server.state import ServerState
from assent.server.voice import LogHandler

STOPPING = 15  # seconds for open requests to end
MOST_CONNECTIONS = 8192
HEARD = 1000  # connections up to which the loop is sure to hear of all that have something to say at once
SPARE = 128  # open files that are no connection: the trail, the store, what is read to decide
KILLER = HttpReply(
    b"addEventListener('install',()=>skipWaiting());addEventListener('activate',()=>registration.unregister());",
    kind="text/javascript; charset=utf-8",
)


class App:
    """The ASGI application. One table of endpoints, found by path."""

    def __init__(self, house: ServerState) -> None:
        self.house = house
        self.door = RequestGuard(house)
        self.pages = pages.load()
        self._fixed: dict[tuple[str, str], Endpoint] = {}
        self._routes: list[tuple[str, re.Pattern[str], Endpoint]] = []
        for each in ENDPOINTS:
            if "{" in each.path:
                self._routes.append((each.method, compile_path(each.path)[0], each))
            else:
                self._fixed[each.method, each.path] = each
        # By the target as it is sent: any other spelling goes the long way to the same endpoint.
        self.prompt: dict[bytes, tuple[Endpoint, dict[str, str]]] = {}
        for each in ENDPOINTS:
            if each.prompt:
                for runtime in known.runtimes() if "{runtime}" in each.path else ("",):
                    path = each.path.replace("{runtime}", runtime)
                    self.prompt[path.encode()] = (each, {"runtime": runtime} if runtime else {})

    def at_once(
        self, target: bytes, fields: Fields, body: bytes, peer: Peer | None, receive: Any, *, last: bool
    ) -> bytes | Later:
        """Answer a request to one of `prompt` that is here as a whole: the bytes to send, or an application that goes
        on with it, to which `receive` belongs. `last` says that the connection ends with it."""
        endpoint, path = self.prompt[target]
        shared = Protocol.on_tcp + Protocol.on_socket < HEARD
        found = self.door.at_once(endpoint, path, fields, body, peer, receive, shared=shared)
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
            await self.door.serve(endpoint, scope, receive, send)
            return
        for asks, pattern, found in self._routes:
            if asks == method and (match := pattern.match(scope["path"])):
                await self.door.serve(found, {**scope, "path_params": match.groupdict()}, receive, send)
                return
        await self._file(method, scope, send)

    async def _file(self, method: str, scope: dict[str, Any], send: Any) -> None:
        try:
            headers = head(scope["headers"])
            self.door.check_host(headers, scope["state"]["peer"])
            page = self.pages.get(scope["path"]) if method == "GET" else None
            if headers.get(b"service-worker") == b"script":
                page = KILLER  # we have none: something else on this port left it, and it would stand before our page
            if page is None:
                known = {each.method for each in ENDPOINTS if each.path == scope["path"]}
                raise (
                    Refusal(405, "bad-method", f"use {', '.join(sorted(known))} here")
                    if known
                    else Refusal(404, "not-found", "there is nothing here; see /openapi.json")
                )
            await answer(send, page)
        except Refusal as refusal:
            await answer(send, refused(refusal))


async def _sent(reply: HttpReply, peer: Peer | None, scope: object, receive: object, send: Any) -> None:
    await answer(send, reply, usual(peer))


class UvicornServer(uvicorn.Server):
    """uvicorn, with the house closed first: what waits is denied before connections are."""

    def __init__(self, config: uvicorn.Config, house: ServerState) -> None:
        super().__init__(config)
        self._house = house

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Ctrl-C and SIGTERM end the server, and not the process before its own end."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        yield

    async def shutdown(self, sockets: Any = None) -> None:
        await self._house.close()
        await super().shutdown(sockets)


async def serve(house: ServerState, listening: Listening) -> None:
    """Serve until told to stop."""
    await house.open()
    log = logging.getLogger("uvicorn")
    log.propagate = False
    log.handlers = [LogHandler(house.voice)]
    most = min(MOST_CONNECTIONS, max(SPARE, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - SPARE))
    Protocol.most_on_socket = max(SPARE, most - MOST_TCP)
    config = uvicorn.Config(
        App(house),
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
    await UvicornServer(config, house).serve(sockets=[listening.unix, listening.tcp])


def many_files() -> None:
    """Each held call is an open connection: take as many as the system allows."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = 65536 if hard == resource.RLIM_INFINITY else min(hard, 65536)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
