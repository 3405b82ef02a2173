"""Remote channels are named by the managed or the user's file alone, and a mistake in them is an error with a line."""

from __future__ import annotations

import pytest

from assent.contract import PolicyError
from assent.policy.document import Document, read_document
from assent.policy.remote_channels import RemotePlace, is_safe_address, places
from assent.policy.rules import Origin

SLACK = '[slack]\nchannel = "C0ASKED"\nusers = ["U0ANN", "W0BOB"]\n'
HOOK = '[webhook]\nurl = "https://example.com/x"\n'


def read(text: str, origin: Origin = Origin.USER) -> Document:
    return read_document(text, f"{origin.name.lower()}.toml", origin)


def slack(channel: str, *users: str, file: str = "user.toml", **more: str) -> RemotePlace:
    given = {"channel": channel, "users": users, "team": "", "transport": "socket", "api": "https://slack.com/api/"}
    return RemotePlace("slack", {**given, **more}, file)


def test_a_section_says_where_and_who() -> None:
    hook = RemotePlace("webhook", {"url": "https://example.com/x", "users": ()}, "user.toml")
    assert places([read(SLACK + HOOK)]) == {"slack": slack("C0ASKED", "U0ANN", "W0BOB"), "webhook": hook}
    assert places([read("")]) == {}
    more = read(SLACK + 'team = "T0HOME"\ntransport = "http"\napi = "http://127.0.0.1:9/api/"\n')
    assert places([more]) == {
        "slack": slack("C0ASKED", "U0ANN", "W0BOB", team="T0HOME", transport="http", api="http://127.0.0.1:9/api/")
    }


def test_a_place_is_told_in_words() -> None:
    found = places([read(SLACK + 'team = "T0HOME"\n' + HOOK)])
    assert [(each.words, each.address) for each in found.values()] == [
        ("asks in C0ASKED; U0ANN, W0BOB of workspace T0HOME may answer, by socket  (set by user.toml)", "C0ASKED"),
        ("asks at https://example.com/x; whoever can sign may answer  (set by user.toml)", "example.com"),
    ]
    named = places([read(SLACK + HOOK + 'users = ["ann", "{bob}"]')])
    assert named["slack"].words == "asks in C0ASKED; U0ANN, W0BOB may answer, by socket  (set by user.toml)"
    assert named["webhook"].words == "asks at https://example.com/x; ann, {bob} may answer  (set by user.toml)"


def test_the_section_of_the_managed_file_stands_in_for_the_users_as_a_whole() -> None:
    managed = read(SLACK.replace("C0ASKED", "C0ALL").replace(', "W0BOB"', ""), Origin.MANAGED)
    assert places([managed, read(SLACK)]) == {"slack": slack("C0ALL", "U0ANN", file="managed.toml")}


@pytest.mark.parametrize("text", [SLACK, HOOK])
def test_a_project_may_not_say_where_questions_go(text: str) -> None:
    with pytest.raises(PolicyError, match="a project file may not set"):
        read(text, Origin.PROJECT)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('[slack]\nchannel = "C0ASKED"\n', 2, r"`\[slack\]` has no `users`"),
        ('[slack]\nusers = ["U0ANN"]\n', 2, r"`\[slack\]` has no `channel`"),
        ('[webhook]\nusers = ["ann"]\n', 2, r"`\[webhook\]` has no `url`"),
        ('[slack]\nchannel = "#general"\nusers = ["U0ANN"]\n', 2, "`slack.channel` must be the id"),
        ('[slack]\nchannel = "C0ASKED"\nusers = []\n', 3, "`slack.users` must be a list of member ids"),
        ('[slack]\nchannel = "C0ASKED"\nusers = ["ann"]\n', 3, "`slack.users` must be a list of member ids"),
        ('[slack]\nchannel = "C0ASKED"\nusers = "U0ANN"\n', 3, "`slack.users` must be a list of member ids"),
        (SLACK + 'team = "home"\n', 4, "`slack.team` must be the id of a workspace"),
        (SLACK + 'transport = "carrier"\n', 4, "`slack.transport` must be socket or http"),
        (SLACK + 'api = "http://slack.example/api"\n', 4, "`slack.api` must be an https address"),
        (SLACK + 'token = "xoxb-1"\n', 4, "unknown setting `slack.token`"),
        ('[webhook]\nurl = "http://example.com"\n', 2, "`webhook.url` must be an https address"),
        (HOOK + 'secret = "x"\n', 3, "unknown setting `webhook.secret`"),
        (HOOK + 'users = [""]\n', 3, "`webhook.users` must be a list of names"),
    ],
)
def test_a_mistake_is_an_error_with_a_line(text: str, line: int, words: str) -> None:
    with pytest.raises(PolicyError, match=words) as caught:
        read(text)
    assert caught.value.line == line


@pytest.mark.parametrize(
    "address",
    [
        "https://a.example",
        "https://a.example:8443/x?y=1",
        "http://127.0.0.1:9/",
        "http://localhost/x",
        "http://[::1]:9/",
    ],
)
def test_an_address_is_spoken_to_by_tls_or_on_this_machine(address: str) -> None:
    assert is_safe_address(address)


@pytest.mark.parametrize(
    "address",
    [
        "", "x", "ftp://a", "http://a.example", "http://127.0.0.1.evil.example/", "http://localhost.evil.example/",
        "https://", "https://me:pw@a.example/", "https://a.example/#x", "http://127.0.0.1@evil.example/",
        "https://a.example/\r\nX: y", "https://a b.example/", "https://a.example:99999/", "http://0.0.0.0/",
        "http://2130706433/", "http:\\\\127.0.0.1\\x", "https://ä.example/", "file:///etc/passwd", "//a.example/",
    ],
)  # fmt: skip
def test_any_other_address_is_not(address: str) -> None:
    assert not is_safe_address(address)
