"""Whatever the words, a command line is answered, and in time."""

from __future__ import annotations

import random
import time

import pytest

from assent.effects.shell.command import Arg, CommandEffects
from assent.effects.shell.commands import shipped
from assent.effects.shell.commands.interpret import interpret

WORDS: list[str | Arg] = [
    *"- -- --- -x -xyz --long --long=x -o -n5 + +x = a=b a.txt ../x / ~ * {} ; ( ) ! , | : ::".split(),
    *["@", "@f", "%", "#", "'", '"', "\\", "\n"],
    *[
        "",
        "-c",
        "-e",
        "-i",
        "-S",
        "-I{}",
        "-exec",
        "s/a/b/",
        "{print}",
        "SELECT 1",
        "host:x",
        "http://h/x",
        "if=a",
        "print(1)",
    ],
    Arg("$x"),
    Arg("$x", splits=True),
    Arg("*", ("*",), pattern=True),
    Arg("{a,b}", ("a", "-b")),
    Arg("$f", kind="paths", under=("/w",)),
    Arg("-$x", prefix="-"),
    Arg("--n=$x", prefix="--n="),
    Arg("", ()),
]
LONG = [
    ("sed", "s/a/b/;" * 150_000),
    ("sed", "s/[" * 300_000),
    ("awk", "{print a[1]}" * 90_000 + "|"),
    ("awk", "(" * 1_000_000 + ">"),
    ("jq", "." * 1_000_000 + "env"),
    ("perl", "-pe", "s/a/b/;" * 150_000),
    ("perl", "-e", "print 1+" + "1+" * 500_000),
    ("node", "-e", "console.log(" + "1+" * 500_000),
    ("psql", "-c", "SELECT " + "(" * 1_000_000),
    ("psql", "-c", "SELECT '" + "''" * 500_000),
    ("python3", "-c", "(" * 1_000_000),
    ("env", "-S", "a\\_" * 300_000),
    ("find", *("-name", "x") * 20_000),
    ("rm", *("-rf",) * 20_000),
    ("curl", "-F", "x=@" + "a," * 100_000, "http://h"),
    ("git", "log", "--" + "o" * 1_000_000),
    ("git", *("-c", "a=b") * 5_000, "log"),
]


@pytest.mark.slow
def test_any_words_are_answered_for_every_program() -> None:
    choose = random.Random(7)
    for name in shipped.names():
        words = [word for word in name.replace("|", " ").replace("*", "x").split() if word]
        for _ in range(3):
            argv = (*words, *choose.choices(WORDS, k=choose.randrange(6)))
            assert isinstance(interpret(argv, cwd=choose.choice(("/w", "")), home="/h"), CommandEffects)


@pytest.mark.parametrize("argv", LONG, ids=[f"{argv[0]} {argv[1][:12]!r}" for argv in LONG])
@pytest.mark.slow
def test_a_megabyte_is_answered_within_a_second(argv: tuple[str, ...]) -> None:
    before = time.process_time()
    assert isinstance(interpret(argv, cwd="/w", home="/h"), CommandEffects)
    assert time.process_time() - before < 1
