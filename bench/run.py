"""How long a whole decision takes in process, beside two peers, interleaved in one run. Run by `make bench`.

Machines are noisy: compare the columns of one run, never two runs."""

from __future__ import annotations

import gc
import re
import statistics
import sys
import time
from collections.abc import Callable

from assent.contract.call import Call
from assent.gate import Gate
from assent.policy.document import document_of
from assent.policy.rules import Origin
from assent.policy.settings import combine

COMMANDS = [
    "git status && ls -la",
    "rg -n 'def main' src tests | head -40",
    "sed -n '1,120p' src/app/server.py",
    "grep -rn \"TODO\" --include='*.py' src | wc -l",
    "git diff HEAD~1 -- src/app.py",
    "git log --oneline -20",
    "cat package.json | jq '.scripts'",
    "find . -name '*.ts' -not -path './node_modules/*' | sort | head -50",
    "ls -la src/components && wc -l src/components/*.tsx",
    "cd packages/core && npm test -- --run 2>&1 | tail -30",
    "go test ./... 2>&1 | grep -v 'no test files' | head -20",
    "python3 -m pytest -q tests/unit",
    "npm run lint && npm run build",
    "gh pr view 123 --json title,body,state",
    "mkdir -p build && cp -r assets build/",
    "rm -rf node_modules/.cache",
    "git add -A && git commit -m 'fix: handle empty input'",
    'for f in src/*.py; do echo "== $f"; head -5 "$f"; done',
    "curl -s https://api.example.com/v1/items | jq '.items[0]'",
    "docker compose ps && docker compose logs --tail=20 web",
    "kubectl get pods -n prod -o wide",
    'echo "done: $(date -u +%H:%M)" >> notes.txt',
    "test -f .env && echo yes || echo no",
    "awk -F: '{print $1}' data.csv | sort | uniq -c | sort -rn | head",
]
ROOT, HOME = "/workspace/repo", "/home/user"
ROUNDS = 60
NAME = re.compile(r"\b(src|app|notes|data|core|main|items|assets|prod|unit|cache|input|web|package)\b")


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


def ours(gate: Gate) -> Callable[[str], object]:
    def run(command: str) -> object:
        return gate.decide(Call("bash", {"command": command}, cwd=ROOT, roots=(ROOT,), home=HOME, shell="bash"))

    return run


def openharness() -> Callable[[str], object] | None:
    try:
        from openharness.config.settings import PermissionSettings  # type: ignore[import-not-found,unused-ignore]
        from openharness.permissions.checker import PermissionChecker  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return None
    checker = PermissionChecker(PermissionSettings())
    return lambda command: checker.evaluate("bash", is_read_only=False, command=command)


def nah() -> Callable[[str], object] | None:
    try:
        from nah.bash import classify_command  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return None
    return lambda command: classify_command(command)


def varied(command: str, number: int) -> str:
    """The same command on other files, as an agent goes on to the next one: nothing whole is met twice."""
    return NAME.sub(lambda found: f"{found[1]}{number}", command)


def measure(
    gates: dict[str, Callable[[str], object]], rounds: int = ROUNDS, *, vary: bool = True
) -> dict[str, list[float]]:
    """Microseconds of every decision, the gates taking turns on each command."""
    times: dict[str, list[float]] = {name: [] for name in gates}
    for command in COMMANDS:
        for run in gates.values():
            run(command)
    gc.collect()
    gc.disable()
    for number in range(rounds):
        for command in (varied(each, number) if vary else each for each in COMMANDS):
            for name, run in gates.items():
                start = time.perf_counter_ns()
                run(command)
                times[name].append((time.perf_counter_ns() - start) / 1000)
    gc.enable()
    return times


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def main() -> int:
    gates = {"assent": ours(assent_gate())}
    for name, made in (("openharness", openharness()), ("nah", nah())):
        if made is None:
            print(f"{name}: not installed, left out", file=sys.stderr)
        else:
            gates[name] = made
    for vary, what in ((True, "on other files each round"), (False, "the same again each round")):
        times = measure(gates, vary=vary)
        mine = statistics.median(times["assent"])
        print(f"one decision on {len(COMMANDS)} everyday commands, {what}, {ROUNDS} rounds, microseconds")
        print(f"{'gate':12} {'median':>9} {'p99':>9} {'ratio of medians':>17}")
        for name, values in times.items():
            median = statistics.median(values)
            print(f"{name:12} {median:9.1f} {percentile(values, 0.99):9.1f} {median / mine:16.2f}x")
        print()
    sizes = {f"{count} rules": ours(assent_gate(count)) for count in (10, 10_000)}
    grown = {name: statistics.median(values) for name, values in measure(sizes, 20).items()}
    few, many = grown["10 rules"], grown["10000 rules"]
    print("with more rules, a fifth of them with a leading wildcard, none matching")
    print(f"10 rules {few:.1f}, 10,000 rules {many:.1f}: {many / few:.2f}x")
    return 0


if __name__ == "__main__":
    sys.exit(main())
