"""The command line: imports the module of the command that was given, and runs it.

A command is a module with `DESCRIPTION`, `arguments(parser)` and `run(options) -> exit status`, and may have an
`EPILOG`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from assent import __version__
from assent.contract import AssentError

# Command → its module, and its line in `assent --help`.
COMMANDS: dict[str, tuple[str, str]] = {
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
}


class Parser(argparse.ArgumentParser):
    """A parser whose errors name the next step."""

    def error(self, message: str) -> NoReturn:
        super().error(f"{message}; see `{self.prog} --help`")


def build_parser(only: str = "") -> argparse.ArgumentParser:
    """The parser of all commands, or of one alone: no other command's module is imported then."""
    parser = Parser(
        prog="assent",
        description="A permission and approval gate for AI agents: what would this tool call do, and may it run?",
        epilog="Start with: assent check bash 'git push --force'",
    )
    parser.add_argument("--version", action="version", version=f"assent {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in [only] if only else COMMANDS:
        module, summary = COMMANDS[name]
        found = import_module(f"assent.{module}")
        epilog = getattr(found, "EPILOG", None)
        inner = commands.add_parser(name, help=summary, description=found.DESCRIPTION, epilog=epilog)
        found.arguments(inner)
        inner.set_defaults(run=found.run)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    if not given:
        build_parser().print_help(sys.stderr)
        return 2
    options = build_parser(given[0] if given[0] in COMMANDS else "").parse_args(given)
    try:
        status: int = options.run(options)
        return status
    except AssentError as error:
        from assent.contract.display import visible

        print(f"assent: {visible(str(error))}", file=sys.stderr)  # it may quote what others wrote
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
