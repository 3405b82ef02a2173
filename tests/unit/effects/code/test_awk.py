"""awk and its programs."""

from __future__ import annotations

import pytest

from tests.unit.effects.shell.commands.commands import does


@pytest.mark.parametrize(
    "program",
    [
        "{print $1}",
        "$1 > 10",
        'NR > 5 && NR <= 10 {print NR": "$0}',
        '{print ($1 > 0 ? "a" : "b")}',
        '{if ($1 > 2) print "x > y"}',
        '/a|b/ {print "system(x)"}',
        '{gsub(/>/, ""); print} # | getline',
        '{print > "/dev/null"}',
        '{print > "/dev/stdout"}',
        "{x = $1 / 2; y = $2 / 3 > 1; print x, y}",
        'BEGIN{print ENVIRON["HOME"]}',
        "{a[$1]++} END{for (k in a) if (a[k] > 1) print k}",
    ],
)
def test_a_program_that_prints_only_reads(program: str) -> None:
    assert does(("awk", program, "f")) == ["READ f"]


@pytest.mark.parametrize(
    ("program", "found"),
    [
        ('{system("rm x")}', ["EXECUTE <awk>", "SHELL rm x"]),
        ("{system($1)}", ["EXECUTE <awk> !built-code"]),
        ('{system ("rm x" $1)}', ["EXECUTE <awk> !built-code"]),
        ('{print > "out"}', ["WRITE out"]),
        ('{print $1, $2 >> "out"}', ["WRITE out"]),
        ('{printf("%s\\n", $1) > "out"}', ["WRITE out"]),
        ('{print ($1) > "out"}', ["WRITE out"]),
        ('{print $1,\n$2 > "out"}', ["WRITE out"]),
        ('{print > $1".txt"}', ["WRITE ?"]),
        ('{print | "sort"}', ["SHELL sort"]),
        ("{print | $1}", ["EXECUTE <awk>"]),
        ('BEGIN{"rm x" | getline}', ["SHELL rm x"]),
        ('BEGIN{"rm" " x" | getline}', ["EXECUTE <awk>"]),
        ('BEGIN{while (("rm x" | getline l) > 0) print l}', ["SHELL rm x"]),
        ('BEGIN{"rm x" |& getline}', ["EXECUTE <awk>", "SHELL rm x"]),
        ('BEGIN{while ((getline l < "in") > 0) print l}', ["READ in"]),
        ("BEGIN{getline l < $1}", ["READ ?"]),
        ('BEGIN{c="system"; @c("x")}', ["EXECUTE <awk>"]),
        ('@load "filefuncs"; BEGIN{}', ["EXECUTE <awk>"]),
        ('BEGIN{print ENVIRON["TOKEN"]}', ["READ <awk> !prints-secret"]),
        ("BEGIN{for (k in ENVIRON) print ENVIRON[k]}", ["READ <awk> !prints-secret"]),
        ('BEGIN{ARGV[1]="/etc/shadow"; ARGC=2}', ["READ ?"]),
        ('{if (x) /"/; system("rm x")}', ["EXECUTE <awk>", "SHELL rm x"]),
        ('{x = y / 2; system("rm x") /3}', ["EXECUTE <awk>", "SHELL rm x"]),
        ('BEGIN{s="a\\"b"; system("rm x")}', ["EXECUTE <awk>", "SHELL rm x"]),
        ('/[/]/ {system("x")}', ["EXECUTE <awk>"]),
        ('{print > "/dev/stderr"}', ["EXECUTE <awk>"]),
        ('{print > "out', ["EXECUTE <awk>"]),
    ],
)
def test_what_reaches_out_of_a_program_is_seen(program: str, found: list[str]) -> None:
    assert does(("awk", program)) == found


def test_program_files_and_extensions_are_executed() -> None:
    assert "EXECUTE p.awk" in does("awk -f p.awk f")
    assert any(line.startswith("EXECUTE") for line in does("gawk -i inplace '{print}' f"))


def test_options_end_at_the_program() -> None:
    assert does(("awk", 'BEGIN{system("rm x")}', "-e", "{print}")) == [
        "READ -e",
        "READ {print}",
        "EXECUTE <awk>",
        "SHELL rm x",
    ]
