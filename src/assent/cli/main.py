"""The command line: imports the module of the command that was given, and runs it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from assent.cli.commands import COMMANDS, GATHERED, build_parser, resolve, unknown
from assent.contract import AssentError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] in ("-h", "--help"):
        from assent.cli.help import front

        print(front(), file=sys.stdout if given else sys.stderr)
        return 0 if given else 2
    if given[0] in GATHERED and not (len(given) > 1 and given[1] in GATHERED[given[0]].verbs):
        return _gathering(given)
    words, called = resolve(given)
    if words[0] not in COMMANDS and not words[0].startswith("-"):
        wrong = unknown("command", words[0], [*COMMANDS, *GATHERED])
        print(f"assent: {_visible(wrong)}; `assent help all` lists the commands", file=sys.stderr)
        return 2
    options = build_parser(words[0] if words[0] in COMMANDS else "", called).parse_args(words)
    if getattr(options, "verb", "") is None:
        options.parser.print_help(sys.stderr)
        return 2
    try:
        status: int = options.run(options)
        return status
    except AssentError as error:
        print(f"assent: {_visible(str(error))}", file=sys.stderr)  # it may quote what others wrote
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    except KeyboardInterrupt:
        return 130


def _gathering(given: list[str]) -> int:
    """`assent rules` or `assent log` without one of its verbs: list them."""
    from assent.cli.help import gathered

    name, asked = given[0], given[1:2] in (["-h"], ["--help"])
    if len(given) > 1 and not asked:
        print(f"assent: {_visible(unknown('verb', given[1], list(GATHERED[name].verbs)))}\n", file=sys.stderr)
    print(gathered(name), file=sys.stdout if asked else sys.stderr)
    return 0 if asked else 2


def _visible(text: str) -> str:
    from assent.contract.display import visible

    return visible(text)


if __name__ == "__main__":
    sys.exit(main())
