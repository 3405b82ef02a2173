"""The commands: their names, groups and parsers.

A command is a module with `DESCRIPTION`, `arguments(parser)` and `run(options) -> exit status`, and may have an
`EPILOG`. `rules` and `log` gather other commands under shorter names."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NoReturn

from assent import __version__

# Command → its module, and its line in `assent --help`.
COMMANDS: dict[str, tuple[str, str]] = {
    "help": ("cli.help", "list all commands, explain one, or print the manual page"),
    "check": ("cli.check", "show whether a tool call would run, and why"),
    "run": ("cli.run", "run a shell command if the gate allows it, asking in this terminal"),
    "hook": ("hook.hook", "answer one event of an agent program (agent programs run this)"),
    "mcp-proxy": ("cli.mcp_proxy", "put the gate between an agent program and an MCP server"),
    "mcp-tools": ("cli.mcp_tools", "serve guarded tools over MCP"),
    "mcp-prompt": ("cli.mcp_prompt", "answer an agent program's permission prompts over MCP (the program runs this)"),
    "demo": ("demo", "watch an agent work in a scratch folder, and answer its questions"),
    "audit": ("cli.audit", "read, search, verify, count or export the audit trail"),
    "why": ("cli.why", "print the receipt of a past decision"),
    "policy": ("cli.policy", "show the policy, check it for mistakes, or write one to start from"),
    "test": ("cli.test", "run the tests beside your rules"),
    "pack": ("cli.pack", "activate, list or remove policy packs"),
    "classifier": ("cli.classifier", "try or measure the model that may judge calls that no rule settles"),
    "serve": ("cli.serve", "run the gate server, with a web page to answer questions on"),
    "inbox": ("cli.inbox", "answer waiting questions in this terminal"),
    "status": ("cli.status", "show whether the server runs, and how many questions wait"),
    "sign-in": ("cli.sign_in", "show a new code to sign in on the page"),
    "stop": ("cli.stop", "stop the server"),
    "grants": ("cli.grants", "list or revoke saved answers"),
    "undo": ("cli.undo", "list what calls deleted or changed, and put it back"),
    "install": ("cli.install", "add the hook to an agent program's settings"),
    "uninstall": ("cli.uninstall", "remove the hook from an agent program's settings"),
    "doctor": ("cli.doctor", "test whether the hook really blocks in each agent program"),
    "import": ("cli.import_", "turn an agent program's permission settings into rules"),
    "export": ("cli.export", "print your rules as an agent program's permission settings"),
    "remember": ("cli.remember", "save rules for what you allowed in agent programs' own dialogs"),
    "pause": ("cli.pause", "let Assent's own files be changed for a while"),
    "trust": ("cli.trust", "mark a folder as trusted, so that `untrusted_mode` does not apply in it"),
    "completion": ("cli.completion", "print the completion of these commands for bash, zsh or fish"),
}


@dataclass(frozen=True, slots=True)
class Gathering:
    """A command whose verbs are other commands."""

    summary: str
    verbs: Mapping[str, tuple[str, ...]]  # verb → the words that it stands for


GATHERED: dict[str, Gathering] = {
    "rules": Gathering(
        "show, check and change what is allowed: rules, saved answers, packs, trusted folders",
        {
            "show": ("policy", "show"),
            "lint": ("policy", "lint"),
            "init": ("policy", "init"),
            "test": ("test",),
            "grants": ("grants",),
            "packs": ("pack",),
            "trust": ("trust",),
            "remember": ("remember",),
        },
    ),
    "log": Gathering(
        "read what was decided and answered: search it, verify it, export it",
        {verb: ("audit", verb) for verb in ("tail", "query", "verify", "stats", "export")},
    ),
}

FRONT = ("install", "status", "check", "why", "inbox", "undo", "rules", "log")  # what `assent --help` lists
GROUPS: dict[str, tuple[str, ...]] = {
    "Every day": FRONT,
    "Rules and answers": ("policy", "test", "grants", "pack", "trust", "remember", "classifier"),
    "Records": ("audit",),
    "Agent programs": ("uninstall", "doctor", "import", "export", "pause", "demo"),
    "The server": ("serve", "sign-in", "stop"),
    "Run by programs": ("run", "hook", "mcp-proxy", "mcp-tools", "mcp-prompt"),
    "Help": ("help", "completion"),
}


class Parser(argparse.ArgumentParser):
    """A parser whose errors name the next step, and which knows its arguments and verbs."""

    def __init__(self, *given: Any, **named: Any) -> None:
        self.listed: list[argparse.Action] = []
        self.verbs: Mapping[str, Parser] = {}
        super().__init__(*given, **named)

    def add_argument(self, *names: Any, **keywords: Any) -> argparse.Action:
        action = super().add_argument(*names, **keywords)
        self.listed.append(action)
        return action

    def add_subparsers(self, **keywords: Any) -> Any:
        found = super().add_subparsers(**keywords)
        self.verbs = found.choices
        return found

    def error(self, message: str) -> NoReturn:
        wrong = re.fullmatch(r"argument \S+: invalid choice: '(.*)' \(choose from (.*)\)", message, re.DOTALL)
        if wrong is not None and self.verbs:
            message = unknown("verb", wrong[1], list(self.verbs))
        super().error(f"{message}; see `{self.prog} --help`")


def unknown(kind: str, word: str, known: Sequence[str]) -> str:
    """That there is no such command or verb, and which one may be meant."""
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return f"there is no {kind} {word!r}" + (f", did you mean `{close[0]}`?" if close else "")


def summary(name: str) -> str:
    return GATHERED[name].summary if name in GATHERED else COMMANDS[name][1]


def verb_summary(words: tuple[str, ...]) -> str:
    """The line about what a verb of a gathering stands for."""
    if len(words) == 1:
        return COMMANDS[words[0]][1]
    line: str = import_module(f"assent.{COMMANDS[words[0]][0]}").VERBS[words[1]].summary
    return line


def resolve(given: Sequence[str]) -> tuple[list[str], str]:
    """The words that a command line stands for, and how the command is called then (`""`: by its own name)."""
    match list(given):
        case ["inbox", *rest] if "--web" in rest:
            return ["serve", *(word for word in rest if word != "--web")], "assent inbox --web"
        case [gathered, verb, *rest] if gathered in GATHERED and verb in GATHERED[gathered].verbs:
            words = GATHERED[gathered].verbs[verb]
            return [*words, *rest], f"assent {gathered}" + (f" {verb}" if len(words) == 1 else "")
        case words:
            return words, ""


def build_parser(only: str = "", called: str = "") -> Parser:
    """The parser of all commands, or of one alone: no other command's module is imported then. `called` is how that one
    is called in its help."""
    parser = Parser(prog="assent")
    parser.add_argument("--version", action="version", version=f"assent {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in [only] if only else COMMANDS:
        module, line = COMMANDS[name]
        found = import_module(f"assent.{module}")
        epilog = getattr(found, "EPILOG", None)
        called_now = called or f"assent {name}"
        inner = commands.add_parser(name, prog=called_now, help=line, description=found.DESCRIPTION, epilog=epilog)
        found.arguments(inner)
        inner.set_defaults(run=found.run, parser=inner)
    return parser
