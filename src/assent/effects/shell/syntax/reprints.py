"""Knows which here-documents bash 5.2 loses track of in a substitution. Reads nothing.

From 5.2 on, bash keeps a `$(…)` as a tree, prints it as text, and reads that text again when it runs. Its printer
drops the `;` between two commands behind a here-document, so that they become one command with other words than were
written, unless the here-document ends its line in a simple command of the substitution's own list."""

from __future__ import annotations

from assent.effects.shell.tree import Command, Pipeline, Script, Simple


def printed_right(script: Script) -> bool:
    """Whether the here-documents in the commands of a substitution come through."""
    for command, join in zip(script.commands, script.joins, strict=True):
        documents = _documents(command)
        if documents is None or (documents and join not in ("\n", "")):
            return False
    return True


def _documents(command: Command) -> bool | None:
    """Whether it takes a here-document, or None where it is not simple enough to tell."""
    if isinstance(command, Simple):
        return any(redirect.op in ("<<", "<<-") for redirect in command.redirects)
    if isinstance(command, Pipeline) and command.commands:
        inner = [_documents(one) for one in command.commands]
        if None in inner or inner.count(True) > 1:
            return None
        return True in inner
    return None
