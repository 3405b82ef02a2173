"""SHA-256 as `hashlib` has it, without loading OpenSSL: that takes longer than a decision. Hashes nothing itself."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import sha256
else:
    try:
        from _sha2 import sha256  # CPython from 3.12
    except ImportError:
        try:
            from _sha256 import sha256  # CPython before
        except ImportError:
            from hashlib import sha256

__all__ = ["sha256"]
