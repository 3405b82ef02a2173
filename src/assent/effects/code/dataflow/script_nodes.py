"""JavaScript, Ruby, Perl, PHP and Lua as nodes that `evaluate` follows: calls, assignments and functions as seen
in tokens. Precedence of operators, types and most statements are not read; nothing is proved with this."""

from __future__ import annotations

from assent.effects.code.dataflow.nodes import UNKNOWN_NODE, CodeFunction, CodeNodes, NameScope, Node
from assent.effects.code.dataflow.script_operands import DEEPEST, PRINTS, ScriptOperands
from assent.effects.code.dataflow.script_tokens import MARK, NAME, TEXT, script_tokens

_JOINS = {"node": ("+",), "ruby": ("+", "<<"), "perl": (".",), "php": (".",), "lua": ("..",)}
_EITHER = frozenset("|| && ?? or and // ||= &&= ??= xor".split())
_SETS = frozenset("= ||= &&= ??= //=".split())
_GROWS = frozenset("+= .= <<= ..=".split())
_OTHERS = frozenset(
    """== != === !== < > <= >= <=> =~ !~ - * / % ** & | ^ >> >>> instanceof in eq ne lt gt le ge cmp x -= *= /= ..
    ... %= |= &= ^=""".split()
)
_MEMBERS = frozenset((".", "?.", "->", "::", "?->", "&."))
_DECLARES = frozenset("const let var my our local using state".split())
_SKIPPED = frozenset(
    """export default async static public private protected readonly abstract declare final get set then do begin
    ensure rescue else try finally loop echo print say puts p pp continue break next last redo not defined void
    typeof await yield throw raise die delete clone keyof unless if elsif elseif elif while until when case switch
    return retry done end and or BEGIN END module namespace use no package interface type enum implements extends
    global foreach for catch with""".split()
)
_KINDS_OF_FILES = frozenset(
    "isFile isDirectory existsSync exists file? directory? exist? is_file is_dir file_exists".split()
)
_HEADS = frozenset("if unless while until elsif elseif elif when case switch with catch".split())
_NO_WORD = frozenset(
    "= => . , ; ) ] } : ? -> :: ?. && || == != =~ + * / < > | .. += -= ||= <= >= & ! ~ .= << % ^ **".split()
)


class ScriptNodes(ScriptOperands):
    __slots__ = ()

    # ------------------------------------------------------------ statements

    def block(self, end: int) -> None:
        """Statements up to a place."""
        outer, self.end = self.end, min(end, self.end)
        self.depth += 1
        while self.at < self.end:
            before = self.at
            if self.depth > DEEPEST:
                self.code.cut = True
                self.at = self.end
                break
            self.statement()
            if self.at <= before:
                self.at = before + 1
        self.depth -= 1
        self.at, self.end = max(self.at, self.end), outer

    def statement(self) -> None:
        word = self.word()
        if word in ("if", "unless", "elsif", "elseif", "when"):
            self.test()
        if not self.is_kind(NAME):
            if word in (";", "}", "{", ")", "]", ",", ":", "@"):
                self.at += 1
            else:
                self.sequence()
            return
        if word == "import" and self.word(1) != "(" and self.word(1) != ".":
            self.imports()
        elif word in _DECLARES:
            self.at += 1
            self.declaration()
        elif word in ("for", "foreach"):
            self.at += 1
            self.loop()
        elif word == "return":
            self.at += 1
            value = UNKNOWN_NODE if self.new_line() or self.word() in (";", "}") else self.sequence()
            if self.functions:
                self.functions[-1].returns.append(value)
        elif word == "yield" and self.language in ("node", "php") and self.functions:
            self.at += 1
            whole = self.take("*")
            value = self.expression()
            self.functions[-1].returns.append(value if whole else self.code.node("list", "", (value,)))
        elif word in ("class", "module", "trait") and self.is_kind(NAME, 1):
            self.at += 1
            self.class_()
        elif word == "use" and self.language in ("php", "perl"):
            while self.at < self.end and self.word() != ";":
                self.at += 1
        elif word in PRINTS and self.language != "node" and self.word(1) not in _NO_WORD:
            self.at += 1
            self.command(self.code.node("ref", "print"))
            self.code.node("unknown")
        elif word in _SKIPPED and self.word(1) not in (":", "=", ".") and self.is_statement(word):
            self.at += 1
        else:
            self.sequence()

    def test(self) -> None:
        """Note the names in a condition, except tests for whether they are files."""
        end = self.at + 1
        if self.word(1) == "(":
            end = self.close_of(self.at + 1)
        else:
            while end < self.end and not self.all[end].line and self.all[end].text != ";":
                end += 1
        words = [token.text for token in self.all[self.at + 1 : end] if token.kind == NAME]
        if _KINDS_OF_FILES.isdisjoint(words):
            self.code.tested.update(words)

    def is_statement(self, word: str) -> bool:
        """Whether a word begins a statement; in JavaScript most of them may name a function as well."""
        return self.language != "node" or self.word(1) != "(" or word in _HEADS

    def sequence(self) -> Node:
        value = self.expression()
        while self.take(","):
            value = self.expression()
        return value

    def imports(self) -> None:
        """`import x, {a as b}, * as y from "m"`."""
        self.at += 1
        names: list[tuple[str, str]] = []
        while self.at < self.end and not self.is_kind(TEXT) and self.word() not in (";", ""):
            word = self.word()
            if word == "*" and self.word(1) == "as":
                names.append((self.word(2), ""))
                self.at += 3
            elif self.is_kind(NAME) and word not in ("from", "type"):
                renamed = self.word(1) == "as"
                inside = self.word(-1) in ("{", ",") and self.in_braces()
                names.append((self.word(2) if renamed else word, word if inside else ""))
                self.at += 3 if renamed else 1
            else:
                self.at += 1
            if self.new_line() and word == "from":
                break
        module = self.literal()
        for name, member in names:
            self.scope.bind(name, Node("ref", f"{module}.{member}" if member and member != "default" else module))

    def in_braces(self) -> bool:
        return any(
            self.all[place].text == "{" and self.pairs.get(place, 0) > self.at
            for place in range(max(0, self.at - 40), self.at)
        )

    def declaration(self) -> None:
        """`const a = x, {b, c: d} = y`."""
        while self.at < self.end:
            names = self.pattern()
            if self.language == "lua" and self.take("<"):
                self.at += 2  # `<const>`
            self.type_()
            value = None
            if self.word() in _SETS:
                self.at += 1
                value = self.expression()
            elif self.word() in ("of", "in"):
                self.at += 1
                value = self.code.node("each", "", (self.expression(),))
            self.bind(names, value)
            if not self.take(","):
                return

    def bind(self, names: list[tuple[str, str]], value: Node | None) -> None:
        """Bind names; each comes with the member or index of the value that it gets."""
        shifts = (
            value is not None and value.kind == "name" and value.text in ("shift", "@_") and self.language == "perl"
        )
        for name, part in names:
            scope = self.code.top if name[:1] == "@" and self.language == "ruby" else self.scope
            if shifts and self.functions:
                self.functions[-1].params.append(name)
                self.scope.names.setdefault(name, [])
            elif value is None:
                self.scope.names.setdefault(name, [])
            elif not part:
                scope.bind(name, value)
                self.code.name_function(value, name)
            elif part.isdecimal():
                scope.bind(name, self.code.node("item", part, (value,)))
            else:
                self.scope.bind(name, self.code.node("member", part, (value,), scope=self.scope))

    def pattern(self) -> list[tuple[str, str]]:
        if self.is_kind(NAME):
            self.at += 1
            return [(self.word(-1), "")]
        if self.word() not in ("{", "[", "("):
            self.at += 1
            return []
        listed, end = self.word() != "{", self.close()
        self.at += 1
        found: list[tuple[str, str]] = []
        place = 0
        while self.at < end:
            if self.is_kind(NAME):
                key = self.word()
                self.at += 1
                name = key
                if self.word() == ":" and not listed:
                    self.at += 1
                    inner = self.pattern()
                    found += inner if len(inner) != 1 else [(inner[0][0], key)]
                else:
                    whole = self.word(-2) == "..."  # the rest
                    found.append((name, "" if whole else str(place) if listed else key))
                if self.take("="):
                    default = self.expression()
                    self.scope.bind(found[-1][0] if found else name, default)
            elif self.word() == ",":
                place += 1
                self.at += 1
            elif self.word() in ("{", "["):
                found += [(name, "") for name, _ in self.pattern()]
            else:
                self.at += 1
        self.at = end + 1
        return found

    def loop(self) -> None:
        """`for (const x of y)`, `foreach ($y as $k => $x)`, `for my $x (@y)`, `for x in y`."""
        self.take("await")
        if self.take("("):
            end = self.close_of(self.at - 1)
            if self.word() in _DECLARES:
                self.at += 1
            if self.language == "php":
                value = self.expression()
                if self.take("as"):
                    names = self.pattern()
                    if self.take("=>"):
                        names = self.pattern()
                    self.bind(names, self.code.node("each", "", (value,)))
            elif self.language == "perl":
                self.scope.bind("$_", self.code.node("each", "", (self.listed(end),)))
            elif self.word(1) in ("of", "in") or (
                self.word() in ("{", "[") and self.word(self.close() - self.at + 1) == "of"
            ):
                names = self.pattern()
                self.at += 1
                self.bind(names, self.code.node("each", "", (self.expression(),)))
            else:
                self.declaration()
            self.block(end)
            self.at = max(self.at, end)
            return
        if self.word() in _DECLARES:
            self.at += 1
        names = []
        while self.is_kind(NAME) and self.word() not in ("in",):
            names += self.pattern()
            self.take(",")
        if self.take("in"):
            self.bind(names, self.code.node("each", "", (self.expression(),)))
        elif self.word() == "(":
            end = self.close()
            self.at += 1
            self.bind(names, self.code.node("each", "", (self.listed(end),)))

    def class_(self) -> None:
        name = self.word()
        self.at += 1
        self.scope.bind(name, self.code.node("class", name))
        if self.language == "node":
            while self.at < self.end and self.word() not in ("{", ";"):
                self.at += 1
            if self.word() == "{":
                self.class_body(name)

    def class_body(self, name: str) -> None:
        """Methods and fields: `name(…) {…}`, `name = value`."""
        end = self.close()
        self.at += 1
        while self.at < end:
            before = self.at
            if self.is_kind(NAME) and self.word(1) == "(" and self.word() not in _HEADS:
                method = self.word()
                self.at += 1
                self.function(method, name if method == "constructor" else "")
            elif self.is_kind(NAME) and self.word(1) in ("=", ":"):
                field = self.word()
                self.at += 1
                self.type_()
                if self.take("="):
                    self.code.fields.setdefault(field, []).append(self.expression())
            else:
                self.at += 1
            self.at = max(self.at, before + 1)
        self.at = end + 1

    # ------------------------------------------------------------ functions

    def function(self, name: str, of: str = "") -> Node:
        """From the parameters on: `(a, b = 1) {…}`, `(a) => x`."""
        outer = self.scope
        inner = NameScope(outer)
        made, function = self.code.function(name, [], inner, of)
        self.scope = inner
        self.functions.append(function)
        self.parameters(function)
        self.body(function)
        self.functions.pop()
        self.scope = outer
        return made

    def parameters(self, function: CodeFunction) -> None:
        if self.word() == "(":
            end = self.close()
            self.at += 1
            while self.at < end:
                before, rest = self.at, self.word() == "..."
                if self.word() in ("...", "*", "&", "**", "?"):
                    self.at += 1
                names = self.typed() if self.language == "php" else self.pattern()
                for name, part in names:
                    inner = self.scope.names.setdefault(name, [])
                    if rest:
                        function.rest, function.rest_at = name, len(function.params)
                    elif part == "" or not inner:
                        function.params.append(name)
                self.take("?")
                self.type_()
                if self.take("=") and names:
                    self.scope.bind(names[0][0], self.expression())
                while self.at < end and self.word() != ",":
                    self.at += 1
                self.take(",")
                self.at = max(self.at, before + 1)
            self.at = end + 1
        elif self.is_kind(NAME) and self.word(1) == "=>":
            function.params.append(self.word())
            self.scope.names.setdefault(self.word(), [])
            self.at += 1

    def typed(self) -> list[tuple[str, str]]:
        """`?int $name`: the name behind its type."""
        while self.at < self.end and not self.word().startswith("$") and self.word() not in (",", ")"):
            self.at += 1
        return self.pattern() if self.word().startswith("$") else []

    def body(self, function: CodeFunction) -> None:
        if self.word() == "use" and self.word(1) == "(":
            self.at += 1
            self.at = self.close() + 1
        self.type_()
        if self.take("=>"):
            if self.word() == "{":
                end = self.close()
                self.at += 1
                self.block(end)
                self.at = end + 1
            else:
                function.returns.append(self.expression())
        elif self.word() == "{":
            end = self.close()
            self.at += 1
            self.block(end)
            self.at = end + 1

    def type_(self) -> None:
        """Skip a type behind a name: `: string[]`, `: Promise<void>`."""
        if self.language not in ("node", "php") or self.word() != ":":
            return
        self.at += 1
        while self.at < self.end:
            word = self.word()
            if word in ("{", "(", "[") and self.word(-1) in (":", "|", "&", "<", ",", "=>", "["):
                self.at = self.close() + 1
            elif word == "[" or word == "<":
                self.at = (self.close() if word == "[" else self.angle()) + 1
            elif (
                (word in ("|", "&", ".", "?", "=>") and not (word == "=>" and self.word(-1) != ")"))
                or self.is_kind(NAME)
                or self.is_kind(TEXT)
            ):
                self.at += 1
            else:
                return
            if self.word() == "=>" and self.word(1) == "{":
                return

    # ------------------------------------------------------------ expressions

    def expression(self) -> Node:
        self.depth += 1
        if self.depth > DEEPEST:
            self.code.cut = True
            self.at = self.end
            self.depth -= 1
            return UNKNOWN_NODE
        left = self.unary()
        while self.at < self.end:
            word = self.word()
            if word in _SETS and word != "=>":
                self.at += 1
                value = self.expression()
                self.assign(left, value)
                left = value
            elif word in _GROWS:
                self.at += 1
                value = self.expression()
                if left.kind == "name":
                    self.owner_of(left.text).grow(left.text, value)
            elif word in _JOINS[self.language] and not (self.new_line() and word in ("+", "<<")):
                self.at += 1
                right = self.unary()
                if word == "<<" and left.kind == "name":
                    self.scope.grow(left.text, self.code.node("list", "", (right,)))
                left = self.code.node("join", "", (left, right))
            elif word == "/" and self.language == "ruby":
                self.at += 1
                left = self.code.node("under", "", (left, self.unary()))
            elif word in _EITHER:
                self.at += 1
                left = self.code.node("either", "", (left, self.unary()))
            elif word == "?" and not self.new_line():
                self.at += 1
                first = self.expression()
                second = self.expression() if self.take(":") else UNKNOWN_NODE
                left = self.code.node("either", "", (first, second))
            elif word == "?" and self.language == "node":
                self.at += 1
                first = self.expression()
                left = self.code.node("either", "", (first, self.expression() if self.take(":") else UNKNOWN_NODE))
            elif word in ("as", "satisfies") and self.language == "node":
                self.all[self.at].text = ":"
                self.all[self.at].kind = MARK
                self.type_()
            elif word == "!" and self.language == "node" and not self.new_line():
                self.at += 1
            elif word in _OTHERS and not (self.language == "ruby" and word in ("|", "{")):
                self.at += 1
                left = self.code.node("unknown", "", (left, self.unary()))
            else:
                break
        self.depth -= 1
        return left

    def owner_of(self, name: str) -> NameScope:
        """The scope that an undeclared name is set in: the one that has it."""
        scope: NameScope | None = self.scope
        while scope is not None and name not in scope.names and self.language != "php":
            scope = scope.outer
        return scope if scope is not None else self.scope

    def assign(self, target: Node, value: Node) -> None:
        if target.kind == "name":
            outer, self.scope = self.scope, self.owner_of(target.text)
            self.bind([(target.text, "")], value)
            self.scope = outer
        elif target.kind == "member":
            self.code.fields.setdefault(target.text, []).append(value)
            self.code.name_function(value, target.text)
        elif target.kind == "list":
            self.bind(
                [(part.text, str(place)) for place, part in enumerate(target.parts) if part.kind == "name"], value
            )
        elif target.kind == "index" and target.parts[0].kind == "name":
            self.scope.bind(target.parts[0].text, self.code.node("map", "", (target.parts[1], value)))


def script_nodes(text: str, language: str, outer: NameScope | None = None) -> CodeNodes:
    """A text as nodes. `outer`: the names of the code that evaluates it."""
    code = CodeNodes(outer)
    found, code.cut = script_tokens(text, language)
    reader = ScriptNodes(found, language, code, code.top)
    reader.block(len(found))
    code.bind_arguments()
    return code
