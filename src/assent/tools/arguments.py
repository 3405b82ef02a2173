"""Arguments of a call against a tool's schema, read strictly: what the schema does not name is refused."""

from __future__ import annotations

from typing import Any

from assent.tools.tool import Given, Guarded, Problem

KINDS: dict[str, type] = {"string": str, "integer": int, "boolean": bool}


def schema(tool: Guarded) -> dict[str, object]:
    """The JSON schema of a tool's arguments."""
    return {
        "type": "object",
        "properties": tool.properties,
        "required": list(tool.required),
        "additionalProperties": False,
    }


def checked(tool: Guarded, given: object) -> Given:
    """The arguments, with nothing missing and nothing else. An argument that is null is absent. Raises Problem."""
    if not isinstance(given, dict) or not all(isinstance(key, str) for key in given):
        raise Problem(f"`{tool.name}` takes an object of arguments")
    found = {key: value for key, value in given.items() if value is not None}
    unknown = [key for key in found if key not in tool.properties]
    if unknown:
        raise Problem(f"`{tool.name}` has no argument `{unknown[0]}`; it takes {', '.join(tool.properties)}")
    missing = [key for key in tool.required if key not in found]
    if missing:
        raise Problem(f"`{tool.name}` needs `{missing[0]}`")
    for key, value in found.items():
        _check(tool.name, key, value, tool.properties[key])
    return found


def _check(tool: str, key: str, value: object, shape: dict[str, Any]) -> None:
    kind = shape["type"]
    right = isinstance(value, KINDS[kind]) and (kind == "boolean" or not isinstance(value, bool))
    if not right:
        raise Problem(f"`{key}` of `{tool}` is {'an' if kind == 'integer' else 'a'} {kind}")
    if isinstance(value, str):
        _whole(tool, key, value)
    low, high = shape.get("minimum"), shape.get("maximum")
    if isinstance(value, int) and ((low is not None and value < low) or (high is not None and value > high)):
        raise Problem(f"`{key}` of `{tool}` is between {low} and {high}")


def _whole(tool: str, key: str, value: str) -> None:
    """Half a character cannot be written, nor shown to a person as it is."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise Problem(f"`{key}` of `{tool}` holds half a character") from None
