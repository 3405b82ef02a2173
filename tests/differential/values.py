"""The values of words, by bash and by our reading. Here bash does run something: `printf` on words in which nothing can
run, made of quotes, escapes, braces and tildes only, in an empty folder."""

from __future__ import annotations

import itertools
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from random import Random

from assent.effects.shell.syntax import read
from assent.effects.shell.tree import Brace, GlobPart, Literal, Part, Simple, Tilde, Word

HOME = "/home/of the/user"

_PIECES = (
    "a", "b", "c1", "-", "0", "'a b'", "'\\'", "''", '""', '"a b"', '"\\""', '"\\$"', '"\\\\"', '"\\`"', '"\\a"',
    "\\a", "\\ ", "\\'", '\\"', "\\\\", "\\{", "\\,", "\\}", "$'\\n'", "$'\\'\\x41\\101\\u00e9\\cA'",
    "$'\\e\\q\\?\\t'", "$'a\\0b'c", "$'\\1234'", "$'\\xc3\\xa9'", "$'\\U1F600'", '$"a b"', "{", "}", ",", "..",
    "{a,b}", "{1..3}", "{c..a}", "{01..10..3}", "{,x}", "{a,{b,c}}", "{x,", ",y}", "~", "~/a", ":~", "=~", "a=",
    "x=~/b:~", "'{a,b}'", '"{"', "#", "%", "^", "!", "=", ":", "+", "@", "é", "\\\n", "'\n'", "{3..1}", "{-1..1}",
    "{1..2..0}", "{a..e..2}", "{a}", "{}", "{a,b", "*", "?", "[a]", "[", "]", "$", "$%", '"$"', "{$'a',b}",
    "{'a,b',c}",
)  # fmt: skip


def words(seed: int, count: int) -> list[str]:
    """Words in which nothing can run."""
    random = Random(seed)
    return ["".join(random.choice(_PIECES) for _ in range(random.randint(1, 5))) for _ in range(count)]


def by_bash(texts: Sequence[str]) -> list[list[str]]:
    """What each text becomes as the arguments of a command, by bash."""
    lines = ["set -f"]
    lines += [f"printf '%s\\1' {text}\nprintf '\\2'" for text in texts]
    with tempfile.TemporaryDirectory() as folder:
        found = subprocess.run(
            [shutil.which("bash") or "bash", "-c", "\n".join(lines)],
            capture_output=True,
            check=False,
            cwd=folder,
            env={"HOME": HOME, "PATH": "/nowhere", "LC_ALL": "C.UTF-8"},
        )
    groups = found.stdout.decode("utf-8", "surrogateescape").split("\2")
    return [group.split("\1")[:-1] for group in groups[:-1]]


def by_us(text: str) -> list[str] | None:
    """The same by our reading; None if it is in doubt. No argument counts as an empty one, as with `printf`."""
    reading = read(f"printf {text}")
    if reading.gaps or len(reading.script.commands) != 1:
        return None
    command = reading.script.commands[0]
    if not isinstance(command, Simple) or command.redirects or command.assignments:
        return None
    values = list(itertools.chain.from_iterable(map(_values, command.words[1:])))
    return None if None in values else [value for value in values if value is not None] or [""]


def _values(word: Word) -> Iterable[str | None]:
    if len(word.parts) == 1 and isinstance(word.parts[0], Brace):
        inner = word.parts[0].words
        return [None] if inner is None else [_value(parts) for parts in inner]
    return [_value(word.parts)]


def _value(parts: tuple[Part, ...]) -> str | None:
    out = ""
    for part in parts:
        if isinstance(part, Literal | GlobPart):
            out += part.text
        elif isinstance(part, Tilde) and not part.user.startswith(("+", "-", "0", "1")):
            out += HOME if not part.user else "~" + part.user
        else:
            return None
    return out
