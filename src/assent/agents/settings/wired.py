"""The hooks of ours in a runtime's settings, as the runtime would start them. Starts none."""

from __future__ import annotations

from collections.abc import Iterator

from assent.agents.settings import hooks
from assent.agents.settings.entry import is_ours
from assent.contract import Value

SHELL = ("/bin/sh", "-c")
EVERYTHING = ("", "*", ".*")
TIMES = {"timeout": 1, "timeoutSec": 1, "timeout_seconds": 1}
# Keys of an entry that let calls run before, or without, its answer.
SPOILING = {
    "async": "lets the call run before the hook has answered",
    "asyncRewake": "lets the call run before the hook has answered",
    "once": "takes the hook away after the first call",
}


class Wired(Value):
    """One hook: the words to start it with, or where it is asked over HTTP. `timeout` is in seconds, 0 where none.

    `blocks` says that the runtime blocks where it breaks, `only` for which tools it is called (`""`: for all), `spoils`
    which key in its entry takes its force (`""`: none)."""

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
        """Why calls run that it has not allowed; `""` where none do."""
        if self.spoils:
            return f"`{self.spoils}` in its entry {SPOILING[self.spoils]}"
        if self.only:
            return f"the hook is called for `{self.only}` alone"
        return "" if self.blocks else "a hook that breaks would let the call run"


def in_json(text: str, *, unit: float = 1, blocking: tuple[str, object] | None = None) -> Iterator[Wired]:
    """Our hooks in settings with hooks by event. A time there counts `unit` seconds; `blocking` is the key, with its
    value, by which the program blocks where a hook breaks (None: it needs none)."""
    for event, group in hooks.installed(text):
        inner = group.get("hooks") if isinstance(group, dict) else None
        matcher = group.get("matcher") if isinstance(group, dict) else None
        only = matcher if isinstance(matcher, str) and matcher not in EVERYTHING else ""
        for hook in inner if isinstance(inner, list) else [group]:
            if isinstance(hook, dict) and is_ours(hook):
                yield _hook(event, hook, only or str(hook.get("if") or ""), unit, blocking)


def _hook(event: str, hook: dict[str, object], only: str, unit: float, blocking: tuple[str, object] | None) -> Wired:
    time = next((value for key in TIMES if isinstance(value := hook.get(key), int | float)), 0)
    seconds = float(time * unit)
    blocks = blocking is None or hook.get(blocking[0]) == blocking[1]
    url, headers = hook.get("url"), hook.get("headers")
    if isinstance(url, str):
        given = tuple((str(key), str(value)) for key, value in headers.items()) if isinstance(headers, dict) else ()
        return Wired(event, url=url, headers=given, timeout=seconds, blocks=blocks, only=only, spoils=spoils(hook))
    command, args = str(hook.get("command") or hook.get("bash")), hook.get("args")
    words = (command, *map(str, args)) if isinstance(args, list) else (*SHELL, command)
    return Wired(event, words, timeout=seconds, blocks=blocks, only=only, spoils=spoils(hook))


def spoils(hook: dict[str, object]) -> str:
    return next((key for key in SPOILING if hook.get(key)), "")
