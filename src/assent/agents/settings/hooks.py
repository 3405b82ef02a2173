"""Hooks in a settings file in JSON: `{"hooks": {EVENT: […]}}`, ours put in beside others and taken out again.

Knows the common shape; what an entry says is each runtime's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from assent.agents.settings import edits, jsonc
from assent.agents.settings.entry import is_ours
from assent.agents.settings.jsonc import Item, Node
from assent.contract import SettingsError

if TYPE_CHECKING:
    Found = tuple[tuple[Node, Item], ...]


def install(text: str, entries: Mapping[str, object]) -> str:
    """The settings with an entry for each event, in place of older ones of ours. Unchanged where they stand there."""
    if installed(text) == [(event, entry) for event, entry in entries.items()]:
        return text
    before = uninstall(text)
    out = before
    for event, entry in entries.items():
        out = _add(out, event, entry)
    _check(before, out)
    return out


def uninstall(text: str) -> str:
    """The settings without any entry of ours."""
    out = text
    while not is_blank(out) and (found := _last_of_ours(jsonc.parse(out))):
        out = _remove(out, found)
    return out


def installed(text: str) -> list[tuple[str, object]]:
    """The entries of ours, by event."""
    root = jsonc.parse("{}" if is_blank(text) else text)
    hooks = root.member("hooks") if root.is_object else None
    return [
        (str(event.key), group.node.value)
        for event in (hooks.node.items if hooks is not None and hooks.node.is_object else ())
        for group in (event.node.items if event.node.is_list else ())
        if is_ours(group.node.value) or any(is_ours(each) for each in _hooks_of(group.node.value))
    ]


def _hooks_of(group: object) -> list[object]:
    inner = group.get("hooks") if isinstance(group, dict) else None
    return inner if isinstance(inner, list) else []


def is_blank(text: str) -> bool:
    """Whether a file holds nothing at all, which programs read as no settings."""
    return not text.strip(edits.SPACES + "\ufeff")


def _add(text: str, event: str, entry: object) -> str:
    if is_blank(text):
        return text + edits.written(text, {"hooks": {event: [entry]}}, "") + edits.newline_of(text)
    root = jsonc.parse(text)
    if not root.is_object:
        raise SettingsError("the settings are not an object", line=jsonc.line_of(text, root.start))
    hooks = root.member("hooks")
    if hooks is None:
        return edits.append(text, root, {event: [entry]}, "hooks")
    if not hooks.node.is_object:
        raise SettingsError("`hooks` is not an object", line=jsonc.line_of(text, hooks.start))
    events = hooks.node.member(event)
    if events is None:
        return edits.append(text, hooks.node, [entry], event)
    if not events.node.is_list:
        raise SettingsError(f"`hooks.{event}` is not a list", line=jsonc.line_of(text, events.start))
    return edits.append(text, events.node, entry)


def _last_of_ours(root: Node) -> Found:
    """The way to the last entry of ours: each container on it with the item taken."""
    hooks = root.member("hooks") if root.is_object else None
    if hooks is None or not hooks.node.is_object:
        return ()
    for event in reversed(hooks.node.items):
        for group in reversed(event.node.items if event.node.is_list else ()):
            way: Found = ((root, hooks), (hooks.node, event), (event.node, group))
            if is_ours(group.node.value):
                return way
            inner = group.node.member("hooks") if group.node.is_object else None
            if inner is None or not inner.node.is_list:
                continue
            ours = [item for item in inner.node.items if is_ours(item.node.value)]
            if ours:
                rest = ((group.node, inner), (inner.node, ours[-1]))
                return way if len(inner.node.items) == 1 else (*way, *rest)
    return ()


def _remove(text: str, way: Found) -> str:
    """The text without the last item of a way, and without the containers that were made for it."""
    for container, item in reversed(way):
        if len(container.items) > 1 or not edits.made_for(text, container):
            return edits.without(text, container, item)
    root = way[0][0]
    return text[: root.start] + text[root.end :].removeprefix(edits.newline_of(text))


def _check(before: str, after: str) -> None:
    """What we would write must be read back with everything that was there."""
    kept = {} if is_blank(before) else jsonc.parse(before).value
    made = jsonc.parse(after).value
    if not edits.keeps(made, kept):
        raise SettingsError("the settings would not keep all that is in them; add the hook by hand")
