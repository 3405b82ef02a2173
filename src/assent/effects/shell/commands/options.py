"""Reads the words of a command line by the options of a row: the given options, their values, and the operands. Builds
no effects."""

from __future__ import annotations

from assent.contract import Pattern
from assent.effects.shell.command import FIRM, Arg
from assent.effects.shell.commands.command_effects import Word
from assent.programs.option import Option, Options

_SIGNS = frozenset("-+")
_LONG = Pattern(r"--[A-Za-z][A-Za-z0-9_.-]*")  # what `--*` matches
_NO_NAME = Pattern(r"[\s|()\[\]*\\\"'`<>{}^$]")  # no option has such a name


class GivenOption:
    """An option on the command line. `value` is None for a flag, or if an optional value is absent.
    `values` are all its values if it takes several. `start` is the index of its word, `end` that
    of the first word after it and its value."""

    __slots__ = ("end", "option", "spelling", "start", "value", "values")

    def __init__(self, option: Option, spelling: str, value: Word | None = None) -> None:
        self.option = option
        self.spelling = spelling
        self.value = value
        self.values: tuple[Word, ...] = () if value is None else (value,)
        self.start = self.end = -1


class Parsed:
    """The words of a command line, sorted. `doubts` say why the reading is not certain (`"--frob"` is unknown).
    `odd` are the positions of words that no option describes, including those that `*` matches. `spills` are unknown
    values that may have become further operands. `helps`: `--help` or `--version` is given."""

    __slots__ = ("doubts", "ended", "flags", "given", "helps", "odd", "operands", "spills")

    def __init__(self) -> None:
        self.given: list[GivenOption] = []
        self.operands: list[Word] = []
        self.doubts: list[str] = []
        self.odd: list[int] = []
        self.spills: list[Arg] = []
        self.flags: set[str] = set()
        self.helps = False
        self.ended = -1

    def has(self, *names: str) -> bool:
        """Whether an option is given, by any of its spellings."""
        return any(name in self.flags for name in names)

    def values(self, name: str) -> list[Word]:
        """The values given to an option, by any of its spellings."""
        return [g.value for g in self.given if g.value is not None and name in g.option.names]


def parse(
    words: tuple[Word, ...] | list[Word],
    options: Options,
    more: tuple[Options, ...] = (),
    *,
    style: str = "gnu",
    pure: bool = False,
) -> Parsed:
    """Sort words into options, values and operands. `more` are options looked up if `options` has none.

    INVARIANT: a word that could be an option with an effect, and is not known to be one, leaves a doubt."""
    out = Parsed()
    if style == "words" or (style != "bsd" and _all_operands(words)):
        out.operands.extend(words)
        return out
    reader = _OptionReader(out, options, more, style, pure)
    index, count = 0, len(words)
    if style == "bsd" and words and isinstance(words[0], str) and reader.bare_cluster(words[0]):
        index = reader.cluster("-" + words[0], words, 1, bare=True)
    while index < count:
        word = words[index]
        index += 1
        reader.at = index - 1
        if isinstance(word, str):
            first = word[:1]
            if word == "--":
                out.ended = len(out.operands)
                out.operands.extend(words[index:])
                return out
            if first == "-" and (word != "-" or "-" in options):
                first_new = len(out.given)
                index = reader.take(word, words, index)
                for given in out.given[first_new:]:
                    given.start, given.end = reader.at, index
                continue
            if first == "+" and options.plus and len(word) > 1:
                reader.plus(word)
                continue
        elif reader.named(word):
            continue
        elif reader.could_be_option(word):
            out.doubts.append(word.text)
            out.odd.append(index - 1)
        out.operands.append(word)
        if style in ("posix", "go"):
            out.operands.extend(words[index:])
            return out
    return out


def _all_operands(words: tuple[Word, ...] | list[Word]) -> bool:
    """Whether certainly no word is an option."""
    for word in words:  # noqa: SIM110  # on the path of every command line, and twice as fast as `all`
        if type(word) is not str or word[:1] in _SIGNS:
            return False
    return True


class _OptionReader:
    __slots__ = ("at", "gnu", "more", "options", "out", "pure", "single")

    def __init__(self, out: Parsed, options: Options, more: tuple[Options, ...], style: str, pure: bool) -> None:
        self.out = out
        self.at = 0  # the position of the current word
        self.options = options
        self.more = more
        self.gnu = style == "gnu"
        self.single = style in ("single", "go")
        self.pure = pure

    def find(self, name: str) -> Option | None:
        option = self.options.get(name)
        for options in self.more if option is None else ():
            option = options.get(name)
            if option is not None:
                break
        return option

    def take(self, word: str, words: tuple[Word, ...] | list[Word], index: int) -> int:
        """Read the option word, with words[index:] after it; return the index of the first word not used."""
        if (word == "--help" or word == "--version") and self.find(word) is None:
            self.out.helps = True
            self.out.flags.add(word)
            return index
        if word[1:2] == "-" or self.single:
            return self.long(word, words, index)
        option = self.find(word)
        if option is not None:
            return self.valued(option, word, None, words, index)
        name, equals, value = word.partition("=")
        option = self.find(name) if equals and len(name) > 2 else None  # `-std=c++20`
        if option is not None:
            return self.valued(option, name, value, words, index)
        number = self.options.number or next((options.number for options in self.more if options.number), None)
        if number is not None and _is_number(word):
            self.add(number, word, word[1:])
            return index
        return self.cluster(word, words, index)

    def long(self, word: str, words: tuple[Word, ...] | list[Word], index: int) -> int:
        name, equals, glued = word.partition("=")
        value = glued if equals else None
        option = self.find(name)
        if option is None and self.single:
            option = self.find(name[1:] if name.startswith("--") else "-" + name)
        if option is not None:
            return self.valued(option, name, value, words, index)
        if self.single and self.options.number is not None and _is_number(word):
            self.add(self.options.number, word, word[1:])
            return index
        return self.abbreviated(name, value, words, index)

    def abbreviated(self, name: str, value: str | None, words: tuple[Word, ...] | list[Word], index: int) -> int:
        """An unlisted option may abbreviate a listed one. The program may have options that the row does not list, so
        it leaves a doubt; the listed meaning still counts, for deny rules."""
        found: list[Option] = []
        for options in (self.options, *self.more) if len(name) > 2 and not self.single else ():
            found += options.completions(name)
        self.out.odd.append(self.at)
        harmless = all(option.harmless for option in found)
        if harmless and self.rest():
            self.out.flags.add(name)
            return index
        other = self.other() if harmless and _LONG.fullmatch(name) and (value or "")[:1] != "-" else None
        if other is not None:  # a value in the next word stays among the operands, which are plain text too
            self.add(other, name, value)
            return index
        if not found and self.gnu and _NO_NAME.search(name):  # refused, or text: `rg "--flag|word" src`
            self.out.operands.append(name if value is None else f"{name}={value}")
            return index
        if not self.pure or not found:
            self.doubt(name)
        for option in found[1:]:
            self.add(option, name, value)
        return self.valued(found[0], name, value, words, index) if found else index

    def cluster(self, word: str, words: tuple[Word, ...] | list[Word], index: int, bare: bool = False) -> int:
        """`-rf`, `-ofile`, `-n5`. In a bare cluster (`tar xf a`) nothing is glued: values are the words that follow."""
        place = 1
        while place < len(word):
            name = "-" + word[place]
            place += 1
            option = self.find(name)
            if option is None:
                self.out.odd.append(self.at)
                if not self.rest() or not self.all_harmless(word[place:]):
                    self.doubt(word)
                self.out.flags.add(name)
                continue
            if not option.role:
                self.add(option, name, None)
                continue
            if bare or place == len(word):
                index = self.valued(option, name, None, words, index)
                continue
            glued = word[place:]
            self.add(option, name, glued)
            if len(option.roles) > 1:
                return self.further(option, words, index)
            if glued[0] == "=" and option.role != "TEXT":  # getopt keeps the sign, other libraries drop it
                self.add(option, name, glued[1:])
            return index
        return index

    def valued(
        self, option: Option, name: str, value: str | None, words: tuple[Word, ...] | list[Word], index: int
    ) -> int:
        missing = bool(option.role) and value is None and not option.optional and index >= len(words)
        if not option.role or missing:
            if missing or value is not None:
                self.doubt(name if missing else f"{name}={value}")
            self.add(option, name, None)
            return index
        if value is not None or option.optional:
            self.add(option, name, value)
            return self.further(option, words, index)
        word = words[index]
        self.add(option, name, word)
        index += 1
        if not isinstance(word, str) and word.splits and word.values is None and word.kind not in FIRM:
            self.spill(word)
        index = self.further(option, words, index)
        while option.repeat and index < len(words) and not _dashed(words[index]):
            self.add(option, name, words[index])
            index += 1
        return index

    def further(self, option: Option, words: tuple[Word, ...] | list[Word], index: int) -> int:
        """The values of an option beyond its first."""
        more = len(option.roles) - 1
        if more > 0:
            given = self.out.given[-1]
            given.values += tuple(words[index : index + more])
            if index + more > len(words):
                self.doubt(given.spelling)
        return index + max(more, 0)

    def add(self, option: Option, name: str, value: Word | None) -> None:
        self.out.given.append(GivenOption(option, name, value))
        self.out.flags.update(option.names)
        self.out.flags.add(name)

    def doubt(self, what: str) -> None:
        self.out.doubts.append(what)
        self.out.odd.append(self.at)
        self.out.flags.add(what.partition("=")[0])

    def spill(self, word: Arg) -> None:
        self.out.spills.append(word)
        self.out.odd.append(self.at)
        if not self.pure:
            self.out.doubts.append(word.text)

    def rest(self) -> bool:
        return self.options.rest or any(options.rest for options in self.more)

    def other(self) -> Option | None:
        """The option that `--*` lists, for any other long option."""
        return self.options.other or next((options.other for options in self.more if options.other), None)

    def all_harmless(self, letters: str) -> bool:
        found = (self.find("-" + letter) for letter in letters)
        return all(option is None or option.harmless for option in found)

    def plus(self, word: str) -> None:
        """A word with a plus, in a row that lists some."""
        number = self.options.get("+NUM") if word[1:].isdigit() else None
        option = self.options.get(word) or number or self.options.get("+*")
        if option is None:
            self.doubt(word)
        else:
            self.add(option, word, word[1:])

    def named(self, word: Arg) -> bool:
        """Take `--name=$x`: a known option with an unknown value. Returns whether it is one. `--name=*` is one too:
        every match begins with the option."""
        matched = word.pattern and word.values is not None and len(word.values) == 1
        name, equals, rest = (word.values[0] if word.values and matched else word.prefix).partition("=")
        dashed = name.startswith("--") or (self.single and name.startswith("-"))
        unknown = not word.splits and word.values is None
        option = self.find(name) if equals and dashed and (unknown or matched) else None
        if matched and option is not None:
            if option.roles != ("TEXT",):
                return False
            rest = ""
        if option is None or not option.role or len(option.roles) > 1:
            return False
        self.add(option, name, Arg(word.text.partition("=")[2], prefix=rest))
        return True

    def bare_cluster(self, word: str) -> bool:
        """Whether a first word without a dash is a cluster of known options."""
        return bool(word) and word[0] not in "-+" and all(self.find("-" + letter) is not None for letter in word)

    def could_be_option(self, word: Arg) -> bool:
        if word.kind in FIRM:
            return False
        if word.values is not None:
            dashed = [value for value in word.values if value[:1] == "-" and value != "-"]
            for value in dashed:
                self.out.flags.add(value.partition("=")[0])
                self.out.flags.update("-" + letter for letter in value[1:] if not value.startswith("--"))
            if not word.pattern:
                return bool(dashed)
            wild = any(value[:1] in ("*", "?", "[", "@", "!", "+", "") for value in word.values)
            return (bool(dashed) or wild) and not self.pure
        return (not word.prefix or word.prefix[0] == "-" or word.splits) and not self.pure


def _dashed(word: Word) -> bool:
    return isinstance(word, str) and word[:1] == "-" and word != "-"


def _is_number(word: str) -> bool:
    return word[:1] == "-" and word.isascii() and word[1:].isdigit()
