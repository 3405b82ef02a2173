"""Assent: a permission and approval gate for AI agents. The public API, and nothing else.

Names are imported when they are first used, so that a stage can be imported without the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from assent.api.functions import Denied
    from assent.api.gates import Approval, Gate, PermissionMode, Session
    from assent.approval.escalation import DenialTracker
    from assent.contract import AssentError, Call, Decision, Outcome, PayloadError, PolicyError, StoreError
    from assent.contract.approval import Answer, Held, Said, Scope, Verdict
    from assent.effects.declared import Tool

__all__ = [
    "Answer",
    "Approval",
    "AssentError",
    "Call",
    "Decision",
    "DenialTracker",
    "Denied",
    "Gate",
    "Held",
    "Outcome",
    "PayloadError",
    "PermissionMode",
    "PolicyError",
    "Said",
    "Scope",
    "Session",
    "StoreError",
    "Tool",
    "Verdict",
    "__version__",
]

_HOMES = {
    "Answer": "contract.approval",
    "Approval": "api.gates",
    "AssentError": "contract.errors",
    "Call": "contract.call",
    "Decision": "contract.decision",
    "DenialTracker": "approval.escalation",
    "Denied": "api.functions",
    "Gate": "api.gates",
    "Held": "contract.approval",
    "Outcome": "contract.decision",
    "PayloadError": "contract.errors",
    "PermissionMode": "api.gates",
    "PolicyError": "contract.errors",
    "Said": "contract.approval",
    "Scope": "contract.approval",
    "Session": "api.gates",
    "StoreError": "contract.errors",
    "Tool": "effects.declared",
    "Verdict": "contract.approval",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module `assent` has no attribute `{name}`")
    value: object = getattr(__import__(f"assent.{home}", fromlist=[name]), name)
    globals()[name] = value
    return value
