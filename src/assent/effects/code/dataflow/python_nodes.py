"""Python's syntax tree as nodes that `evaluate` follows. Judges nothing and leaves nothing out: an expression
without a node of its own is `unknown`, and depends on its parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assent.contract import Pattern
from assent.effects.code.dataflow.actions import OWN
from assent.effects.code.dataflow.nodes import HOLE, UNKNOWN_NODE, CodeFunction, CodeNodes, NameScope, Node
from assent.effects.code.python_calls import name_of

_DEEPEST = 150
_PERCENT = Pattern(r"%(?:\(\w+\))?[-+ #0-9.*]*[a-zA-Z%]")
_KINDS_OF_FILES = frozenset("is_file is_dir is_symlink exists isfile isdir islink lexists".split())
_GROWS = frozenset({"append", "extend", "insert", "add", "appendleft", "update"})


class _PythonNodes:
    __slots__ = ("code", "depth", "functions")

    def __init__(self, code: CodeNodes) -> None:
        self.code = code
        self.depth = 0
        self.functions: list[CodeFunction] = []

    # ------------------------------------------------------------ statements

    def block(self, statements: list[Any], scope: NameScope) -> None:
        if self.depth > _DEEPEST:
            self.code.cut = True
            return
        self.depth += 1
        for statement in statements:
            handler = _STATEMENTS.get(name_of(statement))
            if handler is not None:
                handler(self, statement, scope)
            else:
                self.rest(statement, scope)
        self.depth -= 1

    def rest(self, node: Any, scope: NameScope) -> Node:
        """A node without a meaning of its own: its expressions and blocks."""
        found: list[Node] = []
        for field in node._fields:
            value = getattr(node, field, None)
            for item in value if isinstance(value, list) else (value,):
                kind = name_of(item)
                if kind in _STATEMENTS or kind in _BLOCKS:
                    self.block([item], scope)
                elif kind in _EXPRESSIONS or hasattr(item, "elt"):
                    found.append(self.expression(item, scope))
                elif hasattr(item, "_fields"):
                    found.append(self.rest(item, scope))
        parts = tuple(node for node in found if node is not UNKNOWN_NODE)
        return self.code.node("unknown", "", parts) if parts else UNKNOWN_NODE

    def imported(self, node: Any, scope: NameScope) -> None:
        for alias in node.names:
            top = alias.name.partition(".")[0]
            scope.bind(alias.asname or top, Node("ref", alias.name if alias.asname else top))

    def imported_from(self, node: Any, scope: NameScope) -> None:
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            if alias.name == "*":
                for name in _STARRED.get(module, "").split():
                    scope.bind(name, Node("ref", f"{module}.{name}"))
            else:
                scope.bind(alias.asname or alias.name, Node("ref", f"{module}.{alias.name}"))

    def defined(self, node: Any, scope: NameScope, of: str = "") -> None:
        for decorator in node.decorator_list:
            self.expression(decorator, scope)
        made, function = self.begin(node.name, node.args, scope, of if node.name == "__init__" else "")
        if "tmp_path" in function.params and _is_test(node):
            function.scope.bind("tmp_path", Node("text", OWN))
        self.functions.append(function)
        self.block(node.body, function.scope)
        self.functions.pop()
        scope.bind(node.name, made)

    def begin(self, name: str, args: Any, scope: NameScope, of: str = "") -> tuple[Node, CodeFunction]:
        inner = NameScope(scope)
        names = [arg.arg for arg in (*args.posonlyargs, *args.args)]
        made, function = self.code.function(name, [*names, *(arg.arg for arg in args.kwonlyargs)], inner, of)
        if args.vararg is not None:
            function.rest, function.rest_at = args.vararg.arg, len(names)
        for arg in (*function.params, *(arg.arg for arg in (args.vararg, args.kwarg) if arg is not None)):
            inner.names.setdefault(arg, [])
        for arg, default in zip(reversed(names), reversed(args.defaults), strict=False):
            inner.bind(arg, self.expression(default, scope))
        for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            if default is not None:
                inner.bind(arg.arg, self.expression(default, scope))
        return made, function

    def class_(self, node: Any, scope: NameScope) -> None:
        for part in (*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)):
            self.expression(part, scope)
        inner = NameScope(scope)
        for statement in node.body:
            if name_of(statement) in ("FunctionDef", "AsyncFunctionDef"):
                self.defined(statement, inner, node.name)
            else:
                self.block([statement], inner)
        for name, bound in inner.names.items():
            self.code.fields.setdefault(name, []).extend(bound)
        bases = tuple(self.expression(base, scope) for base in node.bases)
        scope.bind(node.name, self.code.node("class", node.name, bases))

    def assigned(self, node: Any, scope: NameScope) -> None:
        value = self.expression(node.value, scope) if node.value is not None else UNKNOWN_NODE
        for target in node.targets if name_of(node) == "Assign" else [node.target]:
            if node.value is not None:
                self.bind(target, value, scope)

    def grown(self, node: Any, scope: NameScope) -> None:
        value = self.expression(node.value, scope)
        if name_of(node.target) == "Name" and name_of(node.op) in ("Add", "BitOr"):
            scope.grow(node.target.id, value)
        elif name_of(node.target) == "Name" and name_of(node.op) == "Div":
            before = tuple(scope.find(node.target.id) or ())
            scope.bind(node.target.id, self.code.node("under", "", (Node("either", "", before), value)))
        else:
            self.bind(node.target, self.code.node("unknown", "", (value,)), scope)

    def bind(self, target: Any, value: Node, scope: NameScope) -> None:
        kind = name_of(target)
        if kind == "Name":
            scope.bind(target.id, value)
            self.code.name_function(value, target.id)
        elif kind in ("Tuple", "List"):
            for place, item in enumerate(target.elts):
                starred = name_of(item) == "Starred"
                part = (
                    self.code.node("unknown", "", (value,)) if starred else self.code.node("item", str(place), (value,))
                )
                self.bind(item.value if starred else item, part, scope)
        elif kind == "Attribute":
            self.expression(target.value, scope)
            self.code.fields.setdefault(target.attr, []).append(value)
        elif kind == "Subscript":
            key = self.expression(target.slice, scope)
            if name_of(target.value) == "Name":
                scope.bind(target.value.id, self.code.node("map", "", (key, value)))
            else:
                self.expression(target.value, scope)

    def loop(self, node: Any, scope: NameScope) -> None:
        self.bind(node.target, self.code.node("each", "", (self.expression(node.iter, scope),)), scope)
        self.block(node.body, scope)
        self.block(node.orelse, scope)

    def with_(self, node: Any, scope: NameScope) -> None:
        for item in node.items:
            value = self.expression(item.context_expr, scope)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, value, scope)
        self.block(node.body, scope)

    def returned(self, node: Any, scope: NameScope) -> None:
        value = self.expression(node.value, scope) if node.value is not None else UNKNOWN_NODE
        if self.functions:
            self.functions[-1].returns.append(value)

    def shared(self, node: Any, scope: NameScope) -> None:
        scope.shared.update(node.names)

    def expression_statement(self, node: Any, scope: NameScope) -> None:
        value = node.value
        self.expression(value, scope)
        if (
            name_of(value) == "Call"
            and name_of(value.func) == "Attribute"
            and value.func.attr in _GROWS
            and name_of(value.func.value) == "Name"
            and value.args
        ):
            made = self.code.calls[-1] if self.code.calls else UNKNOWN_NODE
            more = made.parts[-1] if made.parts else UNKNOWN_NODE
            one = value.func.attr not in ("extend", "update")
            scope.grow(value.func.value.id, Node("list", "", (more,)) if one else more)

    def branch(self, node: Any, scope: NameScope) -> None:
        self.code.tested.update(_tested(node.test))
        self.expression(node.test, scope)
        self.block(node.body, scope)
        self.block(node.orelse, scope)

    def matched(self, node: Any, scope: NameScope) -> None:
        subject = self.expression(node.subject, scope)
        for case in node.cases:
            for name in _captured(case.pattern):
                scope.bind(name, subject)
            if case.guard is not None:
                self.expression(case.guard, scope)
            self.block(case.body, scope)

    # ------------------------------------------------------------ expressions

    def expression(self, node: Any, scope: NameScope) -> Node:
        if self.depth > _DEEPEST:
            self.code.cut = True
            return UNKNOWN_NODE
        self.depth += 1
        handler = _EXPRESSIONS.get(name_of(node))
        made = handler(self, node, scope) if handler is not None else self.rest(node, scope)
        self.depth -= 1
        return made

    def constant(self, node: Any, scope: NameScope) -> Node:
        value = node.value
        if isinstance(value, str):
            return self.code.node("text", value)
        if isinstance(value, bytes):
            return self.code.node("text", value.decode("latin-1"))
        if type(value) is int:
            return self.code.node("number", str(value)) if abs(value) < 1 << 63 else UNKNOWN_NODE
        return self.code.node("either") if value is None else UNKNOWN_NODE

    def signed(self, node: Any, scope: NameScope) -> Node:
        """`-1`."""
        value = getattr(node.operand, "value", None)
        if name_of(node.op) == "USub" and type(value) is int and abs(value) < 1 << 63:
            return self.code.node("number", str(-value))
        return self.rest(node, scope)

    def name(self, node: Any, scope: NameScope) -> Node:
        return self.code.node("name", node.id, scope=scope)

    def attribute(self, node: Any, scope: NameScope) -> Node:
        return self.code.node("member", node.attr, (self.expression(node.value, scope),), scope=scope)

    def subscript(self, node: Any, scope: NameScope) -> Node:
        owner, key = self.expression(node.value, scope), self.expression(node.slice, scope)
        if name_of(node.slice) == "Slice" and name_of(node.slice.step) == "UnaryOp":
            return self.code.node("reversed", "", (owner,))
        return self.code.node("slice" if name_of(node.slice) == "Slice" else "index", "", (owner, key))

    def call(self, node: Any, scope: NameScope) -> Node:
        called = self.expression(node.func, scope)
        parts = [called, *(self.expression(arg, scope) for arg in node.args)]
        named: dict[str, Node] = {}
        for keyword in node.keywords:
            value = self.expression(keyword.value, scope)
            if keyword.arg is None:
                named["**"] = value
            else:
                named[keyword.arg] = value
        return self.code.node("call", "", tuple(parts), named, scope)

    def joined(self, node: Any, scope: NameScope) -> Node:
        parts = tuple(
            self.expression(value.value if name_of(value) == "FormattedValue" else value, scope)
            for value in node.values
        )
        return self.code.node("join", "", (Node("text"), *parts))

    def operation(self, node: Any, scope: NameScope) -> Node:
        spine = []
        while name_of(node) == "BinOp":  # `a + b + c…` nests to the left as deep as it is long
            spine.append(node)
            node = node.left
        made = self.expression(node, scope)
        for step in reversed(spine):
            right, sign = self.expression(step.right, scope), name_of(step.op)
            if sign == "Add":
                made = self.code.node("join", "", (made, right))
            elif sign == "Div":
                made = self.code.node("under", "", (made, right))
            elif sign == "Mod" and made.kind == "text":
                made = self.percent(made.text, right)
            else:
                made = self.code.node("unknown", "", (made, right))
        return made

    def percent(self, text: str, right: Node) -> Node:
        """`"rm %s" % x`."""
        given = list(right.parts) if right.kind == "list" else [right]
        parts: list[Node] = [Node("text")]
        last = 0
        for match in _PERCENT.finditer(text):
            parts.append(self.code.node("text", text[last : match.start()]))
            parts.append(given.pop(0) if given and match[0][-1] != "%" and "(" not in match[0] else Node("text", HOLE))
            last = match.end()
        parts.append(self.code.node("text", text[last:]))
        return self.code.node("join", "", tuple(parts))

    def list_(self, node: Any, scope: NameScope) -> Node:
        return self.code.node("list", "", tuple(self.expression(item, scope) for item in node.elts))

    def map_(self, node: Any, scope: NameScope) -> Node:
        parts: list[Node] = []
        for key, value in zip(node.keys, node.values, strict=True):
            parts.append(self.expression(key, scope) if key is not None else Node("star"))
            parts.append(self.expression(value, scope))
        return self.code.node("map", "", tuple(parts))

    def either(self, node: Any, scope: NameScope) -> Node:
        if name_of(node) == "IfExp":
            self.expression(node.test, scope)
            values = [node.body, node.orelse]
        else:
            values = node.values
        return self.code.node("either", "", tuple(self.expression(value, scope) for value in values))

    def walrus(self, node: Any, scope: NameScope) -> Node:
        value = self.expression(node.value, scope)
        self.bind(node.target, value, scope)
        return value

    def lambda_(self, node: Any, scope: NameScope) -> Node:
        made, function = self.begin("", node.args, scope)
        function.returns.append(self.expression(node.body, function.scope))
        return made

    def comprehension(self, node: Any, scope: NameScope) -> Node:
        inner = NameScope(scope)
        for each in node.generators:
            self.bind(each.target, self.code.node("each", "", (self.expression(each.iter, inner),)), inner)
            for test in each.ifs:
                self.code.tested.update(_tested(test))
                self.expression(test, inner)
        if name_of(node) == "DictComp":
            self.expression(node.key, inner)
            value = self.expression(node.value, inner)
        else:
            value = self.expression(node.elt, inner)
        return self.code.node("list", "", (self.code.node("star", "", (self.code.node("list", "", (value,)),)),))

    def inner(self, node: Any, scope: NameScope) -> Node:
        return self.expression(node.value, scope)

    def yielded(self, node: Any, scope: NameScope) -> Node:
        value = self.expression(node.value, scope) if node.value is not None else UNKNOWN_NODE
        if self.functions:
            whole = name_of(node) == "YieldFrom"
            self.functions[-1].returns.append(value if whole else self.code.node("list", "", (value,)))
        return UNKNOWN_NODE

    def star(self, node: Any, scope: NameScope) -> Node:
        return self.code.node("star", "", (self.expression(node.value, scope),))


_STATEMENTS: dict[str, Callable[[_PythonNodes, Any, NameScope], None]] = {
    "Import": _PythonNodes.imported,
    "ImportFrom": _PythonNodes.imported_from,
    "FunctionDef": _PythonNodes.defined,
    "AsyncFunctionDef": _PythonNodes.defined,
    "ClassDef": _PythonNodes.class_,
    "Assign": _PythonNodes.assigned,
    "AnnAssign": _PythonNodes.assigned,
    "AugAssign": _PythonNodes.grown,
    "For": _PythonNodes.loop,
    "AsyncFor": _PythonNodes.loop,
    "With": _PythonNodes.with_,
    "AsyncWith": _PythonNodes.with_,
    "Return": _PythonNodes.returned,
    "Global": _PythonNodes.shared,
    "Nonlocal": _PythonNodes.shared,
    "Expr": _PythonNodes.expression_statement,
    "Match": _PythonNodes.matched,
    "If": _PythonNodes.branch,
}
_BLOCKS = frozenset("While Try TryStar ExceptHandler Raise Assert Delete Pass Break Continue TypeAlias".split())
_EXPRESSIONS: dict[str, Callable[[_PythonNodes, Any, NameScope], Node]] = {
    "Constant": _PythonNodes.constant,
    "Name": _PythonNodes.name,
    "Attribute": _PythonNodes.attribute,
    "Subscript": _PythonNodes.subscript,
    "Call": _PythonNodes.call,
    "JoinedStr": _PythonNodes.joined,
    "BinOp": _PythonNodes.operation,
    **dict.fromkeys(("List", "Tuple", "Set"), _PythonNodes.list_),
    "Dict": _PythonNodes.map_,
    **dict.fromkeys(("IfExp", "BoolOp"), _PythonNodes.either),
    "NamedExpr": _PythonNodes.walrus,
    "Lambda": _PythonNodes.lambda_,
    **dict.fromkeys(("ListComp", "SetComp", "GeneratorExp", "DictComp"), _PythonNodes.comprehension),
    **dict.fromkeys(("Await", "FormattedValue"), _PythonNodes.inner),
    **dict.fromkeys(("Yield", "YieldFrom"), _PythonNodes.yielded),
    "Starred": _PythonNodes.star,
    "UnaryOp": _PythonNodes.signed,
    **dict.fromkeys(("Compare", "Slice", "TemplateStr", "Interpolation"), _PythonNodes.rest),
}
_STARRED = {  # what `from module import *` brings
    "os": "remove unlink rmdir removedirs rename system popen environ getenv chmod chown listdir walk execv execvp",
    "shutil": "rmtree move copy copy2 copyfile copytree make_archive",
    "subprocess": "run call check_call check_output Popen getoutput getstatusoutput",
    "pathlib": "Path PurePath",
    "socket": "socket create_connection",
    "urllib.request": "urlopen urlretrieve Request",
    "scapy.all": "send sendp sr sr1 srp srloop",
    "os.path": "join expanduser abspath dirname exists",
}


def _tested(test: Any) -> list[str]:
    """The names in a condition, except tests for whether they are files."""
    found: list[str] = []
    waiting = [test]
    while waiting:
        node = waiting.pop()
        kind = name_of(node)
        if kind == "Call" and name_of(node.func) == "Attribute" and node.func.attr in _KINDS_OF_FILES:
            continue
        if kind == "Name":
            found.append(node.id)
        for field in node._fields:
            value = getattr(node, field, None)
            for item in value if isinstance(value, list) else (value,):
                if hasattr(item, "_fields"):
                    waiting.append(item)
    return found


def _captured(pattern: Any) -> list[str]:
    """The names that a pattern binds."""
    found: list[str] = []
    waiting = [pattern]
    while waiting:
        node = waiting.pop()
        for field in node._fields:
            value = getattr(node, field, None)
            if field in ("name", "rest") and isinstance(value, str):
                found.append(value)
            for item in value if isinstance(value, list) else (value,):
                if hasattr(item, "_fields"):
                    waiting.append(item)
    return found


def python_nodes(tree: Any, outer: NameScope | None = None) -> CodeNodes:
    """A module as nodes. `outer`: the names of the code that evaluates it."""
    code = CodeNodes(outer)
    _PythonNodes(code).block(tree.body, code.top)
    code.bind_arguments()
    return code


def _is_test(node: Any) -> bool:
    """Whether pytest calls a function, with a folder that it makes."""
    names = [getattr(each, "func", each) for each in node.decorator_list]
    fixture = any("fixture" in (getattr(each, "attr", ""), getattr(each, "id", "")) for each in names)
    return fixture or bool(node.name.startswith("test_"))
