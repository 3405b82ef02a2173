"""`assent import`: what an agent program's own settings allow, ask about and deny, as rules in the user's policy.

Takes no allow over that says more than it shows: those are reported instead."""

from __future__ import annotations

import argparse
import glob
import os
import subprocess
import sys

from assent.agents import permissions
from assent.agents.permissions import LAYERS, Permission
from assent.contract import PayloadError, PolicyError, SettingsError, Value
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
    "Turn the permission settings of an agent program into rules of your policy, and say which of them do nothing or "
    "are broader than they look. Changes nothing unless told to --write."
)
NEW = (
    "# Assent's policy for you, on this machine. `assent policy show` tells what holds; docs/rules.md has the rules.\n"
)
LOOKING = ("read", "list", "search")  # free nearly everywhere as it is


class ImportFinding(Value):
    """An entry that was not taken over as it stands, or of which something is to be said."""

    __slots__ = ("file", "layer", "text", "why")

    def __init__(self, file: str, layer: str, text: str, why: str) -> None:
        self.file = file
        self.layer = layer
        self.text = text
        self.why = why


class Import(Value):
    """What was found: the rules to take over, by layer, and what is to be said of the rest. `here` are rules that the
    person let hold in this project alone."""

    __slots__ = ("rules", "findings", "files", "here")

    def __init__(
        self,
        rules: dict[str, tuple[str, ...]],
        findings: tuple[ImportFinding, ...],
        files: tuple[str, ...],
        here: tuple[str, ...] = (),
    ) -> None:
        self.rules = rules
        self.findings = findings
        self.files = files
        self.here = here

    @property
    def count(self) -> int:
        return sum(map(len, self.rules.values()))


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runtime", metavar="RUNTIME", choices=permissions.RUNTIMES, help="the agent program")
    parser.add_argument("--write", action="store_true", help="add the rules to ~/.assent/config.toml")
    parser.add_argument("--dry-run", action="store_true", help="show what would be added to that file, and stop")
    parser.add_argument("--cwd", metavar="DIR", default="", help="the project's folder (default: this one)")


def run(options: argparse.Namespace) -> int:
    if options.write and options.dry_run:
        raise PayloadError("choose one of --write and --dry-run")
    here = configure.place(os.path.abspath(options.cwd or os.getcwd()), os.environ)
    found = gather(options.runtime, here.home, here.project)
    report(found)
    path = files.user_file(here.state)
    before = settings_file.text_of(path)
    try:
        after = added(before if before is not None else NEW, found)
    except PolicyError as error:
        raise PolicyError(f"{error}; the rules are listed above", file=path) from None
    print(settings_file.difference(path, before or "", after) if found.count else "no rule is added", end="\n")
    if options.write and found.count and after != before:
        save(here.state, path, before, after)
        print(f"wrote {path}\nnext: assent policy show")
    if options.write:
        keep(found, here)
    elif found.here or (found.count and after != before):
        print("nothing was changed; --write adds these rules")
    return 0


def keep(found: Import, here: configure.Place) -> None:
    """Remember what was answered in this project, where it is not remembered: as grants, which hold there alone."""
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
    """Write the user's policy, with a copy of the one before."""
    state_folder(state)
    if before is not None:
        settings_file.keep_copy(state, path, before)
    settings_file.replace(path, after)


def gather(runtime: str, home: str, project: str) -> Import:
    """Read every settings file of a runtime."""
    source = permissions.load(runtime)
    taken: dict[str, dict[str, None]] = {layer: {} for layer in LAYERS}
    findings: list[ImportFinding] = []
    seen: list[str] = []
    answered: dict[str, None] = {}
    for place in source.places:
        for path in sorted(glob.glob(settings_file.expanded(place, home, project))):
            if path in seen:  # the project is the home folder
                continue
            seen.append(path)
            try:
                entries = source.read(settings_file.text_of(path) or "", path)
            except SettingsError as error:
                findings.append(ImportFinding(path, "", "", str(error)))
                continue
            local = not place.startswith(("~", "/"))
            own = place in source.own and not shared(path, project)
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
    """Whether a file is in the project's repository, and so not its user's own; where that is not known, it is.

    Git is asked without anything that the repository's settings would make it run."""
    words = ["git", "-c", "core.fsmonitor=false", "ls-files", "--error-unmatch", "--", path]
    try:
        done = subprocess.run(
            words, cwd=project, env={**os.environ, "LC_ALL": "C"}, capture_output=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return True
    return done.returncode != 1 and b"not a git repository" not in done.stderr


def shadowed(taken: dict[str, dict[str, None]]) -> list[tuple[str, str, str]]:
    """The rules that another one makes useless: a stricter one speaks first, or an earlier one says it already."""
    parsed = {layer: [(text, parse_rule(text)) for text in rules] for layer, rules in taken.items()}
    found = []
    for layer, stricter in (("allow", ("deny", "ask")), ("ask", ("deny",)), ("deny", ())):
        for at, (text, rule) in enumerate(parsed[layer]):
            before = next((other for each in stricter for other, wide in parsed[each] if covers(wide, rule)), "")
            again = next((other for other, wide in parsed[layer][:at] if covers(wide, rule)), "")
            if before:
                found.append((layer, text, f"does nothing: `{before}` is stricter and speaks first"))
            elif again:
                found.append((layer, text, f"does nothing: `{again}` says it already"))
    return found


def weighed(entry: Permission, *, local: bool) -> tuple[str, str]:
    """The rule to take over, and what is to be said. Either may be nothing."""
    if not entry.rule:
        return "", entry.note
    try:
        rule = parse_rule(entry.rule)
    except PolicyError as error:
        return "", f"no rule of ours: {error.message}"
    if secret := rule_width.secret_in(entry.rule):
        return "", f"not taken over: it holds {secret}; rules are shown and logged"
    if local and entry.layer != "allow":
        return "", f"it holds in this project alone: put `{entry.rule}` into the `{entry.layer}` of its .assent.toml"
    if entry.layer == "allow":
        if local:
            return "", "not taken over: a project's own settings may tighten, never loosen; allow it yourself"
        if rule.tool in LOOKING:
            return "", "not needed: reading is allowed, but for what is protected"
        if why := rule_width.too_broad(rule):
            return "", f"not taken over, it is broader than it looks: {why}"
    return entry.rule, entry.note


def added(text: str, found: Import) -> str:
    """The policy's text with the rules in it."""
    for layer, rules in found.rules.items():
        text = rewrite.with_rules(text, layer, rules)
    return text


def report(found: Import) -> None:
    for path in found.files:
        print(f"read {path}")
    if not found.files:
        print("no permission settings of the program were found: nothing to take over", file=sys.stderr)
    for layer, rules in found.rules.items():
        for rule in rules:
            print(f"  {layer:5} {one_line(rule, 100)}")
    for rule in found.here:
        print(f"  here  {one_line(rule, 100)}")
    for each in found.findings:
        print(f"  note  {each.layer} `{one_line(each.text, 80)}`: {each.why}" if each.text else f"  note  {each.why}")
