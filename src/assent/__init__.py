"""Assent: a permission and approval gate for AI agents. The public API, and nothing else.

Names are imported when they are first used, so that a stage can be imported without the others."""

from __future__ import annotations

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from assent.api import Approval, Gate, PermissionMode, Session
    from assent.approval.escalation import DenialTracker
    from assent.contract.approval import Answer, Held, Said, Scope, Verdict
    from assent.contract.call import Call
    from assent.contract.decision import Decision, Outcome
    from assent.contract.errors import AssentError, PayloadError, PolicyError, StoreError
    from assent.effects.declared import Tool
    from assent.engine.functions import Denied

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
    "Approval": "api",
    "AssentError": "contract.errors",
    "Call": "contract.call",
    "Decision": "contract.decision",
    "DenialTracker": "approval.escalation",
    "Denied": "engine.functions",
    "Gate": "api",
    "Held": "contract.approval",
    "Outcome": "contract.decision",
    "PayloadError": "contract.errors",
    "PermissionMode": "api",
    "PolicyError": "contract.errors",
    "Said": "contract.approval",
    "Scope": "contract.approval",
    "Session": "api",
    "StoreError": "contract.errors",
    "Tool": "effects.declared",
    "Verdict": "contract.approval",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module `assent` has no attribute `{name}`")
    module = __import__(f"assent.{home}", fromlist=[name])
    value: object = getattr(module, name)
    globals()[name] = value
    return value
