"""Which files of code a command may run: one that its words name, or one of several for globs, names in a loop, or
names that another command prints. Lists them from the folders that were read; `scripts` reads each."""

from __future__ import annotations

from assent.contract import Code, Effect, Kind, Operation, Pattern, Target
from assent.effects.paths import path_target
from assent.effects.shell import flows
from assent.effects.shell.code_files import scripts
from assent.effects.shell.command import EVERY, TEMPORARY, Arg, temporary
from assent.effects.shell.commands.command_effects import fixed
from assent.effects.shell.record import ShellJob, Walk
from assent.programs.traits import has

_SPACE = Pattern(r"\s")
EXECUTE = Operation.EXECUTE
MOST_FILES = 40  # files that one command may run
_ENDINGS = {
    "shell": (".sh", ".bash", ".zsh", ".ksh", ".bats"),
    "python": (".py", ".pyw"),
    "node": (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"),
    "php": (".php",),
    "other": (".rb", ".pl", ".pm", ".lua"),
}


def read(walk: Walk, job: ShellJob, effects: tuple[Effect, ...], interpreter: str) -> scripts.ScriptEffects | None:
    """The files of code that a command runs; None if none can be read. `interpreter` is the
    program that reads them (`""`: a file is run by its name)."""
    if "--test" in job.argv and flows.family(interpreter) == "node" and len(job.state.cwds) == 1 and job.state.cwds[0]:
        return _tested(walk, job, effects)
    found = [effect for effect in effects if effect.operation is EXECUTE and effect.target.kind is Kind.PATH]
    targets = list({effect.target.name: effect.target for effect in found}.values())
    kind = flows.family(interpreter)
    if kind in ("node", "python") and len(targets) == 1 and scripts.is_named(targets[0]):
        folder = _of_folder(walk, job, targets[0], kind, interpreter, effects)
        if folder is not None:
            return folder
    single = len(targets) == 1 and scripts.is_named(targets[0]) and len(job.state.cwds) == 1
    if single and not _is_match(job, targets[0]):
        return _with_modules(walk, job, scripts.one(walk, job, effects, found, interpreter))
    return read_any(walk, job, effects, interpreter)


def _of_folder(
    walk: Walk, job: ShellJob, target: Target, kind: str, interpreter: str, effects: tuple[Effect, ...]
) -> scripts.ScriptEffects | None:
    """`node .`, `python folder`, `node name`: the file that an interpreter finds for a folder, or for a name without
    its ending. None if the name is that of a file."""
    from assent.effects.shell.code_files import modules

    path = (target.raw or target.name).rstrip("/")
    if scripts.ending(path.rpartition("/")[2]) in modules.CODE_ENDINGS or path in walk.written:
        return None
    known: Code | None = walk.code.get(f"{path}/")
    if known is None:
        walk.wants[f"{path}/"] = None
        return None
    files = modules.entries(walk, path, kind, is_folder=known.problem != "absent")
    found = modules.together(modules.collected(walk, job, interpreter, files, path, follows=True))
    if found is None and known.problem == "absent":
        return None
    script = scripts.ScriptEffects((*effects, *(found.effects if found is not None else ())))
    script.bodies = found.bodies if found is not None else []
    return script


def _tested(walk: Walk, job: ShellJob, effects: tuple[Effect, ...]) -> scripts.ScriptEffects:
    """`node --test folder`: its words are tests, or folders of them."""
    from assent.effects.shell.code_files import tool_files

    tests = tool_files.read(walk, job, "node")
    script = scripts.ScriptEffects((*effects, *(tests.effects if tests is not None else ())))
    script.bodies = tests.bodies if tests is not None else []
    return script


def read_any(walk: Walk, job: ShellJob, effects: tuple[Effect, ...], interpreter: str) -> scripts.ScriptEffects | None:
    """The files of code, any of which a command may run; none of them is proved."""
    found = [effect for effect in effects if effect.operation is EXECUTE and effect.target.kind is Kind.PATH]
    targets = list({effect.target.name: effect.target for effect in found}.values())
    script = scripts.ScriptEffects(effects)
    for target in files(walk, job, targets, interpreter):
        one = _with_modules(walk, job, scripts.one(walk, job, (), [Effect(EXECUTE, target)], interpreter))
        if one is not None:  # which of them runs is not known, so none is proved
            script.effects = (*script.effects, *(each for each in one.effects if each.target.kind is not Kind.CODE))
            script.bodies += one.bodies
    return script if script.bodies or len(script.effects) > len(effects) else None


def _with_modules(walk: Walk, job: ShellJob, script: scripts.ScriptEffects | None) -> scripts.ScriptEffects | None:
    """A file of code, with the visible effects of the local modules that it loads."""
    if script is None or not script.language:
        return script
    from assent.effects.shell.code_files import modules

    path = script.bodies[0][0]
    root = path.rpartition("/")[0]
    found = modules.loaded(walk, job, script.language, path, root)
    if path.endswith("/manage.py"):  # Django: commands are files of that name
        name = next((word for word in job.argv[1:] if isinstance(word, str) and word.isidentifier()), "")
        places = [f"{root}/{apps}/management/commands/{name}.py" for apps in ("*", "*/*")] if name else []
        files = [each for place in places for each in _listed(walk, job, f"glob:{place}")]
        commands = modules.collected(walk, job, script.language, files, root)
        found.effects += commands.effects
        found.bodies += commands.bodies
    if found.bodies:
        more = (each for each in found.effects if not modules.is_itself(each) or each.dangers)
        script.effects = (*script.effects, *more)
        script.bodies += found.bodies
    return script


def _is_match(job: ShellJob, target: Target) -> bool:
    """Whether a file is a current match of a glob: there may be others when it runs."""
    return any(isinstance(word, Arg) and target.name in (word.values or ()) for word in job.argv)


def files(walk: Walk, job: ShellJob, targets: list[Target], interpreter: str) -> list[Target]:
    """The files that these targets may be. Too many, or a folder that cannot be listed, is a gap."""
    found: dict[str, Target] = {}
    for target in targets:
        if target.name and not target.pattern:
            found.setdefault(target.name, Target(Kind.PATH, target.name, target.text, raw=target.raw))
            continue
        names = matches(walk, job, target.name) if target.pattern and target.name else []
        for folder in () if target.name else (each for each in target.under if each != EVERY):
            below = _listed(walk, job, f"below:{folder.rstrip('/') or '/'}")
            names += [name for name in below if name.endswith(_endings(interpreter))]
        for name in names:
            found.setdefault(name, Target(Kind.PATH, name, name))
    out = list(found.values())
    if len(out) > MOST_FILES:
        scripts.note(walk, job, out[MOST_FILES].name)
    return out[:MOST_FILES]


def _endings(interpreter: str) -> tuple[str, ...]:
    kind = flows.family(interpreter)
    return _ENDINGS[kind] if kind else (".sql", ".js") if has(interpreter, "database-client") else ()


def _listed(walk: Walk, job: ShellJob, request: str) -> list[str]:
    code: Code | None = walk.code.get(request)
    if code is None:
        walk.wants[request] = None
        return []
    if code.problem not in ("", "absent"):
        scripts.note(walk, job, request.partition(":")[2])
    return code.text.split("\n") if code.text else []


def matches(walk: Walk, job: ShellJob, pattern: str) -> list[str]:
    """The files that a glob matches, and those that the call writes in its folder."""
    folder, end = fixed(pattern).rstrip("/") + "/", scripts.ending(pattern)
    written = [
        name for name in walk.written if name.startswith(folder) and name.endswith(end if "*" not in end else "")
    ]
    return [*_listed(walk, job, f"glob:{pattern}"), *written]


def settled(walk: Walk, job: ShellJob) -> tuple[str | Arg, ...]:
    """The words of an interpreter's command, with globs replaced by their matches; without the gap for file names that
    begin with a dash if there is no such file."""
    return tuple(word if isinstance(word, str) else settled_word(walk, job, word) for word in job.argv)


def settled_word(walk: Walk, job: ShellJob, word: Arg) -> Arg:
    cwds = job.state.cwds
    if word.kind == "place":
        made = temporary(word)
        return Arg(word.text, made, prefix=word.prefix) if made and all(map(TEMPORARY.fullmatch, made)) else word
    if "" in cwds or any(scripts.may_have_changed(walk, f"{cwd}/-") for cwd in cwds):
        return word
    if word.pattern and word.values:
        places = [(value, cwd) for value in word.values for cwd in cwds]
        targets = [path_target(value, cwd, walk.home, tilde=False, pattern=True) for value, cwd in places]
        names = [name for target in targets for name in matches(walk, job, target.name)]
        split = word.splits and any(map(_SPACE.search, names))
        if not names or len(names) > MOST_FILES or split or any(map(_is_option, names)):
            return word
        return Arg(word.text, tuple(dict.fromkeys(names)), prefix=word.prefix)
    if word.kind in ("names", "filenames") and word.under:
        folders = [folder.rstrip("/") or "/" for folder in word.under if folder != EVERY]
        names = [name for folder in folders for name in _listed(walk, job, f"below:{folder}")]
        if not names or any(map(_is_option, [*names, *walk.written])):
            return word
        kind = "paths" if word.kind == "names" else "files"
        return Arg(word.text, splits=word.splits, prefix=word.prefix, kind=kind, under=word.under)
    return word


def _is_option(name: str) -> bool:
    return name.rpartition("/")[2][:1] in ("-", "+")
