"""Makes text of an agent safe to show: characters that hide, disguise or control a screen are escaped.

Every surface shows foreign text through here: terminal, page, chat, receipts. An escaped character looks like
`\\u{202e}`; all others stay, so that text in any language can be read. `looks` has the look-alike letters, and is
loaded only for text that is not ASCII, because a hook is a new process for each call."""

from __future__ import annotations

from assent.contract.escapes import ESCAPE, escaped
from assent.contract.lean import Pattern

# Printable but invisible: fillers, blanks, and selectors that change the character before them.
BLANK = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\ufffc\U00016fe4\U0001d159"
    + "".join(map(chr, range(0xFE00, 0xFE10)))
    + "".join(map(chr, range(0xE0100, 0xE01F0)))
)
ODD = Pattern(r"[^\x20-\x7e\n\t]")
CHAT = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "`": "\\u{60}"}


# ---------------------------------------------------------------- shown text


def visible(text: str) -> str:
    """Text with every hiding, controlling or disguising character escaped; line ends and tabs stay.

    Control characters and escape sequences, bidirectional marks, zero-width and unusual blanks, selectors, tags,
    letters of another script inside a Latin word or a name like `а.txt`, letters that only look plain (`𝐫𝐦`), marks
    stacked on one."""
    if (text.isascii() and text.replace("\n", "").replace("\t", "").isprintable()) or ODD.search(text) is None:
        return text
    text = ODD.sub(lambda found: escaped(found[0]) if is_hidden(found[0]) else found[0], text)
    if text.isascii():
        return text
    from assent.contract.looks import plain

    return plain(text)


def code(text: str) -> str:
    """As `visible`, for commands, paths and addresses: also escapes whole words and marks that look like others, and
    right-to-left letters, which reorder the text next to them."""
    shown = visible(text)
    if shown.isascii():
        return shown
    from assent.contract.looks import plainer

    return plainer(shown)


def one_line(text: str, limit: int = 0) -> str:
    """As `visible`, on one line, cut in the middle to about `limit` characters."""
    shown = visible(text).replace("\n", "⏎").replace("\t", " ")
    return clip(shown, limit) if limit else shown


def lines(text: str, most: int = 0, width: int = 0) -> list[str]:
    """As `visible`, line by line: if there are more than `most` lines, the middle is left out and counted; each line is
    cut to about `width` characters."""
    found = visible(text).expandtabs(4).split("\n")
    if most and len(found) > most:
        head = (most + 1) // 2
        tail = most - head
        left_out = f"… {len(found) - head - tail} of {len(found)} lines not shown …"
        found = [*found[:head], left_out, *(found[-tail:] if tail else [])]
    return [clip(line, width) for line in found] if width else found


def clip(text: str, limit: int) -> str:
    """Text of at most `limit` characters and a note of its true length, cut in the middle.

    Never cuts inside an escape, and leaves no mark without its letter."""
    if len(text) <= limit:
        return text
    head, tail = (limit + 1) // 2, len(text) - limit // 2
    head, tail = _escape_around(text, head)[0], _escape_around(text, tail)[1]
    if not text[tail:].isascii():
        from assent.contract.looks import is_mark

        while tail < len(text) and is_mark(text[tail]):
            tail += 1
    return f"{text[:head]} … [{tail - head} of {len(text)} characters not shown] … {text[tail:]}"


def _escape_around(text: str, at: int) -> tuple[int, int]:
    """Start and end of the escape around a position; the position itself if there is none."""
    near = ESCAPE.finditer(text, max(0, at - 12), min(len(text), at + 12))
    return next((found.span() for found in near if found.start() < at < found.end()), (at, at))


# ---------------------------------------------------------------- for each surface


def for_terminal(text: str, encoding: str = "utf-8") -> str:
    """Text for a terminal that writes in this encoding. No escape sequence of the text survives."""
    shown = visible(text).expandtabs(4)
    try:
        shown.encode(encoding)
        return shown
    except (UnicodeEncodeError, LookupError):
        return "".join(each if each.isascii() else escaped(each) for each in shown)


def for_chat(text: str) -> str:
    """Text for a block of code in a chat: mentions, links and the end of the block are removed."""
    return "".join(CHAT.get(each, each) for each in visible(text))


# ---------------------------------------------------------------- hidden and disguised characters


def is_hidden(character: str) -> bool:
    """Whether a character is invisible, or controls how others are shown."""
    return character not in "\n\t" and (not character.isprintable() or character in BLANK)


def hidden_in(text: str) -> tuple[str, ...]:
    """The hidden characters of a text, each once, escaped. Carriage returns before a line end are none."""
    if ODD.search(text) is None:
        return ()
    found = dict.fromkeys(each for each in ODD.findall(text.replace("\r\n", "\n")) if is_hidden(each))
    return tuple(map(escaped, found))


def disguised_in(text: str) -> tuple[str, ...]:
    """The words and host names of a text that look like others, as `code` shows them."""
    if text.isascii() and "xn--" not in text.lower():
        return ()
    from assent.contract.looks import disguised_in

    return disguised_in(text)
