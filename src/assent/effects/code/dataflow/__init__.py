"""Visible effects of code that is not proved harmless: follows values through names and calls, effects from tables."""
