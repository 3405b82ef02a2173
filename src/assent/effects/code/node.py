"""Judges JavaScript for node by its tokens, never runs it.

Code is harmless only if every name in it is its own or known, it calls only its own functions, known ones and methods
of values, and no member name is computed. All else is scanned, and EXECUTE."""

from __future__ import annotations

from assent.effects.code.node_tokens import (
    CALLED,
    ENCODINGS,
    EVENTS,
    FILES,
    GLOBALS,
    INSIDE,
    MADE,
    MARK,
    MODULES,
    NAME,
    NUMBER,
    READ_FIELDS,
    ROOTS,
    TEXT,
    Token,
    pairs,
    tokens,
)
from assent.effects.shell.command import Arg
from assent.effects.shell.commands.command_effects import READ, EffectsBuilder

_LIMIT = 20_000
_WORDS = frozenset(
    """const let var for of in if else return function typeof instanceof while break continue try catch finally throw
    switch case default do null true false undefined NaN Infinity void""".split()
)
_HEADS = frozenset("if for while switch catch return typeof in of case void throw else do function instanceof".split())
_BEFORE_BLOCK = frozenset({"", ")", ";", "{", "}", "=>", "else", "do", "try", "finally"})
_BEFORE_LIST = frozenset("return typeof in of case void throw else do instanceof const let var".split())
_ENDS = frozenset({";", ",", ""})
_COUNTERS = 16
_COMPARES = frozenset({"==", "===", "!=", "!==", "<=", ">="})
_PLACES = frozenset("123456789")
_PICK = [MARK, NAME, MARK, NAME, MARK, NAME, MARK, NUMBER, MARK, MARK]


def is_harmless(builder: EffectsBuilder, text: str) -> bool:
    """Whether code does no more than the effects that are recorded for it."""
    if "while" in text or "for" in text:
        from assent.effects.code.dataflow.endless_loops import loop_marks

        if loop_marks(text):
            return False
    cut = tokens(text) if len(text) <= _LIMIT else None
    if cut is None:
        return False
    code = _NodeCode(cut, builder.argv)
    return code.pairs is not None and code.names() and code.read(builder)


class _NodeCode:
    __slots__ = (
        "all",
        "argv",
        "constants",
        "declared",
        "functions",
        "known",
        "modules",
        "odd",
        "opening",
        "pairs",
        "places",
    )

    def __init__(self, found: list[Token], argv: tuple[str | Arg, ...] = ()) -> None:
        self.all = found
        self.argv = argv
        self.pairs = pairs(found)
        self.declared: set[str] = set()
        self.functions: set[str] = set()
        self.constants: dict[str, str] = {}
        self.modules: dict[str, str] = {}
        self.opening = {closing: opening for opening, closing in (self.pairs or {}).items()}
        self.places: set[int] = set()  # where names are bound
        self.known: dict[str, bool] = {}  # whether a name is a counter, cached
        self.odd = False

    def at(self, index: int) -> str:
        """The mark or name at a place; `""` for texts, numbers and places out of range."""
        kind, word = self.all[index] if 0 <= index < len(self.all) else (MARK, "")
        return word if kind in (MARK, NAME) else " "

    def is_name(self, index: int) -> bool:
        return 0 <= index < len(self.all) and self.all[index][0] == NAME

    def is_member(self, index: int) -> bool:
        return self.is_name(index) and self.at(index - 1) in (".", "?.")

    def close(self, index: int) -> int:
        assert self.pairs is not None
        return self.pairs[index]

    # ------------------------------------------------------------ names

    def names(self) -> bool:
        """Find what the text binds. False if one name is bound to a function and to something else."""
        bound: dict[str, int] = {}
        for index in range(len(self.all)):
            for place in self.bound_at(index):
                self.places.add(place)
                name = self.all[place][1]
                bound[name] = bound.get(name, 0) + 1
        self.declared = set(bound)
        for index, (kind, word) in enumerate(self.all):
            if kind == NAME and self.at(index + 1) == "=" and not self.is_member(index):
                known = self.at(index - 1) in ("const", "let", "var", ",")
                bound[word] = bound.get(word, 0) + (0 if known else 1)
                if known:
                    self.value(word, index + 2, fixed=self.at(index - 1) == "const")
            elif kind == NAME and word not in _WORDS and self.at(index + 1) in ("++", "--", "+=", "||=", "&&=", "??="):
                bound[word] = bound.get(word, 0) + 1
            elif word == "function" and kind == NAME and self.is_name(index + 1):
                self.functions.add(self.at(index + 1))
        several = {name for name, count in bound.items() if count > 1}
        self.constants = {
            name: text for name, text in self.constants.items() if name not in several and self.stays(name)
        }
        return not self.odd and not several & (self.functions | self.modules.keys())

    def stays(self, name: str) -> bool:
        """Whether a name that is declared once is never part of a pattern or a list of declarations, which could bind
        it again: it is used as an argument of a call, or after a mark that no such list has."""
        return all(self.uses(index) for index, token in enumerate(self.all) if token == (NAME, name))

    def uses(self, index: int) -> bool:
        before, around = self.at(index - 1), self.around(index)
        if self.is_member(index) or before == "const":
            return True
        if self.at(around) == "(":
            return self.is_call(around)
        return before not in (",", "[", "{", ":", "...", "let", "var", "function")

    def around(self, index: int) -> int:
        """The place of the innermost parenthesis, bracket or brace around a place; -1 if there is none."""
        assert self.pairs is not None
        holding = (opening for opening, closing in self.pairs.items() if opening < index < closing)
        return max(holding, default=-1)

    def is_call(self, index: int) -> bool:
        """Whether a parenthesis holds the arguments of a call, not the parameters of a function."""
        called = self.is_member(index - 1) or (self.is_name(index - 1) and self.at(index - 1) not in _HEADS)
        return called and self.at(index - 2) != "function" and self.at(self.close(index) + 1) not in ("=>", "{")

    def is_number(self, token: Token) -> bool:
        """Whether a token is a number, or a counter: bound to one once, and only counted up or down."""
        kind, word = token
        if kind == NAME and word in self.declared:
            if word not in self.known:
                self.known[word] = len(self.known) < _COUNTERS and self.counts(word)
            return self.known[word]
        return kind == NUMBER

    def counts(self, name: str) -> bool:
        bound = 0
        for index, (kind, word) in enumerate(self.all):
            sets = (kind == MARK and word == "=") or (kind == NAME and word in ("of", "in"))
            if sets and self.at(index - 1) in ("]", "}") and not self.fills(index - 1):
                return False  # a pattern may rebind any name
            if kind != NAME or word != name or self.is_member(index):
                continue
            before, after = self.at(index - 1), self.at(index + 1)
            if before in ("let", "var", "const") and after == "=":
                bound += 1
                if self.all[index + 2][0] != NUMBER or self.at(index + 3) not in (";", ","):
                    return False
            elif (
                index in self.places or after in ("of", "in", "=>") or (after.endswith("=") and after not in _COMPARES)
            ):
                return False
        return bound == 1

    def fills(self, index: int) -> bool:
        """Whether a bracket or brace that ends at a place is an assigned member or a declared pattern."""
        start = self.opening[index]
        before = self.at(start - 1)
        is_member = self.at(index) == "]" and start > 0 and (self.all[start - 1][0] != MARK or before in (")", "]"))
        return is_member or before in ("const", "let", "var")

    def bound_at(self, index: int) -> list[int]:
        """The indexes of the names that the token at an index binds."""
        word, after = self.at(index), self.at(index + 1)
        if word in ("const", "let", "var"):
            return self.pattern(index + 1)
        if word == "," and self.is_name(index + 1) and self.at(index + 2) == "=":
            return [index + 1]
        if after == "=>":
            if word == ")":
                return self.inside(self.opening[index], index)
            return [index] if self.is_name(index) else []
        if word == "function":
            start = index + 2 if self.is_name(index + 1) else index + 1
            inner = self.inside(start, self.close(start)) if self.at(start) == "(" else []
            return [*([index + 1] if start == index + 2 else []), *inner]
        return self.inside(index + 1, self.close(index + 1)) if word == "catch" and after == "(" else []

    def inside(self, start: int, end: int) -> list[int]:
        """The names that a pattern binds; a default value in it is not read."""
        if any(self.at(place) == "=" for place in range(start, end)):
            self.odd = True
        return [place for place in range(start, end) if self.is_name(place)]

    def pattern(self, index: int) -> list[int]:
        if self.is_name(index):
            return [index]
        return self.inside(index, self.close(index)) if self.at(index) in ("{", "[") else []

    def value(self, name: str, index: int, *, fixed: bool) -> None:
        """Note the value of a declared name, if it is a function, a module or a text."""
        word = self.at(index)
        arrow = (self.is_name(index) and self.at(index + 1) == "=>") or (
            word == "(" and self.at(self.close(index) + 1) == "=>"
        )
        if word == "function" or arrow:
            self.functions.add(name)
        elif word == "require" and self.at(index + 4) not in (".", "?.", "[", "("):
            module = self.required(index)
            if module in MODULES:
                self.modules[name] = module
        elif fixed and index < len(self.all) and self.all[index][0] == TEXT and self.ends(index + 1):
            self.constants[name] = self.all[index][1]

    def ends(self, index: int) -> bool:
        """Whether an expression ends before a place: at a mark that ends it, or at a word on a new line."""
        return self.at(index) in _ENDS or (self.is_name(index) and self.at(index) not in ("in", "of", "instanceof"))

    def required(self, index: int) -> str:
        """The module of `require('x')` at a place; `""` if it is not of that form."""
        if self.at(index + 1) == "(" and self.at(index + 3) == ")" and self.all[index + 2][0] == TEXT:
            return self.all[index + 2][1].removeprefix("node:")
        return ""

    # ------------------------------------------------------------ reading

    def read(self, builder: EffectsBuilder) -> bool:
        return all(self.token(builder, index) for index in range(len(self.all)))

    def token(self, builder: EffectsBuilder, index: int) -> bool:
        kind, word = self.all[index]
        if kind == NAME and not self.is_member(index):
            return self.name(builder, index)
        if kind == NAME:
            return word not in INSIDE and not word.startswith("_")
        if kind == TEXT and self.at(index - 1) in ("{", ",") and self.at(index + 1) == ":":  # the name of a field
            return word not in INSIDE and not word.startswith("_") and "\\" not in word
        if kind == MARK and word == "(":
            return self.group(index)
        return kind != MARK or word != "[" or self.bracket(index)

    def name(self, builder: EffectsBuilder, index: int) -> bool:
        word, after = self.at(index), self.at(index + 1)
        if word in ("of", "let") and not self.is_word(index):
            return False
        if word in _WORDS or (word in INSIDE and word != "require") or word.startswith("__"):
            return word in _WORDS
        if self.at(index - 1) in ("{", ",") and after == ":":
            return True  # the name of a field
        if word == "new":
            return after in MADE and self.at(index + 2) not in (".", "?.", "[")
        if word == "require":
            return self.loads(builder, index)
        if word in self.modules:
            return self.use_module(builder, index)
        if word in self.declared:
            return word not in GLOBALS and word not in CALLED and not (word in MADE and self.at(index - 1) == "new")
        if word in ROOTS:
            return self.use_root(index)
        if word in MADE and self.at(index - 1) == "new":
            return True
        return word in CALLED and after not in (".", "?.", "[", "=")

    def is_word(self, index: int) -> bool:
        """Whether `of` or `let` is a keyword, not the name of something called or indexed: in the head of a loop,
        after one name or pattern; before a declaration, at the start of a statement."""
        before, around = self.at(index - 1), self.around(index)
        if self.at(index) == "let":
            starts = before in ("", ";", "{", "}") or (before == "(" and self.at(index - 2) == "for")
            named = self.is_name(index + 1) and self.at(index + 1) not in _WORDS
            return named or (starts and self.at(index + 1) in ("[", "{"))
        named = self.is_name(index - 1) and before not in _WORDS and not self.is_member(index - 1)
        return (named or before in ("]", "}")) and self.at(around) == "(" and self.at(around - 1) == "for"

    def use_root(self, index: int) -> bool:
        word, member, after = self.at(index), self.at(index + 2), self.at(index + 3)
        if word in MADE and self.at(index - 1) == "new":
            return True
        if self.at(index + 1) != ".":
            return word in CALLED and self.at(index + 1) not in ("?.", "[", "=")
        if word == "process" and member == "argv":
            return after != "="
        if word == "process" and member == "stdin":
            return self.listens(index)
        if word == "process" and member == "stdout":
            return after == "." and self.at(index + 4) == "write" and self.at(index + 5) == "("
        return (word == "Math" and member in ("PI", "E")) or (member in ROOTS[word] and after == "(")

    def listens(self, index: int) -> bool:
        """`process.stdin.on("data", …)` as a statement: its result could be connected to another machine."""
        if self.at(index - 1) not in ("", ";", "{", "}", ")"):
            return False
        index += 3
        while self.at(index) == "." and self.at(index + 1) in ("on", "setEncoding") and self.at(index + 2) == "(":
            if self.at(index + 1) == "on" and (self.all[index + 3][0] != TEXT or self.all[index + 3][1] not in EVENTS):
                return False
            index = self.close(index + 2) + 1
            if self.at(index) in ("", ";", "}") or (self.is_name(index) and self.at(index) not in ("in", "instanceof")):
                return True
        return False

    def use_module(self, builder: EffectsBuilder, index: int) -> bool:
        """A module's own name: in its binding, or before one of its known functions."""
        if self.at(index + 1) == "=" and self.at(index + 2) == "require":
            return True
        is_call = self.at(index + 1) == "." and self.at(index + 3) == "("
        return is_call and self.calls(builder, self.modules[self.at(index)], index + 2)

    def loads(self, builder: EffectsBuilder, index: int) -> bool:
        asked = self.required(index)
        if asked.endswith(".json") and asked.startswith(("./", "../", "/")) and "\\" not in asked:
            builder.path(READ, asked)
            builder.data(asked)
            return self.at(index + 4) not in ("(", "=")
        if asked not in MODULES:
            return False
        if self.at(index + 4) == ".":
            return self.at(index + 6) == "(" and self.calls(builder, asked, index + 5)
        bound = self.is_name(index - 2) and self.at(index - 2) in self.modules and self.at(index - 1) == "="
        return bound and self.ends(index + 4)

    def calls(self, builder: EffectsBuilder, module: str, index: int) -> bool:
        function = self.at(index)
        if function not in MODULES[module]:
            return False
        for operation in FILES.get(function, ()) if module == "fs" else ():
            builder.path(operation, self.path(index + 2))
        return module != "fs" or function not in ("readFileSync", "readdirSync") or self.plainly(index + 1)

    def plainly(self, index: int) -> bool:
        """Whether the options of a reading function are harmless: a flag among them could empty the file."""
        end = self.close(index)
        commas = [place for place in range(index, end) if self.at(place) == "," and self.around(place) == index]
        if not commas:
            return self.at(index + 1) != "..."
        rest = self.all[commas[0] + 1 : end]
        fields = [word for kind, word in rest if kind == NAME]
        if len(commas) == 1 and len(rest) == 1:
            return rest[0][0] == TEXT
        return rest[:1] == [(MARK, "{")] and set(fields) <= READ_FIELDS and all(kind != TEXT or word in ENCODINGS
                                                                                  for kind, word in rest)  # fmt: skip

    def path(self, index: int) -> str | Arg:
        alone = self.at(index + 1) in (",", ")")
        kind, word = self.all[index] if index < len(self.all) else (MARK, "")
        if alone and kind == TEXT and "\\" not in word:
            return word
        if alone and (kind, word) == (NUMBER, "0"):
            return "/dev/stdin"
        if alone and kind == NAME and "\\" not in self.constants.get(word, "\\"):
            return self.constants[word]
        return self.argument(index) or Arg("<computed>")

    def argument(self, index: int) -> str | Arg | None:
        """The word of the command line in `process.argv[1]`, if such words are only passed to methods."""
        named = [place for place, token in enumerate(self.all) if token[1] == "argv"] if self.argv else []
        if not named or not all(self.picks(place - 2) for place in named) or index + 2 not in named:
            return None
        place = int(self.all[index + 4][1])
        words = self.argv[:place]
        if not 0 < place <= len(self.argv) or any(isinstance(word, Arg) and word.splits for word in words):
            return None
        return words[-1]

    def picks(self, index: int) -> bool:
        """Whether `.method(process.argv[1]` is at a place, after its parenthesis."""
        found = self.all[index - 3 : index + 7] if index > 2 else []
        words = [word for _, word in found]
        return (
            len(found) == 10
            and words[0] == "."
            and words[2:7] == ["(", "process", ".", "argv", "["]
            and words[7] in _PLACES
            and words[8] == "]"
            and words[9] in (",", ")")
            and [kind for kind, _ in found] == _PICK
        )

    def group(self, index: int) -> bool:
        """A parenthesis: it groups, or it calls something already known to be harmless to call."""
        before = self.at(index - 1)
        if index == 0 or (self.all[index - 1][0] == MARK and before not in (")", "]", "}", "?.")):
            return True
        if not self.is_name(index - 1) or self.is_method(index):
            return False
        return (
            self.is_member(index - 1)
            or before in _HEADS
            or self.at(index - 2) == "function"
            or (before in MADE and self.at(index - 2) == "new")
            or before in self.functions
            or before in CALLED
            or before == "require"
        )

    def is_method(self, index: int) -> bool:
        """Whether a parenthesis after a name begins a method in an object, `{name() {…}}`: its parameters are not
        tracked. Keywords may be such names."""
        word, before = self.at(index - 1), self.at(index - 2)
        if self.at(self.close(index) + 1) != "{" or "function" in (word, before):
            return False
        in_object = before == "," or (before == "{" and self.at(index - 3) not in _BEFORE_BLOCK)
        return word not in _HEADS or in_object

    def bracket(self, index: int) -> bool:
        """A list, or a member by its number; a computed name could be any member."""
        before = self.at(index - 1)
        lists = index == 0 or (self.all[index - 1][0] == MARK and before not in (")", "]", "}", "?."))
        end = self.close(index)
        if lists or (before in _BEFORE_LIST and self.is_name(index - 1) and not self.is_member(index - 1)):
            return self.at(end + 1) != ":"  # in a pattern it would be a computed field name
        inner = self.all[index + 1 : end]
        if self.at(end + 1) == "=":
            return True
        adds = len(inner) == 3 and inner[1] in ((MARK, "+"), (MARK, "-")) and inner[2][0] == NUMBER
        if len(inner) == 1 or adds:
            return self.is_number(inner[0])
        marks = [word for kind, word in inner if kind != NUMBER]
        return len(inner) == 5 and marks[1:] == [".", "length", "-"] and inner[4][0] == NUMBER and inner[0][0] == NAME
