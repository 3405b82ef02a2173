"""Which files a glob matches, against bash."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from assent.facts.globs import expand

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
