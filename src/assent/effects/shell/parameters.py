"""`$name` and `${name…}` → their values. Runs nothing; the walk visits every word inside."""

from __future__ import annotations

from collections.abc import Callable

from assent.contract import DOTALL, Pattern, re
from assent.effects.shell.record import Walk
from assent.effects.shell.state import EMPTY, NUMBER, SECRET, TOKEN, UNKNOWN, UNSET, ShellState, ShellValue, either
from assent.effects.shell.tree import GlobPart, Literal, Parameter, Word

_NUMBERS = frozenset("? # $ ! RANDOM SRANDOM SECONDS EPOCHSECONDS LINENO UID EUID PPID BASHPID SHLVL".split())
_STATUSES = frozenset(("PIPESTATUS", "pipestatus"))
_TOKENS = frozenset("USER LOGNAME HOSTNAME HOSTTYPE OSTYPE MACHTYPE BASH_VERSION - 0".split())
_SECRETS = Pattern(r"(?i)\w*(?:secret|token|passw|credential|api_?key|access_?key|private_?key|database_url)\w*")
_NAME = Pattern(r"[A-Za-z_][A-Za-z0-9_]*")
_INTEGER = Pattern(r"\s*(-?[0-9]{1,9})\s*")
_MAGIC = Pattern(r"[*?\[\\]")
_LIVE_PROMPT = Pattern(r"[$`\\]")
_SCRATCH = frozenset(("TMPDIR", "TMP", "TEMP"))  # the folder for temporary files, or not set
_DEFAULTS = frozenset((":-", "-", ":=", "=", ":?", "?", ":+", "+"))
LONGEST_TEXT = 512
MOST_STARS = 2
_SIMPLE = Pattern(r"[^\[\]\\()|!^]*")


def parameter(walk: Walk, part: Parameter, state: ShellState) -> ShellValue:
    """The value of a parameter expansion; unknown if it is not modelled."""
    walk.step()
    if not part.op and part.subscript is None and not part.indirect:
        return lookup(walk, part.name, state)
    if not walk.enter():
        return UNKNOWN
    found = _operated(walk, part, state)
    walk.leave()
    return found


def _operated(walk: Walk, part: Parameter, state: ShellState) -> ShellValue:
    """`${…}` with more than a name: other expansions, possibly nested."""
    name, op = part.name, part.op
    if part.subscript is not None:
        walk.subscript(name, part.subscript, state)
    if part.indirect:
        return _indirect(walk, part, state)
    base = _element(walk, part, state)
    if not op:
        return base
    if op == "#" and part.operand is None:
        return NUMBER
    if op in _DEFAULTS:
        return _default(walk, part, base, state)
    if op == ":":
        return _slice(walk, part, base, state)
    if op.startswith("@"):
        return _transformed(walk, op, base)
    operand = _pattern(walk, part.operand, state) if part.operand is not None else EMPTY
    second = walk.value(part.operand2, state) if part.operand2 is not None else EMPTY
    return _edited(op, base, operand, second)


def _pattern(walk: Walk, word: Word, state: ShellState) -> ShellValue:
    """The pattern of a word; unknown if a star in it may be a plain character."""
    found = walk.value(word, state)
    written = all(type(part) is GlobPart or (type(part) is Literal and not part.quoted) for part in word.parts)
    if not written and (found.values is None or any(map(_MAGIC.search, found.values))):
        return ShellValue(taint=found.taint)
    return found


def lookup(walk: Walk, name: str, state: ShellState) -> ShellValue:
    """The value of a plain name: set by the text, or common to every environment."""
    found = state.get(name)
    if found is not None:
        return _first(found) if not walk.zsh or found.items is None else ShellValue(taint=found.taint)
    if name in ("@", "*"):
        return UNKNOWN if state.positional is None else together(state.positional, state)
    if name.isdigit() and name != "0":
        return _positional(int(name), state)
    match name:
        case "HOME":
            return walk.home_of(state)
        case "PWD":
            return walk.cwd_of(state)
        case "OLDPWD":
            return walk.previous_cwd_of(state)
        case "IFS":
            return ShellValue((" \t\n",))
    if name in _NUMBERS or name in _STATUSES:
        return NUMBER
    if name in _TOKENS:
        return TOKEN
    if name in _SCRATCH:
        return ShellValue(kind="place", under=("", "/tmp"))
    return ShellValue(taint=SECRET) if _SECRETS.fullmatch(name) else UNKNOWN


def _first(found: ShellValue) -> ShellValue:
    return found if found.items is None else next(iter(found.items), EMPTY)


def together(items: tuple[ShellValue, ...], state: ShellState) -> ShellValue:
    """Several values as one: separate if the place takes several words, else joined by spaces if IFS is default."""
    taint = 0
    for item in items:
        taint |= item.taint
    ones = [item.one for item in items]
    text = " ".join(one for one in ones if one is not None)
    known = None not in ones and (state.split or len(ones) < 2)
    return ShellValue((text,) if known else None, items=items, taint=taint)


def _positional(number: int, state: ShellState) -> ShellValue:
    items = state.positional
    if items is None:
        return UNKNOWN
    return items[number - 1] if number <= len(items) else EMPTY


def _element(walk: Walk, part: Parameter, state: ShellState) -> ShellValue:
    if part.subscript is None:
        return lookup(walk, part.name, state)
    found = state.get(part.name)
    if found is None or found.items is None:
        if found is not None and part.subscript.text in ("0", "@", "*"):
            return found
        if part.name in _STATUSES and found is None and part.subscript.text not in ("@", "*"):
            return NUMBER
        return ShellValue(taint=found.taint) if found is not None else UNKNOWN
    if part.subscript.text in ("@", "*"):
        return together(found.items, state)
    index = _INTEGER.fullmatch(part.subscript.text)
    if index and -len(found.items) <= int(index[1]) < len(found.items):
        item = found.items[int(index[1])]
        return either(item, found.items[int(index[1]) - 1]) if walk.zsh and int(index[1]) > 0 else item
    return ShellValue(taint=together(found.items, state).taint)


def _indirect(walk: Walk, part: Parameter, state: ShellState) -> ShellValue:
    """`${!name}` reads the name that a name holds, subscript and all; `${!name@}`, `${!a[@]}` only list names."""
    operand = walk.value(part.operand, state) if part.operand is not None else None
    if part.op in ("@", "*") or (part.subscript is not None and part.subscript.text in ("@", "*")):
        return UNKNOWN
    found = lookup(walk, part.name, state)
    if found.values is None or not all(map(_NAME.fullmatch, found.values)):
        walk.gap("gap.shell.indirect", "write the variable's own name instead of `${!…}`")
        walk.evaluated(found, state)
        return UNKNOWN
    if part.op:
        if part.op in ("=", ":="):
            for name in found.values:
                walk.assign(name, ShellValue(taint=operand.taint if operand else 0), state)
        return ShellValue(taint=found.taint | (operand.taint if operand else 0))
    out: ShellValue | None = None
    for name in found.values:
        value = lookup(walk, name, state)
        out = value if out is None else either(out, value)
    return out or UNKNOWN


def _default(walk: Walk, part: Parameter, base: ShellValue, state: ShellState) -> ShellValue:
    op = part.op
    operand = walk.value(part.operand, state) if part.operand is not None else EMPTY
    sign, colon = op[-1], op[0] == ":"
    if sign == "?":
        return base
    if base.kind == "place" and base.under == ("", "/tmp") and op in (":-", ":=") and operand.one == "/tmp":
        return ShellValue(kind="place", under=("/tmp",))
    unset = base is UNSET
    known = base.values is not None and (colon or unset or state.get(part.name) is not None)
    empty = unset or (known and colon and base.values == ("",))
    full = known and not unset and (not colon or "" not in (base.values or ()))
    if sign == "+":
        if full:
            return operand
        return EMPTY if empty else either(EMPTY, operand)
    out = operand if empty else base if full else either(base, operand)
    if sign == "=" and _NAME.fullmatch(part.name):
        walk.assign(part.name, out, state)
    return out


def _slice(walk: Walk, part: Parameter, base: ShellValue, state: ShellState) -> ShellValue:
    numbers = []
    for word in (part.operand, part.operand2):
        if word is not None:
            walk.arithmetic(word, state)
            numbers.append(_integer(walk, word, state))
    if not numbers or None in numbers:
        return ShellValue(taint=base.taint)
    start = numbers[0] or 0
    if part.name in ("@", "*") or base.items is not None:
        return _sliced_items(part.name, start, numbers[1:], base, state)
    length = numbers[1] if len(numbers) > 1 else None
    return _each(base, lambda text: _substring(text, start, length))


def _sliced_items(name: str, start: int, rest: list[int | None], base: ShellValue, state: ShellState) -> ShellValue:
    if base.items is None or start < 0 or (start == 0 and name in ("@", "*")):
        return ShellValue(taint=base.taint)
    items = base.items[start - 1 if name in ("@", "*") else start :]
    if rest:
        if rest[0] is None or rest[0] < 0:
            return ShellValue(taint=base.taint)
        items = items[: rest[0]]
    return together(items, state)


def _integer(walk: Walk, word: Word, state: ShellState) -> int | None:
    text = walk.value(word, state).one
    found = _INTEGER.fullmatch(text) if text is not None else None
    return int(found[1]) if found else None


def _substring(text: str, start: int, length: int | None) -> str | None:
    if start < 0:
        start += len(text)
        if start < 0:
            return ""
    if length is None:
        return text[start:]
    if length >= 0:
        return text[start : start + length]
    end = len(text) + length
    return text[start:end] if end >= start else None


def _transformed(walk: Walk, op: str, base: ShellValue) -> ShellValue:
    """`${x@U}` and similar. `@P` runs the substitutions of a prompt."""
    if op == "@P" and (base.values is None or any(map(_LIVE_PROMPT.search, base.values))):
        walk.gap("gap.shell.prompt", "`${…@P}` runs the substitutions in a value: print the value instead")
        return UNKNOWN
    if op in ("@U", "@L"):
        return _each(base, str.upper if op == "@U" else str.lower)
    return ShellValue(taint=base.taint)


def _edited(op: str, base: ShellValue, operand: ShellValue, second: ShellValue) -> ShellValue:
    """Removal, replacement and change of case, if everything is known."""
    pattern, text = operand.one, second.one
    taint = base.taint | operand.taint | second.taint
    if base.items is not None or pattern is None or text is None:
        return ShellValue(taint=taint)
    if base.kind == "glob":
        globs = [shortened(glob, pattern, op) for glob in base.under]
        known = tuple(glob for glob in globs if glob)
        return ShellValue(kind="glob" if len(known) == len(globs) else "", under=known, taint=taint)
    if op in ("#", "##", "%", "%%"):
        out = _each(base, lambda value: removed(value, pattern, op))
    elif op in ("/", "//", "/#", "/%"):
        out = _each(base, lambda value: replaced(value, pattern, text, op))
    elif pattern:
        return ShellValue(taint=taint)
    elif op in ("^^", ",,"):
        out = _each(base, str.upper if op == "^^" else str.lower)
    elif op in ("^", ","):
        out = _each(base, lambda value: (value[:1].upper() if op == "^" else value[:1].lower()) + value[1:])
    else:
        return ShellValue(taint=taint)
    return out.tainted(taint)


def _each(base: ShellValue, change: Callable[[str], str | None]) -> ShellValue:
    if base.values is None or base.items is not None:
        return ShellValue(taint=base.taint)
    out = []
    for value in base.values:
        new = change(value)
        if new is None:
            return ShellValue(taint=base.taint)
        out.append(new)
    return ShellValue(tuple(dict.fromkeys(out)), taint=base.taint)


def shortened(glob: str, pattern: str, op: str) -> str:
    """A glob for the names that a glob matches, without an ending (`%.md`, `%.*`) or their folder (`##*/`); `""` if not
    certain."""
    folder, slash, last = glob.rpartition("/")
    if op == "##" and pattern == "*/":
        return last
    stem, dot, ending = last.rpartition(".")
    if op not in ("%", "%%") or "\\" in last or not stem or not dot or _MAGIC.search(ending):
        return ""
    if pattern == f".{ending}" or (pattern == ".*" and op == "%"):
        return folder + slash + stem
    return ""


def removed(text: str, pattern: str, op: str) -> str | None:
    regex = _regex(text, pattern, greedy=len(op) == 2)
    if regex is None:
        return None
    if op[0] == "#":
        found = re.match(regex, text, DOTALL)
        return text[found.end() :] if found else text
    places = range(len(text) + 1) if len(op) == 2 else range(len(text), -1, -1)
    whole = re.compile(regex, DOTALL)
    return next((text[:place] for place in places if whole.fullmatch(text, place)), text)


def replaced(text: str, pattern: str, new: str, op: str) -> str | None:
    regex = _regex(text, pattern, greedy=True)
    if regex is None or not pattern or "&" in new or "\\" in new:
        return None
    if op == "/#":
        found = re.match(regex, text, DOTALL)
        return new + text[found.end() :] if found else text
    if op == "/%" or ("*" in pattern and op == "//"):
        return None
    return re.sub(regex, lambda _: new, text, count=0 if op == "//" else 1, flags=DOTALL)


def _regex(text: str, pattern: str, *, greedy: bool) -> str | None:
    too_long = len(text) > LONGEST_TEXT or len(pattern) > LONGEST_TEXT
    if too_long or not _SIMPLE.fullmatch(pattern) or pattern.count("*") > MOST_STARS:
        return None
    star = ".*" if greedy else ".*?"
    return "".join(star if c == "*" else "." if c == "?" else re.escape(c) for c in pattern)
