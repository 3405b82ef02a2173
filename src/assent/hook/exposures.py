"""Folders whose own settings switch a user's hook off, or pass it by, before the program starts. Changes nothing."""

from __future__ import annotations

from assent.agents.capabilities import CAPABILITIES
from assent.contract import AssentError
from assent.engine import configure
from assent.hook import other_settings
from assent.state import hosts
from assent.state.trust import trusted_folders

MOST = 200  # folders that are looked at


def switched_off(state: str, home: str, folders: tuple[str, ...] = ()) -> tuple[tuple[str, str, str], ...]:
    """Runtime, file and what it does, for these folders and those that are trusted. A hook in the machine's settings
    that withstands it is not switched off."""
    try:
        known = hosts.registered(state)
        places = tuple(dict.fromkeys((*folders, *trusted_folders(state))))[:MOST]
    except AssentError:
        return ()
    found: list[tuple[str, str, str]] = []
    for runtime in dict.fromkeys(host.runtime for host in known):
        scopes = frozenset(host.scope for host in known if host.runtime == runtime)
        if "managed" in scopes and CAPABILITIES[runtime].managed:
            continue
        for folder in places:
            here = configure.Place(folder, (folder,), home, state)
            for path, hole in other_settings.around(runtime, here, http=False, scopes=scopes):
                if hole.inert and path.startswith(f"{folder}/"):
                    found.append((runtime, path, hole.text))
    return tuple(dict.fromkeys(found))
