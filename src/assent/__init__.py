"""Assent: a permission and approval gate for AI agents."""
