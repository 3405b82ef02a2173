"""`assent export`: the user's rules in the form of an agent program's own settings, as far as that can say them.

Prints; writes into nobody's settings."""

from __future__ import annotations

import argparse
import os
import sys

from assent.agents import permissions
from assent.engine import configure
from assent.policy.rules import Origin

DESCRIPTION = (
    "Print your rules in the form of an agent program's own permission settings. What the program cannot express is "
    "listed on standard error."
)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runtime", metavar="RUNTIME", choices=permissions.RUNTIMES, help="the agent program")
    parser.add_argument("--cwd", metavar="DIR", default="", help="the project's folder (default: this one)")


def run(options: argparse.Namespace) -> int:
    here = configure.place(os.path.abspath(options.cwd or os.getcwd()), os.environ)
    gate, _ = configure.open_gate(here, os.environ)
    settings = gate.settings
    rules = tuple(
        (layer, rule.text)
        for layer, listed in (("allow", settings.allow), ("ask", settings.ask), ("deny", settings.deny))
        for rule in listed
        if rule.origin not in (Origin.SHIPPED, Origin.PACK)
    )
    text, left = permissions.load(options.runtime).write(rules)
    print(text, end="")
    for rule in left:
        print(f"assent: the program cannot express `{rule}`; it holds where the hook is installed", file=sys.stderr)
    return 0
