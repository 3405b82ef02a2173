"""Secrets come from the environment, a closed file or the keyring, in this order, and from nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from assent.approval.secrets import Secrets, taken, variable
from assent.contract import StoreError
from assent.policy.remote_channels import secret_names

NAMES = secret_names()


def filed(folder: Path, text: str, mode: int = 0o600) -> None:
    path = folder / "secrets.toml"
    path.write_text(text)
    path.chmod(mode)


def test_the_environment_comes_before_the_file_and_the_file_before_the_keyring(tmp_path: Path) -> None:
    filed(tmp_path, 'slack-bot-token = "filed"\nwebhook-secret = " filed "\n')
    kept = dict.fromkeys(NAMES, "kept")
    found = Secrets({"slack-bot-token": "given"}, str(tmp_path), NAMES, kept.get)
    assert [found.find(name) for name in NAMES] == ["given", "kept", "kept", "filed"]


def test_what_is_nowhere_is_missing_with_where_to_put_it(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"`webhook-secret` is missing; put it into .*ASSENT_WEBHOOK_SECRET"):
        Secrets({}, str(tmp_path), NAMES, lambda name: None).need("webhook-secret")


def test_secrets_are_taken_out_of_the_environment() -> None:
    environ = {"PATH": "/bin", "ASSENT_WEBHOOK_SECRET": " s ", "ASSENT_SLACK_BOT_TOKEN": "", "ASSENT_HOME": "/h"}
    assert taken(environ, NAMES) == {"webhook-secret": "s"}
    assert environ == {"PATH": "/bin", "ASSENT_HOME": "/h"}
    assert [variable(name) for name in NAMES] == [
        "ASSENT_SLACK_BOT_TOKEN",
        "ASSENT_SLACK_APP_TOKEN",
        "ASSENT_SLACK_SIGNING_SECRET",
        "ASSENT_WEBHOOK_SECRET",
    ]


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620])
def test_a_file_that_others_can_open_is_not_believed(tmp_path: Path, mode: int) -> None:
    filed(tmp_path, 'webhook-secret = "x"', mode)
    with pytest.raises(StoreError, match="is open to others; run `chmod 600"):
        Secrets({}, str(tmp_path), NAMES, lambda name: None).find("webhook-secret")


@pytest.mark.parametrize("text", ["x", "webhook-secret = 7", 'webhook = "typo"', "[slack]\nx = 1", '\xff = "x"'])
def test_a_file_with_a_mistake_is_an_error_that_shows_no_secret(tmp_path: Path, text: str) -> None:
    filed(tmp_path, text + '\n# "hush"')
    with pytest.raises(StoreError) as caught:
        Secrets({}, str(tmp_path), NAMES, lambda name: None).find("webhook-secret")
    assert "hush" not in str(caught.value)


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "secrets.toml").mkdir()
    with pytest.raises(StoreError, match="cannot be read"):
        Secrets({}, str(tmp_path), NAMES, lambda name: None).find("webhook-secret")


def test_a_keyring_of_the_system_is_asked_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import keyring
    from keyring.backend import KeyringBackend

    before = keyring.get_keyring()  # first: a class of its kind counts as soon as it is there

    class Kept(KeyringBackend):
        priority = 1.0

        def get_password(self, service: str, username: str) -> str | None:
            return "rung" if (service, username) == ("assent", "webhook-secret") else None

        def set_password(self, service: str, username: str, password: str) -> None: ...

        def delete_password(self, service: str, username: str) -> None: ...

    keyring.set_keyring(Kept())  # type: ignore[no-untyped-call]  # of the package
    try:
        assert Secrets({}, str(tmp_path), NAMES).find("webhook-secret") == "rung"
        assert Secrets({}, str(tmp_path), NAMES).find("slack-app-token") == ""
    finally:
        keyring.set_keyring(before)
