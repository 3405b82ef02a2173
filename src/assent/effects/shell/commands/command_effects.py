"""Collects the effects of a command line, word by word, into a CommandEffects. Knows no options and no tables."""

from __future__ import annotations

from collections.abc import Sequence

from assent.contract import MUTATION, Effect, Kind, Operation, Pattern, Target
from assent.effects.paths import path_target
from assent.effects.shell.command import EVERY, REGULAR, Arg, CommandEffects, Run, temporary
from assent.programs.traits import has

Word = str | Arg
LONGEST = 65_536
"""Characters of a program in a word that are read; a longer one is EXECUTE unread."""

READ, LIST, SEARCH = Operation.READ, Operation.LIST, Operation.SEARCH
LOOKING = (READ, LIST, SEARCH)
WRITE, DELETE = Operation.WRITE, Operation.DELETE
FETCH, EXECUTE, DESTROY = Operation.FETCH, Operation.EXECUTE, Operation.DESTROY

_LOSING = (WRITE, DELETE)
# Marks of an effect on all files in the folders of its target, and of one that empties a file.
EVERY_FILE, EMPTIES = "every-file", "empties"
_DESTROYING = frozenset({"destroy", "destroy-remote"})  # marks that also make a DESTROY effect
_STANDARD = frozenset({"-", "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"})
_FD = Pattern(r"/dev/fd/[0-9]+")
_AUTHORITY = Pattern(r"[a-z]+://[\w.:-]+/")  # before any glob character: its matches begin the same way
_SETTLED = frozenset((Kind.REPOSITORY, Kind.HOOKS, Kind.MODULES, Kind.SETTINGS))
_BY_OPERAND = ("{}", "^{}", "+{}", "**/")
_PERCENT = Pattern(r"%([0-9A-Fa-f]{2})")


class EffectsBuilder:
    """The effects of one command line so far. `cwd` may change (`-C dir`) before the words that follow."""

    __slots__ = (
        "acts",
        "argv",
        "cwd",
        "dangers",
        "effects",
        "env",
        "flags",
        "gaps",
        "gives",
        "home",
        "maybe",
        "moved",
        "obeyed",
        "operands",
        "prints",
        "program",
        "repositories",
        "runs",
        "script_folder",
        "stdin",
        "strays",
        "subcommand",
        "under",
    )

    def __init__(self, program: str, cwd: str, home: str, stdin: Arg | None = None) -> None:
        self.program = program
        self.cwd = cwd
        self.home = home
        self.stdin = stdin
        self.moved = False
        self.maybe: list[str] = []  # texts that it may run as commands
        self.repositories: list[str] = []
        self.acts = False
        self.dangers: list[str] = []
        self.effects: list[Effect] = []
        self.runs: list[Run] = []
        self.gaps: list[tuple[str, str]] = []
        self.flags: set[str] = set()
        self.argv: tuple[Word, ...] = ()  # the arguments of code on the command line
        self.script_folder = ""  # the folder of the code being read; `""` for code on the command line
        self.gives: list[str] = []
        self.operands: list[str] = []
        self.strays: tuple[int, ...] = ()
        self.subcommand: tuple[str, ...] = ()
        self.prints: str | None = None  # not set
        self.under: tuple[str, ...] = ()
        self.env: tuple[str, ...] = ()
        self.obeyed: frozenset[str] = frozenset()

    # ------------------------------------------------------------ what a word does

    def path(
        self,
        operation: Operation,
        word: Word,
        *,
        recursive: bool = False,
        dangers: tuple[str, ...] = (),
        lossless: bool = False,
        stays: bool = False,
        visible: bool = False,
    ) -> None:
        """The operation on the paths that a word names. Standard streams are no files."""
        if type(word) is Arg and word.kind in REGULAR and (operation in LOOKING or word.kind == "files"):
            stays = True
        for target in self.places(word) if operation in LOOKING else self.changed(word, operation):
            text = target.text
            if (text in _STANDARD and not (text == "/dev/tty" and operation is Operation.READ)) or (
                text[:8] == "/dev/fd/" and _FD.fullmatch(text)
            ):
                continue
            self.effects.append(
                Effect(
                    operation,
                    target,
                    recursive=recursive,
                    dangers=dangers,
                    lossless=lossless,
                    stays=stays,
                    visible=visible,
                )
            )
        if type(word) is Arg and EVERY in word.under and operation in _LOSING:
            self.effects.append(Effect(operation, every(word), recursive=recursive, dangers=(*dangers, EVERY_FILE)))

    def paths(
        self,
        operation: Operation,
        words: Sequence[Word],
        *,
        recursive: bool = False,
        dangers: tuple[str, ...] = (),
        lossless: bool = False,
        stays: bool = False,
    ) -> None:
        for word in words:
            self.path(operation, word, recursive=recursive, dangers=dangers, lossless=lossless, stays=stays)

    def targets(self, word: Word) -> list[Target]:
        """The paths that a word names; one unnamed target if unknown."""
        if isinstance(word, str):
            return [path_target(word, self.cwd, self.home, tilde=False)]
        if word.values is None:
            under = self.reach(word.under) if word.kind != "place" else ()
            return [Target(Kind.PATH, "", word.text, under=under, certain=False)]
        pattern = word.pattern
        return [path_target(value, self.cwd, self.home, tilde=False, pattern=pattern) for value in word.values]

    def changed(self, word: Word, operation: Operation) -> list[Target]:
        """The paths that a word names for a command that changes them."""
        into = operation is WRITE and has(self.program, "keeps-names")
        made = temporary(word, into=into) if isinstance(word, Arg) else ()
        if not made:
            return self.targets(word)
        return [path_target(path, self.cwd, self.home, tilde=False) for path in made]

    def places(self, word: Word) -> list[Target]:
        """The paths that a word names for a command that only reads: the likely ones of a printed place."""
        if isinstance(word, str) or word.kind != "place" or not any(word.under):
            return self.targets(word)
        found = [
            path_target(place, self.cwd, self.home, tilde=False, pattern=word.pattern, certain=False)
            for place in word.under
            if place
        ]
        return [Target(Kind.PATH, each.name, word.text, pattern=each.pattern, certain=False) for each in found]

    def reach(self, under: tuple[str, ...]) -> tuple[str, ...]:
        """The folders of names below `under`, relative to the cwd. Such names may be relative, and were printed in
        another folder, so they may be below this folder too; names with `..` could be anywhere. A folder with a
        trailing slash is exact: the names were printed for this place."""
        if under and all(folder.endswith("/") for folder in under):
            return tuple(folder[:-1] or "/" for folder in under if folder != EVERY)
        under = tuple(folder for folder in under if folder != EVERY) if EVERY in under else under
        here = self.cwd + "/"
        if not under or not self.cwd or any(folder != self.cwd and here.startswith(folder + "/") for folder in under):
            return ()
        return tuple(dict.fromkeys((*under, self.cwd)))

    def fetch(self, word: Word, *, dangers: tuple[str, ...] = ()) -> None:
        """An address in the call. A `file:` address is a file."""
        texts = values(word)
        if isinstance(word, Arg) and word.pattern and word.values is not None:
            texts = word.values  # an address is rarely a file: keep it as written
            if not all(map(_AUTHORITY.match, word.values)):
                texts = (*texts, None)
        for text in texts:
            local = file_of(text) if text is not None else None
            if text is None:
                self.effects.append(Effect(FETCH, Target(Kind.HOST, "", shown(word), certain=False), dangers=dangers))
            elif local is not None:
                self.path(READ, local, dangers=dangers)
            else:
                from assent.effects.addresses import hosts_of

                self.effects += [
                    Effect(FETCH, Target(Kind.HOST, host, text), dangers=dangers) for host in hosts_of(text)
                ]

    def execute(self, *dangers: str) -> None:
        self.acts = True
        self.dangers.extend(dangers)

    def danger(self, *dangers: str) -> None:
        self.dangers.extend(dangers)

    def script_file(self, word: Word) -> None:
        """A file of code that is run: it is read, and the EXECUTE names it. A merely likely place is not named."""
        if isinstance(word, Arg) and word.kind == "place":
            self.effects.extend(Effect(READ, target) for target in self.targets(word))
        else:
            self.path(READ, word)
        self.effects.extend(Effect(EXECUTE, target) for target in self.targets(word))

    def run(
        self,
        argv: tuple[Word, ...] | list[Word],
        *,
        place: str = "here",
        exact: bool = False,
        env: tuple[Word, ...] = (),
    ) -> None:
        """Another command that it starts. `exact`: file names in its words are relative to its own folder. `env`: the
        assignments that apply to it."""
        if argv:
            if self.moved and not exact:
                argv = [loosened(word) for word in argv]
            self.runs.append(Run(argv=tuple(argv), cwd=self.cwd if self.moved else None, place=place, env=env))

    def shell(
        self, word: Word, *, place: str = "here", shell: str = "", positional: tuple[Word, ...] | list[Word] = ()
    ) -> None:
        """A script that a shell reads. Unknown text is a gap."""
        cwd, arguments = self.cwd if self.moved else None, tuple(map(loosened, positional))
        for text in values(word):
            if text is None:
                self.gap("dynamic-script", f"write out the script instead of `{shown(word)}`")
            else:
                self.runs.append(Run(script=text, cwd=cwd, place=place, shell=shell, positional=arguments))

    def gap(self, code: str, advice: str) -> None:
        self.gaps.append((f"gap.{code}", advice))

    def mark(self) -> tuple[int, int, int, int]:
        """A position in the record, for `back`."""
        return len(self.effects), len(self.runs), len(self.gaps), len(self.dangers)

    def back(self, mark: tuple[int, int, int, int]) -> None:
        """Drop everything recorded since a mark."""
        del self.effects[mark[0] :], self.runs[mark[1] :], self.gaps[mark[2] :], self.dangers[mark[3] :]

    def service(self, name: str, *dangers: str) -> None:
        """It queries a service and changes nothing there."""
        self.effects.append(Effect(READ, Target(Kind.SERVICE, name), dangers=dangers))

    def hooks(self, group: str, folder: str) -> None:
        name = f"{group}:{folder}" if folder else ""
        self.effects.append(Effect(EXECUTE, Target(Kind.HOOKS, name, folder, certain=bool(folder))))

    def modules(self, *, computes: bool = False, isolated: bool = False) -> None:
        """Code that does no more than the effects say, if no file of the folder shadows its modules.
        `computes`: it has no effects and names no modules; `isolated`: it loads nothing from the folder."""
        folder = self.script_folder or self.cwd  # Python searches for modules in the folder of the script
        name = "data:" if isolated else f"pure:{folder}" if computes and folder else folder
        self.effects.append(Effect(EXECUTE, Target(Kind.MODULES, name, folder or "the code", certain=bool(name))))

    def settings(self, entries: tuple[str, ...], dangers: tuple[str, ...] = ()) -> None:
        """The settings files of the command, as rows list them: without them it does no more than the effects say.
        `dangers` are those that it has with them."""
        operands: list[str] = []
        known = bool(self.cwd)
        if any(entry.startswith(_BY_OPERAND) for entry in entries):
            exact = any("{}" in entry for entry in entries)
            for effect in self.effects:
                target = effect.target
                if effect.operation in LOOKING and target.kind is Kind.PATH:
                    known = known and bool(target.name) and target.certain and not (target.pattern and exact)
                    operands.append(fixed(target.name) if target.pattern else target.name)
        name = "\0".join((self.cwd, " ".join(entries), *dict.fromkeys(operands))) if known else ""
        text = " ".join((self.program, *self.subcommand))
        self.effects.append(Effect(EXECUTE, Target(Kind.SETTINGS, name, text, certain=known), dangers=dangers))

    def data(self, word: str) -> None:
        """A file that code loads as data, if it is one; `""` is code that loads none."""
        name = self.targets(word)[0].name if word else ""
        text = f"data:{name}" if name or not word else ""
        self.effects.append(Effect(EXECUTE, Target(Kind.MODULES, text, word or "the code", certain=bool(text))))

    def enter(self, word: Word) -> None:
        """It changes to a folder; later words are relative to it."""
        self.moved = True
        known = values(word)
        folder = known[0] if len(known) == 1 else None
        self.cwd = path_target(folder, self.cwd, self.home, tilde=False).name if folder is not None else ""

    # ------------------------------------------------------------ the end

    def build(self) -> CommandEffects:
        """The result. Dangers go to the effects that change something, or else to all."""
        effects = list(self.effects)
        if self.acts:
            text = " ".join((self.program, *self.subcommand))
            effects.append(Effect(EXECUTE, Target(Kind.PROGRAM, self.program, text)))
        if EMPTIES in self.dangers:
            effects = [_emptying(effect) for effect in effects]
            self.dangers = [danger for danger in self.dangers if danger != EMPTIES]
        if self.dangers:
            if not _DESTROYING.isdisjoint(self.dangers):
                text = " ".join((self.program, *self.subcommand))
                effects.append(Effect(DESTROY, Target(Kind.SERVICE, self.program, text), dangers=("destroy",)))
            effects = _endangered(effects, tuple(dict.fromkeys(self.dangers)), self.program)
        return CommandEffects(
            subcommand=self.subcommand,
            flags=frozenset(self.flags),
            operands=tuple(self.operands),
            effects=tuple(effects) if _are_distinct(effects) else tuple(dict.fromkeys(effects)),
            runs=tuple(dict.fromkeys(self.runs)) if len(self.runs) > 1 else tuple(self.runs),
            gaps=tuple(dict.fromkeys(self.gaps)) if self.gaps else (),
            prints=self.prints or "",
            under=self.under,
            env=self.env,
            obeyed=self.obeyed,
            strays=self.strays,
        )


def _are_distinct(effects: list[Effect]) -> bool:
    """Whether no two effects are equal; most differ in operation or name, the rest are hashed."""
    if len(effects) > 4:
        return False
    for place, one in enumerate(effects):
        for other in effects[:place]:
            if one.operation is other.operation and one.target.name == other.target.name:
                return False
    return True


def _endangered(effects: list[Effect], dangers: tuple[str, ...], program: str) -> list[Effect]:
    dangers = tuple(danger for danger in dangers if danger != "destroy")
    if not any(effect.operation in MUTATION and effect.target.kind not in _SETTLED for effect in effects):
        return [*effects, Effect(READ, Target(Kind.PROGRAM, program), dangers=dangers)]
    return [
        _with(effect, dangers) if effect.operation in MUTATION and effect.target.kind not in _SETTLED else effect
        for effect in effects
    ]


def _emptying(effect: Effect) -> Effect:
    """The effect with its mark, if one of several files loses its content."""
    if effect.operation is not WRITE or (effect.target.name and not effect.target.pattern):
        return effect
    return effect.but(dangers=(*effect.dangers, EMPTIES))


def _with(effect: Effect, dangers: tuple[str, ...]) -> Effect:
    return Effect(
        effect.operation,
        effect.target,
        effect.where,
        recursive=effect.recursive,
        dangers=tuple(dict.fromkeys((*effect.dangers, *dangers))),
        stays=effect.stays,
        visible=effect.visible,
    )


def loosened(word: Word) -> Word:
    """A word for a command that may run in another folder: names below its folders are no longer exact."""
    if isinstance(word, str) or not any(folder.endswith("/") for folder in word.under):
        return word
    under = tuple(folder.rstrip("/") or "/" if folder != EVERY else EVERY for folder in word.under)
    return Arg(
        word.text,
        word.values,
        pattern=word.pattern,
        splits=word.splits,
        prefix=word.prefix,
        kind=word.kind,
        under=under,
    )


def every(word: Arg) -> Target:
    """All files in the folders of a word, as one target."""
    folders = tuple(folder.rstrip("/") or "/" for folder in word.under if folder != EVERY)
    return Target(Kind.PATH, "", word.text, under=folders, certain=False)


def fixed(pattern: str) -> str:
    """The folder of all matches of a glob."""
    for index, letter in enumerate(pattern):
        if letter in "*?[@!+(":
            return pattern[: pattern.rfind("/", 0, index)] or "/"
    return pattern


def shown(word: Word) -> str:
    return word if isinstance(word, str) else word.text


def literal(word: Word) -> str | None:
    """The one text that a word is, or None."""
    if isinstance(word, str):
        return word
    if word.values is not None and len(word.values) == 1 and not word.pattern and not word.splits:
        return word.values[0]
    return None


def values(word: Word) -> tuple[str | None, ...]:
    """Every text that a word can be; None is an unknown text, such as a glob."""
    if isinstance(word, str):
        return (word,)
    return (None,) if word.values is None or word.pattern else word.values


def file_of(url: str) -> str | None:
    """The path of a `file:` address, or None."""
    if url[:5].lower() != "file:":
        return None
    rest = url[5:]
    if rest.startswith("//"):
        host, slash, path = rest[2:].partition("/")
        rest = slash + path if slash else "/" + host
    if "%" in rest:
        rest = _PERCENT.sub(lambda match: chr(int(match[1], 16)), rest)
    return rest.partition("?")[0].partition("#")[0] if rest else "/"
