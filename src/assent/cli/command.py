"""Shared by the commands: options as tables, the place of a command, and the check for a person at the terminal."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from assent.contract import AccessError
from assent.contract.words import sentence
from assent.engine import configure
from assent.engine.engine import Engine
from assent.policy.modes import Mode
from assent.server import peers
from assent.server.access import ALPHABET
from assent.state import hosts

Option = dict[str, Any]  # the keywords of `add_argument`
Options = Mapping[str, Option]  # by name; several names of one option are separated by spaces
AddArguments = Callable[[argparse.ArgumentParser], None]

WORD_LENGTH = 6
MODES = tuple(mode.word for mode in Mode)


# ---------------------------------------------------------------- options


@dataclass(frozen=True, slots=True)
class Verb:
    """A command below a command, as `tail` in `assent audit tail`."""

    summary: str
    options: Options
    description: str | None = None
    epilog: str | None = None


def takes(options: Options) -> AddArguments:
    """The `arguments` of a command with these options."""

    def add(parser: argparse.ArgumentParser) -> None:
        for names, keywords in options.items():
            parser.add_argument(*names.split(), **keywords)

    return add


def takes_verb(verbs: Mapping[str, Verb]) -> AddArguments:
    """The `arguments` of a command with these verbs: `options.verb` names the one that was given, or is None."""

    def add(parser: argparse.ArgumentParser) -> None:
        inner = parser.add_subparsers(dest="verb", metavar="VERB")
        for name, verb in verbs.items():
            described = verb.description or f"{sentence(verb.summary)}."
            found = inner.add_parser(name, help=verb.summary, description=described, epilog=verb.epilog)
            takes(verb.options)(found)

    return add


def flag(help: str) -> Option:
    return {"action": "store_true", "help": help}


def text(metavar: str, help: str) -> Option:
    return {"metavar": metavar, "default": "", "help": help}


def one_of(values: tuple[str, ...], help: str, default: str = "") -> Option:
    return {"choices": values, "default": default, "help": help}


def agent_program(values: tuple[str, ...]) -> Option:
    return {"metavar": "RUNTIME", "choices": values, "help": f"the agent program: {', '.join(values)}"}


def at_least_one(number: str) -> int:
    """The type of an option that takes a number; argparse reports a ValueError as a bad option."""
    if int(number) < 1:
        raise ValueError
    return int(number)


PROJECT_FOLDER = text("DIR", "the project's folder (default: the current folder)")
MODE = one_of(MODES, "decide in this mode")
CONFIG = text("FILE", "use this file instead of ~/.assent/config.toml")
WHERE: Options = {
    "--mode": MODE,
    "--cwd": text("DIR", "the folder of the call and its workspace (default: the current folder)"),
    "--config": CONFIG,
}
MCP: Options = {
    "--home": text("DIR", "Assent's folder (default: ~/.assent)"),
    "--socket": text("PATH", "the gate server's socket (default: in Assent's folder)"),
}


def place(folder: str = "") -> configure.Place:
    """The place of a folder, by default of the current one."""
    return configure.place(os.path.abspath(folder or os.getcwd()), os.environ)


def open_gate(options: argparse.Namespace) -> tuple[Engine, configure.Place]:
    """The gate for the options of `WHERE`."""
    return configure.open_gate(place(options.cwd), os.environ, mode=options.mode, config=options.config)


# ---------------------------------------------------------------- a person at the terminal


def require_person(state: str, refusal: str) -> None:
    """Raise AccessError unless a person runs this in a terminal. `refusal` says what is not done."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise AccessError(f"{refusal}: this is for a person in a terminal", code="no-terminal")
    refuse_agents(state, refusal)


def refuse_agents(state: str, refusal: str) -> None:
    """Raise AccessError if an agent program is above this process."""
    if why := peers.why_no_person(os.getpid(), hosts.names(state)):
        raise AccessError(f"{refusal}: {why}; run it in a terminal of your own", code="no-person")


def require_word(prompt: str, refusal: str) -> None:
    """Show a new word, `{word}` in the prompt. Raise AccessError unless the person types it."""
    word = "".join(secrets.choice(ALPHABET) for _ in range(WORD_LENGTH))
    print(prompt.format(word=word))
    if typed("> ").upper() != word:
        raise AccessError(f"that was another word; {refusal}", code="bad-word")


def typed(prompt: str) -> str:
    """What the person types; `""` at the end of the input."""
    try:
        return input(prompt).strip()
    except EOFError:
        return ""
