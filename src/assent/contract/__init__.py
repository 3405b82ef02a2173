"""The types and errors that stages share; import them from here. Imports no stage.

Not imported here, because most decisions do not need them: `approval`, `classifier`, `display`, `looks`, `tools`,
`words`."""

from __future__ import annotations

from assent.contract.call import Below, Call, Facts, Server
from assent.contract.decision import Decision, Part, Record, Reply, fault
from assent.contract.effect import LOSING, OR_ANOTHER, Arguments, Code, Effect, Gap, Invocation, Lowering, Target, loses
from assent.contract.enums import MUTATION, READ_ONLY, Enum, IntEnum, Kind, Layer, Operation, Outcome, Via
from assent.contract.errors import (
    AccessError,
    AssentError,
    PayloadError,
    PolicyError,
    SettingsError,
    StoreError,
    assert_never,
)
from assent.contract.lean import ASCII, DOTALL, IGNORECASE, Pattern, dumps, loads, re, sha256
from assent.contract.value import Value, fields, keep, texts

__all__ = [
    "ASCII",
    "AccessError",
    "Arguments",
    "AssentError",
    "Below",
    "Call",
    "Code",
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
    "LOSING",
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
    "dumps",
    "fault",
    "fields",
    "keep",
    "loads",
    "loses",
    "re",
    "sha256",
    "texts",
]
