"""Variables and functions of Makefiles: a text with references → the text that make hands to the shell.

A value that is unknown before make runs (the environment, the output of a command) is a mark in the text: one
character, which `rendered` replaces by a shell word. Reads no files and runs nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from assent.contract import Pattern
from assent.programs.traits import has

MOST_WORK = 8_000  # lines and references
LONGEST = 256 * 1024  # characters of one value
_DEEPEST = 60
_FIRST_MARK, _LAST_MARK = 0xE000, 0xF8FF
_CLOSING = {"(": ")", "{": "}"}
_DEFAULTS: dict[str, str] = {
    "CPP": "$(CC) -E",
    "RM": "rm -f",
    "SHELL": "/bin/sh",
    ".SHELLFLAGS": "-c",
    "CXX": "g++",
    "FC": "f77",
    "ARFLAGS": "rv",
    "MAKE_COMMAND": "make",
    "MAKE_VERSION": "4",
    "MAKELEVEL": "0",
    **{name: name.lower() for name in ("CC", "AR", "AS", "LD", "LEX", "YACC", "MAKE", "MAKEINFO", "TEX", "CO", "GET")},
    **dict.fromkeys("CFLAGS CXXFLAGS CPPFLAGS LDFLAGS LDLIBS LOADLIBES MAKEFLAGS MFLAGS SUFFIXES".split(), ""),
}
_OF_MAKE = frozenset("SHELL .SHELLFLAGS MAKE_VERSION SUFFIXES MAKELEVEL MAKEFLAGS MFLAGS".split())


# Variables of most environments.
_USUAL = frozenset("HOME PWD OLDPWD PATH USER LOGNAME SHELL TMPDIR HOSTNAME LANG TERM EDITOR VIRTUAL_ENV".split())
_FILES = ("$(find ", "$(git ls-files", "$(ls ", "$(git -C", "${HOME}", "${PWD}", "$(pwd", "$(go list", "$(fd ", "$(rg ")
_NAME = Pattern(r"[A-Za-z_][\w.+-]*")


class NotRead(Exception):
    """A text is nested too deep, or too long."""


class MakeVariable:
    """`simple`: the value is not expanded again."""

    __slots__ = ("value", "simple", "origin")

    def __init__(self, value: str, *, simple: bool, origin: str = "file") -> None:
        self.value = value
        self.simple = simple
        self.origin = origin


class MakeValues:
    """Variables, and the expansion of texts by them.

    `marks`: shell texts of unknown values. `ran`: commands that make runs while it expands (`$(shell …)`).
    `exact`: no unknown value was expanded so far. `unread`: something could not be read. `reading`: the branch taken
    at an unknown condition (0: the first, 1: the last, 2: the second of several …), `readings`: the number of
    branches. `define`: reads a text as lines of a Makefile (`$(eval …)`). `work`: how many lines and references
    were read. `unset`: marks of variables that nothing sets: mostly empty."""

    __slots__ = (
        *(
            "variables",
            "given",
            "folder",
            "marks",
            "ran",
            "exact",
            "unread",
            "reading",
            "readings",
            "define",
            "work",
            "unset",
        ),
        *("functions", "_limit"),
    )

    def __init__(self, folder: str, *, reading: int, limit: int, define: Callable[[str], None]) -> None:
        self.variables: dict[str, MakeVariable] = {}
        self.given: dict[str, str | None] = {}  # the environment, as far as the call sets it
        self.folder = folder
        self.marks: list[str] = []
        self.ran: list[str] = []
        self.exact = True
        self.unread = False
        self.reading = reading
        self.readings = 1
        self.define = define
        self.functions: Mapping[str, Function] = {}
        self.work = 0
        self.unset: dict[str, None] = {}
        self._limit = min(limit, MOST_WORK)

    def count(self) -> None:
        """Count a line or a reference."""
        self.work += 1
        if self.work > self._limit:
            raise NotRead

    def either(self, before: int = 0) -> bool:
        """Whether an unknown condition is taken as true; `before`: how many before it were not."""
        self.exact = False
        self.readings = max(self.readings, before + 2)
        return self.reading != 1 and before >= max(self.reading - 1, 0)

    # ------------------------------------------------------------ marks

    def mark(self, shell: str) -> str:
        """A mark for an unknown value, with the shell text that produces it."""
        self.exact = False
        if shell not in self.marks:
            if len(self.marks) > _LAST_MARK - _FIRST_MARK - 1:
                raise NotRead
            self.marks.append(shell)
        return chr(_FIRST_MARK + self.marks.index(shell))

    def perhaps(self, words: str) -> str:
        """Words that may be absent: each with a mark that has no shell text."""
        return " ".join(f"{self.mark('')}{word}" for word in words.split())

    def certain(self, text: str) -> str:
        """A text without the marks of words that may be absent."""
        return text.replace(self.mark(""), "") if "" in self.marks else text

    def may_name(self, word: str) -> bool:
        """Whether an unknown word may name a target: it is neither mostly empty nor file names."""
        shells = [self.marks[ord(sign) - _FIRST_MARK] for sign in word if _is_mark(sign) and sign not in self.unset]
        return any(shell and not shell.startswith(_FILES) for shell in shells)

    def rendered(self, text: str, quote: str = "") -> str:
        """A text for the shell, with the marks replaced. `quote`: the quotes around the text."""
        if not has_marks(text):
            return text
        if self.unset and not quote and not _keeps_unset(text):
            shorter = "".join(sign for sign in text if sign not in self.unset)
            text = shorter if shorter.strip() else text
        out: list[str] = []
        escaped = False
        for sign in text:
            if _is_mark(sign):
                place = ord(sign) - _FIRST_MARK
                shell = self.marks[place] if place < len(self.marks) else "${unknown}"
                out.append(f"'\"{shell}\"'" if quote == "'" and shell else shell)
                continue
            out.append(sign)
            if escaped:
                escaped = False
            elif sign == "\\" and quote != "'":
                escaped = True
            elif sign == quote:
                quote = ""
            elif not quote and sign in "'\"":
                quote = sign
        return "".join(out)

    # ------------------------------------------------------------ variables

    def assign(self, name: str, sign: str, value: str, *, origin: str = "file") -> None:
        before = self.variables.get(name)
        if before is not None and before.origin == "command line" and origin == "file":
            return
        if sign == "?=":
            if before is None and name not in self.given:
                self.exact = False  # the environment may have it
                self.variables[name] = MakeVariable(value, simple=False, origin=origin)
            elif before is None:
                self.variables[name] = MakeVariable(self._from_environment(name), simple=True, origin="environment")
        elif sign in (":=", "::="):
            self.variables[name] = MakeVariable(self.expand(value), simple=True, origin=origin)
        elif sign == ":::=":
            self.variables[name] = MakeVariable(self.expand(value).replace("$", "$$"), simple=False, origin=origin)
        elif sign == "!=":
            self.variables[name] = MakeVariable(self.run(self.expand(value)), simple=True, origin=origin)
        elif sign == "+=":
            old = before if before is not None else self._default(name)
            added = self.expand(value) if old is not None and old.simple else value
            joined = f"{old.value} {added}" if old is not None and old.value else added
            simple = old is not None and old.simple
            self.variables[name] = MakeVariable(joined[:LONGEST], simple=simple, origin=origin)
            if before is None:
                self.exact = False
        else:
            self.variables[name] = MakeVariable(value, simple=False, origin=origin)

    def _from_environment(self, name: str) -> str:
        value = self.given.get(name)
        self.exact = False
        if value is not None or not name.isidentifier():
            return value or ""
        mark = self.mark(f"${{{name}}}")
        if name not in self.given and name not in _USUAL:
            self.unset[mark] = None
        return mark

    def _default(self, name: str) -> MakeVariable | None:
        """The value of a variable that no line sets."""
        if name in self.given or (name not in _DEFAULTS and name.isidentifier()):
            return MakeVariable(self._from_environment(name), simple=True, origin="environment")
        if name not in _DEFAULTS:
            return None
        self.exact = self.exact and name in _OF_MAKE
        return MakeVariable(_DEFAULTS[name], simple=False, origin="default")

    def value(self, name: str, local: dict[str, MakeVariable], depth: int) -> str:
        found = local.get(name) or self.variables.get(name) or self._default(name)
        if found is None:
            return ""
        return found.value if found.simple else self.expand(found.value, local, depth + 1)

    # ------------------------------------------------------------ references

    def expand(self, text: str, local: dict[str, MakeVariable] | None = None, depth: int = 0) -> str:
        """A text with its references replaced. `local` are the variables of a target or of a call."""
        if "$" not in text:
            return text
        self.count()
        if depth > _DEEPEST:
            raise NotRead
        local = local if local is not None else {}
        out: list[str] = []
        place, length = 0, 0
        while (at := text.find("$", place)) >= 0:
            out.append(text[place:at])
            following = text[at + 1 : at + 2]
            if following in _CLOSING:
                end = closing(text, at + 1)
                if end < 0:
                    self.unread = True
                    return "".join(out)
                found = self._reference(text[at + 2 : end], local, depth)
                place = end + 1
            else:
                found = "$" if following == "$" else self.value(following, local, depth) if following.strip() else ""
                place = at + 2
            out.append(found)
            length += len(found)
            if length > LONGEST:
                raise NotRead
        out.append(text[place:])
        return "".join(out)

    def _reference(self, inside: str, local: dict[str, MakeVariable], depth: int) -> str:
        """The content of the parentheses of a reference."""
        name, blank, rest = _first_word(inside)
        if blank and name in self.functions:
            return self.functions[name](self, name, rest, local, depth + 1)
        before, sign, after = _substitution(inside)
        if sign:
            old, _, new = after.partition("=")
            words = self.value(self.expand(before, local, depth + 1), local, depth)
            old, new = self.expand(old, local, depth + 1), self.expand(new, local, depth + 1)
            if "%" not in old:
                old, new = f"%{old}", f"%{new}"
            return " ".join(replaced(word, old, new) for word in words.split())
        return self.value(self.expand(inside, local, depth + 1), local, depth)

    def run(self, command: str) -> str:
        """The output of a command that make runs while expanding."""
        command = self.rendered(command)
        self.ran.append(command)
        return self.mark(f"$({command}\n)" if "#" in command else f"$({command})")


Function = Callable[[MakeValues, str, str, dict[str, MakeVariable], int], str]


# ---------------------------------------------------------------- texts


def has_marks(text: str) -> bool:
    return not text.isascii() and any(_is_mark(sign) for sign in text)


def _keeps_unset(text: str) -> bool:
    """Whether a command changes the files that its words name, so that unknown words matter."""
    return any(
        has(name, "changes-operands") or has(name, "writes-operands") or has(name, "sends-operands")
        for name in dict.fromkeys(_NAME.findall(text))
    )


def _is_mark(sign: str) -> bool:
    return _FIRST_MARK <= ord(sign) <= _LAST_MARK


def closing(text: str, start: int) -> int:
    """The place of the bracket that closes the one at `start`; -1: there is none."""
    opening, level = text[start], 0
    other = _CLOSING[opening]
    for place in range(start, len(text)):
        if text[place] == opening:
            level += 1
        elif text[place] == other:
            level -= 1
            if not level:
                return place
    return -1


def _first_word(text: str) -> tuple[str, str, str]:
    for place, sign in enumerate(text):
        if sign in " \t":
            return text[:place], sign, text[place + 1 :].lstrip()
        if sign == "$":
            break
    return text, "", ""


def _substitution(text: str) -> tuple[str, str, str]:
    """`VAR:a=b` in three; the second is empty if it is a plain name."""
    for place, sign in outside(text):
        if sign == ":" and "=" in text[place:]:
            return text[:place], sign, text[place + 1 :]
    return text, "", ""


def outside(text: str) -> list[tuple[int, str]]:
    """The characters of a text outside of references, with their places."""
    if "$" not in text:
        return list(enumerate(text))
    found: list[tuple[int, str]] = []
    place = 0
    while place < len(text):
        if text[place] == "$" and text[place + 1 : place + 2] in ("(", "{"):
            end = closing(text, place + 1)
            if end < 0:
                return found
            place = end + 1
        elif text[place] == "$":
            place += 2
        else:
            found.append((place, text[place]))
            place += 1
    return found


def stem(word: str, pattern: str) -> str | None:
    """The part of a word that matches `%` in a pattern; None if it does not match. Without `%` both must be equal."""
    before, sign, after = pattern.partition("%")
    if not sign:
        return "" if word == pattern else None
    if len(word) < len(before) + len(after) or not (word.startswith(before) and word.endswith(after)):
        return None
    return word[len(before) : len(word) - len(after)]


def replaced(word: str, old: str, new: str) -> str:
    found = stem(word, old)
    return word if found is None else new.replace("%", found, 1) if "%" in old else new
