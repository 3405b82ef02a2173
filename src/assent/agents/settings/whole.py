"""Files of which we own the whole: a plugin, a hook file of our own. Another's file in that place is left alone."""

from __future__ import annotations

from assent.agents.settings.entry import Entry
from assent.agents.settings.settings import Settings
from assent.contract import SettingsError


class WholeFile(Settings):
    """A file that we write and remove as one. `mark` stands in it and in no other."""

    mark = ""
    whole = True

    def content(self, entry: Entry) -> str:
        raise NotImplementedError

    def install(self, text: str, entry: Entry) -> str:
        if text.strip() and self.mark not in text:
            raise SettingsError("another file stands in the place of ours; move it away first", line=1)
        return self.content(entry)

    def uninstall(self, text: str) -> str:
        return "" if self.mark in text else text
