"""`assent import`: turns an agent program's own permission settings into rules of the user's policy.

An allow that is broader than it looks is not imported, but reported."""

from __future__ import annotations

import argparse
import glob
import os
import subprocess
import sys
from dataclasses import dataclass

from assent.agents import permissions
from assent.agents.permissions import LAYERS, Permission
from assent.cli.command import PROJECT_FOLDER, agent_program, flag, place, takes
from assent.contract import PayloadError, PolicyError, SettingsError
from assent.contract.approval import Grant, Scope
from assent.contract.display import one_line
from assent.engine import configure, journal
from assent.engine.memory import Memory
from assent.hook import settings_file
from assent.policy import rewrite, rule_width
from assent.policy.lint import covers
from assent.policy.parse import parse_rule
from assent.state import files
from assent.state.files import state_folder

DESCRIPTION = (
    "Turn the permission settings of an agent program into rules of your policy, and report which of them have no "
    "effect or are broader than they look. Changes nothing without --write."
)
NEW = "# Your Assent policy on this machine. `assent policy show` shows what is in force; see docs/rules.md.\n"
READING = ("read", "list", "search")  # allowed nearly everywhere without a rule


@dataclass(frozen=True, slots=True)
class ImportFinding:
    """An entry that was not imported unchanged, or that needs a remark."""

    file: str
    layer: str
    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Import:
    """The rules to import, by layer, and findings about the rest. `here` holds rules that the person allowed in this
    project alone."""

    rules: dict[str, tuple[str, ...]]
    findings: tuple[ImportFinding, ...]
    files: tuple[str, ...]
    here: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        return sum(map(len, self.rules.values()))


arguments = takes(
    {
        "runtime": agent_program(permissions.RUNTIMES),
        "--write": flag("add the rules to ~/.assent/config.toml"),
        "--dry-run": flag("show what would be added to that file, and stop"),
        "--cwd": PROJECT_FOLDER,
    }
)


def run(options: argparse.Namespace) -> int:
    if options.write and options.dry_run:
        raise PayloadError("choose one of --write and --dry-run")
    here = place(options.cwd)
    found = gather(options.runtime, here.home, here.project)
    report(found)
    path = files.user_file(here.state)
    before = settings_file.text_of(path)
    try:
        after = added(before if before is not None else NEW, found)
    except PolicyError as error:
        raise PolicyError(f"{error}; the rules are listed above", file=path) from None
    print(settings_file.difference(path, before or "", after) if found.count else "no rule is added")
    if options.write and found.count and after != before:
        save(here.state, path, before, after)
        print(f"wrote {path}\nnext: assent policy show")
    if options.write:
        keep(found, here)
    elif found.here or (found.count and after != before):
        print("nothing was changed; --write adds these rules")
    return 0


def keep(found: Import, here: configure.Place) -> None:
    """Save what was allowed in this project alone as grants of the project, unless they exist."""
    memory = Memory(here.state)
    now = memory.clock()
    known = {grant.rules for grant in memory.grants.live("", here.project, now)}
    for rule in found.here:
        if (rule,) in known:
            continue
        grant = Grant(
            journal.new_id(),
            Scope.PROJECT,
            rules=(rule,),
            project=here.project,
            made=now,
            who=memory.who,
            channel="import",
            shown=rule,
        )
        memory.trail.append(journal.of_grant(grant, time=now))
        memory.grants.add(grant)
        print(f"remembered for {here.project}: {one_line(rule)}")


def save(state: str, path: str, before: str | None, after: str) -> None:
    """Write the user's policy, and keep a copy of the old one."""
    state_folder(state)
    if before is not None:
        settings_file.keep_copy(state, path, before)
    settings_file.replace(path, after)


def gather(runtime: str, home: str, project: str) -> Import:
    """Read all settings files of an agent program."""
    source = permissions.load(runtime)
    taken: dict[str, dict[str, None]] = {layer: {} for layer in LAYERS}
    findings: list[ImportFinding] = []
    seen: list[str] = []
    answered: dict[str, None] = {}
    for where in source.places:
        for path in sorted(glob.glob(settings_file.expanded(where, home, project))):
            if path in seen:  # the project is the home folder
                continue
            seen.append(path)
            try:
                entries = source.read(settings_file.text_of(path) or "", path)
            except SettingsError as error:
                findings.append(ImportFinding(path, "", "", str(error)))
                continue
            local = not where.startswith(("~", "/"))
            own = where in source.own and not shared(path, project)
            for entry in entries:
                mine = own and entry.layer == "allow"
                rule, why = weighed(entry, local=local and not mine)
                if why:
                    findings.append(ImportFinding(path, entry.layer, entry.text, why))
                if rule:
                    (answered if mine else taken[entry.layer])[rule] = None
    for layer, rule, why in shadowed(taken):
        findings.append(ImportFinding("", layer, rule, why))
        del taken[layer][rule]
    rules = {layer: tuple(each) for layer, each in taken.items() if each}
    return Import(rules, tuple(findings), tuple(seen), tuple(each for each in answered if each not in taken["allow"]))


def shared(path: str, project: str) -> bool:
    """Whether a file is in the project's repository, and so not its user's own; assumed if unknown.

    Git runs without the commands that the repository's settings could make it run."""
    words = ["git", "-c", "core.fsmonitor=false", "ls-files", "--error-unmatch", "--", path]
    try:
        done = subprocess.run(
            words, cwd=project, env={**os.environ, "LC_ALL": "C"}, capture_output=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return True
    return done.returncode != 1 and b"not a git repository" not in done.stderr


def shadowed(taken: dict[str, dict[str, None]]) -> list[tuple[str, str, str]]:
    """The rules without effect: a stricter one matches first, or an earlier one says the same."""
    parsed = {layer: [(text, parse_rule(text)) for text in rules] for layer, rules in taken.items()}
    found = []
    for layer, stricter in (("allow", ("deny", "ask")), ("ask", ("deny",)), ("deny", ())):
        for at, (text, rule) in enumerate(parsed[layer]):
            before = next((other for each in stricter for other, wide in parsed[each] if covers(wide, rule)), "")
            again = next((other for other, wide in parsed[layer][:at] if covers(wide, rule)), "")
            if before:
                found.append((layer, text, f"has no effect: `{before}` is stricter and matches first"))
            elif again:
                found.append((layer, text, f"has no effect: `{again}` says the same"))
    return found


def weighed(entry: Permission, *, local: bool) -> tuple[str, str]:
    """The rule to import, and a remark on it. Either may be empty."""
    if not entry.rule:
        return "", entry.note
    try:
        rule = parse_rule(entry.rule)
    except PolicyError as error:
        return "", f"not a valid rule: {error.message}"
    if secret := rule_width.secret_in(entry.rule):
        return "", f"not imported: it contains {secret}; rules are shown and logged"
    if local and entry.layer != "allow":
        return "", f"applies in this project alone: add `{entry.rule}` to `{entry.layer}` in its .assent.toml"
    if entry.layer == "allow":
        if local:
            return "", "not imported: a project's own settings may tighten, never loosen; allow it yourself"
        if rule.tool in READING:
            return "", "not needed: reading is allowed, except of protected files"
        if why := rule_width.too_broad(rule):
            return "", f"not imported, it is broader than it looks: {why}"
    return entry.rule, entry.note


def added(text: str, found: Import) -> str:
    """The policy's text with the rules added."""
    for layer, rules in found.rules.items():
        text = rewrite.with_rules(text, layer, rules)
    return text


def report(found: Import) -> None:
    for path in found.files:
        print(f"read {path}")
    if not found.files:
        print("the program has no permission settings: nothing to import", file=sys.stderr)
    for layer, rules in found.rules.items():
        for rule in rules:
            print(f"  {layer:5} {one_line(rule, 100)}")
    for rule in found.here:
        print(f"  here  {one_line(rule, 100)}")
    for each in found.findings:
        print(f"  note  {each.layer} `{one_line(each.text, 80)}`: {each.why}" if each.text else f"  note  {each.why}")
