"""Code of any language as nodes: expressions, their names, functions and calls. Judges nothing.

`python_nodes` makes them from Python's own parser, `script_nodes` from tokens of other languages. Order is kept only
for names that grow (`x += y`); otherwise a name has every value that it is ever bound to."""

from __future__ import annotations

HOLE = "\ue000"
"""Stands in a text for a piece that is not known."""

EACH_SENDS = "\ue001"
"""Stands before the name of a method that is called on each element (`&:name` in Ruby)."""
MOST_NODES = 200_000
_MOST_BEFORE = 4
_MOST_SITES = 40
_EACH = frozenset(
    """forEach map filter flatMap some every find each each_with_index each_entry select reject collect each_slice
    each_child each_filename glob find_each times""".split()
)
_EACH_OF = frozenset("map filter starmap imap imap_unordered array_map array_walk array_filter usort".split())


# Functions that pass their result to a function argument.
_MAKES = frozenset({"mktmpdir"})


class Node:
    """A piece of code. `kind`:

    `text`, `name`, `ref` (a dotted name of a library), `member` (of `parts[0]`), `index`, `call` (`parts[0]` with the
    rest, and `named`), `list`, `map` (keys and values in turn), `join` (of texts or lists), `under` (of paths),
    `either`, `each` (an element of), `item` (the element number `text` of), `star`, `function` (by its number),
    `class`, `parent` (of a path, `text` levels up), `unknown` (which depends on its parts)."""

    __slots__ = ("kind", "text", "parts", "named", "scope")

    def __init__(
        self,
        kind: str,
        text: str = "",
        parts: tuple[Node, ...] = (),
        named: dict[str, Node] | None = None,
        scope: NameScope | None = None,
    ) -> None:
        self.kind = kind
        self.text = text
        self.parts = parts
        self.named = named
        self.scope = scope


UNKNOWN_NODE = Node("unknown")


class NameScope:
    """The names of a function, or of a whole text. `recurs`: the function calls itself."""

    __slots__ = ("names", "outer", "recurs", "shared")

    def __init__(self, outer: NameScope | None = None) -> None:
        self.names: dict[str, list[Node]] = {}
        self.outer = outer
        self.recurs = False
        self.shared: set[str] = set()  # names of an outer scope that are bound here

    def bind(self, name: str, node: Node) -> None:
        scope = self
        while name in scope.shared and scope.outer is not None:
            scope = scope.outer
        scope.names.setdefault(name, []).append(node)

    def find(self, name: str) -> list[Node] | None:
        scope: NameScope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        return None

    def is_in(self, other: NameScope) -> bool:
        scope: NameScope | None = self
        while scope is not None and scope is not other:
            scope = scope.outer
        return scope is other

    def in_recursion(self) -> bool:
        scope: NameScope | None = self
        while scope is not None and not scope.recurs:
            scope = scope.outer
        return scope is not None

    def grow(self, name: str, more: Node) -> None:
        """`name += more`: its value before, and more."""
        before = tuple(self.find(name) or ())[-_MOST_BEFORE:]
        self.bind(name, Node("join", "", (Node("either", "", before), more)))


class CodeFunction:
    """A function of the text. `of`: the class that it makes an object of. `rest`: the name of all further arguments,
    from the place `rest_at` on."""

    __slots__ = ("name", "params", "returns", "scope", "of", "bound", "rest", "rest_at")

    def __init__(self, name: str, params: list[str], scope: NameScope, of: str = "") -> None:
        self.name = name
        self.params = params
        self.scope = scope
        self.of = of
        self.returns: list[Node] = []
        self.bound = 0
        self.rest = ""
        self.rest_at = 0


class CodeNodes:
    """All of a text. `fields`: the values of attributes of objects. `tested`: names in conditions, except
    tests for whether they are files. `cut`: a part was too deep or too large."""

    __slots__ = ("top", "calls", "functions", "fields", "tested", "cut", "size")

    def __init__(self, outer: NameScope | None = None) -> None:
        self.top = NameScope(outer)
        self.calls: list[Node] = []
        self.functions: list[CodeFunction] = []
        self.fields: dict[str, list[Node]] = {}
        self.tested: set[str] = set()
        self.cut = False
        self.size = 0

    def node(
        self,
        kind: str,
        text: str = "",
        parts: tuple[Node, ...] = (),
        named: dict[str, Node] | None = None,
        scope: NameScope | None = None,
    ) -> Node:
        self.size += 1
        if self.size > MOST_NODES:
            self.cut = True
            return UNKNOWN_NODE
        made = Node(kind, text, parts, named, scope)
        if kind == "call":
            self.calls.append(made)
        return made

    def function(self, name: str, params: list[str], scope: NameScope, of: str = "") -> tuple[Node, CodeFunction]:
        made = CodeFunction(name, params, scope, of)
        self.functions.append(made)
        return self.node("function", str(len(self.functions) - 1)), made

    def name_function(self, node: Node, name: str) -> None:
        """Give an anonymous function the name that it is bound to."""
        if node.kind == "function" and not self.functions[int(node.text)].name:
            self.functions[int(node.text)].name = name

    def bind_arguments(self) -> None:
        """Bind parameters to all arguments with which the functions of the text are called."""
        known: dict[str, list[CodeFunction]] = {}
        for function in self.functions:
            for name in (function.name, function.of):
                if name:
                    known.setdefault(name, []).append(function)
        for call in tuple(self.calls):
            called = call.parts[0]
            for given in call.parts[1:] if called.kind == "member" else ():
                if given.kind == "text" and given.text.startswith(EACH_SENDS):  # `files.each(&:delete)`
                    each = Node("each", "", called.parts[:1])
                    self.node("call", "", (Node("member", given.text[len(EACH_SENDS) :], (each,)),), scope=call.scope)
            if called.kind in ("name", "member") and called.text in known:
                for function in known[called.text][:4]:
                    self._bound(function, call)
                    if call.scope is not None and call.scope.is_in(function.scope):
                        function.scope.recurs = True
            if called.kind == "function":
                self._bound(self.functions[int(called.text)], call)
            for given in (*call.parts[1:], *(call.named or {}).values()):
                if given.kind == "function":
                    self._passed(self.functions[int(given.text)], call)
                elif given.kind in ("name", "member") and given.text in known:
                    for function in known[given.text]:  # the receiver may call it with anything
                        function.scope.bind(function.rest, UNKNOWN_NODE) if function.rest else None

    def _bound(self, function: CodeFunction, call: Node) -> None:
        function.bound += 1
        if function.bound > _MOST_SITES:
            return
        params, rest_at = function.params, function.rest_at
        if params[:1] in (["self"], ["cls"]) and (call.parts[0].kind == "member" or function.of):
            params, rest_at = params[1:], rest_at - 1
        if function.rest:
            function.scope.bind(function.rest, Node("list", "", call.parts[1 + rest_at :]))
            call = Node("call", "", call.parts[: 1 + rest_at], call.named)
        for place, given in enumerate(call.parts[1:]):
            if given.kind == "star":
                for name in params[place:]:
                    function.scope.bind(name, Node("each", "", given.parts))
                break
            if place < len(params):
                function.scope.bind(params[place], given)
        for name, given in (call.named or {}).items():
            if name in params:
                function.scope.bind(name, given)

    def _passed(self, function: CodeFunction, call: Node) -> None:
        """A function passed to another: it gets the mapped elements, or the result of the other one."""
        called, others = call.parts[0], tuple(part for part in call.parts[1:] if part.kind != "function")
        owner = called.parts[:1] if called.kind == "member" else ()
        source = Node("unknown", "", (*owner, Node("made", "", (called, *others))))
        for place, name in enumerate(function.params):
            if place == 0 and owner and called.text in _EACH:
                function.scope.bind(name, Node("each", "", owner if not others else (*owner, *others)))
            elif called.text in _EACH_OF and place < len(others):
                function.scope.bind(name, Node("each", "", (others[place],)))
            elif called.text in _MAKES:
                function.scope.bind(name, Node("call", "", (called, *others)))
            elif called.text in ("then", "tap", "let") and owner:
                function.scope.bind(name, owner[0])
            else:
                function.scope.bind(name, source)
