"""Path objects in Python code: whether a method that changes files is one of a path, and of which.

Values have no types here, so where `pathlib` is in play a method that both a path and a text have (`replace`) counts as
the path's, unless what it is called on is surely a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assent.effects.code.python_calls import METHODS, Scope, name_of

if TYPE_CHECKING:
    Node = Any  # a node of the syntax tree: its fields depend on its kind

_TOUCHES = frozenset(METHODS) | frozenset(
    """glob rglob walk rename replace chmod lchmod symlink_to hardlink_to link_to open copy copy_into move move_into
    lstat samefile readlink owner group resolve expanduser home cwd""".split()
)
_OF_TEXTS = frozenset(
    """read readline read_text read_bytes strip lstrip rstrip join lower upper title decode encode format removeprefix
    removesuffix zfill ljust rjust""".split()
)  # no path has them, or what they return is a text
_TEXTS = frozenset({"re.sub", "json.dumps", "textwrap.dedent", "textwrap.indent", "html.escape", "html.unescape"})


class Paths:
    """Tells texts from what may be a path."""

    __slots__ = ("_assigned", "_own", "scope")

    def __init__(self, nodes: list[Node], scope: Scope) -> None:
        self.scope = scope
        self._assigned: dict[str, list[Node]] = {}
        # Whether the code makes attributes of its own: then a method's name says nothing of what it returns.
        self._own = "collections" in scope.modules
        for node in nodes:
            kind = name_of(node)
            if kind == "ClassDef" or (kind == "Attribute" and name_of(node.ctx) != "Load"):
                self._own = True
            elif kind == "Assign" and len(node.targets) == 1 and name_of(node.targets[0]) == "Name":
                self._assigned.setdefault(node.targets[0].id, []).append(node.value)

    def harmless(self, node: Node, call: Node | None) -> bool:
        """Whether an attribute of a value does nothing to a file, or only what is on record."""
        if node.attr not in _TOUCHES:
            return True
        if node.attr in ("replace", "copy", "group") and self.is_text(node.value):
            return True
        return node.attr in METHODS and call is not None and self.scope.text(node.value) is not None

    def is_text(self, node: Node, assumed: frozenset[str] = frozenset()) -> bool:
        """Whether an expression is a text or bytes, whatever the values in it are."""
        kind = name_of(node)
        if kind == "Constant":
            return isinstance(node.value, (str, bytes))
        if kind == "JoinedStr":
            return True
        if kind == "BinOp" and name_of(node.op) in ("Add", "Mod"):
            return not self._own and self.is_text(node.left, assumed)
        if kind == "Subscript":
            return name_of(node.slice) == "Slice" and self.is_text(node.value, assumed)
        if kind == "Name":
            return node.id in assumed or self._is_text_name(node.id, assumed | {node.id})
        if kind != "Call" or len(assumed) > 50:
            return False
        if name_of(node.func) == "Name":
            return node.func.id == "str" and "str" not in self.scope.bound and "str" not in self.scope.imported
        if name_of(node.func) != "Attribute":
            return False
        path = self.scope.path(node.func)
        if path is not None:
            return path in _TEXTS
        if self._own:
            return False
        return node.func.attr in _OF_TEXTS or (node.func.attr == "replace" and self.is_text(node.func.value, assumed))

    def _is_text_name(self, name: str, assumed: frozenset[str]) -> bool:
        bound = self._assigned.get(name, [])
        if not bound or name in self.scope.imported or len(bound) != self.scope.counts.get(name):
            return False
        return all(self.is_text(value, assumed) for value in bound)
