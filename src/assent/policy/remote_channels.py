"""The settings of channels that are not on this machine: Slack and a webhook.

A section counts as a whole: that of the managed file replaces the user's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assent.contract import Value, re
from assent.policy.rules import Origin

if TYPE_CHECKING:
    from assent.policy.document import Document

SLACK_API = "https://slack.com/api/"
TRANSPORTS = ("socket", "http")
LOOPBACK = ("127.0.0.1", "localhost", "::1")
BY_TRANSPORT = {"socket": "slack-app-token", "http": "slack-signing-secret"}
# Settings with their meaning; document.py lists them with all others.
KEYS = {
    "slack.channel": "the Slack channel, or the person, that is asked, by id",
    "slack.users": "the Slack members who may answer, by id",
    "slack.team": "the only workspace that answers are taken from, by id",
    "slack.transport": "how Slack's answers come: socket or http",
    "slack.api": "the address of Slack's API, where it is another",
    "webhook.url": "where questions are posted to, signed",
    "webhook.users": "the names that may answer through the webhook",
}
LISTS = ("slack.users", "webhook.users")
NEEDED = {"slack": ("slack.channel", "slack.users"), "webhook": ("webhook.url",)}
FORMS = {
    "slack.channel": (r"[CGDUW][A-Z0-9]{2,30}", "the id of a channel or of a person", "write for example `C0123ABCD`"),
    "slack.users": (r"[UW][A-Z0-9]{2,30}", "a list of member ids", "write for example `U0123ABCD`, not a name"),
    "slack.team": (r"T[A-Z0-9]{2,30}", "the id of a workspace", "write for example `T0123ABCD`"),
    "webhook.users": (r"[^\x00-\x1f\x7f]{1,100}", "a list of names", 'write for example `["ann"]`'),
}


class SlackPlace(Value):
    """Where Slack is asked: in `channel`, of `users`, in the workspace `team` (`""`: that of the token)."""

    __slots__ = ("channel", "users", "team", "transport", "api", "file")

    def __init__(
        self, channel: str, users: tuple[str, ...], *, team: str = "", transport: str = "socket", api: str, file: str
    ) -> None:
        self.channel = channel
        self.users = users
        self.team = team
        self.transport = transport
        self.api = api
        self.file = file

    @property
    def words(self) -> str:
        who = ", ".join(self.users) + (f" of workspace {self.team}" if self.team else "")
        return f"asks in {self.channel}; {who} may answer, by {self.transport}  (set by {self.file})"

    @property
    def address(self) -> str:
        return self.channel

    @property
    def secrets(self) -> tuple[str, ...]:
        return "slack-bot-token", BY_TRANSPORT[self.transport]


class WebhookPlace(Value):
    """Where questions are posted to. No `users`: whoever can sign may answer by any name."""

    __slots__ = ("url", "users", "file")

    def __init__(self, url: str, users: tuple[str, ...] = (), *, file: str) -> None:
        self.url = url
        self.users = users
        self.file = file

    @property
    def words(self) -> str:
        who = ", ".join(self.users) or "whoever can sign"
        return f"asks at {self.url}; {who} may answer  (set by {self.file})"

    @property
    def address(self) -> str:
        from urllib.parse import urlsplit

        return urlsplit(self.url).netloc

    @property
    def secrets(self) -> tuple[str, ...]:
        return ("webhook-secret",)


def slack_of(documents: Sequence[Document]) -> SlackPlace | None:
    found = _section(documents, "slack")
    return (
        None
        if found is None
        else SlackPlace(
            str(found.remote["slack.channel"]),
            _names(found.remote["slack.users"]),
            team=str(found.remote.get("slack.team", "")),
            transport=str(found.remote.get("slack.transport", TRANSPORTS[0])),
            api=str(found.remote.get("slack.api", SLACK_API)),
            file=found.file,
        )
    )


def webhook_of(documents: Sequence[Document]) -> WebhookPlace | None:
    found = _section(documents, "webhook")
    return (
        None
        if found is None
        else WebhookPlace(
            str(found.remote["webhook.url"]), _names(found.remote.get("webhook.users", ())), file=found.file
        )
    )


def places(documents: Sequence[Document]) -> dict[str, SlackPlace | WebhookPlace]:
    found = {"slack": slack_of(documents), "webhook": webhook_of(documents)}
    return {name: place for name, place in found.items() if place is not None}


def _section(documents: Sequence[Document], name: str) -> Document | None:
    having = [each for each in documents if any(key.startswith(f"{name}.") for key in each.remote)]
    return next(iter([each for each in having if each.origin is Origin.MANAGED] or having), None)


def _names(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list | tuple) else ()


def objection(key: str, value: object) -> tuple[str, str]:
    """What is wrong with the value of a setting, and what to write; two empty texts where nothing is."""
    if key in FORMS:
        form, what, suggestion = FORMS[key]
        items = value if key in LISTS and isinstance(value, list) else [value] if key not in LISTS else []
        fits = bool(items) and all(isinstance(each, str) and re.fullmatch(form, each) for each in items)
    elif key == "slack.transport":
        what, suggestion, fits = "socket or http", 'write `transport = "socket"`', value in TRANSPORTS
    else:
        what, suggestion = (
            "an https address, or one of this machine",
            'write for example `"https://example.com/assent"`',
        )
        fits = isinstance(value, str) and is_safe_address(value)
    return ("", "") if fits else (f"`{key}` is {what}", suggestion)


def missing(keys: Sequence[str]) -> str:
    """A setting that its section needs and does not have, `""` where none is."""
    sections = {key.partition(".")[0] for key in keys}
    needed = (each for section, names in NEEDED.items() if section in sections for each in names)
    return next((each for each in needed if each not in keys), "")


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
