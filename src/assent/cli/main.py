"""The command line: finds the command that was named and hands over to its module. Decides nothing.

A command is a module with `DESCRIPTION`, `arguments(parser)` and `run(options) -> exit status`; only the one that
was named is imported."""

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
    "check": ("cli.check", "say what would happen to a tool call, and why"),
    "run": ("cli.run", "run a command if the gate lets it, asking in this terminal"),
    "hook": ("hook.hook", "answer one event of an agent program (agent programs run this)"),
    "mcp-proxy": ("cli.mcp_proxy", "gate the tools of an MCP server, standing before it"),
    "mcp-tools": ("cli.mcp_tools", "offer tools that pass the gate, as an MCP server"),
    "mcp-prompt": ("cli.mcp_prompt", "answer for an agent program's dialog as an MCP server (the program runs this)"),
    "demo": ("demo", "see the gate at work: an agent in a scratch folder, and you answer"),
    "audit": ("cli.audit", "look at the trail of decisions and answers, and prove that it is whole"),
    "why": ("cli.why", "print the receipt of a past decision"),
    "policy": ("cli.policy", "show, check or start a policy"),
    "pack": ("cli.pack", "activate the manifest of a plugin or a pack, once you have seen what it widens"),
    "classifier": ("cli.classifier", "try the model that may judge what no rule speaks of, or measure it"),
    "serve": ("cli.serve", "keep the gate ready, and ask on a page in the browser"),
    "inbox": ("cli.inbox", "see what waits for you in this terminal, and answer it"),
    "status": ("cli.status", "say whether the server runs, and what waits"),
    "sign-in": ("cli.sign_in", "show a fresh code to sign in with on the page"),
    "stop": ("cli.stop", "end the server"),
    "grants": ("cli.grants", "list the answers that are remembered, and take them back"),
    "install": ("cli.install", "put Assent in front of every tool call of an agent program"),
    "uninstall": ("cli.uninstall", "take it out again"),
    "doctor": ("cli.doctor", "try whether the hook really blocks in each agent program"),
    "import": ("cli.import_", "turn an agent program's permission settings into rules of yours"),
    "export": ("cli.export", "print your rules in the form of an agent program's settings"),
    "remember": ("cli.remember", "save rules for what was answered in agent programs' own dialogs"),
    "pause": ("cli.pause", "lift the protection of Assent itself for a while, as a person"),
    "trust": ("cli.trust", "mark a folder as trusted, so that `untrusted_mode` does not hold there"),
}


class Parser(argparse.ArgumentParser):
    """A parser whose errors name the next step, as all messages do."""

    def error(self, message: str) -> NoReturn:
        super().error(f"{message}; see `{self.prog} --help`")


def build_parser(only: str = "") -> argparse.ArgumentParser:
    """The parser of every command; of one alone with `only`, the others by name."""
    parser = Parser(
        prog="assent",
        description="A permission and approval gate for AI agents: what would this tool call do, and may it run?",
        epilog="Start with: assent check bash 'git push --force'",
    )
    parser.add_argument("--version", action="version", version=f"assent {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (module, summary) in COMMANDS.items():
        if only and name != only:
            continue
        found = import_module(f"assent.{module}")
        inner = commands.add_parser(
            name, help=summary, description=found.DESCRIPTION, epilog=getattr(found, "EPILOG", None)
        )
        found.arguments(inner)
        inner.set_defaults(run=found.run)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    if not given:
        build_parser().print_help(sys.stderr)
        return 2
    named = given[0] if given and given[0] in COMMANDS else ""
    options = build_parser(named).parse_args(given)
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
