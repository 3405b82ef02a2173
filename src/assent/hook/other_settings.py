"""The effect of a program's settings on Assent's hook: settings of other scopes, of other folders, and later changes.

`[settings]` of an agent.toml lists the files: of the project, the user and the machine, with variables (from the
project's folder upwards), with MCP servers that the program starts. Starts nothing and changes nothing."""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Callable, Iterable, Iterator

from assent.agents import known, settings
from assent.agents.capabilities import CAPABILITIES
from assent.agents.settings import Hole
from assent.contract import AssentError
from assent.engine import configure
from assent.hook import settings_file
from assent.state import hosts
from assent.state.trust import trusted_folders


def around(runtime: str, here: configure.Place, *, http: bool, scopes: frozenset[str]) -> Iterator[tuple[str, Hole]]:
    """The effects of other settings on a hook installed in these scopes, each with its file."""
    found, row = settings.load(runtime), known.section("settings")[runtime]

    def files(key: str) -> Iterator[str]:
        for place in known.lists("settings", key).get(runtime, ()):
            yield from sorted(glob.glob(settings_file.expanded(place, here.home, here.project)))

    for path in files("project"):
        yield from _found(path, lambda text: (*found.holes(text, http=http), *found.brought(text)))
    for path in () if "user" in scopes else files("user"):
        yield from _found(path, lambda text: found.holes(text, http=http))
    for path in files("machine"):
        yield from _found(path, lambda text: found.holes(text, http=http))
        if "managed" not in scopes:
            yield from _found(path, found.reserved)
    yield from _variables(known.lists("settings", "variables").get(runtime, ()), here)
    yield from _servers(str(row.get("servers", "")), here)
    if "trust" in row and not scopes & {"extension", "managed"}:
        yield from _trust(runtime, str(row["trust"]), here)


def _found(path: str, look: Callable[[str], Iterable[Hole]]) -> Iterator[tuple[str, Hole]]:
    try:
        found = look(settings_file.text_of(path) or "")
    except AssentError as error:
        yield path, Hole(f"cannot be read: {error}", "correct the file")
        return
    yield from ((path, hole) for hole in found)


def _variables(places: tuple[str, ...], here: configure.Place) -> Iterator[tuple[str, Hole]]:
    """The file that the program reads: the first one from the project's folder up to the home folder."""
    folder = here.project
    while places:
        for place in places:
            path = os.path.join(folder, place)
            if os.path.isfile(path):
                yield from _found(path, settings.variables)
                return
        if folder in ("/", here.home):
            return
        folder = os.path.dirname(folder)


def _servers(place: str, here: configure.Place) -> Iterator[tuple[str, Hole]]:
    path = os.path.join(here.project, place)
    if place and os.path.isfile(path):
        text = "it names MCP servers, which the program starts by itself: no hook is asked before that"
        yield path, Hole(text, "look at their commands before you let the program start them")


def _trust(runtime: str, place: str, here: configure.Place) -> Iterator[tuple[str, Hole]]:
    """Whether the program ignores hooks here, since its list of folders does not trust this one."""
    path = settings_file.expanded(place, here.home, here.project)
    try:
        known = json.loads(settings_file.text_of(path) or "{}")
        rows = [(str(folder), str(word)) for folder, word in known.items()] if isinstance(known, dict) else []
    except (AssentError, ValueError):
        rows = []
    for folder, word in rows:
        place = os.path.dirname(folder) if word == "TRUST_PARENT" else folder
        if word == "DO_NOT_TRUST" and here.project == folder:
            text = "this folder is not trusted: hooks of the user's settings are off in it"
            yield path, Hole(text, f"run `assent install {runtime} --scope extension`", inert=True)
        elif word.startswith("TRUST") and (here.project == place or here.project.startswith(place + "/")):
            return


MOST = 200  # folders to check


def switched_off(state: str, home: str, folders: tuple[str, ...] = ()) -> tuple[tuple[str, str, str], ...]:
    """Folders whose own settings switch a user's hook off: runtime, file and effect, for these folders and the trusted
    ones. A hook in the machine's settings that they do not override is left out."""
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
            others = around(runtime, here, http=False, scopes=scopes)
            found += [
                (runtime, path, hole.text) for path, hole in others if hole.inert and path.startswith(f"{folder}/")
            ]
    return tuple(dict.fromkeys(found))


def broken(runtime: str, about: str, state: str) -> str:
    """Why a change of a settings file removes or bypasses the hook; `""` if it does neither.

    `about` is the file; if the program does not name it, every file with a hook of ours is checked."""
    ours = [host.file for host in hosts.registered(state) if host.runtime == runtime]
    for file in [about] if about.startswith("/") else ours:
        if why := _broken(runtime, file, ours=file in ours):
            return f"`{file}` {why}"
    return ""


def _broken(runtime: str, file: str, *, ours: bool) -> str:
    try:
        text = settings_file.text_of(file)
        if text is None:
            return "is gone, and with it Assent's hook" if ours else ""
        found = settings.load(runtime)
        if ours and found.uninstall(text) == text:
            return "no longer calls Assent"
        if ours and (why := found.objection(text)):
            return f"would not be loaded: {why}"
        hook = found.first(found.wired(text, file)) if ours else None
        if hook is not None and hook.weakness:
            return f"weakens Assent's hook: {hook.weakness}"
        hole = next((hole for hole in found.holes(text) if hole.inert), None)
        return f"switches Assent off: {hole.text}" if hole is not None else ""
    except AssentError as error:
        return f"cannot be read: {error}" if ours else ""
