"""`assent test`: decides the cases that people keep beside their rules, and shows those that end otherwise."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from time import perf_counter

from assent.cli import junit
from assent.cli.command import at_least_one, place, takes, text
from assent.cli.policy_cases import SUFFIX
from assent.cli.policy_trial import CaseGroup, CaseResult, open_group, run_cases
from assent.contract import PayloadError
from assent.contract.display import one_line, visible
from assent.state import files

DESCRIPTION = (
    "Decide the cases beside your rules ([[test]] tables) and in *.assent-test.toml files, and print each that ends "
    "otherwise, with its receipt. A case is decided by the policy of its own file and the shipped rules, on a host "
    "that is made up, so the result is the same on every machine. Runs no call and records nothing."
)
EPILOG = "exit status: 0 all cases hold, 1 some do not, 2 error"
NO_CASES = 'no test found; add `[[test]]`, `call = "bash git push"` and `expect = "ask"` to a policy, or name a file'
SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "target", "vendor"})
MOST_FOLDERS = 20_000
MOST_SHOWN = 50
PATHS = "policies, test files, or folders to search (default: the policy files in force, and the current folder)"
arguments = takes(
    {
        "paths": {"nargs": "*", "metavar": "PATH", "help": PATHS},
        "--policy": text("FILE", "decide every case by this policy instead of its own"),
        "--junit": text("FILE", "write the results as JUnit XML too"),
        "--jobs": {"metavar": "N", "type": at_least_one, "default": 0, "help": "processes (default: one per core)"},
    }
)


def run(options: argparse.Namespace) -> int:
    begun = perf_counter()
    groups = [open_group(path, policy=options.policy) for path in found(options.paths)]
    groups = [group for group in groups if group.cases]
    if not groups:
        raise PayloadError(NO_CASES)
    results = run_cases(groups, options.jobs or len(os.sched_getaffinity(0)))
    seconds = perf_counter() - begun
    if options.junit:
        files.replace(os.path.abspath(options.junit), junit.report(groups, results, seconds).encode(), 0o644)
    return show(groups, results, seconds)


def found(paths: Sequence[str]) -> list[str]:
    """The files to read, each once."""
    return list(dict.fromkeys(_named(paths) if paths else _in_force()))


def _in_force() -> Iterator[str]:
    here = place()
    user = files.user_file(here.state) if here.state else ""
    yield from (path for path in (files.MANAGED_FILE, user) if path and os.path.lexists(path))
    yield from below(os.curdir)


def _named(paths: Sequence[str]) -> Iterator[str]:
    for path in paths:
        if os.path.isdir(path):
            yield from below(path)
        else:
            yield path


def below(folder: str) -> Iterator[str]:
    """The project's file of a folder, and the test files below it."""
    project = files.project_file(os.path.abspath(folder))
    if os.path.lexists(project):
        yield os.path.relpath(project)
    for count, (where, folders, names) in enumerate(os.walk(folder), 1):
        if count > MOST_FOLDERS:
            raise PayloadError(f"more than {MOST_FOLDERS} folders below `{visible(folder)}`; name the test files")
        folders[:] = sorted(each for each in folders if not each.startswith(".") and each not in SKIPPED)
        yield from (os.path.normpath(os.path.join(where, name)) for name in sorted(names) if name.endswith(SUFFIX))


# ---------------------------------------------------------------- what is printed


def show(groups: Sequence[CaseGroup], results: Sequence[CaseResult], seconds: float) -> int:
    cases = [case for group in groups for case in group.cases]
    failed = [(case, result) for case, result in zip(cases, results, strict=True) if result.misses]
    for case, result in failed[:MOST_SHOWN]:
        print(f"FAIL  {visible(case.file)}:{case.line}  {one_line(case.name, 200)}")
        print("\n".join(f"  {one_line(each, 400)}" for each in result.misses))
        print("".join(f"  | {line}\n" for line in result.receipt.splitlines()))
    if len(failed) > MOST_SHOWN:
        print(f"and {len(failed) - MOST_SHOWN} more (--junit has them all)\n")
    counted = (
        f"{len(cases)} case{'s' if len(cases) != 1 else ''} in {len(groups)} file{'s' if len(groups) != 1 else ''}"
    )
    ended = f"{len(failed)} failed" if failed else "all hold"
    print(f"{counted}: {ended} ({seconds:.2f} s)", file=sys.stdout)
    return 1 if failed else 0
