"""Settings of a runtime that open a way around the hook, found in their text. Changes nothing.

`inert` holes switch the hook off; the others let some calls past it, or take part of its protection away."""

from __future__ import annotations

import re
import tomllib

from assent.adapters.settings import hooks, jsonc
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


def wanting(runtime: str) -> tuple[Hole, ...]:
    """What a runtime leaves open unless its user's settings say otherwise."""
    if runtime != "claude":
        return ()
    return (
        Hole(
            "shell commands inside skills and slash commands fire no hook",
            "set `disableSkillShellExecution` to true (`assent install claude --harden` does)",
            key="disableSkillShellExecution",
            value=True,
        ),
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
        if isinstance(disabled, list) and "assent" in disabled:
            yield Hole("`hooksConfig.disabled` names `assent`", "take it out of the list", inert=True)


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
