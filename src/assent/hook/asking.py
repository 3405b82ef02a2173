"""The program by which Codex asks, and the rule of Codex's own before it: put there, taken away, looked for.

Codex has no ask for hooks. A command that is rewritten to go through this program is asked about by that rule."""

from __future__ import annotations

import os
import shlex

from assent.agents.codex.settings import asking_rules
from assent.contract.call import Call
from assent.contract.errors import AssentError
from assent.hook import launcher, settings_file

RULES = "rules/assent.rules"
MARK = "# Assent's rules for Codex:"


def rules_beside(settings: str) -> str:
    """The file of rules that goes with a config.toml."""
    return os.path.join(os.path.dirname(settings), RULES)


def write(state: str, settings: str) -> None:
    settings_file.replace(rules_beside(settings), asking_rules(launcher.asking(state)))


def remove(settings: str) -> None:
    """Take the rules away, if they are ours."""
    path = rules_beside(settings)
    if (settings_file.text_of(path) or "").startswith(MARK):
        settings_file.remove(path)


def through(state: str, home: str) -> str:
    """The asking program, if Codex is sure to ask before it; `""` where it is not.

    INVARIANT: without the rule in place the command would simply run."""
    program = launcher.asking(state)
    try:
        rules = settings_file.text_of(os.path.join(home, ".codex", RULES))
        ready = rules == asking_rules(program) and settings_file.text_of(program) == launcher.ASKED
    except AssentError:
        return ""
    return program if ready and home.startswith("/") and os.access(program, os.X_OK) else ""


def unwrapped(call: Call, state: str) -> Call:
    """The call as it was before it was rewritten, for the rules that judge it; else the same call."""
    command = call.input.get("command")
    if not isinstance(command, str) or not command.startswith((launcher.asking(state), "'")):
        return call
    try:
        words = shlex.split(command)
    except ValueError:
        return call
    if len(words) != 2 or words[0] != launcher.asking(state):
        return call
    return call.but(input={**call.input, "command": words[1]})
