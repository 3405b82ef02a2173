"""Runs what the tables call read-only, under hostile files and variables, and looks at what happens. See `__main__`."""
