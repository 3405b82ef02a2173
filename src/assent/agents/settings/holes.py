"""Settings of a runtime that open a way around the hook, found in their text. Changes nothing.

`inert` holes switch the hook off; the others let some calls past it, or take part of its protection away."""

from __future__ import annotations

import re
import tomllib

from assent.agents.settings import hooks, jsonc
from assent.agents.settings.entry import is_ours
from assent.contract.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# What the environment of a hook must not be given by a settings file.
VARIABLES = re.compile(
    r"(?i)ASSENT_.*|LD_.*|DYLD_.*|PYTHON.*|PATH|BASH_ENV|ENV|CLAUDE_CONFIG_DIR|CLAUDE_CODE_SIMPLE|"
    r"CLAUDE_CODE_SAFE_MODE|CODEX_HOME|GEMINI_CLI_HOME|OPENCODE_PERMISSION"
)
PROXIES = re.compile(r"(?i)(?:http|https|all)_proxy")

STRONG = ("CLAUDE_", "LD_", "DYLD_")  # these change what the hook is, or whether it is called


class Hole(Value):
    """A way around. `key` and `value` are what closes it where one key does (`key` is `""` where none does)."""

    __slots__ = ("text", "fix", "inert", "key", "value")

    def __init__(self, text: str, fix: str, *, inert: bool = False, key: str = "", value: object = None) -> None:
        self.text = text
        self.fix = fix
        self.inert = inert
        self.key = key
        self.value = value


def holes(runtime: str, text: str, *, http: bool = False) -> tuple[Hole, ...]:
    """What the settings of a runtime leave open; raises SettingsError where they cannot be read."""
    if runtime == "codex":
        return tuple(_codex(text))
    if hooks.is_blank(text) or runtime in ("opencode", "cline", "cursor"):
        return ()
    found = jsonc.parse(text).value
    if not isinstance(found, dict):
        return ()
    match runtime:
        case "claude":
            return tuple(_claude(found, http))
        case "gemini":
            return tuple(_gemini(found))
        case _:
            return tuple(_switched_off(found))


def needed(runtime: str, scope: str, text: str) -> tuple[Hole, ...]:
    """The keys without which a project could switch a hook of the machine's settings off; raises SettingsError. They
    are always set."""
    if scope != "managed" or runtime not in ("gemini", "qwen"):
        return ()
    value: object
    if runtime == "qwen":
        key, value, said = "disableAllHooks", False, "a project's `disableAllHooks` switches hooks off"
    else:
        found = None if hooks.is_blank(text) else jsonc.parse(text).value
        given = found.get("hooksConfig") if isinstance(found, dict) else None
        value = {**(given if isinstance(given, dict) else {}), "enabled": True}
        key, said = "hooksConfig", "a project's `hooksConfig.enabled` switches hooks off"
    return (Hole(said, f"set `{key}` here", key=key, value=value),)


def wanting(runtime: str, scope: str = "user") -> tuple[Hole, ...]:
    """What a runtime leaves open unless its settings say otherwise."""
    if runtime != "claude":
        return ()
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


# Keys of Claude Code by which a settings file has programs run that no hook is asked about.
RUN_BY_ITSELF = (
    *("statusLine", "subagentStatusLine", "apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "gcpAuthRefresh"),
    *("otelHeadersHelper", "proxyAuthHelper", "fileSuggestion", "policyHelper"),
)
LOOK = "look at it before you start the program here"


def brought(runtime: str, text: str) -> tuple[Hole, ...]:
    """What a project's own settings have the program do without asking a hook; raises SettingsError."""
    if runtime == "codex" or hooks.is_blank(text):
        return ()
    found = jsonc.parse(text).value
    return tuple(_brought(runtime, found)) if isinstance(found, dict) else ()


def _brought(runtime: str, found: Mapping[str, object]) -> Iterator[Hole]:
    if runtime == "opencode":
        for key in ("plugin", "mcp", "command", "instructions"):
            if found.get(key):
                yield Hole(f"`{key}` of a project: opencode loads or starts it by itself", LOOK)
        return
    for key in RUN_BY_ITSELF if runtime == "claude" else ():
        if found.get(key):
            yield Hole(f"`{key}` runs a program of the project's choice, and no hook is asked", LOOK)
    listed = found.get("hooks")
    others = any(
        not is_ours(hook)
        for groups in (listed.values() if isinstance(listed, dict) else ())
        for group in (groups if isinstance(groups, list) else ())
        for hook in _hooks_in(group)
    )
    if others:
        yield Hole("`hooks` of a project run programs of its choice, and may change a call after ours allowed it", LOOK)
    if found.get("enableAllProjectMcpServers") is True or found.get("enabledMcpjsonServers"):
        yield Hole("MCP servers of the project are started without a question", LOOK)
    if found.get("mcpServers"):
        yield Hole("`mcpServers` of a project are started by the program itself", LOOK)
    if found.get("enabledPlugins") or found.get("extraKnownMarketplaces"):
        yield Hole("plugins of the project's choice bring hooks, servers and commands of their own", LOOK)


def _hooks_in(group: object) -> list[object]:
    inner = group.get("hooks") if isinstance(group, dict) else None
    return inner if isinstance(inner, list) else [group]


def reserved(runtime: str, text: str, *, managed: bool) -> tuple[Hole, ...]:
    """Whether the machine's settings take no hooks but their own. `managed`: ours is among them."""
    if managed:
        return ()
    fix = f"install it there too: `assent install {runtime} --scope managed`"
    if runtime == "codex":
        try:
            found: object = tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            return ()
        only = isinstance(found, dict) and found.get("allow_managed_hooks_only") is True
        return (Hole("`allow_managed_hooks_only`: other hooks are off", fix, inert=True),) if only else ()
    found = None if hooks.is_blank(text) else jsonc.parse(text).value
    if isinstance(found, dict) and found.get("allowManagedHooksOnly") is True:
        return (Hole("`allowManagedHooksOnly`: other hooks are off", fix, inert=True),)
    return ()


def variables(text: str) -> tuple[Hole, ...]:
    """What a file of variables sets for hooks: `NAME=value`, perhaps after `export`."""
    names = (
        line.strip().removeprefix("export ").partition("=")[0].strip() for line in text.splitlines() if "=" in line
    )
    return tuple(
        Hole(f"it sets `{name}` for the hook", "remove it", inert=name.upper().startswith(("LD_", "DYLD_")))
        for name in names
        if VARIABLES.fullmatch(name)
    )


def _switched_off(found: Mapping[str, object]) -> Iterator[Hole]:
    if found.get("disableAllHooks") is True:
        yield Hole(
            "`disableAllHooks` switches every hook off",
            "set it to false",
            inert=True,
            key="disableAllHooks",
            value=False,
        )


def _claude(found: Mapping[str, object], http: bool) -> Iterator[Hole]:
    yield from _switched_off(found)
    permissions = found.get("permissions")
    mode = permissions.get("defaultMode") if isinstance(permissions, dict) else None
    if mode == "bypassPermissions":
        yield Hole("`permissions.defaultMode` is `bypassPermissions`: nothing but the hook asks", "choose `default`")
    if http and found.get("allowedHttpHookUrls") == []:
        yield Hole("`allowedHttpHookUrls` is empty: the HTTP hook is not called", "remove it", inert=True)
    environ = found.get("env")
    for name in environ if isinstance(environ, dict) else ():
        if VARIABLES.fullmatch(name):
            yield Hole(f"`env` sets `{name}` for the hook", "remove it", inert=name.upper().startswith(STRONG))
        elif http and PROXIES.fullmatch(name):
            yield Hole(f"`env` sets `{name}`: the HTTP hook may not be reached", "set `NO_PROXY=127.0.0.1` beside it")


def _gemini(found: Mapping[str, object]) -> Iterator[Hole]:
    config = found.get("hooksConfig")
    if isinstance(config, dict):
        if config.get("enabled") is False:
            yield Hole("`hooksConfig.enabled` is false: every hook is off", "set it to true", inert=True)
        disabled = config.get("disabled")
        for name in disabled if isinstance(disabled, list) else ():
            if isinstance(name, str) and "assent" in name:
                yield Hole(f"`hooksConfig.disabled` names `{name}`", "take it out of the list", inert=True)


def _codex(text: str) -> Iterator[Hole]:
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    features = found.get("features")
    if isinstance(features, dict) and (features.get("hooks") is False or features.get("codex_hooks") is False):
        yield Hole("`features.hooks` is false: every hook is off", "remove it", inert=True)
    if found.get("sandbox_mode") == "danger-full-access" and found.get("approval_policy") == "never":
        yield Hole("Codex neither asks nor confines anything: the hook stands alone", "choose `workspace-write`")
