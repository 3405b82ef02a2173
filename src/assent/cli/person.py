"""Whether a person sits at this terminal: no agent program above this process, and a word typed as it is shown."""

from __future__ import annotations

import os
import secrets
import sys

from assent.contract import AccessError
from assent.server import peers
from assent.server.access import ALPHABET
from assent.state import hosts

LETTERS = 6


def as_a_person(state: str, instead: str) -> None:
    """Raises AccessError where it is not plain that a person runs this. `instead` says what comes of that."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise AccessError(f"{instead}: this is for a person in a terminal", code="no-terminal")
    why = peers.why_no_person(os.getpid(), hosts.names(state))
    if why:
        raise AccessError(f"{instead}: {why}; run it in a terminal of your own", code="no-person")


def typed_word(prompt: str, instead: str) -> None:
    """A word that is shown now has to be typed; `prompt` names it as `{word}`. Raises AccessError for another."""
    word = "".join(secrets.choice(ALPHABET) for _ in range(LETTERS))
    print(prompt.format(word=word))
    if typed("> ").upper() != word:
        raise AccessError(f"that was another word; {instead}", code="bad-word")


def typed(prompt: str) -> str:
    try:
        return input(prompt).strip()
    except EOFError:
        return ""
