"""Operands of expressions in scripts: texts, names, calls, lists, maps and functions, with what follows them."""

from __future__ import annotations

from assent.effects.code.dataflow.nodes import EACH_SENDS, HOLE, UNKNOWN_NODE, CodeFunction, NameScope, Node
from assent.effects.code.dataflow.script_tokens import MARK, NAME, NUMBER, REGEX, RUN, TEXT, WORDS, ScriptToken
from assent.effects.code.dataflow.token_stream import OPENS, TokenStream

DEEPEST = 60
PRINTS = frozenset("echo print say puts p pp die warn printf".split())
_MEMBERS = {
    "node": frozenset((".", "?.")),
    "ruby": frozenset((".", "::", "&.")),
    "perl": frozenset(("->",)),
    "php": frozenset(("->", "::", "?->")),
    "lua": frozenset((".",)),
}
_PREFIXES = frozenset("! - + ~ ++ -- @ \\ & < >".split())
_WORDS = frozenset(
    """await yield typeof void delete throw not defined return clone die raise print echo async do then else if unless
    while until case begin""".split()
)
_AFTER_COMMAND = frozenset("if unless while until do and or for foreach rescue".split())
_ENDS_COMMAND = frozenset(
    """if unless while until do and or rescue then end for foreach eq ne lt gt le ge cmp x xor in of instanceof as
    satisfies is""".split()
)
_BLOCKS = frozenset("eval do map grep sort first any all none try catch BEGIN END".split())  # of Perl, before a brace


class ScriptOperands(TokenStream):
    """Reads the operands. Statements are read by `ScriptNodes`."""

    __slots__ = ()

    def expression(self) -> Node:
        raise NotImplementedError

    def block(self, end: int) -> None:
        raise NotImplementedError

    def function(self, name: str, of: str = "") -> Node:
        raise NotImplementedError

    # ------------------------------------------------------------ operands

    def unary(self) -> Node:
        if self.at >= self.end:
            return UNKNOWN_NODE
        self.depth += 1
        if self.depth > DEEPEST:
            self.code.cut = True
            self.at = self.end
            made = UNKNOWN_NODE
        else:
            made = self.followed(self.operand())
        self.depth -= 1
        return made

    def operand(self) -> Node:
        token = self.all[self.at]
        if token.kind == MARK:
            return self.marked(token.text)
        self.at += 1
        if token.kind == TEXT:
            return self.text(token)
        if token.kind == RUN:
            return self.code.node("call", "", (Node("ref", "`"), self.text(token)), {}, self.scope)
        if token.kind == WORDS:
            words = "".join(part if isinstance(part, str) else HOLE for part in token.parts).split()
            return self.code.node("list", "", tuple(self.code.node("text", word) for word in words))
        if token.kind == NUMBER:
            return self.code.node("number", token.text) if token.text.isdecimal() else UNKNOWN_NODE
        if token.kind == REGEX:
            return self.code.node(
                "unknown", "", tuple(self.inserted(part) for part in token.parts if not isinstance(part, str))
            )
        return self.named(token)

    def text(self, token: ScriptToken) -> Node:
        parts = [self.code.node("text", part) if isinstance(part, str) else self.inserted(part) for part in token.parts]
        return parts[0] if len(parts) == 1 else self.code.node("join", "", (Node("text"), *parts))

    def inserted(self, tokens: list[ScriptToken]) -> Node:
        """The expression that is inserted in a text."""
        inner = type(self)(tokens, self.language, self.code, self.scope)
        inner.functions, inner.depth = self.functions, self.depth
        return inner.expression() if tokens else UNKNOWN_NODE

    def marked(self, word: str) -> Node:
        if word == "(":
            return self.grouped()
        end = self.close()
        self.at += 1
        if word == "[":
            items = self.arguments(end)[0]
            self.at = end + 1
            return self.code.node("list", "", tuple(items))
        if word == "{":
            return self.mapped(end)
        if word in ("...", "*", "**"):
            return self.code.node("star", "", (self.unary(),))
        if word == "->" and self.language == "ruby":
            return self.block_function(self.word() == "(")
        if word in _PREFIXES:
            return self.unary()
        return UNKNOWN_NODE

    def grouped(self) -> Node:
        """`(x)`, or the parameters of `(x) => …`."""
        end = self.close()
        after = self.all[end + 1].text if end + 1 < self.end else ""
        if self.language == "node" and (after == "=>" or (after == ":" and self.is_arrow(end + 1))):
            return self.function("")
        self.at += 1
        items = self.arguments(end)[0]
        self.at = end + 1
        if self.language == "perl" and len(items) != 1:
            return self.code.node("list", "", tuple(items))
        return items[-1] if items else UNKNOWN_NODE

    def is_arrow(self, place: int) -> bool:
        """Whether a type is behind parameters, and then an arrow."""
        for ahead in range(place, min(place + 24, self.end)):
            word = self.all[ahead].text
            if word == "=>":
                return True
            if word in (";", "}", "=", "?", ")") or self.all[ahead].kind == TEXT:
                return False
        return False

    def mapped(self, end: int) -> Node:
        """`{a: x, b, ...c, d() {…}, "e" => y}`."""
        parts: list[Node] = []
        while self.at < end:
            before = self.at
            key = self.all[self.at]
            if key.text == "..." and key.kind == MARK:
                self.at += 1
                parts += [Node("star"), self.unary()]
            elif key.kind == NAME and self.word(1) == ":" and self.word(2) != ":":
                self.at += 2
                parts += [self.code.node("text", key.text), self.expression()]
            elif key.kind == NAME and self.word(1) == "(" and self.language == "node":
                self.at += 1
                parts += [self.code.node("text", key.text), self.function(key.text)]
            elif key.kind == NAME and self.word(1) == "=>":
                self.at += 2
                parts += [self.code.node("text", key.text), self.expression()]
            elif key.kind == NAME and self.word(1) in (",", "}") and self.language == "node":
                self.at += 1
                parts += [self.code.node("text", key.text), self.code.node("name", key.text, scope=self.scope)]
            elif key.kind == NAME and self.word(1) == "=" and self.language == "lua":
                self.at += 2
                parts += [self.code.node("text", key.text), self.expression()]
            else:
                first = self.expression()
                if self.word() in (":", "=>"):
                    self.at += 1
                    parts += [first, self.expression()]
                else:
                    parts += [Node("star"), first]
            while self.at < end and self.word() not in (",", ";"):
                self.at += 1
            self.at = max(self.at + 1, before + 1)
        self.at = end + 1
        return self.code.node("map", "", tuple(parts))

    def named(self, token: ScriptToken) -> Node:
        word = token.text
        if word in ("function", "fn", "sub", "lambda", "proc"):
            return self.defined(word)
        if word == "def" and self.language == "ruby":
            return self.ruby_method(token)
        if word == "new" and self.is_kind(NAME):
            return self.instance()
        if word in ("my", "our", "local") and self.language == "perl":
            return self.unary()
        if word in _WORDS and self.word() not in (".", "?.", "=", ":", "->", "::"):
            if (
                word == "async"
                and self.language == "node"
                and self.word() not in ("function", "(")
                and self.word(1) != "=>"
            ):
                return self.code.node("name", word, scope=self.scope)
            return self.unary()
        if self.word() == "=>" and self.language == "node":
            self.at -= 1
            return self.function("")
        if word in _BLOCKS and self.language == "perl" and self.word() == "{":
            return self.perl_block()
        if self.language == "php":
            word = word.lstrip("\\")
        return self.code.node("name", word.replace("::", ".") if self.language == "perl" else word, scope=self.scope)

    def defined(self, word: str) -> Node:
        if word in ("lambda", "proc") and self.language != "ruby":
            return self.code.node("name", word, scope=self.scope)
        if word in ("lambda", "proc"):
            return self.block_function(False)
        self.take("*")
        self.take("&")
        name = ""
        while self.is_kind(NAME) and self.word() != "use":
            name = self.word()
            self.at += 1
            if self.word() in (".", ":"):
                self.at += 1
        made = self.function(name)
        if name:
            self.scope.bind(name, made)
        return made

    def indent(self) -> int:
        """The indentation of the last token's line."""
        for place in range(min(self.at, self.end) - 1, -1, -1):
            if self.all[place].line:
                return self.all[place].indent
        return 0

    def ruby_method(self, token: ScriptToken) -> Node:
        indent = self.indent()
        if self.word(1) == "." or self.word(1) == "::":
            self.at += 2
        name = self.word()
        self.at += 1
        end = self.until_end(indent)
        outer = self.scope
        self.scope = NameScope(outer)
        made, function = self.code.function(name, [], self.scope, "new" if name == "initialize" else "")
        self.functions.append(function)
        if self.word() == "(" and not self.new_line():
            self.names_until(self.close(), function)
        else:
            stop = self.at
            while stop < end and not self.all[stop].line and self.all[stop].text != ";":
                stop += 1
            self.names_until(stop - 1, function)
            self.at = stop
        self.block(end)
        self.functions.pop()
        self.scope = outer
        return made

    def names_until(self, end: int, function: CodeFunction) -> None:
        """The names of parameters up to a place, with their defaults."""
        while self.at <= end and self.at < self.end:
            if self.is_kind(NAME):
                name = self.word()
                if self.word(-1) == "*":
                    function.rest, function.rest_at = name, len(function.params)
                else:
                    function.params.append(name)
                self.scope.names.setdefault(name, [])
                self.at += 1
                if self.word() in ("=", ":") and self.word(1) not in (",", ")"):
                    self.at += 1
                    self.scope.bind(name, self.expression())
            else:
                self.at += 1

    def block_function(self, has_names: bool) -> Node:
        """Ruby's `{ |x| … }` and `do |x| … end`, or `->(x) { … }`."""
        indent = self.indent()
        outer = self.scope
        self.scope = NameScope(outer)
        made, function = self.code.function("", [], self.scope)
        if has_names:
            self.names_until(self.close(), function)
        if self.word() not in ("{", "do"):
            self.scope = outer
            return made
        end = self.close() if self.word() == "{" else self.until_end(indent)
        self.at += 1
        if self.take("|"):
            stop = self.at
            while stop < end and self.all[stop].text != "|":
                stop += 1
            self.names_until(stop, function)
        self.functions.append(function)
        self.block(end)
        self.functions.pop()
        self.at = end + 1
        self.scope = outer
        return made

    def perl_block(self) -> Node:
        """`map { … } list`: the block sees each element."""
        end = self.close()
        self.at += 1
        scope, self.scope = self.scope, NameScope(self.scope)
        inner = self.scope
        self.block(end)
        self.scope = scope
        self.at = end + 1
        if self.at < self.end and self.word() not in (";", ")", "or", "and", "}") and not self.new_line():
            value = self.expression()
            inner.bind("$_", self.code.node("each", "", (value,)))
            return value
        return UNKNOWN_NODE

    def instance(self) -> Node:
        """`new X(…)`."""
        made = self.code.node("name", self.word().lstrip("\\"), scope=self.scope)
        self.at += 1
        while self.word() in _MEMBERS[self.language] and self.is_kind(NAME, 1):
            made = self.code.node("member", self.word(1), (made,), scope=self.scope)
            self.at += 2
        if self.word() == "<" and self.language == "node":
            self.at = self.angle() + 1
        if self.word() == "(":
            return self.called(made)
        return self.code.node("call", "", (made,), {}, self.scope)

    # ------------------------------------------------------------ what follows an operand

    def followed(self, made: Node) -> Node:
        while self.at < self.end:
            word, token = self.word(), self.all[self.at]
            if word in _MEMBERS[self.language] and self.is_kind(NAME, 1):
                made = self.code.node("member", self.word(1), (made,), scope=self.scope)
                self.at += 2
                if self.is_bare_call(made):
                    made = self.code.node("call", "", (made,), {}, self.scope)
            elif word in ("?.", "->") and self.word(1) in ("(", "[", "{"):
                self.at += 1
                if self.word() == "{":
                    made = self.index(made)
            elif word == ":" and self.language == "lua" and self.is_kind(NAME, 1):
                made = self.code.node("member", self.word(1), (made,), scope=self.scope)
                self.at += 2
            elif (
                word == "("
                and not token.line
                and not (self.language == "ruby" and token.space)
                and made.kind != "number"
            ):
                made = self.called(made)
            elif (word == "[" and not token.line and (not token.space or self.language in ("php", "node"))) or (
                word == "{" and self.language == "perl" and not token.space and made.kind in ("name", "index", "member")
            ):
                made = self.index(made)
            elif token.kind == TEXT and not token.line and not token.space and self.language in ("node", "lua"):
                self.at += 1
                made = self.code.node("call", "tag", (made, self.text(token)), {}, self.scope)
            elif word == "<" and self.language == "node" and made.kind in ("name", "member") and self.is_generic():
                self.at = self.angle() + 1
            elif (
                word in ("{", "do")
                and self.language == "ruby"
                and made.kind in ("call", "member", "name")
                and not token.line
            ):
                made = self.with_block(made)
            elif word in ("++", "--") and not token.line:
                self.at += 1
            elif self.is_command(made, token):
                made = self.command(made)
            else:
                break
        return made

    def is_bare_call(self, made: Node) -> bool:
        """Whether a method is called without parentheses or arguments."""
        if self.language not in ("ruby", "perl") or made.text[:1].isupper() or made.text[:1] in "$@%":
            return False
        if self.at < self.end and self.word() in ("(", "=") and not self.all[self.at].space:
            return False
        return self.word() != "=" and not (self.at < self.end and self.is_command(made, self.all[self.at]))

    def with_block(self, made: Node) -> Node:
        if made.kind != "call":
            made = self.code.node("call", "", (made,), {}, self.scope)
        made.parts = (*made.parts, self.block_function(False))
        return made

    def is_generic(self) -> bool:
        """Whether types in angle brackets and then a call follow."""
        end = self.angle()
        if end == self.at or end + 1 >= self.end or self.all[end + 1].text != "(":
            return False
        return all(token.kind == NAME or token.text in "<>,.[]|&{}:;" for token in self.all[self.at : end])

    def index(self, made: Node) -> Node:
        end = self.close()
        self.at += 1
        token = self.all[self.at] if self.at < self.end else None
        bare = token is not None and token.kind == NAME and self.at + 1 == end and self.language == "perl"
        if bare and token is not None and token.text[0] not in "$@":
            key = self.code.node("text", token.text)
        else:
            key = self.expression() if self.at < end else UNKNOWN_NODE
        self.at = end + 1
        return self.code.node("index", "", (made, key))

    def called(self, made: Node) -> Node:
        end = self.close()
        self.at += 1
        items, named = self.arguments(end)
        self.at = end + 1
        return self.call_of(made, items, named)

    def call_of(self, made: Node, items: list[Node], named: dict[str, Node]) -> Node:
        call = self.code.node("call", "", (made, *items), named, self.scope)
        if self.language == "perl" and made.text == "open" and items and items[0].kind == "name":
            self.scope.bind(items[0].text, call)
        return call

    def arguments(self, end: int) -> tuple[list[Node], dict[str, Node]]:
        """The arguments between commas up to a place; pairs become one map, named ones (`name:`) are kept apart."""
        outer, self.end = self.end, min(end, self.end)
        items: list[Node] = []
        named: dict[str, Node] = {}
        pairs: list[Node] = []
        while self.at < self.end:
            before = self.at
            if self.is_kind(NAME) and self.word(1) == ":" and self.word(2) != ":" and self.language in ("ruby", "php"):
                name = self.word()
                self.at += 2
                named[name] = self.expression()
            elif self.is_kind(NAME) and self.word(1) == "=>" and self.language in ("ruby", "perl"):
                pairs.append(self.code.node("text", self.word()))
                self.at += 2
                pairs.append(self.expression())
            else:
                each = self.language == "ruby" and self.take("&")
                value = self.expression()
                if each and value.kind == "text":
                    value = self.code.node("text", EACH_SENDS + value.text)
                if self.language != "node" and self.take("=>"):
                    pairs += [value, self.expression()]
                else:
                    items.append(value)
            while self.at < self.end and self.word() not in (",", ";"):
                before = self.at
                self.expression()  # not understood; read for the calls in it
                if self.at <= before:
                    self.at += 1
            self.at = max(self.at + 1, before + 1)
        self.end = outer
        if pairs:
            items.append(self.code.node("map", "", tuple(pairs)))
        return items, named

    def listed(self, end: int) -> Node:
        """The elements in parentheses as a list; a single one is itself."""
        items = self.arguments(end)[0]
        return items[0] if len(items) == 1 else self.code.node("list", "", tuple(items))

    def is_command(self, made: Node, token: ScriptToken) -> bool:
        """Whether words that follow are arguments without parentheses: `system "rm"`, `unlink $file`."""
        if self.language in ("node", "lua") or made.kind not in ("name", "member") or token.line or not token.space:
            return False
        if made.kind == "name" and (made.text[:1] in "$@%" or self.is_variable(made.text)):
            return False
        if token.kind in (TEXT, RUN, WORDS, NUMBER):
            return True
        if token.kind == NAME:
            return token.text not in _ENDS_COMMAND
        if self.language == "php":
            return False
        after = self.all[self.at + 1] if self.at + 1 < self.end else None
        glued = after is not None and not after.space
        return token.text in ("[", "*", "&", "->", "\\", "-", "::", "@", "(") and (glued or token.text == "(")

    def is_variable(self, name: str) -> bool:
        found = self.scope.find(name)
        return found is not None and not any(node.kind == "function" for node in found)

    def command(self, made: Node) -> Node:
        """A call whose arguments end with the line."""
        stop, level = self.at, 0
        while stop < self.end:
            token = self.all[stop]
            if stop > self.at and token.line and self.all[stop - 1].text not in (",", "\\", ".", "+", "=>", "||", "&&"):
                break
            if token.kind == MARK:
                if token.text in OPENS and (
                    token.text != "{" or self.language == "perl" or self.all[stop - 1].text in (",", "(", "=>")
                ):
                    stop = min(self.pairs.get(stop, self.end), self.end)
                elif token.text in (";", "}", ")", "]", "{") and level == 0:
                    break
            elif token.kind == NAME and token.text in _AFTER_COMMAND:
                break
            stop += 1
        items, named = self.arguments(stop)
        self.at = stop
        return self.call_of(made, items, named)
