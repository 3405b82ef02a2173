"""The compiled tables say what the tables say, and are used only if they are ours, intact and made from the same
tables."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import assent.effects.shell.commands as commands
from assent.programs.catalog import HEAD, Catalog

TABLE = """
[frob]
aliases = ["frobnicate", "fr"]
options = "-a -b"
safe = ["frob -a"]

["frob show"]
operands = "READ*"
"""
FROB = {"frob": {"options": "-a -b"}, "frob show": {"operands": "READ*"}}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (tmp_path / "a.toml").write_text(TABLE)
    (tmp_path / "b.toml").write_text('[other]\noptions = "é"\n')
    return tmp_path


def rows(folder: Path) -> dict[str, dict[str, dict[str, object]]]:
    """What a new process finds."""
    found = Catalog(str(folder))
    return {program: found.rows(program) for program in ("frob", "other", "new", "", "frob show")}


EXPECTED = {"frob": FROB, "other": {"other": {"options": "é"}}, "new": {}, "": {}, "frob show": {}}


def compiled(folder: Path) -> Path:
    return Path(Catalog(str(folder)).path)


def test_a_program_has_its_rows_without_what_only_people_read(folder: Path) -> None:
    found = Catalog(str(folder))
    assert found.rows("frob") == FROB
    assert found.names() == ["frob", "frob show", "other"]
    assert [found.program_of(name) for name in ("frobnicate", "fr", "frob", "")] == ["frob", "frob", "", ""]


def test_the_second_process_reads_no_table(folder: Path) -> None:
    assert rows(folder) == EXPECTED
    before = compiled(folder).stat()
    script = f"""
import sys; sys.path.insert(0, {str(Path(commands.__file__).parents[4])!r})
from assent.programs.catalog import Catalog
found = Catalog({str(folder)!r})
assert found.rows("frob") and found.program_of("fr")
assert "tomllib" not in sys.modules
"""
    subprocess.run([sys.executable, "-I", "-S", "-c", script], check=True)
    after = compiled(folder).stat()
    assert (after.st_ino, after.st_mtime_ns, after.st_mode & 0o777) == (before.st_ino, before.st_mtime_ns, 0o644)


def same_size_and_time(folder: Path) -> None:
    file = folder / "a.toml"
    before = file.stat()
    file.write_text(TABLE.replace("-a -b", "-a -c"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize(
    ("change", "program", "options"),
    [
        (same_size_and_time, "frob", "-a -c"),
        (lambda folder: (folder / "c.toml").write_text('[new]\noptions = "-n"\n'), "new", "-n"),
        (lambda folder: (folder / "b.toml").unlink(), "other", None),
    ],
    ids=["same size and time", "new", "gone"],
)
def test_a_table_that_was_changed_is_read_again(
    folder: Path, change: Callable[[Path], object], program: str, options: str | None
) -> None:
    assert rows(folder) == EXPECTED
    change(folder)
    for _ in range(2):
        assert rows(folder)[program].get(program, {}).get("options") == options


def test_a_compiled_file_that_came_with_its_tables_is_used(folder: Path) -> None:
    """A package that is unpacked has other times than where it was built."""
    assert rows(folder) == EXPECTED
    before = compiled(folder).stat().st_ino
    for table in folder.glob("*.toml"):
        os.utime(table, (1, 1))
    assert rows(folder) == EXPECTED
    assert compiled(folder).stat().st_ino == before


def forge(path: Path) -> None:
    """Another policy, with all checksums of the old file but that of its own bytes."""
    path.write_bytes(path.read_bytes().replace(b"-a -b", b"-a -z"))


@pytest.mark.parametrize(
    "damage",
    [
        forge,
        lambda path: path.write_bytes(path.read_bytes()[:-1]),
        lambda path: path.write_bytes(path.read_bytes()[: HEAD + 10]),
        lambda path: path.write_bytes(b""),
        lambda path: path.chmod(0o664),
        lambda path: path.chmod(0o646),
        lambda path: (path.rename(path.with_name("x")), path.symlink_to("x")),
        lambda path: (path.unlink(), subprocess.run(["mkfifo", str(path)], check=True)),
        pytest.param(
            lambda path: os.chown(path, 12345, 12345),
            marks=pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away"),
        ),
    ],
    ids="forged cut no-rows empty group others link pipe another".split(),
)
def test_a_file_that_is_damaged_or_not_ours_is_not_used_but_replaced(
    folder: Path, damage: Callable[[Path], object]
) -> None:
    rows(folder)
    path = compiled(folder)
    whole = path.read_bytes()
    damage(path)
    assert rows(folder) == EXPECTED
    assert path.read_bytes() == whole
    assert path.stat().st_mode & 0o777 == 0o644
    assert not path.is_symlink()


def test_the_file_is_renewed_where_it_is_of_another_state_of_the_tables_and_nowhere_else(folder: Path) -> None:
    Catalog(str(folder)).renew()
    first = compiled(folder).stat()
    Catalog(str(folder)).renew()
    assert compiled(folder).stat().st_ino == first.st_ino
    (folder / "b.toml").touch()  # the same texts, which a hook would have to read
    Catalog(str(folder)).renew()
    second = compiled(folder).stat()
    assert second.st_ino != first.st_ino
    compiled(folder).write_bytes(compiled(folder).read_bytes()[:-1])
    Catalog(str(folder)).renew()
    assert rows(folder) == EXPECTED
    assert compiled(folder).stat().st_size == second.st_size


def test_where_the_file_cannot_be_written_the_tables_are_read(folder: Path) -> None:
    compiled(folder).mkdir(parents=True)
    assert rows(folder) == EXPECTED
    assert [path.name for path in compiled(folder).parent.iterdir()] == ["tables"]


def test_nothing_is_written_where_python_writes_no_compiled_files(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert rows(folder) == EXPECTED
    assert not compiled(folder).parent.exists()


def test_the_shipped_tables_are_compiled_to_the_same_bytes_twice(tmp_path: Path) -> None:
    for table in Path(commands.__file__).parent.glob("*.toml"):
        shutil.copy2(table, tmp_path)
    assert Catalog(str(tmp_path)).save() == Catalog(str(tmp_path)).save()
