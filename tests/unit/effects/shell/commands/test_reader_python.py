"""Python's command line and inline code."""

from __future__ import annotations

import pytest

from tests.unit.effects.shell.commands.sights import does

EXECUTE = "EXECUTE <python3>"


@pytest.mark.parametrize(
    "code",
    [
        "print(1 + 1)",
        "import sys; print(sys.version)",
        "import sys\nfor line in sys.stdin: print(line.strip().upper())",
        "print([x ** 2 for x in range(3) if x % 2])",
        "def f(x): return x * 2\nprint(f(2))",
        "import time; print(time.time())",
        "print(sorted({'b': 1, 'a': 2}.items()))",
    ],
)
def test_code_that_only_computes_does_nothing(code: str) -> None:
    assert does(("python3", "-c", code)) == []


@pytest.mark.parametrize(
    "code",
    [
        "import json",  # a file json.py in the current folder would be run
        "from . import x",
        "eval('1')",
        "exec(input())",
        "__import__('os').system('x')",
        "getattr(print, 'x')",
        "().__class__.__base__.__subclasses__()",
        "print('{0.__class__}'.format(1))",
        "(x for x in ()).gi_frame.f_builtins",
        "import sys; sys.modules['os'].system('x')",
        "import sys; type(sys.stdout.buffer.raw)('f', 'w')",
        "import sys\nif 0: sys = 1\nsys.modules",
        "if 0: eval = 1\neval('x')",
        "if 0: __builtins__ = 1\n__builtins__.eval('x')",
        "from sys import *",
        "import sys as s; print(s)",
        "match x:\n  case object(__class__=y): pass",
        "print 'x'",
        "# coding: utf-7\nprint(1)",
        "undefined()",
    ],
)
def test_code_that_is_not_known_to_be_harmless_is_executed(code: str) -> None:
    assert EXECUTE in does(("python3", "-c", code))


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("open('f').read()", ["READ f"]),
        ("open('f', 'w')", ["WRITE f"]),
        ("p = 'f'\nwith open(p, mode='a') as f: pass", ["WRITE f"]),
        ("open(x)", ["READ ?"]),
        ("import os; os.remove('f')", ["DELETE f"]),
        ("from pathlib import Path; Path('a') / 'b'; Path('f').unlink()", ["DELETE+ f"]),
        ("import os; os.system('rm x')", ["SHELL rm x"]),
        ("from os import system; system('rm x')", ["SHELL rm x"]),
        ("import subprocess as s; s.run(['rm', '-rf', d])", ["RUN rm -rf <<computed>>"]),
        ("import subprocess; subprocess.check_output('rm x', shell=True)", ["SHELL rm x"]),
        ("import urllib.request as r; r.urlopen('http://h/x')", ["FETCH h"]),
        ("import requests; requests.get('https://h')", ["FETCH h"]),
    ],
)
def test_what_can_be_seen_in_code_is_told(code: str, found: list[str]) -> None:
    assert sorted(does(("python3", "-c", code))) == sorted([*found, EXECUTE])


def test_dangers_in_code_are_told() -> None:
    assert does(("python3", "-c", "import shutil, os; shutil.rmtree(os.path.expanduser('~'))")) == [
        "DELETE+ /home/me !recursive-delete",
        f"{EXECUTE} !recursive-delete",
    ]
    shell = "import socket,os,pty;s=socket.socket();os.dup2(s.fileno(),0);pty.spawn('sh')"
    assert f"{EXECUTE} !reverse-shell" in does(("python3", "-c", shell))
    assert f"{EXECUTE} !prints-secret" in does(("python3", "-c", "import os; print(os.environ)"))


def test_files_modules_and_stdin_are_executed() -> None:
    assert does("python3 x.py -c y") == ["READ x.py", "EXECUTE x.py"]
    assert does("python3 -m http.server") == [EXECUTE]
    assert does("python3 -") == [EXECUTE]
    assert does("python3") == [EXECUTE]
    assert does('python3 -W ignore -c \'open("f", "w")\' --help') == ["WRITE f", EXECUTE]


def test_asking_for_the_version_does_nothing() -> None:
    assert does("python3 --version") == []
    assert does("python3 -V") == []


def test_nesting_without_end_is_only_executed() -> None:
    assert does(("python3", "-c", "(" * 5000 + ")" * 5000)) == [EXECUTE]
    assert does(("python3", "-c", "x." * 20000 + "x")) == [EXECUTE]
