"""Assent: a permission and approval gate for AI agents. The public API, and nothing else.

Names are imported when they are first used, so that a stage can be imported without the others."""

from __future__ import annotations

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from assent.contract.call import Call
    from assent.contract.decision import Decision, Outcome
    from assent.contract.errors import AssentError, PayloadError, PolicyError, StoreError
    from assent.gate import Gate

__all__ = [
    "AssentError",
    "Call",
    "Decision",
    "Gate",
    "Outcome",
    "PayloadError",
    "PolicyError",
    "StoreError",
    "__version__",
]

_HOMES = {
    "AssentError": "contract.errors",
    "Call": "contract.call",
    "Decision": "contract.decision",
    "Gate": "gate",
    "Outcome": "contract.decision",
    "PayloadError": "contract.errors",
    "PolicyError": "contract.errors",
    "StoreError": "contract.errors",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module `assent` has no attribute `{name}`")
    module = __import__(f"assent.{home}", fromlist=[name])
    value: object = getattr(module, name)
    globals()[name] = value
    return value
