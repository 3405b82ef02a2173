"""sed and its scripts."""

from __future__ import annotations

import pytest

from tests.unit.effects.shell.commands.commands import does

READS = [
    "1,5p",
    "$p",
    "/a/,/b/p",
    "s/a/b/g",
    "s|a|b|;s#c#d#2p",
    r"s/\/x/\//",
    "s/[/]/x/",
    "s/[^]/]*//",
    ":a;N;$!ba;s/\\n/ /g",
    "1!G;h;$!d",
    "y/abc/xyz/",
    "/x/{s/a/b/;p;}",
    "1i\\\n1e touch x",
    "a w out",
    "5q",
    "1~2d;0,/x/d;2,+3!p",
    r"\,a/b,d",
    "p # w out",
    "",
]
ACTS = [
    "w out",
    "s/a/b/w out",
    "s/a/b/gw out",
    "1e touch x",
    "e",
    "s/a/b/e",
    "s/a/b/ge",
    "1{e touch x\n}",
    "p;w out",
    "/x/w out",
    "s/[/]/x/;w out",
    "y/a/b/;e x",
    ":a;w out",
    "b a;e x",
    "a foo\ne x",
    "sxaxbxw out",
    "#c\ne x",
    "1!{/x/!e x\n}",
]


@pytest.mark.parametrize("script", READS)
def test_a_script_that_prints_only_reads(script: str) -> None:
    assert does(("sed", script, "f")) == ["READ f"]


@pytest.mark.parametrize("script", ACTS)
def test_a_script_that_writes_or_runs_is_seen(script: str) -> None:
    assert set(does(("sed", script, "f"))) - {"READ f"}


def test_files_and_commands_in_a_script_are_named() -> None:
    assert does("sed 's/a/b/w out' f") == ["WRITE out", "READ f"]
    assert does("sed 'r in' f") == ["READ in", "READ f"]
    assert does("sed '1e rm x' f") == ["READ f", "EXECUTE <sed>", "SHELL rm x"]
    assert does("sed 'w /dev/stdout' f") == ["READ f"]


def test_scripts_of_several_options_are_one() -> None:
    assert does("sed -e p -e '1e rm x' f") == ["READ f", "EXECUTE <sed>", "SHELL rm x"]
    assert does(("sed", "-e", "1i\\", "-e", "1e rm x", "f")) == ["READ f"]
    assert does("sed -ne'1e rm x' f") == ["READ f", "EXECUTE <sed>", "SHELL rm x"]
    assert does("sed --expression='w out' f") == ["WRITE out", "READ f"]


def test_a_script_file_is_executed() -> None:
    assert "EXECUTE x.sed" in does("sed -f x.sed f")


def test_editing_in_place_writes() -> None:
    assert does("sed -i s/a/b/ f") == ["READ f", "WRITE f"]
    assert does("sed -n -i.bak s/a/b/ f") == ["READ f", "WRITE f", "WRITE f.bak"]
    assert does("sed -i'/tmp/*' s/a/b/ f")[-1] == "EXECUTE <sed>"


def test_the_suffix_of_bsd_is_no_script() -> None:
    assert does("sed -i '' 'w out' f")[0] == "WRITE out"
    assert "WRITE out" in does("sed 'w out' -e p")
