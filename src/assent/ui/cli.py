"""The command line: reads arguments and hands over. Decides nothing.

Exit status of `assent check`: 0 allow, 3 ask, 4 deny, 2 error."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from assent import __version__
from assent.contract.errors import AssentError

MODES = ("plan", "default", "auto", "full_auto", "yolo")


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="assent",
        description="A permission and approval gate for AI agents: what would this tool call do, and may it run?",
        epilog="Start with: assent check bash 'git push --force'",
    )
    parser.add_argument("--version", action="version", version=f"assent {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add_check(commands)
    _add_policy(commands)
    _add_trust(commands)
    return parser


def _add_check(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    check = commands.add_parser(
        "check",
        help="say what would happen to a tool call, and why",
        description="Decide one tool call and print the receipt. Runs nothing and writes nothing.",
        epilog="exit status: 0 allow, 3 ask, 4 deny, 2 error",
    )
    check.add_argument(
        "tool",
        nargs="?",
        metavar="TOOL",
        help="the tool's name (bash, read, write, …), or - for a call as JSON on standard input",
    )
    check.add_argument(
        "input", nargs="?", metavar="INPUT", help="the command, path or address, or the tool's input as a JSON object"
    )
    check.add_argument("--batch", action="store_true", help="one JSON object a line in, one out for each, in order")
    check.add_argument("--json", action="store_true", help="print the receipt as JSON")
    check.add_argument("--headless", action="store_true", help="as in a run where nobody can answer: ask becomes deny")
    check.add_argument(
        "--session", metavar="ID", default="", help="the session whose first view of the project's rules holds on"
    )
    _add_place(check)


def _add_policy(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    policy = commands.add_parser("policy", help="show, check or start a policy", description="Look after the policy.")
    verbs = policy.add_subparsers(dest="verb", metavar="VERB", required=True)
    show = verbs.add_parser("show", help="the policy in force, and where every line of it comes from")
    show.add_argument("--json", action="store_true", help="print it as JSON")
    show.add_argument("--all", action="store_true", help="list the shipped rules one by one too")
    _add_place(show)
    lint = verbs.add_parser("lint", help="find rules that are shadowed, dead, too broad, or hold a secret")
    lint.add_argument("--json", action="store_true", help="print the findings as JSON")
    _add_place(lint)
    init = verbs.add_parser("init", help="write a commented policy to start from, never over an existing one")
    init.add_argument(
        "--project", action="store_true", help="write the project's .assent.toml instead of the user's file"
    )
    init.add_argument("--cwd", metavar="DIR", default="", help="the project's folder (default: this one)")


def _add_trust(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    trust = commands.add_parser(
        "trust",
        help="mark a folder as trusted, so that `untrusted_mode` does not hold there",
        description="Mark a folder as trusted. Only a person may run this: agents are stopped at the floor.",
    )
    trust.add_argument("folder", nargs="?", metavar="FOLDER", default="", help="the folder (default: this one)")
    trust.add_argument("--list", action="store_true", help="list the trusted folders")
    trust.add_argument("--remove", action="store_true", help="take the mark away")


def _add_place(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--mode", choices=MODES, default="", help="the mode to decide in")
    parser.add_argument(
        "--cwd", metavar="DIR", default="", help="the folder of the call and its workspace (default: this one)"
    )
    parser.add_argument("--config", metavar="FILE", default="", help="stands in for the user's ~/.assent/config.toml")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status."""
    options = build_parser().parse_args(arguments)
    try:
        return _run(options)
    except AssentError as error:
        print(f"assent: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    except KeyboardInterrupt:
        return 130


def _run(options: argparse.Namespace) -> int:
    match options.command:
        case "check":
            from assent.ui import check

            return check.run(options)
        case "policy":
            from assent.ui import policy

            return policy.run(options)
        case _:
            from assent.ui import trust

            return trust.run(options)


if __name__ == "__main__":
    sys.exit(main())
