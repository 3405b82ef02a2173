"""The agent programs that Assent was installed in: `hosts.json` in its folder; their versions and process names, since
a process started by one is no person."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import asdict, dataclass, replace

from assent.agents import known
from assent.contract import StoreError
from assent.state.files import locked, replace_text, stored

HOSTS_FILE = "hosts.json"
LARGEST = 1024 * 1024
PATIENCE = 15.0  # seconds for a program to say its version
VERSION = re.compile(r"\d+\.\d+(?:\.\d+)*")
# Runtime → the command that people start it with.
PROGRAMS = {runtime: names[0] for runtime, names in known.lists("program", "names").items()}


@dataclass(frozen=True, slots=True)
class Host:
    """One installation. `words` is the command in the settings, `names` the processes of the program. `made`: Assent
    created the settings file. `set` are other keys that were set: name, value as JSON, and the text before (`""`: it
    was not there). `stripped`: comments were removed."""

    runtime: str
    scope: str
    file: str
    version: str = ""
    names: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    made: bool = False
    set: tuple[tuple[str, str, str], ...] = ()
    stripped: bool = False


def registered(state: str) -> tuple[Host, ...]:
    """The recorded installations. Raises StoreError if the record cannot be read."""
    path = os.path.join(state, HOSTS_FILE)
    try:
        return tuple(_host(row) for row in stored(path, LARGEST))
    except (ValueError, KeyError, TypeError):
        raise StoreError(
            f"`{path}` is not a list of installations; remove it, and run `assent install` again"
        ) from None


def _host(row: dict[str, object]) -> Host:
    def rows(key: str) -> list[object]:
        found = row.get(key, [])
        return found if isinstance(found, list) else []

    return Host(
        str(row["runtime"]),
        str(row["scope"]),
        str(row["file"]),
        version=str(row.get("version", "")),
        names=tuple(map(str, rows("names"))),
        words=tuple(map(str, rows("words"))),
        made=row.get("made") is True,
        set=tuple(
            (str(each[0]), str(each[1]), str(each[2]))
            for each in rows("set")
            if isinstance(each, list) and len(each) == 3
        ),
        stripped=row.get("stripped") is True,
    )


def names(state: str) -> frozenset[str]:
    """The names of processes that run agents, as far as installations say; none if the record is broken."""
    try:
        return frozenset(name for host in registered(state) for name in host.names)
    except StoreError:
        return frozenset()


def register(state: str, host: Host) -> None:
    """Save an installation, in place of an older one in the same file, whose changes are kept."""
    with locked(state, HOSTS_FILE + ".lock"):
        others = _others(state, host)
        for before in (each for each in registered(state) if each not in others):
            again = {key for key, _, _ in before.set}
            changed = (*before.set, *(each for each in host.set if each[0] not in again))
            host = replace(host, made=host.made or before.made, set=changed, stripped=host.stripped or before.stripped)
        _save(state, (*others, host))


def forget(state: str, host: Host) -> None:
    with locked(state, HOSTS_FILE + ".lock"):
        _save(state, _others(state, host))


def _others(state: str, host: Host) -> tuple[Host, ...]:
    return tuple(each for each in registered(state) if (each.runtime, each.file) != (host.runtime, host.file))


def _save(state: str, found: tuple[Host, ...]) -> None:
    replace_text(os.path.join(state, HOSTS_FILE), json.dumps([asdict(each) for each in found], indent=1) + "\n")


# ---------------------------------------------------------------- the program itself


def program(runtime: str) -> str:
    return shutil.which(PROGRAMS[runtime]) or ""


def version(runtime: str) -> str:
    found = program(runtime)
    if not found:
        return ""
    try:
        done = subprocess.run(
            [found, "--version"],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    said = VERSION.search(done.stdout + done.stderr)
    return said[0] if said else ""


def process_names(runtime: str) -> tuple[str, ...]:
    """The names of the program's processes: its command, and the file that the command resolves to."""
    known = PROGRAMS[runtime]
    real = os.path.basename(os.path.realpath(program(runtime))).lower() if program(runtime) else ""
    plain = real.removesuffix(".js").removesuffix(".py")
    generic = plain in ("", "cli", "index", "main", "node", "bun", "python", "sh", "bash", "env")
    return (known,) if generic or plain == known else (known, plain)


def at_least(version: str, wanted: str) -> bool:
    """Whether a version is that one or later; false for an unknown version."""
    return bool(version) and numbers(version) >= numbers(wanted)


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
