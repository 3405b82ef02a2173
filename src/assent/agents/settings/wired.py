"""The hooks of ours in a runtime's settings, as the runtime would start them. Starts none."""

from __future__ import annotations

import json
import re
import tomllib

from assent.agents.settings import hooks
from assent.agents.settings.entry import calls_hook, is_ours, words_of
from assent.contract.errors import SettingsError
from assent.contract.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

COMMAND = re.compile(r"^const COMMAND = (\[.*\])$", re.MULTILINE)
SHELL = ("/bin/sh", "-c")
EVERYTHING = ("", "*", ".*")
TIMES = {"timeout": 1, "timeoutSec": 1, "timeout_seconds": 1}
# Keys of an entry that let calls run before, or without, its answer.
SPOILING = {
    "async": "lets the call run before the hook has answered",
    "asyncRewake": "lets the call run before the hook has answered",
    "once": "takes the hook away after the first call",
}
# The event before a tool call, which must be there; and those that a whole file of ours does not name.
BEFORE = {"claude": "PreToolUse", "codex": "PreToolUse", "qwen": "PreToolUse", "gemini": "BeforeTool"}
BEFORE |= {"cursor": "beforeShellExecution", "copilot": "preToolUse", "openharness": "pre_tool_use"}


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


def wired(runtime: str, text: str, file: str) -> tuple[Wired, ...]:
    """Our hooks in a settings text; raises SettingsError where it cannot be read."""
    match runtime:
        case "codex":
            return tuple(_codex(text))
        case "opencode":
            found = COMMAND.search(text)
            return (Wired("tool.execute.before", tuple(json.loads(found[1]))),) if found else ()
        case "cline":
            return (Wired("tool_call", (file,)),) if " hook cline" in text else ()
        case _:
            return tuple(_json(runtime, text))


def before(runtime: str, found: tuple[Wired, ...]) -> Wired | None:
    """The hook before a shell command."""
    wanted = BEFORE.get(runtime)
    return next((each for each in found if wanted in (None, each.event)), None)


def _json(runtime: str, text: str) -> Iterator[Wired]:
    for event, group in hooks.installed(text):
        inner = group.get("hooks") if isinstance(group, dict) else None
        matcher = group.get("matcher") if isinstance(group, dict) else None
        only = matcher if isinstance(matcher, str) and matcher not in EVERYTHING else ""
        for hook in inner if isinstance(inner, list) else [group]:
            if isinstance(hook, dict) and is_ours(hook):
                yield _hook(runtime, event, hook, only or str(hook.get("if") or ""))


def _hook(runtime: str, event: str, hook: dict[str, object], only: str) -> Wired:
    time = next((value for key in TIMES if isinstance(value := hook.get(key), int | float)), 0)
    seconds = time / 1000 if runtime == "gemini" else float(time)
    blocks = runtime != "claude" or hook.get("onFailure") == "block"
    blocks = blocks and (runtime != "openharness" or hook.get("block_on_failure") is True)
    url, headers = hook.get("url"), hook.get("headers")
    if isinstance(url, str):
        given = tuple((str(key), str(value)) for key, value in headers.items()) if isinstance(headers, dict) else ()
        return Wired(event, url=url, headers=given, timeout=seconds, blocks=blocks, only=only, spoils=_spoils(hook))
    command, args = str(hook.get("command") or hook.get("bash")), hook.get("args")
    words = (command, *map(str, args)) if isinstance(args, list) else (*SHELL, command)
    return Wired(event, words, timeout=seconds, blocks=blocks, only=only, spoils=_spoils(hook))


def _spoils(hook: dict[str, object]) -> str:
    return next((key for key in SPOILING if hook.get(key)), "")


def _codex(text: str) -> Iterator[Wired]:
    try:
        found = tomllib.loads(text).get("hooks", {})
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"not TOML: {error}") from None
    for event, groups in found.items() if isinstance(found, dict) else ():
        for group in groups if isinstance(groups, list) else ():
            for hook in group.get("hooks", []):
                if calls_hook(words_of(str(hook.get("command", "")))):
                    matcher = str(group.get("matcher", ""))
                    only = "" if matcher in EVERYTHING else matcher
                    seconds = float(hook.get("timeout", 0))
                    words = (*SHELL, str(hook["command"]))
                    yield Wired(event, words, timeout=seconds, only=only, spoils=_spoils(hook))
