"""Whether Python code only reads `sys.path`, the list of places that modules come from.

The list is one object: whoever holds it under another name can change it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assent.effects.code.python_calls import Scope, name_of

if TYPE_CHECKING:
    Node = Any  # a node of the syntax tree: its fields depend on its kind

_COPIES = frozenset("print len list tuple sorted set repr str enumerate".split())


def reads_only(nodes: list[Node], node: Node, scope: Scope) -> bool:
    """Whether the list at a node is printed, copied, looped over or looked into, and nothing else."""
    return any(_reads(holder, node, scope) for holder in nodes)


def _reads(holder: Node, node: Node, scope: Scope) -> bool:
    kind = name_of(holder)
    if kind == "Call":
        func = holder.func
        if not any(arg is node for arg in holder.args):
            return False
        if name_of(func) == "Name":
            return func.id in _COPIES and func.id not in scope.bound and func.id not in scope.imported
        return name_of(func) == "Attribute" and func.attr == "join" and name_of(func.value) == "Constant"
    if kind in ("For", "comprehension"):
        return holder.iter is node
    if kind == "Subscript":
        return holder.value is node and name_of(holder.ctx) == "Load"
    if kind == "Compare":
        return any(other is node for other in holder.comparators)
    return kind == "FormattedValue" and holder.value is node
