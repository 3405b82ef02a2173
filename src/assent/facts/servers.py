"""The names of the MCP servers in a program's settings, for programs whose tool names do not show them.

The files are in `[servers]` of an agent.toml: `~` is the home folder, a relative path is in the project."""

from __future__ import annotations

import json
import os

from assent.agents import known
from assent.state.files import read

LARGEST = 1024 * 1024
VARIABLE = "ASSENT_HOST_SERVERS"  # passes them to an adapter; never read from a real environment


def environment(runtime: str, home: str, project: str) -> dict[str, str]:
    """Additions to the environment that an adapter reads: the names, one per line. Empty for most."""
    if runtime not in known.section("servers"):
        return {}
    found = set(known.lists("servers", "built_in").get(runtime, ()))
    for place in known.lists("servers", "files").get(runtime, ()):
        folder, name = (home, place[2:]) if place.startswith("~/") else (project, place)
        if folder.startswith("/"):
            found.update(_names(os.path.join(folder, name)))
    return {VARIABLE: "\n".join(sorted(found))}


def _names(path: str) -> list[str]:
    try:
        given = json.loads(read(path, LARGEST)[0])
    except (OSError, ValueError, RecursionError):
        return []
    if not isinstance(given, dict):
        return []
    tables = [given.get("mcpServers"), given.get("servers")]
    return [name for table in tables if isinstance(table, dict) for name in table if "\n" not in name]
