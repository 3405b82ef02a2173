"""Letters and marks that look like others: of another script, of another width, stacked.

`display` loads this for text that is not ASCII."""

from __future__ import annotations

from unicodedata import bidirectional, category, name, normalize

from assent.contract.escapes import escaped
from assent.contract.lean import Pattern, re

# Letters of other scripts that look like a Latin letter.
TWINS = frozenset(
    "АВЕЅІЈКМНОРСТУХҮӀаеѕіјорсухһԁԛԝӏԍүґ"  # Cyrillic
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧοναιρυϲϳ"  # Greek
    "օսոցհզԼՕՏՍ"  # Armenian
    "ᎪᏴᏟᎠᎬᎨᎻᎥᎫᏦᏞᎷᏂᎤᏢᏒᏚᎢᏙᎳᎩᏃᏚ"  # Cherokee
    "ıɑɡſɩʟɴʀʏɪᴀᴄᴏᴜᴠᴡᴢꓐꓑꓒꓓꓔꓕꓗꓙꓚꓜꓟꓠꓡꓢꓣꓮꓰꓲꓳꓴꓵ"  # Latin itself, and Lisu
)
# Marks that look like one with a meaning in a shell or an address.
MARKS = frozenset("‐‑‒–—―−﹣－˗‘’‚‛“”„‟′″ˋ´∕⁄╱⧸╲⧵∖․‥∶ː∣ǀ；⁎∗＊﹡˜∼꞉﹕＝﹦․‹›〈〉＜＞＆＄｜")
# Scripts with capitals, whose letters do not belong in a Latin word.
CASED = ("CYRILLIC", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU", "GLAGOLITIC", "DESERET")
STACKED = 2  # marks above or below one letter

WORD = Pattern(r"\w+")
STRANGE = Pattern(r"[^\x00-\x7f]")
ASCII_LETTER = Pattern(r"[A-Za-z]")
# A word of look-alikes in an otherwise plain file name or host name.
GLUED = Pattern(rf"(?<=[A-Za-z0-9][./@:-])[{''.join(TWINS)}]+(?!\w)|(?<!\w)[{''.join(TWINS)}]+(?=[./@:-][A-Za-z0-9])")
PUNYCODE = Pattern(r"(?i)(?<![\w-])xn--[a-z0-9-]+")


def plain(text: str) -> str:
    """Text in which no letter is out of place in its word, and no marks are stacked."""
    return _unstacked(GLUED.sub(lambda found: _spelled(found[0]), WORD.sub(_word, text)))


def plainer(text: str) -> str:
    """Text without words and marks that look like others, and without right-to-left letters."""
    text = WORD.sub(lambda found: _spelled(found[0]) if _twin_word(found[0]) else found[0], text)
    return _unstacked(STRANGE.sub(lambda found: escaped(found[0]) if _misleads(found[0]) else found[0], text))


def disguised_in(text: str) -> tuple[str, ...]:
    """The words and host names of a text that look like others."""
    found: dict[str, None] = {}
    if not text.isascii():
        for word in dict.fromkeys(WORD.findall(text)):
            shown = word if word.isascii() else plainer(plain(word))
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
    if mixed and (character in TWINS or name(character, "").startswith(CASED)):
        return True
    return normalize("NFKC", character).isascii() and character.isalnum()


def _twin_word(word: str) -> bool:
    """A word of look-alikes alone."""
    letters = [each for each in word if each.isalpha() and not each.isascii()]
    return bool(letters) and all(each in TWINS for each in letters)


def _spelled(word: str) -> str:
    return "".join(each if each.isascii() else escaped(each) for each in word)


def _misleads(character: str) -> bool:
    if character in MARKS or (not character.isalnum() and normalize("NFKC", character).isascii()):
        return True
    return character > "\u0589" and bidirectional(character) in ("R", "AL", "AN")


def _unstacked(text: str) -> str:
    """Text in which letters keep a mark above or below them, but no stack of marks."""
    out: list[str] = []
    run = STACKED
    for each in text:
        if not is_mark(each):
            run = 0 if each.isalpha() else STACKED
        elif run >= STACKED:
            each = escaped(each)
        else:
            run += 1
        out.append(each)
    return "".join(out)


def is_mark(character: str) -> bool:
    """Whether a character is above, below or around the one before it."""
    return character > "\u02ff" and category(character) in ("Mn", "Me")
