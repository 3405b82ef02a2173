"""SQL and the meta-commands of its clients."""

from __future__ import annotations

import pytest

from assent.effects.code.sql import destroying
from tests.unit.effects.shell.commands.commands import does

READS = [
    "SELECT * FROM users WHERE name = 'drop table x --'",
    "select count(*), lower(name) from t group by 2 -- delete\n",
    "WITH x AS (SELECT 1) SELECT * FROM x",
    "EXPLAIN SELECT 1",
    "EXPLAIN ANALYZE SELECT 1",
    "SHOW CREATE TABLE t",
    "SELECT replace(a, 'x', 'y') FROM t",
    "\\dt",
    "\\d+ users",
]
ACTS = [
    "INSERT INTO t VALUES (1)",
    "WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x",
    "SELECT 1; DROP TABLE t",
    "SELECT 1; SELECT 2",
    "SELECT 1--1; DROP TABLE t",
    "SELECT [a'] ; DROP TABLE t; --']",
    "SELECT /*! 1; DROP TABLE t */",
    "SELECT * INTO t2 FROM t",
    "SELECT * FROM t INTO OUTFILE '/tmp/x'",
    "EXPLAIN ANALYZE DELETE FROM t",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT lo_export(1, '/tmp/x')",
    "SELECT nextval('s')",
    "SELECT my_function()",
    "SELECT 'a\\'; DROP TABLE t; --'",
    "SELECT $$a$$",
    "COPY t TO PROGRAM 'x'",
    "SELECT * FROM t FOR UPDATE",
    "\\! rm x",
    "\\o f",
    "\\dt `rm x`",
    "SELECT 1 \\g |x",
]


@pytest.mark.parametrize("text", READS)
def test_a_statement_that_is_known_to_read_is_a_read(text: str) -> None:
    assert set(does(("psql", "-c", text))) == {"READ <psql>"}


@pytest.mark.parametrize("text", ACTS)
def test_any_other_is_executed(text: str) -> None:
    assert any(line.startswith("EXECUTE") for line in does(("psql", "-c", text)))


def test_dropping_and_emptying_destroy() -> None:
    for text in ("DROP TABLE t", "TRUNCATE t", "DELETE FROM t", "UPDATE t SET a = 1", "drop database app_test;"):
        assert "DESTROY <psql> !destroy" in does(("psql", "-c", text))
    for text in ("drop database d;", "DROP SCHEMA public CASCADE"):
        assert "DESTROY <psql> !destroy !destroy-remote" in does(("psql", "-c", text))
    for text in (
        "DELETE FROM t WHERE id = 1",
        "UPDATE t SET a = 'drop table x' WHERE id = 1",
        "INSERT INTO t VALUES (1) ON CONFLICT DO UPDATE SET a = 1",
    ):
        assert "EXECUTE <psql>" in does(("psql", "-c", text))
        assert not any(line.startswith("DESTROY") for line in does(("psql", "-c", text)))


@pytest.mark.parametrize(
    "text",
    [
        "BEGIN; DELETE FROM t; COMMIT",
        "WITH x AS (DELETE FROM t RETURNING id) SELECT * FROM x",
        "DELETE FROM t WHERE 1 = 1",
        "DELETE FROM t WHERE true",
        "ALTER TABLE t DROP COLUMN a",
        "CREATE OR REPLACE TABLE t AS SELECT 1",
        "EXPLAIN ANALYZE DELETE FROM t",
        "/*!50000 DROP TABLE t */",
    ],
)
def test_what_empties_or_overwrites_destroys_however_it_is_put(text: str) -> None:
    assert destroying(text) == ("destroy",)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 'drop table x'",
        "-- drop table x\nSELECT 1",
        "SELECT * FROM t FOR UPDATE",
        "CREATE TABLE x (id int REFERENCES y ON DELETE CASCADE)",
        "EXPLAIN DELETE FROM t",
        "INSERT INTO t SELECT * FROM u",
    ],
)
def test_what_only_mentions_it_does_not(text: str) -> None:
    assert destroying(text) == ()


def test_sqlite_reads_its_file() -> None:
    reads = ["READ app.db", "READ <sqlite3>", "EXECUTE </w\0+{}.db {}-journal ={}\0/w/app.db>"]
    assert does(("sqlite3", "app.db", "SELECT 1"), settings=True) == reads
    tables = [*reads[:2], "EXECUTE </w\0+{}\0/w/app.db>", reads[2]]
    assert does(("sqlite3", "app.db", ".tables"), settings=True) == tables
    assert does(("sqlite3", "app.db", "PRAGMA table_info(t)"), settings=True) == reads
    for text in (
        ".shell rm x",
        ".output f",
        "PRAGMA journal_mode=DELETE",
        "SELECT readfile('x')",
        "SELECT 1;\n.shell x",
    ):
        assert "EXECUTE <sqlite3>" in does(("sqlite3", "app.db", text)), text
    assert "SHELL rm x" in does(("sqlite3", "app.db", ".shell rm x"))


def test_duckdb_reads_files_by_name() -> None:
    assert "READ a.csv" in does(("duckdb", "-c", "SELECT * FROM 'a.csv'"))
    assert "FETCH h" in does(("duckdb", "-c", "SELECT * FROM 'https://h/a.csv'"))
    assert any(line.startswith("EXECUTE") for line in does(("duckdb", "-c", "COPY t TO 'f'")))
