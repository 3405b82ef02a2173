"""Hooks in a settings file in JSON, `{"hooks": {EVENT: […]}}`: ours added next to others, removed, and found again.

Handles the common form; entries differ by program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assent.agents.settings import jsonc
from assent.agents.settings.entry import is_ours
from assent.agents.settings.jsonc import Item, JsonNode
from assent.contract import SettingsError, Value

SHELL = ("/bin/sh", "-c")
EVERYTHING = ("", "*", ".*")
TIMES = ("timeout", "timeoutSec", "timeout_seconds")
# Keys of an entry that let calls run before, or without, its answer.
SPOILING = {
    "async": "lets the call run before the hook has answered",
    "asyncRewake": "lets the call run before the hook has answered",
    "once": "removes the hook after the first call",
}


def install(text: str, entries: Mapping[str, object]) -> str:
    """The settings with an entry for each event, in place of older ones of ours. Unchanged if they exist."""
    if installed(text) == list(entries.items()):
        return text
    before = out = uninstall(text)
    for event, entry in entries.items():
        out = _add(out, event, entry)
    if not jsonc.keeps(jsonc.parse(out).value, jsonc.parse(before).value):
        raise SettingsError("the settings would not keep all that is in them; add the hook by hand")
    return out


def uninstall(text: str) -> str:
    while path := _last_of_ours(jsonc.parse(text)):
        text = _remove(text, path)
    return text


def installed(text: str) -> list[tuple[str, object]]:
    hooks = jsonc.parse(text).member("hooks")
    return [
        (str(event.key), group.node.value)
        for event in (hooks.node.items if hooks is not None and hooks.node.is_object else ())
        for group in (event.node.items if event.node.is_list else ())
        if any(map(is_ours, (group.node.value, *hooks_in(group.node.value))))
    ]


def hooks_in(group: object) -> list[object]:
    """The hooks of a group; a group without such a list is one hook itself."""
    inner = group.get("hooks") if isinstance(group, dict) else None
    return inner if isinstance(inner, list) else [group]


def _add(text: str, event: str, entry: object) -> str:
    if jsonc.is_blank(text):
        return text + jsonc.written(text, {"hooks": {event: [entry]}}, "") + jsonc.newline_of(text)
    root = jsonc.parse(text)
    if not root.is_object:
        raise SettingsError("the settings are not an object", line=jsonc.line_of(text, root.start))
    hooks = root.member("hooks")
    if hooks is None:
        return jsonc.append(text, root, {event: [entry]}, "hooks")
    if not hooks.node.is_object:
        raise SettingsError("`hooks` is not an object", line=jsonc.line_of(text, hooks.start))
    events = hooks.node.member(event)
    if events is None:
        return jsonc.append(text, hooks.node, [entry], event)
    if not events.node.is_list:
        raise SettingsError(f"`hooks.{event}` is not a list", line=jsonc.line_of(text, events.start))
    return jsonc.append(text, events.node, entry)


def _last_of_ours(root: JsonNode) -> tuple[tuple[JsonNode, Item], ...]:
    """The path to the last entry of ours: each container on it with the item taken."""
    hooks = root.member("hooks")
    if hooks is None or not hooks.node.is_object:
        return ()
    for event in reversed(hooks.node.items):
        for group in reversed(event.node.items if event.node.is_list else ()):
            path = ((root, hooks), (hooks.node, event), (event.node, group))
            inner = group.node.member("hooks")
            if is_ours(group.node.value):
                return path
            for item in reversed(inner.node.items if inner is not None and inner.node.is_list else ()):
                if is_ours(item.node.value):
                    assert inner is not None
                    return path if len(inner.node.items) == 1 else (*path, (group.node, inner), (inner.node, item))
    return ()


def _remove(text: str, path: tuple[tuple[JsonNode, Item], ...]) -> str:
    """The text without the last item of a path, and without the containers that were created for it."""
    for container, item in reversed(path):
        if len(container.items) > 1 or not jsonc.made_for(text, container):
            return jsonc.without(text, container, item)
    root = path[0][0]
    return text[: root.start] + text[root.end :].removeprefix(jsonc.newline_of(text))


# ---------------------------------------------------------------- as the program would start them


class Wired(Value):
    """One hook: the words to start it with, or its URL. `timeout` is in seconds, 0 if none.

    `blocks`: the program blocks if the hook breaks; `only`: the tools for which it is called (`""`: all); `spoils`: the
    key in its entry that makes it ineffective (`""`: none)."""

    __slots__ = ("event", "words", "url", "headers", "timeout", "blocks", "only", "spoils")

    def __init__(
        self,
        event: str,
        words: tuple[str, ...] = (),
        *,
        url: str = "",
        headers: tuple[tuple[str, str], ...] = (),
        timeout: float = 0,
        blocks: bool = True,
        only: str = "",
        spoils: str = "",
    ) -> None:
        self.event = event
        self.words = words
        self.url = url
        self.headers = headers
        self.timeout = timeout
        self.blocks = blocks
        self.only = only
        self.spoils = spoils

    @property
    def weakness(self) -> str:
        """Why calls may run without its allow; `""` if none do."""
        if self.spoils:
            return f"`{self.spoils}` in its entry {SPOILING[self.spoils]}"
        if self.only:
            return f"the hook is called for `{self.only}` alone"
        return "" if self.blocks else "a hook that breaks would let the call run"


def wired(text: str, *, unit: float, blocking: tuple[str, object] | None) -> Iterator[Wired]:
    """Our hooks in settings with hooks by event. A time there counts `unit` seconds; `blocking` is the key, with its
    value, that makes the program block if a hook breaks (None: it needs none)."""
    for event, group in installed(text):
        for hook in hooks_in(group):
            if isinstance(hook, dict) and is_ours(hook):
                blocks = blocking is None or hook.get(blocking[0]) == blocking[1]
                yield one(event, group, hook, unit=unit, blocks=blocks)


def one(event: str, group: object, hook: dict[str, object], *, unit: float = 1, blocks: bool = True) -> Wired:
    matcher = group.get("matcher") if isinstance(group, dict) else None
    only = matcher if isinstance(matcher, str) and matcher not in EVERYTHING else str(hook.get("if") or "")
    seconds = float(next((value for key in TIMES if isinstance(value := hook.get(key), int | float)), 0) * unit)
    spoils = next((key for key in SPOILING if hook.get(key)), "")
    url, headers = hook.get("url"), hook.get("headers")
    if isinstance(url, str):
        given = tuple((str(key), str(value)) for key, value in headers.items()) if isinstance(headers, dict) else ()
        return Wired(event, url=url, headers=given, timeout=seconds, blocks=blocks, only=only, spoils=spoils)
    command, args = str(hook.get("command") or hook.get("bash")), hook.get("args")
    words = (command, *map(str, args)) if isinstance(args, list) else (*SHELL, command)
    return Wired(event, words, timeout=seconds, blocks=blocks, only=only, spoils=spoils)
