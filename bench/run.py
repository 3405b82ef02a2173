"""How long a whole decision takes in process, beside two peers, interleaved in one run. Run by `make bench`.

The workspace is a real folder with a repository, so that looking at the host costs what it costs. Machines are noisy:
compare the columns of one run, never two runs."""

from __future__ import annotations

import gc
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from assent.contract.call import Call
from assent.gate import Gate
from assent.policy.document import document_of
from assent.policy.rules import Origin
from assent.policy.settings import combine

Run = Callable[[str], object]

# `<n>` is another number in every round, where each command is to be one that was never met before.
COMMANDS = [
    "git status && ls -la src<n>",
    "rg -n 'def main<n>' src tests | head -40",
    "sed -n '1,120p' src/app<n>/server.py",
    "grep -rn \"TODO<n>\" --include='*.py' src | wc -l",
    "git diff HEAD~1 -- src/app<n>.py",
    "git log --oneline -20<n>",
    "cat package<n>.json | jq '.scripts'",
    "find . -name '*<n>.ts' -not -path './node_modules/*' | sort | head -50",
    "ls -la src/components<n> && wc -l src/components<n>/*.tsx",
    "cd packages/core<n> && npm test -- --run 2>&1 | tail -30",
    "go test ./pkg<n>/... 2>&1 | grep -v 'no test files' | head -20",
    "python3 -m pytest -q tests/unit/test_<n>.py",
    "npm run lint<n> && npm run build",
    "gh pr view 12<n> --json title,body,state",
    "mkdir -p build<n> && cp -r assets build<n>/",
    "rm -rf node_modules/.cache<n>",
    "git add -A && git commit -m 'fix: handle empty input <n>'",
    'for f in src<n>/*.py; do echo "== $f"; head -5 "$f"; done',
    "curl -s https://api.example.com/v1/items/<n> | jq '.items[0]'",
    "docker compose ps && docker compose logs --tail=20 web<n>",
    "kubectl get pods -n prod<n> -o wide",
    'echo "done <n>: $(date -u +%H:%M)" >> notes.txt',
    "test -f .env<n> && echo yes || echo no",
    "awk -F: '{print $1}' data<n>.csv | sort | uniq -c | sort -rn | head",
]
ROUNDS = 60
LENGTHS = (100, 1_000, 10_000, 100_000, 1_000_000)
LIMITS = {
    "1 MB of one word": "echo " + "a" * 1_000_000,
    "1 MB of commands": "cat src/app.py; " * 62_500,
    "10,000 commands": "; ".join(f"cat src/app{number}.py" for number in range(10_000)),
    "500 levels of $(…)": "echo " + "$(echo " * 500 + "x" + ")" * 500,
    "500 levels of sudo": "sudo " * 500 + "ls",
    "500 levels of if": "if true; then " * 500 + "ls" + "; fi" * 500,
}


# ---------------------------------------------------------------- who is measured


def workspace(folder: Path) -> Path:
    """A small project in a repository, as a session would have it."""
    root = folder / "repo"
    for name in ("src/components", "tests/unit", "packages/core", "assets", ".git/objects", ".git/refs", ".git/hooks"):
        (root / name).mkdir(parents=True)
    for name in ("src/app.py", "src/main.py", "src/util.py", "package.json", "notes.txt", "data.csv"):
        (root / name).touch()
    (root / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (root / ".git/config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = false\n")
    return root


def assent_gate(rules: int = 0) -> Gate:
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
    return Gate(combine([document_of({"deny": deny}, "bench", Origin.USER)]))


def ours(gate: Gate, root: Path) -> Run:
    folder, home = str(root), str(root.parent)

    def run(command: str) -> object:
        return gate.decide(Call("bash", {"command": command}, cwd=folder, roots=(folder,), home=home, shell="bash"))

    return run


def openharness() -> Run | None:
    """Its checker as it comes: no rule of its own, and with a command it compares texts."""
    try:
        from openharness.config.settings import PermissionSettings  # type: ignore[import-not-found,unused-ignore]
        from openharness.permissions.checker import PermissionChecker  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return None
    checker = PermissionChecker(PermissionSettings())
    return lambda command: checker.evaluate("bash", is_read_only=False, command=command)


def nah() -> Run | None:
    try:
        from nah.bash import classify_command  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return None
    return lambda command: classify_command(command)


# ---------------------------------------------------------------- measuring


def measure(gates: dict[str, Run], rounds: int = ROUNDS, *, vary: bool = True) -> dict[str, list[float]]:
    """Microseconds of every decision. On each command the gates take turns in an order drawn by lot: who comes behind
    a slow one finds the processor's caches full of its things."""
    lot = random.Random(1)
    order = list(gates.items())
    times: dict[str, list[float]] = {name: [] for name in gates}
    for run in gates.values():
        for command in COMMANDS:
            run(command.replace("<n>", ""))
    gc.collect()
    gc.disable()
    for number in range(rounds):
        for command in (each.replace("<n>", str(number) if vary else "") for each in COMMANDS):
            lot.shuffle(order)
            for name, run in order:
                start = time.perf_counter_ns()
                run(command)
                times[name].append((time.perf_counter_ns() - start) / 1000)
    gc.enable()
    return times


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def milliseconds(run: Run, command: str) -> float:
    """The best of three, of which none was met before."""
    times = []
    for number in range(3):
        start = time.perf_counter_ns()
        run(f"{command} #{number}")
        times.append((time.perf_counter_ns() - start) / 1_000_000)
    return min(times)


# ---------------------------------------------------------------- telling


def everyday(gates: dict[str, Run]) -> None:
    """One decision, on commands that were never met and on the same ones again."""
    for vary, what in ((True, "never met before"), (False, "met before, as agents repeat themselves")):
        times = measure(gates, vary=vary)
        mine = statistics.median(times["assent"])
        print(f"one decision on {len(COMMANDS)} everyday commands, {what}: {ROUNDS} rounds, microseconds")
        print(f"{'gate':12} {'median':>9} {'p99':>9} {'ratio of medians':>17}")
        for name, values in times.items():
            median = statistics.median(values)
            print(f"{name:12} {median:9.1f} {percentile(values, 0.99):9.1f} {median / mine:16.2f}x")
        print()


def growth(root: Path) -> None:
    """What many rules and long commands cost."""
    sizes = {f"{count} rules": ours(assent_gate(count), root) for count in (10, 10_000)}
    grown = {name: statistics.median(values) for name, values in measure(sizes, 20).items()}
    few, many = grown["10 rules"], grown["10000 rules"]
    print("with more rules, a fifth of them with a leading wildcard, none matching")
    print(f"10 rules {few:.1f}, 10,000 rules {many:.1f}: {many / few:.2f}x\n")
    run = ours(assent_gate(), root)
    print("with longer commands, milliseconds (beyond 128 kB the rest is searched, and asked about)")
    for length in LENGTHS:
        command = "cat src/app.py; " * (length // 16)
        print(f"{length:9,} characters {milliseconds(run, command):9.2f}")
    print("\nat the limits, milliseconds")
    for name, command in LIMITS.items():
        print(f"{name:20} {milliseconds(run, command):9.2f}")


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        root = workspace(Path(folder).resolve())
        gates = {"assent": ours(assent_gate(), root)}
        for name, made in (("openharness", openharness()), ("nah", nah())):
            if made is None:
                print(f"{name}: not installed, left out", file=sys.stderr)
            else:
                gates[name] = made
        everyday(gates)
        growth(root)
    return 0


if __name__ == "__main__":
    sys.exit(main())
