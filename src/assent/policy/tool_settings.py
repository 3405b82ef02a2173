"""Tools that a configuration file declares: which arguments name files or addresses, and the operation on them.

A declaration takes a question away, so a project's file may have none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assent.contract import PolicyError
from assent.contract.tools import ALIASES
from assent.policy.parse import NAME, did_you_mean
from assent.policy.rules import Origin

if TYPE_CHECKING:
    from assent.policy.document import Document

Declared = tuple[tuple[str, tuple[str, ...]], ...]  # operations, each with its arguments

# Key of a declaration → the operation on the targets in the arguments.
OPERATIONS = {
    "reads": "read",
    "lists": "list",
    "searches": "search",
    "writes": "write",
    "deletes": "delete",
    "fetches": "fetch",
}


def declared(tool: str, given: object) -> Declared:
    """The declaration of a tool from its table. Raises PolicyError (without a place)."""
    example = f'write `[tools."{tool}"]` and `reads = ["path"]` below'
    if NAME.fullmatch(tool) is None or "*" in tool:
        raise PolicyError(f"`{tool}` is not the name of one tool", suggestion='write `[tools."mcp__server__tool"]`')
    if tool.lower() in ALIASES:
        raise PolicyError(
            f"`{tool}` is a tool that Assent knows as `{ALIASES[tool.lower()]}`", suggestion="take the table out"
        )
    if not isinstance(given, dict) or not given:
        raise PolicyError(f"`tools.{tool}` says nothing of the tool", suggestion=example)
    for key in given:
        if key not in OPERATIONS:
            raise PolicyError(f"unknown key `{key}` of the tool `{tool}`", suggestion=did_you_mean(key, OPERATIONS))
    return tuple((OPERATIONS[key], _names(tool, key, value)) for key, value in sorted(given.items()))


def _names(tool: str, key: str, value: object) -> tuple[str, ...]:
    whole = isinstance(value, list) and value and all(isinstance(each, str) and each for each in value)
    if not isinstance(value, list) or not whole:
        raise PolicyError(
            f"`{key}` of the tool `{tool}` is a list of its arguments", suggestion=f'write `{key} = ["path"]`'
        )
    return tuple(value)


def combined(documents: Sequence[Document]) -> tuple[tuple[str, Declared, str], ...]:
    """The declarations of all files by the tool's name in lower case, with their sources; a later one replaces an
    earlier one, except for one of the managed policy."""
    found: dict[str, tuple[Declared, str]] = {}
    for managed in (False, True):
        for document in documents:
            found.update(document.tools if (document.origin is Origin.MANAGED) is managed else {})
    return tuple((name, *said) for name, said in found.items())
