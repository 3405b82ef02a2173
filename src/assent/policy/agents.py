"""Command lines that start an agent program without its hooks. Reads no settings."""

from __future__ import annotations

from collections.abc import Sequence

from assent.agents import known
from assent.contract import Invocation, Pattern
from assent.programs.traits import has

# A program by the names that it goes by: its command, the package that brings it, the file that is run.
PROGRAMS = {name: runtime for runtime, names in known.lists("program", "names").items() for name in names}
# Parts of the paths of packages, in the names and files that package runners and interpreters are told.
PACKAGES = {name: runtime for runtime, names in known.lists("program", "packages").items() for name in names}
# Options with which hooks are passed by, and settings in other places than the installer knows.
OPTIONS = known.lists("bypass", "options")
# Options before a setting: one that names hooks may switch them off.
SETTINGS = known.lists("bypass", "settings")
_HOOKS = Pattern(r".*hooks.*")
_VARIABLE = Pattern(
    rf"(?:{'|'.join(known.joined('environment', 'prefixes'))}|XDG_CONFIG_|HOME=|NODE_OPTIONS=|LD_|DYLD_)"
    r"(?!\w*(?:MODEL|API_KEY|BASE_URL|EFFORT|MAX_\w*TOKENS|TELEMETRY|AUTOUPDATE\w*|NONESSENTIAL_TRAFFIC)=).*=.*",
)


def unhooked(invocation: Invocation) -> str:
    """Why a command starts an agent without its hooks; `""` where it does not."""
    program = invocation.program
    words: Sequence[str] = invocation.words[1:]
    if program == "env":
        return _environment(words)
    if has(program, "other-root"):
        return f"an agent would start without its hooks: under `{program}`" if any(map(named, words)) else ""
    name = PROGRAMS.get(program, "")
    if not name and has(program, "package-runner"):
        name, words = _run(words)
    return _options(name, words) if name else ""


def named(word: str) -> str:
    """The agent program that a word names: its command, a path to it, its package, a file in that; else `""`."""
    program = PROGRAMS.get(word.rpartition("/")[2].partition("@")[0])
    if program is None:
        return _packaged(word)
    return program


def _packaged(word: str) -> str:
    return next((runtime for name, runtime in PACKAGES.items() if name in word), "")


def _run(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The agent program that a runner runs, and what it is told."""
    for at, word in enumerate(words):
        found = _packaged(word)
        if found:
            return found, words[at + 1 :]
    return "", ()


def _options(name: str, words: Sequence[str]) -> str:
    for word in words:
        option = word.partition("=")[0]
        if option in OPTIONS.get(name, ()):
            return f"an agent would start without its hooks: `{option}`"
        if "disableAllHooks" in word:
            return "an agent would start without its hooks: `disableAllHooks`"
    if _switched(words, SETTINGS.get(name, ())):
        return "an agent would start without its hooks: it is told so by an option"
    for command in _commands(name):
        rest = iter(words)
        if all(part in rest for part in command):
            return f"this changes what hooks an agent has: `{' '.join(command)}`"
    return ""


def _commands(name: str) -> list[list[str]]:
    """Words in their order, with anything between, that change the settings by which hooks are called."""
    found = known.section("bypass").get(name, {}).get("commands", [])
    assert isinstance(found, list)
    return found


def _switched(words: Sequence[str], options: tuple[str, ...]) -> bool:
    """`--disable hooks`, `--disable=hooks`, `-c features.hooks=false`, `-chooks…`, `--config 'hooks=…'`."""
    before = ""
    for word in words:
        option, _, glued = word.partition("=") if word.startswith("--") else (word[:2], "", word[2:])
        if option in options and _HOOKS.fullmatch(glued):
            return True
        if before in options and _HOOKS.fullmatch(word):
            return True
        before = word
    return False


def _environment(words: Sequence[str]) -> str:
    """`env` with a variable by which an agent program takes other settings, before that program."""
    place = next((at for at, word in enumerate(words) if named(word)), -1)
    if place < 0:
        return ""
    before = words[:place]
    if any(_VARIABLE.fullmatch(word) for word in before):
        return "an agent would start without its hooks: in another environment"
    letters = "".join(word[1:] for word in before if word[:1] == "-" and word[:2] != "--")
    cleared = "i" in letters or any(word in ("-", "--ignore-environment") for word in before)
    unset = [word.removeprefix("--unset=").removeprefix("-u") for word in before]
    if cleared or any(word in ("HOME", "PATH") or word.startswith("XDG_CONFIG") for word in unset):
        return "an agent would start without its hooks: in another environment"
    return ""
