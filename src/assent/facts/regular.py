"""Reads regular files, bounded, without ever waiting on a pipe or a device. Knows nothing of what is in them."""

from __future__ import annotations

import errno
import os
from stat import S_ISREG


def read(path: str, limit: int) -> tuple[bytes, os.stat_result]:
    """Return a file's bytes and its status from one handle; OSError where it is no regular file or too long."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(handle)
        if not S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        chunks: list[bytes] = []
        left = limit + 1
        while left > 0 and (chunk := os.read(handle, min(left, 1 << 20))):
            chunks.append(chunk)
            left -= len(chunk)
    finally:
        os.close(handle)
    if left <= 0:
        raise OSError(errno.EFBIG, f"it is longer than {limit} bytes")
    return b"".join(chunks), status
