"""Servers in separate processes, and a client that sends them requests."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bench.measure import Block

PATIENCE = 20.0  # seconds for a server to start or to end
BARE = """
import sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

async def check(request):
    await request.json()
    return JSONResponse({"outcome": "allow"})

app = Starlette(routes=[Route("/v1/check", check, methods=["POST"])])
where = {"uds": sys.argv[1]} if len(sys.argv) == 2 else {"host": "127.0.0.1", "port": int(sys.argv[2])}
uvicorn.run(app, log_level="error", **where)
"""


class Server:
    """One server. `place` is the path of its socket, or its port on 127.0.0.1."""

    def __init__(self, words: list[str], environ: dict[str, str], place: Path | int) -> None:
        self.place = place
        nowhere = subprocess.DEVNULL
        self.process = subprocess.Popen(words, env=environ, stdin=nowhere, stdout=nowhere, stderr=nowhere)
        end = time.monotonic() + PATIENCE
        while not asyncio.run(self._answers()):
            if self.process.poll() is not None or time.monotonic() > end:
                self.stop()
                raise RuntimeError(f"`{' '.join(words[:4])}` does not serve")
            time.sleep(0.05)

    async def _answers(self) -> bool:
        try:
            (await connect(self.place))[1].close()
        except OSError:
            return False
        return True

    def used(self) -> float:
        """Seconds of processor time so far: what other programs do at the same time does not count."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE)


class Assent(Server):
    """Our server with its own state folder."""

    def __init__(self, state: Path, home: Path) -> None:
        environ = {**os.environ, "HOME": str(home), "ASSENT_HOME": str(state)}
        super().__init__([sys.executable, "-m", "assent", "serve", "--port", "0"], environ, state / "server.sock")

    def port(self) -> int:
        from assent.server.listening import running

        found = running(str(Path(str(self.place)).parent))
        assert found is not None
        return found.port


class Bare(Server):
    """One bare route of the framework that ours is built with, on the same kind of server."""

    def __init__(self, place: Path | int) -> None:
        where = ["tcp", str(place)] if isinstance(place, int) else [str(place)]
        super().__init__([sys.executable, "-c", BARE, *where], dict(os.environ), place)


async def connect(place: Path | int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if isinstance(place, int):
        return await asyncio.open_connection("127.0.0.1", place)
    return await asyncio.open_unix_connection(str(place))


def request(path: str, body: bytes, *, host: str = "localhost", token: str = "") -> bytes:
    """A request that keeps the connection open."""
    bearer = b"Authorization: Bearer %b\r\n" % token.encode() if token else b""
    head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n".encode()
    return b"%b%bContent-Length: %d\r\n\r\n%b" % (head, bearer, len(body), body)


async def exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, raw: bytes) -> bytes:
    """Send one request and read the whole answer."""
    writer.write(raw)
    head = await reader.readuntil(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        raise RuntimeError(f"the server answered {head[:80]!r}")
    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    return await reader.readexactly(length)


async def asking(server: Server, place: Path | int, raws: Sequence[bytes], seconds: float, connections: int) -> Block:
    """Ask over so many connections at once for a while, each again as soon as it has its answer. If several requests
    are given, each connection has its own."""
    walls: list[float] = []

    async def client(raw: bytes) -> None:
        reader, writer = await connect(place)
        while (started := time.perf_counter()) < until:
            await exchange(reader, writer, raw)
            walls.append((time.perf_counter() - started) * 1e6)
        writer.close()

    used = server.used()
    until = time.perf_counter() + seconds
    await asyncio.gather(*(client(raws[number % len(raws)]) for number in range(connections)))
    return Block(walls, [(server.used() - used) / len(walls) * 1e6])
