"""Code and statements in the words of programs without another reader: framework consoles, database clients.

Records their visible effects; proves nothing."""

from __future__ import annotations

from assent.contract import Pattern
from assent.effects.shell.commands.command_effects import READ, EffectsBuilder, Word, literal
from assent.programs.traits import has

# How consoles are started, with the language of their code and the option for it. A framework's script comes after its
# interpreter.
_CONSOLES: dict[tuple[str, ...], tuple[str, tuple[str, ...]]] = {
    ("manage.py", "shell"): ("python", ("-c", "--command")),
    ("manage.py", "shell_plus"): ("python", ("-c", "--command")),
    ("django-admin", "shell"): ("python", ("-c", "--command")),
    ("flask", "shell"): ("python", ()),
    ("ipython",): ("python", ("-c",)),
    ("ipython3",): ("python", ("-c",)),
    ("bpython",): ("python", ()),
    ("rails", "runner"): ("ruby", ("",)),
    ("rails", "r"): ("ruby", ("",)),
    ("rails", "console"): ("ruby", ()),
    ("rails", "c"): ("ruby", ()),
    ("irb",): ("ruby", ()),
    ("pry",): ("ruby", ("-e",)),
    ("artisan", "tinker"): ("php", ("--execute",)),
    ("psysh",): ("php", ()),
    ("wp", "eval"): ("php", ("",)),
    ("drush", "eval"): ("php", ("",)),
    ("drush", "php:eval"): ("php", ("",)),
    ("drush", "php-eval"): ("php", ("",)),
    ("ts-node",): ("node", ("-e", "--eval", "-p")),
    ("tsx",): ("node", ("-e", "--eval", "-p")),
    ("deno", "eval"): ("node", ("",)),
    ("zx",): ("node", ("-e", "--eval")),
}
_STATEMENT = Pattern(
    r"(?is)\s*(?:--[^\n]*\n\s*)*(?:drop\s+(?:table|database|schema|keyspace|index|view|warehouse|user|role|collection)\b|truncate\s+(?:table\s+)?[\w.\"`]+\s*(?:;|$|,|cascade\b|restart\b)"
    r"|delete\s+from\b|update\s+\S+\s+set\b|alter\s+table\b|begin\s*;|insert\s+overwrite\b|exec(?:ute)?\s+sp_msforeachtable\b)"
)
_GRAPH = Pattern(r"(?is).*\bmatch\b(?!.*\bwhere\b).*\bdelete\b")
_PROSE = frozenset(
    "-m --message -t --title -b --body -F --notes --subject --description --grep -g --query-name".split()
)
_LOCAL = frozenset("sqlite3 sqlite duckdb sqlite-utils litecli".split())
_MOST_WORDS, _LONGEST = 40, 65_536
# Programs that run the statements of a file, other than clients of databases or services.
_RUNS_FILES = frozenset(
    "prisma drizzle-kit sqlplus mysqlsh vsql bteq nzsql soda sql-migrate atlas dolt edgedb gel".split()
)
_OTHERWHERE = frozenset("lint fix format parse render diff validate generate pull dump --local new create".split())
# Words that make a program a database console.
_CONSOLE_WORDS = frozenset(
    """dbshell dbconsole db sql shell psql redis:cli pg:psql connect console repl cli query execute mongosh redis-cli
    mysql""".split()
)
_EMPTIES = Pattern(
    r"(?im)(?:^|;)\s*(?:flush_all|flushall|flushdb|remove\s+(?:database|namespace|table)\b|(?:drop|truncate|disable)\s+'"
    r"|drop_all|disable_all|db\.dropDatabase|update\s+delete\s|(?:del|delete)\s+-+\w*\s*--prefix)"
)
# Options of clients with statements: then none are read from the input.
_STATED = frozenset(
    "-c -e -f -q -Q -i -l --command --execute --file --query --eval -tAc -tac -Atc -tc -At -Nse -Ne -se -NBe".split()
)
_STATED_LONG = ("--command=", "--execute=", "--file=", "--query=", "--eval=", "-c", "-e", "--help", "--version")
_FILE_CLIENTS = frozenset("sftp ftp lftp ncftp tnftp smbclient cftp".split())
_REMOVED_THERE = Pattern(r"(?im)(?:^|;)\s*(?:rm|rmdir|mrm|mdelete|delete|mdel|del|deltree)\s")
_PUT_THERE = Pattern(r"(?im)(?:^|;)\s*(?:re)?(?:put|mput|send)\s+(?:-\S+\s+)*(\S+)")


def add(builder: EffectsBuilder, words: list[Word]) -> None:
    """Record the effects of the code and statements among the words."""
    for language, text in _given(builder.program, words):
        _read(builder, language, text)
    if has(builder.program, "prose") or builder.program in _LOCAL:
        return
    _add_files(builder, words)
    before = ""
    for word in words[:_MOST_WORDS]:
        text = literal(word) or ""
        name, _, value = text.partition("=") if text[:2] == "--" else ("", "", text)
        if " " in value and len(value) <= _LONGEST and (name or before) not in _PROSE:
            _destroys(builder, value)
        before = text


def _add_files(builder: EffectsBuilder, words: list[Word]) -> None:
    """Files of statements that the words name: `--file x.sql`, `@x.sql`."""
    program = builder.program
    if not (program in _RUNS_FILES or has(program, "service-client") or has(program, "database-client")):
        return
    texts = [literal(word) or "" for word in words[:_MOST_WORDS]]
    if not _OTHERWHERE.isdisjoint(texts):
        return
    named = {effect.target.text for effect in builder.effects}
    for text in texts:
        path = text.rpartition("=")[2] if text[:1] == "-" else text.removeprefix("@")
        if path.endswith(".sql") and "://" not in path and path not in named:
            builder.script_file(path)


def is_console(program: str, words: tuple[Word, ...]) -> bool:
    """Whether a program's standard input is statements for a database that others may share."""
    if has(program, "local-database") or has(program, "looks-only"):
        return False
    texts = [literal(word) or "" for word in words[:6]]
    if has(program, "database-client"):
        return not any(text in _STATED or text.startswith(_STATED_LONG) for text in map(str, map(literal, words)))
    if has(program, "service-client") or program in ("hbase", "surreal", "rails", "wp", "drush", "artisan"):
        return not _CONSOLE_WORDS.isdisjoint(texts)
    return "dbshell" in texts or "dbconsole" in texts


def add_sent(builder: EffectsBuilder, text: str, words: tuple[Word, ...]) -> None:
    """Record the effects of a text sent to a console, a connection or a remote file client."""
    program = builder.program
    if program in _FILE_CLIENTS:
        if _REMOVED_THERE.search(text):
            builder.danger("destroy")
        for name in _PUT_THERE.findall(text):
            builder.path(READ, name, dangers=("exfiltration",))
            builder.danger("exfiltration")
    elif has(program, "network-pipe") or is_console(program, words):
        _destroys(builder, text)
        if _EMPTIES.search(text):
            builder.danger("destroy")


def of_input(program: str, words: tuple[Word, ...]) -> str:
    """The language of a console's standard input, or nothing."""
    if program == "uv" and words[:1] == ("run",) and "-" in words:
        return "python"
    found = _console(program, words)
    return found[0] if found is not None else ""


def read_input(builder: EffectsBuilder, language: str, text: str) -> None:
    _read(builder, language, text)


def _given(program: str, words: list[Word]) -> list[tuple[str, str]]:
    found = _console(program, tuple(words))
    if found is None:
        return []
    language, options, rest = found
    texts: list[str] = []
    before = ""
    for word in rest:
        text = literal(word)
        if text is None:
            before = ""
            continue
        name, _, value = text.partition("=")
        if before in options and before:
            texts.append(text)
        elif name in options and value:
            texts.append(value)
        elif "" in options and text[:1] != "-":
            texts.append(text)
            break
        before = text
    return [(language, text) for text in texts if len(text) <= _LONGEST]


def _console(program: str, words: tuple[Word, ...]) -> tuple[str, tuple[str, ...], tuple[Word, ...]] | None:
    """The language of a console, its options for code, and the words after its name."""
    names = [program, *((literal(word) or "").rpartition("/")[2] for word in words[:3])]
    for start in range(min(2, len(names))):
        if start and not (has(program, "maybe-python") or program.startswith("php") or program == "ruby"):
            break
        for length in (2, 1):
            found = _CONSOLES.get(tuple(names[start : start + length]))
            if found is not None:
                return (*found, words[start + length - 1 :])
    return None


def _read(builder: EffectsBuilder, language: str, text: str) -> None:
    if language != "python":
        from assent.effects.code import inline

        inline.visible(builder, text, language)
        return
    from assent.effects.code.dataflow.python_effects import python_effects
    from assent.effects.code.python_parse import parsed

    tree = parsed(text)
    if tree:
        python_effects(builder, tree)


def _destroys(builder: EffectsBuilder, text: str) -> None:
    if builder.program == "psql" and "destroy" in builder.dangers:  # its reader knows which database they are for
        return
    if _STATEMENT.match(text):
        from assent.effects.code.sql import destroying

        builder.danger(*(destroying(text) or (("destroy",) if "foreachtable" in text.lower() else ())))
    elif _GRAPH.match(text):
        builder.danger("destroy")
