"""When the file that hooks take their modules from is made again. `bundle.py` makes it."""

from __future__ import annotations

import os
import sys
from time import time

YOUNG = 60  # seconds: where the file never gets fresh, few hooks make it


def renew(path: str) -> None:
    """Have the file made anew, where it can be written and was not made a moment ago."""
    try:
        age = time() - os.stat(path).st_mtime
    except OSError:
        age = YOUNG
    if not 0 <= age < YOUNG and os.access(os.path.dirname(path), os.W_OK) and not sys.dont_write_bytecode:
        from assent.hook import bundle

        bundle.renew()
