"""Readers for jq and yq: filters only read their input, unless they use the environment or other files.

A filter is split into tokens. Known functions only compute; the rest is EXECUTE."""

from __future__ import annotations

from assent.contract import Pattern
from assent.effects.shell.command import Arg
from assent.effects.shell.commands.command_effects import LONGEST, READ, EffectsBuilder, Word, shown, values
from assent.effects.shell.commands.line import CommandLine
from assent.effects.shell.commands.readers.wrappers import PLAIN
from assent.effects.shell.commands.roles import apply

# Versions differ on the end of a comment with a backslash or a carriage return.
_TOKEN = Pattern(
    r"""(?P<space>[ \t\r\n]+|\#[^\n\\\r]*(?=\n|$))|(?P<field>\.[A-Za-z_][A-Za-z0-9_]*)"""
    r"""|(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)|(?P<format>@[A-Za-z0-9_]+)"""
    r"""|(?P<name>[A-Za-z_][A-Za-z0-9_]*(?:::[A-Za-z_][A-Za-z0-9_]*)*)|(?P<string>")"""
    r"""|(?P<merge>\*[+?ndc]+(?![A-Za-z0-9_]))|(?P<op>\.\.\.?|\?//|[-+*/%|,.:;=<>?()\[\]{}$!&~])"""
)
_PIECE = Pattern(r'(?:[^"\\]|\\[^(])*')
_FILE = Pattern(r"[\w./~+-]+")
_EXTENSION = Pattern(r"\.(?:ya?ml|json|toml|xml|ini|csv|tsv|props|properties|lua)")
_FUNCTIONS = frozenset(
    """and or not if then elif else end as def reduce foreach try catch label break true false null __loc__
    IN INDEX JOIN GROUP_BY UNIQUE_BY LIMIT acos acosh abs add all any arrays ascii ascii_downcase ascii_upcase asin
    asinh atan atan2 atanh booleans bsearch builtins capture cbrt ceil combinations contains copysign cos cosh debug del
    delpaths drem empty endswith erf erfc error exp exp10 exp2 explode expm1 fabs fdim finites first flatten floor fma
    fmax fmin fmod format frexp from_entries fromdate fromdateiso8601 fromjson fromstream gamma get_jq_origin
    get_prog_origin get_search_list getpath gmtime group_by gsub halt halt_error has have_decnum have_literal_numbers
    hypot implode in index indices infinite input input_filename input_line_number inputs inside isempty isfinite
    isinfinite isnan isnormal isvalid iterables j0 j1 jn join keys keys_unsorted last ldexp leaf_paths length lgamma
    lgamma_r limit localtime log log10 log1p log2 logb ltrim ltrimstr map map_values match max max_by min min_by mktime
    modf nan nearbyint nextafter nexttoward normals now nth nulls numbers objects path paths pick pow pow10 range
    recurse recurse_down remainder repeat reverse rindex rint round rtrim rtrimstr scalars scalars_or_empty scalb
    scalbln scan select setpath significand sin sinh skip sort sort_by split splits sqrt startswith stderr
    strflocaltime strftime
    strings strptime sub tan tanh test tgamma to_array to_entries toarray toboolean todate todateiso8601 tojson tonumber
    tostream tostring transpose trim trimstr trunc truncate_stream type unique unique_by until utf8bytelength values
    walk while with_entries y0 y1 yn
    alias all_c anchor any_c array_to_map column comments contains_all di documentIndex document_index downcase
    fi fileIndex file_index filename filter foot_comment footComment format_datetime from_csv from_json from_props
    from_tsv from_unix from_xml from_yaml fromcsv fromprops fromtsv fromxml fromyaml head_comment headComment ireduce
    is_key key kind line line_comment lineComment omit parent parents pivot ref shuffle slice sort_keys sortKeys
    splitDoc split_doc style tag to_csv to_json to_number to_props to_string to_tsv to_unix to_xml to_yaml tocsv toprops
    totsv toxml toyaml tz upcase value with with_dtf""".split()
)
_ENVIRON = frozenset("env strenv str_env envsubst ENV __prog_args".split())
_CODE = frozenset("system exec eval repl".split())
_OTHERS = _CODE | frozenset("import include modulemeta load".split())


def jq(line: CommandLine) -> None:
    line.standard()


def yq(line: CommandLine) -> None:
    """As jq, but a first operand that is a file name is that file, not a filter."""
    if not line.parsed.operands:
        line.read_options()
        return
    line.standard()
    word = line.parsed.operands[0]
    if isinstance(word, str) and _FILE.fullmatch(word):
        apply(line.builder, "EDIT" if line.parsed.has("-i") else "READ", word)


def jq_filter(builder: EffectsBuilder, word: Word) -> None:
    """A filter. Use of the environment prints secrets; modules and loaded files are unknown files."""
    for text in values(word):
        tokens = tokens_of(text) if text is not None and len(text) <= LONGEST else None
        if text is None:
            builder.danger("prints-secret")
            builder.path(READ, Arg(shown(word)))
        elif tokens is None:
            builder.execute()
        else:
            _Filter(builder, text, tokens).read()


def tokens_of(text: str) -> list[tuple[str, str]] | None:
    """The tokens of a filter, with those of interpolations in parentheses; None if they are not certain."""
    tokens: list[tuple[str, str]] = []
    waiting: list[bool] = []  # the open parentheses, and whether a string goes on after each
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            return None
        kind, token = match.lastgroup or "", match[0]
        at = match.end()
        if token == "(":
            waiting.append(False)
        if kind != "space" and kind != "string":
            tokens.append((kind, token))
        if kind == "string" or (token == ")" and waiting and waiting.pop()):
            end = _string(text, at, tokens)
            if end < 0:
                return None
            if text[end - 1] == "(":
                tokens.append(("op", "("))
                waiting.append(True)
            at = end
    return tokens


def _string(text: str, at: int, tokens: list[tuple[str, str]]) -> int:
    """The place where a string ends or its next interpolation begins; -1 if it does not end."""
    piece = _PIECE.match(text, at)
    assert piece is not None
    end = piece.end()
    tokens.append(("string", piece[0]))
    if text[end : end + 1] == '"':
        return end + 1
    return end + 2 if text[end : end + 2] == "\\(" else -1


class _Filter:
    __slots__ = ("defined", "builder", "text", "tokens")

    def __init__(self, builder: EffectsBuilder, text: str, tokens: list[tuple[str, str]]) -> None:
        self.builder = builder
        self.text = text
        self.tokens = tokens
        self.defined = _defined(tokens)

    def read(self) -> None:
        open_: list[str] = []
        for index, (kind, token) in enumerate(self.tokens):
            if token in ("(", "[", "{", "if") and kind != "string":
                open_.append(token)
            elif token in (")", "]", "}", "end") and kind != "string" and open_:
                open_.pop()
            if kind != "name":
                continue
            before, behind = self.at(index - 1), self.at(index + 1)
            # In braces an expression before a colon has parentheses of its own.
            if open_[-1:] == ["{"] and before in ("{", ",") and (behind == ":" or _names_key(token, behind)):
                continue
            if before == "$" or token in _ENVIRON:
                self.variable(index, token, before == "$")
            else:
                self.name(index, token)

    def at(self, index: int) -> str:
        kind, token = self.tokens[index] if 0 <= index < len(self.tokens) else ("", "")
        return token if kind != "string" else ""

    def variable(self, index: int, token: str, dollar: bool) -> None:
        """`$name`, or a function that returns the environment. Single plain names of it are no secret."""
        if token not in _ENVIRON or (dollar and token not in ("ENV", "__prog_args")):
            return
        behind = self.at(index + 1)
        name = behind[1:] if behind[:1] == "." else ""
        if behind == "(" and self.at(index + 3) == ")":
            name = self.tokens[index + 2][1]
        if self.builder.program == "yq" and _EXTENSION.fullmatch(behind) and _FILE.fullmatch(self.text):
            return
        if token in ("envsubst", "__prog_args") or not PLAIN.fullmatch(name):
            self.builder.danger("prints-secret")

    def name(self, index: int, token: str) -> None:
        builder = self.builder
        if token in ("import", "include", "modulemeta"):
            builder.path(READ, Arg(self.text))
        elif token.startswith("load"):
            self.loads(index)
        elif not (token in _FUNCTIONS or token in self.defined or self.is_data(index)) or token in _CODE:
            builder.execute()

    def loads(self, index: int) -> None:
        named = self.at(index + 1) == "(" and self.at(index + 3) == ")" and self.tokens[index + 2][0] == "string"
        text = self.tokens[index + 2][1] if named else ""
        self.builder.path(READ, text if text and "\\" not in text else Arg(self.text))

    def is_data(self, index: int) -> bool:
        """`env(HOME)`; names in yq may have a dash, and its first word may be a file."""
        named = self.at(index - 1) == "(" and self.at(index - 2) in _ENVIRON and self.at(index + 1) == ")"
        yq = self.builder.program == "yq" and (self.at(index - 1) == "-" or _FILE.fullmatch(self.text) is not None)
        return named or yq


def _names_key(token: str, behind: str) -> bool:
    """Whether a name in braces is short for a key of that name: `{name, id}`."""
    return behind in (",", "}") and token not in _ENVIRON and token not in _OTHERS


def _defined(tokens: list[tuple[str, str]]) -> set[str]:
    names: set[str] = set()
    heading = False
    for index, (kind, token) in enumerate(tokens):
        if kind == "name" and token == "def":
            heading = True
        elif heading and kind == "name":
            names.add(token)
        elif heading and token == ":" and tokens[index - 1][0] != "string":
            heading = False
    return names
