"""The reader for pandoc: which conversions read and print nothing but their operands.

Some formats include other files and addresses when they are read (org, rst, LaTeX, roff, and HTML by its frames),
others embed images when they are written. What is listed here does neither, as traced with pandoc 2.17."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assent.contract import Pattern
from assent.effects.shell.command import Arg
from assent.effects.shell.commands.command_effects import values
from assent.effects.shell.commands.line import Line

if TYPE_CHECKING:
    Word = str | Arg

_MARKDOWN = frozenset(
    """markdown markdown_mmd markdown_phpextra markdown_strict markdown_github gfm commonmark commonmark_x mediawiki
    textile dokuwiki jira haddock csljson json native""".split()
)
_INPUTS = _MARKDOWN | frozenset("creole tikiwiki twiki docx odt epub ipynb csv tsv rtf".split())
_OUTPUTS = _MARKDOWN | frozenset(
    "plain html html4 html5 rst org asciidoc asciidoctor latex beamer context man xwiki zimwiki".split()
)
_BY_INPUT = {
    **dict.fromkeys((".md", ".markdown", ".txt", ".text", ".mkd", ".mdwn", "-", ""), "markdown"),
    **{f".{name}": name for name in ("docx", "odt", "epub", "ipynb", "csv", "tsv", "rtf", "json", "native")},
    ".wiki": "mediawiki",
    ".dokuwiki": "dokuwiki",
    ".textile": "textile",
}
_BY_OUTPUT = {
    **dict.fromkeys((".md", ".markdown", ".mkd"), "markdown"),
    **dict.fromkeys((".html", ".htm", "-"), "html"),
    **{f".{name}": name for name in ("rst", "org", "json", "native", "textile")},
    **dict.fromkeys((".txt", ".text"), "plain"),
    ".tex": "latex",
    ".adoc": "asciidoc",
    ".asciidoc": "asciidoc",
}
_EXTENSION = Pattern(r"\.[A-Za-z0-9]+$")
_FORMAT = Pattern(r"[+-]")


def pandoc(line: Line) -> None:
    """As the row says; a conversion between formats of which one may reach other files or addresses is EXECUTE."""
    line.standard()
    parsed = line.parsed
    if parsed.has("--sandbox"):
        return
    inputs = parsed.values("-f")
    sources = inputs or parsed.operands or ["-"]
    targets = parsed.values("-t")
    outputs = targets or parsed.values("-o") or ["-"]
    read = all(_format(word, {} if inputs else _BY_INPUT) in _INPUTS for word in sources)
    written = all(_format(word, {} if targets else _BY_OUTPUT) in _OUTPUTS for word in outputs)
    if not (read and written) and not line.quiet:
        line.seen.execute()


def _format(word: Word, by_name: dict[str, str]) -> str:
    """The format that an option names, or a file by its ending; nothing where that is not known."""
    found = values(word)
    if len(found) != 1 or found[0] is None:
        return ""
    if not by_name:
        return _FORMAT.split(found[0])[0]
    ending = _EXTENSION.search(found[0])
    return by_name.get("-" if found[0] == "-" else ending[0].lower() if ending else "", "")
