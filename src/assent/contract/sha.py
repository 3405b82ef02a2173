"""SHA-256 as `hashlib` has it, without loading OpenSSL: that takes longer than a decision. Hashes nothing itself."""

from __future__ import annotations

from sys import version_info
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import sha256
else:
    try:
        if version_info >= (3, 12):
            from _sha2 import sha256
        else:
            from _sha256 import sha256
    except ImportError:  # not CPython
        from hashlib import sha256

__all__ = ["sha256"]
