"""Readers for `find` and `fd`: where they look, and what they run, write and delete."""

from __future__ import annotations

from assent.contract import Effect, Kind, Pattern, Target
from assent.effects.shell.command import EVERY, FIRM, Arg
from assent.effects.shell.commands.command_effects import (
    DELETE,
    LIST,
    READ,
    WRITE,
    EffectsBuilder,
    Word,
    literal,
    shown,
)
from assent.effects.shell.commands.line import CommandLine
from assent.effects.shell.commands.options import parse
from assent.effects.shell.commands.readers.wrappers import replaced

_BARE = frozenset(
    """-a -and -o -or -not ! ( ) , -true -false -empty -executable -readable -writable -nogroup -nouser -daystart -depth
    -d -follow -ignore_readdir_race -noignore_readdir_race -mount -xdev -x -noleaf -nowarn -warn -print -print0 -ls
    -prune -quit -help -version -unsorted -once""".split()
)
_VALUED = frozenset(
    """-amin -anewer -atime -cmin -cnewer -context -ctime -fstype -gid -group -ilname -iname -inum -ipath -iregex
    -iwholename -links -lname -maxdepth -mindepth -mmin -mtime -name -newer -path -perm -printf -regex -regextype
    -samefile -size -type -uid -used -user -wholename -xtype -flags -Bmin -Btime -Bnewer -mnewer -xattrname""".split()
)
# With only these tests, everything found is meant, except excluded names.
_ANY_FILE = frozenset(
    """-a -and -o -or -not -true -depth -d -follow -mount -xdev -x -noleaf -nowarn -warn -print -print0 -prune -type
    -xtype -maxdepth -mindepth -name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -exec -execdir
    -ok -okdir -delete""".split()
)
_NEWER = Pattern(r"-newer[aBcm][aBcmt]")
_NAMES = frozenset("-name -iname -path -ipath -wholename -iwholename".split())
_PLACES_TOO = frozenset("-path -ipath -wholename -iwholename -regex -iregex".split())
_WRITES = {"-fprint": 1, "-fprint0": 1, "-fls": 1, "-fprintf": 2}
_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_ACTIONS = (*_WRITES, *_RUNS, "-delete", "-files0-from")
_LEADING = Pattern(r"-[HLPEXdsx]+|-O[0-9]*")


def find(line: CommandLine) -> None:
    builder = line.builder
    index, roots = _roots(builder, line.words)
    follows = _follows(line.words)
    builder.paths(LIST, roots, recursive=True, stays=not follows)
    builder.operands.extend(shown(root) for root in roots)
    builder.prints, builder.under = _printed(builder)
    expression = _Expression(builder, line.words, index, roots, follows=follows)
    expression.read()
    builder.under = (*expression.under(), *expression.every()) if builder.prints else builder.under
    if builder.prints == "paths" and expression.regular and not expression.branches:
        builder.prints = "files"


def _follows(words: list[Word]) -> bool:
    """Whether links are followed, by an option before the folders or by a word of the expression."""
    return any(
        not isinstance(word, str) or word == "-follow" or (_LEADING.fullmatch(word) and "L" in word) for word in words
    )


def _roots(builder: EffectsBuilder, words: list[Word]) -> tuple[int, list[Word]]:
    """The start of the expression, and the folders to search before it."""
    index = 0
    roots: list[Word] = []
    while index < len(words) and isinstance(words[index], str):
        word = shown(words[index])
        if word == "-D" or word == "-f":
            roots += words[index + 1 : index + 2] if word == "-f" else []
            index += 2
        elif word == "--" or _LEADING.fullmatch(word):
            index += 1
        else:
            break
    while index < len(words):
        here = words[index]
        if isinstance(here, str):
            if (here[:1] == "-" and here != "-") or here in ("(", "!", ",", ")"):
                break
        elif _may_act(here):
            builder.execute()
        roots.append(here)
        index += 1
    return index, roots or ["."]


def _may_act(word: Arg) -> bool:
    """Whether an unknown word could be an action."""
    if word.kind in FIRM:
        return False
    if word.values is not None and not word.pattern:
        return any(value[:1] in ("-", "(", "!", ",") for value in word.values)
    if word.values is not None:
        from fnmatch import fnmatchcase  # globs among the words of find are rare

        return any(fnmatchcase(action, value) for value in word.values for action in _ACTIONS)
    return word.splits or not word.prefix or word.prefix[0] in "-(!,"


def _printed(builder: EffectsBuilder) -> tuple[str, tuple[str, ...]]:
    folders = _folders([effect.target for effect in builder.effects])
    return ("paths", folders) if folders else ("", ())


def _folders(targets: list[Target]) -> tuple[str, ...]:
    """The folders that hold everything found below some targets; none if unknown."""
    found: list[str] = []
    for target in targets:
        if target.certain and not target.pattern:
            found.append(target.name)
        elif target.under and not target.name:
            found += target.under
        else:
            return ()
    return tuple(dict.fromkeys(found))


_TELLING = Pattern(r"[A-Za-z0-9_]{2}|[.~#][A-Za-z0-9_]|[~#]$")  # in a name that is looked for: more than a wildcard
_BELOW = Pattern(r"(?!.*\.\.)[^/~].*")  # a root in the folder that the command runs in


class _Expression:
    __slots__ = (
        "aims",
        "branches",
        "choices",
        "depth",
        "follows",
        "index",
        "narrow",
        "negated",
        "placed",
        "regular",
        "roots",
        "builder",
        "words",
    )

    def __init__(
        self, builder: EffectsBuilder, words: list[Word], index: int, roots: list[Word], *, follows: bool
    ) -> None:
        self.builder = builder
        self.words = words
        self.index = index
        self.roots = roots
        self.aims: list[str] = []
        self.negated = False
        self.follows = follows
        self.depth = 0  # of parentheses
        self.regular = False  # `-type f` is given, so links are excluded
        self.branches = False  # `-o` or `,` outside parentheses: then that does not hold
        self.narrow = False  # only files of certain names are meant
        self.placed = False  # only files in certain places are meant
        self.choices: list[bool] = []  # in parentheses: whether each alternative so far names its files

    def read(self) -> None:
        self.skip_pruned()
        while self.index < len(self.words):
            word = self.words[self.index]
            self.index += 1
            if isinstance(word, Arg):
                self.builder.execute()
                continue
            self.group(word)
            self.depth += (word == "(") - (word == ")")
            self.branches = self.branches or (self.depth == 0 and word in ("-o", "-or", ","))
            self.predicate(word)
            self.negated = word in ("!", "-not") or (self.negated and word == "(")

    def skip_pruned(self) -> None:
        """Skip `-path ./x -prune -o` at the start: without it more is found, never less."""
        while self.index + 4 < len(self.words):
            name, value, prune, other = map(literal, self.words[self.index : self.index + 4])
            if name not in _NAMES or value is None or prune != "-prune" or other not in ("-o", "-or"):
                return
            self.builder.flags.update((name or "", prune, other or ""))
            self.index += 4

    def predicate(self, name: str) -> None:
        builder = self.builder
        if name[:1] == "-":
            builder.flags.add(name)
        if name in ("-ls", "-printf", "-files0-from"):
            builder.prints = ""
        if name in _BARE or name in ("--help", "--version"):
            return
        if name in _VALUED or _NEWER.fullmatch(name):
            for value in self.values(1):
                self.aim(name, value)
                if name == "-type" and value == "f" and not (self.negated or self.depth or self.follows):
                    self.regular = self.regular or not self.branches
                if isinstance(value, Arg) and (value.splits or value.pattern) and _may_act(_loose(value)):
                    builder.execute()
        elif name in _RUNS:
            self.run(name)
        elif name in _WRITES:
            builder.paths(WRITE, self.values(_WRITES[name])[:1])
        elif name == "-delete":
            narrow = self.narrow and not (self.branches or self.depth or self.negated or self.follows)
            for root in self.roots:
                text = literal(root)
                if narrow and text is not None and _BELOW.fullmatch(text) and not self.holds_home(text):
                    self.matches_removed(text)
                else:
                    builder.path(DELETE, root, recursive=True, dangers=("recursive-delete",))
        elif name == "-files0-from":
            builder.paths(READ, self.values(1))
            builder.path(LIST, Arg("-files0-from"), recursive=True)
        else:
            builder.execute()

    def group(self, word: str) -> None:
        """Track parentheses: their content names its files if each alternative does."""
        if word == "(" and self.depth == 0:
            self.choices = [] if self.negated else [False]
        elif self.depth == 1 and self.choices and word in ("-o", "-or"):
            self.choices.append(False)
        elif word == ")" and self.depth == 1:
            self.narrow = self.narrow or (bool(self.choices) and all(self.choices))
            self.choices = []
        elif self.depth > 1 or word == ",":
            self.choices = []

    def holds_home(self, root: str) -> bool:
        """Whether the home folder, with its credentials, is below a root."""
        names = [target.name for target in self.builder.targets(root)]
        return not all(names) or any(f"{self.builder.home}/".startswith(name.rstrip("/") + "/") for name in names)

    def matches_removed(self, root: str) -> None:
        """Files of certain names are deleted anywhere below a root, but not the root itself."""
        if len(self.roots) == 1 and (found := self.named(["rm"])) is not None:
            self.builder.path(DELETE, found)
            return
        for aim in dict.fromkeys(self.aims):
            path = f"{root.rstrip('/')}/{aim}"
            self.builder.path(DELETE, Arg(path, (path,), pattern=True))
        for target in self.builder.targets(root):
            below = Target(Kind.PATH, "", f"what matches below {root}", under=(target.name,), certain=False)
            self.builder.effects.append(Effect(DELETE, below))

    def aim(self, name: str, value: Word) -> None:
        """Record the required name of a file, which tells its place below a root."""
        text = literal(value)
        if text and not self.negated and name in ("-name", "-iname") and _TELLING.search(text):
            if self.depth == 0:
                self.narrow = self.narrow or not self.branches
            elif self.depth == 1 and self.choices:
                self.choices[-1] = True
        if text and not self.negated and name in _PLACES_TOO and _TELLING.search(text):
            self.placed = True
        if text and not self.negated and name in _NAMES:
            last = text.rstrip("/").rpartition("/")[2]
            self.aims += [last, last.lower()] if name[1] == "i" else [last]

    def values(self, count: int) -> list[Word]:
        found = self.words[self.index : self.index + count]
        self.index += count
        if len(found) < count:
            self.builder.execute()
        return found

    def run(self, name: str) -> None:
        words: list[Word] = []
        while self.index < len(self.words):
            word = self.words[self.index]
            self.index += 1
            if word == ";" or (word == "+" and words and words[-1] == "{}"):
                break
            words.append(word)
        else:
            self.builder.execute()
        builder = self.builder
        if name in ("-ok", "-okdir") or not words:
            builder.execute()
        kind = "files" if self.regular and not self.branches else "paths"
        under = (*(folder + "/" for folder in self.under()), *self.every())
        found = self.named(words) or Arg("{}", kind=kind, under=under)
        moved, cwd = builder.moved, builder.cwd
        if name.endswith("dir"):
            builder.moved, builder.cwd = True, ""
        builder.run([replaced(word, ("{}",), found) for word in words], exact=True)
        builder.moved, builder.cwd = moved, cwd
        builder.prints = ""

    def named(self, words: list[Word]) -> Arg | None:
        """The operand of `rm` if all found files have one name: a pattern of files anywhere below the roots."""
        roots = [literal(root) for root in self.roots]
        known = [root for root in roots if root is not None and _BELOW.fullmatch(root) and not self.holds_home(root)]
        if not self.narrow or self.branches or self.depth or self.follows or words[:1] != ["rm"]:
            return None
        if len(self.aims) != 1 or len(known) != len(roots) or "/" in self.aims[0]:
            return None
        return Arg("{}", tuple(f"{root.rstrip('/')}/**/{self.aims[0]}" for root in known), pattern=True)

    def every(self) -> tuple[str, ...]:
        """EVERY, unless only files of certain names, ages or sizes are meant."""
        narrow = (self.narrow or self.placed) and not (self.branches or self.depth)
        return () if narrow or not self.builder.flags <= _ANY_FILE else (EVERY,)

    def under(self) -> tuple[str, ...]:
        names = _folders([target for root in self.roots for target in self.builder.targets(root)])
        return tuple(dict.fromkeys([*names, *(f"{name.rstrip('/')}/{aim}" for name in names for aim in self.aims)]))


def _loose(value: Arg) -> Arg:
    """The value as one of several possible words."""
    return value if not value.splits else Arg(value.text, value.values, pattern=value.pattern, kind=value.kind)


# ---------------------------------------------------------------- fd

_PLACES = ("{}", "{/}", "{//}", "{.}", "{/.}")
_FORMATS = ("--format", "--list-details", "--path-separator", "--hyperlink")
_FD_NARROWS = "-e --extension -S --size --changed-within --changed-before --newer --older -o --owner --and".split()
_EXECS = ("-x", "--exec", "-X", "--exec-batch")


def fd(line: CommandLine) -> None:
    """`fd [options] [pattern] [folders…]`, with a command after `-x` or `-X`."""
    words, commands = _commands(line)
    line.parsed = parse(words, line.row.options, line.more, pure=line.row.pure)
    line.read_options()
    builder = line.builder
    roots: list[Word] = line.parsed.operands[1:] or line.parsed.values("--search-path") or ["."]
    stays = line.stays()
    builder.paths(LIST, roots, recursive=True, stays=stays)
    kind, builder.under = _printed(builder)
    regular = stays and [literal(word) for word in line.parsed.values("--type")] in (["f"], ["file"])
    every = (EVERY,) if _finds_all(line) else ()
    under = (*(folder + "/" for folder in builder.under), *every)
    found = Arg("{}", kind="files" if regular else "paths", under=under)
    builder.under = (*builder.under, *every)
    builder.prints = ("filenames" if regular else "names") if kind and not line.parsed.has(*_FORMATS) else ""
    if any(isinstance(word, Arg) and word.splits for word in line.parsed.operands):
        builder.execute()
    for command in commands:
        if not command:
            builder.execute()
        marked = [replaced(word, _PLACES, found) for word in command]
        builder.run(marked if marked != command else [*command, found])
        builder.prints = ""


def _finds_all(line: CommandLine) -> bool:
    """Whether no pattern, ending, age or size is given."""
    words = line.parsed.operands[:1]
    return words in ([], ["."], [""], [".*"], ["*"]) and not line.parsed.has(*_FD_NARROWS)


def _commands(line: CommandLine) -> tuple[list[Word], list[list[Word]]]:
    """The words without the commands of `-x`, and these."""
    words: list[Word] = []
    commands: list[list[Word]] = []
    index = 0
    while index < len(line.words):
        word = line.words[index]
        index += 1
        start = _exec(line, word)
        if start is None:
            words.append(word)
            if word == "--":
                return [*words, *line.words[index:]], commands
            continue
        line.builder.flags.update(_EXECS[:2] if start[0] else _EXECS[2:])
        command: list[Word] = [start[1]] if start[1] else []
        while index < len(line.words) and line.words[index] != ";":
            command.append(line.words[index])
            index += 1
        index += 1
        commands.append(command)
    return words, commands


def _exec(line: CommandLine, word: Word) -> tuple[bool, str] | None:
    """Whether a word asks for a command: (for each file, the glued first word of it)."""
    text = literal(word)
    if text is None or text[:1] != "-" or len(text) < 2:
        return None
    if text.startswith("--"):
        name, _, glued = text.partition("=")
        if len(name) > 4 and "--exec-batch".startswith(name):
            return not name.startswith("--exec-"), glued
        return None
    for place, letter in enumerate(text[1:], 1):
        if letter in "xX":
            return letter == "x", text[place + 1 :].removeprefix("=")
        option = line.row.options.get("-" + letter)
        if option is None or option.role:
            return None
    return None
