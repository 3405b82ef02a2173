"""Which packages an install adds, and whether the project's lock file has them. Reads lock files within bounds."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator

from assent.contract import Facts, Invocation, Pattern, re
from assent.contract.approval import Consequence
from assent.facts.consequences.deadline import Deadline
from assent.facts.consequences.words import counted, listed, quoted, say
from assent.state.files import read

KIND = "install"
MOST_LOCK = 8 * 1024 * 1024  # bytes
MOST_MANIFEST = 1024 * 1024
_DEPTH = 12  # parent folders searched for a lock file
_PYTHON = ("uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock")
_NODE = ("package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock")
# Program → its lock files; the first that exists counts.
LOCKS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), _NODE),
    **dict.fromkeys(("pip", "pip3", "uv", "poetry", "pdm", "pipenv"), _PYTHON),
    "cargo": ("Cargo.lock",),
    "go": ("go.sum",),
    **dict.fromkeys(("bundle", "gem"), ("Gemfile.lock",)),
    "composer": ("composer.lock",),
}
# Lock file → patterns for one of its packages (`{}`: its name), and for all. A hostile file must not make these slow:
# each is tried at the start of a line or at a quote, and no two repeats of one compete.
_ENTRIES = {
    "package-lock.json": (r'"(?:node_modules/)?{}": \{{', r'"node_modules/[^"]+": \{|^    "[^"/]+": \{'),
    "npm-shrinkwrap.json": (r'"(?:node_modules/)?{}": \{{', r'"node_modules/[^"]+": \{'),
    "pnpm-lock.yaml": (r"^ +['/]*{}[@/][^\n]*:", r"^  ['/]*(?:@[^\n/@]+/)?[^\n/@' ]+@\d[^\n]*:"),
    "yarn.lock": (r'^"?{}@', r'^"?[^\s#"_][^\n]*:$'),
    "bun.lock": (r'^ +"{}": \[', r'^ +"[^"]+": \["'),
    **dict.fromkeys(("uv.lock", "poetry.lock", "pdm.lock", "Cargo.lock"), (r'^name = "{}"$', r'^name = "[^"]+"$')),
    "Pipfile.lock": (r'^ +"{}": \{{', r'^        "[^"]+": \{'),
    "go.sum": (r"^{} v", r"^\S+ v\S+/go\.mod"),
    "Gemfile.lock": (r"^ +{} \(", r"^    \S+ \("),
    "composer.lock": (r'"name": "{}"', r'^            "name": "[^"]+"'),
}
_VERSION = Pattern(r"(?<=[^@/])(?:@|[=<>!~]=?|\[|;).*$")
_REQUIREMENT = Pattern(r"^\s*([A-Za-z0-9][\w.-]*)")
_FILES = ("-r", "--requirement", "--requirements")
_MACHINE = frozenset("apt apt-get dnf yum apk pacman zypper brew snap flatpak port choco winget".split())


def measure(command: Invocation, folder: str, facts: Facts, deadline: Deadline) -> Iterator[Consequence]:
    if not command.literal:
        yield say(KIND, "install.unknown", why="its words are known only when it runs")
        return
    names, program = packages(command), command.program
    if program in _MACHINE or _is_global(command):
        yield say(KIND, "install.system", count=_packages(len(names)), names=listed(names) or "none are named")
        return
    path = _lock(program, folder, facts, deadline)
    try:
        text = _text(path, MOST_LOCK) if path else ""
        if names:
            yield from _named(names, path, text)
        listed_in = [each for each in _required(command) if not each.startswith("-")]
        for file in listed_in:
            yield from _listed(posixpath.join(folder, file), deadline)
        if not names and not listed_in:
            yield from _whole(program, folder, path, text)
    except OSError as error:
        yield say(KIND, "install.unknown", why=f"{quoted(path)} cannot be read: {error.strerror or 'it is too long'}")


def packages(command: Invocation) -> list[str]:
    """The packages that the words of an install name."""
    words = [word for word in command.operands if word and word not in command.subcommand]
    return [word for word in words if word not in (".", "..")]


def _is_global(command: Invocation) -> bool:
    """Whether it installs for the machine or the user, not for a project."""
    if command.program in ("cargo", "go", "gem", "pipx"):
        return command.subcommand[-1:] == ("install",)
    return bool(command.flags & {"-g", "--global"}) or command.subcommand[:1] in (("tool",), ("global",))


def _packages(count: int) -> str:
    return counted(count, "package")


def _required(command: Invocation) -> list[str]:
    """The files after `-r`."""
    words = command.words
    beside = [words[at + 1] for at, word in enumerate(words[:-1]) if word in _FILES]
    glued = [word.partition("=")[2] for word in words if word.startswith(tuple(f"{each}=" for each in _FILES[1:]))]
    return [*beside, *glued]


def _lock(program: str, folder: str, facts: Facts, deadline: Deadline) -> str:
    """The lock file that the program uses from a folder; `""` if there is none up to the top of the workspace."""
    place = folder
    for _ in range(_DEPTH):
        if deadline.is_remote(place):
            return ""
        for name in LOCKS.get(program, ()):
            path = posixpath.join(place, name)
            if os.path.isfile(path) and not os.path.islink(path):
                return path
        if place in facts.roots or place in ("/", facts.home):
            return ""
        place = posixpath.dirname(place)
    return ""


def _text(path: str, most: int) -> str:
    return read(path, most, os.O_NOFOLLOW)[0].decode("utf-8", "replace")


def _named(names: list[str], path: str, text: str) -> Iterator[Consequence]:
    if not path:
        yield say(KIND, "install.no-lock", count=_packages(len(names)), names=listed(names))
        return
    lock = posixpath.basename(path)
    known = [each for each in names if has(lock, text, name_of(each))]
    new = [each for each in names if each not in known]
    if new:
        yield say(KIND, "install.new", count=_packages(len(new)), lock=quoted(lock), names=listed(new))
        yield say(KIND, "install.needs")
    if known:
        yield say(KIND, "install.known", count=_packages(len(known)), lock=quoted(lock), names=listed(known))


def name_of(word: str) -> str:
    """The name of a package without its version: `react@18`, `@a/b@1`, `requests[socks]>=2`."""
    return _VERSION.sub("", word)


def has(lock: str, text: str, name: str) -> bool:
    """Whether the text of a lock file has a package of this name."""
    one = _ENTRIES[lock][0]
    if lock in _PYTHON:
        name = name.lower().replace("_", "-").replace(".", "-")
        text = text.lower()
    return re.search("(?m)" + one.format(re.escape(name)), text) is not None


def number_in(lock: str, text: str) -> int:
    return sum(1 for _ in re.finditer("(?m)" + _ENTRIES[lock][1], text))


def _listed(path: str, deadline: Deadline) -> Iterator[Consequence]:
    """A requirements file: the packages it names are installed."""
    shown = quoted(posixpath.basename(path))
    if deadline.is_remote(path):
        return
    try:
        lines = _text(path, MOST_MANIFEST).splitlines()
    except OSError as error:
        yield say(KIND, "install.unknown", why=f"{shown} cannot be read: {error.strerror or 'it is too long'}")
        return
    names = [found[1] for line in lines if (found := _REQUIREMENT.match(line))]
    yield say(KIND, "install.listed", count=_packages(len(names)), manifest=shown, names=listed(names) or "none")


def _whole(program: str, folder: str, path: str, text: str) -> Iterator[Consequence]:
    """An install that names no package: the packages in the lock file, and those of the manifest missing from it."""
    if not path:
        yield say(KIND, "install.unknown", why="it names none, and there is no lock file")
        return
    lock = posixpath.basename(path)
    yield say(KIND, "install.lock", count=_packages(number_in(lock, text)), lock=quoted(lock))
    if lock in _NODE:
        wanted = _dependencies(posixpath.join(folder, "package.json"))
        missing = [each for each in wanted if not has(lock, text, each)]
        if missing:
            values = {"count": _packages(len(missing)), "lock": quoted(lock), "manifest": quoted("package.json")}
            yield say(KIND, "install.missing", values, names=listed(missing))


def _dependencies(path: str) -> list[str]:
    import json

    try:
        found = json.loads(_text(path, MOST_MANIFEST))
        groups = [found.get(key, {}) for key in ("dependencies", "devDependencies", "optionalDependencies")]
        return [name for group in groups for name in group if isinstance(name, str)]
    except (OSError, ValueError, AttributeError, TypeError, RecursionError):
        return []
