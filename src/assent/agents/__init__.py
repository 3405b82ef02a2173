"""Agent programs: one folder for each, with facts about it (`agent.toml`), its payload, settings and permissions.

Pure: reads no files but its own data, prints nothing, judges nothing. An adapter is imported on first use: a hook needs
one of them."""

from __future__ import annotations

from typing import Any

from assent.agents.adapter import Adapter

_loaded: dict[str, Adapter] = {}


def load(runtime: str) -> Adapter:
    """The adapter of a runtime; raises KeyError if there is none."""
    found = _loaded.get(runtime)
    if found is None:
        found = _loaded[runtime] = module(runtime, "payload").ADAPTER
    return found


def module(runtime: str, name: str) -> Any:
    """A module of a program's folder; raises KeyError if there is none."""
    path = f"assent.agents.{runtime.replace('-', '_')}.{name}"
    if not runtime.replace("-", "_").isidentifier():
        raise KeyError(runtime)
    try:
        return __import__(path, fromlist=[name])
    except ModuleNotFoundError as error:
        if error.name is None or not path.startswith(error.name):
            raise  # a dependency of the module is missing
        raise KeyError(runtime) from None


def keeps(runtime: str) -> str:
    """The state that the shell of a runtime keeps after a command, as in Adapter; `""` if unknown."""
    try:
        return load(runtime).keeps if runtime else ""
    except KeyError:
        return ""
