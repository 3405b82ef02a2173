"""Contained runs: the cost of a command in the sandbox, compared with a bare one, bubblewrap alone and another
sandbox."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from assent.contain import sandbox, ticket, words
from assent.contain.profile import profile_for
from assent.contract import Call
from assent.policy.contain_settings import ContainSettings
from bench import peers, places
from bench.measure import Block, Turn, calling, in_turns, starting
from bench.outcome import Aim, Chapter, Table, rows_of

BARE, BUBBLEWRAP, OURS, LARGE = "bare", "bubblewrap alone", "**Assent**, contained", "**Assent**, in 5,000 files"
RUNTIME = "sandbox-runtime"
ISSUE = "**Assent**, profile and ticket"
COMMAND = "true"
MOST = 15_000.0  # microseconds that a contained run may take longer
# What the shipped rules protect is about as long.
PROTECTED = tuple(f"**/.tool{number}/**" for number in range(400))


def chapter(folder: Path, *, quick: bool = False) -> Chapter:
    state, rounds = str(folder / "state"), 3 if quick else 100
    small, large = places.project(folder), places.project(folder / "more")
    fill(large, 100 if quick else 5_000)
    environ = {key: os.environ[key] for key in ("PATH", "LD_LIBRARY_PATH") if key in os.environ} | {"HOME": str(folder)}
    shell = ["/bin/sh", "-c", COMMAND]
    contenders: dict[str, Turn] = {BARE: starting(shell, b"", environ)}
    missing: dict[str, str] = {}
    if why := sandbox.why_not(state):
        missing |= dict.fromkeys((BUBBLEWRAP, OURS, LARGE), why)
    else:
        contenders[BUBBLEWRAP] = starting([words.bubblewrap(), *plain(small), *shell], b"", environ)
        contenders[OURS] = contained(state, small, environ)
        contenders[LARGE] = contained(state, large, environ)
    other = peers.sandbox_runtime()
    if isinstance(other, str):
        missing[RUNTIME] = other
    elif why := fails([*other, COMMAND], environ):
        missing[RUNTIME] = why
    else:
        contenders[RUNTIME] = starting([*other, COMMAND], b"", environ)
    table = Table(f"One run of `sh -c {COMMAND}`", rows_of(in_turns(contenders, rounds, warm=3), missing), BARE)
    issued = in_turns({ISSUE: calling(issuing(state, small, environ), lambda _: ["x"] * 5)}, rounds)
    mine, bare = table.row(OURS), table.row(BARE)
    more = mine.median - bare.median if mine is not None and bare is not None else None
    return Chapter(
        "Contained runs",
        "The same command bare, in bubblewrap with namespaces and read-only folders alone, and contained: with a\n"
        "ticket that is claimed, protected paths looked for before and after, limits, Landlock, a filter of system\n"
        "calls and a receipt. What the decision adds, a profile and a ticket, is in a table of its own. Wall time\n"
        "counts: the steps are done by four processes that wait for each other.",
        tables=(table, Table("What the hook does for it, in process", rows_of(issued), "")),
        aims=(Aim("a contained run beside a bare one, median", MOST, more, unit="µs"),),
    )


def fill(root: Path, count: int) -> None:
    for number in range(count):
        path = root / f"src/part{number % 50}/module{number}.py"
        path.parent.mkdir(exist_ok=True)
        path.touch()


def plain(root: Path) -> list[str]:
    """The least that closes the same: namespaces, the system read-only, the project writable."""
    links = [each for path in ("bin", "lib", "lib64", "sbin") for each in ("--symlink", f"usr/{path}", f"/{path}")]
    system = ["--ro-bind", "/usr", "/usr", "--ro-bind", "/etc", "/etc", "--proc", "/proc", "--dev", "/dev"]
    return ["--unshare-all", "--die-with-parent", *system, *links, "--tmpfs", "/tmp", "--bind", str(root), str(root)]


def issuing(state: str, root: Path, environ: dict[str, str]) -> Callable[[str], object]:
    """Does what the hook does: makes a profile and writes a ticket."""

    def issue(_: str) -> str:
        profile = profile_for(
            ContainSettings(),
            Call("bash", {}, cwd=str(root)),
            roots=[str(root)],
            home=environ["HOME"],
            state=state,
            environ=environ,
            protects=lambda _: False,
            guards=lambda _: False,
            protected=PROTECTED,
        )
        now = time.time()
        given = {"command": COMMAND, "shell": "/bin/sh", "cwd": str(root), "digest": "", "session": ""}
        return ticket.issue(state, profile, **given, now=now)

    return issue


def contained(state: str, root: Path, environ: dict[str, str]) -> Turn:
    issue = issuing(state, root, environ)

    def turn(number: int) -> Block:
        return starting([words.runner(state), str(issue(""))], b"", environ)(number)

    return turn


def fails(command: list[str], environ: dict[str, str]) -> str:
    """Why another sandbox does not run here; `""` if it does."""
    try:
        done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"does not run here: {type(error).__name__}"
    return "" if done.returncode == 0 else f"does not run here: {(done.stderr or done.stdout).strip()[:80]}"
