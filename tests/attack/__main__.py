"""`python -m tests.attack`: runs every command that the tables call read-only, if its program is installed, with
hostile files and variables, each alone, and reports everything it did beyond reading.

Only what the gate allows is run: a finding is a command that was allowed and ran the canary program, changed a file,
reached the network or printed a secret. Everything happens in a network namespace of its own and in bubblewrap."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from assent.cli.check import BatchCheck
from assent.programs.table import shipped
from tests.attack import hostile
from tests.attack.sandbox import Listener, Tree, run
from tests.cases import batch

INSIDE = "ASSENT_ATTACK_INSIDE"


def examples(programs: list[str]) -> Iterator[tuple[str, str]]:
    """The programs that are installed, with the commands that their rows call safe."""
    for name in shipped.names():
        program = name.partition(" ")[0]
        if name.startswith("_") or (programs and program not in programs):
            continue
        safe = shipped.keys(name).get("safe", ())
        assert isinstance(safe, (list, tuple))
        for command in safe:
            first = shlex.split(command)[0]
            if shutil.which(first) and not (first.startswith("./") or "/" in first):
                yield name, command


class Condition:
    """One hostile thing: a file, a program, a setting of the repository, or a variable before the command."""

    def __init__(self, name: str, *, before: str = "", file: str = "", text: str = "", key: str = "") -> None:
        self.name, self.before, self.file, self.text, self.key = name, before, file, text, key

    def lay(self, tree: Tree) -> None:
        if self.file:
            tree.put(self.file, self.text, runs=self.text.startswith("#!"))
        if self.key:
            subprocess.run(["git", "config", self.key, tree.filled(self.text)], cwd=tree.work, check=True)

    def lift(self, tree: Tree) -> None:
        if self.file:
            (tree.work / self.file).unlink(missing_ok=True)
        if self.key:
            subprocess.run(["git", "config", "--unset-all", self.key], cwd=tree.work, check=True)


def conditions(tree: Tree) -> list[Condition]:
    """Everything hostile, each by itself."""
    program = f"#!/bin/sh\nexec {hostile.RUN}\n"
    found = [Condition(name, file=name, text=text) for name, text in hostile.FILES.items()]
    found += [Condition(name, file=name, text=program) for name in hostile.PROGRAMS]
    found += [Condition(f"git's {key}", key=key, text=text) for key, text in hostile.REPOSITORY.items()]
    for name, value in hostile.VARIABLES.items():
        found.append(Condition(f"${name}", before=f"{name}={shlex.quote(tree.filled(value))} "))
    return found


class Trial:
    """One command under hostile conditions: those that the gate allows together are tried together first."""

    def __init__(self, gate: BatchCheck, listener: Listener, tree: Tree, command: str) -> None:
        self.gate, self.listener, self.tree, self.command = gate, listener, tree, command
        self.ran = 0

    def allows(self, group: list[Condition]) -> bool:
        call = {"tool": "bash", "input": {"command": self.text(group)}, "cwd": str(self.tree.work)}
        line = json.dumps({"id": "x", **call, "home": str(self.tree.home)})
        return self.gate.answer(line.encode(), 0)["outcome"] == "allow"

    def text(self, group: list[Condition]) -> str:
        return "".join(condition.before for condition in group) + self.command

    def permitted(self, everything: list[Condition]) -> list[Condition]:
        """The conditions under which the gate allows the command, each by itself."""
        found = []
        for condition in everything:
            condition.lay(self.tree)
            if self.allows([condition]):
                found.append(condition)
            condition.lift(self.tree)
        return found

    def findings(self, group: list[Condition]) -> list[tuple[str, str]]:
        """Findings under conditions that are allowed one by one: tried together, and apart if that finds something or
        is not allowed."""
        for condition in group:
            condition.lay(self.tree)
        found: list[str] = []
        allowed = self.allows(group)
        if allowed:
            self.ran += 1
            found = run(self.tree, self.text(group), self.listener)
        for condition in group:
            condition.lift(self.tree)
        for mark in ("ran", "written"):
            (self.tree.marks / mark).unlink(missing_ok=True)
        if len(group) < 2 or (allowed and not found):
            return [(each, group[0].name if group else "nothing") for each in found]
        return [each for condition in group for each in self.findings([condition])]


def operands(tree: Tree, command: str) -> None:
    """Make the files that a command names, so that it finds something. What hostile files are in is a folder."""
    folders = {parent for name in (*hostile.FILES, *hostile.PROGRAMS) for parent in (tree.work / name).parents}
    for word in shlex.split(command)[1:]:
        plain = word.rpartition("=")[2]
        if plain and plain[0] not in "-+/~$:{'\"" and "*" not in plain and ".." not in plain and len(plain) < 40:
            path = tree.work / plain
            under_a_file = any(parent.is_file() for parent in path.parents)  # `git branch x x/y`
            if path in folders:
                path.mkdir(parents=True, exist_ok=True)
            elif not path.exists() and not plain.endswith("/") and not under_a_file:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("hello\n")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.attack", description="Attacks what the tables call read-only."
    )
    parser.add_argument("program", nargs="*", help="only these programs")
    given = parser.parse_args()
    if not shutil.which("bwrap"):
        sys.exit("attack: needs bubblewrap (Debian, Ubuntu: apt-get install bubblewrap)")
    if INSIDE not in os.environ:
        inner = f"ip link set lo up && exec {shlex.join([sys.executable, '-m', 'tests.attack', *given.program])}"
        return subprocess.run(["unshare", "-rn", "sh", "-c", inner], env={**os.environ, INSIDE: "1"}).returncode
    listener, gate = Listener(), batch()
    tried, ran, found = Counter[str](), Counter[str](), Counter[str]()
    wanted = list(examples(given.program))
    for place, (name, command) in enumerate(wanted):
        if sys.stderr.isatty():
            print(f"\r{place}/{len(wanted)} {command[:60]:60}", end="", file=sys.stderr)
        with tempfile.TemporaryDirectory(prefix="attack-") as folder:
            tree = Tree(Path(folder).resolve(), listener.port)
            subprocess.run(["git", "init", "-q", "."], cwd=tree.work, check=True)
            operands(tree, command)
            trial = Trial(gate, listener, tree, command)
            everything = conditions(tree)
            alone = trial.findings([])
            for finding, surroundings in [*alone, *([] if alone else trial.findings(trial.permitted(everything)))]:
                if finding.startswith("sent name") and shipped.row(name).service:
                    continue  # it asks its own service, whose name cannot be looked up here
                found[name] += 1
                print(f"{name}: `{command}` with {surroundings}: {finding}", flush=True)
            tried[name] += 1 + len(everything)
            ran[name] += trial.ran
    programs = {name.partition(" ")[0] for name in tried}
    print(
        f"{len(programs)} programs, {len(tried)} rows, {tried.total()} conditions, {ran.total()} runs that are allowed"
    )
    print(f"{found.total()} findings in {len(found)} rows")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
