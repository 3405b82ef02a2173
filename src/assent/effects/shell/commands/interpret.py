"""A command line → what it does, by the rows of the tables. Walks no shell syntax and follows no commands that it
sees started: those are in the answer, for the walk."""

from __future__ import annotations

from assent.contract.effect import Effect, Kind, Target, Via
from assent.contract.later import Later
from assent.contract.memory import keep
from assent.contract.pattern import Pattern
from assent.effects.paths import path_target
from assent.effects.shell.command import TOKENS, Arg, CommandEffects
from assent.effects.shell.commands import cover
from assent.effects.shell.commands.command_effects import EXECUTE, LIST, READ, WRITE, Seen, literal, shown, values
from assent.effects.shell.commands.operands import dropped, into, secrets, share_out, worth
from assent.effects.shell.commands.options import Given, parse
from assent.effects.shell.commands.readers import reader
from assent.effects.shell.commands.roles import apply, quiet
from assent.programs.option import HARMLESS_ROLES, PATH_ROLES, Options, dangers_of, gives_of
from assent.programs.row import Row, Slot
from assent.programs.table import Node, Tables, shipped
from assent.programs.traits import has

TYPE_CHECKING = False
if TYPE_CHECKING:
    from assent.effects.shell.commands import possible, servers

    Word = str | Arg
else:
    possible = Later("assent.effects.shell.commands.possible")
    servers = Later("assent.effects.shell.commands.servers")

_BINS = frozenset({"/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"})
_LOOKED = frozenset({"READ", "LIST", "SEARCH"})  # a recursive look without an operand is one at the current folder
_NUMBERS = ("0", "17", "123456789")  # what has the form of these has that of any number


class Line:
    """One command line in the hands of its row or reader.

    `words` are those after the program and its subcommand, without global options (`before` has these).
    `path` are words that lead on to other rows, though none ends there (`gh issue`). `parsed` is their reading by the
    row's own options. `quiet`: some option says that it only prints."""

    __slots__ = (
        "before",
        "global_forms",
        "more",
        "parsed",
        "path",
        "program",
        "quiet",
        "row",
        "seen",
        "tables",
        "words",
    )

    def __init__(
        self,
        program: str,
        words: list[Word],
        row: Row,
        before: list[Given],
        more: tuple[Options, ...],
        seen: Seen,
        tables: Tables,
    ) -> None:
        self.program = program
        self.words = words
        self.row = row
        self.global_forms: dict[str, Pattern] = {}
        self.path: list[Word] = []
        self.before = before
        self.more = more
        self.seen = seen
        self.tables = tables
        self.parsed = parse(words, row.options, more, style=row.style, pure=row.pure)
        given = [*before, *self.parsed.given]
        self.quiet = bool(given) and not self.parsed.doubts and _only_prints(given)

    def standard(self) -> None:
        """All that the row says of this line."""
        self.preamble()
        if self.parsed.doubts and "RUN" in self.row.roles:
            self.seen.gap("wrapper-option", f"`{self.parsed.doubts[0]}` is not an option that is known here")
        self.given()
        self.operands(self.parsed.operands)

    def preamble(self) -> None:
        """What the row says of every such line, whatever its words."""
        seen, row = self.seen, self.row
        seen.flags.update(self.parsed.flags)
        seen.operands.extend(map(shown, self.parsed.operands))
        if self.parsed.doubts or (row.runs and not self.quiet):
            seen.acts = True
        self.endanger(row.dangers)
        if row.service:
            seen.service(row.service)

    def endanger(self, dangers: tuple[str, ...]) -> None:
        """Dangers of the form, unless it only prints or an option lifts them."""
        if dangers and not self.quiet:
            lifted = [danger for given in self.parsed.given for danger in given.option.lifts]
            self.seen.dangers.extend(danger for danger in dangers if danger not in lifted)

    def given(self) -> None:
        """The effects of the options given, folders that they enter first."""
        options = [*self.before, *self.parsed.given]
        for given in options:
            if given.value is not None and given.option.role in ("DIR", "REPO"):
                apply(self.seen, given.option.role, given.value)
        for given in options:
            self.option(given)

    def option(self, given: Given) -> None:
        option = given.option
        self.seen.acts = self.seen.acts or option.acts
        if option.gives:
            self.seen.gives.append(option.gives)
        if option.dangers and not self.quiet:
            self.seen.dangers.extend(option.dangers)
        forms = self.row.forms
        if self.global_forms and not any(name in self.row.options for name in option.names):
            forms = {**self.global_forms, **forms}
        formed = next((name for name in option.names if name in forms), "") if forms else ""
        if formed and option.optional and not given.values:
            self.form(forms[formed], "")
        for role, word in zip(option.roles, given.values, strict=False) if given.values else ():
            if formed:
                self.form(forms[formed], word)
            if self.row.marks:
                self.mark(word)
            if role == "RUN":
                self.seen.run([word])
            elif role not in ("DIR", "REPO", "TEXT"):
                apply(self.seen, role, word)

    def form(self, pattern: Pattern, word: Word) -> None:
        """A word that does not have the form which the row asks for in its place is EXECUTE."""
        texts = _NUMBERS if type(word) is Arg and word.kind == "number" else values(word)
        if not all(text is not None and pattern.fullmatch(text) for text in texts):
            self.seen.acts = True

    def mark(self, word: Word) -> None:
        """A word that the row marks carries its tags; one that is not known may be any of them."""
        for pattern, tags in self.row.marks:
            if any(text is None or pattern.fullmatch(text) for text in values(word)):
                if "acts" in tags:
                    self.seen.acts = True
                if gives_of(tags) and (isinstance(word, str) or gives_of(tags) == "nothing"):
                    self.seen.gives.append(gives_of(tags))
                self.endanger(dangers_of(tags))

    def operands(self, words: list[Word]) -> None:
        """The effects of operands, by the row's slots."""
        seen, row = self.seen, self.row
        options = self.parsed.given
        recursive, slots, writes, lists = row.recursive, row.operands, False, False
        stays, visible = self.stays(), row.visible
        for given in options:
            option = given.option
            recursive = recursive or option.recursive
            writes = writes or (option.writes and not self.quiet)
            lists = lists or option.lists
            visible = visible and not option.hidden
            if option.drop and slots is row.operands:
                slots = dropped(slots)
        if "operands" in row.forms and not lists:
            for word in words:
                self.form(row.forms["operands"], word)
        for word in (*words, *(("--",) if self.parsed.ended >= 0 else ())) if row.marks else ():
            self.mark(word)
        if row.secret_operands:
            secrets(seen, row, words)
        if lists:
            return
        for slot, share in share_out(slots, words):
            if slot is None:
                seen.acts = True
                continue
            role = quiet(slot.role) if self.quiet else slot.role
            if share and slot.gives:
                seen.gives.append(slot.gives)
            if share and not self.quiet:
                seen.acts = seen.acts or slot.acts
                if slot.dangers:
                    self.endanger(slot.dangers)
            if role == "RUN":
                seen.run(share)
            elif role == "INTO":
                self.into(share, words, recursive)
            else:
                default = slot.default or ("." if recursive and slot.many and role in _LOOKED else "")
                for word in share or ([default] if default else []):
                    whole = recursive or slot.recursive
                    apply(seen, role, word, recursive=whole, writes=writes, stays=stays, visible=visible)
                    if row.follows_below and role in PATH_ROLES:
                        seen.path(LIST, word, recursive=True)
        if not self.quiet and len(words) < len(slots) and len(words) < _least(slots):
            seen.acts = True
        self.unsettled(words, slots, recursive)

    def stays(self) -> bool:
        """Whether links below the operands are not followed: as the row says, and the last option that speaks of it."""
        stays = self.row.keeps_links
        for given in self.parsed.given:
            stays = given.option.keeps or (stays and not given.option.follows)
        return stays

    def into(self, share: list[Word], words: list[Word], recursive: bool) -> None:
        sources = [word for word in words if word not in share]
        recursive = recursive or any(slot.role == "MOVE" for slot in self.row.operands)
        for word in share:
            into(self.seen, sources, word, recursive=recursive)

    def unsettled(self, words: list[Word], slots: tuple[Slot, ...], recursive: bool) -> None:
        """Unknown words that may be several: each could be in any role that is open. Those of a command that is run
        are its own."""
        if slots and slots[-1].role == "RUN":
            words = words[: len(slots) - 1]
        loose = [word for word in words if type(word) is Arg and word.splits and word.kind not in TOKENS]
        loose += self.parsed.spills
        if not loose or (len(slots) == 1 and slots[0].many and not self.parsed.spills):
            return
        roles = {slot.role for slot in slots}
        if not roles <= HARMLESS_ROLES:
            self.seen.acts = True
        for role in sorted(roles & PATH_ROLES):
            for word in loose:
                apply(self.seen, role, word, recursive=recursive)

    def finish(self) -> None:
        """What is known only at the end: what the output is worth, and whose repository it stands in."""
        seen, row = self.seen, self.row
        if row.repo or row.stores:
            operation = WRITE if row.stores else EXECUTE
            for folder in seen.repositories or [seen.cwd]:
                seen.effects.append(Effect(operation, Target(Kind.REPOSITORY, folder, certain=bool(folder))))
                if row.hooks:
                    seen.hooks(row.hooks, folder)
        prints = "nothing" if "nothing" in seen.gives else seen.gives[-1] if seen.gives else row.prints
        if prints and prints != "nothing" and seen.prints is None:
            worth(seen, prints)


def _only_prints(given: list[Given]) -> bool:
    """Whether an option says that the command only prints, and no other option says otherwise."""
    if any(each.option.last for each in given):
        return True
    return any(each.option.prints for each in given) and all(
        each.option.prints or each.option.harmless for each in given
    )


def _least(slots: tuple[Slot, ...]) -> int:
    """How many words must be there at least."""
    return sum(slot.least for slot in slots if not slot.default)


REMEMBERED = 512  # command lines; agents run the same few again and again
_remembered: dict[tuple[object, ...], tuple[Tables, CommandEffects]] = {}


def interpret(
    argv: tuple[Word, ...], *, cwd: str, home: str, tables: Tables = shipped, stdin: Arg | None = None
) -> CommandEffects:
    """What a simple command does, before redirects. `cwd` `""` is unknown; `stdin` is what its input is worth.

    Depends on its arguments alone, so a command line of literals is looked at once."""
    for word in argv:
        if type(word) is not str:
            return _see(argv, cwd, home, tables, stdin)
    if stdin is not None:
        return _see(argv, cwd, home, tables, stdin)
    key = (argv, cwd, home, id(tables))
    known = _remembered.get(key)
    if known is not None and known[0] is tables:
        return known[1]
    sight = _see(argv, cwd, home, tables, stdin)
    keep(_remembered, key, (tables, sight), REMEMBERED)
    return sight


def _see(argv: tuple[Word, ...], cwd: str, home: str, tables: Tables, stdin: Arg | None) -> CommandEffects:
    name = literal(argv[0])
    if name is None:
        seen = Seen("", cwd, home)
        seen.acts = True
        seen.gap("dynamic-command", f"write out the program instead of `{shown(argv[0])}`")
        return seen.sight()
    folder, _, program = name.rpartition("/")
    seen = Seen(program, cwd, home, stdin)
    if folder not in _BINS and "/" in name:
        seen.script_file(name)
    words = [_settled(word) for word in argv[1:]]
    tree = tables.program(program)
    known = False
    if tree is None or not program:
        _unknown(seen, words)
    else:
        known = _read(seen, tree, program, words, tables)
    if seen.acts or seen.effects:
        _told(seen, words, known=known)
        if seen.acts and (not known or seen.maybe):
            possible.add(seen, words, tables, texts=not known and not has(program, "prose"))
        if seen.acts and servers.serves(seen, words):
            servers.served(seen, words)
    return seen.sight()


def _read(seen: Seen, tree: Node, program: str, words: list[Word], tables: Tables) -> bool:
    """Whether a row says of the words what they are. One that takes any option and any text says nothing of them."""
    line = locate(seen, tree, program, words, tables)
    if line is None:
        _unknown(seen, words)
        return False
    row = line.row
    root = tables.row(tree.name) if tree.name else row
    seen.env = root.env if root is row else (*root.env, *row.env)
    seen.obeyed = root.obeyed_names if root is row else root.obeyed_names | row.obeyed_names
    _named_files(seen, root.file_prefixes, words)
    if line.parsed.helps and row.help and (_only_helps(line) if not row.reader else len(line.words) == 1):
        seen.flags.update(line.parsed.flags)
        if root.obeys:
            seen.settings(root.obeys)
        if root.repo and "--help" in line.parsed.flags:
            seen.effects.append(Effect(EXECUTE, Target(Kind.REPOSITORY, seen.cwd, certain=bool(seen.cwd))))
        return True
    if line.parsed.helps and not (row.help or row.options.rest):
        line.parsed.doubts.append("--help")
    if row.reader:
        reader(row.reader)(line)
    else:
        line.standard()
    line.finish()
    obeys = root.obeys if root is row else (*root.obeys, *row.obeys)
    if obeys and not seen.acts:
        seen.settings(obeys)
    if seen.acts and (line.words or line.before):
        seen.strays = cover.strays(line, 1 + len(words) - len(line.words))
    return bool(row.reader or not row.runs or not row.roles <= _ANY)


_ANY = frozenset({"TEXT", "SCRIPT"})


def _named_files(seen: Seen, prefixes: tuple[str, ...], words: list[Word]) -> None:
    """Words of the form `file://x` or `--option=file://x`, which the program replaces by what the file holds."""
    for prefix in prefixes:
        for word in words:
            text = literal(word)
            if text is not None and prefix in text:
                before, _, path = text.partition(prefix)
                if not before or before.endswith("="):
                    seen.path(READ, path)


def locate(seen: Seen, tree: Node, program: str, words: list[Word], tables: Tables) -> Line | None:
    """Find the row with the longest name that the words spell, through global options."""
    root = tables.row(tree.name) if tree.name else None
    if not tree.children:  # a program without subcommands: its row is all there is
        if root is None:
            return None
        return Line(program, list(words), root, [], (root.globals,), seen, tables)
    nodes, best, taken = [tree], tree, 0
    before: list[Given] = []
    kept: list[Given] = []
    path: list[str] = []
    rest = words
    outer = [root.globals] if root is not None else []
    style = "single" if root is not None and root.style in ("single", "go") else "gnu"
    index = 0
    while index < len(words) and any(node.children for node in nodes):
        word = words[index]
        if not isinstance(word, str) or word == "--":
            break
        if word[:1] == "-" and word != "-":
            known = len(kept)
            size = _global(words[index:], outer, kept, style)
            if not size:
                break
            for given in kept[known:]:
                given.start = index
            index += size
            continue
        nodes = [after for node in nodes for after in node.after(word)]
        if not nodes:
            break
        path.append(word)
        index += 1
        ends = next((node for node in nodes if node.name), None)
        if ends is not None:
            best, taken = ends, len(path)
            before, rest = list(kept), words[index:]
            outer.append(tables.row(ends.name).globals)
    if not best.name:
        return None
    row = tables.row(best.name)
    seen.subcommand = tuple(path[:taken])
    if before:
        seen.flags.update(name for given in before for name in given.option.names)
    line = Line(program, list(rest), row, before, _after(root, row, outer), seen, tables)
    line.path.extend(path[taken:])
    if root is not None and root is not row:
        line.global_forms = root.forms
    return line


def _global(words: list[Word], outer: list[Options], kept: list[Given], style: str) -> int:
    """How many words a global option at the start of `words` takes; 0 where it is none."""
    for options in reversed(outer):
        first = parse(words[:1], options, style=style)
        if not first.doubts and not first.helps:
            kept.extend(first.given)
            return 1
        if len(words) > 1 and not first.helps:
            both = parse(words[:2], options, style=style)
            if not both.doubts and not both.operands and both.given and len(both.given) == len(first.given):
                kept.extend(both.given)
                return 2
    return 0


def _after(root: Row | None, row: Row, outer: list[Options]) -> tuple[Options, ...]:
    """Options that may stand after the subcommand besides the row's own."""
    if root is None or (row is not root and root.style == "posix"):
        return ()
    return tuple(reversed(outer))


def _only_helps(line: Line) -> bool:
    parsed = line.parsed
    if parsed.doubts or parsed.operands != line.path or parsed.spills:
        return False
    return all(given.option.role in ("", "TEXT") for given in (*line.before, *parsed.given))


_ADDRESS = Pattern(r"(?:https?|ftp|wss?|grpc)://|(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?:[:/]|$)|metadata\.|\[[0-9a-fA-F:.]+\]")


def _unknown(seen: Seen, words: list[Word]) -> None:
    """A program that no table speaks of: EXECUTE, with its words sorted as well as can be for rules that deny."""
    seen.acts = True
    if not any(effect.operation is EXECUTE for effect in seen.effects):  # a script by its path has options of its own
        seen.strays = cover.of_unknown(words)
    ended = False
    for word in words:
        if isinstance(word, str) and word[:1] == "-" and word != "-" and not ended:
            ended = word == "--"
            name = word.partition("=")[0]
            seen.flags.add(name)
            if not word.startswith("--") and len(name) < 12:
                seen.flags.update("-" + letter for letter in name[1:])
        else:
            seen.operands.append(shown(word))
        if isinstance(word, str) and _ADDRESS.match(word):
            seen.fetch(word)


_PATH = Pattern(r"(?:~|\.{1,2})?/\S+|(?:[\w.-]+/)*\.[A-Za-z]\S*")
_GIVEN = Pattern(r"(?:--?)?[\w.-]+[=:]@?(\S+)|@(\S+)|-[A-Za-z]([~/.]\S+)")
_MOST_NAMED, _LONGEST_NAMED = 64, 1024


def _told(seen: Seen, words: list[Word], *, known: bool) -> None:
    """What code is told that nobody knows: a program without a row, a script, a task of the project."""
    runs = any(effect.operation is EXECUTE and effect.target.kind is Kind.PATH for effect in seen.effects)
    if runs or (seen.acts and (not known or has(seen.program, "project-code"))):
        _named(seen, words)


def _named(seen: Seen, words: list[Word]) -> None:
    """The paths that something which runs is told of: it may read them. A guess, good enough to deny."""
    known = {effect.target.text for effect in seen.effects if effect.target.kind is Kind.PATH}
    left = _MOST_NAMED
    for word in words:
        text = literal(word)
        if text is None or len(text) > _LONGEST_NAMED or not left:
            continue
        found = _GIVEN.fullmatch(text)
        for part in dict.fromkeys((text, *(each for each in found.groups() if each))) if found else (text,):
            if part in known or not _PATH.fullmatch(part):
                continue
            known.add(part)
            left -= 1
            target = path_target(part, seen.cwd, seen.home, certain=False)
            seen.effects.append(Effect(READ, target, via=Via.TOLD))


def _settled(word: Word) -> Word:
    """A word that is one known literal after all is that literal."""
    if isinstance(word, str):
        return word
    text = literal(word)
    return word if text is None else text
