"""The effects of a word in each role. Does not decide which word has which role."""

from __future__ import annotations

from collections.abc import Callable

from assent.contract import Operation, Pattern
from assent.effects.shell.command import Arg
from assent.effects.shell.commands.command_effects import (
    DELETE,
    LIST,
    READ,
    SEARCH,
    WRITE,
    EffectsBuilder,
    Word,
    literal,
    shown,
    values,
)
from assent.effects.shell.commands.readers import load

_PATHS: dict[str, tuple[Operation, ...]] = {
    "READ": (READ,),
    "LIST": (LIST,),
    "SEARCH": (SEARCH,),
    "WRITE": (WRITE,),
    "DELETE": (DELETE,),
    "EDIT": (READ, WRITE),
    "MOVE": (READ, DELETE),
    "REPLACE": (READ, DELETE),
    "INTO": (WRITE,),
    "ERASE": (WRITE, DELETE),
}
_QUIET = {
    "READ": "READ",
    "LIST": "LIST",
    "SEARCH": "SEARCH",
    "EDIT": "READ",
    "MOVE": "READ",
    "REPLACE": "READ",
    "SCRIPT": "READ",
}
_LANGUAGES = {
    "SQL": ("code.sql", "sql"),
    "SED": ("code.sed", "sed_script"),
    "AWK": ("code.awk", "awk_program"),
    "JQ": ("code.jq", "jq_filter"),
    "CODE:python": ("code.python", "python_code"),
}


def apply(
    builder: EffectsBuilder,
    role: str,
    word: Word,
    *,
    recursive: bool = False,
    writes: bool = False,
    stays: bool = False,
    visible: bool = False,
) -> None:
    """Add the effects of a word in a role. RUN is not among them: it takes more than one word."""
    operations = _PATHS.get(role)
    if operations is not None:
        if writes and role in ("READ", "SEARCH"):
            operations = (*operations, WRITE)
        for operation in operations:
            whole = recursive or role == "MOVE"
            builder.path(operation, word, recursive=whole, stays=whole and stays, visible=visible)
    elif role == "REV":
        _revision(builder, word, recursive)
    elif role in ("URL", "HOST"):
        builder.fetch(word)
    elif role == "SHELL":
        builder.shell(word)
    elif role == "SCRIPT" and shown(word) != "-":
        builder.script_file(word)
    elif role == "SCRIPT":
        builder.execute()
    elif role == "CONFIG":
        builder.execute()
        builder.maybe.extend(text for text in values(word) if text is not None)
    elif role == "DIR":
        builder.enter(word)
    elif role == "REPO":
        _repo(builder, word)
    elif role == "REMOTE":
        _remote(builder, word)
    elif role == "GITCONFIG":
        git_setting(builder, word)
    elif role in _LANGUAGES or role.startswith("CODE:"):
        module, function = _LANGUAGES.get(role) or ("code.inline", f"{role[5:]}_code")
        read: Callable[[EffectsBuilder, Word], None] = load(module, function)  # type: ignore[assignment]
        read(builder, word)
    elif role not in ("TEXT", ""):
        raise AssertionError(role)


def quiet(role: str) -> str:
    """The remaining role if the command only prints (`--dry-run`)."""
    return _QUIET.get(role, "TEXT") if role not in ("URL", "HOST", "DIR", "REPO", "REMOTE", "SQL") else role


_COMMIT = Pattern(r"(?:HEAD|@|[A-Z]+_HEAD|[0-9a-f]{7,40})(?:[~^@].*)?|[^/.:][^:]*\.\.(?!/)[^:]*|\.\.")
_UPWARDS = Pattern(r"(?:^|[/:])\.\.(?:/|$)")  # characters that no revision has
_MAGIC = Pattern(r":(?:\([^)]*\)|[!^/]+|[0-3]:)?")
_NAMED = Pattern(r":([^\s:()\"'`]+)")  # the path in `$(…):path`, or in the words of the substitution


def _revision(builder: EffectsBuilder, word: Word, whole: bool) -> None:
    """A revision, a path, or a path in a revision: git shows the file in any case. For folders outside the repository,
    `git diff` shows all their files. `whole`: it can only be a path, with all below (`--no-index`)."""
    for text in values(word):
        if text is None:
            for path in _NAMED.findall(shown(word)):
                builder.path(READ, path)
        if text is None or (not whole and _is_commit(text)):
            continue
        magic = _MAGIC.match(text) if not whole else None
        path = text[magic.end() :] if magic else text.partition(":")[2] if ":" in text and not whole else text
        if ":" in path and not whole:  # `:function:file`, as `git log -L` takes it
            builder.path(READ, path.rpartition(":")[2])
        if path:
            below = whole or path.startswith(("/", "../")) or _UPWARDS.search(path) is not None
            named = path if isinstance(word, str) else Arg(word.text, (path,), pattern=word.pattern)
            builder.path(READ, named, recursive=below, stays=below)


def _is_commit(text: str) -> bool:
    return _COMMIT.fullmatch(text) is not None and (text == ".." or _UPWARDS.search(text) is None)


def _remote(builder: EffectsBuilder, word: Word) -> None:
    """A git remote: a name, an address, or a repository's folder. A helper (`ext::cmd`) runs a command."""
    for text in values(word):
        if text is None:
            builder.fetch(word)
        elif "::" in text.partition("/")[0]:
            builder.execute()
            if text.startswith("ext::"):
                builder.shell(text[5:].replace("% ", " "))
        elif "://" in text:
            builder.fetch(text)
        elif ":" in text.partition("/")[0]:
            builder.fetch(text.partition(":")[0])
        elif "/" in text or text.startswith("."):
            builder.path(READ, text, recursive=True, stays=True)


def _repo(builder: EffectsBuilder, word: Word) -> None:
    text = literal(word)
    builder.repositories.append(builder.targets(text)[0].name if text is not None else "")


# ---------------------------------------------------------------- git -c

# Whole names: a longer name (`diff.renames.textconv`) is a driver's, and runs a program.
_HARMLESS = frozenset(
    """author.email author.name blame.blankboundary blame.coloring blame.date blame.markignoredlines
    blame.markunblamablelines blame.showemail blame.showroot branch.sort committer.email committer.name core.abbrev
    core.autocrlf core.bigfilethreshold core.checkstat core.commentchar core.commitgraph core.compression core.eol
    core.filemode core.ignorecase core.longpaths core.multipackindex core.precomposeunicode core.preloadindex
    core.quotepath core.safecrlf core.trustctime core.whitespace diff.algorithm diff.autorefreshindex diff.colormoved
    diff.colormovedws diff.context diff.dirstat diff.dstprefix diff.ignoresubmodules diff.indentheuristic
    diff.interhunkcontext diff.mnemonicprefix diff.noprefix diff.relative diff.renamelimit diff.renames diff.srcprefix
    diff.statgraphwidth diff.statnamewidth diff.submodule diff.suppressblankempty diff.wordregex diff.wserrorhighlight
    format.pretty grep.column grep.extendedregexp grep.fullname grep.linenumber grep.patterntype grep.threads
    i18n.commitencoding i18n.logoutputencoding index.threads init.defaultbranch log.abbrevcommit log.date log.decorate
    log.diffmerges log.excludedecoration log.follow log.graphcolors log.initialdecorationset log.mailmap log.showroot
    merge.conflictstyle merge.directoryrenames merge.renamelimit merge.renames merge.stat merge.verbosity pack.threads
    protocol.version safe.directory tag.sort user.email user.name versionsort.suffix""".split()
)
_FAMILIES = ("advice.", "color.", "column.", "pretty.", "status.")  # no setting below these names a program
_OFF = frozenset({"false", "0", "no", "off"})
_UNPAGED = _OFF | {"", "cat", "true", "1", "yes", "on"}
_VALUES: dict[str, frozenset[str]] = {
    "commit.gpgsign": _OFF,
    "core.editor": frozenset({"true", ":"}),
    "core.fsmonitor": _OFF,
    "core.untrackedcache": _OFF,
    "gc.auto": frozenset({"0"}),
    "log.showsignature": _OFF,
    "maintenance.auto": _OFF,
    "submodule.recurse": _OFF,
    "tag.gpgsign": _OFF,
}
_COMMANDS = ("alias.", "core.editor", "core.fsmonitor", "core.pager", "core.sshcommand", "pager.", "sequence.editor")
_COMMAND_ENDS = (".command", ".textconv", ".clean", ".smudge", ".process", ".cmd", ".program", ".helper", ".driver")


def git_setting(builder: EffectsBuilder, word: Word) -> None:
    """`key=value` of `git -c`: harmless for display settings, else EXECUTE; a command in it counts as run."""
    for text in values(word):
        key, _, value = (text or "").partition("=")
        key = key.strip().lower()
        if text is None or not is_display_setting(key, value):
            builder.execute()
            if value and (key.startswith(_COMMANDS) or key.endswith(_COMMAND_ENDS)):
                alias = key.startswith("alias.") and not value.startswith("!")
                builder.shell(f"git {value}" if alias else value.removeprefix("!"))


def is_display_setting(key: str, value: str) -> bool:
    """Whether a setting of git changes only what it shows and writes."""
    if key in _VALUES:
        return value.lower() in _VALUES[key]
    if key.startswith("pager."):
        return value.lower() in _UNPAGED
    return key in _HARMLESS or key.startswith(_FAMILIES)
