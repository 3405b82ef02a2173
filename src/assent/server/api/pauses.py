"""Endpoint for persons: lifting the protection of Assent itself for a while."""

from __future__ import annotations

from assent.engine import pausing
from assent.server.access import Role
from assent.server.api.endpoint import NUMBER, ApiRequest, Endpoint, record
from assent.state import pause


async def begin(asked: ApiRequest) -> object:
    """No seconds end a pause."""
    assert asked.person is not None
    seconds = asked.number("seconds", -1.0, most=pause.LONGEST)
    until = pausing.change(asked.house.gate.memory, seconds, who=asked.who, channel=asked.channel)
    asked.house.voice.say(
        f"{asked.person.who} {'paused the protection of Assent itself' if until else 'ended the pause'}"
    )
    return {"until": until}


ENDPOINTS = (
    Endpoint(
        "POST",
        "/v1/pause",
        begin,
        needs=Role.PERSON,
        summary="lift the protection of Assent itself for so many seconds; 0 ends that",
        body=record("seconds", seconds=NUMBER),
        gives={200: record("until", until=NUMBER)},
    ),
)
