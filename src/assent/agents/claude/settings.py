"""Claude Code's settings.json: a command or an HTTP hook for each event.

One entry that Claude Code does not accept makes it drop the whole file, so entries hold known keys only. So does a
comment."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assent.agents.settings import INSPECT, VARIABLES, Hole, JsonHooks, hooks, jsonc
from assent.agents.settings.entry import NOTICE, HookEntry

TOOL_EVENTS = frozenset({"PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure"})
MUST_BLOCK = frozenset({"PreToolUse", "ConfigChange"})  # after a failed permission request the dialog stays
OVER_HTTP = frozenset({"PreToolUse", "PermissionRequest"})
PROXIES = re.compile(r"(?i)(?:http|https|all)_proxy")
STRONG = ("CLAUDE_", "LD_", "DYLD_")  # these change the hook, or whether it is called
# Keys of a settings file that run programs without asking a hook.
RUN_BY_ITSELF = (
    *("statusLine", "subagentStatusLine", "apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "gcpAuthRefresh"),
    *("otelHeadersHelper", "proxyAuthHelper", "fileSuggestion", "policyHelper"),
)


class ClaudeCodeSettings(JsonHooks):
    def install(self, text: str, entry: HookEntry) -> str:
        """An HTTP call carries neither the project's folder nor whether somebody attends, so a command sends them when
        the session starts."""
        more = ("SessionStart",) if entry.url and not entry.events else ()
        events = (*(entry.events or self.events), *more)
        return hooks.install(text, {event: self.entry(event, entry) for event in events})

    def entry(self, event: str, entry: HookEntry) -> object:
        hook: dict[str, object] = {"type": "command", "command": entry.words[0], "args": list(entry.words[1:])}
        if entry.url and event in OVER_HTTP:
            hook = {"type": "http", "url": entry.url}
        hook["timeout"] = entry.timeout
        if "url" in hook and entry.headers:
            hook |= {"headers": dict(entry.headers), "allowedEnvVars": list(entry.variables)}
        if event in MUST_BLOCK:
            hook["onFailure"] = "block"
        if event == "PreToolUse":
            hook["statusMessage"] = NOTICE
        return {"matcher": "*", "hooks": [hook]} if event in TOOL_EVENTS else {"hooks": [hook]}

    def holes(self, text: str, *, http: bool = False) -> tuple[Hole, ...]:
        return (*super().holes(text), *_open(jsonc.objects(text), http))

    def brought(self, text: str) -> tuple[Hole, ...]:
        given, runs = jsonc.objects(text), "runs a program of the project's choice, and no hook is asked"
        found = (Hole(f"`{key}` {runs}", INSPECT) for key in RUN_BY_ITSELF if given.get(key))
        return (*found, *super().brought(text))


def _open(found: dict[str, object], http: bool) -> Iterator[Hole]:
    permissions = found.get("permissions")
    if isinstance(permissions, dict) and permissions.get("defaultMode") == "bypassPermissions":
        yield Hole("`permissions.defaultMode` is `bypassPermissions`: nothing but the hook asks", "choose `default`")
    if http and found.get("allowedHttpHookUrls") == []:
        yield Hole("`allowedHttpHookUrls` is empty: the HTTP hook is not called", "remove it", inert=True)
    environ = found.get("env")
    for name in environ if isinstance(environ, dict) else ():
        if VARIABLES.fullmatch(name):
            yield Hole(f"`env` sets `{name}` for the hook", "remove it", inert=name.upper().startswith(STRONG))
        elif http and PROXIES.fullmatch(name):
            yield Hole(f"`env` sets `{name}`: the HTTP hook may not be reached", "set `NO_PROXY=127.0.0.1` beside it")


SETTINGS = ClaudeCodeSettings("claude")
