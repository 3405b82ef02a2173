"""What zsh evaluates where bash takes a word as it is: the numbers that builtins are given.

A number is an expression there, and an expression can run a command: `exit 'path[$(cmd)]'`. Says nothing where the
shell is known to be another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assent.contract import Pattern
from assent.effects.shell import arithmetic, conditions
from assent.effects.shell.command import Arg
from assent.effects.shell.state import State, Val

if TYPE_CHECKING:
    from assent.effects.shell.walk import Walk

NUMBERS = frozenset(
    """BAUD COLUMNS DIRSTACKSIZE EGID ERRNO EUID FUNCNEST GID HISTSIZE KEYTIMEOUT LINES LISTMAX LOGCHECK MAILCHECK
    OPTIND PERIOD REPORTMEMORY REPORTTIME SAVEHIST SECONDS SHLVL TMOUT TRY_BLOCK_ERROR TRY_BLOCK_INTERRUPT TTYIDLE
    UID ZSH_SUBSHELL ARGC PPID status histchars""".split()
)
_NUMBER = Pattern(r"[-+]?[0-9]+(?:\.[0-9]+)?")
_CONVERSION = Pattern(r"%(?:%|[-+ #0']*(\*|[0-9]+\$?)?(?:\.(\*|[0-9]*))?[hlLjzt]*(.))")
_TEXTS = frozenset("sbqc")


def numbers(walk: Walk, words: Sequence[str | Arg], state: State) -> None:
    """Words that zsh reads as numbers."""
    if not walk.zsh:
        return
    for word in words:
        if isinstance(word, Arg):
            arithmetic.text(walk, Val(word.values if not word.pattern else None, kind=word.kind), state)
        elif not _NUMBER.fullmatch(word):
            arithmetic.text(walk, Val((word,)), state)


def names(walk: Walk, words: Sequence[str | Arg], state: State) -> None:
    """Words of which it is not known what zsh takes them for: a subscript with a command in it is a doubt."""
    for word in words if walk.zsh else ():
        for text in (word,) if isinstance(word, str) else word.values or ():
            if "[" in text and ("$" in text or "`" in text):
                conditions.name(walk, Val((text,)), state)


def formatted(walk: Walk, words: Sequence[str | Arg], state: State) -> None:
    """The words of `printf`: those that its format takes for numbers."""
    if not walk.zsh or len(words) < 2:
        return
    form = words[0]
    forms = (form,) if isinstance(form, str) else form.values
    if forms is None or (isinstance(form, Arg) and form.pattern) or any(map(_counts, forms)):
        numbers(walk, words[1:], state)


def _counts(form: str) -> bool:
    return any(
        "*" in found[0] or (found[3] is not None and found[3] not in _TEXTS) for found in _CONVERSION.finditer(form)
    )
