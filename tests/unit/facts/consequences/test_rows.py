"""How many rows a statement touches in a SQLite file, without ever running it."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path

import pytest

from assent.contract import Facts
from assent.effects import shell
from assent.facts.consequences import rows
from assent.facts.consequences.deadline import Deadline


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "app.db"
    with sqlite3.connect(path) as made:
        made.execute("CREATE TABLE users (id INTEGER, name TEXT)")
        made.execute('CREATE TABLE "odd ""name" (x)')
        made.executemany("INSERT INTO users VALUES (?, ?)", [(each, f"n{each}") for each in range(1, 11)])
    made.close()
    return path


def shown(database: Path, statement: str, *, seconds: float = 10.0) -> list[str]:
    quoted = "'" + statement.replace("'", "'\\''") + "'"
    lowering = shell.lower(f"sqlite3 {database.name} {quoted}", cwd=str(database.parent), home="/home/user")
    before = database.read_bytes() if database.is_file() else b""
    found = rows.measure(lowering.invocations[0], str(database.parent), Facts(), Deadline(seconds))
    lines = [each.text for each in found]
    assert before == (database.read_bytes() if database.is_file() else b"")
    assert not [each for each in os.listdir(database.parent) if each.endswith(("-shm", "-wal", "-journal"))]
    return lines


@pytest.mark.parametrize(
    ("statement", "line"),
    [
        ("DELETE FROM users WHERE id > 7", "deletes 3 rows of 10 in `users`"),
        ("delete from users", "deletes 10 rows of 10 in `users`"),
        ("DELETE FROM main.users WHERE name LIKE 'n1%'", "deletes 2 rows of 10 in `users`"),
        ("DELETE FROM users WHERE id IN (SELECT max(id) FROM users)", "deletes 1 row of 10 in `users`"),
        ("DELETE FROM users WHERE name = 'a;b -- c' /* x */", "deletes 0 rows of 10 in `users`"),
        ("UPDATE users SET name = 'where' WHERE id = 1", "changes 1 row of 10 in `users`"),
        ("UPDATE OR IGNORE users SET name = (SELECT 'x' WHERE 1)", "changes 10 rows of 10 in `users`"),
        ("DROP TABLE IF EXISTS users", "drops `users` with 10 rows"),
        ("INSERT INTO users (id, name) VALUES (1, 'a'), (2, '(')", "adds 2 rows to `users`, which has 10 rows"),
        ('DROP TABLE "odd ""name"', 'drops `odd ""name` with 0 rows'),
    ],
)
def test_the_rows_of_a_statement_are_counted(database: Path, statement: str, line: str) -> None:
    assert shown(database, statement) == [line]


def test_statements_that_only_read_say_nothing(database: Path) -> None:
    assert shown(database, "SELECT * FROM users; PRAGMA table_info(users)") == []


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM users WHERE load_extension('x')",
        "DELETE FROM users WHERE 1) UNION SELECT 1 FROM sqlite_master WHERE (1",
        "DELETE FROM users WHERE id = 1 LIMIT 2",
        "DELETE FROM users RETURNING *",
        "UPDATE users SET name = o.x FROM other o WHERE o.id = users.id",
        "DELETE FROM nothing_here",
        "DELETE FROM users WHERE (",
        "WITH x AS (SELECT 1) DELETE FROM users",
        "DELETE FROM users WHERE randomblob(1)",
        "ALTER TABLE users RENAME TO x",
        "DELETE FROM other.users",
        "DELETE FROM users WHERE 'open",
    ],
)
def test_what_cannot_be_counted_is_said(database: Path, statement: str) -> None:
    (line,) = shown(database, statement)
    assert line.startswith("how many rows it touches is not known: ")


def test_a_condition_without_end_stops_at_the_deadline(database: Path) -> None:
    endless = (
        "DELETE FROM users WHERE (WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c)"
    )
    product = (
        "DELETE FROM users WHERE (SELECT count(*) FROM " + ", ".join(f"users u{each}" for each in range(12)) + ") > 0"
    )
    for statement in (endless, product):
        began = time.monotonic()
        (line,) = shown(database, statement, seconds=0.2)
        assert "not known" in line
        assert time.monotonic() - began < 5


def test_views_and_triggers_of_a_hostile_file_do_nothing(tmp_path: Path) -> None:
    path = tmp_path / "bad.db"
    with sqlite3.connect(path) as made:
        made.execute("CREATE TABLE t (x)")
        made.execute("CREATE VIEW v AS SELECT load_extension('/x') FROM t")
        made.execute("CREATE TRIGGER g AFTER DELETE ON t BEGIN DELETE FROM t; END")
        made.execute("INSERT INTO t VALUES (1)")
    made.close()
    assert shown(path, "DELETE FROM t") == ["deletes 1 row of 1 in `t`"]
    (line,) = shown(path, "DELETE FROM v")
    assert "not known" in line


def test_a_pipe_a_link_and_what_is_no_database_are_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "text").write_text("x" * 5000)
    (tmp_path / "empty").write_text("")
    for name in ("pipe", "link", "text", "absent"):
        (line,) = shown(tmp_path / name, "DELETE FROM t")
        assert "not known" in line


def test_a_file_with_a_write_ahead_log_is_counted_and_says_what_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    made = sqlite3.connect(path)
    made.execute("PRAGMA journal_mode = WAL")
    made.execute("CREATE TABLE t (x)")
    made.execute("INSERT INTO t VALUES (1)")
    made.commit()
    made.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    made.execute("INSERT INTO t VALUES (2)")
    made.commit()
    lowering = shell.lower("sqlite3 app.db 'DELETE FROM t'", cwd=str(tmp_path), home="/home/user")
    found = rows.measure(lowering.invocations[0], str(tmp_path), Facts(), Deadline(10.0))
    assert [each.text for each in found] == [
        "deletes 1 row of 1 in `t`",
        "changes that are still in the write-ahead log of `app.db` are not counted",
    ]
    made.close()
