"""Copies of files that a call destroys, and restoring them."""
