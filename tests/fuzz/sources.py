"""Where random texts come from: the grammar, programs that set and use names, everyday commands with a payload spliced
in, the options of the tables.

The text of a number is always the same. Judges and runs nothing."""

from __future__ import annotations

import random
import re
from functools import cache

from assent.effects.shell.commands import shipped
from tests.fuzz.maker import Maker
from tests.fuzz.mutate import mutated
from tests.fuzz.sandbox import PROGRAMS
from tests.fuzz.templates import EVERYDAY, PIECES

OPTION = re.compile(r"(?<![^\s,])--?[A-Za-z0-9][\w-]*")
SOURCES = ("grammar", "state", "everyday", "options")
VALUES = (
    "pwned",
    "./pwned",
    "'touch pwned'",
    "'touch pwned;'",
    "'|touch pwned'",
    "'!touch pwned'",
    "src/pwned",
    ".pwned",
    "'>pwned'",
)
OPERANDS = (
    "",
    " f.txt",
    " f.txt g.txt",
    " pwned",
    " f.txt pwned",
    " . ",
    " HEAD",
    " one f.txt",
    " 1 f.txt",
    " src",
    " - < f.txt",
    " x=pwned",
)


def text_of(source: str, seed: int, number: int) -> str:
    """The text of that number, some of them damaged."""
    chance = random.Random(f"{source}:{seed}:{number}")
    if source == "options":
        return optional(chance)
    if source == "everyday":
        made = spliced(chance)
    else:
        made = Maker(chance).state() if source == "state" else Maker(chance).text()
    if chance.random() < (0.1 if source == "state" else 0.4):
        made = mutated(chance, made, chance.choice(EVERYDAY))
    return made


def spliced(chance: random.Random) -> str:
    """An everyday command, or two, with one to three pieces set in anywhere."""
    text = chance.choice(EVERYDAY)
    if chance.random() < 0.2:
        text += chance.choice(("; ", " && ", "\n", " | ")) + chance.choice(EVERYDAY)
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3))):
        at = chance.randrange(len(text) + 1)
        if chance.random() < 0.5:
            at = min((place for place in range(at, len(text)) if text[place] in " '\"\n"), default=len(text))
        text = text[:at] + chance.choice(PIECES) + text[at:]
    return text


@cache
def forms() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Every row of a program that the sandbox has, with its options' names."""
    found = []
    for name in shipped.names():
        program = name.partition(" ")[0]
        if program in PROGRAMS and shipped.program(program) and not name.startswith("_") and "*" not in name:
            listed = f"{shipped.keys(name).get('options', '')} {shipped.keys(program).get('globals', '')}"
            found.append((name, tuple(dict.fromkeys(OPTION.findall(listed)))))
    return tuple(found)


def optional(chance: random.Random) -> str:
    """A command line of one row, with options that the row lists and values that would betray a file or a program."""
    name, options = chance.choice(forms())
    words = " ".join(chance.choice(word.split("|")) for word in name.split(" "))
    given = [
        _given(chance, option) for option in chance.sample(options, min(len(options), chance.choice((1, 1, 2, 3))))
    ]
    text = " ".join([words, *given]) + chance.choice(OPERANDS)
    if chance.random() < 0.1:
        text = chance.choice(("cat f.txt | ", "sort f.txt | ", "cd src; ", "x=1 ")) + text
    return text


def _given(chance: random.Random, option: str) -> str:
    value = chance.choice(VALUES)
    if option.startswith("--") and len(option) > 5 and chance.random() < 0.15:
        option = option[: chance.randrange(4, len(option))]
    glue = chance.choice(("", " ", "=", " "))
    return option if chance.random() < 0.35 else f"{option}{glue}{value}"
