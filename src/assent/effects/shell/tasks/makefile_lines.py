"""Lines of Makefiles: assignments, definitions, conditions and comments, as texts. Expands nothing."""

from __future__ import annotations

from assent.contract import Pattern
from assent.effects.shell.tasks.makefile_values import outside

WORD = Pattern(
    r"[ \t]*(include|-include|sinclude|define|endef|export|unexport|override|private|undefine|vpath|load|-load)"
    r"(?=[ \t]|$)"
)
_ENDEF = Pattern(r"[ \t]*endef\b")
DEFINE = Pattern(r"[ \t]*(?:(?:override|export|private)[ \t]+)*define[ \t]")
SIGNS = (":::=", "::=", ":=", "?=", "+=", "!=", "=")


def goes_on(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def without_comment(line: str) -> str:
    if "#" not in line:
        return line
    for place, sign in outside(line):
        if sign == "#" and line[place - 1 : place] != "\\":
            return line[:place]
    return line.replace("\\#", "#") if "\\#" in line else line


def assignment(line: str) -> tuple[str, str, str] | None:
    """The name, the sign and the value of an assignment; None if the line is not one."""
    if "=" not in line:
        return None
    blank = False
    for place, sign in outside(line):
        for each in SIGNS:
            if sign == each[0] and line.startswith(each, place):
                name = line[:place].strip()
                return (name, each, line[place + len(each) :].lstrip()) if name else None
        if sign == ":":
            return None
        if sign in " \t":
            blank = blank or bool(line[:place].strip())
        elif blank:
            return None
    return None


def is_assignment(line: str) -> bool:
    return assignment(line) is not None


def assigns_to_define(line: str) -> bool:
    found = assignment(line)
    return found is not None and found[0] == "define"


def without_words(line: str) -> str:
    """Without the words that may come before a variable of a target."""
    line = line.strip()
    while (found := WORD.match(line)) is not None and found[1] in ("export", "override", "private"):
        line = line[len(found[0]) :].lstrip()
    return line


def definition(lines: list[str], place: int) -> tuple[str, int]:
    """The lines up to the matching `endef`, and the place after it."""
    level, body = 1, []
    while place < len(lines):
        line = lines[place]
        place += 1
        if _ENDEF.match(line):
            level -= 1
            if not level:
                break
        elif DEFINE.match(line):
            level += 1
        body.append(line)
    return "\n".join(body), place


def compared(rest: str) -> tuple[str, str] | None:
    """The two sides of `ifeq`."""
    if rest[:1] == "(" and rest.rstrip()[-1:] == ")":
        inside = rest.rstrip()[1:-1]
        comma = next((place for place, sign in outside(inside) if sign == ","), -1)
        return (inside[:comma], inside[comma + 1 :]) if comma >= 0 else None
    sides = []
    while rest:
        quote = rest[0]
        end = rest.find(quote, 1)
        if quote not in "'\"" or end < 0:
            return None
        sides.append(rest[1:end])
        rest = rest[end + 1 :].strip()
    return (sides[0], sides[1]) if len(sides) == 2 else None


def split_recipe(text: str) -> list[str]:
    """The lines of an expanded recipe; a line that ends in a backslash goes on."""
    found: list[str] = []
    for line in text.split("\n"):
        if found and goes_on(found[-1]):
            found[-1] += f"\n{line}"
        else:
            found.append(line)
    return found
