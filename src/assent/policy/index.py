"""Finds the few rules that could match a text among any number of them.

Rules with a literal prefix are found by it; rules that start with a wildcard by three letters of the longest text they
must contain. So the cost of a look-up grows with the length of the text, not with the number of rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from assent.contract import Operation, keep
from assent.policy.globs import PathGlob, longest_chunk, names_overlap, wild_at
from assent.policy.rules import Origin, Rule, RuleShape, base

if TYPE_CHECKING:
    from assent.policy.frozen_rules import Rows

OPERATORS = frozenset("|;&<>()`$\n")
LONG = 4096  # beyond this many characters it is cheaper to try every rule
REMEMBERED = 256  # names of shell globs


class Trigrams:
    """Items by a substring they require; `candidates` gives those whose substring a text may contain."""

    __slots__ = ("filled", "_buckets", "_all", "_any")

    def __init__(self) -> None:
        self.filled = False
        self._buckets: dict[str, list[tuple[str, int]]] = {}
        self._all: list[tuple[str, int]] = []
        self._any: list[int] = []

    def add(self, needed: str, item: int) -> None:
        self.filled = True
        if len(needed) < 3:
            self._any.append(item)
            return
        grams = [needed[at : at + 3] for at in range(len(needed) - 2)]
        rarest = min(grams, key=lambda gram: len(self._buckets.get(gram, ())))
        self._buckets.setdefault(rarest, []).append((needed, item))
        self._all.append((needed, item))

    def plain(self) -> list[object]:
        return [self.filled, self._buckets, self._all, self._any]

    @classmethod
    def of(cls, data: list[Any]) -> Trigrams:
        found = cls()
        found.filled, buckets, every, found._any = data
        found._buckets = {gram: [(needed, item) for needed, item in items] for gram, items in buckets.items()}
        found._all = [(needed, item) for needed, item in every]
        return found

    def candidates(self, text: str) -> list[int]:
        """In the order of insertion, so that the same rule is named every time."""
        found = list(self._any)
        buckets = self._buckets
        if len(text) > LONG:
            found += [item for needed, item in self._all if needed in text]
        elif buckets:
            for at in range(len(text) - 2):
                for needed, item in buckets.get(text[at : at + 3], ()):
                    if needed in text and item not in found:
                        found.append(item)
        found.sort()
        return found


def tail_of(glob: str) -> str:
    """The key of a name that ends in letters: its ending with the dot (`.code-workspace`, so that a folder called
    `workspace` does not match), else its last three letters."""
    dot = glob.rfind(".")
    return glob[dot:] if dot > max(map(glob.rfind, "*?[]")) else glob[-3:]


class PathIndex:
    """Path rules, their globs bound to the workspace and the home folder.

    A glob with a literal prefix is filed under that folder. One that starts anywhere is filed under a name it requires,
    or under the first three letters or the end of one; the few others under three letters anywhere."""

    __slots__ = (
        "whole",
        "_globs",
        "_by_folder",
        "_folders",
        "_names",
        "_heads",
        "_tails",
        "_else",
        "_of_rule",
        "_excepts",
        "_floating",
        "_meeting",
        "_opening",
        "filled",
    )

    def __init__(self, rules: list[Rule], roots: tuple[str, ...], home: str, *, fold: bool = False) -> None:
        self.whole: list[Rule] = []
        self._globs: list[tuple[PathGlob, Rule]] = []
        self._by_folder: dict[str, list[int]] = {}
        self._names: dict[str, list[int]] = {}
        self._heads: dict[str, list[int]] = {}
        self._tails: dict[str, list[int]] = {}
        self._else = Trigrams()
        self._floating: list[tuple[PathGlob, Rule]] = []
        self._meeting: dict[str, tuple[int, ...]] = {}
        self._opening: dict[str, tuple[int, Rule]] | None = None
        self._of_rule: dict[int, list[PathGlob]] = {}
        self._excepts: dict[int, list[PathGlob]] = {
            rule.number: [PathGlob(text) for spec in rule.excepts for text in bind(spec, roots, home)]
            for rule in rules
            if rule.excepts
        }
        for rule in rules:
            if rule.shape is RuleShape.WHOLE:
                self.whole.append(rule)
                continue
            for text in bind(rule.spec, roots, home):
                self._file(PathGlob(text), rule)
                if fold and text != text.lower():
                    self._file(PathGlob(text.lower()), rule)
        self._folders = sorted(self._by_folder)
        self.filled = bool(self._globs)

    def _file(self, glob: PathGlob, rule: Rule) -> None:
        number = len(self._globs)
        self._globs.append((glob, rule))
        self._of_rule.setdefault(rule.number, []).append(glob)
        if glob.text.startswith("/") and glob.prefix:
            self._by_folder.setdefault(glob.prefix, []).append(number)
            return
        self._floating.append((glob, rule))
        names = [name for name in glob.text.split("/") if name not in ("", "**")]
        literal = [name for name in names if wild_at(name) < 0]
        heads = [name[:3] for name in names if wild_at(name[:3]) < 0 and len(name) > 3]
        tails = [tail_of(name) for name in names if not set(name[-3:]) & set("*?[]") and len(name) > 3]
        for keys, file in ((literal, self._names), (heads, self._heads), (tails, self._tails)):
            if keys:
                file.setdefault(min(keys, key=lambda key: len(file.get(key, ()))), []).append(number)
                return
        self._else.add(longest_chunk(glob.text).strip("/"), number)

    def keys(self) -> tuple[Iterable[tuple[str, list[str]]], Iterable[str], Iterable[str], Iterable[str]]:
        """The keys of the rules: folders with their globs, names, and the first and last letters of names."""
        folders = ((key, [self._globs[each][0].text for each in numbers]) for key, numbers in self._by_folder.items())
        return folders, self._names, self._heads, self._tails

    def beginning_in(self, folders: Iterable[str]) -> Rule | None:
        """The first rule on writing that begins with one of the folders, at any depth: `.github` of
        `**/.github/workflows/**`."""
        if self._opening is None:
            self._opening = self._opens()
        opening = self._opening
        found = [opening[folder] for folder in folders if folder in opening]
        return min(found, key=lambda each: each[0])[1] if found else None

    def _opens(self) -> dict[str, tuple[int, Rule]]:
        """The folders that rules on writing begin with, each with its first rule and that rule's position."""
        opening: dict[str, tuple[int, Rule]] = {}
        for place, (glob, rule) in enumerate(self._floating):
            anywhere, _, rest = glob.text.lstrip("/").partition("/")
            folder, slash, _ = rest.partition("/")
            if anywhere == "**" and slash and Operation.WRITE in rule.operations:
                opening.setdefault(folder, (place, rule))
        return opening

    def reaches_all(self) -> bool:
        """Whether a rule may match any path."""
        return bool(self.whole) or self._else.filled or "/" in self._by_folder

    def near(self, path: str) -> list[tuple[PathGlob, Rule]]:
        """Every rule that could match the path or a folder above it."""
        found: list[int] = []
        by_folder = self._by_folder
        if by_folder:
            at = len(path)
            while at > 0:
                numbers = by_folder.get(path[:at])
                if numbers is not None:
                    found += numbers
                at = path.rfind("/", 0, at)
            if "/" in by_folder:
                found += by_folder["/"]
        names, heads, tails = self._names, self._heads, self._tails
        if names or heads or tails:
            for name in path.split("/"):
                if name in names:
                    found += names[name]
                if name[:3] in heads:
                    found += heads[name[:3]]
                for tail in {name[-3:], name[name.rfind(".") :]}:
                    if tail in tails:
                        found += tails[tail]
        if self._else.filled:
            found += self._else.candidates(path)
        globs = self._globs
        return [globs[number] for number in found]

    def near_pattern(self, pattern: str) -> list[tuple[PathGlob, Rule]]:
        """Every rule that could match a path that a shell's glob matches."""
        wild = wild_at(pattern)
        if wild < 0:
            return self.near(pattern)
        folder = pattern[: pattern.rfind("/", 0, wild)]
        found = [*self.near(folder or "/"), *self.below(folder)]
        names = [name for name in pattern[len(folder) + 1 :].split("/") if name]
        meeting = self._met_by(names[0] if names else "")
        if len(names) > 1:
            meeting = tuple(sorted({number for name in names for number in self._met_by(name)}))
        floating = self._floating
        return found + [floating[number] for number in meeting]

    def _met_by(self, name: str) -> tuple[int, ...]:
        """The rules that start anywhere and may begin with a name of a shell's glob. Cached: calls use few
        such names, like `*` and `*.py`."""
        known = self._meeting.get(name)
        if known is None:
            known = tuple(
                number
                for number, (glob, _) in enumerate(self._floating)
                if not glob.first or glob.first == name or (name and names_overlap(name, glob.first))
            )
            keep(self._meeting, name, known, REMEMBERED)
        return known

    def below(self, folder: str) -> Iterator[tuple[PathGlob, Rule]]:
        """Every rule whose literal beginning is below the folder."""
        start = folder.rstrip("/") + "/"
        import bisect

        for key in self._folders[bisect.bisect_left(self._folders, start) :]:
            if not key.startswith(start):
                return
            for number in self._by_folder[key]:
                yield self._globs[number]

    def every(self) -> Iterator[tuple[PathGlob, Rule]]:
        yield from self._globs

    def of(self, rule: Rule) -> list[PathGlob]:
        """One rule's globs, bound to each form of the workspace."""
        return self._of_rule.get(rule.number, [])

    def excepts(self, rule: Rule, names: tuple[str, ...]) -> bool:
        """Whether every name is an exception of the rule."""
        globs = self._excepts.get(rule.number)
        return bool(globs) and bool(names) and all(any(glob.matches(name) for glob in globs or ()) for name in names)


def bind(spec: str, roots: tuple[str, ...], home: str) -> list[str]:
    """The absolute globs that a rule's path means."""
    if spec.startswith("~/") or spec == "~":
        return [home.rstrip("/") + spec[1:]] if home.startswith("/") else []
    if spec.startswith(("/", "**")):
        return [spec]
    rest = spec[2:] if spec.startswith("./") else spec
    if rest in ("", "."):
        return list(roots)
    return [f"{root.rstrip('/')}/{rest}" for root in roots]


class CommandIndex:
    """Command rules, filed under their program and first words."""

    __slots__ = (
        "whole",
        "filled",
        "spans",
        "_rules",
        "_by_ending",
        "_by_program",
        "_by_word",
        "_programs",
        "_wild",
        "_raw",
    )

    def __init__(self, rules: Sequence[Rule] | Rows) -> None:
        self.whole = [rule for rule in rules if rule.shape is RuleShape.WHOLE]
        self._rules = rules
        self._by_ending: dict[str, list[int]] = {}  # a pack's rules on files of any name
        self._by_program: dict[str, list[int]] = {}
        self._by_word: dict[tuple[str, str], list[int]] = {}
        self._programs: set[str] = set()
        self._wild = Trigrams()
        self._raw: Trigrams | None = None  # few commands need it
        self.filled = any(rule.shape is not RuleShape.WHOLE for rule in rules)
        self.spans = any(not OPERATORS.isdisjoint(rule.spec) for rule in rules)
        for number, rule in enumerate(rules):
            if rule.shape is RuleShape.WHOLE:
                continue
            if rule.origin is Origin.PACK and "{}" in base(rule.words[0]):
                self._by_ending.setdefault(rule.words[0].rpartition("}")[2], []).append(number)
                continue
            plain = next((word for word in rule.words[1:] if not word.startswith("-")), "")
            for program in dict.fromkeys((*programs(rule.words[0]), base(rule.words[0]))):
                if "*" in rule.words[0]:  # which may end in the middle of a word
                    self._wild.add(longest_literal(rule.spec), number)
                elif plain and "*" not in plain and "{" not in plain:
                    self._by_word.setdefault((program, plain), []).append(number)
                    self._programs.add(program)
                else:
                    self._by_program.setdefault(program, []).append(number)

    def plain(self) -> list[object]:
        """The index as plain data: rules by their positions in their list."""
        whole = [number for number, rule in enumerate(self._rules) if rule.shape is RuleShape.WHOLE]
        words = [[*key, numbers] for key, numbers in self._by_word.items()]
        return [whole, self.filled, self.spans, self._by_ending, self._by_program, words, self._wild.plain()]

    @classmethod
    def of(cls, data: list[Any], rules: Rows) -> CommandIndex:
        """The index from its `plain` data, over the same rules. Reads none of them."""
        found = cls(())
        whole, found.filled, found.spans, found._by_ending, found._by_program, words, wild = data
        found.whole = [rules[number] for number in whole]
        found._rules = rules
        found._by_word = {(program, word): numbers for program, word, numbers in words}
        found._programs = {program for program, _, _ in words}
        found._wild = Trigrams.of(wild)
        found._raw = None
        return found

    def keys(self) -> tuple[set[str], list[str], bool]:
        """The programs of the rules, the texts that the other rules require, and whether one requires none."""
        needed = [text for text, _ in self._wild._all]
        return {*self._by_program, *self._programs}, needed, bool(self.whole or self._by_ending or self._wild._any)

    def of_program(self, program: str) -> list[Rule]:
        """Every rule on a program by its name, whatever its other words."""
        found = [*self._by_program.get(program, ())]
        if program in self._programs:
            found += [number for (name, _), numbers in self._by_word.items() if name == program for number in numbers]
        return [self._rules[number] for number in sorted(set(found))]

    def near(self, program: str, words: tuple[str, ...], texts: tuple[str, ...]) -> list[Rule]:
        """Every rule that could match a command with this program, these other words and these texts.

        INVARIANT: a rule may match a command by any of its texts, so the first word of each counts as a program, and
        each of their words as a word: a quoted one may be several, and an assignment may precede the program."""
        names = {program: None}
        for text in texts:
            names[text.partition(" ")[0].rpartition("/")[2]] = None
        found = [number for name in names for number in self._by_program.get(name, ())]
        if self._by_ending:
            found += self._by_ending.get(program[program.rfind(".") :], ())
        for name in names:
            if name in self._programs:
                for word in dict.fromkeys((*words, *(word for text in texts for word in text.split(" ")))):
                    found += self._by_word.get((name, word), ())
        if self._wild.filled:
            for text in dict.fromkeys(texts):
                found += self._wild.candidates(text)
        return [self._rules[number] for number in dict.fromkeys(found)]

    def in_text(self, text: str) -> Iterator[Rule]:
        """Every rule whose longest literal is in a raw text."""
        if self._raw is None:
            self._raw = Trigrams()
            for number, rule in enumerate(self._rules):
                if rule.shape is not RuleShape.WHOLE:
                    self._raw.add(longest_literal(rule.spec), number)
        for number in self._raw.candidates(text):
            yield self._rules[number]


def programs(word: str) -> list[str]:
    """The programs that a rule's first word names; `{a,b}` in a pack's rule leaves a choice."""
    head, opened, rest = word.partition("{")
    choices, closed, tail = rest.partition("}")
    if not (opened and closed):
        return [base(word)]
    return list(dict.fromkeys(name for each in choices.split(",") for name in programs(head + each + tail)))


def longest_literal(spec: str) -> str:
    """The longest piece of a word that a command must contain, at any position."""
    return max((piece for word in spec.split() for piece in word.split("*")), key=len, default="")
