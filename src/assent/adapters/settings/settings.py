"""What the settings of a runtime give: the text with our hook, and the text without. Opens no file."""

from __future__ import annotations

from assent.adapters.settings import hooks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from assent.adapters.settings.entry import Entry


class Settings:
    """The settings of one runtime. `places` are its files by scope: `~` is the user's home, a relative path is in the
    project."""

    runtime = ""
    places: dict[str, str] = {}

    def install(self, text: str, entry: Entry) -> str:
        """The text with our hook in it, once; raises SettingsError where it cannot be added without harm."""
        raise NotImplementedError

    def uninstall(self, text: str) -> str:
        """The text without our hook. `""` where nothing else is left in a file that we made."""
        raise NotImplementedError


class JsonHooks(Settings):
    """Settings in JSON with hooks by event."""

    events: tuple[str, ...] = ()

    def entry(self, event: str, entry: Entry) -> object:
        """Our entry in the list of an event."""
        raise NotImplementedError

    def install(self, text: str, entry: Entry) -> str:
        return hooks.install(text, {event: self.entry(event, entry) for event in entry.events or self.events})

    def uninstall(self, text: str) -> str:
        return hooks.uninstall(text)
