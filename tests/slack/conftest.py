"""A stand-in for Slack, and servers that ask there."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.program import Person, Program
from tests.slack.standin import ANN, APP, BOT, PLACE, SIGNING, StandIn, until

SECRETS = f'slack-bot-token = "{BOT}"\nslack-app-token = "{APP}"\nslack-signing-secret = "{SIGNING}"\n'


class Gate(Program):
    """A server that asks in remote channels, with secrets in its file and more environment variables."""

    def __init__(self, folder: Path, config: str, *, secrets: str = SECRETS, **environ: str) -> None:
        self.more = {"PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring", **environ}
        state = folder / "state"
        state.mkdir(parents=True)
        filed = state / "secrets.toml"
        filed.write_text(secrets)
        filed.chmod(0o600)
        super().__init__(folder, config=config)

    def start(self) -> None:
        self.environ |= self.more
        super().start()

    def watch(self, person: Person) -> http.client.HTTPConnection:
        """An open page: a stream of events, which counts as somebody who sees questions."""
        found = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        found.request("GET", "/v1/events", headers=person.headers)
        assert found.getresponse().readline().startswith(b"event: ")
        return found

    def elsewhere(self, name: str, state: str, seconds: float = 20) -> None:
        """Wait until a channel is in this state."""

        def stands() -> bool | None:
            found = self.ask("GET", "/v1/status", unix=True).json["elsewhere"]
            return True if found.get(name, {}).get("state") == state else None

        until(stands, seconds, f"{name} is not {state}")


def asking(slack: StandIn, *, place: str = PLACE, more: str = "", before: str = "") -> str:
    """The configuration of a server that asks in Slack."""
    return f'{before}\n[slack]\nchannel = "{place}"\nusers = ["{ANN}"]\napi = "{slack.api}"\n{more}\n'


@pytest.fixture(scope="module")
def slack() -> Iterator[StandIn]:
    found = StandIn()
    yield found
    found.close()


@pytest.fixture(scope="module")
def program(slack: StandIn, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    found = Gate(tmp_path_factory.mktemp("gate"), asking(slack))
    found.elsewhere("slack", "up")
    yield found
    found.stop()


@pytest.fixture(scope="module")
def person(program: Gate) -> Person:
    return program.sign_in()
