"""What the settings of a runtime give: the text with our hook, and the text without. Opens no file."""

from __future__ import annotations

from assent.agents import known
from assent.agents.settings import hooks, jsonc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from assent.agents.settings.entry import Entry


class Settings:
    """The settings of one runtime. `executable` says that the file is a program, `whole` that the file is ours alone.
    `beside` are files that must stand beside it, by scope: where, from its folder, and what is in them."""

    runtime = ""
    executable = False
    whole = False
    beside: dict[str, tuple[str, str]] = {}

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
