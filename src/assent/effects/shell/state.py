"""What a shell knows while a text is walked: variables, folders, functions, aliases. Runs and expands nothing.

A State is changed in place by its own shell and forked for every other; forks share until one of them writes."""

from __future__ import annotations

from assent.contract import Pattern
from assent.effects.shell.command import LISTED
from assent.effects.shell.tree import Command

MOST_VALUES = 16
MOST_FOLDERS = 4
MOST_NAMES = 256

# The taint of a value, as bits. See `flows`.
FETCHED, DECODED, FROM_FILE, SECRET, COMPUTED, SHELL_OUTPUT, SECRET_FILE = 1, 2, 4, 8, 16, 32, 64

USUAL_SPLIT = (" \t\n",)
_NUMBERS = Pattern(r"-?[0-9]+")


class ShellValue:
    """What is known of a variable's or an expansion's value.

    `values`: every value it can have, None if unknown. `guesses`: some values an unknown one may have.
    `kind`, `under`, `prefix`: as in Arg. `taint`: bits of where it came from. `items`: the elements of an array."""

    __slots__ = ("values", "guesses", "kind", "under", "prefix", "taint", "items")

    def __init__(
        self,
        values: tuple[str, ...] | None = None,
        *,
        guesses: tuple[str, ...] = (),
        kind: str = "",
        under: tuple[str, ...] = (),
        prefix: str = "",
        taint: int = 0,
        items: tuple[ShellValue, ...] | None = None,
    ) -> None:
        self.values = values
        self.guesses = guesses
        self.kind = kind
        self.under = under
        self.prefix = prefix
        self.taint = taint
        self.items = items

    @property
    def one(self) -> str | None:
        """The value, if there is exactly one."""
        return self.values[0] if self.values is not None and len(self.values) == 1 else None

    @property
    def numeric(self) -> bool:
        if self.values is None:
            return self.kind == "number"
        return all(_NUMBERS.fullmatch(value) for value in self.values)

    def tainted(self, taint: int) -> ShellValue:
        """The same value with more bits."""
        if taint | self.taint == self.taint:
            return self
        return ShellValue(
            self.values,
            guesses=self.guesses,
            kind=self.kind,
            under=self.under,
            prefix=self.prefix,
            taint=self.taint | taint,
            items=self.items,
        )


UNKNOWN = ShellValue()
NUMBER = ShellValue(kind="number")
TOKEN = ShellValue(kind="word")
EMPTY = ShellValue(("",))
UNSET = ShellValue(("",))


def either(a: ShellValue | None, b: ShellValue | None) -> ShellValue:
    """One of two values; None is the value in the environment."""
    if a is b and a is not None:
        return a
    if a is None or b is None or a is UNSET or b is UNSET:
        known = (b if a is None or a is UNSET else a) or UNKNOWN
        return ShellValue(guesses=(known.values or known.guesses)[:MOST_VALUES], taint=known.taint)
    taint = a.taint | b.taint
    if a.items is not None or b.items is not None:
        return ShellValue(taint=taint)
    if a.values is not None and b.values is not None:
        values = tuple(dict.fromkeys(a.values + b.values))
        if len(values) <= MOST_VALUES:
            return ShellValue(values, taint=taint)
        return ShellValue(guesses=values[:MOST_VALUES], taint=taint, kind="number" if a.numeric and b.numeric else "")
    kind = a.kind if a.kind == b.kind else ""
    if a.numeric and b.numeric:
        kind = "number"
    guesses = tuple(dict.fromkeys((a.values or a.guesses) + (b.values or b.guesses)))[:MOST_VALUES]
    return ShellValue(guesses=guesses, kind=kind, under=a.under + b.under if kind in LISTED else (), taint=taint)


class Body:
    """A function's possible bodies. `sure`: it is certainly defined."""

    __slots__ = ("commands", "sure")

    def __init__(self, commands: tuple[Command, ...], sure: bool) -> None:
        self.commands = commands
        self.sure = sure


_NO_NAMES: frozenset[str] = frozenset()


class ShellState:
    """One shell at one moment.

    `cwds`: the folders it may be in, `("",)` unknown; `old`: those before the last `cd`. `positional`: the
    arguments, None unknown. `forfeit`: why no later command can be trusted. `split`: IFS is the default.
    `opaque`: code that was not read may have set any name that is not in `vars`. `aliased`: a name may refer to
    another, so that no value is sure. `fixed`: names that may be read-only. `sockets`: descriptors that lead to the
    network. `passed`: names that this text gave to later programs (`*`: all that it sets). `saved`: the values hidden
    by locals of the function being called."""

    __slots__ = (
        "vars",
        "exported",
        "passed",
        "functions",
        "aliases",
        "cwds",
        "old",
        "positional",
        "forfeit",
        "split",
        "opaque",
        "aliased",
        "lastpipe",
        "integers",
        "sockets",
        "stack",
        "saved",
        "fixed",
        "_shared",
    )

    def __init__(self, cwds: tuple[str, ...], like: ShellState | None = None) -> None:
        """`like`: a state whose names the new one shares until either changes them."""
        self.vars: dict[str, ShellValue] = {} if like is None else like.vars
        self.exported: dict[str, None] = {} if like is None else like.exported
        self.passed = _NO_NAMES
        self.functions: dict[str, Body] = {} if like is None else like.functions
        self.aliases: dict[str, tuple[str, ...]] = {} if like is None else like.aliases
        self.cwds = cwds
        self.old: tuple[str, ...] | None = None
        self.positional: tuple[ShellValue, ...] | None = None
        self.forfeit = ""
        self.split = True
        self.opaque = False
        self.aliased = False
        self.lastpipe = False
        self.integers = False
        self.sockets: tuple[str, ...] = ()
        self.stack: tuple[tuple[str, ...], ...] = ()
        self.saved: dict[str, ShellValue | None] | None = None
        self.fixed = _NO_NAMES
        self._shared = False

    def fork(self) -> ShellState:
        new = ShellState(self.cwds, self)
        new.passed = self.passed
        new.old = self.old
        new.positional = self.positional
        new.forfeit = self.forfeit
        new.split = self.split
        new.opaque = self.opaque
        new.aliased = self.aliased
        new.lastpipe = self.lastpipe
        new.integers = self.integers
        new.sockets = self.sockets
        new.stack = self.stack
        new.saved = None if self.saved is None else dict(self.saved)
        new.fixed = self.fixed
        new._shared = self._shared = True
        return new

    def _own(self) -> None:
        if self._shared:
            self.vars = dict(self.vars)
            self.exported = dict(self.exported)
            self.functions = dict(self.functions)
            self.aliases = dict(self.aliases)
            self._shared = False

    def get(self, name: str) -> ShellValue | None:
        """The value given in this text; None is the value in the environment."""
        if self.aliased:
            return UNKNOWN
        found = self.vars.get(name)
        return UNKNOWN if found is None and self.opaque else found

    def set(self, name: str, value: ShellValue) -> None:
        """Give a name a value. Past the limit nothing is known of any other name."""
        self._own()
        if len(self.vars) >= MOST_NAMES and name not in self.vars:
            self.opaque = True
            self.vars = {}
        self.vars[name] = value

    def drop(self, name: str) -> None:
        """Unset a name: its value is empty from here on, but not for `${name-default}`."""
        self._own()
        self.vars[name] = UNSET

    def reset(self, name: str, value: ShellValue | None) -> None:
        """Restore the value of a name."""
        self._own()
        if value is None:
            self.vars.pop(name, None)
        else:
            self.vars[name] = value

    def save_local(self, name: str) -> None:
        """`local`: the current value is restored when the function ends."""
        if self.saved is not None and name not in self.saved:
            self.saved[name] = self.vars.get(name)

    def restore(self, saved: dict[str, ShellValue | None] | None) -> None:
        """Leave a function: its locals end, and those of the caller are the current ones again."""
        if self.saved:
            if "IFS" in self.saved:
                before = self.saved["IFS"]
                self.split = not self.opaque if before is None else before.values == USUAL_SPLIT
            for name, value in self.saved.items():
                self.reset(name, value)
        self.saved = saved

    def export(self, name: str) -> None:
        self.passed |= {name}
        if name not in self.exported:
            self._own()
            self.exported[name] = None

    def define(self, name: str, body: Command) -> None:
        self._own()
        self.functions[name] = Body((body,), True)

    def possible(self, name: str, commands: tuple[Command, ...]) -> None:
        """A function that may have any of these bodies, or not be there."""
        self._own()
        known = self.functions.get(name, _NO_BODY).commands
        self.functions[name] = Body(tuple({id(one): one for one in (*known, *commands)}.values()), False)

    def undefine(self, name: str) -> None:
        """Unset a function: from here on it may or may not exist, the safe assumption."""
        body = self.functions.get(name)
        if body is not None:
            self._own()
            self.functions[name] = Body(body.commands, False)

    def alias(self, name: str, text: str) -> None:
        """An alias may or may not be in force when it is used, so earlier texts stay possible."""
        self._own()
        self.aliases[name] = tuple(dict.fromkeys((*self.aliases.get(name, ()), text)))

    def move(self, cwds: tuple[str, ...]) -> None:
        self.old = self.cwds
        self.cwds = bounded(cwds)

    def blur(self) -> None:
        """Unread code ran in this shell: nothing that it could have changed is known."""
        self.opaque = True
        if self.vars:
            self._own()
            self.vars = {}
        self.cwds = ("",)
        self.old = None
        self.positional = None

    def child(self) -> ShellState:
        """A new shell process: it has the exported names; others may be missing."""
        new = ShellState(self.cwds)
        for name, value in self.vars.items():
            new.vars[name] = value if name in self.exported else either(value, None)
        new.exported = dict(self.exported)
        new.passed = self.passed
        if self.functions:
            new.functions = {name: Body(body.commands, False) for name, body in self.functions.items()}
        new.forfeit = self.forfeit
        new.opaque = self.opaque
        new.aliased = self.aliased
        new.sockets = self.sockets
        return new

    def same(self, other: ShellState) -> bool:
        """Whether two states share the same objects, without comparing contents."""
        return (
            self.vars is other.vars
            and self.exported is other.exported
            and self.passed == other.passed
            and self.functions is other.functions
            and self.aliases is other.aliases
            and self.cwds == other.cwds
            and self.old == other.old
            and self.positional is other.positional
            and self.forfeit == other.forfeit
            and self.opaque == other.opaque
            and self.aliased == other.aliased
            and self.split == other.split
            and self.sockets == other.sockets
            and self.stack == other.stack
            and self.lastpipe == other.lastpipe
            and self.integers == other.integers
            and self.fixed == other.fixed
        )


Pair = tuple[ShellState | None, ShellState | None]  # the state after a command succeeded, and after it failed


def bounded(cwds: tuple[str, ...]) -> tuple[str, ...]:
    """Distinct folders, or the unknown one if there are too many."""
    distinct = tuple(dict.fromkeys(cwds))
    return distinct if len(distinct) <= MOST_FOLDERS and "" not in distinct else ("",)


def join(a: ShellState | None, b: ShellState | None) -> ShellState | None:
    """The state after one of two branches; None is a branch that does not return."""
    if a is None or b is None:
        return b if a is None else a
    if a is b or a.same(b):
        return a
    out = a.fork()
    out.cwds = bounded(a.cwds + b.cwds)
    out.old = a.old if a.old == b.old else bounded((a.old or ("",)) + (b.old or ("",)))
    out.positional = a.positional if a.positional is b.positional else None
    out.forfeit = a.forfeit or b.forfeit
    out.split = a.split and b.split
    out.opaque = a.opaque or b.opaque
    out.aliased = a.aliased or b.aliased
    out.lastpipe = a.lastpipe or b.lastpipe
    out.integers = a.integers or b.integers
    out.fixed = a.fixed | b.fixed
    out.passed = a.passed | b.passed
    out.stack = a.stack if a.stack == b.stack else ()
    out.sockets = a.sockets if a.sockets == b.sockets else tuple(dict.fromkeys(a.sockets + b.sockets))
    if a.vars is not b.vars:
        out._own()
        out.vars = _join_vars(a.vars, b.vars)
        out.exported = {name: None for name in a.exported if name in b.exported}
    if a.functions is not b.functions:
        out._own()
        out.functions = _join_functions(a.functions, b.functions)
    if a.aliases is not b.aliases:
        out._own()
        out.aliases = {
            name: tuple(dict.fromkeys(a.aliases.get(name, ()) + b.aliases.get(name, ())))
            for name in a.aliases.keys() | b.aliases.keys()
        }
    return out


def _join_vars(a: dict[str, ShellValue], b: dict[str, ShellValue]) -> dict[str, ShellValue]:
    out = {}
    for name in a.keys() | b.keys():
        one, two = a.get(name), b.get(name)
        out[name] = one if one is two and one is not None else either(one, two)
    return out


def _join_functions(a: dict[str, Body], b: dict[str, Body]) -> dict[str, Body]:
    out = {}
    for name in a.keys() | b.keys():
        one, two = a.get(name), b.get(name)
        if one is two and one is not None:
            out[name] = one
            continue
        commands = (one.commands if one else ()) + (two.commands if two else ())
        sure = one is not None and two is not None and one.sure and two.sure
        out[name] = Body(tuple({id(command): command for command in commands}.values()), sure)
    return out


def changed(a: ShellState, b: ShellState) -> list[str] | None:
    """The names whose values differ between two states; None if more than names changed."""
    if a.functions is not b.functions and (
        len(a.functions) != len(b.functions)
        or any(
            body.commands != other.commands or body.sure != other.sure
            for body, other in ((body, b.functions.get(name, _NO_BODY)) for name, body in a.functions.items())
        )
    ):
        return None
    if (
        a.aliases != b.aliases
        or a.positional is not b.positional
        or a.aliased != b.aliased
        or a.forfeit != b.forfeit
        or a.split != b.split
        or a.sockets != b.sockets
        or not _allows(a, b)
    ):
        return None
    if a.vars is b.vars:
        return []
    return [name for name in a.vars.keys() | b.vars.keys() if not covers(a.get(name), b.get(name))]


_NO_BODY = Body((), False)


def _allows(a: ShellState, b: ShellState) -> bool:
    """Whether the first state covers the second in everything but names."""
    return (
        (a.old == b.old or a.old in (None, ("",)))
        and (a.stack == b.stack or not a.stack)
        and (a.lastpipe or not b.lastpipe)
        and (a.integers or not b.integers)
        and (a.opaque or not b.opaque)
        and b.fixed <= a.fixed
        and b.passed <= a.passed
    )


def covers(a: ShellValue | None, b: ShellValue | None) -> bool:
    """Whether the first value covers all that the second can be."""
    if a is b:
        return True
    if a is None or b is None or b.taint | a.taint != a.taint or a.items is not None or b.items is not None:
        return False
    if a.values is not None:
        return b.values is not None and set(b.values) <= set(a.values)
    if a.kind == "number":
        return b.numeric
    return not a.kind or (a.kind == b.kind and set(b.under) <= set(a.under))
