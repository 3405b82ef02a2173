"""Files of code that a command runs: walked with the call, by the reader of their language.

The texts come with the call (`Walk.code`). A file that was not read yet is requested (`Walk.wants`), and the call is
lowered again with its text. Proved code is no EXECUTE; code that is not proved stays EXECUTE, and its visible effects
are judged as well."""

from __future__ import annotations

from assent.contract import Effect, Kind, Operation, Pattern, Target
from assent.effects.shell import flows
from assent.effects.shell.command import Arg, CommandEffects, Run
from assent.effects.shell.commands.command_effects import EffectsBuilder
from assent.effects.shell.record import ShellJob, Walk
from assent.programs.traits import has

EXECUTE = Operation.EXECUTE
DEEPEST = 6  # nested files of code
MOST_TEXTS = 8  # texts that a file may have when it runs
RUNNING = (Kind.PROGRAM, Kind.PATH, Kind.TOOL, Kind.TREE)
NO_FILES = ("/dev/", "/proc/", "/sys/")
SOURCES = (".", "source")
_FIRST_LINE = Pattern(
    r"#![ \t]*(?:/usr/bin/env[ \t]+|(?:/usr(?:/local)?|/opt/homebrew)?/bin/)"
    r"([\w.+-]+)(?:[ \t]+-[euxw]+)?[ \t\r]*(?:\n|$)"
)
# An interpreter at another path, as in virtual environments: its name decides.
_OTHER_LINE = Pattern(r"#![ \t]*((?:/[\w.+@-]+)*/bin/([\w.+-]+))(?:[ \t]+-[A-Za-z]+)?[ \t\r]*(?:\n|$)")
_SHELL_OPTIONS = Pattern(r"-[euxv]*o?|pipefail|errexit|nounset|xtrace|verbose|--norc|--noprofile|--")
_CODING = Pattern(r"(?:[^\n]*\n)?[ \t\f]*#[^\n]*?coding[:=][ \t]*([-\w.]+)")
_CODINGS = frozenset("utf-8 utf8 ascii us-ascii latin-1 latin1 iso-8859-1 utf-8-unix".split())
# The role of a text that these programs read from a file.
_ROLES = {
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), "AWK"),
    **dict.fromkeys(("sed", "gsed"), "SED"),
    **dict.fromkeys(("jq", "gojq", "jaq"), "JQ"),
}
# Endings of files of code.
ENDINGS = frozenset(
    ".sh .bash .bats .zsh .ksh .py .pyw .js .mjs .cjs .jsx .ts .mts .cts .tsx .rb .pl .pm .php .lua".split()
)


class ScriptEffects:
    """The files of code that a command may run: `effects` are all those of the command, `bodies` the commands that each
    file starts. `language`: that of one file, if it is not a shell script."""

    __slots__ = ("effects", "bodies", "language")

    def __init__(self, effects: tuple[Effect, ...], language: str = "") -> None:
        self.effects = effects
        self.language = language
        self.bodies: list[tuple[str, tuple[Run, ...]]] = []


def reader_of(program: str) -> str:
    """A program that reads its own language from a file; `""` if none is known."""
    return program if program in _ROLES else ""


def is_named(target: Target) -> bool:
    return bool(target.name) and target.certain and not target.pattern


def one(
    walk: Walk, job: ShellJob, effects: tuple[Effect, ...], found: list[Effect], interpreter: str
) -> ScriptEffects | None:
    """One file of code that a command runs, as `found` says; None if it cannot be read. `interpreter` is the
    program that reads it (`""`: the file is run by its name)."""
    target = found[0].target
    path = target.raw or target.name  # the path as opened: a link before `..` leads elsewhere
    if not interpreter and path.endswith(".sql"):
        interpreter = "psql"  # statements, whatever runs them
    if not interpreter and not _is_program(job, path):
        return None  # the language of its program is unknown
    texts, problem = _texts(walk, target, interpreter)
    if not texts and not problem:
        return None
    changing = may_have_changed(walk, path)
    if changing:
        walk.changing[path] = None
    languages = {interpreter or language_of(text) for text in texts}
    language = languages.pop() if len(languages) == 1 else ""
    kind, words = _kind(language), arguments(job, target.text, interpreter)
    plain, known = all(map(_is_usual, texts)), True
    if interpreter:
        plain, known = _options(job, interpreter) if kind == "shell" else (True, True)
    unread = problem or not kind or not known or any(_is_odd(language, kind, text) for text in texts)
    unread = unread or (not interpreter and any(_is_script(walk, text) for text in texts))
    if unread or len(walk.files) >= DEEPEST or path in walk.files:
        note(walk, job, path)
        return None
    if not interpreter:  # the program is the file itself
        program = path.rpartition("/")[2]
        found += [each for each in effects if each.operation is EXECUTE and each.target.text == program]
    others = tuple(effect for effect in effects if effect not in found)
    if walk.bins and not interpreter:
        others = (*others, *walk.found_by_task(job, language))  # `#!/usr/bin/env bash` searches PATH, too
    doubted = changing or not plain or any(effect.dangers for effect in found)
    proved = () if doubted else (same_code(walk, target),)
    if kind == "shell":
        script = ScriptEffects((*others, *(proved or found)))
        script.bodies = [
            (path, tuple(Run(script=text, shell=language, positional=(target.text, *words)) for text in texts))
        ]
        return script
    inside = [_effects(walk, job, language, path, text, words, cwd) for text in texts for cwd in job.state.cwds]
    seen = [effect for each in inside for effect in each.effects]
    unproved = [effect for effect in seen if effect.operation is EXECUTE and effect.target.kind is Kind.PROGRAM]
    dangers = tuple(dict.fromkeys(danger for effect in (*found, *unproved) for danger in effect.dangers))
    itself = tuple(effect.but(dangers=dangers) for effect in found) if unproved or not proved else proved
    rest = tuple(effect for effect in seen if effect not in unproved)
    script = ScriptEffects((*others, *itself, *rest), language)
    script.bodies = [(path, tuple(run for each in inside for run in each.runs))]
    return script


def _is_program(job: ShellJob, path: str) -> bool:
    """Whether a file is the program of a command."""
    name = job.argv[0]
    return isinstance(name, str) and name.rpartition("/")[2] == path.rpartition("/")[2]


def _kind(language: str) -> str:
    """Which reader a language has: that of `flows.family`, of a database's client, or of a program in `_ROLES`."""
    return flows.family(language) or (
        "statements" if has(language, "database-client") else "role" if language in _ROLES else ""
    )


def _is_odd(language: str, kind: str, text: str) -> bool:
    """Whether an interpreter reads a text differently from how it looks: in another encoding, or by another program."""
    if kind == "python" or language.startswith("ruby"):
        found = _CODING.match(text)
        return found is not None and found[1].lower().replace("_", "-") not in _CODINGS
    return language.startswith("perl") and text.startswith("#!") and "perl" not in text.partition("\n")[0]


def same_code(walk: Walk, target: Target) -> Effect:
    """A run of code that does no more than its effects say, if facts prove that the file is the one that was read. The
    number counts the earlier writes of it by the call, with known texts."""
    written = len(walk.written.get(target.name, ()))
    return Effect(EXECUTE, Target(Kind.CODE, f"{written}:{target.raw or target.name}", target.text))


def _texts(walk: Walk, target: Target, interpreter: str) -> tuple[list[str], str]:
    """Every text that a file may have when it runs, and why they are not known: texts that the call may have written,
    and the text that was read. Requests a file that was not read yet."""
    path, written = target.raw or target.name, walk.written.get(target.name, [])
    name = path.rpartition("/")[2]
    named = bool(interpreter) or ending(name) in ENDINGS
    if None in written or len(written) > MOST_TEXTS:
        return [], "changed" if named else ""  # otherwise the call builds the program
    code = walk.code.get(path)
    if path.startswith(NO_FILES):
        return [], ""
    if code is None:
        walk.wants[path] = None
        return [], ""
    walk.used[path] = None
    texts = [text for text in written if text is not None]
    if code.problem == "absent":
        return texts, "absent" if not texts and _sends(interpreter) else ""
    if code.problem:
        return [], "" if code.problem == "binary" and not written else code.problem
    return [*texts, code.text], ""


def texts_of(walk: Walk, job: ShellJob, target: Target, interpreter: str) -> list[str]:
    """Every text that a file may have when a command reads it as code; none if it is absent. One that cannot be
    read is a gap, and so is a missing file of statements for a server: it may exist when the call runs."""
    found, problem = _texts(walk, target, interpreter)
    path = target.raw or target.name
    if problem:
        note(walk, job, path)
    elif may_have_changed(walk, path):
        walk.changing[path] = None
    return found


def _sends(program: str) -> bool:
    """Whether a program sends statements to a database that others may share: these must be known."""
    return has(program, "database-client") and not has(program, "local-database")


def _options(job: ShellJob, interpreter: str) -> tuple[bool, bool]:
    """Whether the options of a shell before its file leave its reading unchanged, and whether they are known."""
    if job.argv[0] in SOURCES:
        return True, True
    from assent.effects.shell.commands.readers import shells

    start = shells.started(list(job.argv[1:]), interpreter)
    before = job.argv[1 : len(job.argv) - len(start.rest) - 1]
    return all(isinstance(word, str) and _SHELL_OPTIONS.fullmatch(word) for word in before), start.known


def ending(name: str) -> str:
    return name[name.rfind(".") :] if "." in name else ""


def language_of(text: str) -> str:
    """The program that reads a file run by its name: that of its first line, else a shell."""
    first = _FIRST_LINE.match(text)
    if first is not None:
        return first[1]
    other = _OTHER_LINE.match(text)
    return other[2] if other is not None else "" if text.startswith("#!") else "sh"


def _is_usual(text: str) -> bool:
    """Whether the program in a file's first line is a system program."""
    return not text.startswith("#!") or _FIRST_LINE.match(text) is not None


def _is_script(walk: Walk, text: str) -> bool:
    """Whether the program in a file's first line, not a system program, is a script itself."""
    other = None if _is_usual(text) else _OTHER_LINE.match(text)
    if other is None:
        return False
    code = walk.code.get(other[1])
    if code is None:
        walk.wants[other[1]] = None
    return other[1] in walk.written or (code is not None and code.problem not in ("binary", "absent"))


def may_have_changed(walk: Walk, path: str) -> bool:
    """Whether unknown code runs before: it may change the file. Facts check the call's own writes, as they can resolve
    the paths."""
    runs = any(effect.operation is EXECUTE and effect.target.kind in RUNNING for effect in walk.effects)
    return runs or (path not in walk.written and walk.may_be_replaced(path))


def arguments(job: ShellJob, name: str, interpreter: str) -> tuple[str | Arg, ...]:
    """The words after a file's name, by position: an option may have a value of the same name."""
    words = tuple(job.argv)
    if not interpreter:
        return words[1:]
    if words[0] in SOURCES:
        return words[2 + (words[1] == "--") :]
    if flows.family(interpreter) == "shell":
        from assent.effects.shell.commands.readers import shells

        return tuple(shells.started(list(words[1:]), interpreter).rest)
    place = words.index(name, 1) if name in words[1:] else len(words)
    before = words[place - 1]
    if place == len(words) or (name in words[place + 1 :] and isinstance(before, str) and before[:1] == "-"):
        return (Arg("", splits=True),)
    return words[place + 1 :]


def _effects(
    walk: Walk, job: ShellJob, language: str, path: str, text: str, words: tuple[str | Arg, ...], cwd: str
) -> CommandEffects:
    """The visible effects of code in a language other than shell. Unreadable parts are gaps."""
    found = visible(walk, cwd, language, path, text, words)
    _gaps(walk, job, path, tuple((f"gap.shell.{code.removeprefix('gap.')}", advice) for code, advice in found.gaps))
    return found


def visible(
    walk: Walk, cwd: str, language: str, path: str, text: str, words: tuple[str | Arg, ...] = ()
) -> CommandEffects:
    """The same in one folder, without the gaps."""
    kind = _kind(language)
    builder = EffectsBuilder(language, cwd, walk.home)
    builder.script_folder = path.rpartition("/")[0] or "/"
    builder.argv = words
    from assent.effects.shell.commands import embedded_commands

    if path.endswith(".ipynb"):
        builder.execute()
        text = embedded_commands.notebook(text)
    if kind == "python":
        from assent.effects.code import python

        python.judge(builder, text)
    elif embedded_commands.is_read(language):
        builder.execute()
        embedded_commands.add_input(builder, text)
    elif kind == "shell":
        builder.execute()
        builder.shell(text)
    elif kind == "statements":
        from assent.effects.code.statements import read_statements

        read_statements(builder, text)
    elif kind == "role":
        from assent.effects.shell.commands.roles import apply

        apply(builder, _ROLES[language], text)
        builder.execute()
    else:
        from assent.effects.code import inline

        inline.script(builder, text, kind if kind == "node" else language)
    return builder.build()


def enter(walk: Walk, index: int, path: str) -> tuple[int, int, int]:
    """Begin to walk a file that the command at `index` runs; `leave` takes what this returns."""
    outer = walk.within, index, len(walk.written.get(path, ()))
    walk.files.append(path)
    walk.within = index
    return outer


def leave(walk: Walk, job: ShellJob, outer: tuple[int, int, int]) -> None:
    path = walk.files.pop()
    walk.within = outer[0]
    if len(walk.written.get(path, ())) != outer[2]:
        note(walk, job, path, outer[1])  # it writes itself, and a shell reads its file line by line


def note(walk: Walk, job: ShellJob, path: str, index: int = -1) -> None:
    """Note that a file could not be read that the command at `index`, or one not recorded yet, runs."""
    _gaps(walk, job, path, (("gap.code.unread", "the code that it runs could not be read"),), index)


def _gaps(walk: Walk, job: ShellJob, path: str, gaps: tuple[tuple[str, str], ...], index: int = -1) -> None:
    """Note the parts of a file that could not be read."""
    outer, walk.within = walk.within, index if index >= 0 else len(walk.invocations)
    walk.files.append(path)
    for code, advice in gaps:
        walk.gap(code, advice, job.start, job.end)
    walk.files.pop()
    walk.within = outer
