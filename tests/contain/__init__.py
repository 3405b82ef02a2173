"""Contained runs: what is tried from inside, what works inside, tickets and the proxy."""
