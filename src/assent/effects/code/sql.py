"""Judges SQL, and the meta-commands of the clients that take it: does a text only read?

Only what is known to read is believed: the statement, and every function in it. The rest is EXECUTE."""

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
_DESTROYS = Pattern(
    r"(?is)\b(?:drop\s+(?:table|database|schema|index|view|user|role|collection)|truncate)\b|\bflushall\b|\bflushdb\b"
)
_DELETES_ALL = Pattern(r"(?is)\bdelete\s+from\b(?:(?!\bwhere\b|;).)*(?:;|$)")


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
        line.builder.settings(("+{}",))  # who asks what is in a database means one that is there


def sql(builder: EffectsBuilder, word: Word) -> None:
    for text in values(word):
        if text is not None and _only_reads(builder, text):
            builder.service(builder.program)
            continue
        builder.execute()
        destroys = text is not None and (_DESTROYS.search(text) or _DELETES_ALL.search(text))
        if destroys and builder.program not in _LOCAL:
            builder.danger("destroy-remote")


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
        return False  # several statements are more than a look
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
    """The tokens of each statement, names in lower case; None for what is not certain to be read alike everywhere."""
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
    """A text in duckdb's SQL may be the name of a file or an address. `sure`: it is one."""
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
