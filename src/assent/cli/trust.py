"""`assent trust`: marks folders as trusted. What trust means is the policy's to say."""

from __future__ import annotations

import argparse
import os
import sys

from assent.engine import configure
from assent.state import trust

DESCRIPTION = "Mark a folder as trusted. Only a person may run this: agents are stopped at the floor."


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="?", metavar="FOLDER", default="", help="the folder (default: this one)")
    parser.add_argument("--list", action="store_true", help="list the trusted folders")
    parser.add_argument("--remove", action="store_true", help="take the mark away")


def run(options: argparse.Namespace) -> int:
    folder = os.path.abspath(options.folder or os.getcwd())
    state = configure.place(folder, os.environ).state
    if options.list:
        marked = trust.trusted_folders(state)
        for each in marked:
            print(each)
        if not marked:
            print("no folder is marked; `assent trust` marks this one", file=sys.stderr)
        return 0
    if options.remove:
        gone = trust.distrust(folder, state)
        print(f"no longer trusted: {folder}" if gone else f"was not trusted: {folder}")
        return 0
    print(f"trusted: {trust.trust(folder, state)}")
    return 0
