"""Words → their values: literals, known sets, or unknown with what is still known of them.

Expands as the shell does, as far as it can be proved. Visits every substitution through the given walk; judges and
records nothing itself."""

from __future__ import annotations

from collections.abc import Sequence

from assent.contract import Pattern
from assent.effects.shell import flows
from assent.effects.shell.command import TEMPORARY, TOKENS, Arg
from assent.effects.shell.flows import Stream
from assent.effects.shell.record import Walk
from assent.effects.shell.state import COMPUTED, MOST_VALUES, NUMBER, UNKNOWN, ShellState, ShellValue
from assent.effects.shell.tree import (
    Arithmetic,
    Brace,
    CommandSub,
    GlobPart,
    Literal,
    Parameter,
    Part,
    ProcessSub,
    Script,
    Tilde,
    Word,
)

MOST_WORDS = 256
MOST_ALTERNATIVES = 64
LONGEST = 4096

_TEXTUAL = (Literal, GlobPart, Brace)
_BLANK = Pattern(r"[ \t\n]+")
_PLAIN_TOKEN = Pattern(r"[^ \t\n*?\[\\]+")
_MAGIC = Pattern(r"[*?\[]")
_CLIMBS = Pattern(r"\.\.|/[^/]*\(|/\.[^/]*[*?\[]|/\[")
_EQUALS = Pattern(r"=[A-Za-z_./]")
_DIGITS = {"number": "[0-9]*", "date": "[0-9]*", "hash": "[0-9a-f]*"}
# The start of a path before a number: no option, no revision, and no sed script.
_FOLDER = Pattern(r"(?:/tmp/(?=[\w.-])|\./|[A-Za-z_][\w.-]+/)[\w./-]*|[A-Za-z]\w+(?:[._-]\w+)*[._-]")
_GROWING = frozenset({"word", "hash"})  # a word that begins with one is no option either


def expand(walk: Walk, word: Word, state: ShellState) -> list[str | Arg]:
    parts = word.parts
    if len(parts) == 1:
        part = parts[0]
        if type(part) is Literal:
            if part.text[:1] == "=" and walk.zsh and not part.quoted and _EQUALS.match(part.text):
                return [Arg(part.text)]
            return [part.text]
    text = _literals(parts)
    if text:
        return [text]
    for part in parts:
        if type(part) is Brace:
            return _expand_braces(walk, word, state)
    return _expand_parts(walk, parts, state)


def _literals(parts: tuple[Part, ...]) -> str:
    """The text of a word in which nothing expands (`--include='*.py'`); nothing if it is not that simple."""
    text = ""
    for part in parts:
        if type(part) is not Literal:
            return ""
        text += part.text
    return text if len(text) <= LONGEST else ""


def value(walk: Walk, word: Word, state: ShellState) -> ShellValue:
    """The value of a word that is neither split nor matched against files: assignments, here-strings."""
    parts = word.parts
    if len(parts) == 1 and type(parts[0]) is Literal:
        return ShellValue((parts[0].text,))
    return value_of(walk, parts, state)


def value_of(walk: Walk, parts: tuple[Part, ...], state: ShellState) -> ShellValue:
    if len(parts) == 1 and not isinstance(parts[0], _TEXTUAL):
        found = part_value(walk, parts[0], state)
        return found if found.items is None else ShellValue(found.values, guesses=found.guesses, taint=found.taint)
    if len(parts) == 2 and type(parts[1]) is Literal and type(parts[0]) is not Literal:
        found = part_value(walk, parts[0], state)
        if found.kind == "place":
            places = below(found.under, parts[1].text)
            return ShellValue(kind="place" if places else "", under=places, taint=found.taint)
    if walk.zsh and len(parts) > 1:
        from assent.effects.shell import dialects

        dialects.check_subscripts(walk, parts)
    known: list[str] | None = [""]
    magic: list[str] | None = [""]
    prefix, taint, guesses = "", 0, [""]
    for part in parts:
        if isinstance(part, _TEXTUAL):
            piece = ShellValue((part.text,))
        else:
            piece = part_value(walk, part, state)
            taint |= piece.taint
        if magic is not None:
            piece = _numbered(piece, magic)
            magic = _times(magic, piece.under if piece.kind == "glob" else _inert(piece.values))
        if known is not None:
            known = _times(known, piece.values)
            if known is None:
                prefix = _common(guesses) + piece.prefix
        guesses = _times(guesses, piece.values or piece.guesses) or []
    if known is not None:
        return ShellValue(tuple(dict.fromkeys(known)), taint=taint)
    if magic is not None:
        return ShellValue(kind="glob", under=tuple(dict.fromkeys(magic)), taint=taint)
    return ShellValue(guesses=tuple(guesses[:MOST_VALUES]), prefix=prefix, taint=taint)


def _numbered(found: ShellValue, before: Sequence[str]) -> ShellValue:
    """A number, a date or a commit in a file name (`/tmp/log.$$`, `out/$i.txt`, `app-$(date +%F).tgz`) leads to no
    other folder: a pattern for any such name."""
    digits = _DIGITS.get(found.kind, "")
    return (
        ShellValue(kind="glob", under=(digits,)) if digits and before and all(map(_FOLDER.fullmatch, before)) else found
    )


def below(places: tuple[str, ...], text: str) -> tuple[str, ...]:
    """Places with text appended that leads further down; none if it may lead elsewhere."""
    if text[:1] != "/" and "" in places:
        made = len(places) == 2 and not places[0] and TEMPORARY.fullmatch(places[1]) is not None
        if not made or not text:
            return places if not text else ()
    grown = tuple(place + text for place in places)
    return grown if not any(map(_CLIMBS.search, grown)) else ()


def _inert(texts: tuple[str, ...] | None) -> tuple[str, ...] | None:
    return None if texts is None else tuple(map(inert_pattern, texts))


def single(walk: Walk, word: Word, state: ShellState) -> str | Arg:
    """The one word that a redirection's target becomes."""
    words = expand(walk, word, state)
    return words[0] if len(words) == 1 else Arg(word.text)


def part_value(walk: Walk, part: Part, state: ShellState) -> ShellValue:
    if isinstance(part, Parameter):
        from assent.effects.shell import parameters

        return parameters.parameter(walk, part, state)
    if isinstance(part, CommandSub):
        here = walk.shown(part).startswith("${")  # in this shell, so its assignments persist
        stream = _printed(walk, part.script, state if here else state.fork())
        if stream.text is not None and len(stream.text) <= LONGEST:
            return ShellValue((stream.text.rstrip("\n"),), taint=stream.taint)
        return ShellValue(kind=stream.kind, under=stream.under, taint=stream.taint | COMPUTED)
    if isinstance(part, Arithmetic):
        walk.arithmetic(part, state)
        return NUMBER
    if isinstance(part, Tilde):
        return _tilde(walk, part.user, state)
    return _process(walk, part, state) if isinstance(part, ProcessSub) else ShellValue((part.text,))


def _printed(walk: Walk, script: Script, state: ShellState) -> Stream:
    if not walk.enter():
        return flows.UNSEEN
    sink, taint = walk.sink, walk.taint
    walk.sink = []
    walk.script(script, state)
    out = flows.together(walk.sink) if walk.sink else flows.NOTHING
    walk.sink, walk.taint = sink, taint
    walk.leave()
    return out


def _process(walk: Walk, part: ProcessSub, state: ShellState) -> ShellValue:
    """`<(…)`: another shell, whose output is read as a file; `>(…)`: one whose input is written as a file."""
    stdin = walk.stdin
    if part.direction == ">":
        walk.stdin = flows.HANDED_ON
    printed = _printed(walk, part.script, state.fork())
    walk.stdin = stdin
    walk.last = printed if part.direction == "<" else flows.UNSEEN
    path = f"/dev/fd/{1063 - len(walk.pipes)}"
    walk.pipes[path] = walk.last
    return ShellValue((path,), taint=walk.last.taint)


def _tilde(walk: Walk, user: str, state: ShellState) -> ShellValue:
    match user:
        case "":
            return walk.home_of(state)
        case "+":
            return walk.cwd_of(state)
        case "-":
            return walk.previous_cwd_of(state)
    return ShellValue(("/root",)) if user == "root" else ShellValue(guesses=(f"/home/{user}",))


def _times(left: list[str], right: tuple[str, ...] | None) -> list[str] | None:
    """Every way to put two pieces together; None if they are too many or not known."""
    if not right or not left or len(left) * len(right) > MOST_ALTERNATIVES:
        return None
    out = [text + right[0] for text in left] if len(right) == 1 else [a + b for a in left for b in right]
    return out if len(out[0]) <= LONGEST * 16 else None


def inert_pattern(text: str) -> str:
    """A pattern that matches only that text."""
    return _MAGIC.sub(r"[\g<0>]", text)


def _common(texts: list[str]) -> str:
    low, high = min(texts, default=""), max(texts, default="")
    return next((low[:place] for place, letter in enumerate(low) if letter != high[place]), low)


# ---------------------------------------------------------------- braces


def _expand_braces(walk: Walk, word: Word, state: ShellState) -> list[str | Arg]:
    sequences = _sequences(word.parts, MOST_WORDS)
    if sequences is None:
        for part in word.parts:
            if type(part) is not Brace:
                part_value(walk, part, state)
        return [Arg(word.text, splits=True)]
    out: list[str | Arg] = []
    for parts in sequences:
        out += _expand_parts(walk, parts, state)
    return out


def _sequences(parts: tuple[Part, ...], most: int) -> list[tuple[Part, ...]] | None:
    """The parts of every word that brace expansion makes, or None if they are too many."""
    done: list[tuple[Part, ...]] = [()]
    for part in parts:
        if type(part) is not Brace:
            done = [(*before, part) for before in done]
            continue
        if part.words is None:
            return None
        choices: list[tuple[Part, ...]] = []
        for inner in part.words:
            nested = _sequences(inner, most)
            if nested is None:
                return None
            choices += nested
        if len(done) * len(choices) > most:
            return None
        done = [before + choice for before in done for choice in choices]
    return done


# ---------------------------------------------------------------- fields


def _expand_parts(walk: Walk, parts: tuple[Part, ...], state: ShellState) -> list[str | Arg]:
    fields = _FieldBuilder(state.split)
    if walk.zsh and len(parts) > 1:
        from assent.effects.shell import dialects

        dialects.check_subscripts(walk, parts)
    for part in parts:
        if isinstance(part, Literal):
            fields.literal(part.text, part.quoted)
        elif isinstance(part, GlobPart):
            if walk.zsh and "(" in part.text:
                walk.gap("gap.shell.zsh", "this glob can run commands in zsh: list the files in another way")
            fields.glob(part.text)
        else:
            found = part_value(walk, part, state)
            walk.taint |= found.taint
            if isinstance(part, Parameter) and found.values is None and found.guesses:
                walk.guesses = found.guesses
            if isinstance(part, CommandSub) and not part.quoted and found.values is not None:
                fields.computed(found, walk.shown(part))
            else:
                many = isinstance(part, Parameter) and _many(part)
                fields.value(found, getattr(part, "quoted", True), walk.shown(part), many)
    return fields.done()


def _many(part: Parameter) -> bool:
    """Whether a quoted expansion may still become several words: `"$@"`, `"${a[@]}"`."""
    if part.name == "@":
        return part.op != "#" or part.operand is not None
    return part.subscript is not None and part.subscript.text == "@" and not (part.op == "#" and part.operand is None)


class _FieldBuilder:
    """Builds the words that one word becomes, part by part. `plain` are the texts that the current one can be,
    `magic` the same as patterns with quoted characters made inert; None: unknown."""

    __slots__ = (
        "words",
        "plain",
        "magic",
        "text",
        "live",
        "pattern",
        "splits",
        "prefix",
        "kind",
        "under",
        "split",
        "guess",
    )

    def __init__(self, split: bool) -> None:
        self.words: list[str | Arg] = []
        self.split = split
        self.begin()

    def begin(self) -> None:
        self.plain: list[str] | None = [""]
        self.magic: list[str] = [""]
        self.text = ""
        self.live = False
        self.pattern = False
        self.splits = False
        self.prefix = ""
        self.kind = ""
        self.under: tuple[str, ...] = ()
        self.guess: list[str] = [""]

    def close(self) -> None:
        if self.live:
            self.words.append(self.word())
        self.begin()

    def done(self) -> list[str | Arg]:
        self.close()
        return self.words

    def word(self) -> str | Arg:
        if self.plain is None:
            return Arg(
                self.text,
                pattern=self.pattern,
                splits=self.splits,
                prefix=self.prefix,
                kind=self.kind,
                under=self.under,
                guesses=tuple(self.guess[:MOST_VALUES]),
            )
        if self.pattern:
            values = tuple(dict.fromkeys(self.magic))
            prefix = _common(self.magic)
            found = _MAGIC.search(prefix)
            prefix = prefix[: found.start()] if found else prefix
            return Arg(self.text, values, pattern=True, splits=self.splits, prefix=prefix)
        values = tuple(dict.fromkeys(self.plain))
        if len(values) == 1 and not self.splits:
            return values[0]
        return Arg(self.text, values, splits=self.splits, prefix=_common(self.plain))

    def literal(self, text: str, quoted: bool) -> None:
        self.live = self.live or quoted or bool(text)
        self.add((text,), text)

    def glob(self, text: str) -> None:
        self.live = self.pattern = True
        self.guess = [before + text for before in self.guess]
        self.grow(text)
        self.text += text
        if self.plain is not None:
            self.plain = [before + text for before in self.plain]
            self.magic = [before + text for before in self.magic]

    def add(self, texts: tuple[str, ...], shown: str) -> None:
        """Add literal text, in each of its forms. A word that is no option stays so as it grows."""
        self.guess = _times(self.guess, texts) or []
        self.grow(texts[0] if len(texts) == 1 else "..")
        self.text += shown
        if self.plain is None:
            return
        plain = _times(self.plain, texts)
        if plain is None:
            self.lose(ShellValue(texts), "", True)
            return
        self.magic = _times(self.magic, tuple(map(inert_pattern, texts))) or plain
        self.plain = plain

    def grow(self, text: str) -> None:
        """What is known of an unknown word once more text follows it."""
        if self.kind == "place":
            self.under = below(self.under, text)
            self.kind = "place" if self.under else ""
        else:
            self.kind = "word" if self.kind in _GROWING else ""

    def lose(self, found: ShellValue, shown: str, splits: bool) -> None:
        """A piece of unknown value."""
        alone = not self.text
        self.live = True
        self.text += shown
        self.guess = _times(self.guess, found.values or found.guesses) or []
        self.splits = self.splits or splits
        found = _numbered(found, self.plain or ())
        if found.kind == "glob" and self.plain is not None:
            plain = _times(self.plain, found.under)
            magic = _times(self.magic, found.under)
            if plain is not None and magic is not None:
                self.plain, self.magic, self.pattern = plain, magic, True
                return
        if self.plain is not None:
            self.prefix = _common(self.plain) + found.prefix
            self.plain = None
        self.under = () if self.kind == "place" else self.under
        grown = not alone and self.kind in _GROWING and not splits and found.kind in TOKENS  # `$a..$b`
        kind, under = (found.kind, found.under) if alone and found.kind != "glob" else ("", ())
        self.kind, self.under = ("word", ()) if grown else (kind, under)

    def value(self, found: ShellValue, quoted: bool, shown: str, many: bool = False) -> None:
        """An expansion. Unquoted it is split at blanks, and the pieces are patterns."""
        if found.kind == "number" and self.plain == ["-j"]:
            self.add(("1",), shown)  # a number of jobs: its value changes nothing
        elif many:
            self.each(found, quoted, shown)
        elif quoted:
            self.live = True
            if found.values is None:
                self.lose(found, shown, False)
            else:
                self.add(found.values, found.values[0] if len(found.values) == 1 else shown)
        elif not self.split:
            self.lose(UNKNOWN, shown, True)
        elif found.values is None:
            self.lose(found, shown, found.kind not in TOKENS)
        elif len(found.values) == 1:
            self.cut(found.values[0])
        elif all(map(_PLAIN_TOKEN.fullmatch, found.values)):
            self.live = True
            self.add(found.values, shown)
        else:
            self.lose(UNKNOWN, shown, True)

    def computed(self, found: ShellValue, shown: str) -> None:
        """Known output of a command: the words are known, but stay marked as computed, since a program prints them."""
        before = len(self.words)
        self.value(found, False, shown)
        self.splits = self.live
        for place in range(before, len(self.words)):
            word = self.words[place]
            if isinstance(word, str):
                self.words[place] = Arg(word, (word,), splits=True, prefix=word)

    def each(self, found: ShellValue, quoted: bool, shown: str) -> None:
        if found.items is None and found.values != ("",):
            self.lose(UNKNOWN, shown, True)
        for place, item in enumerate(found.items or ()):
            if place:
                self.close()
            self.value(item, quoted, shown)

    def cut(self, text: str) -> None:
        for place, piece in enumerate(_BLANK.split(text)):
            if place:
                self.close()
            if not piece:
                continue
            self.live = True
            if _MAGIC.search(piece):
                self.glob(piece)
            else:
                self.add((piece,), piece)
