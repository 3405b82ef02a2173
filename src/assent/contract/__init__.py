"""The types and errors that stages share; import them from here. Imports no stage.

Not here, since most decisions need none of it: `approval`, `classifier`, `display`, `notation`, `tools`, `words`."""

from __future__ import annotations

from assent.contract.call import Call
from assent.contract.choice import Enum, IntEnum
from assent.contract.decision import Decision, Part
from assent.contract.effect import OR_ANOTHER, Effect, Gap, Invocation, Lowering, Target
from assent.contract.errors import (
    AccessError,
    AssentError,
    PayloadError,
    PolicyError,
    SettingsError,
    StoreError,
    assert_never,
)
from assent.contract.facts import Below, Facts, Server
from assent.contract.memory import keep
from assent.contract.operation import MUTATION, READ_ONLY, Kind, Operation, Via
from assent.contract.outcome import Layer, Outcome
from assent.contract.pattern import ASCII, DOTALL, IGNORECASE, Pattern, re
from assent.contract.record import Record
from assent.contract.reply import Reply, fault
from assent.contract.sha import sha256
from assent.contract.value import Value, fields

__all__ = [
    "ASCII",
    "AccessError",
    "AssentError",
    "Below",
    "Call",
    "DOTALL",
    "Decision",
    "Effect",
    "Enum",
    "Facts",
    "Gap",
    "IGNORECASE",
    "IntEnum",
    "Invocation",
    "Kind",
    "Layer",
    "Lowering",
    "MUTATION",
    "OR_ANOTHER",
    "Operation",
    "Outcome",
    "Part",
    "Pattern",
    "PayloadError",
    "PolicyError",
    "READ_ONLY",
    "Record",
    "Reply",
    "Server",
    "SettingsError",
    "StoreError",
    "Target",
    "Value",
    "Via",
    "assert_never",
    "fault",
    "fields",
    "keep",
    "re",
    "sha256",
]
