"""Inline code of node, perl, ruby, php, lua."""

from __future__ import annotations

import pytest

from tests.unit.effects.shell.commands.commands import does


@pytest.mark.parametrize(
    ("argv"),
    [
        ("node", "-p", "1+1"),
        ("node", "-e", "console.log(process.version)"),
        ("perl", "-e", "print 1+1"),
        ("ruby", "-e", "puts 'ok'"),
        ("php", "-r", "echo 1;"),
        ("node", "--version"),
    ],
)
def test_code_that_only_prints_does_nothing(argv: tuple[str, ...]) -> None:
    assert does(argv) == []


@pytest.mark.parametrize(
    ("argv", "found"),
    [
        (("bun", "-e", "require('fs').writeFileSync('f','')"), ["WRITE f", "EXECUTE <bun>"]),
        (("node", "-e", "require('child_process').execSync('rm x')"), ["EXECUTE <node>", "SHELL rm x"]),
        (("node", "-e", "fetch('https://h/x')"), ["FETCH h", "EXECUTE <node>"]),
        (
            ("perl", "-e", "system 'git', 'push'"),
            ["EXECUTE <perl>", "RUN git push", "SHELL git", "SHELL 'git' 'push'"],
        ),
        (("node", "-e", "f(home + '/.ssh/id')"), ["READ /.ssh/id", "READ ~/.ssh/id", "EXECUTE <node>"]),
        (("perl", "-e", "system('rm x')"), ["EXECUTE <perl>", "SHELL rm x"]),
        (("perl", "-e", "open(F, '>f')"), ["WRITE f", "EXECUTE <perl>"]),
        (
            ("perl", "-e", "use File::Path; rmtree('/')"),
            ["DELETE+ / !recursive-delete", "DELETE+ /", "EXECUTE <perl>"],
        ),
        (("ruby", "-e", "`rm x`"), ["EXECUTE <ruby>", "SHELL rm x"]),
        (("node", "x.js"), ["READ x.js", "EXECUTE x.js"]),
    ],
)
def test_what_can_be_seen_in_code_is_told(argv: tuple[str, ...], found: list[str]) -> None:
    assert does(argv) == found


def test_edits_of_one_line_are_read() -> None:
    assert does(("perl", "-pe", "s/a(b)/$1/g", "f")) == ["READ f"]
    assert does(("perl", "-i.bak", "-pe", "s/a/b/", "f")) == ["READ f", "WRITE f", "WRITE f.bak"]
    assert does(("perl", "-0777pe", "s/a/b/", "f")) == ["READ f"]
    assert does(("perl", "-ne", "print if /x/", "f")) == ["READ f"]


@pytest.mark.parametrize(
    "code",
    ["s/a/b/e", "s/a/$1[system(q(x))]/", "s/(?{system 'x'})//", "s/a/@{[`x`]}/", "s/(*{system 'x'})//", "print `x`"],
)
def test_edits_that_run_code_are_executed(code: str) -> None:
    assert "EXECUTE <perl>" in does(("perl", "-pe", code, "f"))


def test_perl_runs_names_that_end_in_a_pipe() -> None:
    assert "EXECUTE <perl>" in does(("perl", "-ne", "print", "rm x|"))


def test_long_code_is_answered_at_once() -> None:
    assert does(("perl", "-e", "print " + "1" * 50_000 + "!")) == ["EXECUTE <perl>"]
