"""The command line: a module for each command. Every decision is left to the gate."""
