"""Reads shell commands: syntax → tree → walk → invocations and effects. Judges nothing."""
