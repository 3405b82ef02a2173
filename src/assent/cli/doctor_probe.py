"""Fires a call at a hook as an agent program would, by the very words in its settings. Judges nothing itself."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import urllib.parse

from assent import agents
from assent.agents import probes
from assent.agents.adapter import Rendered
from assent.agents.capabilities import CAPABILITIES, Does
from assent.agents.settings.hooks import Wired
from assent.contract import Value

PATIENCE = 30.0  # seconds; a decision that asks nobody takes much less
REACHED = 2.0  # seconds for a server over HTTP
GARBAGE = '{"tool'


class Trial(Value):
    """What came of one call. `open` says that something ran which must not; otherwise what should run did not."""

    __slots__ = ("text", "open")

    def __init__(self, text: str, open: bool) -> None:
        self.text = text
        self.open = open


def tried(runtime: str, hook: Wired, folder: str) -> tuple[Trial, ...]:
    """What is wrong with a hook: it must block what is forbidden and what is no event, and let the harmless run. It
    must block the forbidden without the server too, whether one runs now or not."""
    forbidden = json.dumps(probes.event(runtime, probes.FORBIDDEN, folder))
    harmless = json.dumps(probes.event(runtime, probes.HARMLESS, folder))
    wrong = []
    for what, text, wanted, alone in (
        ("a call that is on the floor", forbidden, probes.BLOCKED, False),
        ("garbage", GARBAGE, probes.BLOCKED, False),
        ("a call that only looks", harmless, probes.ALLOWED, False),
        ("without a server, a call that is on the floor", forbidden, probes.BLOCKED, True),
    ):
        if alone and hook.url:
            continue
        try:
            found, said = fired(runtime, hook, text, folder, alone=alone)
        except OSError as error:
            return (Trial(f"the hook cannot be started: {error}", not blocks_broken(runtime, hook)),)
        if found != wanted:
            shown = f"{what} was {found}, not {wanted}{f': {said}' if said else ''}"
            wrong.append(Trial(shown, found != probes.BLOCKED))
    return tuple(wrong)


def blocks_broken(runtime: str, hook: Wired) -> bool:
    """Whether the program blocks where it cannot start the hook."""
    return hook.blocks and CAPABILITIES[runtime].does["crash"] in (Does.BLOCKS, Does.ENDS)


def fired(runtime: str, hook: Wired, text: str, folder: str, *, alone: bool = False) -> tuple[str, str]:
    """What the program would make of the hook's answer to an event, and what the hook said. `alone`: of a hook that
    asks no server, as it does with a mode of its own, which can only tighten."""
    if hook.url:
        return _posted(runtime, hook, text)
    variable = agents.load(runtime).variable
    environ = {**os.environ, **({variable: text, "PWD": folder} if variable else {})}
    environ.pop("ASSENT_MODE", None)
    if alone:
        environ["ASSENT_MODE"] = "default"
    try:
        done = subprocess.run(
            list(hook.words),
            input=b"" if variable else text.encode(),
            capture_output=True,
            cwd=folder,
            env=environ,
            timeout=(patience := min(PATIENCE, hook.timeout or PATIENCE)),
            check=False,
        )
    except subprocess.TimeoutExpired:
        return probes.UNSURE, f"no answer within {patience:.0f} seconds"
    answer = Rendered(done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"), done.returncode)
    return probes.understood(runtime, answer), (answer.stderr or answer.stdout).strip()[:200]


def _posted(runtime: str, hook: Wired, text: str) -> tuple[str, str]:
    where = urllib.parse.urlsplit(hook.url)
    connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=REACHED)
    try:
        connection.request("POST", where.path, text, {"Content-Type": "application/json", **dict(hook.headers)})
        answer = connection.getresponse()
        body = answer.read().decode("utf-8", "replace")
    except (OSError, http.client.HTTPException) as error:
        return (probes.BLOCKED if hook.blocks else probes.ALLOWED), f"the server cannot be reached: {error}"
    finally:
        connection.close()
    if answer.status // 100 != 2:
        return (probes.BLOCKED if hook.blocks else probes.ALLOWED), f"the server answered {answer.status}"
    return probes.understood(runtime, Rendered(body)), body[:200]
