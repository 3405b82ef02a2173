"""Generates the tables of the docs from the code: codes, settings, modes, shipped rules, the command line.

A block is between `<!-- NAME -->` and `<!-- end -->` in a file of docs/. Run by `make docs`; tests/test_docs.py checks
that every block is up to date."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from assent.agents import capabilities
from assent.cli.commands import GATHERED, build_parser
from assent.cli.policy_cases import CASE_KEYS
from assent.contract.approval import Bounds, Scope
from assent.contract.packs import PROVED, RULES
from assent.contract.words import DENY, MESSAGE, STOP, of_scope
from assent.policy import shipped
from assent.policy.codes import CODES
from assent.policy.dangers import DANGERS
from assent.policy.document import PROJECT_KEYS, keys
from assent.policy.modes import ANSWERED, Concern, Mode, settle
from assent.policy.rules import Rule
from assent.server.api.openapi import ENDPOINTS

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"(<!-- (?!end)([a-z-]+) -->\n)(?:(?!<!-- ).)*(<!-- end -->)", re.DOTALL)

CONCERNS = {
    Concern.LOOK: "READ, LIST, SEARCH",
    Concern.WRITE_INSIDE: "WRITE in the workspace",
    Concern.DELETE_INSIDE: "DELETE in the workspace",
    Concern.CHANGE_OUTSIDE: "WRITE, DELETE elsewhere",
    Concern.EXECUTE: "EXECUTE",
    Concern.DESTROY: "DESTROY (what others share, or nobody can bring back); a tool that sends, pays or destroys",
    Concern.DELEGATE: "DELEGATE (a sub-agent)",
    Concern.FETCH: "FETCH",
    Concern.LOOPBACK: "FETCH from a server of this machine that changes nothing (`curl localhost:3000`)",
    Concern.TOOL: "an unknown tool, an MCP tool",
    Concern.GAP: "a gap: what could not be read",
}


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    cells = list(head)
    lines = [f"| {' | '.join(cells)} |", "|" + "---|" * len(cells)]
    lines += [f"| {' | '.join(each.replace('|', chr(92) + '|') for each in row)} |" for row in rows]
    return "\n".join(lines)


def reasons() -> str:
    return table(("code", "meaning"), ((f"`{code}`", meaning) for code, meaning in CODES.items()))


def settings() -> str:
    rows = ((f"`{key}`", meaning, "yes" if key in PROJECT_KEYS else "") for key, meaning in keys().items())
    return table(("setting", "what it is", "in a project's file"), rows)


def cases() -> str:
    return table(("key", "meaning"), ((f"`{key}`", meaning) for key, meaning in CASE_KEYS.items()))


def modes() -> str:
    rows = ((CONCERNS[concern], *(settle(concern, mode).word for mode in Mode)) for concern in Concern)
    return table(("effect", *(mode.word for mode in Mode)), rows)


def dangers() -> str:
    return table(("danger", "what the command does"), ((f"`{name}`", meaning) for name, meaning in DANGERS.items()))


def defaults() -> str:
    rows = (
        (f"`{entry.id}`", section, entry.reason, rules_of(entry.rules))
        for section in ("deny", "ask")
        for entry in shipped.entries("defaults")[section]
    )
    return table(("id", "outcome", "why", "rules"), rows)


def floor() -> str:
    rows = ((f"`{entry.id}`", entry.reason, rules_of(entry.rules)) for entry in shipped.entries("floor")["rule"])
    return table(("id", "what it protects", "rules"), rows)


def packs() -> str:
    rows = (
        (f"`{name}`", f"`{entry.id}`", entry.reason, rules_of(entry.rules))
        for name in RULES
        for entry in shipped.entries(f"packs/{name}")["rule"]
    )
    return table(("pack", "id", "what it lets run", "rules"), rows)


def proved() -> str:
    rows = (
        (f"`{name}`", meaning, ", ".join(f"`{rule}`" for rule in ANSWERED.get(name, ())))
        for name, meaning in PROVED.items()
    )
    return table(("pack", "what it lets run", "ask rules that it answers"), rows)


def runtimes() -> str:
    """What our answers turn into, and what a broken hook does."""
    rows = (
        (
            f"`{each.runtime}`",
            f"{f'{each.title} {each.version}'.rstrip()}, {each.source.value}",
            *(each.does[answer].value for answer in capabilities.ANSWERS),
        )
        for each in capabilities.CAPABILITIES.values()
    )
    return table(("name", "runtime", "allow", "ask", "ask, nobody there", "deny", "an error of ours"), rows)


def breakdowns() -> str:
    rows = (
        (
            f"`{each.runtime}`",
            *(each.does[failure].value for failure in capabilities.FAILURES),
            f"{each.default_timeout:g} s" if each.default_timeout else "",
            f"{each.longest:g} s" if each.longest else "",
            ", ".join(
                name
                for name, has in (
                    ("HTTP hooks", each.http),
                    ("permission requests", each.permission_hook),
                    ("a dialog", each.dialog),
                )
                if has
            ),
        )
        for each in capabilities.CAPABILITIES.values()
    )
    head = ("name", "exit 1", "crash, missing program", "timeout", "garbage", "default timeout", "longest", "has")
    return table(head, rows)


def exceptions() -> str:
    parts = []
    for each in capabilities.CAPABILITIES.values():
        lines = [f"- {text}" for text in each.exceptions]
        lines += [f"- `{feature}` needs {version} or later" for feature, version in each.since]
        parts.append("\n".join([f"### {each.title}", "", *lines]))
    return "\n\n".join(parts)


def short(text: str, limit: int = 70) -> str:
    return text if len(text) <= limit else f"{text[:limit]}…"


def rules_of(rules: Iterable[Rule], shown: int = 4) -> str:
    texts = [f"`{short(rule.text)}`" for rule in rules]
    more = f" and {len(texts) - shown} more" if len(texts) > shown else ""
    return ", ".join(texts[:shown]) + more


def commands() -> str:
    return "\n\n".join(command(name, parser) for name, parser in parsers(build_parser()))


def gathered() -> str:
    """The short names, and what each stands for."""
    rows = (
        (f"`assent {name} {verb}`", f"`assent {' '.join(words)}`")
        for name, gathering in GATHERED.items()
        for verb, words in gathering.verbs.items()
    )
    return table(("short name", "the same as"), (*rows, ("`assent inbox --web`", "`assent serve`")))


def parsers(parser: argparse.ArgumentParser) -> Iterable[tuple[str, argparse.ArgumentParser]]:
    """Every command that can be given, by its full name."""
    inner = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not inner:
        yield parser.prog, parser
    for action in inner:
        for each in action.choices.values():
            yield from parsers(each)


def command(name: str, parser: argparse.ArgumentParser) -> str:
    actions = [action for action in parser._actions if action.help != argparse.SUPPRESS]
    rows = [(shown(action), action.help or "") for action in actions]
    operands = [str(action.metavar or action.dest) for action in actions if not action.option_strings]
    usage = f"```\n{' '.join([name, '[OPTIONS]', *(f'[{each}]' for each in operands)])}\n```"
    parts = [f"## `{name}`", parser.description or "", usage, table(("argument", "meaning"), rows), parser.epilog or ""]
    return "\n\n".join(part for part in parts if part)


def shown(action: argparse.Action) -> str:
    if not action.option_strings:
        return f"`{action.metavar or action.dest}`"
    value = ""
    if action.nargs != 0:
        value = " " + str(action.metavar or "|".join(map(str, action.choices or ())) or action.dest.upper())
    return ", ".join(f"`{option}{value}`" for option in action.option_strings)


def endpoints() -> str:
    rows = (
        (f"`{each.method} {each.path}`", "who signs it" if each.signed else each.needs.name.lower(), each.summary)
        for each in ENDPOINTS
    )
    return table(("endpoint", "for", "what it does"), rows)


def answers() -> str:
    """The keys of answers, the same on the page and in the inbox."""
    scopes = ((of_scope(scope).key, of_scope(scope).offer) for scope in Scope)
    rows = (*scopes, (DENY.key, DENY.offer), MESSAGE, (STOP.key, STOP.offer))
    return table(("key", "answer"), ((f"`{key}`", words) for key, words in rows))


def scopes() -> str:
    """What a saved answer of each scope is bound to."""
    rows = ((of_scope(scope).short, *bound(scope.bounds)) for scope in Scope if scope is not Scope.ONCE)
    return table(("answer", "holds for", "ends"), ((of_scope(Scope.ONCE).short, "this call", "when it ran"), *rows))


def bound(bounds: Bounds) -> tuple[str, str]:
    minutes, days = bounds.seconds / 60, bounds.seconds / 86400
    if not bounds.session:
        where = "the project, in every session" if bounds.project else "every project"
        return where, "when it is revoked"
    latest = f"{days:g} days" if days >= 1 else f"{minutes:g} minutes"
    ends = f"with the session; after {latest} at the latest" if bounds.named else f"after {latest}"
    return "the session, in its project", ends


BLOCKS: dict[str, Callable[[], str]] = {
    "reasons": reasons,
    "settings": settings,
    "cases": cases,
    "modes": modes,
    "dangers": dangers,
    "defaults": defaults,
    "floor": floor,
    "packs": packs,
    "proved": proved,
    "commands": commands,
    "gathered": gathered,
    "api": endpoints,
    "answers": answers,
    "scopes": scopes,
    "runtimes": runtimes,
    "breakdowns": breakdowns,
    "exceptions": exceptions,
}


def written(text: str) -> str:
    """A document's text with every block up to date."""
    return BLOCK.sub(lambda found: f"{found[1]}{BLOCKS[found[2]]()}\n{found[3]}", text)


def documents() -> list[Path]:
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def main() -> int:
    for path in documents():
        old = path.read_text(encoding="utf-8")
        new = written(old)
        if new != old:
            path.write_text(new, encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
