"""Readers for commands that list or signal processes."""

from __future__ import annotations

from assent.contract import Pattern
from assent.effects.shell.commands.command_effects import literal, shown
from assent.effects.shell.commands.line import Line
from assent.effects.shell.commands.options import Parsed

_SIGNAL = Pattern(r"-(?:SIG)?[A-Za-z]+[0-9]*|-[0-9]+")
_LISTS = Pattern(r"-[lL]|--list(?:=.*)?|--table")
_ANY = Pattern(r"[.^$*?\\]*|\.[*+]")


def kill(line: Line) -> None:
    """`kill` by id, `pkill` and `killall` by name. Signal 0 and lists of signals do nothing."""
    seen = line.seen
    seen.operands.extend(shown(word) for word in line.words)
    if line.program.endswith("kill") and "pkill" not in line.program and line.program != "skill":
        _by_id(line)
        return
    line.standard()
    seen.execute()
    if line.program == "killall5":
        seen.danger("kill-all")
    patterns = [literal(word) for word in line.parsed.operands]
    broad = not patterns or any(text is not None and _ANY.fullmatch(text) for text in patterns)
    if line.parsed.has("-v", "--inverse") or (broad and not line.parsed.has("-l", "--list", "-t", "-P", "--parent")):
        seen.danger("kill-all")


def _by_id(line: Line) -> None:
    seen = line.seen
    words = list(line.words)
    texts = [shown(word) for word in words]
    if texts[:1] and _LISTS.fullmatch(texts[0]):
        seen.flags.add(texts[0])
        return
    signal = ""
    ids: list[str] = []
    index = 0
    while index < len(texts):
        text = texts[index]
        index += 1
        if text in ("-s", "-n", "--signal", "-q", "--queue", "--timeout"):
            signal = texts[index] if index < len(texts) and text in ("-s", "-n", "--signal") else signal
            index += 2 if text == "--timeout" else 1
        elif text == "--":
            ids += texts[index:]
            break
        elif _SIGNAL.fullmatch(text) and not signal and not ids and isinstance(words[index - 1], str):
            signal = text[1:]
            seen.flags.add(text)
        else:
            ids.append(text)
    if signal in ("0", "EXIT") and all(isinstance(word, str) or word.kind == "number" for word in words):
        return
    if "-1" in ids or (signal == "1" and not ids):
        seen.danger("kill-all")
    seen.execute()


_AGAIN = tuple("-x -r -S -v -X -Z -h -k -n -m -M -O -g -G -T -u -U -t --Group --user --tty --context".split())
_BY_ID = ("-p", "-q", "-s", "--pid", "--ppid", "--quick-pid", "--sid")
_FLAGS = "[acefghjlmnrsuvwxHLMSTVXZ]*"
_SHOWS = Pattern(rf"{_FLAGS}e{_FLAGS}(?:[0-9kopqtOU].*)?")
_TAKES = Pattern(rf"{_FLAGS}[kopqtOU]")
_IDS = Pattern(r"[\d, ]+")


def ps(line: Line) -> None:
    """`ps`: an `e` among letters without a dash shows the environment of processes. What procps cannot read with dashes
    (`-x`, a user or a terminal that is not there) it reads once more as if there were none."""
    line.standard()
    words = line.words if _is_read_again(line.parsed) else line.parsed.operands
    taken = False
    for word in words:
        text = literal(word) or ""
        if not taken and not text.startswith("--") and _SHOWS.fullmatch(text.removeprefix("-")):
            line.seen.execute("prints-secret")
            return
        taken = not taken and words is line.parsed.operands and _TAKES.fullmatch(text) is not None


def _is_read_again(parsed: Parsed) -> bool:
    if parsed.has(*_AGAIN):
        return True
    ids = [literal(word) for name in _BY_ID for word in parsed.values(name)]
    return any(text is not None and not _IDS.fullmatch(text) for text in ids)
