"""Collects what a command line does, word by word, and ends as a CommandEffects. Knows no options and no tables."""

from __future__ import annotations

from collections.abc import Sequence

from assent.contract import MUTATION, Effect, Kind, Operation, Pattern, Target
from assent.effects.paths import path_target
from assent.effects.shell.command import REGULAR, Arg, CommandEffects, Run

Word = str | Arg
LONGEST = 65_536
"""Characters of a program in a word that are read; a longer one is EXECUTE unread."""

READ, LIST, SEARCH = Operation.READ, Operation.LIST, Operation.SEARCH
LOOKING = (READ, LIST, SEARCH)
WRITE, DELETE = Operation.WRITE, Operation.DELETE
FETCH, EXECUTE = Operation.FETCH, Operation.EXECUTE

_STANDARD = frozenset({"-", "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"})
_FD = Pattern(r"/dev/fd/[0-9]+")
_AUTHORITY = Pattern(r"[a-z]+://[\w.:-]+/")  # before any sign of a glob: what it matches begins so too
_SETTLED = frozenset((Kind.REPOSITORY, Kind.HOOKS, Kind.MODULES, Kind.SETTINGS))
_BY_OPERAND = ("{}", "^{}", "+{}", "**/")
_PERCENT = Pattern(r"%([0-9A-Fa-f]{2})")


class EffectsBuilder:
    """What one command line is seen to do so far. `cwd` may move (`-C dir`) before the words that follow it."""

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
        self.maybe: list[str] = []  # texts that may be commands which it runs
        self.repositories: list[str] = []
        self.acts = False
        self.dangers: list[str] = []
        self.effects: list[Effect] = []
        self.runs: list[Run] = []
        self.gaps: list[tuple[str, str]] = []
        self.flags: set[str] = set()
        self.argv: tuple[Word, ...] = ()  # what code on the command line gets as its arguments
        self.gives: list[str] = []
        self.operands: list[str] = []
        self.strays: tuple[int, ...] = ()
        self.subcommand: tuple[str, ...] = ()
        self.prints: str | None = None  # nobody has said
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
        """The operation on the path or paths that a word names. Standard streams are no files."""
        if type(word) is Arg and word.kind in REGULAR and (operation in LOOKING or word.kind == "files"):
            stays = True
        for target in self.places(word) if operation in LOOKING else self.targets(word):
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
        """The paths that a word names; one unnamed target where that is not known."""
        if isinstance(word, str):
            return [path_target(word, self.cwd, self.home, tilde=False)]
        if word.values is None:
            under = self.reach(word.under) if word.kind != "place" else ()
            return [Target(Kind.PATH, "", word.text, under=under, certain=False)]
        pattern = word.pattern
        return [path_target(value, self.cwd, self.home, tilde=False, pattern=pattern) for value in word.values]

    def places(self, word: Word) -> list[Target]:
        """The paths that a word names for a command that looks: of a place that is told, those that are likely."""
        if isinstance(word, str) or word.kind != "place" or not any(word.under):
            return self.targets(word)
        found = [
            path_target(place, self.cwd, self.home, tilde=False, pattern=word.pattern, certain=False)
            for place in word.under
            if place
        ]
        return [Target(Kind.PATH, each.name, word.text, pattern=each.pattern, certain=False) for each in found]

    def reach(self, under: tuple[str, ...]) -> tuple[str, ...]:
        """The folders that names below `under` lie in, seen from here. Such names may be relative, and were told
        elsewhere, so they may lie below this folder too; names that climb out of it could be anywhere. A folder with a
        slash behind it is exact: the names are told for this place."""
        if under and all(folder.endswith("/") for folder in under):
            return tuple(folder[:-1] or "/" for folder in under)
        here = self.cwd + "/"
        if not under or not self.cwd or any(folder != self.cwd and here.startswith(folder + "/") for folder in under):
            return ()
        return tuple(dict.fromkeys((*under, self.cwd)))

    def fetch(self, word: Word, *, dangers: tuple[str, ...] = ()) -> None:
        """An address that the call names. A `file:` address is a file."""
        texts = values(word)
        if isinstance(word, Arg) and word.pattern and word.values is not None:
            texts = word.values  # an address is rarely a file: it stays as it is written
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
        """A file of code that is run: it is read, and the EXECUTE names it."""
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
        """Another command that it starts. `exact`: names of files in its words are told for where it stands. `env`: the
        assignments that hold for it."""
        if argv:
            if self.moved and not exact:
                argv = [loosened(word) for word in argv]
            self.runs.append(Run(argv=tuple(argv), cwd=self.cwd if self.moved else None, place=place, env=env))

    def shell(
        self, word: Word, *, place: str = "here", shell: str = "", positional: tuple[Word, ...] | list[Word] = ()
    ) -> None:
        """A script that a shell reads. One whose text is not known is a gap."""
        cwd, arguments = self.cwd if self.moved else None, tuple(map(loosened, positional))
        for text in values(word):
            if text is None:
                self.gap("dynamic-script", f"write out the script instead of `{shown(word)}`")
            else:
                self.runs.append(Run(script=text, cwd=cwd, place=place, shell=shell, positional=arguments))

    def gap(self, code: str, advice: str) -> None:
        self.gaps.append((f"gap.{code}", advice))

    def service(self, name: str, *dangers: str) -> None:
        """It queries a service and changes nothing there."""
        self.effects.append(Effect(READ, Target(Kind.SERVICE, name), dangers=dangers))

    def hooks(self, group: str, folder: str) -> None:
        name = f"{group}:{folder}" if folder else ""
        self.effects.append(Effect(EXECUTE, Target(Kind.HOOKS, name, folder, certain=bool(folder))))

    def modules(self, *, computes: bool = False, isolated: bool = False) -> None:
        """Code that does no more than the effects say, if what it loads from the folder is what it names.
        `computes`: it has no effects, and names no modules; `isolated`: it loads nothing from the folder."""
        name = "data:" if isolated else f"pure:{self.cwd}" if computes and self.cwd else self.cwd
        self.effects.append(Effect(EXECUTE, Target(Kind.MODULES, name, self.cwd or "the code", certain=bool(name))))

    def settings(self, entries: tuple[str, ...], dangers: tuple[str, ...] = ()) -> None:
        """The files that the command obeys, as rows list them: it does no more than the effects say without them.
        `dangers` are those that it carries with them."""
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
        """All of it as a value. Dangers go to what changes something, or else to what there is."""
        effects = list(self.effects)
        if self.acts:
            text = " ".join((self.program, *self.subcommand))
            effects.append(Effect(EXECUTE, Target(Kind.PROGRAM, self.program, text)))
        if self.dangers:
            effects = _endangered(effects, tuple(dict.fromkeys(self.dangers)), self.program)
        return CommandEffects(
            subcommand=self.subcommand,
            flags=frozenset(self.flags),
            operands=tuple(self.operands),
            effects=tuple(dict.fromkeys(effects)) if len(effects) > 1 else tuple(effects),
            runs=tuple(dict.fromkeys(self.runs)) if len(self.runs) > 1 else tuple(self.runs),
            gaps=tuple(dict.fromkeys(self.gaps)) if self.gaps else (),
            prints=self.prints or "",
            under=self.under,
            env=self.env,
            obeyed=self.obeyed,
            strays=self.strays,
        )


def _endangered(effects: list[Effect], dangers: tuple[str, ...], program: str) -> list[Effect]:
    if not any(effect.operation in MUTATION and effect.target.kind not in _SETTLED for effect in effects):
        return [*effects, Effect(READ, Target(Kind.PROGRAM, program), dangers=dangers)]
    return [_with(effect, dangers) if effect.operation in MUTATION else effect for effect in effects]


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
    """A word for a command that may stand elsewhere: names below its folders are not exact any more."""
    if isinstance(word, str) or not any(folder.endswith("/") for folder in word.under):
        return word
    under = tuple(folder.rstrip("/") or "/" for folder in word.under)
    return Arg(
        word.text,
        word.values,
        pattern=word.pattern,
        splits=word.splits,
        prefix=word.prefix,
        kind=word.kind,
        under=under,
    )


def fixed(pattern: str) -> str:
    """The folder of everything that a glob matches."""
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
    """Every text that a word can be; None stands for a text that is not known, a glob among them."""
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
