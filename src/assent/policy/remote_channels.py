"""The settings of places to answer in that are not on this machine: Slack, and a webhook. Opens no connection.

A section counts as a whole: that of the managed file stands in for the user's."""

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
# Settings, with what they mean; document.py lists them with all others.
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
        """The names of the secrets that it takes to ask there."""
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
    """The Slack that the files name, None where none does."""
    found = _section(documents, "slack")
    if found is None:
        return None
    told = found.remote
    return SlackPlace(
        str(told["slack.channel"]),
        _names(told["slack.users"]),
        team=str(told.get("slack.team", "")),
        transport=str(told.get("slack.transport", TRANSPORTS[0])),
        api=str(told.get("slack.api", SLACK_API)),
        file=found.file,
    )


def webhook_of(documents: Sequence[Document]) -> WebhookPlace | None:
    """The webhook that the files name, None where none does."""
    found = _section(documents, "webhook")
    if found is None:
        return None
    return WebhookPlace(
        str(found.remote["webhook.url"]), _names(found.remote.get("webhook.users", ())), file=found.file
    )


def places(documents: Sequence[Document]) -> dict[str, SlackPlace | WebhookPlace]:
    """The places that the files name, by the names of their sections."""
    found = {"slack": slack_of(documents), "webhook": webhook_of(documents)}
    return {name: place for name, place in found.items() if place is not None}


def _section(documents: Sequence[Document], name: str) -> Document | None:
    having = [each for each in documents if any(key.startswith(f"{name}.") for key in each.remote)]
    managed = [each for each in having if each.origin is Origin.MANAGED]
    return next(iter(managed or having), None)


def _names(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list | tuple) else ()


def objection(key: str, value: object) -> tuple[str, str]:
    """What is wrong with the value of a setting, and what to write; two empty texts where nothing is."""
    if key in LISTS:
        wrong = not isinstance(value, list) or not value or not all(_fits(key, each) for each in value)
        return (f"`{key}` is {FORMS[key][1]}", FORMS[key][2]) if wrong else ("", "")
    if key in FORMS:
        return ("", "") if _fits(key, value) else (f"`{key}` is {FORMS[key][1]}", FORMS[key][2])
    if key == "slack.transport":
        return ("", "") if value in TRANSPORTS else (f"`{key}` is socket or http", 'write `transport = "socket"`')
    if isinstance(value, str) and is_safe_address(value):
        return "", ""
    return f"`{key}` is an https address, or one of this machine", 'write for example `"https://example.com/assent"`'


def missing(keys: Sequence[str]) -> str:
    """A setting that its section needs and does not have, `""` where none is."""
    for section, needed in NEEDED.items():
        if any(key.startswith(f"{section}.") for key in keys):
            for each in needed:
                if each not in keys:
                    return each
    return ""


def is_safe_address(address: str) -> bool:
    """Whether an address is spoken to in secret: by TLS, or without leaving this machine. It holds no password."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(address)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return False
    if not host or parts.username is not None or parts.fragment or re.search(r"[\x00-\x20\x7f-\uffff\\]", address):
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and host in LOOPBACK)


def _fits(key: str, value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(FORMS[key][0], value) is not None
