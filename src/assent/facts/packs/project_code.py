"""The pack `project-code`: running the project's own code, unchanged since the session's start.

Proved of a command: the file, module, package or task that it runs, and every file of the project that this loads, have
the bytes of the session's first commit, and neither the session nor the call wrote one of them, or one that would be
loaded in its place. Code that loads or starts others by computed names is proved only while the session wrote
nothing, and the call gives it nothing to read. Installed code (`node_modules`, `.venv`) is not in the commit: it is
proved that no call of the session named a file there to be written. Writes by code that was allowed to run are unknown;
whoever allows such code allows all that it can do.

Only EXECUTE is settled. The visible commands of the code are judged as if they were in the call."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator

from assent.contract import Effect, Invocation, Kind, Operation, Pattern
from assent.facts.packs.imports import Loaded
from assent.facts.packs.pack_call import PackCall
from assent.facts.packs.untouched import (
    ENVIRONMENTS,
    has_plain_words,
    has_quiet_variables,
    holds,
    is_untouched,
    searched,
)

_PYTHON = Pattern(r"(?:.*/)?python(?:3(?:\.\d+)?)?")
_SHELL = frozenset({"bash", "sh", "dash", "zsh"})
_TYPESCRIPT = frozenset({"tsx", "ts-node", "esno"})
_WRAPPERS = {"uv": ("run",), "poetry": ("run",), "pdm": ("run",), "pipenv": ("run",), "npx": (), "pnpm": ("exec",)}
RUNS = (Kind.PROGRAM, Kind.PATH, Kind.CODE, Kind.MODULES)
# Files that configure a wrapper before it runs a program.
_OBEYED = {
    "uv": ("pyproject.toml", "uv.lock", "uv.toml", ".python-version", "setup.py", "setup.cfg"),
    "poetry": ("pyproject.toml", "poetry.lock", "poetry.toml"),
    "pdm": ("pyproject.toml", "pdm.lock", "pdm.toml", ".pdm-python"),
    "pipenv": ("Pipfile", "Pipfile.lock"),
    "npx": (".npmrc", "package.json"),
    "pnpm": (".npmrc", "package.json", "pnpm-workspace.yaml", ".pnpmfile.cjs", ".pnpmfile.mjs"),
    "npm": (".npmrc", "package.json"),
    "yarn": (".npmrc", "package.json", ".yarnrc", ".yarnrc.yml", ".pnp.cjs", ".pnp.loader.mjs"),
    "bun": ("bunfig.toml", ".npmrc", "package.json"),
}
_VARIABLES = (".env", ".env.local", ".env.development", ".env.test")  # never in git; some programs load them
_SYSTEM = ("/usr/bin/", "/usr/local/bin/", "/bin/", "/opt/homebrew/bin/")
_TYPESCRIPT_SETTINGS = ("tsconfig.json", "jsconfig.json")
# Options of interpreters before a file that neither load nor run anything.
_PYTHON_OPTIONS = frozenset("-u -B -O -OO -I -E -s -q -bb -b -P".split())
_PYTHON_VALUES = Pattern(
    r"-W (?:error|ignore|default|always|module|once)|-X (?:dev|utf8|importtime|faulthandler|tracemalloc)"
)
_NODE_OPTIONS = Pattern(
    r"--(?:no-warnings|enable-source-maps|trace-warnings|trace-uncaught|no-deprecation|use-strict"
    r"|experimental-strip-types|max-old-space-size=\d+|stack-trace-limit=\d+)"
)
_SHELL_OPTIONS = Pattern(r"-[euxv]+|-[eux]*o|pipefail|errexit|nounset")
_GO_OPTIONS = Pattern(r"-(?:race|v|trimpath|mod=(?:readonly|mod)|tags=[\w,]+)")
_REPEATS = ("watch", "entr", "nodemon", "watchexec", "parallel")  # run the code again later
_BY_TASK = ", as the task finds it"  # of a program that a task looks for among installed packages
_SEARCHED = "`PYTHONPATH`"  # that a command is run with, among folders of the workspace
_ACTIVATES = frozenset({".", "source"})


def concerns(effect: Effect) -> bool:
    return effect.operation is Operation.EXECUTE and effect.target.kind in RUNS


def proved(call: PackCall) -> Iterator[Effect]:
    written = call.history.written()
    if written.job or not written.whole or call.lowering.job:
        return
    fine: set[int] = set()
    effects: dict[int, list[Effect]] = {}
    for effect in call.lowering.effects:
        if concerns(effect):
            effects.setdefault(effect.invocation, []).append(effect)
    if any(effect.target.kind is Kind.TREE for effect in call.lowering.effects):
        return  # git changes files before or after
    if any(command.program in _REPEATS for command in call.lowering.invocations):
        return
    for index, command in enumerate(call.lowering.invocations):
        mine = effects.get(index)
        if mine is None or any(effect.dangers for effect in mine):
            continue
        if any(other < index and other not in fine and _runs_before(other, index, call) for other in effects):
            continue
        if _is_own(call, index, command):
            fine.add(index)
            yield from mine
        elif command.within in fine:  # installed packages, which come first, were proved with the task
            yield from (effect for effect in mine if effect.target.text.endswith(_BY_TASK))


def _runs_before(other: int, index: int, call: PackCall) -> bool:
    """Whether an unproved command may have changed files before another; a wrapper around it has not."""
    return other >= 0 and other not in call.lowering.runners(index) and not _wraps(call, other, index)


def _wraps(call: PackCall, outer: int, inner: int) -> bool:
    """Whether one command is in the words of another."""
    words, within = call.lowering.invocations[outer].words, call.lowering.invocations[inner].words
    return len(within) < len(words) and words[len(words) - len(within) :] == within


def _is_own(call: PackCall, index: int, command: Invocation) -> bool:
    if command.forfeit and not command.forfeit.startswith(_SEARCHED):
        return False
    if not command.literal or len(command.cwds) != 1 or not holds(call, command.cwds[0]):
        return False
    # The commands they run are judged on their own.
    outer = command.program in _WRAPPERS or any(each[0] == index and each[3] for each in call.lowering.recipes)
    if not has_plain_words(call, command, outer=outer) or not has_quiet_variables(call, command):
        return False
    loaded = _found(call, index, command)
    return loaded is not None and is_untouched(call, index, loaded)


# ---------------------------------------------------------------- what a command runs


def _found(call: PackCall, index: int, command: Invocation) -> Loaded | None:
    words, folder, loaded = list(command.words), command.cwds[0], Loaded(call.links, call.roots)
    first = words[0]
    name = first.rpartition("/")[2]
    if any(each[0] == index for each in call.lowering.recipes):
        return _task(call, index, command, loaded)
    if name in _WRAPPERS and "/" not in first:
        return _wrapped(call, index, command, loaded)
    if first in _ACTIVATES:
        return _activated(words, folder, loaded)
    installed = _installed(first, folder)
    installed = installed if holds(call, installed) else ""
    if installed:
        loaded.installed[installed] = None
    elif "/" in first and first[: -len(name)] not in _SYSTEM:
        return _script(call, index, posixpath.normpath(posixpath.join(folder, first)), loaded, "")
    if _PYTHON.fullmatch(first):
        loaded.searched = searched(command)
        return _python(call, index, words[1:], folder, loaded)
    if name in _SHELL:
        rest = _after_options(words[1:], _SHELL_OPTIONS.fullmatch)
        return _script(call, index, _path(rest, folder), loaded, "sh")
    if name == "node" or name in _TYPESCRIPT or name == "bun":
        rest = _after_options(words[1:], _NODE_OPTIONS.fullmatch)
        rest = rest[1:] if name == "bun" and rest[:1] == ["run"] else rest
        found = _script(call, index, _path(rest, folder), loaded, "node")
        if name != "node":
            _typescript(call, loaded, folder)
        if name == "bun":
            _obey(call, loaded, folder, _OBEYED["bun"])
            loaded.absent.update(dict.fromkeys(f"{each}/{one}" for each in _up(call, folder) for one in _VARIABLES))
        return found
    if first == "go" and words[1:2] == ["run"]:
        return _go(_after_options(words[2:], _GO_OPTIONS.fullmatch), folder, loaded)
    if not installed and "/" not in first and _is_active(call, index, name):
        return _console(call, name, folder, loaded)
    return _console(call, name, folder, loaded) if installed or _is_wrapped(call, index) else None


def _typescript(call: PackCall, loaded: Loaded, folder: str) -> None:
    """Settings for the location of modules, of the folder and of every file."""
    for each in dict.fromkeys((folder, *map(posixpath.dirname, tuple(loaded.files)))):
        _obey(call, loaded, each, _TYPESCRIPT_SETTINGS)
    loaded.configured = True


def _after_options(words: list[str], known: object) -> list[str]:
    """The words after known options; none if one is unknown."""
    for at, word in enumerate(words):
        if not callable(known) or not known(word):
            return words[at:] if not word.startswith("-") else []
    return []


def _path(words: list[str], folder: str) -> str:
    return posixpath.normpath(posixpath.join(folder, words[0])) if words else ""


def _installed(program: str, folder: str) -> str:
    """The folder of installed packages that a program is in; `""` if there is none."""
    parts = program.split("/")
    if parts[-3:-1] == ["node_modules", ".bin"] or (
        len(parts) > 2 and parts[-2] == "bin" and parts[-3] in ENVIRONMENTS
    ):
        place = posixpath.normpath(posixpath.join(folder, *parts[:-2]))
        return place if ".." not in parts else ""
    return ""


def _script(call: PackCall, index: int, path: str, loaded: Loaded, interpreter: str) -> Loaded | None:
    """A file of code, by the program that reads it (`""`: by its first line)."""
    if not path or not os.path.isfile(path):
        return None
    language = interpreter or _language(path)
    if language == "python":
        _python_file(call, path, loaded)
    elif language == "node":
        loaded.node(path)
    elif language == "sh":
        loaded.files[path] = None
        if any(gap.file == path for gap in call.lowering.gaps) or path in call.lowering.changing:
            loaded.open = f"`{path}` is not understood"
        if not any(command.file == path for command in call.lowering.invocations):
            loaded.open = f"`{path}` was not read"
    else:
        loaded.files[path] = None
        loaded.open = "it is in another language"
    return loaded


def _language(path: str) -> str:
    try:
        with open(path, "rb") as file:
            first = file.readline(200).decode("ascii", "replace")
    except OSError:
        return ""
    words = first.removeprefix("#!").split()
    if not first.startswith("#!") or not words:
        return ""
    name = words[1] if words[0] == "/usr/bin/env" and len(words) == 2 else words[0].rpartition("/")[2]
    if len(words) > 1 and words[0] != "/usr/bin/env":
        return ""
    return (
        "python"
        if _PYTHON.fullmatch(name)
        else "node"
        if name in ("node", *_TYPESCRIPT)
        else "sh"
        if name in _SHELL
        else ""
    )


# ---------------------------------------------------------------- python


def _python(call: PackCall, index: int, words: list[str], folder: str, loaded: Loaded) -> Loaded | None:
    while words and (words[0] in _PYTHON_OPTIONS or _PYTHON_VALUES.fullmatch(" ".join(words[:2]))):
        words = words[1:] if words[0] in _PYTHON_OPTIONS else words[2:]
    if words[:1] == ["-m"] and len(words) > 1:
        return _python_module(call, words[1], folder, loaded)
    if not words or words[0].startswith("-"):
        return None
    return _script(call, index, _path(words, folder), loaded, "python")


def _python_module(call: PackCall, name: str, folder: str, loaded: Loaded) -> Loaded | None:
    """`python -m name`: a module or package in the folder, or of the project's sources, which may be installed."""
    parts = name.split(".")
    places = [folder, *loaded.searched, *_sources(call, folder)]
    stem = next((p for place in places if _is_module(p := posixpath.join(place, *parts))), "")
    if not stem:
        return None
    starts = [f"{stem}/__main__.py", f"{stem}/__init__.py"] if os.path.isdir(stem) else [f"{stem}.py"]
    around = [posixpath.join(place, *parts[:end], "__init__.py") for place in places for end in range(1, len(parts))]
    _python_environment(call, folder, loaded)
    loaded.first.update(dict.fromkeys((folder, *loaded.searched)))
    loaded.python([path for path in (*starts, *around) if os.path.isfile(path)], places)
    return loaded


def _is_module(stem: str) -> bool:
    return os.path.isfile(f"{stem}/__main__.py") or os.path.isfile(f"{stem}.py")


def _python_file(call: PackCall, path: str, loaded: Loaded) -> None:
    folder = posixpath.dirname(path)
    _python_environment(call, folder, loaded)
    loaded.first.update(dict.fromkeys((folder, *loaded.searched)))
    loaded.python([path], [folder, *loaded.searched, *_sources(call, folder)])


def _sources(call: PackCall, folder: str) -> list[str]:
    """The folders of the project's own packages, which may be installed as links."""
    found = []
    for root in _up(call, folder):
        found += [root, f"{root}/src"]
    return [each for each in found if os.path.isdir(each)]


def _python_environment(call: PackCall, folder: str, loaded: Loaded) -> None:
    """Installed packages, and settings of the environment that add others."""
    for root in _up(call, folder):
        for name in ENVIRONMENTS:
            if os.path.isdir(f"{root}/{name}"):
                loaded.installed[f"{root}/{name}"] = None
    if os.environ.get("PYTHONPATH") or os.environ.get("PYTHONHOME"):
        loaded.open = "`PYTHONPATH` says where modules come from"


def _console(call: PackCall, name: str, folder: str, loaded: Loaded) -> Loaded | None:
    """A console script of the project's own package, by its `pyproject.toml`."""
    import tomllib

    for root in _up(call, folder):
        file = f"{root}/pyproject.toml"
        if not os.path.isfile(file):
            continue
        text = loaded.text(file)
        try:
            entry = tomllib.loads(text).get("project", {}).get("scripts", {}).get(name, "")
        except (tomllib.TOMLDecodeError, AttributeError):
            return None
        module = entry.partition(":")[0].strip() if isinstance(entry, str) else ""
        return _python_module(call, module, root, loaded) if module else None
    return None


def _activated(words: list[str], folder: str, loaded: Loaded) -> Loaded | None:
    """`. .venv/bin/activate`: installed, as its tool wrote it."""
    if len(words) != 2 or posixpath.basename(words[1]) != "activate":
        return None
    installed = _installed(words[1], folder)
    if not installed or not os.path.isfile(f"{installed}/pyvenv.cfg"):
        return None
    loaded.installed[installed] = None
    return loaded


def _is_active(call: PackCall, index: int, name: str) -> bool:
    """Whether the environment of a program is activated before."""
    for command in call.lowering.invocations[:index]:
        if command.words[0] in _ACTIVATES and len(command.words) == 2 and not command.file and len(command.cwds) == 1:
            installed = _installed(command.words[1], command.cwds[0])
            if installed and os.path.lexists(f"{installed}/bin/{name}"):
                return True
    return False


# ---------------------------------------------------------------- go, tasks, and programs that run others


def _go(words: list[str], folder: str, loaded: Loaded) -> Loaded | None:
    if not words or "..." in words[0] or "@" in words[0]:
        return None
    if words[0].endswith(".go"):
        folder = posixpath.dirname(_path(words, folder))
    elif words[0] == "." or words[0].startswith(("./", "../")):
        folder = _path(words, folder)
    else:
        return None
    loaded.go(folder)
    return loaded


def _task(call: PackCall, index: int, command: Invocation, loaded: Loaded) -> Loaded | None:
    """A task whose recipe was read: its manifest, and the settings of the program that runs it."""
    for at, manifest, _, whole in call.lowering.recipes:
        if at == index:
            loaded.files[manifest] = None
            _obey(call, loaded, posixpath.dirname(manifest), _OBEYED.get(command.program, ()))
            if not whole:
                loaded.open = "not all of the task is known"
    for gap in call.lowering.gaps:
        if gap.within == index:
            loaded.open = "not all of the task is understood"
    _modules_above(call, command.cwds[0], loaded)
    return loaded


def _wrapped(call: PackCall, index: int, command: Invocation, loaded: Loaded) -> Loaded | None:
    """`uv run x`, `npx x`: a program that runs another, which is judged on its own, if it installs nothing."""
    words, name = list(command.words), command.program
    start = 1 + len(_WRAPPERS[name])
    if tuple(words[1:start]) != _WRAPPERS[name] or len(words) <= start or words[start].startswith("-"):
        return None
    if not _is_wrapped(call, index + 1) or call.lowering.invocations[index + 1].words != tuple(words[start:]):
        return None
    program, folder = words[start], command.cwds[0]
    if name in ("npx", "pnpm"):
        places = [f"{each}/node_modules" for each in _up(call, folder)]
        if "/" in program or not any(os.path.lexists(f"{place}/.bin/{program}") for place in places):
            return None
        _modules_above(call, folder, loaded)
    else:
        _python_environment(call, folder, loaded)
        loaded.absent.update(dict.fromkeys(f"{each}/{one}" for each in _up(call, folder) for one in _VARIABLES))
        if name == "uv" and not any(os.path.isdir(f"{each}/.venv") for each in _up(call, folder)):
            return None  # it makes one by building the package
    _obey(call, loaded, folder, _OBEYED[name])
    return loaded


def _is_wrapped(call: PackCall, index: int) -> bool:
    """Whether a command is in the words of one before it."""
    commands = call.lowering.invocations
    return 0 < index < len(commands) and commands[index - 1].program in _WRAPPERS and _wraps(call, index - 1, index)


def _modules_above(call: PackCall, folder: str, loaded: Loaded) -> None:
    for each in _up(call, folder):
        if os.path.isdir(f"{each}/node_modules"):
            loaded.installed[f"{each}/node_modules"] = None


def _obey(call: PackCall, loaded: Loaded, folder: str, names: Iterable[str]) -> None:
    for each in _up(call, folder):
        for name in names:
            path = f"{each}/{name}"
            (loaded.files if os.path.lexists(path) else loaded.absent)[path] = None


def _up(call: PackCall, folder: str) -> list[str]:
    """A folder and those above it, up to the root of the workspace."""
    found = []
    while holds(call, folder):
        found.append(folder)
        folder = posixpath.dirname(folder)
    return found
