"""Targets of Makefiles, as GNU make runs them."""

from __future__ import annotations

from assent.contract import Pattern
from assent.effects.shell import environment, flows
from assent.effects.shell.code_files import scripts
from assent.effects.shell.command import Arg, CommandEffects, Run
from assent.effects.shell.record import MOST_STEPS, ShellJob, Walk
from assent.effects.shell.tasks import recipes
from assent.effects.shell.tasks.makefile import FLAGS, MakeCommand, Makefile
from assent.effects.shell.tasks.makefile_values import MakeVariable, NotRead, stem
from assent.effects.shell.tasks.recipes import Recipe
from assent.programs.traits import has

_NAMES = ("GNUmakefile", "makefile", "Makefile")
_VALUED = frozenset("-C -f -I -o -W -E --directory --file --makefile --include-dir --old-file --what-if --eval".split())
_LETTERS = "bBdehikLmnpqrRsStvw"  # options in one cluster
_DRY = frozenset(("--dry-run", "--just-print", "--recon"))
_MOST_INCLUDED = 64
_MOST_EXPORTED = 64
_MOST_READINGS = 5
_MOST_LINES = 8  # command lines from words with several values
_STEERING = ("MAKEFILES", "MAKEFLAGS", "GNUMAKEFLAGS")
_LONGEST = 48 * 1024  # characters of all commands
# Endings of files from which built-in rules would make a Makefile.
_SOURCES = frozenset(".sh .c .cc .cpp .C .p .f .F .m .r .s .S .mod .o .y .l ,v".split())
_SHELL_FLAGS = Pattern(r"(?:-[eEux]+\s+|-[eux]*o\s+\w+\s+)*-[Eeux]*c|-e")
_OTHER_PLACES = ("/usr/include", "/usr/local/include")


class MakeLine:
    """A command line of make. `goals`: None if some are not known; `assigned`: the variables that it sets, by
    name; `dry`: commands are only printed; `first`: the environment overrides the file."""

    __slots__ = ("folder", "files", "goals", "assigned", "places", "texts", "dry", "exact", "first")

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.files: list[str] = []
        self.goals: list[str] | None = []
        self.assigned: list[tuple[str, str, str]] = []
        self.places: list[str] = []
        self.texts: list[str] = []
        self.dry = False
        self.exact = True
        self.first = False


def find(walk: Walk, job: ShellJob, base: str, summary: CommandEffects) -> list[Recipe]:
    lines: list[list[str | Arg]] = [[]]
    for word in job.argv[1:]:
        known = word.values if isinstance(word, Arg) and not word.pattern and not word.splits else None
        words: tuple[str | Arg, ...] = (
            known if known is not None and len(lines) * len(known) <= _MOST_LINES else (word,)
        )
        lines = [[*before, each] for before in lines for each in words]
    return [recipe for words in lines for recipe in _found_by(walk, job, words)]


def _found_by(walk: Walk, job: ShellJob, words: list[str | Arg]) -> list[Recipe]:
    line = _line(walk, job.state.cwds[0], words)
    if not line.folder:
        return []
    files = line.files or _found(walk, line.folder)
    for path in line.files:
        if path != "-":
            recipes.code(walk, f"{path.rpartition('/')[0]}/")
    if not files:
        return []
    if "-" in files and (job.stdin.text is None or flows.code_dangers(job.stdin.taint)):
        return [Recipe("", "make", line.folder, [Run(argv=("sh",))], [])]  # like a shell that reads it
    found: list[list[str]] = [[]]
    for name in files:
        each = [job.stdin.text or ""] if name == "-" else recipes.texts(walk, job, name)
        found = [[*before, text] for before in found for text in each][: scripts.MOST_TEXTS]
    out = []
    for texts in found:
        first, readings = _recipe(walk, job, line, files, texts, reading=0)
        out.append(first)
        reading = 1
        while reading < min(readings, _MOST_READINGS):  # an unknown condition: both branches
            other, more = _recipe(walk, job, line, files, texts, reading=reading)
            other.runs = [run for run in other.runs if run not in first.runs]
            other.name += f", otherwise {reading}"
            out.append(other)
            readings = max(readings, more)
            reading += 1
    return out


def _found(walk: Walk, folder: str) -> list[str]:
    """The Makefile of a folder."""
    paths = [f"{folder}/{name}" for name in _NAMES]
    known = [recipes.code(walk, path) is not None for path in (*paths, f"{folder}/")]
    return [path for path in paths if all(known) and not recipes.is_absent(walk, path)][:1]


# ---------------------------------------------------------------- the command line


def _line(walk: Walk, folder: str, words: list[str | Arg]) -> MakeLine:
    line = MakeLine(folder)
    ended = False
    while words:
        word = words.pop(0)
        if not isinstance(word, str):
            line.exact = False
            line.goals = None
        elif word == "--" and not ended:
            ended = True
        elif word[:1] != "-" or len(word) == 1 or ended:
            _operand(line, word)
        else:
            _option(walk, line, word, words)
    return line


def _operand(line: MakeLine, word: str) -> None:
    name, equals, value = word.partition("=")
    if equals and name:
        sign = next((each for each in (":::", "::", ":", "+", "?", "!") if name.endswith(each)), "")
        line.assigned.append((name.removesuffix(sign), f"{sign}=", value))
        line.exact = False
    elif line.goals is not None:
        line.goals.append(word)


def _option(walk: Walk, line: MakeLine, word: str, words: list[str | Arg]) -> None:
    name, equals, value = word.partition("=")
    if word[:2] != "--":
        while len(word) > 2 and word[1] in _LETTERS:
            line.dry = line.dry or word[1] == "n"
            line.first = line.first or word[1] == "e"
            word = f"-{word[2:]}"
        name, value = word[:2], word[2:]
    if name in _VALUED and not value and not equals:
        following = words.pop(0) if words else ""
        value = following if isinstance(following, str) else ""
        if not value:
            line.folder = line.folder if name not in ("-C", "--directory") else ""
            line.exact = False
    if name in ("-C", "--directory"):
        line.folder = recipes.folder_in(walk, line.folder, value) if line.folder else ""
    elif name in ("-f", "--file", "--makefile"):
        line.files.append("-" if value == "-" else recipes.folder_in(walk, line.folder, value))
    elif name in ("-I", "--include-dir"):
        line.places.append(recipes.folder_in(walk, line.folder, value))
    elif name in ("-E", "--eval"):
        line.texts.append(value)
        line.exact = False
    elif name == "-e" or name == "--environment-overrides":
        line.first = True
    elif name == "-n" or name in _DRY:
        line.dry = True
    elif name not in ("-j", "--jobs", "-k", "-s", "-B", "-w"):
        line.exact = False


# ---------------------------------------------------------------- the recipe


def _recipe(
    walk: Walk, job: ShellJob, line: MakeLine, files: list[str], texts: list[str], *, reading: int
) -> tuple[Recipe, int]:
    """The commands of the targets, and the number of possible readings."""
    goals = line.goals if line.goals is not None else []
    made = Makefile(
        line.folder,
        goals,
        reading=reading,
        limit=(MOST_STEPS - walk.steps) // 2,
        load=lambda name: _included(walk, job, line, name),
        listed=lambda name: _listed(walk, line.folder, name),
    )
    values = made.values
    _give(job, line, made)
    commands: list[MakeCommand] = []
    unread = False
    try:
        for text in line.texts:
            made.file("", text)
        for name, text in zip(files, texts, strict=True):
            made.file(name.removeprefix(f"{line.folder}/"), text)
        wanted = made.every() if line.goals is None else goals or made.default()
        read = list(values.ran)  # while it is read
        remade = [*(name.removeprefix(f"{line.folder}/") for name in files if name != "-"), *made.includes]
        commands = made.commands([*(name for name in remade if _is_made(made, name)), *wanted])
    except NotRead:
        unread = True
        commands = made.commands([])  # those up to there
        wanted, read = goals, list(values.ran)
    walk.steps += values.work // 2
    if line.dry and made.plain:
        commands = [each for each in commands if each.always]
    shell = values.rendered(values.value("SHELL", {}, 0))
    ran = [*read, *(each for each in values.ran if each not in read), *(each.script for each in commands)]
    exports = _exports(made)
    runs: list[Run] = []
    length = 0
    flags = values.rendered(values.value(".SHELLFLAGS", {}, 0))
    unread = unread or not _SHELL_FLAGS.fullmatch(flags)
    for script in dict.fromkeys(ran):
        length += len(script)
        if length <= _LONGEST and len(runs) < recipes.MOST_RUNS:
            runs.append(_run(line.folder, shell, made, exports, script))
        else:
            unread = True
    unread = unread or values.unread or _is_made_by_make(walk, files)
    unread = unread or any(
        not FLAGS.fullmatch(values.given.get(name, "") or "?") for name in _STEERING if name in values.given
    )
    file = next((name for name in files if name != "-"), "")
    steps = [shell, *exports.values(), *(each.script or " ".join(map(str, each.argv or ())) for each in runs)]
    recipe = Recipe(file, " ".join(wanted) or "make", line.folder, runs, steps)
    if unread:
        recipe.doubt()
        recipe.steps += [walk.code[path].digest for path in walk.manifests if path in walk.code]
        scripts.note(walk, job, file)
    recipe.exact = False
    return recipe, values.readings


def _give(job: ShellJob, line: MakeLine, made: Makefile) -> None:
    """Pass on the variables of the command line and of the environment, as far as the call sets them."""
    values, state = made.values, job.state
    for name, found in job.env:
        values.given[name] = found.values[0] if found.values is not None and len(found.values) == 1 else None
    for name in state.vars if "*" in state.passed else state.passed:
        held = state.get(name)
        known = held.values if held is not None else None
        values.given.setdefault(name, known[0] if known is not None and len(known) == 1 else None)
    for name, text in values.given.items():
        if line.first and text is not None:
            values.variables[name] = MakeVariable(text, simple=True, origin="command line")
    again = ["make"]
    for name, sign, value in line.assigned:
        values.assign(name, sign if sign != "?=" else "=", value, origin="command line")
        made.exported[name] = None
        again.append(recipes.quoted(f"{name}={value}"))
    if line.assigned:  # they reach every make below
        values.variables["MAKE"] = MakeVariable(" ".join(again), simple=True)


def _exports(made: Makefile) -> dict[str, str]:
    """Shell assignments of the exported variables, by name."""
    values = made.values
    everything = ".EXPORT_ALL_VARIABLES" in made.special
    names = [*made.exported, *(name for name in values.variables if everything and name not in made.exported)]
    found = {}
    for name in names[:_MOST_EXPORTED]:
        known = values.variables.get(name)
        if name.isidentifier() and known is not None and known.origin != "default":
            try:
                value = values.value(name, {}, 0)
            except NotRead:
                continue
            quoted = values.rendered(value.replace("'", "'\\''"), "'")
            found[name] = f"{name}='{quoted}'"
    return found


def _run(folder: str, shell: str, made: Makefile, exports: dict[str, str], script: str) -> Run:
    name = shell.rpartition("/")[2]
    if not shell.startswith("$") and not has(name, "shell"):
        flags = made.values.rendered(made.values.value(".SHELLFLAGS", {}, 0)).split()
        return Run(argv=(*shell.split(), *flags, script), cwd=folder)
    used = [text for each, text in exports.items() if each in script or environment.changes(each, None)]
    text = f"export {' '.join(used)}\n{script}" if used else script
    return Run(script=text, cwd=folder, shell=name if has(name, "shell") else "sh")


# ---------------------------------------------------------------- files


def _included(walk: Walk, job: ShellJob, line: MakeLine, name: str) -> str | None:
    """The text of an included file; None if there is none, or it is not read yet."""
    if len(walk.manifests) > _MOST_INCLUDED:
        raise NotRead
    places = [""] if name.startswith("/") else [line.folder, *line.places, *_OTHER_PLACES]
    for place in places:
        path = recipes.folder_in(walk, place or "/", name)
        if recipes.code(walk, path) is None:
            return None
        if recipes.is_absent(walk, path):
            continue
        found = recipes.texts(walk, job, path)
        if len(found) != 1:
            raise NotRead
        return found[0]
    return None


def _listed(walk: Walk, folder: str, pattern: str) -> list[str]:
    """The files that a pattern names, by the last part of a path."""
    above, _, last = pattern.rpartition("/")
    if any(sign in above for sign in "*?[") or "[" in last or "?" in last:
        raise NotRead
    names = recipes.code(walk, f"{recipes.folder_in(walk, folder, above) if above else folder}/")
    if names is None or names.problem == "absent":
        return []
    if names.problem or last.count("*") > 1:
        raise NotRead
    found = [name for name in names.text.split("\n") if stem(name, last.replace("*", "%")) is not None]
    return [f"{above}/{name}" if above else name for name in found if name[:1] != "." or last[:1] == "."]


def _is_made(made: Makefile, name: str) -> bool:
    """Whether rules of the Makefile remake it or an included file: make does that first."""
    return any(
        stem(name, target) is not None
        for rule in made.rules
        for target in rule.targets
        if not rule.own and (rule.lines is not None or rule.needs)
    )


def _is_made_by_make(walk: Walk, files: list[str]) -> bool:
    """Whether a built-in rule may make the Makefile from another file (`Makefile.sh`) before it is read."""
    for path in files:
        folder, _, name = path.rpartition("/")
        names = recipes.code(walk, f"{folder}/") if name != "-" else None
        for each in names.text.split("\n") if names is not None else ():
            if each.startswith(name) and each[len(name) :] in _SOURCES:
                return True
    return False
