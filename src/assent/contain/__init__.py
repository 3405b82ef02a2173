"""Contained runs: a command in a sandbox that sees and changes only what its profile names."""
