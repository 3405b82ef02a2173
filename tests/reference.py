"""A slow evaluator of the six layers, written apart from the real one, to be compared with it on generated input.

It knows native effects on paths only, reads rules with `fnmatch`-like recursion and keeps no index."""

from __future__ import annotations

from collections.abc import Sequence

TABLE = {
    #            plan    default auto    full_auto yolo
    "look": ("allow", "allow", "allow", "allow", "allow"),
    "write-in": ("deny", "ask", "allow", "allow", "allow"),
    "delete-in": ("deny", "ask", "ask", "allow", "allow"),
    "out": ("deny", "ask", "ask", "allow", "allow"),
}
MODES = ("plan", "default", "auto", "full_auto", "yolo")
ORDER = ("allow", "ask", "deny")
SPEAKS = {"read": ("read",), "write": ("write",), "delete": ("delete",), "path": ("read", "write", "delete")}


def names_match(pattern: list[str], names: list[str], *, below: bool) -> bool:
    """Whether the pattern's names match a path's names (or, with `below`, a beginning of them)."""
    if not pattern:
        return below or not names
    head, rest = pattern[0], pattern[1:]
    if head == "**":
        if not rest:
            return True
        return any(names_match(rest, names[at:], below=below) for at in range(len(names) + 1))
    if not names:
        return rest == ["**"] and False
    return one_name(head, names[0]) and names_match(rest, names[1:], below=below)


def one_name(pattern: str, name: str) -> bool:
    if not pattern:
        return not name
    if pattern[0] == "*":
        return any(one_name(pattern[1:], name[at:]) for at in range(len(name) + 1))
    if not name:
        return False
    return pattern[0] in ("?", name[0]) and one_name(pattern[1:], name[1:])


def rule_matches(rule: str, operation: str, path: str, root: str, *, strict: bool) -> bool:
    tool, _, spec = rule.partition("(")
    spec = spec.rstrip(")")
    spoken = SPEAKS[tool]
    if operation not in spoken and not (strict and tool == "write" and operation == "delete"):
        return False
    if spec in ("", "*"):
        return True
    whole = spec if spec.startswith(("/", "**")) else f"{root}/{spec}"
    pattern = whole.strip("/").split("/")
    names = path.strip("/").split("/")
    if pattern[-1] == "**" and names_match(pattern[:-1], names, below=False):
        return True
    return names_match(pattern, names, below=strict)


def evaluate(
    operation: str,
    path: str,
    *,
    mode: str,
    root: str,
    deny: Sequence[str],
    ask: Sequence[str],
    allow: Sequence[str],
) -> str:
    """The outcome on one effect, for paths that neither the floor nor the shipped rules match."""
    inside = path == root or path.startswith(root + "/")
    row = "look" if operation == "read" else f"{operation}-in" if inside else "out"
    settled = TABLE[row][MODES.index(mode)]
    if mode != "yolo":
        if any(rule_matches(rule, operation, path, root, strict=True) for rule in deny):
            return "deny"
        if any(rule_matches(rule, operation, path, root, strict=True) for rule in ask):
            return "deny" if settled == "deny" else "ask"
    allowed = any(rule_matches(rule, operation, path, root, strict=False) for rule in allow)
    if allowed and not (mode == "plan" and settled == "deny"):
        return "allow"
    return settled
