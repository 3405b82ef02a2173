"""Text of an agent made safe to show: what hides, disguises or steers a screen is written out. Judges nothing.

Every surface shows foreign text through here: terminal, page, chat, receipts. A character that is written out looks
like `\\u{202e}`; everything else stays as it is, so that text in any language can be read."""

from __future__ import annotations

import re

# Printable by the book, and yet nothing to see: fillers, blanks and selectors that change what stands before them.
BLANK = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\ufffc\U00016fe4\U0001d159"
    + "".join(map(chr, range(0xFE00, 0xFE10)))
    + "".join(map(chr, range(0xE0100, 0xE01F0)))
)
# Letters of other scripts that look like a Latin letter.
TWINS = frozenset(
    "АВЕЅІЈКМНОРСТУХҮӀаеѕіјорсухһԁԛԝӏԍүґ"  # Cyrillic
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧοναιρυϲϳ"  # Greek
    "օսոցհզԼՕՏՍ"  # Armenian
    "ᎪᏴᏟᎠᎬᎨᎻᎥᎫᏦᏞᎷᏂᎤᏢᏒᏚᎢᏙᎳᎩᏃᏚ"  # Cherokee
    "ıɑɡſɩʟɴʀʏɪᴀᴄᴏᴜᴠᴡᴢꓐꓑꓒꓓꓔꓕꓗꓙꓚꓜꓟꓠꓡꓢꓣꓮꓰꓲꓳꓴꓵ"  # Latin's own, and Lisu
)
# Marks that look like one of those a shell or an address gives a meaning.
MARKS = frozenset("‐‑‒–—―−﹣－˗‘’‚‛“”„‟′″ˋ´∕⁄╱⧸╲⧵∖․‥∶ː∣ǀ；⁎∗＊﹡˜∼꞉﹕＝﹦․‹›〈〉＜＞＆＄｜")
# Scripts with capitals, of which no letter belongs into a Latin word.
CASED = ("CYRILLIC", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU", "GLAGOLITIC", "DESERET")
STACKED = 2  # marks above or below one letter

ODD = re.compile(r"[^\x20-\x7e\n\t]")
STRANGE = re.compile(r"[^\x00-\x7f]")
WORD = re.compile(r"\w+")
ASCII_LETTER = re.compile(r"[A-Za-z]")
ESCAPE = re.compile(r"\\u\{[0-9a-f]{0,6}\}?")
PUNYCODE = re.compile(r"(?i)(?<![\w-])xn--[a-z0-9-]+")
CHAT = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "`": "\\u{60}"}
HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}


def escaped(character: str) -> str:
    """A character written out."""
    return f"\\u{{{ord(character):x}}}"


# ---------------------------------------------------------------- what is shown


def visible(text: str) -> str:
    """Text with every character that hides, steers or disguises written out; line ends and tabs stay.

    Control characters and escape sequences, bidirectional marks, zero-width and unusual blanks, selectors, tags,
    letters of another script inside a Latin word, letters that only look plain (`𝐫𝐦`), marks stacked on one."""
    if ODD.search(text) is None:
        return text
    text = ODD.sub(lambda found: escaped(found[0]) if is_hidden(found[0]) else found[0], text)
    if STRANGE.search(text) is None:
        return text
    return _unstacked(WORD.sub(_word, text))


def code(text: str) -> str:
    """As `visible`, for commands, paths and addresses: also written out are whole words and marks that look like
    others, and letters that run from right to left, which turn round what stands beside them."""
    shown = visible(text)
    if STRANGE.search(shown) is None:
        return shown
    shown = WORD.sub(lambda found: _spelled(found[0]) if _twin_word(found[0]) else found[0], shown)
    return _unstacked(STRANGE.sub(lambda found: escaped(found[0]) if _misleads(found[0]) else found[0], shown))


def one_line(text: str, limit: int = 0) -> str:
    """As `visible`, on one line, cut in the middle to about `limit` characters."""
    shown = visible(text).replace("\n", "⏎").replace("\t", " ")
    return clip(shown, limit) if limit else shown


def lines(text: str, most: int = 0, width: int = 0) -> list[str]:
    """As `visible`, line by line: of more than `most` lines the middle is left out and counted, and each line is cut
    to about `width` characters."""
    found = visible(text).expandtabs(4).split("\n")
    if most and len(found) > most:
        head = (most + 1) // 2
        tail = most - head
        left_out = f"… {len(found) - head - tail} of {len(found)} lines not shown …"
        found = [*found[:head], left_out, *(found[-tail:] if tail else [])]
    return [clip(line, width) for line in found] if width else found


def clip(text: str, limit: int) -> str:
    """Text of at most `limit` characters and a note of its true length, cut in the middle.

    A character that is written out is not torn apart, and no mark is left without its letter."""
    if len(text) <= limit:
        return text
    head, tail = (limit + 1) // 2, len(text) - limit // 2
    for found in ESCAPE.finditer(text, max(0, head - 12), min(len(text), head + 12)):
        if found.start() < head < found.end():
            head = found.start()
    for found in ESCAPE.finditer(text, max(0, tail - 12), min(len(text), tail + 12)):
        if found.start() < tail < found.end():
            tail = found.end()
    while tail < len(text) and _is_mark(text[tail]):
        tail += 1
    return f"{text[:head]} … [{tail - head} of {len(text)} characters not shown] … {text[tail:]}"


# ---------------------------------------------------------------- for each surface


def for_terminal(text: str, encoding: str = "utf-8") -> str:
    """Text for a terminal that writes in this encoding. No escape sequence of the text survives."""
    shown = visible(text).expandtabs(4)
    try:
        shown.encode(encoding)
        return shown
    except (UnicodeEncodeError, LookupError):
        return STRANGE.sub(lambda found: escaped(found[0]), shown)


def for_page(text: str) -> str:
    """Text for a node of a page, set as text and never as markup."""
    return visible(text)


def for_html(text: str) -> str:
    """Text for a place where markup is put together, inside or outside of an attribute in quotes."""
    return "".join(HTML.get(each, each) for each in visible(text))


def for_chat(text: str) -> str:
    """Text for a block of code in a chat: mentions, links and the end of the block are taken out of it."""
    return "".join(CHAT.get(each, each) for each in visible(text))


# ---------------------------------------------------------------- what hides or disguises


def is_hidden(character: str) -> bool:
    """Whether a character cannot be seen, or steers how others are shown."""
    return character not in "\n\t" and (not character.isprintable() or character in BLANK)


def hidden_in(text: str) -> tuple[str, ...]:
    """The hidden characters of a text, each once, written out. Carriage returns before a line end are none."""
    if ODD.search(text) is None:
        return ()
    found = dict.fromkeys(each for each in ODD.findall(text.replace("\r\n", "\n")) if is_hidden(each))
    return tuple(map(escaped, found))


def disguised_in(text: str) -> tuple[str, ...]:
    """The words and host names of a text that look like others, as `code` shows them."""
    found: dict[str, None] = {}
    if STRANGE.search(text) is not None:
        for word in dict.fromkeys(WORD.findall(text)):
            shown = word if word.isascii() else code(word)
            if shown != word:
                found[shown] = None
    found.update(dict.fromkeys(PUNYCODE.findall(text)))
    return tuple(found)


def _word(found: re.Match[str]) -> str:
    word = found[0]
    if word.isascii():
        return word
    mixed = ASCII_LETTER.search(word) is not None
    return "".join(escaped(each) if _out_of_place(each, mixed) else each for each in word)


def _out_of_place(character: str, mixed: bool) -> bool:
    if character.isascii():
        return False
    if mixed and (character in TWINS or _name(character).startswith(CASED)):
        return True
    return _plain(character).isascii() and character.isalnum()


def _twin_word(word: str) -> bool:
    """A word of look-alikes alone."""
    letters = [each for each in word if each.isalpha() and not each.isascii()]
    return bool(letters) and all(each in TWINS for each in letters)


def _spelled(word: str) -> str:
    return "".join(each if each.isascii() else escaped(each) for each in word)


def _misleads(character: str) -> bool:
    if character in MARKS or (not character.isalnum() and _plain(character).isascii()):
        return True
    return character > "\u0589" and _direction(character) in ("R", "AL", "AN")


def _unstacked(text: str) -> str:
    """Marks above and below letters stay where they belong to one, and not in stacks."""
    out: list[str] = []
    run = STACKED
    for each in text:
        if not _is_mark(each):
            run = 0 if each.isalpha() else STACKED
        elif run >= STACKED:
            each = escaped(each)
        else:
            run += 1
        out.append(each)
    return "".join(out)


def _is_mark(character: str) -> bool:
    return character > "\u02ff" and _category(character) in ("Mn", "Me")


def _plain(character: str) -> str:
    """What a character stands for where looks do not count."""
    import unicodedata  # most text is ASCII

    return unicodedata.normalize("NFKC", character)


def _name(character: str) -> str:
    import unicodedata

    return unicodedata.name(character, "")


def _direction(character: str) -> str:
    import unicodedata

    return unicodedata.bidirectional(character)


def _category(character: str) -> str:
    import unicodedata

    return unicodedata.category(character)
