"""A glob matches on disk what the shell would match, or is not tried."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from assent.facts.globs import MAX_MATCHES, MAX_SCANNED, expand

NAMES = (
    "a.py",
    "b.py",
    "B.txt",
    ".hidden.py",
    "sub/c.py",
    "sub/.d.py",
    "sub/deep/e.py",
    "other/c.py",
    "w[x].py",
    "a b",
)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in NAMES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "link").symlink_to("/nowhere")
    return tmp_path


@pytest.mark.parametrize(
    "pattern",
    [
        "*",
        "*.py",
        ".*.py",
        "?.py",
        "[ab].py",
        "[!a].py",
        "[^a].py",
        "[a-c]*",
        "[[:upper:]]*",
        "*/c.py",
        "*/*.py",
        "s*/deep/*",
        "s?b/../*.py",
        r"w\[x\].p*",
        "w[[]x].py",
        "[]x]*",
        "[",
        "[x",
        "l*",
        "nothing*",
        "nowhere/*",
        "a.py/*",
        "a*b",
    ],
)
def test_the_shell_agrees(place: Path, pattern: str) -> None:
    script = f"shopt -s nullglob globasciiranges; LC_ALL=C; printf '%s\\0' {pattern.replace(' ', chr(92) + ' ')}"
    shell = subprocess.run(["bash", "-c", script], cwd=place, capture_output=True, check=True).stdout.decode()
    wanted = sorted(f"{place}/{name}" for name in shell.split("\0")[:-1] if name)
    if wanted == [f"{place}/{pattern}"] and not (place / pattern).exists():
        wanted = []  # no glob to the shell, so nullglob leaves it
    assert expand(f"{place}/{pattern}") == tuple(wanted)


@pytest.mark.parametrize("pattern", ["**/*.py", "*/*/*", "@(a|b).py", "[[=a=]]", r"[\]]", "relative/*", "[+--]"])
def test_what_is_not_modelled_is_not_tried(place: Path, pattern: str) -> None:
    assert expand(f"{place}/{pattern}" if pattern != "relative/*" else pattern) is None


def test_too_many_matches_are_not_told(tmp_path: Path) -> None:
    for number in range(MAX_MATCHES + 1):
        (tmp_path / f"f{number}").touch()
    assert expand(f"{tmp_path}/f*") is None
    assert expand(f"{tmp_path}/f1") == (f"{tmp_path}/f1",)
    assert len(expand(f"{tmp_path}/f1*") or ()) == 111


def test_too_many_names_are_not_looked_at(tmp_path: Path) -> None:
    for number in range(MAX_SCANNED + 1):
        (tmp_path / f"f{number}").touch()
    assert expand(f"{tmp_path}/x*") is None
