"""Whether somebody can sit before an agent program, by its process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assent.facts.host import above, unattended

ONCE = ("-p", "--prompt")


def process(root: Path, pid: int, parent: int, name: str, words: tuple[str, ...], stdin: str, stdout: str) -> None:
    folder = root / str(pid)
    (folder / "fd").mkdir(parents=True)
    (folder / "stat").write_text(f"{pid} ({name}) S {parent} 1 1 0 0\n")
    (folder / "cmdline").write_bytes(b"".join(word.encode() + b"\0" for word in words))
    os.symlink(stdin, folder / "fd" / "0")
    os.symlink(stdout, folder / "fd" / "1")


def host(root: Path, words: tuple[str, ...] = (), *, stdin: str = "/dev/pts/3", stdout: str = "/dev/pts/3") -> None:
    """A program, and the shells between it and its hook, whose own input and output are pipes."""
    process(root, 10, 1, "node (x) y", ("node", "gemini.js", *words), stdin, stdout)
    process(root, 11, 10, "bash", ("bash", "-c", "…"), "pipe:[1]", "pipe:[2]")
    process(root, 12, 11, "sh", ("/bin/sh", "-c", "…"), "pipe:[1]", "pipe:[2]")


def test_a_program_in_a_terminal_may_be_attended(tmp_path: Path) -> None:
    host(tmp_path)
    assert not unattended(ONCE, root=str(tmp_path), pid=12)


@pytest.mark.parametrize("given", [{"stdin": "/dev/null"}, {"stdin": "pipe:[7]"}, {"stdout": "/tmp/log"}])
def test_a_program_without_a_terminal_has_nobody_before_it(tmp_path: Path, given: dict[str, str]) -> None:
    host(tmp_path, **given)  # type: ignore[arg-type]
    assert unattended(ONCE, root=str(tmp_path), pid=12)


@pytest.mark.parametrize("words", [("-p", "do it"), ("--prompt", "do it"), ("--yolo", "--prompt=do it")])
def test_a_program_that_runs_once_has_nobody_before_it(tmp_path: Path, words: tuple[str, ...]) -> None:
    host(tmp_path, words)
    assert unattended(ONCE, root=str(tmp_path), pid=12)


@pytest.mark.parametrize("words", [("--prompt-interactive", "do it"), ("do it -p",)])
def test_other_words_say_nothing(tmp_path: Path, words: tuple[str, ...]) -> None:
    host(tmp_path, words)
    assert not unattended(ONCE, root=str(tmp_path), pid=12)


def test_what_cannot_be_seen_is_not_said(tmp_path: Path) -> None:
    assert not unattended(ONCE, root=str(tmp_path), pid=12)
    process(tmp_path, 12, 1, "sh", ("sh",), "pipe:[1]", "pipe:[2]")
    assert not unattended(ONCE, root=str(tmp_path), pid=12)


def test_the_processes_above_are_others_when_the_program_has_ended(tmp_path: Path) -> None:
    host(tmp_path)
    assert above(root=str(tmp_path), pid=12) == (12, 11, 10)
    (tmp_path / "11" / "stat").write_text("11 (bash) S 1 1 1 0 0\n")
    assert above(root=str(tmp_path), pid=12) == (12, 11, 0)
