"""How many rows a statement touches in a local SQLite file. Never runs the statement.

INVARIANT: the rows are counted in a copy in memory, by a query that an authorizer restricts to reading the tables of
that copy; a handler ends it at the deadline. Only the condition of the statement goes into the query."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator
from typing import TYPE_CHECKING

from assent.contract import Facts, Invocation, Pattern
from assent.contract.approval import Consequence
from assent.facts.consequences.deadline import Deadline
from assent.facts.consequences.repositories import NotMeasured
from assent.facts.consequences.words import counted, quoted, say
from assent.state.files import read

if TYPE_CHECKING:
    from sqlite3 import Connection

KIND = "rows"
PROGRAMS = frozenset({"sqlite3", "sqlite"})
MOST_BYTES = 64 * 1024 * 1024
MOST_TEXT = 1_000_000  # bytes of one value
MOST_STATEMENTS = 5
_STEPS = 2000  # SQLite VM steps between two checks of the clock
_NAME = r"(?:\"(?:[^\"]|\"\")+\"|\[[^\]]+\]|`[^`]+`|[A-Za-z_]\w*)"
_TABLE = rf"(?:main\s*\.\s*)?(?P<table>{_NAME})"
_OR = r"(?:\s+or\s+(?:rollback|abort|replace|fail|ignore))?"
_DELETE = Pattern(rf"(?is)^\s*delete\s+from\s+{_TABLE}(?:\s+as\s+{_NAME})?\s*(?:where\s+(?P<where>.+))?$")
_UPDATE = Pattern(rf"(?is)^\s*update{_OR}\s+{_TABLE}\s+set\s+(?P<rest>.+)$")
_DROP = Pattern(rf"(?is)^\s*drop\s+table\s+(?:if\s+exists\s+)?{_TABLE}\s*$")
_INSERT = Pattern(rf"(?is)^\s*(?:insert{_OR}|replace)\s+into\s+{_TABLE}\s*(?:\([^()]*\))?\s*values\s*(?P<rest>.+)$")
_CHANGES = Pattern(r"(?is)^\s*(?:delete|update|drop\s+table|insert|replace|alter|with)\b")
# A token of SQL: text, names in quotes, comments, words, and single marks.
_TOKEN = Pattern(r"(?s)'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\[[^\]]*\]|`[^`]*`|--[^\n]*|/\*.*?(?:\*/|$)|\w+|\s+|.")
_FUNCTIONS = frozenset(
    "abs char coalesce count date datetime glob hex ifnull iif instr julianday length like lower ltrim max min nullif "
    "printf format quote replace round rtrim sign strftime substr substring sum time trim typeof unicode unixepoch "
    "upper avg total group_concat json json_extract json_type json_valid -> ->> exists".split()
)
_TAILS = ("returning", "order", "limit")


def measure(command: Invocation, folder: str, facts: Facts, deadline: Deadline) -> Iterator[Consequence]:
    try:
        path, statements = _stated(command, folder)
        changing = [each for each in statements if _CHANGES.match(each)]
        if not changing:
            return
        yield from _Rows(path, facts, deadline).of(changing)
    except NotMeasured as error:
        yield say(KIND, "rows.unknown", why=str(error), cut=deadline.cut)


def _stated(command: Invocation, folder: str) -> tuple[str, list[str]]:
    if not command.literal:
        raise NotMeasured("its words are known only when it runs")
    if len(command.operands) < 2:
        raise NotMeasured("the statements are not in the command")
    file = command.operands[0].removeprefix("file:").partition("?")[0]
    if file in ("", ":memory:"):
        return "", []
    text = "\n;".join(command.operands[1:])
    return posixpath.normpath(posixpath.join(folder, file)), split(text)


def split(text: str) -> list[str]:
    """The statements of a text, without comments."""
    found, part = [], ""
    for token in _TOKEN.findall(text):
        if token == ";":
            found.append(part.strip())
            part = ""
        else:
            part += " " if token.startswith(("--", "/*")) else token
    return [each for each in (*found, part.strip()) if each]


class _Rows:
    """Counts in a copy of one database."""

    def __init__(self, path: str, facts: Facts, deadline: Deadline) -> None:
        if deadline.is_remote(path):
            raise NotMeasured("the database is on a network file system")
        self.path = path
        self.deadline = deadline
        self._database = _copy(path, deadline)

    def of(self, statements: list[str]) -> Iterator[Consequence]:
        try:
            for statement in statements[:MOST_STATEMENTS]:
                yield self._one(statement)
            if len(statements) > MOST_STATEMENTS:
                yield say(KIND, "rows.unknown", why=f"of {len(statements)} statements the first were counted", cut=True)
            if _has_more(self.path):
                yield say(KIND, "rows.behind", names=quoted(posixpath.basename(self.path)))
        finally:
            self._database.close()

    def _one(self, statement: str) -> Consequence:
        try:
            return self._counted(statement)
        except NotMeasured as error:
            return say(KIND, "rows.unknown", why=str(error), cut=self.deadline.cut)

    def _counted(self, statement: str) -> Consequence:
        if found := _DROP.match(statement):
            rows = self._count(found["table"])
            return say(KIND, "rows.drop", table=_shown(found["table"]), rows=_worded(rows))
        if found := _INSERT.match(statement):
            rows, total = _groups(found["rest"]), self._count(found["table"])
            return say(KIND, "rows.insert", rows=_worded(rows), table=_shown(found["table"]), total=_worded(total))
        if found := _DELETE.match(statement):
            key, where = "rows.delete", found["where"] or ""
        elif found := _UPDATE.match(statement):
            key, where = "rows.update", _condition(found["rest"])
        else:
            raise NotMeasured("the statement is not one that can be counted")
        if not _is_balanced(where):
            raise NotMeasured("its condition is not one expression")
        if _has_tail(where or statement):
            raise NotMeasured("the statement has a limit or returns rows")
        total = self._count(found["table"])
        rows = self._count(found["table"], where) if where else total
        return say(KIND, key, rows=_worded(rows), total=f"{total:,}", table=_shown(found["table"]))

    def _count(self, table: str, where: str = "") -> int:
        import sqlite3

        query = f"SELECT count(*) FROM main.{_as_name(table)}"
        try:
            found: int = self._database.execute(f"{query} WHERE ({where}\n)" if where else query).fetchone()[0]
        except sqlite3.Error as error:
            if self.deadline.over():
                raise NotMeasured("counting took too long") from None
            raise NotMeasured(f"SQLite says {quoted(str(error))}") from None
        return found


def _copy(path: str, deadline: Deadline) -> Connection:
    """A read-only connection to a copy of the file in memory."""
    import sqlite3

    try:
        data = read(path, MOST_BYTES, os.O_NOFOLLOW)[0]
    except FileNotFoundError:
        raise NotMeasured(f"{quoted(posixpath.basename(path))} is not there") from None
    except OSError as error:
        raise NotMeasured(f"the database cannot be read: {error.strerror or 'it is too large'}") from None
    if deadline.over():
        raise NotMeasured("the database is too large for the time")
    if data[18:20] == b"\2\2":  # a write-ahead log is for files only
        data = data[:18] + b"\1\1" + data[20:]
    database = sqlite3.connect(":memory:")
    try:
        database.deserialize(data)
        for limit, most in ((sqlite3.SQLITE_LIMIT_LENGTH, MOST_TEXT), (sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200)):
            database.setlimit(limit, most)
        database.execute("PRAGMA trusted_schema = OFF")
        database.execute("PRAGMA cell_size_check = ON")
        database.execute("PRAGMA query_only = ON")
        database.set_authorizer(_authorized)
        database.set_progress_handler(lambda: deadline.over(), _STEPS)
    except (sqlite3.Error, AttributeError, OverflowError):
        database.close()
        raise NotMeasured("it is no database that can be read") from None
    return database


def _authorized(action: int, first: str | None, second: str | None, place: str | None, inner: str | None) -> int:
    """Let a query read columns and call plain functions. `inner` is a view or trigger that does it: not allowed."""
    import sqlite3

    if inner is None and action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ):
        return sqlite3.SQLITE_OK
    if inner is None and action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in _FUNCTIONS:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def _has_more(path: str) -> bool:
    """Whether a log or journal beside the file holds changes that are not in it."""
    for end in ("-wal", "-journal"):
        try:
            if os.lstat(path + end).st_size:
                return True
        except OSError:
            continue
    return False


def _as_name(name: str) -> str:
    """A name in quotes that SQLite reads as a name and nothing else."""
    bare = name[1:-1].replace('""', '"') if name[:1] in '"[`' else name
    return '"' + bare.replace('"', '""') + '"'


def _shown(name: str) -> str:
    return quoted(name[1:-1] if name[:1] in '"[`' else name)


def _worded(rows: int) -> str:
    return counted(rows, "row")


def _top(text: str) -> Iterator[tuple[int, str]]:
    """The places and tokens of a text outside parentheses."""
    depth = at = 0
    for token in _TOKEN.findall(text):
        depth += (token == "(") - (token == ")")
        if depth == 0 and token != ")":
            yield at, token.lower()
        at += len(token)


def _condition(rest: str) -> str:
    """The condition of an update; `""` if it has none. Raises NotMeasured if it joins tables."""
    for at, token in _top(rest):
        if token == "from":
            raise NotMeasured("the statement joins tables")
        if token == "where":
            return rest[at + len("where") :].strip()
    return ""


def _is_balanced(text: str) -> bool:
    """Whether a condition stays a condition between parentheses."""
    depth = 0
    for token in _TOKEN.findall(text):
        depth += (token == "(") - (token == ")")
        if depth < 0:
            return False
    return depth == 0


def _has_tail(text: str) -> bool:
    return any(token in _TAILS for _, token in _top(text))


def _groups(rest: str) -> int:
    """The number of rows that an insert adds. Raises NotMeasured if more follows."""
    depth = rows = 0
    for token in _TOKEN.findall(rest):
        if depth == 0 and (token.isalpha() or token in ("'", '"')):
            raise NotMeasured("the statement does more than add rows")
        rows += depth == 0 and token == "("
        depth += (token == "(") - (token == ")")
    return rows
