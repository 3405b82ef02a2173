"""Python's command line and inline code."""

from __future__ import annotations

import pytest

from tests.unit.effects.shell.commands.commands import does

EXECUTE = "EXECUTE <python3>"
LOADS = "EXECUTE </w>"  # the conditional effect: what a file in the folder, posing as a module, could run


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
def test_code_that_only_computes_does_nothing_if_no_module_is_in_the_way(code: str) -> None:
    assert does(("python3", "-c", code)) == ["EXECUTE <pure:/w>"]
    assert does(("python3", "-I", "-c", code)) == []


@pytest.mark.parametrize(
    "code",
    [
        "import yaml",
        "import os; os.system",
        "class X:\n    import os\nX.os.system('id')",
        "class X:\n    from os import system\nX.system('id')",
        "class X:\n    from os import system as s\nX().s('id')",
        "class X:\n    class Y:\n        import json\nX.Y.json.codecs.builtins.exec('1')",
        "class X:\n    if 1:\n        import glob\nX.glob.os.system('id')",
        "class X:\n    from io import open\nX.open('x', 'w')",
        "import time\ntry:\n    time.x\nexcept AttributeError as e:\n    e.obj.clock_settime(0, 0)",
        "if 0:\n    execfile = 1\nexecfile('x.py')",
        "if 0:\n    file = 1\nfile('x', 'w')",
        "import json; json.decoder",
        "from json import *",
        "import re; re.enum.sys.modules",
        "import operator; operator.attrgetter('_' * 2 + 'class' + '_' * 2)(1)",
        "import string; string.Formatter()",
        "import json, sys; sys.path.insert(0, '/tmp')",
        "import os; os.path.join = lambda *a: '/etc/x'; open(os.path.join('a', 'b'), 'w')",
        "import json; json.loads = print",
        "f = open; f('x', 'w')",
        "list(map(open, ['x']))",
        "import functools; functools.partial(open, 'x', 'w')()",
        "type(open('x'))('y', 'w')",
        "open('x', opener=print)",
        "open('x', **{'mode': 'w'})",
        "open('x', m)",
        "def open(*a): pass\nopen('x')",
        "import io; io.open('x')",
        "import io; io.FileIO('x', 'w')",
        "import pathlib; pathlib.Path('a').replace('b')",
        "from pathlib import Path; p = Path('a'); q = p; q.replace('b')",
        "from pathlib import Path; s = 'a'; s = Path(s); s.replace('b', 'c')",
        "from pathlib import Path; [p.write_text('') for p in Path('.').glob('*')]",
        "from pathlib import Path; f = Path('a').unlink; f()",
        "from pathlib import Path; Path(x).read_text()",
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
    assert any(effect.startswith(EXECUTE) for effect in does(("python3", "-c", code)))


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("open(x)", ["READ ?"]),
        ("import os; os.remove('f')", ["DELETE f"]),
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


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import json", []),
        ("import json, sys; print(json.load(sys.stdin)['a'])", []),
        ("import re; print(re.sub('a', lambda m: m.group(), 'b'))", []),
        ("import datetime; print(datetime.datetime.fromtimestamp(0))", []),
        ("from collections import Counter; print(Counter('aab').most_common(1))", []),
        ("import urllib.parse; print(urllib.parse.quote('a b'))", []),
        ("open('f').read()", ["READ f"]),
        ("open('f', 'w')", ["WRITE f"]),
        ("open(0).read()", []),
        ("p = 'f'\nwith open(p, mode='a') as f: f.write('__init__')", ["WRITE f"]),
        ("import json; json.dump(json.load(open('a')), open('b', 'w'), indent=2)", ["READ a", "WRITE b"]),
        ("for f in ['a', 'b']: print(open(f).read())", ["READ a", "READ b"]),
        ("import glob\nfor f in sorted(glob.glob('src/*.py')): open(f)", ["LIST src/*.py", "READ src/*.py"]),
        ("import os; print(os.path.getsize('f') if os.path.exists('f') else 0)", ["LIST f", "LIST f"]),
        ("import os; open(os.path.join('a', '/etc/x'))", ["READ /etc/x"]),
        ("from pathlib import Path; (Path('a') / '/etc/x').write_text('')", ["WRITE /etc/x"]),
        (
            "from pathlib import Path\np = Path('f')\ns = p.read_text()\ns = s.replace('a', 'b')\np.write_text(s)",
            ["READ f", "WRITE f"],
        ),
        ("from pathlib import Path; Path('f').unlink()", ["DELETE+ f"]),
        ("import ast; ast.parse(open('x.py').read())", ["READ x.py"]),
    ],
)
def test_code_that_does_what_it_shows_depends_on_its_modules(code: str, found: list[str]) -> None:
    assert sorted(does(("python3", "-c", code))) == sorted({*found, LOADS})


@pytest.mark.parametrize(
    "code",
    [
        "p = 'a'; p = '/etc/x'; open(p, 'w')",
        "p = 'a'\ndef f():\n  global p\n  p = '/etc/x'\nf()\nopen(p, 'w')",
        "p = 'a'\nfor p in q: open(p, 'w')",
        "def f(p): open(p, 'w')\np = 'a'\nf('/etc/x')",
        "for p in ['a', x]: open(p, 'w')",
        "sorted = print\nfor p in sorted(['a']): open(p, 'w')",
        "p = 'a'\np += 'b'\nopen(p, 'w')",
        "open(f'{x}', 'w')",
    ],
)
def test_a_name_that_may_be_another_is_not_known(code: str) -> None:
    assert "WRITE ?" in does(("python3", "-c", code))


def test_dangers_in_code_are_told() -> None:
    assert does(("python3", "-c", "import shutil, os; shutil.rmtree(os.path.expanduser('~'))")) == [
        "DELETE+ /home/me !recursive-delete",
        EXECUTE,
    ]
    shell = "import socket,os,pty;s=socket.socket();os.dup2(s.fileno(),0);pty.spawn('sh')"
    assert f"{EXECUTE} !reverse-shell" in does(("python3", "-c", shell))
    assert f"{EXECUTE} !prints-secret" in does(("python3", "-c", "import os; print(os.environ)"))


def test_files_modules_and_stdin_are_executed() -> None:
    assert does("python3 x.py -c y") == ["READ x.py", "EXECUTE x.py"]
    assert does("python3 -m venv x") == [EXECUTE]
    assert does("python3 -m http.server") == ["READ+ /w", EXECUTE]
    assert does("python3 -") == [EXECUTE]
    assert does("python3") == [EXECUTE]
    assert does('python3 -W ignore -c \'open("f", "w")\' --help') == ["WRITE f", LOADS]


def test_asking_for_the_version_does_nothing() -> None:
    assert does("python3 --version") == []
    assert does("python3 -V") == []


def test_nesting_without_end_is_only_executed() -> None:
    assert does(("python3", "-c", "(" * 5000 + ")" * 5000)) == [EXECUTE, "GAP limit"]
    assert does(("python3", "-c", "x." * 20000 + "x")) == [EXECUTE, "GAP limit"]


@pytest.mark.parametrize(
    "code",
    [
        "import time; time.clock_settime(0, 0)",
        "def f(): 0\nprint(('{0._' + '_globals_' + '_}').format(f))",
        "def f(t): return t.format(f)\nprint(f('x'))",
        "from sys import path as q\nq[0:0] = ['x']",
        "import sys\nr = sys.path\nr.append('x')",
        "import sys\nsys.path.insert(0, 'x')",
        "from pathlib import Path as str\nstr('a').replace('b')",
        "from pathlib import Path\nclass A:\n def strip(self): return Path('a')\nA().strip().replace('b')",
        "from pathlib import Path\nfrom collections import namedtuple\n"
        "namedtuple('A', 'strip')(lambda: Path('a')).strip().replace('b')",
        "from pathlib import Path\ns = 't'\nmatch Path('a'):\n case s: s.replace('b')",
    ],
)
def test_ways_to_more_than_the_code_shows_are_not_harmless(code: str) -> None:
    assert "EXECUTE <python3>" in does(("python3", "-c", code))


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import os; print(os.listdir(path='/x'))", "LIST ?"),
        ("from itertools import accumulate as list\nfor p in list(['a', 'b']): print(open(p).read())", "READ ?"),
        ("import os; print(open(os.path.expanduser('~other/x')).read())", "READ ?"),
    ],
)
def test_what_is_named_in_a_way_that_is_not_followed_is_not_known(code: str, found: str) -> None:
    assert found in does(("python3", "-c", code))


@pytest.mark.parametrize(
    "use", ["print(sys.path)", "print(sys.path[0])", "print('x' in sys.path)", "print(len(sys.path))"]
)
def test_reading_where_modules_come_from_is_harmless(use: str) -> None:
    assert does(("python3", "-c", f"import sys; {use}")) == ["EXECUTE <pure:/w>"]


def test_only_python_3_gives_input_back_as_it_is() -> None:
    assert [does((name, "-c", "input()")) for name in ("python3", "python")] == [
        ["EXECUTE <pure:/w>"],
        ["EXECUTE <python>"],
    ]


@pytest.mark.parametrize(
    "form",
    [
        "for p in q: pass",
        "for a, p in q: pass",
        "for a, *p in q: pass",
        "with open('z') as p: pass",
        "with open('z') as (a, p): pass",
        "try: pass\nexcept ValueError as p: pass",
        "if (p := q): pass",
        "[p := x for x in q]",
        "p += q",
        "p: str = q",
        "a = p = q",
        "a, p = q",
        "[a, *p] = q",
        "del p",
        "def p(): pass",
        "class p: pass",
        "def f(p): open(p, 'w')",
        "def f(p, /): open(p, 'w')",
        "def f(*p): open(p, 'w')",
        "def f(*, p): open(p, 'w')",
        "def f(**p): open(p, 'w')",
        "lambda p: open(p, 'w')",
        "lambda *p: open(p, 'w')",
        "[open(p, 'w') for p in q]",
        "{p: open(p, 'w') for p in q}",
        "def f():\n  global p\n  p = q",
        "def f():\n  p = 1\n  def g():\n    nonlocal p\n    p = q",
        "match q:\n  case p: pass",
        "match q:\n  case [p, 1]: pass",
        "match q:\n  case [*p]: pass",
        "match q:\n  case {'k': p}: pass",
        "match q:\n  case {**p}: pass",
        "match q:\n  case str() as p: pass",
        "match q:\n  case str(p): pass",
        "match q:\n  case [1] | p: pass",
    ],
)
def test_every_form_that_binds_a_name_makes_it_another(form: str) -> None:
    found = does(("python3", "-c", f"q = ['/etc/x']\np = 'a'\n{form}\nopen(p, 'w')"))
    assert "WRITE ?" in found or "EXECUTE <python3>" in found


@pytest.mark.parametrize("name", ["json", "os", "len", "open"])
@pytest.mark.parametrize(
    "form",
    [
        "for {0} in q: pass",
        "with q as {0}: pass",
        "try: pass\nexcept ValueError as {0}: pass",
        "({0} := q)",
        "[1 for {0} in q]",
        "def {0}(*a): return q",
        "class {0}: pass",
        "def f({0}): return {0}.loads",
        "lambda {0}: {0}",
        "match q:\n  case {0}: pass",
        "match q:\n  case [*{0}]: pass",
        "match q:\n  case {{**{0}}}: pass",
        "import random as {0}",
        "from random import choice as {0}",
        "del {0}",
    ],
)
def test_a_module_or_builtin_under_a_name_that_is_bound_again_is_not_proved(form: str, name: str) -> None:
    code = f"import json, os\nq = []\n{form.format(name)}\nprint(json.loads('1'), os.sep, len([]), open('a').read())"
    found = does(("python3", "-c", code))
    known = name == "open" and form.startswith("from")  # then it is what the import says
    if name != "len" and not known:  # what `len` returns is no file, command or host
        assert any(effect.startswith(EXECUTE) for effect in found)


@pytest.mark.parametrize(
    "code",
    [
        "@open\ndef f(): pass",
        "import os\n@os.remove\ndef f(): pass",
        "import glob\n@glob.glob\ndef f(): pass",
        "class A(metaclass=print): pass",
        "class A(print=1): pass",
        "class A:\n  __match_args__ = ('__class__',)",
        "class A:\n  def __getattr__(self, n): pass",
        "class A:\n  def __init_subclass__(cls): pass",
        "class A:\n  def __class_getitem__(cls, n): pass",
        "class A:\n  def __del__(self): pass",
        "class A:\n  def __set_name__(self, a, b): pass",
        "class A:\n  def __format__(self, s): pass",
        "class A:\n  def __reduce__(self): pass",
        "class A:\n  def __fspath__(self): return '/etc/x'",
        "class A(type): pass",
        "match 1:\n  case A(x): pass",
        "match 1:\n  case str(__class__=x): pass",
        "match 1:\n  case int(mro=x): pass",
        "async def f(): pass",
        "async def f():\n  async with x: pass",
        "async def f():\n  async for x in y: pass",
        "async def f(): await x",
        "try: pass\nexcept* ValueError: pass",
        "import json as j; j.decoder",
        "from json import loads as l; l.__globals__",
        "(x := open)('f', 'w')",
        "[f('x', 'w') for f in [open]]",
        "map(open, ['x'])",
        "sorted(['x'], key=open)",
        "import collections; collections.defaultdict(open)['x']",
        "import functools; functools.reduce(open, ['x', 'w'])",
        "print(*map(__import__, ['os']))",
        "import sys; [sys.path.append(x) for x in 'a']",
        "import sys; sys.path += ['a']",
        "import sys; del sys.path[0]",
        "import sys\nfor sys.path in []: pass",
        "import sys\nwith open('a') as sys.stdout: pass",
        "import os\nos.path.join: int = 1",
        "import os\n(os.sep) = 1",
        "'{0.a}'.format_map({})",
        "x = '{0.__class__}'\nx.format(1)",
    ],
)
def test_forms_and_methods_that_are_not_listed_are_not_proved(code: str) -> None:
    assert any(effect.startswith(EXECUTE) for effect in does(("python3", "-c", code)))
