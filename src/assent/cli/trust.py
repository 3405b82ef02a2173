"""`assent trust`: marks folders as trusted."""

from __future__ import annotations

import argparse
import os
import sys

from assent.cli.command import flag, place, takes
from assent.state import trust

DESCRIPTION = "Mark a folder as trusted. Only a person can run this: the floor blocks it for agents."
arguments = takes(
    {
        "folder": {"nargs": "?", "metavar": "FOLDER", "default": "", "help": "the folder (default: the current one)"},
        "--list": flag("list the trusted folders"),
        "--remove": flag("remove the mark"),
    }
)


def run(options: argparse.Namespace) -> int:
    folder = os.path.abspath(options.folder or os.getcwd())
    state = place(folder).state
    if options.list:
        marked = trust.trusted_folders(state)
        print("".join(f"{each}\n" for each in marked), end="")
        if not marked:
            print("no folder is trusted; `assent trust` marks this one", file=sys.stderr)
    elif options.remove:
        print(f"no longer trusted: {folder}" if trust.distrust(folder, state) else f"was not trusted: {folder}")
    else:
        print(f"trusted: {trust.trust(folder, state)}")
    return 0
