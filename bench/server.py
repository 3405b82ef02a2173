"""How many checks a second the server answers over its socket, beside a bare route of the same framework.

Runs a real server and a bare Starlette application in processes of their own, one after the other, and asks both with
the same client. `python -m bench.server` prints the figures; `--least` and `--p99` make it fail below them."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CONNECTIONS = 8
WARM, ROUND = 0.5, 0.5  # seconds
BARE = """
import sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

async def check(request):
    await request.json()
    return JSONResponse({"outcome": "allow"})

uvicorn.run(Starlette(routes=[Route("/v1/check", check, methods=["POST"])]), uds=sys.argv[1], log_level="error")
"""


def request(project: str) -> bytes:
    body = json.dumps({"tool": "bash", "input": {"command": "git status && ls -la src"}, "cwd": project}).encode()
    return (
        b"POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
    )


async def client(path: str, raw: bytes, until: float, took: list[float]) -> None:
    """Ask again and again over one connection."""
    reader, writer = await asyncio.open_unix_connection(path)
    while (started := time.perf_counter()) < until:
        writer.write(raw)
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        await reader.readexactly(length)
        took.append(time.perf_counter() - started)
    writer.close()


class Server:
    """One server in a process of its own, and what was measured of it."""

    def __init__(self, name: str, command: list[str], environ: dict[str, str], path: Path) -> None:
        self.name = name
        self.path = path
        self.rates: list[float] = []
        self.took: list[float] = []
        self.cpu = 0.0  # seconds
        self.process = subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not path.exists():
            time.sleep(0.05)
        time.sleep(0.3)

    async def load(self, raw: bytes, seconds: float, *, counts: bool = True) -> None:
        took: list[float] = []
        used = self.used()
        until = time.perf_counter() + seconds
        await asyncio.gather(*(client(str(self.path), raw, until, took) for _ in range(CONNECTIONS)))
        if counts:
            self.rates.append(len(took) / seconds)
            self.took += took
            self.cpu += self.used() - used

    def used(self) -> float:
        """Seconds of processor time so far: what other programs do at the same time does not count."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def line(self) -> str:
        median, p99 = statistics.median(self.took) * 1000, self.p99
        times = f"median {median:5.2f} ms   p99 {p99:5.2f} ms"
        return f"{self.name:22} {self.rate:8.0f}/s   {times}   {self.cost:4.0f} µs each"

    @property
    def rate(self) -> float:
        return statistics.median(self.rates)

    @property
    def cost(self) -> float:
        """Processor time of one request, in microseconds."""
        return self.cpu / len(self.took) * 1e6

    @property
    def p99(self) -> float:
        """The 99th percentile in milliseconds."""
        return statistics.quantiles(self.took, n=100)[98] * 1000

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)


async def measure(servers: list[Server], raw: bytes, seconds: float) -> None:
    """In turns, since a machine is not the same from one second to the next."""
    for server in servers:
        await server.load(raw, WARM, counts=False)
    for _ in range(int(seconds / ROUND)):
        for server in servers:
            await server.load(raw, ROUND)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--least", type=float, default=0.0, help="checks a second, below which this fails")
    parser.add_argument("--p99", type=float, default=0.0, help="milliseconds, above which this fails")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        state, project = Path(folder) / "state", Path(folder) / "project"
        (project / "src").mkdir(parents=True)
        subprocess.run(["git", "init", "-q", str(project)], check=True)
        environ = {**os.environ, "HOME": folder, "ASSENT_HOME": str(state)}
        bare = Path(folder) / "bare.sock"
        servers = [
            Server("bare Starlette route", [sys.executable, "-c", BARE, str(bare)], environ, bare),
            Server(
                "assent, a check",
                [sys.executable, "-m", "assent", "serve", "--port", "0"],
                environ,
                state / "server.sock",
            ),
        ]
        try:
            asyncio.run(measure(servers, request(str(project)), options.seconds))
        finally:
            for server in servers:
                server.stop()
    yardstick, ours = servers
    print(yardstick.line(), ours.line(), sep="\n")
    print(f"a check costs {ours.cost / yardstick.cost:.2f} times the processor time of the bare route")
    return int(ours.rate < options.least or (options.p99 > 0 and ours.p99 > options.p99))


if __name__ == "__main__":
    sys.exit(main())
