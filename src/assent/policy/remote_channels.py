"""The settings of channels that are not on this machine, such as Slack and a webhook.

The `channel.toml` of a channel's folder in `approval/channels/` lists its settings and secrets; CONTRIBUTING.md
explains the keys. A section counts as a whole: that of the managed file replaces the user's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from assent.contract import Value, re
from assent.policy.rules import Origin
from assent.programs.catalog import Catalog

if TYPE_CHECKING:
    from assent.policy.document import Document

LOOPBACK = ("127.0.0.1", "localhost", "::1")
catalog = Catalog(__file__.rpartition("/policy/")[0] + "/approval/channels", inside="channel.toml")


def settings() -> Mapping[str, Mapping[str, Any]]:
    """The definition of each setting, by channel and name. One without a default is required."""
    return catalog.rows("settings")


def keys() -> dict[str, str]:
    """Every setting with its meaning; document.py lists them with all others."""
    return {f"{name}.{key}": row["meaning"] for name, rows in settings().items() for key, row in rows.items()}


def secret_names() -> tuple[str, ...]:
    """The names of the secrets of every channel."""
    return tuple(each for name in settings() for each in _secrets(name))


class RemotePlace(Value):
    """Where a remote channel asks: the `values` of its settings, by name, with defaults."""

    __slots__ = ("name", "values", "file")

    def __init__(self, name: str, values: Mapping[str, Any], file: str) -> None:
        self.name = name
        self.values = values
        self.file = file

    @property
    def known(self) -> Mapping[str, Any]:
        """The definition of the channel."""
        return catalog.rows("channel")[self.name]

    @property
    def words(self) -> str:
        shown = {key: _shown(settings()[self.name][key], value) for key, value in self.values.items()}
        return f"{self.known['words'].format(**shown)}  (set by {self.file})"

    @property
    def address(self) -> str:
        from urllib.parse import urlsplit

        key = self.known["address"]
        is_address = "kind" in settings()[self.name][key]
        return urlsplit(self.values[key]).netloc if is_address else str(self.values[key])

    @property
    def secrets(self) -> tuple[str, ...]:
        return tuple(_secrets(self.name, self.values))


def _secrets(name: str, values: Mapping[str, Any] | None = None) -> list[str]:
    """The secrets that a channel needs with some values of its settings, or with any (None)."""
    row: Mapping[str, Any] = catalog.rows("channel")[name]
    choices = row.get("secrets_by", {}).items()
    chosen = [each for key, by in choices for value, each in by.items() if values is None or values[key] == value]
    return [*row["secrets"], *chosen]


def _shown(row: Mapping[str, Any], value: str | tuple[str, ...]) -> str:
    text = value if isinstance(value, str) else ", ".join(value)
    return str(row.get("shown", "{}").format(text) if text else row.get("unset", ""))


def places(documents: Sequence[Document]) -> dict[str, RemotePlace]:
    found = {name: _section(documents, name) for name in settings()}
    return {
        name: RemotePlace(name, _values(name, each.remote), each.file)
        for name, each in found.items()
        if each is not None
    }


def _section(documents: Sequence[Document], name: str) -> Document | None:
    having = [each for each in documents if any(key.startswith(f"{name}.") for key in each.remote)]
    return next(iter([each for each in having if each.origin is Origin.MANAGED] or having), None)


def _values(name: str, given: Mapping[str, object]) -> dict[str, Any]:
    found = {key: given.get(f"{name}.{key}", row.get("default")) for key, row in settings()[name].items()}
    return {key: tuple(value) if isinstance(value, list) else value for key, value in found.items()}


def objection(key: str, value: object) -> tuple[str, str]:
    """What is wrong with the value of a setting, and what to write; two empty texts if it is valid."""
    section, _, name = key.partition(".")
    row = settings()[section][name]
    items = [value] if not row.get("list") else value if isinstance(value, list) else []
    fits = bool(items) and all(isinstance(each, str) and _fits(row, each) for each in items)
    return ("", "") if fits else (f"`{key}` must be {row['is']}", row["suggestion"])


def _fits(row: Mapping[str, Any], text: str) -> bool:
    return is_safe_address(text) if "kind" in row else re.fullmatch(row["form"], text) is not None


def missing(given: Mapping[str, object]) -> str:
    """A required setting that its section lacks, `""` if there is none."""
    sections = sorted({key.partition(".")[0] for key in given})
    needed = (f"{each}.{key}" for each in sections for key, row in settings()[each].items() if "default" not in row)
    return next((each for each in needed if each not in given), "")


def is_safe_address(address: str) -> bool:
    """Whether requests to an address are private: by TLS, or on this machine. It may contain no password."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(address)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return False
    if not host or parts.username is not None or parts.fragment or re.search(r"[\x00-\x20\x7f-\uffff\\]", address):
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and host in LOOPBACK)
