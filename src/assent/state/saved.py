"""Deny rules that a person saved from an answer: `saved.toml` in the user's own folder.

The file is written by Assent and read like the user's own; a person may edit it too, but comments are not kept."""

from __future__ import annotations

import posixpath

from assent.contract import StoreError
from assent.state.files import locked, read, replace_text

FILE = "saved.toml"
HEAD = "# Deny rules that were saved from answers. Remove a line to drop a rule.\ndeny = [\n"
_LARGEST = 1024 * 1024


def path(state: str) -> str:
    return posixpath.join(state, FILE)


def add(state: str, rule: str, reason: str) -> None:
    """Save a deny rule, once. Raises StoreError if the file cannot be read or written."""
    with locked(state, FILE + ".lock"):
        known = _rules(state)
        if all(each["rule"] != rule for each in known):
            replace_text(path(state), _text([*known, {"rule": rule, "reason": reason}]))


def _text(rules: list[dict[str, str]]) -> str:
    import json

    lines = [f"  {{ rule = {json.dumps(each['rule'])}, reason = {json.dumps(each['reason'])} }},\n" for each in rules]
    return HEAD + "".join(lines) + "]\n"


def _rules(state: str) -> list[dict[str, str]]:
    try:
        import tomllib  # takes longer than a decision

        found = tomllib.loads(read(path(state), _LARGEST)[0].decode())
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise StoreError(f"`{path(state)}` cannot be read: {error}; repair it or remove it") from None
    rules = [each if isinstance(each, dict) else {"rule": each} for each in found.get("deny", [])]
    return [{"rule": str(each.get("rule", "")), "reason": str(each.get("reason", ""))} for each in rules]
