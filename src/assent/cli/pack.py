"""`assent pack`: shows what the manifest of a plugin or a pack allows and denies, and activates it if a person agrees.

The agreement is bound to the manifest's hash: a changed manifest can only tighten until it is added again."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator

from assent.cli.command import Verb, flag, place, require_person, require_word, takes_verb
from assent.contract import AccessError, PayloadError, Record
from assent.contract.display import one_line
from assent.engine import configure, journal, questions
from assent.engine.engine import Engine
from assent.engine.memory import Memory
from assent.facts.links import Links
from assent.policy import rule_width
from assent.policy.manifest import Manifest, read_manifest
from assent.policy.rules import Rule
from assent.policy.settings import Settings
from assent.state import activated
from assent.state.files import PROJECT_FILE, config_text

DESCRIPTION = (
    "Activate the manifest of a plugin or a policy pack: a TOML file with a name, a mode and rules. You see what it "
    "allows before it applies, and again whenever it changes. Only a person can: the floor blocks this for agents."
)
EPILOG = "A manifest inside the current project can only tighten: what it allows is left out."
STATES = {"whole": "active", "changed": "changed: tightens only", "project": "tightens only", "broken": "broken"}
SHORT = 12  # characters of a hash


arguments = takes_verb(
    {
        "add": Verb(
            "show a manifest, and activate it if you agree",
            {
                "path": {"metavar": "PATH", "help": "the manifest"},
                "--dry-run": flag("show the manifest, and activate nothing"),
            },
        ),
        "list": Verb("list the active packs", {"--json": flag("print them as JSON, one per line")}),
        "remove": Verb(
            "remove a pack", {"name": {"metavar": "NAME", "help": "its name, as `assent pack list` shows it"}}
        ),
    }
)


def run(options: argparse.Namespace) -> int:
    here = place()
    if options.verb == "list":
        return show_all(here.state, as_json=options.json)
    if options.verb == "remove":
        return remove(here.state, options.name)
    return add(here, os.path.abspath(options.path), dry=options.dry_run)


# Adding


def add(here: configure.Place, path: str, *, dry: bool) -> int:
    text = config_text(path)
    if text is None:
        raise PayloadError(f"there is no file `{path}`; name a manifest")
    gate, here = configure.open_gate(here, os.environ)  # with the folders that the configuration adds
    inside = lies_inside(path, (*here.roots, *around(here.project)))
    manifest = read_manifest(text, path, tighten=inside, today=time.strftime(configure.DAY))
    Engine(gate.settings, examples=manifest.document.examples)  # a policy that does not load would deny everything
    raw = text.encode()
    known = next((each for each in activated.packs(here.state) if each.name == manifest.name), None)
    print("\n".join(shown(manifest, path, raw, here, known, gate)))
    if dry:
        return 0
    if known is not None and (known.sha256, known.source) == (activated.digest(raw), path):
        print("\nit is active already")
        return 0
    require_person(here.state, "no pack is activated")
    require_word("\nType {word} to activate it.", "nothing was activated")
    memory = Memory(here.state)
    pack = activated.Pack(manifest.name, path, activated.digest(raw), memory.who, memory.clock(), inside)
    record(memory, "pack.add", f"activated the pack {manifest.name} from {path}", pack)
    activated.add(here.state, pack, raw)
    print(f"active: {manifest.name}")
    return 0


def lies_inside(path: str, roots: tuple[str, ...]) -> bool:
    """Whether a file is inside a project: files that agents may write must not allow more."""
    real = Links().canonical(path) or path
    return any(each == root or each.startswith(root.rstrip("/") + "/") for each in (path, real) for root in roots)


def around(folder: str) -> tuple[str, ...]:
    """The projects that contain a folder."""
    found: list[str] = []
    for form in dict.fromkeys((folder, Links().canonical(folder) or folder)):
        while len(form) > 1:
            if any(os.path.lexists(os.path.join(form, mark)) for mark in (".git", PROJECT_FILE)):
                found += configure.place(form, os.environ).roots
            form = os.path.dirname(form)
    return tuple(found)


def shown(
    manifest: Manifest, path: str, raw: bytes, here: configure.Place, known: activated.Pack | None, gate: Engine
) -> Iterator[str]:
    """What a person should know before it applies."""
    document = manifest.document
    yield " ".join(filter(None, (manifest.name, one_line(manifest.version, 40), one_line(manifest.description))))
    yield f"from {one_line(path)}, sha256 {activated.digest(raw)[:SHORT]}"
    if known is not None:
        again = "unchanged since" if known.sha256 == activated.digest(raw) else "has changed since"
        yield f"activated by {one_line(known.who)} on {day(known.made)}, {again}"
    yield "\nit allows"
    yield from _lines([*_mode(manifest, gate.settings), *_allows(document.allow, here, gate)])
    yield "it restricts"
    limit = [f"max_mode {document.max_mode.word}"] if document.max_mode is not None else []
    rules = [("deny", each) for each in document.deny] + [("ask", each) for each in document.ask]
    yield from _lines([*limit, *(f"{kind:5}  {one_line(rule.text)}{_reason(rule)}" for kind, rule in rules)])
    if manifest.left_out:
        yield f"left out, since it is inside the project and can only tighten: {', '.join(manifest.left_out)}"


def _mode(manifest: Manifest, settings: Settings) -> Iterator[str]:
    asked = manifest.document.mode
    if asked is None:
        return
    if settings.chosen != "the default":
        yield f"mode   {asked.word}; {one_line(settings.chosen)} says {settings.mode.word}, which applies"
    else:
        yield f"mode   {asked.word}, instead of {settings.mode.word}"


def _allows(rules: tuple[Rule, ...], here: configure.Place, gate: Engine) -> Iterator[str]:
    for rule in rules:
        reach = questions.past_reach(os.path.join(here.state, "audit"), gate, (rule.text,), home=here.home)
        past = f"matches {reach.matched} of your last {reach.looked_at} calls" if reach.looked_at else ""
        denied = f", {reach.denied} of them you denied" if reach.denied else ""
        wide = rule_width.too_broad(rule)
        yield f"allow  {one_line(rule.text)}{_reason(rule)}"
        if past:
            yield f"       {past}{denied}"
        if wide:
            yield f"       broad: {one_line(wide)}"


def _reason(rule: Rule) -> str:
    return f"  ({one_line(rule.reason)})" if rule.reason else ""


def _lines(rows: list[str]) -> list[str]:
    return [f"  {row}" for row in rows or ["nothing"]]


# Listing and removing


def show_all(state: str, *, as_json: bool) -> int:
    found = activated.packs(state)
    for pack in found:
        word = status(state, pack)
        if as_json:
            print(json.dumps({**{name: getattr(pack, name) for name in activated.FIELDS}, "status": word}))
            continue
        print(f"{pack.name}  {STATES[word]}")
        print(
            f"  from {one_line(pack.source)}, sha256 {pack.sha256[:SHORT]}; by {one_line(pack.who)} on {day(pack.made)}"
        )
        if word == "broken":
            print(f"  everything is denied until it is removed: `assent pack remove {one_line(pack.name)}`")
        elif word == "changed":
            print(f"  show it again with `assent pack add {one_line(pack.source)}`")
    if not found and not as_json:
        print("no pack is active; `assent pack add PATH` adds one")
    return 0


def status(state: str, pack: activated.Pack) -> str:
    try:
        _, whole = activated.manifest(state, pack)
    except Exception:
        return "broken"
    return "whole" if whole else "project" if pack.tightens else "changed"


def remove(state: str, name: str) -> int:
    if all(each.name != name for each in activated.packs(state)):
        names = ", ".join(each.name for each in activated.packs(state)) or "none"
        raise PayloadError(f"no pack is called `{name}`; active: {names}")
    require_person(state, "nothing is removed")  # what it denies may be allowed afterwards
    record(Memory(state), "pack.remove", f"removed the pack {name}", None)
    activated.remove(state, name)
    print(f"removed: {name}")
    return 0


def record(memory: Memory, code: str, reason: str, pack: activated.Pack | None) -> None:
    """INVARIANT: what cannot be recorded does not apply."""
    more = None if pack is None else {"sha256": pack.sha256, "source": pack.source}
    now = memory.clock()
    found = Record(
        "event", journal.new_id(), now, code=code, reason=reason, who=memory.who, channel="terminal", more=more
    )
    problem = memory.record(found)
    if problem:
        raise AccessError(problem, code="unrecorded")


def day(seconds: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(seconds))
