"""Finds the lines of a configuration file on which keys, tables and rules are written, for errors and receipts."""

from __future__ import annotations

from assent.contract import re


class SourceLines:
    """The lines of one text, counted from 1. What is not found has the line 1."""

    __slots__ = ("lines", "used")

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.used: dict[str, int] = {}

    def of_key(self, key: str) -> int:
        """The line of a setting, or of the header of its table."""
        section, _, name = key.rpartition(".")
        inside = not section
        for number, line in enumerate(self.lines, 1):
            bare = line.strip()
            header = re.match(r"\[+\s*\"?([\w.-]+)", bare)
            if header:
                inside = header[1].split(".")[0] == section if section else header[1] == key
                if not section and inside:
                    return number
                if not section:
                    continue
            if inside and re.match(rf"\"?{re.escape(name)}\"?\s*[=.]", bare):
                return number
            if section and re.match(rf"\"?{re.escape(section)}\"?\s*(=|\.\s*{re.escape(name)})", bare):
                return number
        return 1

    def of_table(self, section: str, name: str) -> int:
        """The line of the header `[section.name]`; of the first line with the name if there is none."""
        header = re.compile(rf"\s*\[\s*{re.escape(section)}\s*\.\s*[\"']?{re.escape(name)}[\"']?\s*\]")
        found = (number for number, line in enumerate(self.lines, 1) if header.match(line))
        return next(found, 0) or self.of_text(name)

    def of_text(self, text: str) -> int:
        """The line on which a rule is written, counting repeats in order."""
        start = self.used.get(text, 0)
        forms = [form for form in (text, text.replace("\\", "\\\\").replace('"', '\\"')) if form]
        for number in range(start, len(self.lines)):
            if any(form in self.lines[number] for form in forms):
                self.used[text] = number + 1
                return number + 1
        return start or 1
