"""Reads regular files, bounded, without ever waiting on a pipe or a device."""

from __future__ import annotations

from assent.statefile import read

__all__ = ["read"]
