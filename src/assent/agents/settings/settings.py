"""What the settings of a runtime give: the text with our hook, and the text without. Opens no file."""

from __future__ import annotations

from assent.agents import known
from assent.agents.settings import holes, hooks, jsonc
from assent.agents.settings.entry import Entry
from assent.agents.settings.holes import Hole
from assent.agents.settings.wired import Wired, in_json


class Asking:
    """How a program that has no ask for hooks is made to ask: by rules of its own about a program of ours."""

    place = ""  # the file of the rules, from the folder of the settings
    home = ""  # the same file in a home folder
    mark = ""  # how the file begins
    script = ""  # the program of ours, which runs the command that it is given

    def rules(self, program: str) -> str:
        """The text of that file."""
        raise NotImplementedError


class Settings:
    """The settings of one runtime. `executable` says that the file is a program, `whole` that the file is ours alone.
    `beside` are files that must stand beside it, by scope: where, from its folder, and what is in them."""

    runtime = ""
    executable = False
    whole = False
    beside: dict[str, tuple[str, str]] = {}
    before = ""  # the event before a tool call, which must be there; `""` where the file names none
    unit: float = 1  # seconds that 1 is in its timeouts
    blocking: tuple[str, object] | None = None  # key and value by which a broken hook blocks, where that needs one
    secret_name = False  # a project's settings can switch a hook off by its name
    asking: Asking | None = None

    @property
    def places(self) -> dict[str, str]:
        """Its files by scope: `~` is the user's home, a relative path is in the project."""
        found = known.section("settings")[self.runtime]["places"]
        assert isinstance(found, dict)
        return found

    def install(self, text: str, entry: Entry) -> str:
        """The text with our hook in it, once; raises SettingsError where it cannot be added without harm."""
        raise NotImplementedError

    def uninstall(self, text: str) -> str:
        """The text without our hook. `""` where nothing else is left in a file that we made."""
        raise NotImplementedError

    def objection(self, text: str) -> str:
        """Why the runtime itself would not load a text that we can read, `""` where it would."""
        return ""

    def distrusted(self, text: str, file: str) -> str:
        """Why the runtime would skip a hook of ours that it was not told to trust, `""` where it would not."""
        return ""

    def wired(self, text: str, file: str) -> tuple[Wired, ...]:
        """Our hooks in a settings text, as the runtime would start them; raises SettingsError."""
        return tuple(in_json(text, unit=self.unit, blocking=self.blocking))

    def first(self, found: tuple[Wired, ...]) -> Wired | None:
        """The hook before a shell command."""
        return next((each for each in found if self.before in ("", each.event)), None)

    def holes(self, text: str, *, http: bool = False) -> tuple[Hole, ...]:
        """What settings leave open; raises SettingsError where they cannot be read."""
        return ()

    def brought(self, text: str) -> tuple[Hole, ...]:
        """What a project's own settings have the program do without asking a hook; raises SettingsError."""
        return tuple(holes.brought(holes.objects(text)))

    def reserved(self, text: str) -> tuple[Hole, ...]:
        """Whether the machine's settings take no hooks but their own; raises SettingsError."""
        return holes.only_managed(holes.objects(text), "allowManagedHooksOnly", self.runtime)

    def needed(self, text: str) -> tuple[Hole, ...]:
        """The keys without which a project could switch a hook of the machine's settings off; raises SettingsError.
        They are always set there."""
        return ()

    def wanting(self, scope: str = "user") -> tuple[Hole, ...]:
        """What the runtime leaves open unless its settings say otherwise."""
        return ()


class JsonHooks(Settings):
    """Settings in JSON with hooks by event. `comments` and `trailing` say what the runtime takes beside plain JSON."""

    events: tuple[str, ...] = ()
    comments = False
    trailing = False

    def entry(self, event: str, entry: Entry) -> object:
        """Our entry in the list of an event."""
        raise NotImplementedError

    def install(self, text: str, entry: Entry) -> str:
        return hooks.install(text, {event: self.entry(event, entry) for event in entry.events or self.events})

    def uninstall(self, text: str) -> str:
        return hooks.uninstall(text)

    def holes(self, text: str, *, http: bool = False) -> tuple[Hole, ...]:
        return tuple(holes.switched_off(holes.objects(text)))

    def objection(self, text: str) -> str:
        if hooks.is_blank(text):
            return ""
        comma = jsonc.first_trailing_comma(jsonc.parse(text))
        for what, at, taken in (
            ("comments", jsonc.first_comment(text), self.comments),
            ("a comma before a closing bracket", comma, self.trailing),
        ):
            if at >= 0 and not taken:
                line = jsonc.line_of(text, at)
                return f"line {line}: the program does not load settings with {what}, nor any hook in them; remove it"
        return ""
