"""Operands: which of a row's slots takes which words, where files go, and what a command's output is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assent.contract import Kind
from assent.effects.shell.command import TOKENS, Arg
from assent.effects.shell.commands.command_effects import LIST, READ, SEARCH, WRITE, Seen, fixed, literal
from assent.programs.row import Row, Slot

if TYPE_CHECKING:
    Word = str | Arg


def share_out(slots: tuple[Slot, ...], words: list[Word]) -> list[tuple[Slot | None, list[Word]]]:
    """Give each slot its words; those that no slot takes come last, with None.

    Slots behind the one that takes many get the last words."""
    if len(slots) == 1:  # the way of most rows
        slot = slots[0]
        if slot.many or slot.role == "RUN" or len(words) < 2:
            return [(slot, words)]
        return [(slot, words[:1]), (None, words[1:])]
    many = next((index for index, slot in enumerate(slots) if slot.many or slot.role == "RUN"), len(slots))
    behind = slots[many + 1 :]
    tail = min(len(behind), max(len(words) - many - (slots[many].least if many < len(slots) else 0), 0))
    out: list[tuple[Slot | None, list[Word]]] = [
        (slot, words[index : index + 1]) for index, slot in enumerate(slots[:many])
    ]
    left = words[many:]
    if many < len(slots):
        out.append((slots[many], left[: len(left) - tail]))
        out.extend((slot, [left[len(left) - tail + index]]) for index, slot in enumerate(behind[:tail]))
    elif left:
        out.append((None, left))
    return out


def into(seen: Seen, sources: list[Word], word: Word, *, recursive: bool, stays: bool = False) -> None:
    """Files go to a path: it is written, and so is each one's name below it, where it is or may be a folder.

    A last word that may come to nothing (`cp a b $x`) leaves the one before it to be that path."""
    before = [source for source in sources if source is not word]
    _put(seen, before, word, recursive, stays)
    while isinstance(word, Arg) and word.splits and len(before) > 1:
        word = before.pop()
        _put(seen, before, word, recursive, stays)


def _put(seen: Seen, sources: list[Word], word: Word, recursive: bool, stays: bool) -> None:
    seen.path(WRITE, word, recursive=recursive, stays=stays)
    folder = literal(word)
    if folder is None:
        return
    for source in sources:
        name = _last_name(source)
        if name:
            below = f"{folder.rstrip('/')}/{name}"
            pattern = isinstance(source, Arg)
            put = Arg(below, (below,), pattern=True) if pattern else below
            seen.path(WRITE, put, recursive=recursive, stays=stays)


def _last_name(source: Word) -> str:
    if isinstance(source, str):
        name = source.rstrip("/").rpartition("/")[2]
        return "" if name in (".", "..") else name
    if source.values is not None and source.pattern and len(source.values) == 1:
        return source.values[0].rstrip("/").rpartition("/")[2]
    return "*"


def dropped(slots: tuple[Slot, ...]) -> tuple[Slot, ...]:
    """The slots without the first that takes a text or a program: an option gave it."""
    for index, slot in enumerate(slots):
        if slot.role in ("TEXT", "SED", "AWK", "JQ"):
            return slots[:index] + slots[index + 1 :]
    return slots


def secrets(seen: Seen, row: Row, words: list[Word]) -> None:
    """An operand that names a secret, or may do so, prints it."""
    for word in words:
        text = literal(word)
        names = text.lower().split(",") if text is not None else [""]
        if text is None or any(name.partition("/")[0].partition(".")[0] in row.secret_operands for name in names):
            seen.execute("prints-secret")
            return


_ANY_LETTER = frozenset("*?[@!+-")


def worth(seen: Seen, prints: str) -> None:
    """Say what the output is worth; names of files only where it is known below which folders."""
    if prints in TOKENS:
        seen.prints = prints
        return
    under: list[str] = []
    for effect in seen.effects:
        if effect.operation in (READ, LIST, SEARCH) and effect.target.kind is Kind.PATH:
            target = effect.target
            if not target.certain:
                if target.name or not target.under:
                    return
                under += target.under
                continue
            under.append(fixed(target.name) if target.pattern else target.name)
            if target.text[:1] in _ANY_LETTER:
                prints = {"paths": "names", "files": "filenames"}.get(prints, prints)
    if not under and not seen.cwd:
        return
    seen.prints = prints
    seen.under = tuple(dict.fromkeys(under or [seen.cwd]))
