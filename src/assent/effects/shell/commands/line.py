"""A command line and its row: finds the row and applies it to the words. Knows no single program."""

from __future__ import annotations

from assent.contract import Effect, Kind, Pattern, Target
from assent.effects.shell.command import EVERY, TOKENS, Arg
from assent.effects.shell.commands.command_effects import (
    EXECUTE,
    LIST,
    LOOKING,
    WRITE,
    EffectsBuilder,
    Word,
    fixed,
    literal,
    shown,
    values,
)
from assent.effects.shell.commands.options import GivenOption, Parsed, parse
from assent.effects.shell.commands.roles import apply, quiet
from assent.programs.option import HARMLESS_ROLES, PATH_ROLES, Options, dangers_of, gives_of
from assent.programs.row import Mark, Row, Slot
from assent.programs.table import CommandNode, Tables

_LOOKED = frozenset({"READ", "LIST", "SEARCH"})  # recursive reading without an operand is of the current folder
_NUMBERS = ("0", "17", "123456789")  # a text of this form can be any number


class CommandLine:
    """One command line, read by its row or reader.

    `words` are those after the program and its subcommand, without global options (`before` has these).
    `path` are words that lead to other rows without a row of their own (`gh issue`). `parsed` are the words read by
    the row's own options. `quiet`: an option says that it only prints."""

    __slots__ = (
        "before",
        "global_forms",
        "more",
        "parsed",
        "path",
        "program",
        "quiet",
        "row",
        "builder",
        "tables",
        "words",
    )

    def __init__(
        self,
        program: str,
        words: list[Word],
        row: Row,
        before: list[GivenOption],
        more: tuple[Options, ...],
        builder: EffectsBuilder,
        tables: Tables,
    ) -> None:
        self.program = program
        self.words = words
        self.row = row
        self.global_forms: dict[str, Pattern] = {}
        self.path: list[Word] = []
        self.before = before
        self.more = more
        self.builder = builder
        self.tables = tables
        self.parsed = parse(words, row.options, more, style=row.style, pure=row.pure)
        given = [*before, *self.parsed.given]
        self.quiet = bool(given) and not self.parsed.doubts and _only_prints(given)

    def standard(self) -> None:
        """Apply the whole row to this line."""
        self.preamble()
        if self.parsed.doubts and "RUN" in self.row.roles:
            self.builder.gap("wrapper-option", f"`{self.parsed.doubts[0]}` is not an option that is known here")
        self.apply_options([*self.before, *self.parsed.given])
        self.operands(self.parsed.operands)

    def unproved(self) -> None:
        """Apply the whole row to this line, and EXECUTE."""
        self.standard()
        self.builder.acts = True

    def read_options(self) -> None:
        """Apply the row to this line without its operands."""
        self.preamble()
        self.apply_options([*self.before, *self.parsed.given])

    def preamble(self) -> None:
        """Apply the parts of the row that hold for any words."""
        builder, row = self.builder, self.row
        builder.flags.update(self.parsed.flags)
        builder.operands.extend(map(shown, self.parsed.operands))
        if self.parsed.doubts or (row.runs and not self.quiet):
            builder.acts = True
        self.endanger(row.dangers)
        if row.service:
            builder.service(row.service)

    def endanger(self, dangers: tuple[str, ...]) -> None:
        """Add dangers, unless the command only prints or an option lifts them."""
        if dangers and not self.quiet:
            lifted = [danger for given in self.parsed.given for danger in given.option.lifts]
            self.builder.dangers.extend(danger for danger in dangers if danger not in lifted)

    def apply_parsed(self, parsed: Parsed) -> Parsed:
        """Record words that were read by other options than the row's, and the effects of these options."""
        self.builder.flags.update(parsed.flags)
        self.builder.operands.extend(map(shown, parsed.operands))
        self.apply_options(parsed.given)
        return parsed

    def apply_options(self, options: list[GivenOption]) -> None:
        """The effects of given options, folders that they enter first."""
        for given in options:
            if given.value is not None and given.option.role in ("DIR", "REPO"):
                apply(self.builder, given.option.role, given.value)
        for given in options:
            self.option(given)

    def option(self, given: GivenOption) -> None:
        option = given.option
        self.builder.acts = self.builder.acts or option.acts
        if option.gives:
            self.builder.gives.append(option.gives)
        if not self.quiet:
            self.builder.dangers.extend(option.dangers)
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
                self.builder.run([word])
            elif role not in ("DIR", "REPO", "TEXT"):
                apply(self.builder, role, word)

    def form(self, pattern: Pattern, word: Word) -> None:
        """A word without the form that the row requires is EXECUTE."""
        texts = _NUMBERS if type(word) is Arg and word.kind == "number" else values(word)
        if not all(text is not None and pattern.fullmatch(text) for text in texts):
            self.builder.acts = True

    def mark(self, word: Word) -> None:
        """A word that the row marks gets its tags; an unknown word may be any of them."""
        for mark in self.row.marks:
            if is_marked(mark, word):
                tags = mark.tags
                self.builder.acts = self.builder.acts or "acts" in tags
                if gives_of(tags) and (isinstance(word, str) or gives_of(tags) == "nothing"):
                    self.builder.gives.append(gives_of(tags))
                self.endanger(dangers_of(tags))

    def operands(self, words: list[Word]) -> None:
        builder, row = self.builder, self.row
        options = [given.option for given in self.parsed.given]
        recursive = row.recursive or self.is_recursive()
        writes = not self.quiet and any(option.writes for option in options)
        lists = any(option.lists for option in options)
        visible, stays = row.visible and not any(option.hidden for option in options), self.stays()
        slots = dropped(row.operands) if any(option.drop for option in options) else row.operands
        if "operands" in row.forms and not lists:
            for word in words:
                self.form(row.forms["operands"], word)
        for word in (*words, *(("--",) if self.parsed.ended >= 0 else ())) if row.marks else ():
            self.mark(word)
        if row.secret_operands:
            secrets(builder, row, words)
        if lists:
            return
        for slot, share in share_out(slots, words):
            if slot is None:
                builder.acts = True
                continue
            role = quiet(slot.role) if self.quiet else slot.role
            if share and slot.gives:
                builder.gives.append(slot.gives)
            if share and not self.quiet:
                builder.acts = builder.acts or slot.acts
                self.endanger(slot.dangers)
            if role == "RUN":
                builder.run(share)
            elif role == "INTO":
                self.into(share, words, recursive)
            else:
                default = slot.default or ("." if recursive and slot.many and role in _LOOKED else "")
                for word in share or ([default] if default else []):
                    whole = recursive or slot.recursive
                    apply(builder, role, word, recursive=whole, writes=writes, stays=stays, visible=visible)
                    if row.follows_below and role in PATH_ROLES:
                        builder.path(LIST, word, recursive=True)
        if not self.quiet and len(words) < sum(slot.least for slot in slots if not slot.default):
            builder.acts = True
        self.unsettled(words, slots, recursive)

    def is_recursive(self) -> bool:
        return any(given.option.recursive for given in self.parsed.given)

    def stays(self) -> bool:
        """Whether links below the operands are not followed, by the row and the last such option."""
        stays = self.row.keeps_links
        for given in self.parsed.given:
            stays = given.option.keeps or (stays and not given.option.follows)
        return stays

    def into(self, share: list[Word], words: list[Word], recursive: bool) -> None:
        sources = [word for word in words if word not in share]
        recursive = recursive or any(slot.role == "MOVE" for slot in self.row.operands)
        for word in share:
            into(self.builder, sources, word, recursive=recursive)

    def unsettled(self, words: list[Word], slots: tuple[Slot, ...], recursive: bool) -> None:
        """Unknown words that may be several: each could have any open role. Words of a nested command do not count."""
        if slots and slots[-1].role == "RUN":
            words = words[: len(slots) - 1]
        loose = [word for word in words if type(word) is Arg and word.splits and word.kind not in TOKENS]
        loose += self.parsed.spills
        if not loose or (len(slots) == 1 and slots[0].many and not self.parsed.spills):
            return
        roles = {slot.role for slot in slots}
        if not roles <= HARMLESS_ROLES:
            self.builder.acts = True
        for role in sorted(roles & PATH_ROLES):
            for word in loose:
                apply(self.builder, role, word, recursive=recursive)

    def finish(self) -> None:
        """Add what is known only at the end: the output, and the repository it runs in."""
        builder, row = self.builder, self.row
        if row.repo or row.stores:
            operation = WRITE if row.stores else EXECUTE
            for folder in builder.repositories or [builder.cwd]:
                builder.effects.append(Effect(operation, Target(Kind.REPOSITORY, folder, certain=bool(folder))))
                if row.hooks:
                    builder.hooks(row.hooks, folder)
        prints = "nothing" if "nothing" in builder.gives else builder.gives[-1] if builder.gives else row.prints
        if prints and prints != "nothing" and builder.prints is None:
            worth(builder, prints)


def _only_prints(given: list[GivenOption]) -> bool:
    """Whether an option says that the command only prints, and no other option says otherwise."""
    prints = any(each.option.prints for each in given)
    harmless = all(each.option.prints or each.option.harmless for each in given)
    return (prints and harmless) or any(each.option.last for each in given)


def is_marked(mark: Mark, word: Word) -> bool:
    """Whether a word matches a mark of the row, or may."""
    known = "" if isinstance(word, str) or word.splits else word.prefix
    return any(
        mark.may_match(known) if text is None else mark.pattern.fullmatch(text) is not None for text in values(word)
    )


def locate(
    builder: EffectsBuilder, tree: CommandNode, program: str, words: list[Word], tables: Tables
) -> CommandLine | None:
    """Find the row with the longest matching name, skipping global options."""
    root = tables.row(tree.name) if tree.name else None
    if not tree.children:  # a program without subcommands has one row
        if root is None:
            return None
        return CommandLine(program, list(words), root, [], (root.globals,), builder, tables)
    nodes, best, taken = [tree], tree, 0
    before: list[GivenOption] = []
    kept: list[GivenOption] = []
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
    builder.subcommand = tuple(path[:taken])
    builder.flags.update(name for given in before for name in given.option.names)
    line = CommandLine(program, list(rest), row, before, _after(root, row, outer), builder, tables)
    line.path.extend(path[taken:])
    if root is not None and root is not row:
        line.global_forms = root.forms
    return line


def _global(words: list[Word], outer: list[Options], kept: list[GivenOption], style: str) -> int:
    """How many words a global option at the start of `words` takes; 0 if it is none."""
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
    """Further options that may be after the subcommand."""
    if root is None or (row is not root and root.style == "posix"):
        return ()
    return tuple(reversed(outer))


def share_out(slots: tuple[Slot, ...], words: list[Word]) -> list[tuple[Slot | None, list[Word]]]:
    """Assign words to slots; words without a slot come last, with None.

    Slots after the one that takes many get the last words."""
    if len(slots) == 1:  # most rows
        slot = slots[0]
        if slot.many or slot.role == "RUN" or len(words) < 2:
            return [(slot, words)]
        return [(slot, words[:1]), (None, words[1:])]
    many = next((index for index, slot in enumerate(slots) if slot.many or slot.role == "RUN"), len(slots))
    behind = slots[many + 1 :]
    tail = min(len(behind), max(len(words) - many - (slots[many].least if many < len(slots) else 0), 0))
    out: list[tuple[Slot | None, list[Word]]] = [
        (slot, words[index : index + 1]) for index, slot in enumerate(slots[:many])
    ]
    left = words[many:]
    if many < len(slots):
        out.append((slots[many], left[: len(left) - tail]))
        out.extend((slot, [left[len(left) - tail + index]]) for index, slot in enumerate(behind[:tail]))
    elif left:
        out.append((None, left))
    return out


def into(builder: EffectsBuilder, sources: list[Word], word: Word, *, recursive: bool, stays: bool = False) -> None:
    """Files go to a path: it is written, and also each file's name below it if it is or may be a folder.

    If the last word may be empty (`cp a b $x`), the one before it may be the path."""
    before = [source for source in sources if source is not word]
    _put(builder, before, word, recursive, stays)
    while isinstance(word, Arg) and word.splits and len(before) > 1:
        word = before.pop()
        _put(builder, before, word, recursive, stays)


def _put(builder: EffectsBuilder, sources: list[Word], word: Word, recursive: bool, stays: bool) -> None:
    builder.path(WRITE, word, recursive=recursive, stays=stays)
    folder = literal(word)
    for source in sources if folder is not None else ():
        name = _last_name(source)
        if folder is not None and name:
            below = f"{folder.rstrip('/')}/{name}"
            put = Arg(below, (below,), pattern=True) if isinstance(source, Arg) else below
            builder.path(WRITE, put, recursive=recursive, stays=stays)


def _last_name(source: Word) -> str:
    if isinstance(source, str):
        name = source.rstrip("/").rpartition("/")[2]
        return "" if name in (".", "..") else name
    if source.values is not None and source.pattern and len(source.values) == 1:
        return source.values[0].rstrip("/").rpartition("/")[2]
    return "*"


def dropped(slots: tuple[Slot, ...]) -> tuple[Slot, ...]:
    """The slots without the first that takes a text or a program: an option gave it."""
    found = next((index for index, slot in enumerate(slots) if slot.role in ("TEXT", "SED", "AWK", "JQ")), len(slots))
    return slots[:found] + slots[found + 1 :]


def secrets(builder: EffectsBuilder, row: Row, words: list[Word]) -> None:
    """An operand that names, or may name, a secret prints it."""
    for word in words:
        text = literal(word)
        names = text.lower().split(",") if text is not None else []
        if text is None or any(name.partition("/")[0].partition(".")[0] in row.secret_operands for name in names):
            builder.execute("prints-secret")


_ANY_LETTER = frozenset("*?[@!+-")


def worth(builder: EffectsBuilder, prints: str) -> None:
    """Set what is known of the output; file names only if their folders are known."""
    if prints in TOKENS:
        builder.prints = prints
        return
    under: list[str] = []
    for effect in builder.effects:
        if effect.operation in LOOKING and effect.target.kind is Kind.PATH:
            target = effect.target
            if not target.certain:
                if target.name or not target.under:
                    return
                under += target.under
                continue
            under.append(fixed(target.name) if target.pattern else target.name)
            if target.text[:1] in _ANY_LETTER:
                prints = {"paths": "names", "files": "filenames"}.get(prints, prints)
    if not under and not builder.cwd:
        return
    builder.prints = prints
    builder.under = (*dict.fromkeys(under or [builder.cwd]), *((EVERY,) if _lists_all(builder) else ()))


_ALL_TRACKED = frozenset("-z -c --cached --full-name --recurse-submodules --deduplicate".split())
_RG_NARROWS = frozenset("-g --glob --iglob -t --type -T --type-not --max-filesize".split())


def _lists_all(builder: EffectsBuilder) -> bool:
    """Whether a command prints all names in its folders."""
    if builder.program == "git":
        known = builder.subcommand in (("ls-files",), ("ls-tree",))
        known = known and (builder.subcommand == ("ls-tree",) or builder.flags <= _ALL_TRACKED)
    elif builder.program == "rg":
        known = "--files" in builder.flags and builder.flags.isdisjoint(_RG_NARROWS)
    else:
        known = builder.program in ("ls", "dir", "gls")
    names = (effect.target.name for effect in builder.effects if effect.target.kind is Kind.PATH)
    return known and not any("*" in name.removesuffix("/*") or "?" in name or "[" in name for name in names)
