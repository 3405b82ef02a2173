"""The asking program, for agent programs whose hooks cannot ask: installs, removes and finds it.

A command rewritten to run through it matches the agent program's own rule (`Settings.asking`)."""

from __future__ import annotations

import os
import shlex

from assent.agents import settings
from assent.contract import AssentError, Call
from assent.hook import launcher, settings_file


def write(runtime: str, state: str, file: str) -> None:
    asking = settings.load(runtime).asking
    if asking is not None:
        path = os.path.join(os.path.dirname(file), asking.place)
        settings_file.replace(path, asking.rules(launcher.asking(state)))


def remove(runtime: str, file: str) -> None:
    """Remove the rule, if it is ours."""
    asking = settings.load(runtime).asking
    if asking is not None:
        path = os.path.join(os.path.dirname(file), asking.place)
        if (settings_file.text_of(path) or "").startswith(asking.mark):
            settings_file.remove(path)


def through(runtime: str, state: str, home: str) -> str:
    """The asking program, if the agent program is sure to ask before it; `""` if it is not.

    INVARIANT: without the rule in place the command would simply run."""
    asking, program = settings.load(runtime).asking, launcher.asking(state)
    if asking is None:
        return ""
    try:
        rules = settings_file.text_of(os.path.join(home, asking.home))
        ready = rules == asking.rules(program) and settings_file.text_of(program) == asking.script
    except AssentError:
        return ""
    return program if ready and home.startswith("/") and os.access(program, os.X_OK) else ""


def unwrapped(call: Call, state: str) -> Call:
    """The call before it was rewritten, for the rules that judge it; else the same call."""
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
