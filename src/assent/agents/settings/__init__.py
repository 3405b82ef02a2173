"""Adds our hook to a program's settings and removes it, as text → text. Opens no file.

A program whose settings we can change has a `[settings]` section. If that is not enough, it has a `settings.py` too,
imported on first use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from assent.agents import known, module
from assent.agents.settings import hooks, jsonc
from assent.agents.settings.entry import HookEntry, is_ours
from assent.agents.settings.hooks import Wired
from assent.contract import SettingsError, Value

RUNTIMES = known.runtimes("settings")
# Variables that a settings file must not set for a hook.
VARIABLES = re.compile(
    rf"(?i)ASSENT_.*|LD_.*|DYLD_.*|PYTHON.*|PATH|BASH_ENV|ENV|{'|'.join(known.joined('environment', 'elsewhere'))}"
)
INSPECT = "look at it before you start the program here"


def load(runtime: str) -> ProgramSettings:
    """The settings of a program; raises KeyError if there are none."""
    try:
        found: ProgramSettings = module(runtime, "settings").SETTINGS
    except KeyError:
        found = JsonHooks(runtime)
    return found


class Hole(Value):
    """A way around the hook. `inert` ones switch it off; the others let some calls past it, or weaken it. `key` and
    `value` close it, if one key does (`key` is `""` if none does)."""

    __slots__ = ("text", "fix", "inert", "key", "value")

    def __init__(self, text: str, fix: str, *, inert: bool = False, key: str = "", value: object = None) -> None:
        self.text = text
        self.fix = fix
        self.inert = inert
        self.key = key
        self.value = value


class Asking:
    """How to make a program ask whose hooks cannot: by its own rules on a program of ours."""

    place = ""  # the file of the rules, from the folder of the settings
    home = ""  # the same file in a home folder
    mark = ""  # how the file begins
    script = ""  # our program, which runs the given command

    def rules(self, program: str) -> str:
        raise NotImplementedError


class ProgramSettings:
    """The settings of one program, from its `[settings]` section (docs/agents.md). `executable` says that the file is a
    program, `whole` that the file is ours alone."""

    executable = False
    whole = False
    asking: Asking | None = None

    def __init__(self, runtime: str) -> None:
        self.runtime = runtime
        self.row = known.section("settings")[runtime]
        self.places: dict[str, str] = self.row["places"]
        self.beside: dict[str, list[str]] = self.row.get("beside", {})
        self.events: tuple[str, ...] = tuple(self.row.get("events", ()))
        self.secret_name = "{name}" in self.row.get("hook", {}).values()

    def install(self, text: str, entry: HookEntry) -> str:
        """The text with our hook in it, once; raises SettingsError if it cannot be added without harm."""
        raise NotImplementedError

    def uninstall(self, text: str) -> str:
        """The text without our hook. `""` if nothing else is left in a file that we created."""
        raise NotImplementedError

    def objection(self, text: str) -> str:
        """Why the program itself would not load a text that we can read, `""` if it would."""
        return ""

    def distrusted(self, text: str, file: str) -> str:
        """Why the program would skip our hook because it does not trust it, `""` if it would not."""
        return ""

    def confines(self, text: str) -> tuple[str, str]:
        """The restrictions of the program's own sandbox, if no contained run starts in it, and what to do about it;
        empty without one."""
        return "", ""

    def wired(self, text: str, file: str) -> tuple[Wired, ...]:
        """Our hooks in a settings text, as the program would start them; raises SettingsError."""
        key, *value = self.row.get("blocking", ("",))
        blocking = (key, value[0]) if value else None
        return tuple(hooks.wired(text, unit=self.row.get("unit", 1), blocking=blocking))

    def first(self, found: tuple[Wired, ...]) -> Wired | None:
        before = self.row.get("before", "")
        return next((each for each in found if before in ("", each.event)), None)

    def holes(self, text: str, *, http: bool = False) -> tuple[Hole, ...]:
        """The holes in settings; raises SettingsError if they cannot be read."""
        switch = self.row.get("switch", "")
        if not switch or jsonc.objects(text).get(switch) is not True:
            return ()
        return (Hole(f"`{switch}` switches every hook off", "set it to false", inert=True, key=switch, value=False),)

    def brought(self, text: str) -> tuple[Hole, ...]:
        """Actions of the program by a project's settings without asking a hook; raises SettingsError."""
        return tuple(Hole(each, INSPECT) for each in _brought(jsonc.objects(text)))

    def reserved(self, text: str) -> tuple[Hole, ...]:
        """Whether the machine's settings accept no hooks but their own; raises SettingsError."""
        return self.only_managed(jsonc.objects(text), "allowManagedHooksOnly")

    def only_managed(self, found: Mapping[str, object], key: str) -> tuple[Hole, ...]:
        fix = f"install it there too: `assent install {self.runtime} --scope managed`"
        return (Hole(f"`{key}`: other hooks are off", fix, inert=True),) if found.get(key) is True else ()

    def needed(self, text: str) -> tuple[Hole, ...]:
        """The keys that keep a project from switching off a hook of the machine's settings; raises SettingsError. They
        are always set there."""
        return tuple(Hole(**each) for each in self.row.get("needed", ()))

    def wanting(self, scope: str = "user") -> tuple[Hole, ...]:
        """The holes of the program unless its settings close them."""
        rows = [{**each} for each in self.row.get("wanting", ())]
        return tuple(Hole(**each) for each in rows if each.pop("scope", scope) == scope)


class JsonHooks(ProgramSettings):
    def entry(self, event: str, entry: HookEntry) -> object:
        seconds = min(entry.timeout, self.row.get("longest", entry.timeout))
        given = {
            "{name}": entry.name,
            "{command}": entry.command,
            "{guarded}": entry.guarded,
            "{url}": entry.url,
            "{headers}": dict(entry.headers),
            "{timeout}": round(seconds / self.row.get("unit", 1)),
        }
        hook = known.filled(self.row["http" if entry.url and "http" in self.row else "hook"], given)
        return {"matcher": self.row["matcher"], "hooks": [hook]} if "matcher" in self.row else hook

    def install(self, text: str, entry: HookEntry) -> str:
        text = text if text.strip() else self.row.get("begin", text)
        return hooks.install(text, {event: self.entry(event, entry) for event in entry.events or self.events})

    def uninstall(self, text: str) -> str:
        left = hooks.uninstall(text)
        return "" if left == self.row.get("begin") and left != text else left

    def objection(self, text: str) -> str:
        comments = () if self.row.get("comments") else (found.start() for found in jsonc.comments(text))
        for what, at in (
            ("comments", min(comments, default=-1)),
            ("a comma before a closing bracket", min(jsonc.trailing_commas(jsonc.parse(text)), default=-1)),
        ):
            if at >= 0:
                line = jsonc.line_of(text, at)
                return f"line {line}: the program does not load settings with {what}, nor any hook in them; remove it"
        return ""


class WholeFile(ProgramSettings):
    """A file of ours, written and removed as a whole. Only our file contains `mark`; another file in its place is not
    changed."""

    mark = ""
    whole = True

    def content(self, entry: HookEntry) -> str:
        raise NotImplementedError

    def install(self, text: str, entry: HookEntry) -> str:
        if text.strip() and self.mark not in text:
            raise SettingsError("this file is not ours; move it to another place first", line=1)
        return self.content(entry)

    def uninstall(self, text: str) -> str:
        return "" if self.mark in text else text


def _brought(found: Mapping[str, object]) -> Iterator[str]:
    listed = found.get("hooks")
    lists = [each for each in listed.values() if isinstance(each, list)] if isinstance(listed, dict) else []
    if any(not is_ours(hook) for groups in lists for group in groups for hook in hooks.hooks_in(group)):
        yield "`hooks` of a project run programs of its choice, and may change a call after ours allowed it"
    if found.get("enableAllProjectMcpServers") is True or found.get("enabledMcpjsonServers"):
        yield "MCP servers of the project are started without a question"
    if found.get("mcpServers"):
        yield "`mcpServers` of a project are started by the program itself"
    if found.get("enabledPlugins") or found.get("extraKnownMarketplaces"):
        yield "plugins of the project's choice bring hooks, servers and commands of their own"


def variables(text: str) -> tuple[Hole, ...]:
    """The variables that a file sets for hooks: `NAME=value`, perhaps after `export`."""
    names = (
        line.strip().removeprefix("export ").partition("=")[0].strip() for line in text.splitlines() if "=" in line
    )
    return tuple(
        Hole(f"it sets `{name}` for the hook", "remove it", inert=name.upper().startswith(("LD_", "DYLD_")))
        for name in names
        if VARIABLES.fullmatch(name)
    )
