"""A hook as agent programs start it, cold or with a server, compared with other gates' hooks and bare programs."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assent.hook import bundle, compiled_client, launcher
from bench import peers, places
from bench.measure import Turn, in_turns, starting
from bench.outcome import Aim, Chapter, Table, rows_of
from bench.serving import Assent

TRUE, BARE = "`/bin/true`", "`python -I -S -c pass`"
COLD, WARM, COMPILED = "**assent**, cold", "**assent**, warm, Python client", "**assent**, warm, compiled client"
NAH, NET = "nah", "cc-safety-net"
COMMANDS = ("git status && ls -la", "grep -rn 'def main' src | head -20", "npm run build && git push --force")


def chapter(folder: Path, *, quick: bool = False) -> Chapter:
    root = places.project(folder)
    tables = []
    with _programs(folder, root) as (programs, missing):
        for command in COMMANDS[:1] if quick else COMMANDS:
            turns = {who: _turn(words, folder, root, command) for who, words in programs.items()}
            taken = in_turns(turns, 2 if quick else 60, warm=2)
            tables.append(Table(f"A hook on `{command}`", rows_of(taken, missing), BARE, by="cpu"))
    first = tables[0]
    return Chapter(
        "A hook",
        "One process per call, started as agent programs start it, with the event on standard input and the answer "
        "discarded. Cold: no server runs; the hook decides and records. Warm: it asks the server, whose time counts "
        "as wall time and not as CPU time.",
        tables=tuple(tables),
        aims=(
            Aim("cold hook: CPU to a bare interpreter's", 4, first.ratio(COLD, BARE)),
            Aim("cold hook: CPU to nah's", 0.5, first.ratio(COLD, NAH)),
            Aim("cold hook: CPU to cc-safety-net's", 1 / 3, first.ratio(COLD, NET)),
            Aim("warm compiled client: median wall time to `/bin/true`'s", 3, first.ratio(COMPILED, TRUE, "median")),
        ),
    )


def _turn(words: list[str], home: Path, root: Path, command: str) -> Turn:
    return starting(words, places.event(root, command), places.environ(home, root))


@contextmanager
def _programs(folder: Path, root: Path) -> Iterator[tuple[dict[str, list[str]], dict[str, str]]]:
    """The programs to start, and the reasons why others are missing; a server runs for those that ask one."""
    cold, warm = folder / "cold", folder / "warm"
    found: dict[str, list[str] | str] = {
        TRUE: ["/bin/true"],
        BARE: [launcher.interpreter(), "-I", "-S", "-c", "pass"],
        COLD: _launcher(cold),
        WARM: _launcher(warm),
        COMPILED: compiled_client.why_not(str(warm)) or _client(warm),
        NAH: peers.nah_hook(),
        NET: peers.safety_net_hook(),
    }
    server = Assent(warm, folder)
    try:
        _greet(found[WARM], folder, root)
        missing = {who: why for who, why in found.items() if isinstance(why, str)}
        yield {who: words for who, words in found.items() if not isinstance(words, str)}, missing
    finally:
        server.stop()


def _launcher(state: Path) -> list[str]:
    launcher.write(str(state))
    bundle.renew()  # as `assent install` does
    return list(launcher.launcher(str(state), "claude", socket=str(state / "server.sock"), deadline=60))


def _client(state: Path) -> list[str]:
    compiled_client.write(str(state))
    return list(compiled_client.words(tuple(_launcher(state)), str(state)))


def _greet(words: list[str] | str, home: Path, root: Path) -> None:
    """Send the event of a new session, so that the server knows its project."""
    text = places.event(root, "", kind="SessionStart")
    subprocess.run(list(words), input=text, env=places.environ(home, root), capture_output=True, check=True)
