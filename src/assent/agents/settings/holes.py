"""Settings of a runtime that open a way around the hook: what is the same in several programs. Changes nothing.

`inert` holes switch the hook off; the others let some calls past it, or take part of its protection away."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from assent.agents import known
from assent.agents.settings import hooks, jsonc
from assent.agents.settings.entry import is_ours
from assent.contract import Value

# What the environment of a hook must not be given by a settings file.
VARIABLES = re.compile(
    rf"(?i)ASSENT_.*|LD_.*|DYLD_.*|PYTHON.*|PATH|BASH_ENV|ENV|{'|'.join(known.joined('environment', 'elsewhere'))}"
)
LOOK = "look at it before you start the program here"


class Hole(Value):
    """A way around. `key` and `value` are what closes it where one key does (`key` is `""` where none does)."""

    __slots__ = ("text", "fix", "inert", "key", "value")

    def __init__(self, text: str, fix: str, *, inert: bool = False, key: str = "", value: object = None) -> None:
        self.text = text
        self.fix = fix
        self.inert = inert
        self.key = key
        self.value = value


def objects(text: str) -> Mapping[str, object]:
    """The object that settings in JSON are; an empty one for anything else. Raises SettingsError."""
    found = None if hooks.is_blank(text) else jsonc.parse(text).value
    return found if isinstance(found, dict) else {}


def switched_off(found: Mapping[str, object]) -> Iterator[Hole]:
    if found.get("disableAllHooks") is True:
        yield Hole(
            "`disableAllHooks` switches every hook off",
            "set it to false",
            inert=True,
            key="disableAllHooks",
            value=False,
        )


def brought(found: Mapping[str, object]) -> Iterator[Hole]:
    """What a project's own settings have a program do without asking a hook."""
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


def only_managed(found: Mapping[str, object], key: str, runtime: str) -> tuple[Hole, ...]:
    """Whether the machine's settings take no hooks but their own, by a key."""
    fix = f"install it there too: `assent install {runtime} --scope managed`"
    return (Hole(f"`{key}`: other hooks are off", fix, inert=True),) if found.get(key) is True else ()


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
