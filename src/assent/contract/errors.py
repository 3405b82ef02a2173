"""The exceptions of Assent, one for each distinct way of handling. Doubt about a call is a Gap, not one of these.

AssentError
├── PayloadError    a runtime's input is not a call
├── PolicyError     a policy does not load; carries where and what to do
├── SettingsError   a runtime's settings file is not changed; carries the line
├── StoreError      a file of Assent's own state cannot be read or written
└── AccessError     access is refused; carries a short code for programs
"""

from __future__ import annotations

from typing import Never


class AssentError(Exception):
    """The base of the errors of Assent."""


class PayloadError(AssentError):
    """The input is not a tool call."""


class PolicyError(AssentError):
    """A policy that does not load: nothing is decided, and no part of it is used."""

    def __init__(self, message: str, *, file: str = "", line: int = 0, suggestion: str = "") -> None:
        self.message = message
        self.file = file
        self.line = line
        self.suggestion = suggestion
        super().__init__(str(self))

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}" if self.file and self.line else self.file

    def __str__(self) -> str:
        place = f"{self.place}: " if self.file else ""
        return f"{place}{self.message}" + (f"; {self.suggestion}" if self.suggestion else "")


class StoreError(AssentError):
    """A file of Assent's own state that cannot be read or written. Anything that needs it is refused."""


class AccessError(AssentError):
    """Access is refused. `code` is stable, for programs."""

    def __init__(self, message: str, *, code: str) -> None:
        self.code = code
        super().__init__(message)


class SettingsError(AssentError):
    """A settings file of a runtime is not changed: it could not be read, or not changed safely."""

    def __init__(self, message: str, *, line: int = 0) -> None:
        self.message = message
        self.line = line
        super().__init__(f"line {line}: {message}" if line else message)


def assert_never(value: Never) -> Never:
    """Ends a choice that has a branch for every member: the type checker refuses a member without one.

    `typing` has the same function, and is slow to import."""
    raise AssertionError(f"no branch for {value!r}")
