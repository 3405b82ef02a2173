"""`assent export`: prints the user's rules as an agent program's permission settings. Writes to no settings file."""

from __future__ import annotations

import argparse
import os
import sys

from assent.agents import permissions
from assent.cli.command import PROJECT_FOLDER, agent_program, place, takes
from assent.engine import configure
from assent.policy.rules import Origin

DESCRIPTION = (
    "Print your rules as an agent program's own permission settings. Rules that the program cannot express are listed "
    "on standard error."
)
arguments = takes({"runtime": agent_program(permissions.RUNTIMES), "--cwd": PROJECT_FOLDER})


def run(options: argparse.Namespace) -> int:
    settings = configure.open_gate(place(options.cwd), os.environ)[0].settings
    rules = tuple(
        (layer, rule.text)
        for layer, listed in (("allow", settings.allow), ("ask", settings.ask), ("deny", settings.deny))
        for rule in listed
        if rule.origin not in (Origin.SHIPPED, Origin.PACK)
    )
    text, left = permissions.load(options.runtime).write(rules)
    print(text, end="")
    for rule in left:
        print(f"assent: the program cannot express `{rule}`; the hook still applies it", file=sys.stderr)
    return 0
