"""The agent programs that Assent was installed in: `hosts.json` in its folder. Writes into none of their settings.

Also knows how their processes are called, since what such a process starts is no person."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess

from assent.agents import known
from assent.contract import StoreError, Value
from assent.state.files import held, read, replace_text, state_folder

HOSTS_FILE = "hosts.json"
LARGEST = 1024 * 1024
PATIENCE = 15.0  # seconds for a program to say its version
VERSION = re.compile(r"\d+\.\d+(?:\.\d+)*")
# Runtime → the command that people start it with.
PROGRAMS = {runtime: names[0] for runtime, names in known.lists("program", "names").items()}


class Host(Value):
    """One installation. `words` is the command in the settings, `names` the processes of the program. `made` says that
    the settings file was not there before. `set` are keys that were set besides: name, value as JSON, and how it was
    written before (`""`: it was not there). `stripped` says that comments were taken out."""

    __slots__ = ("runtime", "scope", "file", "version", "names", "words", "made", "set", "stripped")

    def __init__(
        self,
        runtime: str,
        scope: str,
        file: str,
        *,
        version: str = "",
        names: tuple[str, ...] = (),
        words: tuple[str, ...] = (),
        made: bool = False,
        set: tuple[tuple[str, str, str], ...] = (),
        stripped: bool = False,
    ) -> None:
        self.runtime = runtime
        self.scope = scope
        self.file = file
        self.version = version
        self.names = names
        self.words = words
        self.made = made
        self.set = set
        self.stripped = stripped


def registered(state: str) -> tuple[Host, ...]:
    """The installations on record. Raises StoreError where the record cannot be read."""
    path = os.path.join(state, HOSTS_FILE)
    try:
        rows = json.loads(read(path, LARGEST)[0])
        return tuple(_host(row) for row in rows)
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        raise StoreError(f"`{path}` cannot be read: {error.strerror}; repair it or remove it") from None
    except (ValueError, KeyError, TypeError):
        raise StoreError(
            f"`{path}` is not a list of installations; remove it, and run `assent install` again"
        ) from None


def _host(row: dict[str, object]) -> Host:
    def texts(key: str) -> tuple[str, ...]:
        found = row.get(key, [])
        return tuple(str(each) for each in found) if isinstance(found, list) else ()

    return Host(
        str(row["runtime"]),
        str(row["scope"]),
        str(row["file"]),
        version=str(row.get("version", "")),
        names=texts("names"),
        words=texts("words"),
        made=row.get("made") is True,
        set=_keys(row.get("set")),
        stripped=row.get("stripped") is True,
    )


def _keys(found: object) -> tuple[tuple[str, str, str], ...]:
    rows = found if isinstance(found, list) else []
    return tuple((str(row[0]), str(row[1]), str(row[2])) for row in rows if isinstance(row, list) and len(row) == 3)


def names(state: str) -> frozenset[str]:
    """The names of processes that run agents, as far as installations told; none where the record is broken."""
    try:
        return frozenset(name for host in registered(state) for name in host.names)
    except StoreError:
        return frozenset()


def register(state: str, host: Host) -> None:
    """Keep an installation, in place of an older one in the same file."""

    def kept(known: tuple[Host, ...]) -> tuple[Host, ...]:
        before = next((each for each in known if _same(each, host)), None)
        return (*(each for each in known if not _same(each, host)), _after(host, before) if before else host)

    _change(state, kept)


def forget(state: str, host: Host) -> None:
    _change(state, lambda known: tuple(each for each in known if not _same(each, host)))


def _same(one: Host, other: Host) -> bool:
    return (one.runtime, one.file) == (other.runtime, other.file)


def _after(host: Host, before: Host) -> Host:
    """An installation with what an earlier one in the same place changed."""
    again = {key for key, _, _ in before.set}
    return Host(
        host.runtime,
        host.scope,
        host.file,
        version=host.version,
        names=host.names,
        words=host.words,
        made=host.made or before.made,
        set=(*before.set, *(each for each in host.set if each[0] not in again)),
        stripped=host.stripped or before.stripped,
    )


def _change(state: str, change: object) -> None:
    assert callable(change)
    state_folder(state)
    with held(os.path.join(state, HOSTS_FILE + ".lock")):
        rows = [{name: getattr(host, name) for name in host.__slots__} for host in change(registered(state))]
        replace_text(os.path.join(state, HOSTS_FILE), json.dumps(rows, indent=1) + "\n")


# ---------------------------------------------------------------- the program itself


def program(runtime: str) -> str:
    """Where the program is, `""` where it is not on the PATH."""
    return shutil.which(PROGRAMS[runtime]) or ""


def version(runtime: str) -> str:
    """The version that the program says, `""` where it is not there or says none."""
    found = program(runtime)
    if not found:
        return ""
    try:
        told = subprocess.run(
            [found, "--version"],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    said = VERSION.search(told.stdout + told.stderr)
    return said[0] if said else ""


def process_names(runtime: str) -> tuple[str, ...]:
    """How processes of the program are called: by its command, and by the file that the command leads to."""
    known = PROGRAMS[runtime]
    real = os.path.basename(os.path.realpath(program(runtime))).lower() if program(runtime) else ""
    plain = real.removesuffix(".js").removesuffix(".py")
    generic = plain in ("", "cli", "index", "main", "node", "bun", "python", "sh", "bash", "env")
    return (known,) if generic or plain == known else (known, plain)


def at_least(version: str, wanted: str) -> bool:
    """Whether a version is that one or later; a version that is not known is not."""
    return bool(version) and numbers(version) >= numbers(wanted)


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
