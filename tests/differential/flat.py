"""The simple commands of a tree, at any depth, as their source text: ours and shfmt's, to be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from assent.contract import Value, fields
from assent.effects.shell.tree import Assignment, Brace, Script, Simple

Record = tuple[tuple[str, ...], tuple[str, ...]]
"""The assignments and words of a simple command in the order of the source, and its redirects."""


def ours(script: Script, text: str) -> Counter[Record]:
    """The simple commands that our reader sees, at any depth."""
    found: Counter[Record] = Counter()
    for simple in simples(script):
        tokens = sorted(
            [(item.start, _assigned(item, text)) for item in simple.assignments]
            + [(item.start, item.text) for item in simple.words]
        )
        redirects = [f"{item.fd}{item.op}{item.target.text}" for item in simple.redirects]
        found[_record([token for _, token in tokens], redirects)] += 1
    return found


def _assigned(item: Assignment, text: str) -> str:
    if item.value is None:
        return text[item.start : item.end]
    subscript = f"[{item.subscript.text}]" if item.subscript is not None else ""
    return f"{item.name}{subscript}{'+' if item.append else ''}={item.value.text}"


def simples(node: object) -> Iterator[Simple]:
    """Every simple command in the tree, with those in substitutions."""
    if isinstance(node, Simple):
        yield node
    if isinstance(node, Value):
        for name in fields(type(node)):
            yield from simples(getattr(node, name))
    elif isinstance(node, tuple):
        for item in node:
            yield from simples(item)


def lines(script: Script) -> list[str]:
    """The assignments and words of each simple command as bash prints them: with one blank between them. Those that
    bash reprints (substitutions) or decodes are left out, and those from which it takes continued lines."""
    return [line for simple in simples(script) if (line := _line(simple))]


def _line(simple: Simple) -> str:
    pieces = [(item.start, _printed(item)) for item in simple.assignments]
    pieces += [(item.start, item.text) for item in simple.words]
    line = " ".join(piece for _, piece in sorted(pieces))
    return "" if any(sign in line for sign in ("$(", "<(", ">(", "$'", '$"', "`", "\\\n", "\n")) else line


def _printed(item: Assignment) -> str:
    start = (
        f"{item.name}{f'[{item.subscript.text}]' if item.subscript is not None else ''}{'+' if item.append else ''}="
    )
    if item.value is not None:
        return start + item.value.text
    return f"{start}({' '.join(word.text for word in item.items or ())})"


def theirs(tree: dict[str, Any], text: str) -> Counter[Record]:
    """The simple commands that shfmt sees, at any depth."""
    raw = text.encode("utf-8", "surrogateescape")
    found: Counter[Record] = Counter()
    for statement in _statements(tree):
        command = statement.get("Cmd")
        redirects = [_redirect(item, raw) for item in statement.get("Redirs", ())]
        if command is None:
            found[_record([], redirects)] += 1
        elif command["Type"] == "CallExpr":
            tokens = [_slice(item, raw) for item in (*command.get("Assigns", ()), *command.get("Args", ()))]
            found[_record(tokens, redirects)] += 1
        elif command["Type"] == "DeclClause":
            tokens = [command["Variant"]["Value"], *(_slice(item, raw) for item in command.get("Args", ()))]
            found[_record(tokens, redirects)] += 1
        elif command["Type"] == "LetClause":
            tokens = ["let", *(_slice(item, raw) for item in command.get("Exprs", ()))]
            found[_record(tokens, redirects)] += 1
    return found


def _statements(node: object) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        if "Cmd" in node or "Redirs" in node:
            yield node
        for value in node.values():
            yield from _statements(value)
    elif isinstance(node, list):
        for item in node:
            yield from _statements(item)


def _slice(node: dict[str, Any], raw: bytes) -> str:
    return raw[node["Pos"]["Offset"] : node["End"]["Offset"]].decode("utf-8", "surrogateescape")


def _redirect(node: dict[str, Any], raw: bytes) -> str:
    number = node["N"]["Value"] if "N" in node else ""
    return f"{number}{node['Op']}{_slice(node['Word'], raw)}"


def _record(tokens: list[str], redirects: list[str]) -> Record:
    """Continued lines are left out: their position in a word does not matter."""
    return tuple(one.replace("\\\n", "") for one in tokens), tuple(one.replace("\\\n", "") for one in redirects)


def has_braces(node: object) -> bool:
    """Whether braces are expanded anywhere, so that what is in them is seen several times."""
    if isinstance(node, Brace):
        return True
    if isinstance(node, Value):
        return any(has_braces(getattr(node, name)) for name in fields(type(node)))
    return isinstance(node, tuple) and any(has_braces(item) for item in node)
