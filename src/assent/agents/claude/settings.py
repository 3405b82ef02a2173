"""Claude Code's settings.json: a command or an HTTP hook for each event.

One entry that Claude Code does not accept drops the whole file, so entries hold known keys only. So does a comment."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from assent.agents.settings import holes
from assent.agents.settings.entry import NOTICE, Entry
from assent.agents.settings.holes import Hole
from assent.agents.settings.settings import JsonHooks

TOOL_EVENTS = frozenset({"PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure"})
MUST_BLOCK = frozenset({"PreToolUse", "ConfigChange"})  # of a failed permission request the dialog stays
OVER_HTTP = frozenset({"PreToolUse", "PermissionRequest"})


PROXIES = re.compile(r"(?i)(?:http|https|all)_proxy")
STRONG = ("CLAUDE_", "LD_", "DYLD_")  # these change what the hook is, or whether it is called
# Keys by which a settings file has programs run that no hook is asked about.
RUN_BY_ITSELF = (
    *("statusLine", "subagentStatusLine", "apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "gcpAuthRefresh"),
    *("otelHeadersHelper", "proxyAuthHelper", "fileSuggestion", "policyHelper"),
)


class ClaudeCodeSettings(JsonHooks):
    runtime = "claude"
    before = "PreToolUse"
    blocking = ("onFailure", "block")
    events = (
        "PreToolUse",
        "PermissionRequest",
        "ConfigChange",
        "PostToolUse",
        "PostToolUseFailure",
        "UserPromptSubmit",
        "Stop",
    )

    def install(self, text: str, entry: Entry) -> str:
        """Over HTTP a call tells neither the project's folder nor whether somebody attends, so a command tells it when
        the session starts."""
        more = ("SessionStart",) if entry.url and not entry.events else ()
        return super().install(text, entry.but(events=(*(entry.events or self.events), *more)))

    def entry(self, event: str, entry: Entry) -> object:
        hook: dict[str, object]
        if entry.url and event in OVER_HTTP:
            hook = {"type": "http", "url": entry.url, "timeout": entry.timeout}
            if entry.headers:
                hook |= {"headers": dict(entry.headers), "allowedEnvVars": list(entry.variables)}
        else:
            hook = {"type": "command", "command": entry.words[0], "args": list(entry.words[1:])}
            hook["timeout"] = entry.timeout
        if event in MUST_BLOCK:
            hook["onFailure"] = "block"
        if event == "PreToolUse":
            hook["statusMessage"] = NOTICE
        return {"matcher": "*", "hooks": [hook]} if event in TOOL_EVENTS else {"hooks": [hook]}

    def holes(self, text: str, *, http: bool = False) -> tuple[Hole, ...]:
        return tuple(_open(holes.objects(text), http))

    def brought(self, text: str) -> tuple[Hole, ...]:
        given = holes.objects(text)
        said = "runs a program of the project's choice, and no hook is asked"
        run = (Hole(f"`{key}` {said}", holes.LOOK) for key in RUN_BY_ITSELF if given.get(key))
        return (*run, *super().brought(text))

    def wanting(self, scope: str = "user") -> tuple[Hole, ...]:
        only = Hole(
            "a hook of a project can rewrite a call after it was allowed",
            "set `allowManagedHooksOnly` to true (`assent install claude --scope managed --harden` does)",
            key="allowManagedHooksOnly",
            value=True,
        )
        return (
            *((only,) if scope == "managed" else ()),
            Hole(
                "shell commands inside skills and slash commands fire no hook",
                "set `disableSkillShellExecution` to true (`assent install claude --harden` does)",
                key="disableSkillShellExecution",
                value=True,
            ),
        )


def _open(found: Mapping[str, object], http: bool) -> Iterator[Hole]:
    yield from holes.switched_off(found)
    permissions = found.get("permissions")
    mode = permissions.get("defaultMode") if isinstance(permissions, dict) else None
    if mode == "bypassPermissions":
        yield Hole("`permissions.defaultMode` is `bypassPermissions`: nothing but the hook asks", "choose `default`")
    if http and found.get("allowedHttpHookUrls") == []:
        yield Hole("`allowedHttpHookUrls` is empty: the HTTP hook is not called", "remove it", inert=True)
    environ = found.get("env")
    for name in environ if isinstance(environ, dict) else ():
        if holes.VARIABLES.fullmatch(name):
            yield Hole(f"`env` sets `{name}` for the hook", "remove it", inert=name.upper().startswith(STRONG))
        elif http and PROXIES.fullmatch(name):
            yield Hole(f"`env` sets `{name}`: the HTTP hook may not be reached", "set `NO_PROXY=127.0.0.1` beside it")


SETTINGS = ClaudeCodeSettings()
