"""Says which verdicts on the corpus changed against a commit: `make corpus`, or `make corpus BASE=main~3`.

Answers every line of tests/corpus with the code of that commit and with the current code. Judges neither:
tests/test_corpus.py checks the answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
NOT_OF_THE_CALL = ("expect", "code", "note")


def lines() -> tuple[list[str], dict[str, str]]:
    """The corpus as input for `assent check --batch`, and what each line expects, by its id, in the same order."""
    calls: list[str] = []
    wanted: dict[str, str] = {}
    for path in sorted((ROOT / "tests/corpus").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.strip():
                row = {"cwd": "/workspace/repo", "home": "/home/user", "facts": {"symlinks": {}}, **json.loads(line)}
                wanted[str(row["id"])] = str(row.get("expect"))
                calls.append(json.dumps({key: value for key, value in row.items() if key not in NOT_OF_THE_CALL}))
    return calls, wanted


def answers(source: Path, calls: list[str]) -> list[tuple[str, str]]:
    """Outcome and code for each line, by the code in a folder, on a machine without configuration.

    A line with a key that this code does not know yet is answered with an error, and without its id."""
    with tempfile.TemporaryDirectory() as state:
        env = {**os.environ, "PYTHONPATH": str(source), "ASSENT_HOME": state, "ASSENT_MODE": ""}
        words = [sys.executable, "-m", "assent", "check", "--batch", "--cwd", "/workspace/repo"]
        done = subprocess.run(words, input="\n".join(calls), env=env, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 2) or done.stdout.count("\n") != len(calls):
        raise SystemExit(f"{source} does not answer the corpus:\n{done.stderr[-2000:]}")
    found = map(json.loads, done.stdout.splitlines())
    return [(str(answer["outcome"]), str(answer["code"])) for answer in found]


def exported(base: str, into: Path) -> Path:
    """The source at a commit."""
    tar = subprocess.run(["git", "archive", base, "src"], cwd=ROOT, capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", str(into)], input=tar, check=True)
    return into / "src"


def main(arguments: list[str]) -> int:
    base = arguments[0] if arguments else "HEAD"
    calls, wanted = lines()
    with tempfile.TemporaryDirectory() as folder:
        before = answers(exported(base, Path(folder)), calls)
    after = answers(ROOT / "src", calls)
    compared = zip(wanted.items(), before, after, strict=True)
    changed = [line for line in compared if line[1] != line[2]]
    for (name, expected), old, new in changed:
        print(f"{name}: {' '.join(old)} → {' '.join(new)}  (expected {expected})")
    verdicts = sum(1 for _, old, new in changed if old[0] != new[0])
    print(f"{len(calls)} lines, {verdicts} verdicts and {len(changed) - verdicts} codes changed against {base}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
