"""What stands around an installation: a program's other settings, as it would join them, and what they do to the hook.

Reads files; judges their text by `holes`. Starts nothing and changes nothing."""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Iterator

from assent.agents.settings import holes
from assent.agents.settings.holes import Hole
from assent.contract.errors import AssentError
from assent.engine import configure
from assent.hook import settings_file

# Files beside the one with the hook, by whose they are. `~` is the home folder, a relative path is in the project.
PROJECT = {
    "claude": (".claude/settings.json", ".claude/settings.local.json"),
    "codex": (".codex/config.toml",),
    "gemini": (".gemini/settings.json",),
    "qwen": (".qwen/settings.json",),
    "copilot": (".github/copilot/settings.json",),
    "opencode": ("opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"),
}
USER = {
    "claude": ("~/.claude/settings.json",),
    "codex": ("~/.codex/config.toml",),
    "gemini": ("~/.gemini/settings.json",),
    "qwen": ("~/.qwen/settings.json",),
    "copilot": ("~/.copilot/settings.json", "~/.copilot/config.json"),
}
MACHINE = {
    "claude": ("/etc/claude-code/managed-settings.json", "/etc/claude-code/managed-settings.d/*.json"),
    "codex": ("/etc/codex/config.toml", "/etc/codex/managed_config.toml", "/etc/codex/requirements.toml"),
    "gemini": ("/etc/gemini-cli/settings.json", "/etc/gemini-cli/system-defaults.json"),
}
# Files with variables that a program takes into its environment, from the project's folder upwards.
VARIABLES = {"gemini": (".gemini/.env", ".env"), "qwen": (".qwen/.env", ".env")}
# Where a project's MCP servers stand that a program starts.
SERVERS = {"claude": ".mcp.json", "copilot": ".mcp.json", "cursor": ".cursor/mcp.json"}


def around(runtime: str, here: configure.Place, *, http: bool, scopes: frozenset[str]) -> Iterator[tuple[str, Hole]]:
    """What other settings do to a hook that is installed in some scopes, each with its file."""
    for path in _files(PROJECT.get(runtime, ()), here):
        yield from _found(path, lambda text: (*holes.holes(runtime, text, http=http), *holes.brought(runtime, text)))
    more = () if "user" in scopes else USER.get(runtime, ())
    for path in _files(more, here):
        yield from _found(path, lambda text: holes.holes(runtime, text, http=http))
    managed = "managed" in scopes
    for path in _files(MACHINE.get(runtime, ()), here):
        yield from _found(
            path, lambda text: (*holes.holes(runtime, text, http=http), *holes.reserved(runtime, text, managed=managed))
        )
    yield from _variables(runtime, here)
    yield from _servers(runtime, here)
    if runtime == "gemini" and not scopes & {"extension", "managed"}:
        yield from _trust(here)


def _files(places: tuple[str, ...], here: configure.Place) -> Iterator[str]:
    for place in places:
        yield from sorted(glob.glob(settings_file.expanded(place, here.home, here.project)))


def _found(path: str, look: object) -> Iterator[tuple[str, Hole]]:
    assert callable(look)
    try:
        found = look(settings_file.text_of(path) or "")
    except AssentError as error:
        yield path, Hole(f"cannot be read: {error}", "correct the file")
        return
    for hole in found:
        yield path, hole


def _variables(runtime: str, here: configure.Place) -> Iterator[tuple[str, Hole]]:
    """The file that the program takes: the first one from the project's folder upwards, up to the home folder."""
    folder = here.project
    while VARIABLES.get(runtime):
        for place in VARIABLES[runtime]:
            path = os.path.join(folder, place)
            if os.path.isfile(path):
                yield from _found(path, holes.variables)
                return
        if folder in ("/", here.home):
            return
        folder = os.path.dirname(folder)


def _servers(runtime: str, here: configure.Place) -> Iterator[tuple[str, Hole]]:
    place = SERVERS.get(runtime)
    path = os.path.join(here.project, place or "")
    if place and os.path.isfile(path):
        text = "it names MCP servers, which the program starts by itself: no hook is asked before that"
        yield path, Hole(text, "look at their commands before you let the program start them")


def _trust(here: configure.Place) -> Iterator[tuple[str, Hole]]:
    """Whether Gemini CLI would pass hooks by here, as it does not trust the folder."""
    path = os.path.join(here.home, ".gemini/trustedFolders.json")
    try:
        known = json.loads(settings_file.text_of(path) or "{}")
        rows = [(str(folder), str(word)) for folder, word in known.items()] if isinstance(known, dict) else []
    except (AssentError, ValueError):
        rows = []
    for folder, word in rows:
        place = os.path.dirname(folder) if word == "TRUST_PARENT" else folder
        if word == "DO_NOT_TRUST" and here.project == folder:
            text = "this folder is not trusted: hooks of the user's settings are off in it"
            yield path, Hole(text, "run `assent install gemini --scope extension`", inert=True)
        elif word.startswith("TRUST") and (here.project == place or here.project.startswith(place + "/")):
            return
