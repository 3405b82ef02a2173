"""The effects of commands: tables of rows, the engine that reads a command line by them, and readers for the rest.

`interpret` reads one simple command; `Tables` are the shipped rows, overlaid with the user's."""

from __future__ import annotations

from assent.effects.shell.commands.interpret import interpret
from assent.programs.row import check_row
from assent.programs.table import Tables, shipped

__all__ = ["Tables", "check_row", "interpret", "shipped"]
