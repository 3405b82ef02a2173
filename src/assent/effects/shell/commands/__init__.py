"""What commands do: tables of rows, the engine that reads a command line by them, and readers for the rest.

`see` answers for one simple command; `Tables` are the rows, shipped ones with a user's laid over."""

from __future__ import annotations

from assent.effects.shell.commands.row import check_row
from assent.effects.shell.commands.see import see
from assent.effects.shell.commands.table import Tables, shipped

__all__ = ["Tables", "check_row", "see", "shipped"]
