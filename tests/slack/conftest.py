"""A stand-in for Slack, and servers that ask there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.program import Person, Program
from tests.slack.standin import ANN, APP, BOT, PLACE, SIGNING, StandIn

SECRETS = f'slack-bot-token = "{BOT}"\nslack-app-token = "{APP}"\nslack-signing-secret = "{SIGNING}"\n'


def gate(folder: Path, slack: StandIn, *, more: str = "", secrets: str = SECRETS, config: str = "") -> Program:
    """A server that asks in Slack."""
    state = folder / "state"
    state.mkdir(parents=True)
    filed = state / "secrets.toml"
    filed.write_text(secrets)
    filed.chmod(0o600)
    section = f'[slack]\nchannel = "{PLACE}"\nusers = ["{ANN}"]\napi = "{slack.api}"\n{more}'
    return Program(folder, config=f"{config}\n{section}")


@pytest.fixture(scope="module")
def slack() -> Iterator[StandIn]:
    found = StandIn()
    yield found
    found.close()


@pytest.fixture(scope="module")
def program(slack: StandIn, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    found = gate(tmp_path_factory.mktemp("gate"), slack)
    slack.connected()
    yield found
    found.stop()


@pytest.fixture(scope="module")
def person(program: Program) -> Person:
    return program.sign_in()


def records(program: Program, **fields: Any) -> list[dict[str, Any]]:
    """What the trail has of something."""
    import json

    found = [json.loads(line) for line in (program.state / "audit/permissions.jsonl").read_text().splitlines()]
    return [each for each in found if all(each.get(name) == value for name, value in fields.items())]
