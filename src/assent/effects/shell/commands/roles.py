"""What a word does in each role of the format. Decides nothing about which word has which role."""

from __future__ import annotations

from assent.contract.effect import Operation
from assent.contract.pattern import Pattern
from assent.effects.shell.command import Arg
from assent.effects.shell.commands.readers import language
from assent.effects.shell.commands.seen import DELETE, LIST, READ, SEARCH, WRITE, Seen, literal, shown, values

TYPE_CHECKING = False
if TYPE_CHECKING:
    Word = str | Arg

_PATHS: dict[str, tuple[Operation, ...]] = {
    "READ": (READ,),
    "LIST": (LIST,),
    "SEARCH": (SEARCH,),
    "WRITE": (WRITE,),
    "DELETE": (DELETE,),
    "EDIT": (READ, WRITE),
    "MOVE": (READ, DELETE),
    "INTO": (WRITE,),
    "ERASE": (WRITE, DELETE),
}
_QUIET = {"READ": "READ", "LIST": "LIST", "SEARCH": "SEARCH", "EDIT": "READ", "MOVE": "READ", "SCRIPT": "READ"}
_LANGUAGES = frozenset({"SQL", "SED", "AWK", "JQ"})


def apply(
    seen: Seen,
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
            seen.path(operation, word, recursive=whole, stays=whole and stays, visible=visible)
    elif role in ("TEXT", ""):
        return
    elif role == "REV":
        _revision(seen, word)
    elif role in ("URL", "HOST"):
        seen.fetch(word)
    elif role == "SHELL":
        seen.shell(word)
    elif role == "SCRIPT":
        if shown(word) != "-":
            seen.script_file(word)
        else:
            seen.execute()
    elif role == "CONFIG":
        seen.execute()
        seen.maybe.extend(text for text in values(word) if text is not None)
    elif role == "DIR":
        seen.enter(word)
    elif role == "REPO":
        _repo(seen, word)
    elif role == "REMOTE":
        _remote(seen, word)
    elif role == "GITCONFIG":
        git_setting(seen, word)
    elif role in _LANGUAGES or role.startswith("CODE:"):
        language(role)(seen, word)
    else:
        raise AssertionError(role)


def quiet(role: str) -> str:
    """The role that is left where the command only prints (`--dry-run`)."""
    return _QUIET.get(role, "TEXT") if role not in ("URL", "HOST", "DIR", "REPO", "REMOTE", "SQL") else role


_COMMIT = Pattern(r"(?:HEAD|@|[A-Z]+_HEAD|[0-9a-f]{7,40})(?:[~^@].*)?|[^/.].*\.\.(?!/).*|\.\.")
_MAGIC = Pattern(r":(?:\([^)]*\)|[!^/]+|[0-3]:)?")
_NAMED = Pattern(r":([^\s:()\"'`]+)")  # the path in `$(…):path`, or in the words of the substitution


def _revision(seen: Seen, word: Word) -> None:
    """A revision, a path, or a path in a revision: git shows the file, whichever it is."""
    for text in values(word):
        if text is None:
            for path in _NAMED.findall(shown(word)):
                seen.path(READ, path)
        if text is None or _COMMIT.fullmatch(text):
            continue
        magic = _MAGIC.match(text)
        path = text[magic.end() :] if magic else text.partition(":")[2] if ":" in text else text
        if path:
            seen.path(READ, path if isinstance(word, str) else Arg(word.text, (path,), pattern=word.pattern))


def _remote(seen: Seen, word: Word) -> None:
    """A git remote: a name, an address, or a repository's folder. A helper (`ext::cmd`) runs a command."""
    for text in values(word):
        if text is None:
            seen.fetch(word)
        elif "::" in text.partition("/")[0]:
            seen.execute()
            if text.startswith("ext::"):
                seen.shell(text[5:].replace("% ", " "))
        elif "://" in text:
            seen.fetch(text)
        elif ":" in text.partition("/")[0]:
            seen.fetch(text.partition(":")[0])
        elif "/" in text or text.startswith("."):
            seen.path(READ, text, recursive=True, stays=True)


def _repo(seen: Seen, word: Word) -> None:
    text = literal(word)
    targets = seen.targets(text) if text is not None else []
    seen.repositories.append(targets[0].name if targets else "")


# ---------------------------------------------------------------- git -c

_HARMLESS = (
    "advice.",
    "blame.",
    "branch.sort",
    "color.",
    "column.",
    "core.abbrev",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.quotepath",
    "core.safecrlf",
    "diff.algorithm",
    "diff.colormoved",
    "diff.context",
    "diff.ignoresubmodules",
    "diff.mnemonicprefix",
    "diff.noprefix",
    "diff.renamelimit",
    "diff.renames",
    "diff.submodule",
    "grep.",
    "i18n.",
    "init.defaultbranch",
    "log.",
    "merge.conflictstyle",
    "merge.renamelimit",
    "status.",
    "tag.sort",
    "user.email",
    "user.name",
)
_COMMANDS = ("alias.", "core.editor", "core.fsmonitor", "core.pager", "core.sshcommand", "pager.", "sequence.editor")
_COMMAND_ENDS = (".command", ".textconv", ".clean", ".smudge", ".process", ".cmd", ".program", ".helper", ".driver")


def git_setting(seen: Seen, word: Word) -> None:
    """`key=value` of `git -c`: harmless for display settings, else EXECUTE; a command in it is seen as run."""
    for text in values(word):
        if text is None:
            seen.execute()
            continue
        key, equals, value = text.partition("=")
        key = key.strip().lower()
        if _is_setting(key, value):
            continue
        seen.execute()
        if equals and value and (key.startswith(_COMMANDS) or key.endswith(_COMMAND_ENDS)):
            _git_command(seen, key, value)


def _is_setting(key: str, value: str) -> bool:
    if key == "core.fsmonitor" or key == "core.untrackedcache":
        return value.lower() in ("false", "0", "no", "off")
    if key == "commit.gpgsign" or key == "tag.gpgsign" or key == "log.showsignature":
        return value.lower() in ("false", "0", "no", "off")
    return key.startswith(_HARMLESS)


def _git_command(seen: Seen, key: str, value: str) -> None:
    if key.startswith("alias.") and not value.startswith("!"):
        seen.shell(f"git {value}")
    else:
        seen.shell(value.removeprefix("!"))
