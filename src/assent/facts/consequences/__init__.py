"""Consequences of a call, measured for the person who is asked: a module for each kind."""
