"""Judges SQL, and the meta-commands of the clients that take it: does a text only read?

Only known statements and functions count as reading. The rest is EXECUTE."""

from __future__ import annotations

from assent.contract import DOTALL, Pattern, re
from assent.effects.shell.command import Arg
from assent.effects.shell.commands.command_effects import (
    LONGEST,
    READ,
    WRITE,
    EffectsBuilder,
    Word,
    file_of,
    literal,
    values,
)
from assent.effects.shell.commands.line import CommandLine

_TOKEN = Pattern(
    r"""(?P<space>\s+|--(?=\s|$)[^\n]*|/\*(?:(?!/\*|\*/).)*\*/)|(?P<string>'(?:[^'\\]|'')*')|(?P<quoted>"(?:[^"\\]|"")*"|`[^`\\]*`)"""
    r"""|(?P<number>[0-9][\w.]*)|(?P<name>[A-Za-z_]\w*(?:\.\w+)*)|(?P<op>::|[-+*/%<>=!|&^~?@,.():\[\]{}]|\#>?>?)|(?P<end>;)""",
    DOTALL,
)
_READS = frozenset("select with values table show describe desc explain help".split())
_SESSION = frozenset("begin commit rollback end use".split())
_CHANGES = frozenset("insert update delete merge into outfile dumpfile replace".split())
_STATEMENTS = _CHANGES | frozenset(
    """drop create alter truncate grant revoke copy call exec execute attach detach install load vacuum lock import
    export set reset do prepare deallocate listen notify refresh reindex cluster comment security checkpoint discard
    handler rename optimize repair flush kill shutdown purge declare backup restore bulk waitfor use""".split()
)
_SEPARATES = frozenset("psql mysql mariadb sqlite3 sqlite duckdb".split())
"""Clients whose servers read only one statement up to a semicolon."""
_LOCAL = frozenset("sqlite3 sqlite duckdb".split())
_FUNCTIONS = Pattern(
    r"""(?:count|sum|min|max|avg|abs|ceil(?:ing)?|floor|round|mod|power|sqrt|sign|random|rand|greatest|least|total|exp|ln|log\d*
    |coalesce|nullif|ifnull|isnull|iif|if|case|cast|convert|try_cast|typeof|lower|upper|length|char_length|octet_length|len
    |substr(?:ing)?|left|right|trim|ltrim|rtrim|btrim|replace|reverse|repeat|lpad|rpad|instr|position|strpos|locate|concat(?:_ws)?
    |format|printf|quote|hex|unhex|char|chr|ascii|unicode|md5|sha\d*|split_part|string_(?:agg|split|to_array)|group_concat|listagg
    |regexp(?:_\w+)?|starts_with|ends_with|contains|like|glob|in|exists|any|all|some|not|and|or|on|using|over|filter|within|as|values
    |from|join|where|by|when|then|else|between|is|distinct|row|array|interval|date|time|timestamp|datetime|strftime|julianday
    |unixepoch|now|current_\w+|local(?:time|timestamp)|date_\w+|datediff|dateadd|extract|age|to_(?:char|date|timestamp|number|json\w*)
    |year|month|day|hour|minute|second|week|quarter|dayofweek|unix_timestamp|from_unixtime|str_to_date|make_\w+|generate_series|range
    |json(?:b)?_\w+|json|jsonb|array_\w+|unnest|list_\w+|map_\w+|struct_\w+|row_number|rank|dense_rank|percent_rank|cume_dist|ntile|lag
    |lead|first_value|last_value|nth_value|percentile_\w+|median|mode|stddev\w*|var(?:iance|_\w+)|corr|bool_(?:and|or)|every|bit_\w+
    |version|sqlite_version|database|schema|user|current_user|session_user|connection_id|last_insert_rowid|changes|total_changes
    |pg_(?:size_pretty|table_size|total_relation_size|relation_size|database_size|indexes_size|get_\w+|typeof|table_is_visible
    |postmaster_start_time|backend_pid|is_in_recovery|column_size|stat_get_\w+)|obj_description|col_description|format_type|regclass
    |has_\w+_privilege|to_regclass|quote_ident|quote_literal|pragma_\w+|fts\d*|rowid|decimal|numeric|varchar|char|integer|bigint|text
    |float|double|real|boolean|timestamptz|uuid|count_if|sumif|approx_\w+|any_value|arg_(?:min|max)|histogram|epoch\w*|encode|lateral
    |except|intersect|union|partition|order|grouping|sets|rollup|cube|limit|offset|recursive|materialized)""",
    re.VERBOSE,
)
_OPENED = Pattern(r"(?s)[^?#]*(?:\?(?:mode=ro|immutable=1)(?:&(?:mode=ro|immutable=1))*)?")
_SUBSCRIPT = Pattern(r"[\w\s:,*+-]*\]")
_PRAGMAS = frozenset(
    """table_info table_xinfo table_list index_list index_info index_xinfo foreign_key_list database_list collation_list
    compile_options function_list module_list pragma_list integrity_check quick_check foreign_key_check""".split()
)
_PLAIN_PRAGMAS = frozenset(
    """schema_version user_version page_count page_size freelist_count encoding journal_mode foreign_keys
    cache_size""".split()
)
_DOT = Pattern(
    r"\.(?:tables?|schema|fullschema|headers?|mode|index(?:es)?|indices|databases|dbinfo|width|nullvalue|separator|show|stats|timer"
    r"|help|version|eqp|explain|echo|bail|changes|quit|exit|dump|lint|columns)\b[^\n|]*"
)
_PSQL = Pattern(
    r"\\(?:d\w*\+?|l\+?|z|x|timing|conninfo|pset|a|t|H|q|\?|h|encoding|sf\+?|sv\+?|dconfig)(?:[ \t][^`|\\\n]*)?"
)
_CLIENT = frozenset({"help", "use"})
_GLOB = Pattern(r"[*?\[{]")
_FILES = Pattern(r"(?:read_\w+|parquet_scan|parquet_\w+|glob|sniff_csv|st_read)")
# For text that servers may read differently.
_MAY_DESTROY = Pattern(
    r"(?is)\b(?:drop\s+(?!column\b)[a-z]+|truncate|flushall|flushdb)\b|\bcreate\s+or\s+replace\s+table\b"
    r"|\b(?:delete\s+from|update)\b(?:(?!\bwhere\b|;).)*(?:;|$)"
)
_MAY_DROP_ALL = Pattern(r"(?is)\bdrop\s+(?:database|schema|keyspace|catalog)\b")
_WHOLE = frozenset("database schema keyspace catalog".split())
_CHANGING = frozenset("delete update".split())
_ALWAYS = (["1", "=", "1"], ["true"], ["1"], ["0", "=", "0"], ["not", "false"], ["1", "<", ">", "0"])
_PASSING = Pattern(
    r"(?i).*(?:^|[^a-z])(?:tests?|dev|development|local|tmp|temp|ci|sandbox|scratch|demo|shadow|e2e)(?:[^a-z].*)?$"
)
_DATABASE = Pattern(r"(?:postgres(?:ql)?://[^?\s]*/)?([\w-]+)")
_DROPPED = Pattern(r"(?i)\bdrop\s+table\s+(?:if\s+exists\s+)?[\"'`\[]?(\w+)[\"'`\]]?")
_CREATED = Pattern(
    r"(?i)\bcreate\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+)?table\s+(?:if\s+not\s+exists\s+)?[\"'`\[]?(\w+)"
)
_PRODUCTION = Pattern(r"(?i).*(?:^|[^a-z])prod(?:uction)?(?:[^a-z].*)?$")
_MONGO_FILES = (".js", ".mjs", ".cjs", ".mongodb")
_ATTACHED = Pattern(r"(?i)\battach\b[^;]*(?:://|dbname=|host=)")  # a database of a server
_MONGO_ALL = Pattern(r"\bdropDatabase['\"]?\s*[(:]")
_ENDING = frozenset("lo_unlink pg_drop_replication_slot pg_terminate_backend".split())
_MONGO = Pattern(
    r"\.(?:drop|dropIndexes|dropIndex|dropUser|dropAllUsersFromDatabase|dropRole|renameCollection)\s*\("
    r"|\.(?:deleteMany|remove|updateMany|replaceOne|deleteOne)\s*\(\s*(?:\{\s*\}|\))"
)


def sqlite(line: CommandLine) -> None:
    """`sqlite3 file:path?mode=ro statement`: the file in the address. Other settings there are EXECUTE."""
    words = line.parsed.operands
    text = literal(words[0]) if words else None
    path = file_of(text) if text is not None else None
    if text is not None and path is not None:
        if _OPENED.fullmatch(text):
            words[0] = path
        else:
            line.builder.path(READ, path)
    line.standard()
    if any((literal(word) or "").lstrip().startswith(".") for word in words[1:]):
        line.builder.settings(("+{}",))  # a query is meant for a database that exists
    if text is not None and _is_kept(path or text) and not line.parsed.has("-readonly", "--readonly"):
        stated = [*words[1:], *line.parsed.values("-c"), *line.parsed.values("-s"), *line.parsed.values("-cmd")]
        given = [each for statement in stated for each in values(statement) if each is not None]
        line.builder.danger(*lost("\n;".join(given)))
        if any(each.lstrip().startswith(".restore") for each in given):
            line.builder.danger("destroy")


def lost(text: str) -> tuple[str, ...]:
    """The loss by statements in a local database file. A table that they create again is not lost, and a file is not a
    whole server."""
    if _DROPPED.search(text):
        made = {name.lower() for name in _CREATED.findall(text)}
        if {name.lower() for name in _DROPPED.findall(text)} <= made:
            text = _DROPPED.sub("select", text)
    return ("destroy",) if destroying(text) else ()


def kept_file(words: tuple[Word, ...]) -> bool:
    """Whether the database that a client opens is a file worth keeping."""
    texts = [literal(word) for word in words]
    names = [text for text in texts if text is None or text[:1] != "-"]
    named = names[0] if names else ":memory:"
    return named is not None and _is_kept(named) and not {"-readonly", "--readonly"}.intersection(filter(None, texts))


def _is_kept(path: str) -> bool:
    """Whether a database file is worth keeping: not in memory, for tests, or temporary."""
    if _PRODUCTION.fullmatch(path):
        return True
    return path not in ("", ":memory:") and not path.startswith(("/tmp/", "/var/tmp/")) and not _PASSING.fullmatch(path)


def sql(builder: EffectsBuilder, word: Word) -> None:
    for text in values(word):
        if text is not None and _only_reads(builder, text):
            builder.service(builder.program)
            continue
        builder.execute()
        if text is None:
            if isinstance(word, Arg) and not word.prefix and builder.program not in _LOCAL:
                builder.gap("dynamic-script", f"write out the statements instead of `{word.text}`")
            continue
        if builder.program not in _LOCAL:
            builder.danger(*destroying(text))
        from assent.effects.code.escapes import escapes  # of few commands

        escapes(builder, text)


def psql(line: CommandLine) -> None:
    """A schema is not all that a server has, where the line names a database that says that it is one for tests."""
    line.standard()
    builder = line.builder
    if "destroy-remote" not in builder.dangers or line.parsed.doubts:
        return
    named = [literal(word) or "" for word in line.parsed.values("-d") or line.parsed.operands[:1]]
    given = [text for word in line.parsed.values("-c") for text in values(word)]
    if named and all(map(_is_for_tests, named)) and all(text is not None and _drops_in_place(text) for text in given):
        builder.dangers[:] = ["destroy" if each == "destroy-remote" else each for each in builder.dangers]


def _is_for_tests(name: str) -> bool:
    """Whether the name of a database, or the one in its address, says so, and nothing says production."""
    match = _DATABASE.fullmatch(name)
    return match is not None and bool(_PASSING.fullmatch(match[1])) and not _PRODUCTION.fullmatch(name)


def _drops_in_place(text: str) -> bool:
    """Whether statements drop nothing larger than a schema, and stay in their database."""
    statements = split(text) if len(text) <= LONGEST and "\\" not in text else None
    if statements is None:
        return False
    dropped = [tokens[1][1] for tokens in statements if tokens[0][1] == "drop" and len(tokens) > 1]
    return _WHOLE.isdisjoint(set(dropped) - {"schema"})


def drop_database(line: CommandLine) -> None:
    """`dropdb name`, `mysqladmin drop name`: a whole database, unless it is named as a test database."""
    line.standard()
    names = [literal(word) for word in line.parsed.operands]
    if (
        line.builder.acts
        and not line.quiet
        and not (names and all(name and _PASSING.fullmatch(name) for name in names))
    ):
        line.builder.danger("destroy-remote")


def mongo_shell(line: CommandLine) -> None:
    """`mongosh --eval code`: marks code that empties or drops."""
    line.standard()
    for word in (*line.parsed.values("--eval"), *line.parsed.operands):
        for text in values(word):
            if text is not None:
                line.builder.danger(*_mongo(text))
            if text is not None and text.endswith(_MONGO_FILES) and "://" not in text:
                line.builder.script_file(text)


def _mongo(text: str) -> tuple[str, ...]:
    if _MONGO_ALL.search(text):
        return ("destroy-remote",)
    return ("destroy",) if _MONGO.search(text) else ()


def from_input(program: str, text: str) -> tuple[str, ...]:
    """The marks of the statements on a database client's standard input."""
    return _mongo(text) if program in ("mongosh", "mongo") else destroying(text)


def destroying(text: str) -> tuple[str, ...]:
    """The mark of a text that drops, empties or overwrites: `destroy`, or `destroy-remote` for a whole database."""
    statements = split(text) if len(text) <= LONGEST else None
    if statements is None:
        if _MAY_DROP_ALL.search(text):
            return ("destroy-remote",)
        return ("destroy",) if _MAY_DESTROY.search(text) else ()
    found = [_destroys([token for _, token in statement]) for statement in statements]
    return ("destroy-remote",) if "destroy-remote" in found else ("destroy",) if "destroy" in found else ()


def _destroys(tokens: list[str]) -> str:
    """The same for one statement, by its tokens."""
    first, rest = tokens[0], tokens[1:]
    if first == "explain":
        tokens = rest[1:] if rest[:1] == ["analyze"] else []
        return _destroys(tokens) if tokens else ""
    if first == "drop":
        names = [each for each in rest[1:] if each not in ("if", "exists", "cascade", "(", ")")]
        passing = bool(names) and all(map(_PASSING.fullmatch, names))
        return "destroy-remote" if rest[:1] and rest[0] in _WHOLE and not passing else "destroy"
    if _opens(first, tokens):
        return "destroy"
    if first == "select" and not _ENDING.isdisjoint(tokens):
        return "destroy"
    if first in ("truncate", "flushall", "flushdb") or (
        tokens[:3] == ["create", "or", "replace"] and "table" in tokens[:5]
    ):
        return "destroy"
    if tokens[:2] == ["insert", "overwrite"] or (first == "alter" and "drop" in rest):
        return "destroy"
    begins = _mutates if first == "alter" else _begins
    changes = [place for place, token in enumerate(tokens) if token in _CHANGING and begins(tokens, place)]
    return "destroy" if any(_all_rows(tokens[place:]) for place in changes) else ""


def _opens(first: str, tokens: list[str]) -> bool:
    """Whether a statement grants all rights, or runs programs or writes files on the server."""
    if first == "grant":
        return tokens[1:2] == ["all"] and "temporary" not in tokens
    if first in ("create", "alter"):
        return "superuser" in tokens or tokens[1:2] == ["system"]
    if first in ("revoke", "shutdown"):
        return True
    return (first == "copy" and "program" in tokens) or "outfile" in tokens or "dumpfile" in tokens


def _begins(tokens: list[str], place: int) -> bool:
    """Whether DELETE or UPDATE begins a statement there: not `FOR UPDATE`, `ON DELETE`, `DO UPDATE`."""
    return place == 0 or (
        tokens[place - 1] in ("(", ")", "as", "begin", "then", "do") and tokens[place : place + 2] != ["update", "set"]
    )


def _mutates(tokens: list[str], place: int) -> bool:
    """Whether rows are deleted or changed there, as in `ALTER TABLE x DELETE WHERE 1`: not `ON DELETE CASCADE`."""
    return tokens[1:2] == ["table"] and tokens[place - 1] != "on"


def _all_rows(tokens: list[str]) -> bool:
    """Whether a DELETE or an UPDATE has no condition, or one that always holds."""
    if "where" not in tokens:
        return "limit" not in tokens
    condition = tokens[tokens.index("where") + 1 :]
    return condition in _ALWAYS


def only_reads(text: str) -> bool:
    """Whether a text is one statement that only reads, on any server."""
    statements = split(text.strip()) if len(text) <= LONGEST else None
    if statements is None or len(statements) != 1 or statements[0][0][1] in _SESSION:
        return False
    return _reads(EffectsBuilder("", "", ""), statements[0])


def _only_reads(builder: EffectsBuilder, text: str) -> bool:
    text = text.strip()
    if len(text) > LONGEST:
        return False
    if text.startswith("."):
        return _dots(builder, text)
    if text.startswith("\\"):
        return all(_PSQL.fullmatch(line.strip()) for line in text.split("\n") if line.strip())
    if builder.program in ("mysql", "mariadb") and text[-2:] in ("\\G", "\\g"):
        text = text[:-2]
    statements = split(text)
    if statements is None or len(statements) != 1:
        return False  # several statements are more than a query
    # A command of the client ends with its line, and the next may be another.
    several = statements[0][0][1] in _CLIENT and ("\n" in text or "\r" in text)
    return not several and _reads(builder, statements[0])


def _dots(builder: EffectsBuilder, text: str) -> bool:
    lines = text.split("\n")
    others = [line.strip() for line in lines if line.strip().startswith(".") and not _DOT.fullmatch(line.strip())]
    for line in others:
        _dot(builder, line)
    statements = split("\n".join(line for line in lines if not line.strip().startswith(".")))
    reads = [_reads(builder, statement) for statement in statements or ()]  # all of them, for the files that they name
    return statements is not None and all(reads) and not others


def _dot(builder: EffectsBuilder, line: str) -> None:
    name, _, rest = line.partition(" ")
    if name in (".shell", ".system"):
        builder.shell(rest)
    elif name in (".output", ".once", ".save", ".backup", ".log", ".excel"):
        builder.path(WRITE, rest.strip().strip("'\"") or "-")
    elif name in (".read", ".import", ".restore", ".open"):
        builder.path(READ, rest.split()[0].strip("'\"") if rest.split() else "-")


def split(text: str) -> list[list[tuple[str, str]]] | None:
    """The tokens of each statement, names in lower case; None for text that servers may read differently."""
    statements: list[list[tuple[str, str]]] = [[]]
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match[0].startswith(("/*!", "/*+", "/*M")):
            return None
        at = match.end()
        kind = match.lastgroup or ""
        if match[0] == "[" and not _SUBSCRIPT.match(text, at):
            return None  # some read brackets as quotes
        if kind == "end":
            statements.append([])
        elif kind != "space":
            statements[-1].append((kind, match[0].lower() if kind == "name" else match[0]))
    return [statement for statement in statements if statement]


def _reads(builder: EffectsBuilder, tokens: list[tuple[str, str]]) -> bool:
    first = tokens[0][1] if tokens[0][0] == "name" else ""
    if first == "pragma" or first in _SESSION:
        return _pragma(tokens) if first == "pragma" else len(tokens) <= 2
    if first not in _READS and not (builder.program == "duckdb" and first in ("from", "summarize", "pivot")):
        return False
    changes = _CHANGES if builder.program in _SEPARATES and first != "explain" else _STATEMENTS
    for index, (kind, token) in enumerate(tokens):
        called = index + 1 < len(tokens) and tokens[index + 1][1] == "("
        if kind == "name" and token in changes and index and not (called and token in ("replace", "set")):
            return first == "show" and token == "create"
        if called and (
            kind == "quoted"
            or token == "]"
            or (kind == "name" and not _function(builder, token, tokens[index + 2 : index + 4]))
        ):
            return False
        if builder.program == "duckdb" and kind in ("string", "quoted"):
            _named_file(builder, token[1:-1])
    return True


def _function(builder: EffectsBuilder, name: str, argument: list[tuple[str, str]]) -> bool:
    if builder.program == "duckdb" and _FILES.fullmatch(name):
        if len(argument) < 2 or argument[0][0] != "string" or argument[1][1] not in (")", ","):
            return False
        _named_file(builder, argument[0][1][1:-1], sure=True)
        return True
    return _FUNCTIONS.fullmatch(name) is not None


def _named_file(builder: EffectsBuilder, text: str, *, sure: bool = False) -> None:
    """A text in duckdb's SQL may be a file name or an address. `sure`: it is one."""
    local = file_of(text)
    if local is None and "://" in text:
        builder.fetch(text)
    elif sure or "." in text or "/" in text:
        path = text if local is None else local
        path = builder.home + path[1:] if path.startswith("~/") else path
        builder.path(READ, Arg(path, (path,), pattern=True) if _GLOB.search(path) else path)


def _pragma(tokens: list[tuple[str, str]]) -> bool:
    name = tokens[1][1].rpartition(".")[2] if len(tokens) > 1 else ""
    if name in _PRAGMAS:
        return not any(token == "=" for _, token in tokens)
    return name in _PLAIN_PRAGMAS and len(tokens) == 2
