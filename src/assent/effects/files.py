"""Tools that read, list, search, write, delete and move files → effects, on the arguments that the tool really reads.

`runtimes` lists the arguments of each tool. Any other argument still counts for floor, deny and ask rules, as reading
and as writing; an argument that no tool has makes a writing tool a gap."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from assent.agents import known
from assent.contract import OR_ANOTHER, Call, Effect, Gap, Kind, Lowering, Operation, Pattern, Target, Via
from assent.contract.tools import OURS
from assent.effects.arguments import (
    KNOWN_KEYS,
    NESTED_KEYS,
    PATH_KEYS,
    PATTERN_KEYS,
    TEXT_KEYS,
    lowered_keys,
    nested,
    nonempty,
    places,
    strings,
)
from assent.effects.paths import MOST, forms, is_path, may_be_path, normal, path_target
from assent.effects.runtimes import ToolShape

READ, LIST, SEARCH = Operation.READ, Operation.LIST, Operation.SEARCH
WRITE, DELETE = Operation.WRITE, Operation.DELETE
OPERATIONS = {"read": READ, "list": LIST, "search": SEARCH, "write": WRITE, "delete": DELETE, "move": WRITE}
GLOB = Pattern(r"[*?\[\]{}!()|+@]")
WILD = Pattern(r"[*?\[]")
PIECES = Pattern(r"[\s,]+")
ENDING = Pattern(r"\*+((?:\.[\w-]+)+)")
PATCH_KEYS = ("patch", "input", "diff", "command", "content", "patchtext")
MOST_CHOICES = 64
# Names that begin with a dot: a shell's `*` leaves them out, a tool's takes them.
DOTTED = (".env", ".envrc", ".env.local", ".env.production")


def lower(call: Call, shape: ToolShape) -> Lowering:
    given = lowered_keys(call.input)
    readers = {"read": _reading, "list": _looking, "search": _looking, "write": _writing}
    return readers.get(shape.word, _changing)(call, shape, given)


def _reading(call: Call, shape: ToolShape, given: Mapping[str, object]) -> Lowering:
    """READ on every path. A pattern reads everything below its first folder."""
    effects = [each for where, text in _named(shape, "path", given) for each in at(call, READ, text, where)]
    for where, text in _named(shape, "glob", given):
        for form in forms(text):
            effects += _below(call, where, form)
            if GLOB.search(form):
                effects += aimed(call, ".", where, form, whole="many" in shape.marks)
    return Lowering(shape.word, _rest(shape, given).lowered(call, effects, READ))


def _changing(call: Call, shape: ToolShape, given: Mapping[str, object]) -> Lowering:
    operations = (WRITE, DELETE) if shape.word == "move" else (DELETE,)
    named = list(_named(shape, "path", given))
    rest = _rest(shape, given)
    effects: list[Effect] = []
    for where, text in named or rest.paths:
        for operation in operations:
            effects += at(call, operation, text, where, recursive=shape.word == "delete")
    effects = effects or [unnamed(operation) for operation in operations]
    return Lowering(shape.word, rest.lowered(call, effects, DELETE), gaps=tuple(map(_unknown, rest.unknown)))


def _writing(call: Call, shape: ToolShape, given: Mapping[str, object]) -> Lowering:
    """WRITE on every path, and on every file of a patch."""
    operation = READ if "viewer" in shape.marks and given.get("command") == "view" else WRITE
    effects = [each for where, text in _named(shape, "path", given) for each in at(call, operation, text, where)]
    effects += _by_ending(call, shape, given) if "ending" in shape.marks else ()
    for key in NESTED_KEYS & given.keys():
        effects += [each for where, text in _inner(given[key]) for each in at(call, operation, text, where)]
    rest = _rest(shape, given)
    gaps = [_unknown(key) for key in rest.unknown]
    patches = [(key, text) for key in _patch_keys(shape, given) for text in strings(given[key])]
    for key, text in patches:
        touched, sure = _touched(call, text, key)
        if not sure and not effects:
            gaps.append(_patch_gap(key))
        effects += touched
    if shape.role("patch") and not shape.role("path") and not patches and not effects:
        gaps.append(_patch_gap("patch"))
    return Lowering(shape.word, rest.lowered(call, effects, operation), gaps=tuple(gaps))


def _by_ending(call: Call, shape: ToolShape, given: Mapping[str, object]) -> Iterator[Effect]:
    """A relative path that does not exist means the one file below the folder whose path ends with it."""
    for where, text in _named(shape, "path", given):
        for form in forms(text):
            name = path_target(form, call.cwd, call.home).name
            if form[:1] != "/" and name:
                yield Effect(Operation.EXECUTE, Target(Kind.SETTINGS, call.cwd + OR_ANOTHER + name, form), where)


def _patch_keys(shape: ToolShape, given: Mapping[str, object]) -> list[str]:
    """The arguments that hold a patch: the tool's own or, if none of these is given, those of any other tool."""
    own = [key for key in shape.role("patch") if nonempty(given.get(key))]
    return own or [key for key in PATCH_KEYS if shape.role("patch") and nonempty(given.get(key))]


def _inner(value: object) -> Iterator[tuple[str, str]]:
    """The files that edits inside an argument name."""
    for item in value if isinstance(value, list) else (value,):
        if isinstance(item, dict):
            yield from nested(item)


def _touched(call: Call, text: str, where: str) -> tuple[list[Effect], bool]:
    from assent.effects import patches

    touched, sure = patches.read_patch(text)
    return [effect for each in touched for effect in at(call, each.operation, each.path, where)], sure


def _patch_gap(where: str) -> Gap:
    return Gap("gap.call.patch", where, "send a patch that names its files", "the patch")


def _unknown(key: str) -> Gap:
    return Gap("gap.call.input", key, f"leave `{key}` out", f"the argument {key}, which no tool of this kind has")


# ---------------------------------------------------------------- listing and searching

# Programs whose search follows no links below its folder.
KEEPING = frozenset({OURS, *(runtime for runtime, row in known.section("tools").items() if row.get("keeps"))})


def _looking(call: Call, shape: ToolShape, given: Mapping[str, object]) -> Lowering:
    """Listing and searching: a folder (by default the cwd), and patterns that may lead out of it."""
    operation = OPERATIONS[shape.word]
    rest = _rest(shape, given)
    own = list(_named(shape, "folder", given))
    named = own or rest.paths
    effects = [each for where, text in named for each in at(call, operation, text, where, recursive=True)]
    for where, text in named if "parent" in shape.marks else ():
        effects += _above(call, operation, text, where)
    if not named:
        effects.append(Effect(operation, path_target(call.cwd or ".", call.cwd, call.home), "cwd", recursive=True))
    folder = named[0][1] if named else "."
    gaps: list[Gap] = []
    for where, text in _named(shape, "glob", given):
        effects += _leading_out(call, operation, folder, where, text)
        if operation is SEARCH:
            effects += [each for form in forms(text) for each in aimed(call, folder, where, form)]
        if text.lstrip()[:1] == ":":  # of git: a pattern that starts at the top of the repository
            gaps.append(Gap("gap.call.input", where, "name files as they are below the folder", "a pattern of git's"))
    for role in ("pattern", "glob", "folder") if "options" in shape.marks else ():
        for where, text in _named(shape, role, given):
            if text.strip("\0 \t\r\n")[:1] == "-":
                effects.append(Effect(Operation.EXECUTE, Target(Kind.PROGRAM, "grep"), where))
                gaps.append(Gap("gap.call.input", where, "begin it with `[-]`", "a pattern that may be an option"))
    if operation is LIST or call.runtime in KEEPING:
        effects = [each.but(stays=True) for each in effects]
    others = (*rest.paths, *rest.others) if own else rest.others
    return Lowering(shape.word, (*effects, *perhaps(call, others)), gaps=tuple(gaps))


def _above(call: Call, operation: Operation, text: str, where: str) -> Iterator[Effect]:
    """The folder above a path that may be missing or a file. The workspace and the call's folder are neither."""
    for each in at(call, operation, text, where, recursive=True):
        name = each.target.name
        above = name.rpartition("/")[0] or "/"
        if name and name != "/" and name not in (normal(call.cwd) if call.cwd else "", *map(normal, call.roots)):
            yield Effect(operation, path_target(above, call.cwd, call.home), where, recursive=True)


def _leading_out(call: Call, operation: Operation, folder: str, where: str, text: str) -> Iterator[Effect]:
    """The places outside its folder that a pattern names."""
    for form in forms(text):
        for piece in choices(form):
            absolute = piece.startswith(("/", "~"))
            if absolute or ".." in piece:
                path = piece if absolute else f"{folder}/{piece}"
                yield Effect(operation, path_target(path, call.cwd, call.home, pattern=True), where)


def aimed(call: Call, folder: str, where: str, text: str, *, whole: bool = False) -> Iterator[Effect]:
    """READ of the files that a pattern picks by name, as if they were in the folder: enough for rules on names.

    A pattern for everything counts only with `whole`: all that it picks is printed."""
    for choice in choices(text):
        for piece in dict.fromkeys((choice, *PIECES.split(choice))):
            if piece[:1] in ("!", "~"):  # what it leaves out; what leads out of the folder
                continue
            head, last = _split(piece)
            base = f"{folder}/{head}" if head else folder
            ending = ENDING.fullmatch(last)
            yield from _dotted(call, base, last, where)
            if not last.strip("*."):
                if head and not WILD.search(head):
                    yield Effect(READ, path_target(base, call.cwd, call.home), where, recursive=True)
                if (whole and last) or (head and WILD.search(head)):
                    for every in ("*", ".*"):
                        yield Effect(READ, path_target(f"{base}/{every}", call.cwd, call.home, pattern=True), where)
            elif ending is not None and not WILD.search(head):
                for name in (ending[1], f"x{ending[1]}"):
                    yield Effect(READ, path_target(f"{base}/{name}", call.cwd, call.home), where)
            else:
                pattern = WILD.search(f"{head}/{last}") is not None
                yield Effect(READ, path_target(f"{base}/{last}", call.cwd, call.home, pattern=pattern), where)


def _dotted(call: Call, base: str, last: str, where: str) -> Iterator[Effect]:
    """READ of the dotfiles that a pattern picks, unless it picks everything."""
    if WILD.match(last) and last.strip("*."):
        from fnmatch import fnmatchcase  # few patterns are a wildcard and an ending

        for name in DOTTED:
            if fnmatchcase(name, last):
                yield Effect(READ, path_target(f"{base}/{name}", call.cwd, call.home), where)


def _split(pattern: str) -> tuple[str, str]:
    """The folders and the name of a pattern, without leading wildcard folders."""
    *folders, last = pattern.split("/")
    return "/".join(each for each in folders if each.strip("*.?")), last


def choices(text: str) -> tuple[str, ...]:
    """A pattern with its `{a,b}` and `@(a|b)` written out, itself first."""
    found: dict[str, None] = {text: None}
    todo = [text]
    while todo and len(found) < MOST_CHOICES:
        each = todo.pop()
        for opened, closed, between in (("{", "}", ","), ("(", ")", "|")):
            end = each.find(closed)
            start = each.rfind(opened, 0, end) if end >= 0 else -1
            if start < 0:
                continue
            before = each[: start - 1] if opened == "(" and each[start - 1 : start] in "@+*?" else each[:start]
            for choice in each[start + 1 : end].split(between):
                written = before + choice + each[end + 1 :]
                if written not in found:
                    found[written] = None
                    todo.append(written)
            break
    return tuple(found)


def _below(call: Call, where: str, text: str) -> Iterator[Effect]:
    """A recursive READ of the possible first folders of a pattern."""
    for piece in choices(text):
        if piece is not text and not piece.startswith(("/", "~")):
            continue
        first = GLOB.search(piece)
        if first is not None and ".." in piece[first.start() :]:
            yield Effect(READ, Target(Kind.PATH, "", piece, certain=False), where)
        else:
            folder = piece[: piece.rfind("/", 0, first.start()) + 1] or "." if first is not None else piece
            yield Effect(READ, path_target(folder, call.cwd, call.home), where, recursive=True)


# ---------------------------------------------------------------- arguments


class Rest:
    """The arguments that a tool does not read: the texts of those that name files for other tools, the texts of all
    others, and the unknown keys."""

    __slots__ = ("paths", "others", "unknown")

    def __init__(self) -> None:
        self.paths: list[tuple[str, str]] = []
        self.others: list[tuple[str, str]] = []
        self.unknown: list[str] = []

    def lowered(self, call: Call, effects: list[Effect], operation: Operation) -> tuple[Effect, ...]:
        """The effects of a call and those of its other arguments. If none of the tool's own arguments names anything,
        it acts on what the others name."""
        if effects:
            return (*effects, *perhaps(call, (*self.paths, *self.others)))
        spare = [each for where, text in self.paths for each in at(call, operation, text, where)]
        return (*(spare or (unnamed(operation),)), *perhaps(call, self.others))


def _rest(shape: ToolShape, given: Mapping[str, object]) -> Rest:
    rest = Rest()
    read = {key for keys in shape.keys.values() for key in keys}
    for key, value in given.items():
        if key in read or not nonempty(value):
            continue
        if key not in KNOWN_KEYS:
            rest.unknown.append(key)
        if key not in TEXT_KEYS and key not in PATTERN_KEYS:
            (rest.paths if key in PATH_KEYS else rest.others).extend(places(key, value))
    return rest


def perhaps(call: Call, texts: Iterable[tuple[str, str]]) -> list[Effect]:
    """Reads and writes of the paths that arguments may name: for floor, deny and ask rules only."""
    return [
        Effect(operation, path_target(form, call.cwd, call.home), where, via=Via.PERHAPS)
        for where, text in texts
        if may_be_path(text)
        for form in forms(text)
        for operation in (READ, WRITE)
    ]


def _named(shape: ToolShape, role: str, given: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for key in shape.role(role):
        if key in given:
            yield from places(key, given[key])


def at(call: Call, operation: Operation, text: str, where: str, *, recursive: bool = False) -> list[Effect]:
    """An operation on a path, in every form in which a program may open it."""
    found = forms(text)
    effects = [
        Effect(operation, path_target(form, call.cwd, call.home), where, recursive=recursive)
        for form in found
        if is_path(form)
    ]
    if len(found) >= MOST or not is_path(text):
        effects.append(Effect(operation, Target(Kind.PATH, "", text, certain=False), where))
    return effects


def unnamed(operation: Operation) -> Effect:
    return Effect(operation, Target(Kind.PATH, "", "a path that the call does not name", certain=False), "input")
