"""The reader for awk and its programs: the commands they run and the files they read and write."""

from __future__ import annotations

from assent.contract import DOTALL, Operation, Pattern
from assent.effects.shell.command import Arg
from assent.effects.shell.commands.command_effects import LONGEST, READ, WRITE, EffectsBuilder, Word, values
from assent.effects.shell.commands.line import CommandLine
from assent.effects.shell.commands.options import parse
from assent.effects.shell.commands.readers.wrappers import PLAIN

# A program without any of these can do nothing but print.
_SUSPECT = Pattern(r"[|@>]|::|system|getline|ENVIRON|ARG|PROCINFO|inet|SYMTAB|FUNCTAB|bindtextdomain")
_TOKEN = Pattern(
    r"""(?P<space>(?:[ \t\r\f\v]|\\\r?\n)+|\#[^\n]*)|(?P<newline>\n)|(?P<string>"(?:[^"\\\n]|\\(?:.|\n))*")"""
    r"""|(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)|(?P<name>[A-Za-z_][\w]*(?:::\w+)?)"""
    r"""|(?P<op>\|\||&&|\|&|>>|\+\+|--|\*\*=?|[-+*%^!=<>]=|!~|[][{}();,$+\-*%^!<>|?:~=@])|(?P<slash>/)""",
    DOTALL,
)
_REGEX = Pattern(r"/(?:[^/\\\[\n]|\\.|\[\^?\]?(?:[^]\\\n/[]|\\.|\[:[a-z]+:\]|\[(?!:))*\])*/")
_CONDITIONS = frozenset({"if", "while", "for", "switch"})
_COMMANDS = frozenset(
    {"print", "printf", "return", "else", "do", "case", "in", "delete", "exit", "BEGIN", "END", "function", "func"}
)
_ENDS = frozenset({";", "}", "\n", ""})
_OPERATORS = frozenset({"in", "else", "do", "case", "return", "getline"})  # names that an argument follows
_PLAIN_GETLINE = _ENDS | {")", "]", ">", ">=", "<=", "==", "!=", "&&", "||", "?", ":", ","}
_ADDRESS = Pattern(r"/inet[46]?/.*", DOTALL)
_STARTS = frozenset({"(", ";", "{", "}", "\n", "", "!", "&&", "||", "while"})
_ESCAPES = Pattern(r"\\(.)", DOTALL)
_PLAIN_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "/": "/"}


def awk(line: CommandLine) -> None:
    """Options and operands as in the row, options only before the program, which has the role AWK."""
    line.parsed = parse(line.words, line.row.options, line.more, style="posix")
    line.quiet = not line.parsed.doubts and not line.parsed.operands and line.quiet
    line.standard()
    for word in line.parsed.operands:
        for text in values(word):
            if text is not None and _ADDRESS.fullmatch(text):
                line.builder.fetch(_host(text))


def _host(name: str) -> str:
    """The host in the name of a gawk connection, `/inet/tcp/0/host/80`."""
    return (name.split("/") + [""] * 6)[4]


def awk_program(builder: EffectsBuilder, word: Word) -> None:
    """A program; EXECUTE if it is not fully read."""
    for text in values(word):
        if text is None or (_SUSPECT.search(text) and not _read(builder, text)):
            builder.execute()


def _read(builder: EffectsBuilder, text: str) -> bool:
    tokens = tokens_of(text) if len(text) <= LONGEST else None
    if tokens is not None:
        _Program(builder, tokens).read()
    return tokens is not None


def tokens_of(text: str) -> list[tuple[str, str]] | None:
    """The tokens of a program as (kind, text), or None if it is not certain what they are."""
    tokens: list[tuple[str, str]] = []
    parens: list[bool] = []
    operand = False  # the last token ends an operand: a slash is a division
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            return None
        kind, token = match.lastgroup or "", match[0]
        if kind == "slash" and operand:
            token = "/=" if text[at : at + 2] == "/=" else "/"
        elif kind == "slash":
            match = _REGEX.match(text, at)
            if match is None:
                return None
            kind, token = "regex", match[0]
        if token[0] == "/" and tokens and tokens[-1][1] == "getline":
            return None
        at += len(token)
        if kind == "space":
            continue
        if token == "(":
            parens.append(bool(tokens) and tokens[-1][1] in _CONDITIONS)
            operand = False
        elif token == ")":
            operand = not (parens.pop() if parens else False)
        elif token not in ("++", "--"):
            operand = (
                kind in ("string", "number", "regex") or token == "]" or (kind == "name" and token not in _COMMANDS)
            )
        tokens.append((kind, token))
    return tokens


class _Program:
    __slots__ = ("builder", "tokens")

    def __init__(self, builder: EffectsBuilder, tokens: list[tuple[str, str]]) -> None:
        self.builder = builder
        self.tokens = tokens

    def read(self) -> None:
        depth = 0
        printing: int | None = None  # the depth of parentheses at the start of a print statement
        for index, (kind, token) in enumerate(self.tokens):
            if token == "(":
                depth += 1
            elif token == ")":
                depth -= 1
            elif kind == "name":
                if token in ("print", "printf"):
                    printing = depth
                else:
                    self.name(index, token)
            elif token in (";", "}") or (token == "\n" and self.ends_operand(index - 1)):
                printing = None
            elif token == ">>" or (token == ">" and printing == depth):
                self.file(WRITE, self.string(index + 1))
            elif token in ("|", "|&"):
                self.pipe(index)
            elif token == "@":
                self.builder.execute()

    def text(self, index: int) -> str:
        return self.tokens[index][1] if 0 <= index < len(self.tokens) else ""

    def ends_operand(self, index: int) -> bool:
        """Whether a statement may end after a token: in some awks a line that ends in an operator goes on."""
        kind, token = self.tokens[index] if index >= 0 else ("newline", "\n")
        if kind == "name":
            return token not in _OPERATORS
        return kind in ("string", "number", "regex", "newline") or token in (")", "]", "++", "--", ";", "}")

    def string(self, index: int, ends: frozenset[str] = _ENDS) -> str | None:
        """The literal string at a place, if it is the whole expression."""
        if not (0 <= index < len(self.tokens)) or self.tokens[index][0] != "string":
            return None
        return unquoted(self.text(index)) if self.text(index + 1) in ends else None

    def name(self, index: int, token: str) -> None:
        builder = self.builder
        if "::" in token or token in ("bindtextdomain", "system", "SYMTAB", "FUNCTAB"):
            builder.execute()
            called = token == "system" and self.text(index + 1) == "("
            command = self.string(index + 2, frozenset({")"})) if called else None
            if command:
                builder.shell(command)
            elif called and command is None:
                builder.danger("built-code")
        elif token == "getline":
            self.getline(index)
        elif token == "ENVIRON":
            name = self.string(index + 2, frozenset({"]"})) if self.text(index + 1) == "[" else None
            if name is None or not PLAIN.fullmatch(name):
                builder.danger("prints-secret")
        elif token in ("ARGV", "ARGC"):
            builder.path(READ, Arg("ARGV"))

    def getline(self, index: int) -> None:
        """`getline [variable] [< file]`. Every other form is EXECUTE."""
        place = self.behind_variable(index + 1)
        behind = self.text(place)
        if behind == "<":
            self.file(READ, self.string(place + 1, _ENDS | {")"}))
        elif behind not in _PLAIN_GETLINE:
            self.builder.execute()

    def behind_variable(self, place: int) -> int:
        """The index after `name`, `name[…]` or `$…`, if there is one."""
        if self.text(place) == "$":
            place += 1
            if self.text(place) == "(":
                return self.behind_brackets(place)
            if place < len(self.tokens) and self.tokens[place][0] == "number":
                return place + 1
        if place < len(self.tokens) and self.tokens[place][0] == "name" and self.text(place) not in _COMMANDS:
            place += 1
            return self.behind_brackets(place) if self.text(place) == "[" else place
        return place

    def behind_brackets(self, place: int) -> int:
        """The index after the bracket that closes the one at `place`."""
        depth = 0
        for index in range(place, len(self.tokens)):
            if self.text(index) in ("(", "["):
                depth += 1
            elif self.text(index) in (")", "]"):
                depth -= 1
                if not depth:
                    return index + 1
        return len(self.tokens)

    def file(self, operation: Operation, name: str | None) -> None:
        if name is not None and name.startswith("/inet"):
            self.builder.fetch(_host(name))
        elif name == "/dev/stderr":
            self.builder.execute()
        else:
            unknown = Arg("getline <" if operation is READ else "print >")
            self.builder.path(operation, name if name is not None else unknown)

    def pipe(self, index: int) -> None:
        """`print | "command"` and `"command" | getline`: a literal command is recorded as run."""
        builder, command = self.builder, self.string(index + 1)
        if self.text(index + 1) == "getline":
            command = self.string(index - 1, frozenset({"|", "|&"})) if self.text(index - 2) in _STARTS else None
        if command is None or self.text(index) == "|&" or command.startswith("/inet"):
            builder.execute()
        if command is None and self.text(index) == "|&" and any('"/inet' in text for _, text in self.tokens):
            builder.danger("reverse-shell")
        if command is not None and command.startswith("/inet"):
            self.file(READ, command)
        elif command:
            builder.shell(command)


def unquoted(token: str) -> str | None:
    """The value of a string token, or None for escapes that awks read differently."""
    body = token[1:-1]
    if any(escape not in _PLAIN_ESCAPES for escape in _ESCAPES.findall(body)):
        return None
    return _ESCAPES.sub(lambda match: _PLAIN_ESCAPES[match[1]], body)
