"""Commands and files that a database client runs itself, or makes its server run."""

from __future__ import annotations

from assent.contract import Pattern
from assent.effects.shell.commands.command_effects import EffectsBuilder

# Lines that a client runs in a shell here: `\! command`, `system command`, `.shell command`, `\o |command`.
_COMMANDS = Pattern(
    r"(?im)(?:^|;)\s*(?:(?:\\!|system\s|\.(?:shell|system)\s)\s*(?P<line>[^\n]+)"
    r"|(?:\\(?:o|g|gx|w)|\.(?:output|once|read|import|log))\s*\|\s*(?P<pipe>[^\n]+))"
    r"|\\copy\b[^\n]*?\bprogram\s+'(?P<copied>(?:[^'\n]|'')+)'"
)
_FILES = Pattern(r"(?im)(?:^|;)\s*(?:\\(?:i|ir|include|include_relative|\.)|source|\.read)\s+['\"]?([^\s'\";|]+)")
# Statements that make the server run a shell on its own machine.
_SERVED = Pattern(r"(?i)\b(?:to|from)\s+program\s+'((?:[^'\n]|'')+)'|\bxp_cmdshell\s+N?'((?:[^'\n]|'')+)'")


def escapes(builder: EffectsBuilder, text: str) -> None:
    """Commands and files that a text makes the client or the server run."""
    for found in _COMMANDS.finditer(text):
        command = found["line"] or found["pipe"] or found["copied"].replace("''", "'")
        builder.shell(command.strip().strip("'\"") if found["pipe"] else command.strip())
    for name in _FILES.findall(text):
        builder.script_file(name)
    for copied, called in _SERVED.findall(text):
        builder.shell((copied or called).replace("''", "'"), place="elsewhere")
