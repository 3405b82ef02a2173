"""The templates of the grammar, from the text files beside this one: what they say is at their head.

Slots: C command, T ended command, W word, D inside double quotes, A arithmetic, B back-quotes, Q QW QA QS a command,
word, arithmetic or subscript as one quoted word, S a command inside a string of another language, N a harmless
neighbour, E a value, X something that sets a name, U something that uses one, P and F spellings of `touch` and `pwned`,
R a redirection or nothing, _ blanks."""

from __future__ import annotations

from pathlib import Path

_SIGNS = str.maketrans("␤␉␍␋␌␁␀␡␛␣␠", "\n\t\r\x0b\x0c\x01\x00\x7f\x1b \u00a0")


def _sections(name: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    title = ""
    for line in (Path(__file__).with_name(f"{name}.txt")).read_text(encoding="utf-8").split("\n"):
        if line.startswith("== "):
            title = line[3:]
            found[title] = []
        elif line and not line.startswith("%%"):
            found[title].append(line.translate(_SIGNS))
    return {title: tuple(lines) for title, lines in found.items()}


_SHELL, _PROGRAMS, _STATE, _EVERYDAY = map(_sections, ("shell", "programs", "state", "everyday"))

BLANKS = _SHELL["blanks"]
SEPARATORS = _SHELL["separators"]
REDIRECTS = _SHELL["redirects"]
NEIGHBOURS = _SHELL["neighbours"]
DAMAGE = _SHELL["damage"]
PLAIN = "«P»«_»«F»"
SIMPLE = {
    "C": _SHELL["leaves"] + _STATE["lines"],
    "W": _SHELL["simple words"],
    "D": _SHELL["simple in double quotes"],
    "A": _SHELL["simple arithmetic"],
}
DEEP = {
    "C": _SHELL["commands"],
    "W": SIMPLE["W"] + _SHELL["deep words"],
    "D": SIMPLE["D"] + _SHELL["deep in double quotes"],
    "A": SIMPLE["A"] + _SHELL["deep arithmetic"],
}
BENIGN, SETTERS, SHAPES = _STATE["values"], _STATE["setters"], _STATE["shapes"]
KINDS = ("program", "command", "path", "number", "prompt")
VALUES = {kind: _STATE[f"{kind} values"] for kind in KINDS}
USERS = {kind: _STATE[f"{kind} users"] for kind in KINDS}
WRAPPERS = _PROGRAMS["wrappers"]
TOOLS = {title: lines for title, lines in _PROGRAMS.items() if title != "wrappers"}
EVERYDAY, PIECES = _EVERYDAY["commands"], _EVERYDAY["pieces"]
EVERY = tuple(
    dict.fromkeys(
        (
            *SIMPLE["C"],
            *DEEP["C"],
            *SETTERS,
            *SHAPES,
            *(line for lines in (*TOOLS.values(), *USERS.values()) for line in lines),
        )
    )
)
