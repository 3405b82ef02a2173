"""The server: checks over its socket and HTTP hooks over TCP, compared with a bare route; and with many held calls."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
from pathlib import Path

from assent.hook import launcher
from assent.server.access import SCRAPE_FILE, load_token
from bench import places
from bench.measure import Taken, Turn, in_turns
from bench.outcome import Aim, Chapter, Table, rows_of
from bench.serving import Assent, Bare, Server, asking, connect, exchange, request

COMMAND = "git status && ls -la src"
SEVERAL = (
    COMMAND,
    "git diff --stat",
    "cat src/app.py | head -20",
    "grep -rn 'def main' src",
    "ls tests/unit",
    "wc -l notes.txt data.csv",
    "git log --oneline -5",
    "head -5 package.json",
)
BARE_SOCKET, CHECK = "bare Starlette route, Unix socket", "**assent**, a check, Unix socket"
BARE_TCP, HOOK = "bare Starlette route, TCP", "**assent**, an HTTP hook, TCP"
ONE, MANY = 1, 8  # connections


def chapter(folder: Path, *, quick: bool = False) -> Chapter:
    root = places.project(folder)
    state = folder / "state"
    servers: list[Server] = []
    try:
        for kind in (Bare(folder / "bare.sock"), Bare(_free_port()), Assent(state, folder)):
            servers.append(kind)
        alike, each = (_contenders(servers, state, folder, root, commands) for commands in ((COMMAND,), SEVERAL))
        seconds, rounds = (0.1, 1) if quick else (0.5, 12)
        one, many, mixed = (
            _table(asked, words, connections, seconds, rounds)
            for asked, words, connections in (
                (alike, "one connection", ONE),
                (alike, f"{MANY} connections", MANY),
                (each, f"{MANY} connections, each with a command of its own", MANY),
            )
        )
        held = asyncio.run(_held(servers[2], root, 20 if quick else 1_000, 0.1 if quick else 3.0))
    finally:
        for server in servers:
            server.stop()
    check = many.row(CHECK)
    return Chapter(
        "The server",
        f"`POST /v1/check` decides and records nothing; an HTTP hook, as Claude Code sends it, decides, records and "
        f"answers in that program's form; both of `{COMMAND}`. The bare route reads JSON and gives JSON. Clients and "
        "servers share this machine. CPU is that of the server, threads and all. Calls that come together share a look "
        "at the host; with commands of their own they share less.",
        tables=(one, many, mixed, held),
        aims=(
            Aim("checks a second through the socket", 2_000, check.rate if check else None, most=False, unit="/s"),
            Aim("a check: 99th percentile under that load", 10_000.0, check.p99 if check else None, unit="µs"),
            Aim("a check: median wall time to a bare route's", 2, one.ratio(CHECK, BARE_SOCKET, "median")),
            Aim("a check: CPU to a bare route's, one at a time", 2, one.ratio(CHECK, BARE_SOCKET)),
            Aim("a check: CPU to a bare route's, under load", 2, many.ratio(CHECK, BARE_SOCKET)),
            Aim("an HTTP hook: median wall time to a bare route's", 2, one.ratio(HOOK, BARE_TCP, "median")),
            Aim("an HTTP hook: CPU to a bare route's, under load", 2, many.ratio(HOOK, BARE_TCP)),
        ),
    )


Asked = dict[str, tuple[Server, Path | int, list[bytes]]]


def _contenders(servers: list[Server], state: Path, folder: Path, root: Path, commands: tuple[str, ...]) -> Asked:
    """The requests to send, and to which server."""
    bare, bare_tcp, ours = servers
    assert isinstance(ours, Assent)
    port = ours.port()
    _greet(state, folder, root)
    calls = [{"tool": "bash", "input": {"command": each}, "cwd": str(root)} for each in commands]
    checks = [request("/v1/check", json.dumps(each).encode()) for each in calls]
    events = [places.event(root, each) for each in commands]
    host, token = f"127.0.0.1:{port}", load_token(str(state))
    return {
        BARE_SOCKET: (bare, bare.place, checks),
        CHECK: (ours, ours.place, checks),
        BARE_TCP: (bare_tcp, bare_tcp.place, [request("/v1/check", each) for each in events]),
        HOOK: (ours, port, [request("/hook/claude", each, host=host, token=token) for each in events]),
    }


def _table(asked: Asked, words: str, connections: int, seconds: float, rounds: int) -> Table:
    turns: dict[str, Turn] = {who: _turn(*each, seconds, connections) for who, each in asked.items()}
    rows = rows_of(in_turns(turns, rounds))
    rates = ", ".join(f"{row.rate:,.0f}/s {row.who.replace('*', '')}" for row in rows)
    return Table(f"Over {words}: {rates}", rows, BARE_SOCKET, by="cpu")


def _turn(server: Server, place: Path | int, raws: list[bytes], seconds: float, connections: int) -> Turn:
    return lambda number: asyncio.run(asking(server, place, raws, seconds, connections))


async def _held(server: Server, root: Path, count: int, seconds: float) -> Table:
    """Checks and the page while questions wait."""
    body = {"tool": "bash", "input": {"command": "npm publish"}, "cwd": str(root), "wait": 600}
    waiting = []
    for number in range(count):
        raw = request("/v1/calls", json.dumps({**body, "session": f"held-{number}"}).encode())
        reader, writer = await connect(server.place)
        waiting.append(asyncio.ensure_future(exchange(reader, writer, raw)))
    await _all_held(server, count)
    check = request("/v1/check", json.dumps({"tool": "bash", "input": {"command": COMMAND}, "cwd": str(root)}).encode())
    page = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
    asks = {"a check": check, "the page": page}
    taken = {}
    for who, raw in asks.items():
        taken.update(await _aside(who, server, raw, seconds))
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    return Table(f"While {count:,} questions are held", rows_of(taken), "a check", by="cpu")


async def _all_held(server: Server, count: int) -> None:
    """Wait until the server holds that many calls."""
    token = load_token(str(Path(str(server.place)).parent), SCRAPE_FILE)
    raw = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %b\r\n\r\n" % token.encode()
    reader, writer = await connect(server.place)
    while f"\nassent_held {count}\n".encode() not in await exchange(reader, writer, raw):
        await asyncio.sleep(0.1)
    writer.close()


async def _aside(who: str, server: Server, raw: bytes, seconds: float) -> dict[str, Taken]:
    found = Taken()
    found.add(await asking(server, server.place, [raw], seconds, ONE), seconds)
    return {who: found}


def _greet(state: Path, home: Path, root: Path) -> None:
    """Start a session with a command hook, which tells the server its project."""
    launcher.write(str(state))
    words = launcher.launcher(str(state), "claude", socket=str(state / "server.sock"), deadline=60)
    text = places.event(root, "", kind="SessionStart")
    subprocess.run(list(words), input=text, env=places.environ(home, root), capture_output=True, check=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
