"""Tokens of JavaScript, Ruby, Perl, PHP and Lua, for reading visible effects. Proves nothing: if a text can be cut in
several ways, the likely one is taken."""

from __future__ import annotations

from assent.contract import DOTALL, Pattern

NAME, NUMBER, TEXT, RUN, REGEX, MARK, WORDS = "name", "number", "text", "run", "regex", "mark", "words"
MOST_TOKENS = 120_000
_DEEPEST = 12

_MARKS = (
    r"=>|->|\.\.\.|\?\.|\?->|\?\?=?|\|\|=?|&&=?|<=>|===?|!==?|=~|!~|<=|>=|\+\+|--|\*\*|::|//=?|\.\.|<<=?|>>>?|[-+*/%&|^.]=|"
    r"[{}()\[\];,<>+\-*/%&|^!~?:=.@#\\$`'\"]"
)
_COMMENTS = {
    "node": r"//[^\n]*|/\*.*?\*/|\A#![^\n]*|<!--[^\n]*",
    "php": r"//[^\n]*|/\*.*?\*/|\#(?!\[)[^\n]*|<\?(?:php\b|=)?|\?>.*?(?=<\?|\Z)",
    "ruby": r"\#[^\n]*|(?m:^)=begin\b.*?(?m:^)=end\b[^\n]*|(?m:^__END__$).*",
    "perl": r"\#[^\n]*|(?m:^)=[a-z]\w*.*?(?:(?m:^)=cut\b[^\n]*|\Z)|(?m:^__(?:END|DATA)__$).*",
    "lua": r"--\[\[.*?\]\]|--[^\n]*",
}
_NAMES = {
    "node": r"[A-Za-z_$\u00a1-\ud7ff][\w$]*",
    "php": r"\$\$?[A-Za-z_]\w*|\\?[A-Za-z_]\w*(?:\\\w+)*",
    "ruby": r"@{0,2}[A-Za-z_]\w*(?:[?!](?!=))?|\$[A-Za-z_0-9!@&~]\w*",
    "perl": r"\$\#?[A-Za-z_]\w*(?:::\w+)*|\$[0-9&!@_0,;/.]|@[A-Za-z_]\w*(?:::\w+)*|%[A-Za-z_]\w*(?=\s*[;,)=])"
    r"|[A-Za-z_]\w*(?:::\w+)*",
    "lua": r"[A-Za-z_]\w*",
}
_PARTS = (
    r"(?P<space>[ \t\r\f\v]+)|(?P<line>\n)|(?P<comment>%s)|(?P<number>\d[\w]*(?:\.\d[\w]*)?)|(?P<name>%s)|(?P<mark>%s)"
)
_TOKEN = {language: Pattern(_PARTS % (_COMMENTS[language], _NAMES[language], _MARKS), DOTALL) for language in _COMMENTS}
_REGEX = Pattern(r"/(?![*/])(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
_BEFORE_REGEX = frozenset(
    """return typeof case in of delete void throw else do and or not if unless while until when split grep map join
    push""".split()
)
_HEREDOC = Pattern(r"<<<?[~-]?(?P<quote>['\"`]?)(?P<end>[A-Za-z_]\w*)(?P=quote)")
_RUBY_QUOTE = Pattern(r"%([wWiIqQxr]?)([(\[{<|!/])")
_AFTER_TOPIC = frozenset((";", "}", "for", "foreach", "if", "unless", "while", "and", "or", "&&", "||"))
_PERL_GLOB = Pattern(r"<((?![ \t=])[^<>()'\"`;\n]*[*?~/][^<>()'\"`;\n]*)>")
_PERL_QUOTE = Pattern(r"(qq|qx|qw|qr|q|m|tr|y|s)\s*([^\w\s,;=)>])")
_CLOSES = {"(": ")", "[": "]", "{": "}", "<": ">"}
_SYMBOL = Pattern(r":([A-Za-z_]\w*[?!]?)(?!:)")
_VARIABLE = {
    "perl": Pattern(r"\$\w+(?:(?:->)?(?:\{[^{}\n]*\}|\[[^\[\]\n]*\]))*|@\w+|\$\{\s*\w+\s*\}"),
    "php": Pattern(r"\$\w+(?:->\w+|\[[^\]\n]*\])?|\$\{\w+\}"),
}
_LUA_LONG = Pattern(r"\[(=*)\[(.*?)\]\1\]", DOTALL)
_ESCAPE = Pattern(r"\\(?:x\{?([0-9A-Fa-f]{2,6})\}?|u\{?([0-9A-Fa-f]{4,6})\}?|([0-7]{1,3})|(.))", DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "e": "\x1b", "b": "\b", "f": "\f", "v": "\v", "\n": ""}


class ScriptToken:
    """A token. `line`, `space`: a newline or a space is before it. `parts`: the pieces of a text, tokens among them.
    `indent`: how far the line is indented, for the first token of one, or -1."""

    __slots__ = ("kind", "text", "line", "space", "parts", "indent")

    def __init__(self, kind: str, text: str, line: bool, space: bool, indent: int) -> None:
        self.kind = kind
        self.text = text
        self.line = line
        self.space = space or line
        self.indent = indent
        self.parts: list[str | list[ScriptToken]] = []


class _Tokenizer:
    __slots__ = ("language", "text", "out", "skips", "cut")

    def __init__(self, text: str, language: str) -> None:
        self.text = text
        self.language = language
        self.skips: dict[int, int] = {}  # start of a here-document's lines → their end
        self.cut = False

    def read(self, at: int, stop: str, depth: int) -> tuple[list[ScriptToken], int]:
        """The tokens from a place up to a closing brace that nothing here opens, or to the end."""
        out: list[ScriptToken] = []
        level, line, space, start = 0, True, False, at
        text, pattern = self.text, _TOKEN[self.language]
        while at < len(text):
            if len(out) > MOST_TOKENS or depth > _DEEPEST:
                self.cut = True
                return out, len(text)
            if text[at] == "<" and self.language == "perl" and (globbed := self.globbed(at, out, depth)) is not None:
                globbed[0][0].line, globbed[0][0].space = line, True
                out += globbed[0]
                at = globbed[1]
                line = space = False
                continue
            made = self.special(at, [] if line and text[at] == "%" else out, depth, space or line)
            if made is not None:
                token = made[0]
                token.line, token.space, token.indent = line, space or line, at - start if line else -1
                at = made[1]
                out.append(token)
                line = space = False
                continue
            match = pattern.match(text, at)
            if match is None:
                at += 1
                continue
            kind = match.lastgroup or ""
            if kind == "line":
                at = self.skips.get(at, match.end())
                line, start = True, at
                continue
            if kind in ("space", "comment"):
                at = match.end()
                space = True
                continue
            word = match[0]
            if word == stop and level == 0:
                return out, match.end()
            if stop and word in "{}":
                level += 1 if word == "{" else -1
            out.append(ScriptToken(kind, word, line, space, match.start() - start if line else -1))
            at = match.end()
            line = space = False
        return out, len(text)

    def globbed(self, at: int, out: list[ScriptToken], depth: int) -> tuple[list[ScriptToken], int] | None:
        """Perl's `<~/*>`, which is `glob("~/*")`."""
        match = _PERL_GLOB.match(self.text, at)
        if match is None or (_is_value(out) and (out[-1].kind != NAME or out[-1].text[:1] in "$@%")):
            return None
        return _Tokenizer(f"glob(qq<{match[1]}>)", "perl").read(0, "", depth + 1)[0], match.end()

    def special(self, at: int, out: list[ScriptToken], depth: int, space: bool) -> tuple[ScriptToken, int] | None:
        """A text in any quotes, or a regular expression."""
        letter, text, language = self.text[at], self.text, self.language
        if letter in "'\"":
            return self.quoted(at, letter, TEXT, depth)
        if letter == "`":
            return self.quoted(at, letter, TEXT if language == "node" else RUN, depth)
        if letter == "/" and language in ("node", "ruby", "perl") and self.starts_regex(out, space, at):
            match = _REGEX.match(text, at)
            return (ScriptToken(REGEX, match[0], False, False, -1), match.end()) if match is not None else None
        if letter == "<" and language in ("ruby", "perl", "php") and text.startswith("<<", at):
            return self.heredoc(at, depth)
        if letter == "%" and language == "ruby" and not _is_value(out):
            match = _RUBY_QUOTE.match(text, at)
            return self.delimited(match[1] or "Q", match.end() - 1, depth) if match is not None else None
        if language == "perl" and letter in "qmsty" and not _follows_name(out, text, at):
            match = _PERL_QUOTE.match(text, at)
            if match is not None and text[match.end() : match.end() + 1] != ">":
                return self.delimited(match[1], match.end() - 1, depth)
        if (
            letter == ":"
            and language == "ruby"
            and not text.startswith("::", at)
            and not _is_value(out[-1:] if not space else [])
        ):
            match = _SYMBOL.match(text, at)
            if match is not None:
                return _plain(match[1]), match.end()
        if letter == "[" and language == "lua":
            match = _LUA_LONG.match(text, at)
            return (_plain(match[2]), match.end()) if match is not None else None
        return None

    def starts_regex(self, out: list[ScriptToken], space: bool, at: int) -> bool:
        if not out:
            return True
        last = out[-1]
        if last.kind == NAME:
            if last.text in _BEFORE_REGEX:
                return True
            follows = self.text[at + 1 : at + 2]
            return self.language == "ruby" and space and follows not in (" ", "=") and last.text[0] not in "@$"
        return last.kind == MARK and last.text not in (")", "]", "}")

    def quoted(self, at: int, quote: str, kind: str, depth: int) -> tuple[ScriptToken, int] | None:
        if quote != "`" and self.language in ("node", "lua"):
            end = at + 1
            text = self.text
            while end < len(text) and text[end] != quote:
                if text[end] == "\n":
                    return None  # an apostrophe
                end += 2 if text[end] == "\\" else 1
            return _plain(unescaped(text[at + 1 : end])), end + 1
        live = quote != "'"
        return self.pieces(at + 1, quote, "", kind, live, depth)

    def pieces(self, at: int, close: str, opens: str, kind: str, live: bool, depth: int) -> tuple[ScriptToken, int]:
        """A text up to a mark, with its interpolations."""
        token = ScriptToken(kind, "", False, False, -1)
        text, language = self.text, self.language
        begin, level = at, 0
        while at < len(text):
            letter = text[at]
            if letter == "\\":
                at += 2
                continue
            if letter == close and level == 0:
                break
            if letter == opens or (letter == close and opens):
                level += 1 if letter == opens else -1
            marked = (language == "node" and text.startswith("${", at)) or (
                language == "ruby" and text.startswith("#{", at)
            )
            if live and (marked or (language == "php" and text.startswith("{$", at))):
                token.parts.append(unescaped(text[begin:at]))
                inner, at = self.read(at + (1 if language == "php" else 2), "}", depth + 1)
                token.parts.append(inner)
                begin = at
                continue
            if live and letter in "$@" and language in _VARIABLE:
                if text.startswith("@{[", at):
                    end = text.find("]}", at)
                    within, after = text[at + 3 : end], end + 2
                else:
                    match = _VARIABLE[language].match(text, at)
                    after = end = match.end() if match is not None else -1
                    within = text[at:end]
                    if within.startswith("${"):
                        within = "$" + within[2:-1].strip()
                if end > 0:
                    token.parts.append(unescaped(text[begin:at]))
                    token.parts.append(_Tokenizer(within, language).read(0, "", depth + 1)[0])
                    at = begin = after
                    continue
            at += 1
        token.parts.append(unescaped(text[begin:at]) if live else text[begin:at].replace("\\'", "'"))
        return token, at + 1

    def delimited(self, kind: str, at: int, depth: int) -> tuple[ScriptToken, int]:
        """`%w[…]`, `qx(…)`, `s{…}{…}` from the opening mark on."""
        opens = self.text[at]
        close = _CLOSES.get(opens, opens)
        live = kind in ("Q", "W", "x", "qq", "qx", "r", "m", "qr", "s") and opens != "'"
        made = RUN if kind in ("x", "qx") else TEXT
        token, end = self.pieces(at + 1, close, opens if close != opens else "", made, live, depth)
        if kind in ("w", "W", "i", "I", "qw"):
            token.kind = WORDS
        elif kind in ("r", "m", "qr", "tr", "y", "s"):
            if kind in ("s", "tr", "y"):
                start = end if close == opens else self.text.find(_opening(self.text, end), end) + 1
                closes = close if close == opens else _CLOSES.get(self.text[start - 1 : start], close)
                second, end = self.pieces(start, closes, "", TEXT, live, depth)
                token.parts += second.parts
            while end < len(self.text) and self.text[end].isalpha():
                if self.text[end] == "e" and kind == "s":
                    token.parts.append("e")
                end += 1
            token.kind = REGEX
        return token, end

    def heredoc(self, at: int, depth: int) -> tuple[ScriptToken, int] | None:
        match = _HEREDOC.match(self.text, at)
        line = self.text.find("\n", at)
        if match is None or line < 0 or (self.language == "php") != match[0].startswith("<<<"):
            return None
        begin = self.skips.get(line, line + 1)
        end = Pattern(rf"(?m)^[ \t]*{match['end']}\b").search(self.text, begin)
        stop = end.start() if end is not None else len(self.text)
        inner = _Tokenizer(self.text[begin:stop], self.language)
        token, _ = inner.pieces(0, "", "", RUN if match["quote"] == "`" else TEXT, match["quote"] != "'", depth)
        self.skips[line] = end.end() if end is not None else stop
        return token, match.end()


def _opening(text: str, at: int) -> str:
    rest = text[at:].lstrip()
    return rest[:1] or "/"


def _plain(text: str) -> ScriptToken:
    token = ScriptToken(TEXT, "", False, False, -1)
    token.parts.append(text)
    return token


def _is_value(out: list[ScriptToken]) -> bool:
    return bool(out) and (out[-1].kind != MARK or out[-1].text in (")", "]", "}"))


def _follows_name(out: list[ScriptToken], text: str, at: int) -> bool:
    """Whether the letter at a place is part of a longer name, a member or a key."""
    if at and (text[at - 1].isalnum() or text[at - 1] in "_$@%&"):
        return True
    return (
        bool(out) and out[-1].kind == MARK and out[-1].text in ("->", "::", "{") and text[at + 1 : at + 2] in ("}", "")
    )


def unescaped(text: str) -> str:
    if "\\" not in text:
        return text

    def letter(match: object) -> str:
        first, second, third, other = match.groups()  # type: ignore[attr-defined]  # a match of `re`, which hooks do not load
        digits = first or second
        if digits:
            number = int(digits, 16)
            return chr(number) if number < 0x110000 else ""
        if third and third != "0":
            return chr(int(third, 8))
        return _LETTERS.get(third or other, other or "")

    return _ESCAPE.sub(letter, text)


def script_tokens(text: str, language: str) -> tuple[list[ScriptToken], bool]:
    """The tokens of a text, and whether some are missing."""
    made = _Tokenizer(text, language)
    found, _ = made.read(0, "", 0)
    return (_with_topic(found) if language == "perl" else found), made.cut


def _with_topic(tokens: list[ScriptToken]) -> list[ScriptToken]:
    """The same, with Perl's `$_` written out where a function that deletes is given nothing else."""
    out: list[ScriptToken] = []
    for place, token in enumerate(tokens):
        out.append(token)
        following = tokens[place + 1].text if place + 1 < len(tokens) else ";"
        if token.kind == NAME and token.text in ("unlink", "rmdir") and following in _AFTER_TOPIC:
            out.append(ScriptToken(NAME, "$_", False, True, -1))
    return out
