"""Starts an agent program itself, with its own settings, against a model of ours that tries a forbidden call.

What a look at the settings cannot see is seen here: whether the program asks the hook, and does what it says. The
program reaches nobody but that model. Judges no settings."""

from __future__ import annotations

import json
import os
import subprocess

from assent.agents import known
from assent.cli.doctor_model import Json, Prompter
from assent.contract import Value
from assent.state import hosts

PATIENCE = 90.0  # seconds for a program to start, make one call and end
# On the floor, and there is no such file: where the hook is passed by, nothing is shown.
FORBIDDEN = "cat .ssh/assent-doctor"
REFUSED = "is protected"  # what the floor says of it
PROMPT = "assent doctor tries whether the hook blocks"
KEY = "no-key-at-all"
RUNTIMES = known.runtimes("rehearsal")


class Outcome(Value):
    """What came of it: `blocked` is None where no call was made, and `text` says why."""

    __slots__ = ("blocked", "text")

    def __init__(self, blocked: bool | None, text: str) -> None:
        self.blocked = blocked
        self.text = text


def tried(runtime: str, folder: str) -> Outcome:
    """Start the program in a folder, and see whether the forbidden call is blocked by us."""
    program = hosts.program(runtime)
    if not program:
        return Outcome(None, f"`{hosts.PROGRAMS[runtime]}` is not on the PATH")
    prompter = Prompter(*call(runtime))
    try:
        words = [program, *words_of(runtime, prompter.url), PROMPT]
        ended = subprocess.run(
            words,
            cwd=folder,
            env={**os.environ, **environment(runtime, prompter.url), **OFFLINE},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Outcome(None, f"the program did not end within {PATIENCE:.0f} seconds")
    except OSError as error:
        return Outcome(None, f"the program does not start: {error.strerror}")
    finally:
        prompter.close()
    if prompter.results:
        said = prompter.results[0]
        return Outcome(REFUSED in said, " ".join(said.split())[:200])
    said = " ".join((ended.stderr or ended.stdout).split())[-200:]
    return Outcome(
        None, f"{'it made no call' if prompter.spoken else 'it asked no model'}: {said or 'it said nothing'}"
    )


# What is on loopback is reached without a proxy.
OFFLINE = {"NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost"}


def call(runtime: str) -> tuple[str, Json]:
    """The forbidden call: a tool of the program, and its arguments."""
    row = known.section("rehearsal")[runtime]
    given = row["arguments"]
    assert isinstance(given, dict)
    return str(row["tool"]), {key: str(value).replace("{forbidden}", FORBIDDEN) for key, value in given.items()}


def words_of(runtime: str, url: str) -> list[str]:
    """How the program takes one prompt, and the model's address as far as that is said by words."""
    row = known.section("rehearsal")[runtime]
    since = row.get("words_since", {})
    assert isinstance(since, dict)
    more = [word for word, version in since.items() if hosts.at_least(hosts.version(runtime), version)]
    # Settings may name another address, and those in the words stand above them.
    given = json.dumps({"env": environment(runtime, url)})
    words = known.lists("rehearsal", "words")[runtime]
    return [*(word.replace("{environment}", given).replace("{url}", url) for word in words), *more]


def environment(runtime: str, url: str) -> dict[str, str]:
    """The model's address, a key that is none, and no traffic beside."""
    given = known.section("rehearsal")[runtime].get("environment", {})
    assert isinstance(given, dict)
    return {name: str(value).replace("{url}", url).replace("{key}", KEY) for name, value in given.items()}
