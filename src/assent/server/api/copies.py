"""Endpoints: list the copies of what calls destroyed, preview putting one back, put it back."""

from __future__ import annotations

from itertools import islice

from assent.contract import StoreError
from assent.engine import copies
from assent.engine.cache import Refusing
from assent.server.access import Role
from assent.server.api import shown
from assent.server.api.endpoint import (
    FLAG,
    NUMBER,
    TEXT,
    TEXTS,
    WHOLE,
    ApiRequest,
    Endpoint,
    Refusal,
    in_thread,
    listing,
    record,
)
from assent.undo.copy import Copy
from assent.undo.restore import differences
from assent.undo.store import CopyStore, Limits

MOST, LINES = 200, 400  # copies, and lines of differences


def all_copies(asked: ApiRequest) -> object:
    found = CopyStore(asked.server.state).copies()
    return {"copies": [_shown(copy) for copy in found[:MOST]], "more": len(found) > MOST}


def show(asked: ApiRequest) -> object:
    copy = _copy(asked)
    try:
        lines = list(islice(differences(CopyStore(asked.server.state), copy), LINES + 1))
    except StoreError as error:
        raise Refusal(409, "damaged", str(error)) from None
    return {**_shown(copy), "differences": [shown.safe(line) for line in lines[:LINES]], "more": len(lines) > LINES}


def put_back(asked: ApiRequest) -> object:
    copy = _copy(asked)
    engine, _ = asked.server.engines.find(asked.server.folder)
    limits = Limits() if isinstance(engine, Refusing) else copies.limits_of(engine.settings)
    try:
        kept, problem = copies.undo(asked.server.gate.memory, copy, limits, who=asked.who, channel=asked.channel)
    except StoreError as error:
        raise Refusal(409, "not-restored", shown.safe(str(error), "reason")) from None
    asked.server.log.say(f"{asked.who} put back the copy {copy.id}")
    return {"restored": copy.id, "kept": kept.id, "note": f"it is put back, but {problem}" if problem else ""}


def _copy(asked: ApiRequest) -> Copy:
    wanted = asked.path["id"]
    found = [copy for copy in CopyStore(asked.server.state).copies() if copy.id == wanted]
    if not found:
        raise Refusal(404, "unknown", "there is no such copy; it may have been removed to make room")
    return found[0]


def _shown(copy: Copy) -> dict[str, object]:
    about = {name: getattr(copy.about, name) for name in copy.about.__slots__}
    return {**shown.safe(about), "id": copy.id, "time": copy.time, "size": copy.size, "count": copy.count}


COPY = record("id time size count call", id=TEXT, time=NUMBER, size=WHOLE, count=WHOLE, call=TEXT, session=TEXT)

ENDPOINTS = (
    Endpoint(
        "GET",
        "/v1/undo",
        in_thread(all_copies),
        needs=Role.PERSON,
        summary="copies of what calls destroyed, the newest first",
        gives={200: record("copies more", copies=listing(COPY), more=FLAG)},
    ),
    Endpoint(
        "GET",
        "/v1/undo/{id}",
        in_thread(show),
        needs=Role.PERSON,
        summary="a copy, and what putting it back would change, line by line",
        gives={200: record("id call differences more", id=TEXT, call=TEXT, differences=TEXTS, more=FLAG)},
    ),
    Endpoint(
        "POST",
        "/v1/undo/{id}",
        in_thread(put_back),
        needs=Role.PERSON,
        summary="put a copy back; what that replaces is kept as another copy",
        body=record(),
        gives={200: record("restored kept", restored=TEXT, kept=TEXT, note=TEXT)},
    ),
)
