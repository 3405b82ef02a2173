"""`assent help`: the commands in groups, the help of one, and the manual page."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterable, Iterator

from assent import __version__
from assent.cli.command import takes
from assent.cli.commands import COMMANDS, FRONT, GATHERED, GROUPS, Parser, build_parser, summary, unknown, verb_summary
from assent.contract import AssentError

DESCRIPTION = "List all commands, explain one, or print the manual page."
EPILOG = "To read the manual page: assent help man | man -l -"
arguments = takes(
    {
        "topic": {
            "metavar": "TOPIC",
            "nargs": "?",
            "default": "",
            "help": "all, man, or a command (default: the commands of every day)",
        }
    }
)
PURPOSE = "A permission and approval gate for AI agents: what would this tool call do, and may it run?"


def run(options: argparse.Namespace) -> int:
    print(text_of(options.topic))
    return 0


def text_of(topic: str) -> str:
    if not topic:
        return front()
    if topic == "all":
        return everything()
    if topic == "man":
        return manual()
    if topic in GATHERED:
        return gathered(topic)
    if topic not in COMMANDS:
        wrong = unknown("command", topic, ["all", "man", *COMMANDS, *GATHERED])
        raise AssentError(f"{wrong}; `assent help all` lists the commands")
    return build_parser(topic).verbs[topic].format_help().rstrip()


def front() -> str:
    return "\n".join(
        (
            "usage: assent COMMAND ...",
            "",
            PURPOSE,
            "",
            *_rows((name, summary(name)) for name in FRONT),
            "",
            "`assent COMMAND --help` explains one command, `assent help all` lists them all.",
            "Start with: assent check bash 'git push --force'",
        )
    )


def everything() -> str:
    parts = ["\n".join((title, *_rows((name, summary(name)) for name in names))) for title, names in GROUPS.items()]
    return "\n\n".join((*parts, "`assent COMMAND --help` explains one command."))


def gathered(name: str) -> str:
    found = GATHERED[name]
    rows = ((verb, verb_summary(words)) for verb, words in found.verbs.items())
    head = (f"usage: assent {name} VERB ...", "", f"{found.summary.capitalize()}.", "")
    return "\n".join((*head, *_rows(rows), "", f"`assent {name} VERB --help` explains one verb."))


def _rows(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    found = list(rows)
    wide = max(len(name) for name, _ in found) + 4
    for name, line in found:
        first, *more = textwrap.wrap(line, 78 - wide)
        yield f"  {name:<{wide - 2}}{first}"
        yield from (" " * wide + each for each in more)


# ---------------------------------------------------------------- the manual page


def manual() -> str:
    """The manual page, in the language of `man`."""
    lines = [f'.TH ASSENT 1 "" "assent {__version__}"', ".SH NAME", "assent \\- " + _roff(PURPOSE)]
    lines += [".SH SYNOPSIS", ".B assent", ".I COMMAND", "..."]
    for title, names in GROUPS.items():
        lines.append(f".SH {_roff(title.upper())}")
        for name in names:
            lines += _gathered_entry(name) if name in GATHERED else _entry(build_parser(name).verbs[name])
    return "\n".join(lines)


def _gathered_entry(name: str) -> Iterator[str]:
    yield from (".SS " + _roff(f"assent {name}"), _roff(f"{GATHERED[name].summary.capitalize()}."))
    for verb, words in GATHERED[name].verbs.items():
        yield from (".TP", f".B {_roff(verb)}", _roff(f"the same as `assent {' '.join(words)}`"))


def _entry(parser: Parser) -> Iterator[str]:
    if parser.verbs:
        for each in parser.verbs.values():
            yield from _entry(each)
        return
    yield from (".SS " + _roff(parser.prog), _roff(parser.description or ""))
    for action in parser.listed:
        names = ", ".join(action.option_strings) or str(action.metavar or action.dest)
        yield from (".TP", f".B {_roff(names)}", _roff(action.help or ""))
    if parser.epilog:
        yield from (".PP", _roff(parser.epilog))


def _roff(text: str) -> str:
    """A text on one line that holds no request."""
    line = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{line}" if line.startswith((".", "'")) else line
