"""Patches: the files that a command writes by applying one."""

from __future__ import annotations

import pytest

from tests.unit.effects.shell.reading import Operation, read

DIFF = "--- a/lib/x\n+++ b/lib/x\n@@ -1 +1 @@\n-a\n+b\n"


def written(text: str) -> list[str]:
    """The paths that are written, with a plus if all below them is."""
    return [
        (effect.target.name or "?") + ("+" if effect.recursive else "")
        for effect in read(text).effects
        if effect.operation is Operation.WRITE
    ]


@pytest.mark.parametrize(
    ("command", "folder"),
    [
        ("patch -p1 < x.patch", "/ws/repo"),
        ("patch -p1 -i x.patch", "/ws/repo"),
        ("cd lib && patch < x.patch", "/ws/repo/lib"),
        ("patch -d lib < x.patch", "/ws/repo/lib"),
        ("patch -Nd lib -i x.patch", "/ws/repo/lib"),
        ("patch -dlib -i x.patch", "/ws/repo/lib"),
        ("patch --directory=lib -i x.patch", "/ws/repo/lib"),
        ("patch --dir lib -i x.patch", "/ws/repo/lib"),
        ("git apply x.patch", "/ws/repo"),
        ("git apply --directory=lib x.patch", "/ws/repo/lib"),
        ("git -C lib apply x.patch", "/ws/repo/lib"),
        ("git am x.patch", "/ws/repo"),
        ('patch -d "$d" < x.patch', "?"),
    ],
)
def test_a_patch_that_is_not_in_the_command_may_write_all_of_its_folder(command: str, folder: str) -> None:
    assert written(command) == [folder + "+"]


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("patch -p1", ["lib/x", "x"]),
        ("patch -p0", ["lib/x", "a/lib/x", "b/lib/x"]),
        ("patch -p2", ["lib/x", "x"]),
        ("patch", ["lib/x", "x"]),
        ("git apply", ["lib/x", "x"]),
        ("patch -p1 -d sub", ["sub/lib/x", "sub/x"]),
        ("apply_patch", ["lib/x"]),
    ],
)
def test_a_patch_in_the_command_writes_the_files_it_names_by_every_reading(command: str, paths: list[str]) -> None:
    assert written(f"{command} <<'E'\n{DIFF}E") == [f"/ws/repo/{path}" for path in paths]


@pytest.mark.parametrize(
    "command", ["git apply --check x", "git apply --cached x", "git am --abort", "patch --dry-run < x"]
)
def test_a_command_that_changes_no_files_writes_no_folder(command: str) -> None:
    assert written(command) == []


def test_a_file_that_is_named_beside_the_patch_is_all_that_it_writes() -> None:
    assert written("patch a.c a.patch") == ["/ws/repo/a.c"]


def test_another_file_that_is_written_does_not_stand_for_the_folder() -> None:
    assert written("patch -r rejected -p1 -i x.patch") == ["/ws/repo/rejected", "/ws/repo+"]
