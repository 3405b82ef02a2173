"""Whether the files that a command loads are unchanged in the session, and its words stay in the workspace."""

from __future__ import annotations

import os
import posixpath

from assent.contract import Invocation, Kind, Operation, Pattern
from assent.facts.packs.imports import PYTHON_ENDINGS, Loaded, is_of_a_library
from assent.facts.packs.pack_call import PackCall

CHANGING = (Operation.WRITE, Operation.DELETE)
ENVIRONMENTS = (".venv", "venv", "env")
SCRATCH = ("/tmp/", "/private/tmp/")
# Files that no program loads as code.
NO_CODE = (".md", ".txt", ".rst", ".log", ".csv", ".tsv", ".out", ".html", ".svg", ".png", ".jpg", ".pdf", ".prof")
# Variables before a command that tell code how to print, not what to do.
_QUIET = Pattern(
    r"(?:CI|DEBUG|VERBOSE|LOG_LEVEL|PORT|TZ|LANG|LC_ALL|TERM|COLUMNS|NO_COLOR|FORCE_COLOR|PYTHONUNBUFFERED"
    r"|PYTHONDONTWRITEBYTECODE|PYTHONIOENCODING|CGO_ENABLED|GOMAXPROCS|RUST_BACKTRACE)=[\w.:,*-]*"
    r"|NODE_ENV=(?:test|development)|PYTHONPATH=(?:\./?)?(?:[A-Za-z][\w-]*(?:/[A-Za-z][\w-]*)*/?)?"
)
_ASSIGNED = Pattern(r"\s*(\w+\+?=(?:\"[^\"]*\"|'[^']*'|[^\s\"'])*)\s+")
# Words in names of code that affects others or cannot be undone; such code is not run without a prompt.
_FAR = frozenset(
    """deploy deployment publish release push prod production prd live staging migrate migration migrations seed drop
    delete destroy remove rm del wipe purge reset flush truncate rollback revoke restore apply send notify email mail
    sms pay refund transfer charge upload sync promote terminate shutdown kill install uninstall provision rotate grant
    backup import ingest backfill cleanup clean prune nuke erase
    shell repl console exec execute eval dbshell sql query""".split()
)
_CODE = ("-c", "-e", "-p", "--eval", "--exec", "--command", "--code", "--print")  # before code or a command
_PLAIN = Pattern(r"[\w./:=,+@%~#^-]*")
_SEPARATED = Pattern(r"[=:,]")
_STILL = frozenset("cd pushd popd set . source : true time timeout nice".split())  # pass nothing to the next command
_STATEMENT = Pattern(r"(?:^|[\s;&|({])([A-Za-z_]\w*\+?=\S*)")
_PARTS = Pattern(r"[A-Za-z][a-z]*|[A-Z]+")


def is_untouched(call: PackCall, index: int, loaded: Loaded) -> bool:
    files = tuple(loaded.files)
    written = call.history.written()
    if loaded.open and (_wrote(call) or _is_fed(call, index)):
        return False
    if _shadows(call, loaded):
        return False
    if any(written_in(call, folder) for folder in loaded.installed):
        return False
    caches = [f"{folder}/__pycache__" for folder in dict.fromkeys((*loaded.folders, *map(posixpath.dirname, files)))]
    if any(written_in(call, cache) for cache in caches):
        return False  # Python may load compiled files there instead
    if any(path in written.paths for path in loaded.absent):
        return False
    if loaded.configured and any(_is_configuration(path) for path in written.paths):
        return False
    if _changes_code(call, index):
        return False
    if not all(_is_plain(call, path) for path in files):
        return False
    return not files or call.history.as_before(files, call.links) == frozenset(files)


def _is_configuration(path: str) -> bool:
    name = path.rpartition("/")[2].lower()
    return name.endswith(".json") and "config" in name


def _wrote(call: PackCall) -> bool:
    """Whether the session wrote anything: a file that code reads may change what it runs."""
    written = call.history.written()
    return bool(written.unnamed or written.paths or written.below.keys() - {"/"})


def _is_fed(call: PackCall, index: int) -> bool:
    """Whether the call may give code something to read, by a file, its input, or a file in a temporary folder."""
    command = call.lowering.invocations[index]
    around = {index, *call.lowering.runners(index)}
    for at, other in enumerate(call.lowering.invocations[:index]):
        wraps = other.words[-len(command.words) :] == command.words
        if at not in around and not wraps and other.program not in _STILL and other.within not in around:
            return True
    if "<" in command.source or any(part.startswith(SCRATCH) for word in command.words for part in word.split("=")):
        return True
    return any(
        effect.operation in CHANGING and effect.invocation not in around and effect.target.kind is Kind.PATH
        for effect in call.lowering.effects
    )


def _shadows(call: PackCall, loaded: Loaded) -> bool:
    """Whether the session wrote a module that shadows one for library code."""
    suspects: dict[str, None] = {}
    for folder in loaded.first:
        for path in call.history.written().paths:
            if not path.startswith(folder + "/"):
                continue
            top, _, rest = path[len(folder) + 1 :].partition("/")
            package = f"{folder}/{top}/__init__.py"
            if not os.path.lexists(package) and (rest or not top.endswith(PYTHON_ENDINGS)):
                continue  # no module, or one that shadows no other
            if is_of_a_library(top.partition(".")[0]):
                return True
            suspects[path if top.endswith(PYTHON_ENDINGS) else package] = None
    return bool(suspects) and call.history.had(tuple(suspects), call.links) != frozenset(suspects)


def _is_code(call: PackCall, path: str) -> bool:
    return holds(call, path) and not path.lower().endswith(NO_CODE)


def written_in(call: PackCall, folder: str) -> bool:
    """Whether a call of the session, or this one, names something in a folder to be written."""
    written = call.history.written()
    names = {folder, call.links.canonical(folder)}
    if "" in names or written.unnamed:
        return True
    return any(
        path == name or path.startswith(name + "/") or (path in written.below and name.startswith(path + "/"))
        for name in names
        for path in (*written.paths, *(each for each in written.below if each != "/"))
    )


def _changes_code(call: PackCall, index: int) -> bool:
    """Whether another part of the call writes a file that may be loaded; writes of the code itself do not count."""
    for effect in call.lowering.effects:
        target = effect.target
        if effect.operation not in CHANGING or effect.invocation == index or target.kind is not Kind.PATH:
            continue
        if effect.invocation > index and index in call.lowering.runners(effect.invocation):
            continue
        if not target.name or not target.certain or target.pattern or effect.recursive:
            return True
        leads = call.links.canonical(target.raw or target.name)
        if not leads or _is_code(call, leads) or _is_code(call, target.name):
            return True
    return False


def holds(call: PackCall, path: str) -> bool:
    """Whether a path is a root of the workspace, or below one."""
    return any(path == root or path.startswith(root.rstrip("/") + "/") for root in call.roots)


def _is_plain(call: PackCall, path: str) -> bool:
    """Whether no link is between the root of the workspace and a file."""
    return any(
        call.links.canonical(path) == call.links.canonical(root) + path[len(root) :]
        for root in call.roots
        if path.startswith(root + "/")
    )


# ---------------------------------------------------------------- its words


def has_plain_words(call: PackCall, command: Invocation, *, outer: bool = False) -> bool:
    """Whether no word names a place outside the workspace, a hidden file, an address, code, or something that affects
    others. `outer`: it runs other commands, which are judged on their own."""
    if not all(_PLAIN.fullmatch(word) for word in command.words[1:]):
        return False
    if not outer and any("@" in word or _is_far(word) for word in command.words):
        return False
    return all(_stays(call, command, part) for word in command.words[1:] for part in _SEPARATED.split(word))


def _is_far(word: str) -> bool:
    return word in _CODE or any(part.lower() in _FAR for part in _PARTS.findall(word))


def _stays(call: PackCall, command: Invocation, value: str) -> bool:
    """Whether a word, or a part of one, names nothing outside the workspace, and nothing hidden."""
    if value.startswith("-"):
        return "/" not in value and "~" not in value
    if value[:1] in ("/", "~") or ".." in value.split("/"):
        path = posixpath.normpath(posixpath.join(command.cwds[0], value)) if value[:1] != "~" else value
        if not holds(call, path) and not path.startswith(SCRATCH):
            return False
    hidden = {part for part in value.split("/") if part.startswith(".") and part.strip(".")}
    return hidden <= {".bin", *ENVIRONMENTS}


def has_quiet_variables(call: PackCall, command: Invocation) -> bool:
    """Whether variables that are set for the command only change how it prints."""
    text = command.source
    while found := _ASSIGNED.match(text):
        if not _QUIET.fullmatch(found[1]):
            return False
        text = text[found.end() :]
    for found in _STATEMENT.finditer(call.lowering.text):
        name = found[1].partition("=")[0]
        if (name != name.lower() or name.endswith("_proxy")) and not _QUIET.fullmatch(found[1].rstrip(";&|)}")):
            return False
    return not any(_exports(each) for each in call.lowering.invocations if not each.file)


def searched(command: Invocation) -> list[str]:
    """The folders that `PYTHONPATH` names before a command."""
    text, out = command.source, []
    while found := _ASSIGNED.match(text):
        name, _, value = found[1].partition("=")
        if name == "PYTHONPATH":
            out = [posixpath.normpath(posixpath.join(command.cwds[0], value))]
        text = text[found.end() :]
    return out


def _exports(command: Invocation) -> bool:
    if command.program == "set":
        return any((word.startswith("-") and "a" in word) or word == "allexport" for word in command.words[1:])
    return command.program in ("export", "declare", "typeset", "env", "readonly", "eval")
