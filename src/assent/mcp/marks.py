"""The HTTP headers that repeat parts of a message, for servers that route by them. Sends nothing."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Any

from assent.contract.display import one_line
from assent.mcp.calls import VERSION
from assent.mcp.frames import INVALID, BadMessage, Body, Frame

NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
MARK = "x-mcp-header"  # in the schema of a tool's parameter
PLAIN = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}")
DEEPEST = 8
PARAMETER = "mcp-param-"  # how the headers begin that repeat an argument

Path = tuple[str, ...]


def encoded(value: str) -> str:
    """A value as a header can hold it."""
    if PLAIN.fullmatch(value) and not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    return f"=?base64?{base64.b64encode(value.encode('utf-8')).decode('ascii')}?="


def version(frame: Frame) -> str:
    """The protocol that a request says it is of; `""` where a handshake settled that."""
    meta = frame.params.get("_meta")
    found = meta.get(VERSION) if isinstance(meta, dict) else None
    return found if isinstance(found, str) and PLAIN.fullmatch(found) else ""


class Marks:
    """Knows the marked parameters of the tools that a server listed."""

    def __init__(self) -> None:
        self._tools: dict[str, dict[Path, str]] = {}

    def heard(self, asked: Frame, answer: Frame) -> None:
        """Take note of a list of tools."""
        result = answer.body.get("result")
        tools = result.get("tools") if asked.method == "tools/list" and isinstance(result, dict) else None
        for tool in tools if isinstance(tools, list) else ():
            if isinstance(tool, dict) and isinstance(tool.get("name"), str):
                self._tools[tool["name"]] = dict(_marked(tool.get("inputSchema"), ()))

    def headers(self, frame: Frame) -> dict[str, str]:
        """The headers of a message that is sent on."""
        found = {"Mcp-Method": encoded(frame.method)} if frame.method else {}
        name = frame.params.get(NAMED.get(frame.method, ""))
        if isinstance(name, str):
            found["Mcp-Name"] = encoded(name)
        if frame.method == "tools/call" and isinstance(name, str):
            for path, token in self._tools.get(name, {}).items():
                text = _text(_at(frame.params.get("arguments"), path))
                if text is not None:
                    found[f"Mcp-Param-{token}"] = encoded(text)
        return found


def repeated(frame: Frame, given: Mapping[str, str]) -> dict[str, str]:
    """Of the headers that a client gives, those that repeat an argument of its call; for a client that knows the marks
    of a tool where we do not. Raises BadMessage where one says something else: a server may go by it."""
    named = {name: value for name, value in given.items() if name.startswith(PARAMETER)}
    if not named or frame.method != "tools/call":
        return {}
    said = {encoded(text) for text in _texts(frame.params.get("arguments"))}
    for name, value in named.items():
        if value not in said:
            raise BadMessage(
                INVALID, f"the header `{one_line(name, 60)}` says what the call does not", frame.body["id"]
            )
    return named


def _texts(value: Any) -> Iterator[str]:
    """Every text, number and truth value in some arguments, as a header says it."""
    for inner in value.values() if isinstance(value, dict) else ():
        text = _text(inner)
        if text is not None:
            yield text
        if isinstance(inner, float) and inner.is_integer():
            yield str(int(inner))  # as most clients write it
        yield from _texts(inner)


def _marked(schema: Any, path: Path) -> Iterator[tuple[Path, str]]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or len(path) >= DEEPEST:
        return
    for name, inner in properties.items():
        mark = inner.get(MARK) if isinstance(inner, dict) else None
        if isinstance(mark, str) and TOKEN.fullmatch(mark):
            yield (*path, name), mark
        yield from _marked(inner, (*path, name))


def _at(given: Any, path: Path) -> Any:
    for name in path:
        given = given.get(name) if isinstance(given, dict) else None
    return given


def _text(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else None


def protocol_of(answer: Body) -> str:
    """The protocol that a handshake settled on."""
    result = answer.get("result")
    found = result.get("protocolVersion") if isinstance(result, dict) else None
    return found if isinstance(found, str) and PLAIN.fullmatch(found) and len(found) <= 64 else ""
