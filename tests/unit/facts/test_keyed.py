"""What a SQLite database does by itself when it is read."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from assent.contract import Effect, Kind, Lowering, Operation, Target
from assent.facts.keyed import reaching
from assent.facts.links import Links
from assent.facts.settings import obeyed


def database(path: Path, *statements: str, mode: str = "delete") -> str:
    connection = sqlite3.connect(path)
    connection.create_function("edit", 2, lambda text, _: text)
    connection.create_function("readfile", 1, lambda _: b"")
    connection.execute(f"PRAGMA journal_mode={mode}")
    for statement in ("CREATE TABLE t (a, edit)", *statements):
        connection.execute(statement)
    connection.commit()
    connection.close()
    return str(path)


def test_tables_and_plain_views_only_read(tmp_path: Path) -> None:
    assert (
        reaching(database(tmp_path / "a.db", "CREATE VIEW v AS SELECT a, upper(a) FROM t", "CREATE INDEX i ON t(a)"))
        == ""
    )
    (tmp_path / "empty.db").write_bytes(b"")
    assert reaching(str(tmp_path / "empty.db")) == ""


@pytest.mark.parametrize(
    "view",
    [
        "CREATE VIEW v AS SELECT edit('x', 'touch y')",
        'CREATE VIEW v AS SELECT "EDIT" (a, a) FROM t',
        "CREATE VIEW v AS SELECT edit/* */('x', 'y')",
        "CREATE VIEW v AS SELECT readfile('/etc/hostname')",
        f"CREATE VIEW v AS SELECT '{'x' * 9000}', edit('x', 'y')",
    ],
)
def test_a_view_that_starts_programs_or_opens_files(tmp_path: Path, view: str) -> None:
    assert "calls" in reaching(database(tmp_path / "a.db", view))


def test_what_cannot_be_read_is_not_proved(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_text("no database, but long enough to be taken for one" * 9)
    assert "cannot be read" in reaching(str(tmp_path / "a.db"))


def test_views_of_duckdb_cannot_be_looked_into(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"\0" * 8 + b"DUCK" + b"\0" * 500)
    assert "views" in reaching(str(tmp_path / "a.db"))


def test_a_log_that_was_not_merged_is_not_proved(tmp_path: Path) -> None:
    path = database(tmp_path / "a.db", mode="wal")
    assert reaching(path) == ""
    (tmp_path / "a.db-wal").write_bytes(b"x" * 64)
    assert "log" in reaching(path)


def test_views_in_the_log_of_a_database_in_use_are_seen(tmp_path: Path) -> None:
    path = database(tmp_path / "a.db", mode="wal")
    writer = sqlite3.connect(path)
    writer.create_function("edit", 2, lambda text, _: text)
    writer.execute("CREATE VIEW v AS SELECT edit('x', 'y')")
    writer.commit()
    assert "calls" in reaching(path)
    writer.close()


def test_looking_writes_nothing(tmp_path: Path) -> None:
    path = database(tmp_path / "a.db", "CREATE VIEW v AS SELECT a FROM t")
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
    reaching(path)
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == before


def test_a_database_that_the_call_itself_writes_is_not_proved(tmp_path: Path) -> None:
    path = database(tmp_path / "a.db")
    name = "\0".join((str(tmp_path), "={}", path))
    assert obeyed(name, Lowering("bash"), Links(None), home="/h") == ""
    made = Lowering("bash", (Effect(Operation.WRITE, Target(Kind.PATH, path)),))
    assert "may write" in obeyed(name, made, Links(None), home="/h")
