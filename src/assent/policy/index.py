"""Finds the few rules that could match a text among any number of them. Does not match them.

Rules with a literal beginning are found by that; rules that start with a wildcard by three letters of the longest
text they must contain. So the cost of a look-up grows with the length of the text, not with the number of rules."""

from __future__ import annotations

from bisect import bisect_left

from assent.policy.globs import Glob
from assent.policy.rules import Rule, Shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

LONG = 4096  # beyond this many characters it is cheaper to try every rule


class Trigrams:
    """Items filed under a text that they need; `candidates` gives those whose need a text may meet."""

    __slots__ = ("_buckets", "_all", "_any")

    def __init__(self) -> None:
        self._buckets: dict[str, list[tuple[str, int]]] = {}
        self._all: list[tuple[str, int]] = []
        self._any: list[int] = []

    def add(self, needed: str, item: int) -> None:
        if len(needed) < 3:
            self._any.append(item)
            return
        grams = [needed[at : at + 3] for at in range(len(needed) - 2)]
        rarest = min(grams, key=lambda gram: len(self._buckets.get(gram, ())))
        self._buckets.setdefault(rarest, []).append((needed, item))
        self._all.append((needed, item))

    def candidates(self, text: str) -> Iterator[int]:
        yield from self._any
        if not self._buckets:
            return
        if len(text) > LONG:
            yield from (item for needed, item in self._all if needed in text)
            return
        buckets = self._buckets
        for gram in {text[at : at + 3] for at in range(len(text) - 2)} & buckets.keys():
            yield from (item for needed, item in buckets[gram] if needed in text)


class PathIndex:
    """Path rules, their globs bound to the workspace and the home folder."""

    __slots__ = ("whole", "_globs", "_by_folder", "_floating", "_folders", "_of_rule", "_excepts")

    def __init__(self, rules: list[Rule], roots: tuple[str, ...], home: str, *, fold: bool = False) -> None:
        self.whole: list[Rule] = []
        self._globs: list[tuple[Glob, Rule]] = []
        self._by_folder: dict[str, list[int]] = {}
        self._floating = Trigrams()
        self._of_rule: dict[int, list[Glob]] = {}
        self._excepts: dict[int, list[Glob]] = {
            rule.number: [Glob(text) for spec in rule.excepts for text in bind(spec, roots, home)]
            for rule in rules
            if rule.excepts
        }
        for rule in rules:
            if rule.shape is Shape.WHOLE:
                self.whole.append(rule)
                continue
            for text in bind(rule.spec, roots, home):
                self._file(Glob(text), rule)
                if fold and text != text.lower():
                    self._file(Glob(text.lower()), rule)
        self._folders = sorted(self._by_folder)

    def _file(self, glob: Glob, rule: Rule) -> None:
        number = len(self._globs)
        self._globs.append((glob, rule))
        self._of_rule.setdefault(rule.number, []).append(glob)
        if glob.text.startswith("/") and glob.prefix:
            self._by_folder.setdefault(glob.prefix, []).append(number)
        else:
            self._floating.add(glob.chunk.strip("/"), number)

    def near(self, path: str) -> Iterator[tuple[Glob, Rule]]:
        """Every rule that could match the path or a folder above it."""
        globs = self._globs
        by_folder = self._by_folder
        if by_folder:
            at = len(path)
            while at > 0:
                for number in by_folder.get(path[:at], ()):
                    yield globs[number]
                at = path.rfind("/", 0, at)
            for number in by_folder.get("/", ()):
                yield globs[number]
        for number in self._floating.candidates(path):
            yield globs[number]

    def below(self, folder: str) -> Iterator[tuple[Glob, Rule]]:
        """Every rule whose literal beginning lies below the folder."""
        start = folder.rstrip("/") + "/"
        for key in self._folders[bisect_left(self._folders, start) :]:
            if not key.startswith(start):
                return
            for number in self._by_folder[key]:
                yield self._globs[number]

    def every(self) -> Iterator[tuple[Glob, Rule]]:
        yield from self._globs

    def of(self, rule: Rule) -> list[Glob]:
        """One rule's globs, bound to each form of the workspace."""
        return self._of_rule.get(rule.number, [])

    def excepts(self, rule: Rule, names: tuple[str, ...]) -> bool:
        """Whether every name is one that the rule does not mean."""
        globs = self._excepts.get(rule.number)
        return bool(globs) and bool(names) and all(any(glob.matches(name) for glob in globs or ()) for name in names)


def bind(spec: str, roots: tuple[str, ...], home: str) -> list[str]:
    """The absolute globs that a rule's path stands for."""
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

    __slots__ = ("whole", "_rules", "_by_program", "_by_word", "_wild", "_raw")

    def __init__(self, rules: list[Rule]) -> None:
        self.whole = [rule for rule in rules if rule.shape is Shape.WHOLE]
        self._rules = rules
        self._by_program: dict[str, list[int]] = {}
        self._by_word: dict[tuple[str, str], list[int]] = {}
        self._wild = Trigrams()
        self._raw = Trigrams()
        for number, rule in enumerate(rules):
            if rule.shape is Shape.WHOLE:
                continue
            self._raw.add(longest_literal(rule.spec), number)
            program = base(rule.words[0])
            plain = next((word for word in rule.words[1:] if not word.startswith("-")), "")
            if "*" in program:
                self._wild.add(longest_literal(rule.spec), number)
            elif plain and "*" not in plain:
                self._by_word.setdefault((program, plain), []).append(number)
            else:
                self._by_program.setdefault(program, []).append(number)

    def near(self, program: str, words: tuple[str, ...], texts: tuple[str, ...]) -> Iterator[Rule]:
        """Every rule that could match a command with this program, these other words and these texts."""
        rules = self._rules
        for number in self._by_program.get(program, ()):
            yield rules[number]
        if self._by_word:
            for word in dict.fromkeys(words):
                for number in self._by_word.get((program, word), ()):
                    yield rules[number]
        for text in dict.fromkeys(texts):
            for number in self._wild.candidates(text):
                yield rules[number]

    def in_text(self, text: str) -> Iterator[Rule]:
        """Every rule whose longest literal stands in a raw text."""
        for number in self._raw.candidates(text):
            yield self._rules[number]


def base(program: str) -> str:
    return program.rsplit("/", 1)[-1]


def longest_literal(spec: str) -> str:
    return max((piece.strip() for piece in spec.split("*")), key=len)
