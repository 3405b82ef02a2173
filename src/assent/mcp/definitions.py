"""The tools of a server as it listed them to one client: their definitions, and what the server says of them.

What counts is what the client was last told, since that is what its model reads."""

from __future__ import annotations

import json
from collections.abc import Mapping

from assent.contract import keep
from assent.mcp.frames import Body, Frame, FrameKind

LIST = "tools/list"
LIST_CHANGED = "notifications/tools/list_changed"
# What a model or a client acts on. `_meta` and `icons` are not compared.
COMPARED = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
LONGEST = 64 * 1024  # characters of a definition
MOST_TOOLS = 10_000
MOST_TEXT = 16 * 1024 * 1024  # characters of all definitions
MOST_PAGES = 1000  # to come
TWICE = "twice"  # states of a definition, see Call
UNKNOWN = "unknown"

Pages = tuple[dict[str, str], ...]  # of one list so far, each: name → definition


class ToolList:
    """INVARIANT: a tool once called destructive stays so, whatever the server lists later. `destructive` are such
    tools by name; the lists of several clients of a server share them."""

    def __init__(self, destructive: set[str] | None = None) -> None:
        self._pages: dict[str, Pages] = {}  # cursor → the list that it continues
        self._texts: dict[str, str] = {}
        self._problems: dict[str, str] = {}
        self._destructive: set[str] = set() if destructive is None else destructive
        self._size = 0
        self.is_stale = False  # the server has said that its tools changed, and has not listed them since

    def hear(self, message: Frame) -> None:
        """Take a notification of the server: after one of a changed list, no definition is known."""
        if message.kind is FrameKind.NOTIFICATION and message.method == LIST_CHANGED:
            self._texts, self._problems, self._size, self.is_stale = {}, {}, 0, True

    def learn(self, answer: Frame, asked: Frame | None) -> list[str]:
        """Save the definitions in an answer of the server; return the names in it.

        INVARIANT: an answer that no known request asked for can only tighten: the client may not have read it."""
        result = answer.body.get("result")
        tools = result.get("tools") if isinstance(result, dict) else None
        if not isinstance(result, dict) or not isinstance(tools, list):
            return []
        found = [(str(each["name"]), each) for each in tools if isinstance(each, dict) and _is_name(each.get("name"))]
        for name, tool in found:
            if len(self._destructive) < MOST_TOOLS and _annotations(tool).get("destructiveHint") is True:
                self._destructive.add(name)
        if asked is None or asked.method != LIST or asked.key != answer.key:
            return []
        self._page(found, asked.params.get("cursor"), result.get("nextCursor"))
        return [name for name, _ in found]

    def _page(self, found: list[tuple[str, Body]], cursor: object, following: object) -> None:
        """One page of a list. `cursor` is the one that it was asked by, `following` that of the next page."""
        before = self._pages.get(cursor, ()) if isinstance(cursor, str) else ()
        if not before:
            self.is_stale = False
        page: dict[str, str] = {}
        for name, tool in found:
            text = canonical(tool)
            twice = name in page or any(name in each for each in before)
            page[name] = text
            self._save(name, text, TWICE if twice else UNKNOWN if len(text) > LONGEST else "")
        if isinstance(following, str):
            keep(self._pages, following, (*before, page)[-MOST_PAGES:], MOST_PAGES)

    def _save(self, name: str, text: str, problem: str) -> None:
        kept = "" if problem else text
        size = self._size + len(kept) - len(self._texts.get(name, ""))
        if (name not in self._texts and len(self._texts) >= MOST_TOOLS) or size > MOST_TEXT:
            kept, problem = "", UNKNOWN
            size = self._size - len(self._texts.get(name, ""))
        self._size = size
        if name in self._texts or len(self._texts) < MOST_TOOLS:
            self._texts[name], self._problems[name] = kept, problem

    def text(self, name: object) -> tuple[str, str]:
        """The definition of a tool as JSON, and the state of it: TWICE if it is listed twice, UNKNOWN if it is not
        known."""
        if not isinstance(name, str) or name not in self._texts:
            return "", UNKNOWN
        return self._texts[name], self._problems[name]

    def annotations(self, name: object) -> dict[str, object]:
        """What the server says of a tool. One whose definition is not known can only be called destructive."""
        text, _ = self.text(name)
        found = dict(_annotations(json.loads(text))) if text else {}
        return found | ({"destructiveHint": True} if name in self._destructive else {})


def canonical(tool: Body) -> str:
    """A definition as JSON that does not depend on the order of its keys."""
    return json.dumps({key: tool[key] for key in COMPARED if key in tool}, sort_keys=True, separators=(",", ":"))


def _is_name(name: object) -> bool:
    return isinstance(name, str)


def _annotations(tool: object) -> Mapping[str, object]:
    found = tool.get("annotations") if isinstance(tool, dict) else None
    return found if isinstance(found, dict) else {}
