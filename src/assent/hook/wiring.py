"""Whether an agent program's settings still call Assent, and do not pass it by. Changes none of them."""

from __future__ import annotations

from assent.agents import settings
from assent.contract import AssentError
from assent.hook import settings_file
from assent.state import hosts


def spoiled(runtime: str, about: str, state: str) -> str:
    """Why a change of a settings file takes the hook away or passes it by; `""` where it does neither.

    `about` is the file; where the program does not tell it, every file with a hook of ours is looked at."""
    ours = [host.file for host in hosts.registered(state) if host.runtime == runtime]
    files = [about] if about.startswith("/") else ours
    for file in files:
        why = _spoiled(runtime, file, ours=file in ours)
        if why:
            return f"`{file}` {why}"
    return ""


def _spoiled(runtime: str, file: str, *, ours: bool) -> str:
    try:
        text = settings_file.text_of(file)
        if text is None:
            return "is gone, and with it the hook of Assent" if ours else ""
        found = settings.load(runtime)
        if ours and found.uninstall(text) == text:
            return "does not call Assent any more"
        if ours and (why := found.objection(text)):
            return f"would not be loaded: {why}"
        hook = found.first(found.wired(text, file)) if ours else None
        if hook is not None and hook.weakness:
            return f"weakens the hook of Assent: {hook.weakness}"
        hole = next((hole for hole in found.holes(text) if hole.inert), None)
        return f"switches Assent off: {hole.text}" if hole is not None else ""
    except AssentError as error:
        return f"cannot be read: {error}" if ours else ""
