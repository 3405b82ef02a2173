"""The findings of `assent doctor` on remote channels: missing parts, and secrets that are not secret."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backends.null import Keyring

from assent.server import remote_channels

SLACK = '[slack]\nchannel = "C0ASKED"\nusers = ["U0ANN"]\n'
HOOK = '[webhook]\nurl = "https://example.com/x"\n'


@pytest.fixture(autouse=True)
def an_empty_keyring() -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(Keyring())  # type: ignore[no-untyped-call]  # of the package
    yield
    keyring.set_keyring(before)


def found(state: Path, config: str, **environ: str) -> list[str]:
    (state / "config.toml").write_text(config)
    return [text for text, _ in remote_channels.findings(str(state), environ)]


def test_nothing_is_found_where_nothing_is_set_up(tmp_path: Path) -> None:
    assert found(tmp_path, "") == []


@pytest.mark.parametrize(
    ("config", "missing"),
    [
        (SLACK, ["slack-bot-token", "slack-app-token"]),
        (SLACK + 'transport = "http"\n', ["slack-bot-token", "slack-signing-secret"]),
        (HOOK, ["webhook-secret"]),
    ],
)
def test_every_secret_that_is_missing_is_named(tmp_path: Path, config: str, missing: list[str]) -> None:
    assert found(tmp_path, config) == [f"`{name}` is missing" for name in missing]


def test_a_secret_in_the_environment_is_pointed_out(tmp_path: Path) -> None:
    (only,) = found(tmp_path, HOOK, ASSENT_WEBHOOK_SECRET="x" * 32)
    assert only.startswith("ASSENT_WEBHOOK_SECRET is in this environment")


def test_a_policy_or_a_file_of_secrets_that_does_not_load_is_told_with_its_error(tmp_path: Path) -> None:
    assert "unknown setting `slack.token`" in found(tmp_path, SLACK + 'token = "x"')[0]
    (tmp_path / "secrets.toml").write_text("x")
    (tmp_path / "secrets.toml").chmod(0o644)
    assert "is open to others" in found(tmp_path, HOOK)[0]


def test_a_file_that_stands_in_for_the_users_is_read(tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_text(HOOK)
    found = remote_channels.named(str(tmp_path), str(tmp_path / "other.toml"))
    assert {name: place.address for name, place in found.items()} == {"webhook": "example.com"}
