"""`assent sign-in`: a new one-time code from a server that runs in the background."""

from __future__ import annotations

import argparse
import sys

from assent.cli.command import takes
from assent.contract import AccessError, StoreError
from assent.server import local

DESCRIPTION = "Show a new code to sign in on the page. For a person in a terminal: agents are refused."
arguments = takes({})


def run(options: argparse.Namespace) -> int:
    if not sys.stdout.isatty():
        raise AccessError("a code is shown in a terminal only, not written to a file or a pipe", code="no-terminal")
    found = local.server()
    if found is None:
        raise StoreError("no server runs; start one with `assent serve`")
    given = local.ask(found, "POST", "/v1/codes", {})
    print(f"sign in at {given['address']} with the code  {given['code']}\nit works once, for 10 minutes")
    return 0
