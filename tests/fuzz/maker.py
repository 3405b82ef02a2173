"""Fills templates at random: `«C»` is a command that runs the payload, `«W»` a word that does, and so on.

Owns spelling, quoting and blanks. What there is to fill in is in `templates`."""

from __future__ import annotations

import random
import re

from tests.fuzz import templates

SLOT = re.compile(r"«([A-Z_]+)»")
PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+,:=@%")


class Maker:
    """One random text after the other; the same source of chance makes the same texts."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.kind = chance.choice(templates.KINDS)  # what the names of this text hold

    def text(self) -> str:
        """A whole text, of one to three lines of commands; one of them is meant to run the payload."""
        made = self.slot("C", self.chance.choice((1, 1, 2, 2, 3)))
        if self.often(0.3):
            made = self.follow(self.slot("N", 0), made)
        if self.often(0.3):
            made = self.follow(made, self.slot("N", 0))
        return made

    def state(self) -> str:
        """A program that sets names and uses them."""
        shape = self.chance.choice(templates.SHAPES)
        return self.fill(f"x=«E»; {shape}" if self.often(0.3) else shape, 0)

    def often(self, share: float) -> bool:
        return self.chance.random() < share

    # ------------------------------------------------------------ slots

    def fill(self, template: str, depth: int) -> str:
        return SLOT.sub(lambda found: self.slot(found[1], depth), template)

    def slot(self, name: str, depth: int) -> str:
        """The text for `«name»`; the deeper it is, the simpler."""
        match name:
            case "_":
                return self.chance.choice(templates.BLANKS)
            case "R":
                return self.chance.choice(templates.REDIRECTS) if self.often(0.12) else ""
            case "P":
                return self.spelled("touch", "command")
            case "F":
                return self.spelled(self.chance.choice(("pwned", "pwned", "./pwned")), "operand")
            case "E":
                return self.chance.choice(templates.VALUES[self.kind] if self.often(0.75) else templates.BENIGN)
            case "X":
                return self.fill(self.chance.choice(templates.SETTERS), 0)
            case "U":
                return self.fill(self.chance.choice(templates.USERS[self.kind]), 0)
            case "N":
                return self.chance.choice(templates.NEIGHBOURS)
            case "T":
                return self.ended(self.slot("C", depth))
            case "Q":
                return self.quoted(self.slot("C", depth - 1))
            case "QW":
                return self.quoted(self.slot("W", depth - 1))
            case "QA":
                return self.quoted(self.slot("A", depth - 1))
            case "QS":
                return self.quoted(f"a[{self.slot('D', depth - 1)}]")
            case "B":
                return self.back_quoted(self.slot("C", depth - 1))
            case "S":
                return self.loose_quoted(self.slot("C", 0))
        return self.fill(self.chosen(name, depth), depth - 1)

    def chosen(self, name: str, depth: int) -> str:
        if name == "C":
            return self.command(depth)
        return self.chance.choice((templates.SIMPLE if depth <= 0 else templates.DEEP)[name])

    def command(self, depth: int) -> str:
        """A template for a command: the plain payload often, the deeper the more often."""
        if depth <= 0:
            return templates.PLAIN if self.often(0.4) else self.chance.choice(templates.SIMPLE["C"])
        if self.often(0.15):
            return self.chance.choice(templates.SHAPES)
        if self.often(0.65):
            return self.chance.choice(templates.DEEP["C"])
        if self.often(0.4):
            return self.wrapped()
        return self.chance.choice(templates.TOOLS[self.chance.choice(list(templates.TOOLS))])

    def wrapped(self) -> str:
        wrappers = self.chance.choices(templates.WRAPPERS, k=self.chance.choice((1, 1, 2, 3)))
        inner = self.chance.choice(
            ("«P»«_»«F»", "«P»«_»«F»", "«P»«_»«F»", "sh -c «Q»", "bash -c «Q»", "cat «W»", "«C»")
        )
        feed = self.chance.choice(("", "", " <<< x", " < f.txt", " <<< pwned"))
        return "«_»".join((*wrappers, inner)) + feed

    # ------------------------------------------------------------ joining

    def ended(self, command: str) -> str:
        """A command and what must be before the next word of the same line or the next."""
        if command.endswith("\n"):
            return command
        return command + self.chance.choice(("; ", ";", "\n", ";\n", " ;\t", " & " if self.often(0.2) else "; "))

    def follow(self, first: str, second: str) -> str:
        if first.endswith("\n"):
            return first + second
        return first + self.chance.choice(templates.SEPARATORS) + second

    # ------------------------------------------------------------ spelling

    def spelled(self, word: str, kind: str) -> str:
        """A word in one of the ways in which bash reads it as that word; most often plainly."""
        if not self.often(0.3):
            return word
        at = self.chance.randrange(1, len(word))
        head, tail = word[:at], word[at:]
        ways = [
            f"'{word}'",
            f'"{word}"',
            f"{head}\\{tail}",
            f'{head}""{tail}',
            f"{head}''{tail}",
            f"{head}'{tail}'",
            f'"{head}"{tail}',
            f"{head}\\\n{tail}",
            f"{head}$'{tail}'",
            f'$"{word}"',
            f"$'\\x{ord(word[0]):x}{word[1:]}'" if word[1:2] not in set("abcdef") else f"$'{word}'",
            f"$'\\{ord(word[0]):03o}{word[1:]}'",
            f"{head}$'\\u{ord(tail[0]):04x}'{tail[1:]}",
            f"{head}${{x}}{tail}",
            f"{head}$x{tail}" if not (tail[0].isalnum()) else f"{head}${{u}}{tail}",
            f"{head}{{{tail},}}" if kind == "operand" else f"{head}$(){tail}",
            f"{head}`:`{tail}",
            f"\\{word}" if kind == "command" else f"{head}[{tail[0]}]{tail[1:]}",
            f"/usr/bin/{word}" if kind == "command" else f"src/../{word}",
            f"/bin//{word}" if kind == "command" else f"${{PWD}}/{word.removeprefix('./')}",
        ]
        return self.chance.choice(ways)

    def quoted(self, text: str) -> str:
        """A text as one shell word."""
        way = self.chance.randrange(5)
        if way <= 1:
            return "'" + text.replace("'", "'\\''") + "'"
        if way == 2:
            return '"' + re.sub(r'([\\"$`])', r"\\\1", text) + '"'
        if way == 3:
            return "$'" + "".join(self._ansi(letter) for letter in text) + "'"
        return "".join(self._escaped(letter) for letter in text) or "''"

    def _ansi(self, letter: str) -> str:
        if letter in "\\'":
            return "\\" + letter
        if letter == "\n" or self.often(0.05):
            return f"\\{ord(letter):03o}" if ord(letter) < 256 else letter
        return letter

    @staticmethod
    def _escaped(letter: str) -> str:
        if letter in PLAIN:
            return letter
        return "'\n'" if letter == "\n" else "\\" + letter

    def loose_quoted(self, text: str) -> str:
        """A text for a double-quoted string of another language: no quotes, no line ends."""
        return re.sub(r"[\"'\\\n`$]", "", text) if "pwned" in text else "touch pwned"

    @staticmethod
    def back_quoted(text: str) -> str:
        return "`" + text.replace("\\", "\\\\").replace("`", "\\`").replace("$", "\\$") + "`"
