"""A decision in process: compared with other gates, with many rules, long commands, input at the limits, a batch."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import chdir
from pathlib import Path

from assent.contract import Call
from assent.engine import engine
from assent.engine.engine import Engine
from assent.policy import shipped
from assent.policy.document import document_of
from assent.policy.rules import Origin
from assent.policy.settings import combine
from bench import everyday, peers, places, realistic, scripts
from bench.measure import Jobs, calling, in_turns
from bench.outcome import Aim, Chapter, Curve, Table, rows_of
from bench.peers import Run

ASSENT, NAH = "**assent**", "nah"
OPENHARNESS, RULED = "openharness, compares texts, no rules", "openharness, as many rules as we ship"
DECISION = "a decision, CPU"
PIECE = "cat src/app.py; "
FIRST, AGAIN = ", first", ", again"  # a script that was never seen, and one that was
SHAPES = len(realistic.new(0))
LIMITS = {
    "1 MB of one word": "echo " + "a" * 1_000_000,
    "1 MB of commands": PIECE * 62_500,
    "10,000 commands": "; ".join(f"cat src/app{number}.py" for number in range(10_000)),
    "500 levels of `$(…)`": "echo " + "$(echo " * 500 + "x" + ")" * 500,
    "500 levels of sudo": "sudo " * 500 + "ls",
    "500 levels of if": "if true; then " * 500 + "ls" + "; fi" * 500,
}


def gate(rules: int = 0) -> Engine:
    """A gate with the shipped rules and that many of a user's own, a fifth of them beginning with a wildcard."""
    deny: list[object] = []
    for number in range(rules):
        match number % 10:
            case 0:
                deny.append(f"read(**/never-{number}/*.key)")
            case 5:
                deny.append(f"bash(* --never-{number})")
            case 1 | 2 | 3:
                deny.append(f"write(/never/{number}/**)")
            case _:
                deny.append(f"bash(never-{number} run:*)")
    return Engine(combine([document_of({"deny": deny}, "bench", Origin.USER)]))


def deciding(made: Engine, root: Path) -> Run:
    """The whole path of a call, with facts observed on the host."""
    folder, home = str(root), str(root.parent)

    def run(command: str) -> object:
        return made.decide(Call("bash", {"command": command}, cwd=folder, roots=(folder,), home=home, shell="bash"))

    return run


def chapter(folder: Path, *, quick: bool = False) -> Chapter:
    root = places.project(folder)
    with chdir(root):  # nah reads the working directory
        beside = (
            _beside(root, "new commands", everyday.new, 2 if quick else 40),
            _beside(root, "repeated commands", everyday.again, 2 if quick else 40),
        )
        shapes = _shapes(root, 1 if quick else 5)
        rules = _rules(root, (10, 100) if quick else (10, 100, 1_000, 10_000), 1 if quick else 15)
        lengths = _lengths(root, (100, 1_000) if quick else (100, 1_000, 10_000, 100_000, 1_000_000), 1 if quick else 5)
        limits = _limits(root, {} if quick else LIMITS)
        batch = _batch(root, 50 if quick else 5_000)
        ran = _scripts(root, 1 if quick else 20)
    sources = _from_sources(root, 1 if quick else 10)
    many = rules.lines[DECISION]
    long = [each for each in lengths.lines[DECISION] if each[0] <= 100_000]
    new, again = beside
    mine, spread = new.row(ASSENT), shapes.rows[0]
    return Chapter(
        "A decision in process",
        f"{len(everyday.COMMANDS)} everyday commands, the whole path: parse the shell, observe a real project in a git "
        "repository, decide. The gates take turns in each round. Openharness does not parse the shell: it compares the "
        "text with lists. As a process, `assent check --batch` answers "
        f"{batch:,.0f} calls a second, start included. {_made()} Without a C compiler, from the sources alone, "
        f"a new command takes {sources:,.0f} µs of CPU in this run.",
        tables=tuple(table for table in (new, again, shapes, ran, limits) if table.rows),
        curves=(rules, lengths),
        aims=(
            Aim("new commands: median", 150.0, mine.median if mine else None, unit="µs"),
            Aim("new commands: 99th percentile", 1_000.0, mine.p99 if mine else None, unit="µs"),
            Aim("new commands: 99th percentile of CPU time", 1_000.0, mine.cpu_p99 if mine else None, unit="µs"),
            Aim("new commands: nah's median to ours", 10, new.ratio(NAH, ASSENT), most=False),
            Aim("repeated commands: nah's median to ours", 10, again.ratio(NAH, ASSENT), most=False),
            *(
                Aim(f"{what} commands: median to that of {who}", 5, table.ratio(ASSENT, who))
                for what, table in (("new", new), ("repeated", again))
                for who in (OPENHARNESS, RULED)
            ),
            Aim(f"{SHAPES} commands of every shape: 99th percentile of CPU time", 2_000.0, spread.cpu_p99, unit="µs"),
            Aim("a script of 200 lines that is new: slowest median", 30_000.0, _slowest(ran, FIRST), unit="µs"),
            Aim("the same again: slowest median", 200.0, _slowest(ran, AGAIN), unit="µs"),
            Aim(f"{many[-1][0]:,.0f} rules to {many[0][0]:.0f}", 1.5, many[-1][1] / many[0][1]),
            Aim(
                f"time per character at {long[-1][0]:,.0f} characters to that at {long[0][0]:,.0f}",
                1.5,
                (long[-1][1] / long[-1][0]) / (long[0][1] / long[0][0]),
            ),
        ),
    )


def _beside(root: Path, what: str, jobs: Jobs, rounds: int) -> Table:
    gates: dict[str, Run | str] = {
        ASSENT: deciding(gate(), root),
        OPENHARNESS: peers.openharness(),
        RULED: peers.openharness(len(shipped.default_rules("deny")) + len(shipped.default_rules("ask"))),
        NAH: peers.nah(),
    }
    runs = {who: calling(run, jobs) for who, run in gates.items() if not isinstance(run, str)}
    missing = {who: why for who, why in gates.items() if isinstance(why, str)}
    return Table(f"One decision: {what}", rows_of(in_turns(runs, rounds, warm=2), missing), ASSENT)


def _shapes(root: Path, rounds: int) -> Table:
    """New commands of every shape; the slowest matter."""
    taken = in_turns({ASSENT: calling(deciding(gate(), root), realistic.new)}, rounds)
    return Table("One decision: commands of every shape", rows_of(taken), "")


def _scripts(root: Path, rounds: int) -> Table:
    """A call that runs a script, with all that the script does."""
    run = deciding(gate(), root)
    firsts = {language + FIRST: calling(run, _written(root, language)) for language in scripts.SCRIPTS}
    taken = in_turns(firsts, rounds)
    commands = {language: scripts.write(root, language, rounds) for language in scripts.SCRIPTS}
    repeated = {language + AGAIN: calling(run, _repeated(command)) for language, command in commands.items()}
    taken |= in_turns(repeated, rounds, warm=2)
    return Table("One decision: a script of 200 lines", rows_of(taken), "")


def _written(root: Path, language: str) -> Jobs:
    """A different script in each round."""
    return lambda number: [scripts.write(root, language, number)]


def _repeated(command: str) -> Jobs:
    return lambda number: [command] * 20


def _slowest(table: Table, what: str) -> float | None:
    return max((row.median for row in table.rows if row.who.endswith(what)), default=None)


def _rules(root: Path, sizes: tuple[int, ...], rounds: int) -> Curve:
    runs = {str(size): calling(deciding(gate(size), root), everyday.new) for size in sizes}
    taken = in_turns(runs, rounds, warm=2)
    points = tuple((float(size), taken[str(size)].cpu) for size in sizes)
    return Curve("With more rules", "rules, none matching", {DECISION: points})


def _lengths(root: Path, sizes: tuple[int, ...], rounds: int) -> Curve:
    run = deciding(gate(), root)
    runs = {str(size): calling(run, _ending(PIECE * (size // len(PIECE)))) for size in sizes}
    taken = in_turns(runs, rounds)
    points = tuple((float(size), min(taken[str(size)].cpus)) for size in sizes)
    return Curve("With longer commands", "characters", {DECISION: points}, flat=False)


def _ending(text: str) -> Jobs:
    """The text with a different end in each round."""
    return lambda number: [f"{text} #{number}"]


def _limits(root: Path, commands: dict[str, str]) -> Table:
    run = deciding(gate(), root)
    runs = {who: calling(run, _ending(text)) for who, text in commands.items()}
    return Table("Input at the limits (text beyond 128 kB is only searched, and asks)", rows_of(in_turns(runs, 3)), "")


def _made() -> str:
    if str(engine.__file__).endswith(".so"):
        return "The decision path is compiled, as in the wheel that `make wheel` builds."
    return "The decision path is not compiled."


def _from_sources(root: Path, rounds: int) -> float:
    """The median of new commands in a process that has only the sources."""
    repository = Path(__file__).parents[1]
    environ = {**places.environ(root.parent, root), "PYTHONPATH": f"{repository / 'src'}:{repository}"}
    script = f"from bench import decisions; print(decisions.median({str(root)!r}, {rounds}))"
    done = subprocess.run([sys.executable, "-c", script], env=environ, stdout=subprocess.PIPE, check=True)
    return float(done.stdout)


def median(root: str, rounds: int) -> float:
    """The median CPU time of a new command, in µs."""
    return in_turns({ASSENT: calling(deciding(gate(), Path(root)), everyday.new)}, rounds, warm=2)[ASSENT].cpu


def _batch(root: Path, lines: int) -> float:
    """Calls a second through `assent check --batch`, best of two."""
    commands = [command for number in range(lines // len(everyday.COMMANDS) + 1) for command in everyday.new(number)]
    rows = [{"tool": "bash", "input": {"command": each}, "cwd": str(root)} for each in commands[:lines]]
    text = "".join(json.dumps(row) + "\n" for row in rows).encode()
    environ = {**places.environ(root.parent, root), "PYTHONPATH": str(Path(str(engine.__file__)).parents[1])}
    rates = []
    for _ in range(2):
        started = time.perf_counter()
        words = [sys.executable, "-m", "assent", "check", "--batch"]
        subprocess.run(words, input=text, env=environ, stdout=subprocess.DEVNULL, check=True)
        rates.append(lines / (time.perf_counter() - started))
    return max(rates)
