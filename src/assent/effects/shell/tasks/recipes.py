"""Recipes of tasks, and how finders read manifests and the folders around them."""

from __future__ import annotations

from assent.contract import Code, Effect, Kind, Operation, Pattern, Target, dumps, sha256
from assent.effects.paths import path_target
from assent.effects.shell.code_files import scripts
from assent.effects.shell.command import Arg, Run
from assent.effects.shell.commands.command_effects import EffectsBuilder
from assent.effects.shell.record import ShellJob, Walk
from assent.programs.traits import has

EXECUTE = Operation.EXECUTE
_SIGNS = " #~*[^{?+="  # prefixes of entries that are more than a path
MOST_RUNS = 200  # lines of one recipe
MOST_PARENTS = 16
_SHEBANG = Pattern(r"#!\s*(?:/usr/bin/env\s+(?:-S\s+)?)?(\S+)[^\n]*\n")
# Builtins of a POSIX shell, whatever is in PATH.
_BUILTINS = frozenset(
    """. : [ alias bg break cd command continue echo eval exec exit export false fg getopts hash jobs kill local printf
    pwd read readonly return set shift test times trap true type ulimit umask unalias unset wait""".split()
)


class Recipe:
    """What one task runs. `file`: the manifest that has it; `name`: the task. `steps`: its texts in the manifest,
    without the words of the call. `resolved`: these are the whole task in the manifest. `exact`: nothing else decides
    what runs, except `obeys` (as rows list them, searched in `folder`). `bins`: folders that the runner puts first in
    PATH."""

    __slots__ = ("file", "name", "folder", "runs", "steps", "resolved", "exact", "obeys", "bins")

    def __init__(self, file: str, name: str, folder: str, runs: list[Run], steps: list[str]) -> None:
        self.file = file
        self.name = name
        self.folder = folder
        self.runs = runs[:MOST_RUNS]
        self.steps = steps
        self.resolved = self.exact = len(runs) <= MOST_RUNS
        self.obeys: tuple[str, ...] = ()
        self.bins: tuple[str, ...] = ()

    def doubt(self) -> None:
        """A part of the manifest that concerns the task is not read."""
        self.resolved = self.exact = False

    def digest(self, walk: Walk) -> str:
        """A digest of the steps of the task, or of the whole manifest if more than the steps counts."""
        whole = "" if self.resolved or self.file not in walk.code else walk.code[self.file].digest
        return sha256(dumps(["recipe", self.name, self.steps, whole], spaced=True).encode("ascii")).hexdigest()


# ---------------------------------------------------------------- what the finders ask for


def code(walk: Walk, path: str) -> Code | None:
    """What is known of a file; None: it must be read first. A folder, with a trailing slash, has its names as text."""
    found = walk.code.get(path)
    if found is None:
        walk.wants[path] = None
    return found


def texts(walk: Walk, job: ShellJob, path: str) -> list[str]:
    """Every text that a manifest may have: written by the call, or read from disk. An existing manifest with unknown
    text is a gap."""
    found, written = code(walk, path), walk.written.get(path, [])
    if found is None:
        return []
    walk.manifests[path] = None
    if written or scripts.may_have_changed(walk, path):
        walk.changing[path] = None
    if None in written or found.problem not in ("", "absent"):
        scripts.note(walk, job, path)
        return []
    return [*(text for text in written if text is not None), *([] if found.problem else [found.text])]


def is_absent(walk: Walk, path: str) -> bool:
    """Whether it is known that there is no such file or folder, and that the call makes none."""
    found = code(walk, path)
    return found is not None and found.problem == "absent" and path not in walk.written


def parents(folder: str) -> list[str]:
    """A folder and those above it."""
    found = [folder]
    while folder not in ("", "/") and len(found) < MOST_PARENTS:
        folder = folder.rpartition("/")[0] or "/"
        found.append(folder)
    return found


def folder_of(job: ShellJob, walk: Walk, word: str) -> str:
    """The folder that a word names; `""` if that is not known."""
    builder = EffectsBuilder("", job.state.cwds[0], walk.home)
    builder.enter(word)
    return builder.cwd


def folder_in(walk: Walk, folder: str, word: str) -> str:
    """The path that a word means in a folder, without `~`."""
    found = path_target(word, folder, walk.home, tilde=False)
    return found.raw or found.name


def nearest(walk: Walk, start: str, names: tuple[str, ...], *, up: bool = True) -> str:
    """The first file of some names in a folder or, with `up`, in those above it; `""` if there is none, or it is
    not yet known."""
    paths = [f"{folder.rstrip('/')}/{name}" for folder in (parents(start) if up else [start]) for name in names]
    known = [code(walk, path) is not None for path in paths]
    return next((path for path in paths if not is_absent(walk, path)), "") if all(known) else ""


def shown(word: Arg) -> str:
    """An unknown word, as shell text."""
    return word.values[0] if word.values is not None and len(word.values) == 1 and not word.pattern else "${unknown}"


def quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"


def script(text: str, folder: str, shell: str = "sh") -> Run:
    """A text that a shell runs, or the interpreter that its first line names."""
    first = _SHEBANG.match(text)
    name = first[1].rpartition("/")[2] if first is not None else shell
    if has(name, "shell"):
        return Run(script=text, cwd=folder, shell=name)
    option = "-c" if has(name, "maybe-python") else "-e"
    return Run(argv=(name, option, text.partition("\n")[2] if first is not None else text), cwd=folder)


def with_arguments(script: str, given: list[str | Arg], folder: str, shell: str = "sh") -> Run:
    """A script with words appended. Unknown ones are its positional parameters."""
    if all(isinstance(word, str) for word in given):
        text = "".join(f" {quoted(word)}" for word in given if isinstance(word, str))
        return Run(script=script + text, cwd=folder, shell=shell)
    return Run(script=f'{script} "$@"', cwd=folder, shell=shell, positional=("sh", *given))


# ---------------------------------------------------------------- programs of the project before those of PATH


def found_by_task(walk: Walk, job: ShellJob, name: str) -> list[Effect]:
    """EXECUTE if a command may be, or start, a program of the project with the name of another. If there is none now,
    facts decide whether the call makes one."""
    if "/" in name or (not job.external and (name in _BUILTINS or name in walk.bodies)):
        return []
    if may_be_own(walk, name, alone=has(name, "starts-nothing")):
        return [Effect(EXECUTE, Target(Kind.PROGRAM, name, f"{name}, as the task finds it"))]
    return none_made(walk, name, walk.bins, (name,))


def none_made(walk: Walk, program: str, bins: tuple[str, ...], names: tuple[str, ...]) -> list[Effect]:
    """The run of a program, if no program of these names is in the folders and the call makes none."""
    builder = EffectsBuilder(program, "/", walk.home)
    paths = [f"{folder}/{name}"[1:] for folder in bins for name in names]
    if any(sign in path for path in paths for sign in _SIGNS):
        return [Effect(EXECUTE, Target(Kind.PROGRAM, program))]
    builder.settings(tuple(paths))
    return builder.effects


def may_be_own(walk: Walk, name: str, *, alone: bool) -> bool:
    """Whether a folder that a task puts before PATH may hold a program of that name. `alone`: the program starts no
    others by name, so others in the folder do not count."""
    for folder, found in [(folder, code(walk, f"{folder}/")) for folder in walk.bins]:
        if found is None or scripts.may_have_changed(walk, f"{folder}/{name}"):
            return True
        if found.problem != "absent" and (found.problem or not alone or name in found.text.split("\n")):
            return True
    return False
