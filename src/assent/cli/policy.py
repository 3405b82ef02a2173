"""`assent policy`: shows the policy in force, checks it, and writes one to start from."""

from __future__ import annotations

import argparse
import json
import os
import sys

from assent.cli.command import PROJECT_FOLDER, WHERE, Verb, flag, open_gate, takes_verb
from assent.contract import StoreError
from assent.effects.shell import commands
from assent.effects.shell.commands.cover import let_in
from assent.engine import configure
from assent.policy import lint, remote_channels, shipped
from assent.policy.rules import Origin, Rule
from assent.policy.settings import Settings
from assent.policy.tool_settings import Declared
from assent.state import files

PROJECT_STARTER = """\
# Assent's rules for everyone who works on this project. They can only tighten:
# deny, ask and max_mode. What loosens belongs into each user's ~/.assent/config.toml.

# max_mode = "auto"

ask = [
  # "bash(git push:*)",
]

deny = [
  # { rule = "bash(npm publish:*)", message = "releases are made by CI" },
]

# Cases that must hold; `assent test` tries them.
# [[test]]
# call = "bash npm publish"
# expect = "deny"
"""


DESCRIPTION = "Show the policy, check it for mistakes, or write one to start from."
VERBS = {
    "show": Verb(
        "show the policy in force, and where each line of it comes from",
        {"--json": flag("print it as JSON"), "--all": flag("list the shipped rules one by one too"), **WHERE},
    ),
    "lint": Verb(
        "find rules that are shadowed, dead, too broad, or contain a secret",
        {"--json": flag("print the findings as JSON"), **WHERE},
    ),
    "init": Verb(
        "write a commented policy to start from; an existing one is left alone",
        {
            "--project": flag("write the project's .assent.toml instead of the user's file"),
            "--cwd": PROJECT_FOLDER,
        },
    ),
}
arguments = takes_verb(VERBS)


def run(options: argparse.Namespace) -> int:
    return {"show": show, "lint": check, "init": init}[options.verb](options)


# ---------------------------------------------------------------- show


def show(options: argparse.Namespace) -> int:
    gate, here = open_gate(options)
    settings = gate.settings
    if options.json:
        print(json.dumps({**as_json(settings, here), **_remote_channels(here, options.config)}, indent=1))
        return 0
    print(f"mode       {settings.mode.word}  (set by {settings.chosen})")
    for clamp in settings.clamps:
        print(f"           capped by {clamp}")
    if settings.mode.word == "yolo":
        print("           WARNING: shipped, user and project rules are skipped; only managed rules and the floor hold")
    print(f"workspace  {', '.join(here.roots) or 'none: nothing counts as inside'}")
    print(f"files      {', '.join(settings.files) or 'none'}")
    print(f"approval   timeout {settings.timeout} s, unseen {settings.unseen} s, route {settings.route}")
    print(f"classifier {_classifier(settings)}")
    for name, words in _remote_channels(here, options.config).items():
        print(f"{name:10} {words or 'off'}")
    print(f"packs      {', '.join(f'{name} ({source})' for name, source in settings.packs) or 'none on'}")
    print(f"off        {', '.join(f'{name} ({source})' for name, source in settings.off) or 'no shipped rule'}")
    for name, rules in (("deny", settings.deny), ("ask", settings.ask), ("allow", settings.allow)):
        print_rules(name, rules, everything=options.all)
    for tool, said, source in settings.tools:
        print(f"tool       {tool}: {_declared(said)}  ({source})")
    for name, agent in settings.agents.items():
        mode = f"mode {agent.mode.word} at most" if agent.mode is not None else "no mode of its own"
        print(f"agent      {name}: {mode}  ({', '.join(agent.sources)})")
        for key, rules in (("deny", agent.deny), ("ask", agent.ask)):
            for rule in rules:
                print(f"  {key:4} {rule.text}  {rule.source}")
    if options.all:
        print_rules("floor", settings.floor, everything=True)
    else:
        print("floor      holds in every mode; --all lists it")
    return 0


def _remote_channels(here: configure.Place, config: str) -> dict[str, str]:
    """The remote channels that a server asks in, in words; `""` if none is named."""
    named = remote_channels.places(configure.documents(here, config=config))
    return {name: named[name].words if name in named else "" for name in remote_channels.settings()}


def _classifier(settings: Settings) -> str:
    found = settings.classifier
    if found is None:
        return "off: a person is asked about every call that no rule settles"
    return f"{found.model} at {found.url} ({found.api}), key {found.key}, {found.timeout:g} s  (set by {found.source})"


def _declared(said: Declared) -> str:
    return ", ".join(f"{operation} {' '.join(names)}" for operation, names in said)


def print_rules(name: str, rules: tuple[Rule, ...], *, everything: bool) -> None:
    listed = [rule for rule in rules if everything or rule.origin not in (Origin.SHIPPED, Origin.PACK)]
    rest = len(rules) - len(listed)
    print(f"{name:10} {len(listed)} rules" + (f", and {rest} that come with Assent (--all lists them)" if rest else ""))
    width = max((len(rule.text) for rule in listed), default=0)
    for rule in listed:
        print(f"  {rule.text:{min(width, 60)}}  {rule.source}")


def as_json(settings: Settings, here: configure.Place) -> dict[str, object]:
    return {
        "mode": settings.mode.word,
        "mode_set_by": settings.chosen,
        "clamps": list(settings.clamps),
        "workspace": list(here.roots),
        "files": list(settings.files),
        "packs": [{"name": name, "source": source} for name, source in settings.packs],
        "off": [{"id": name, "source": source} for name, source in settings.off],
        "classifier": {name: getattr(settings.classifier, name) for name in settings.classifier.__slots__}
        if settings.classifier is not None
        else None,
        "approval": {"timeout": settings.timeout, "unseen": settings.unseen, "route": settings.route},
        "tools": [
            {"tool": name, "arguments": {operation: list(names) for operation, names in said}, "source": source}
            for name, said, source in settings.tools
        ],
        "agents": [
            {
                "agent": name,
                "mode": said.mode.word if said.mode is not None else "",
                "deny": _listed(said.deny),
                "ask": _listed(said.ask),
                "sources": list(said.sources),
            }
            for name, said in settings.agents.items()
        ],
        **{name: _listed(getattr(settings, name)) for name in ("floor", "deny", "ask", "allow")},
    }


def _listed(rules: tuple[Rule, ...]) -> list[dict[str, str]]:
    return [{"rule": rule.text, "source": rule.source, "origin": rule.origin.word} for rule in rules]


# ---------------------------------------------------------------- lint


def check(options: argparse.Namespace) -> int:
    gate, here = open_gate(options)
    settings = gate.settings
    tables = commands.Tables(settings.commands) if settings.commands else commands.shipped
    findings = lint.lint(settings, here.roots, lambda words: let_in(words, tables))
    if options.json:
        print(json.dumps([{name: getattr(each, name) for name in each.__slots__} for each in findings], indent=1))
    else:
        for each in findings:
            print(f"{each.source}: {each.kind}: `{each.rule}`: {each.text}")
        found, read = len(findings), len(settings.files)
        counted = f"{found} finding{'s' if found != 1 else ''} in {read} file{'s' if read != 1 else ''}"
        print(counted, file=sys.stderr)
    return 1 if any(each.kind != "wide" for each in findings) else 0


# ---------------------------------------------------------------- init


def init(options: argparse.Namespace) -> int:
    folder = os.path.abspath(options.cwd or os.getcwd())
    here = configure.place(folder, os.environ)
    path = files.project_file(folder) if options.project else files.user_file(files.state_folder(here.state))
    text = PROJECT_STARTER if options.project else shipped.starter()
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise StoreError(f"`{path}` exists already and was left as it is; edit it, or move it away first") from None
    except OSError as error:
        raise StoreError(f"`{path}` cannot be written: {error.strerror}") from None
    print(f"wrote {path}\nnext: assent policy show")
    if not options.project:
        print("      assent trust  (in each project of yours: in other folders it asks about every change)")
    return 0
