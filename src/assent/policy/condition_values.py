"""Values in conditions, and how an argument compares with one: true, false, or None if that is not certain.

Nothing is converted: `"100"` is not 100, and 1 is not true. A value that some tool might take for that of the rule
(another case, other widths, blanks around it, one of several in a text) is neither equal nor different."""

from __future__ import annotations

from assent.contract import ASCII, Pattern, Value

EACH = "[*]"  # in a path: every item of a list
ONLY = "only"  # a condition without a path: the call has no arguments that the others do not name
ANNOTATED = "annotated"  # a condition without a path: what the tool's server says of it
LONGEST = 2000  # longest text that an allow rule's pattern matches
DECIMAL = Pattern(r"-?(?:0|[1-9][0-9]{0,29})(?:\.[0-9]{1,30})?", ASCII)
DATE = Pattern(r"([0-9]{4})-([0-9]{2})-([0-9]{2})", ASCII)
MOMENT = Pattern(r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})Z", ASCII)
BETWEEN = Pattern(r"[\s,;|&<>()\[\]{}\"'`]+")  # separators of lists in a text
PARTS = Pattern(r"[\s,;|&<>()\[\]{}\"'`:=?#]+")  # the same, and marks between a value and a note on it
DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
PLAIN = frozenset("_-.+")  # matched by `*` in an allow rule, as letters and digits are
STOPS = str.maketrans({"。": ".", "｡": "."})  # accepted as a dot in host names

Ratio = tuple[int, int]


class RuleValue(Value):
    """A value in a rule. `kind` is number, text, boolean, date or moment; `text` is how it is written."""

    __slots__ = ("kind", "text", "ratio")

    def __init__(self, kind: str, text: str) -> None:
        self.kind = kind
        self.text = text
        self.ratio: Ratio = ratio_of(text) if kind == "number" else (0, 1)


class Condition(Value):
    """One comparison. `path` is the argument; `operator` is one of `= != < <= > >= ~ !~ in is`, ONLY or
    ANNOTATED; `number`: a text that is a plain decimal number counts as that; `word` is what follows `is`, or the
    annotation (`read_only`, `not read_only`)."""

    __slots__ = ("path", "operator", "literals", "number", "word")

    def __init__(
        self,
        path: tuple[str, ...],
        operator: str,
        literals: tuple[RuleValue, ...] = (),
        *,
        number: bool = False,
        word: str = "",
    ) -> None:
        self.path = path
        self.operator = operator
        self.literals = literals
        self.number = number
        self.word = word


# ---------------------------------------------------------------- numbers and dates


def ratio_of(text: str) -> Ratio:
    """A decimal number as a fraction, so that 0.1 is 0.1."""
    mantissa, _, exponent = text.lower().partition("e")
    whole, _, part = mantissa.partition(".")
    power = int(exponent or "0") - len(part)
    return int(whole + part) * 10 ** max(power, 0), 10 ** max(-power, 0)


def _ratio(value: object, texts: bool) -> Ratio | None:
    """A number as a fraction; None for anything else, for infinity and for NaN."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value, 1
    if isinstance(value, float):
        return ratio_of(repr(value)) if value - value == 0 else None
    if texts and isinstance(value, str) and DECIMAL.fullmatch(value):
        return ratio_of(value)
    return None


def is_date(text: str, kind: str) -> bool:
    """Whether a text is a date, or with `moment` a time in UTC, that exists."""
    found = (DATE if kind == "date" else MOMENT).fullmatch(text)
    if found is None:
        return False
    year, month, day, *time = map(int, found.groups())
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = DAYS[month - 1] - (month == 2 and not leap) if 1 <= month <= 12 else 0
    return 1 <= day <= days and all(part < limit for part, limit in zip(time, (24, 60, 60), strict=False))


def order(value: object, literal: RuleValue, texts: bool) -> int | None:
    """Compare a value with a number or a date: -1, 0 or 1; None if it is of another kind."""
    if literal.kind == "number":
        ratio = _ratio(value, texts)
        if ratio is None:
            return None
        left, right = ratio[0] * literal.ratio[1], literal.ratio[0] * ratio[1]
        return (left > right) - (left < right)
    if not isinstance(value, str) or not is_date(value, literal.kind):
        return None
    return (value > literal.text) - (value < literal.text)


# ---------------------------------------------------------------- texts


def equals(value: object, literal: RuleValue, texts: bool) -> bool | None:
    if literal.kind == "boolean":
        return value is (literal.text == "true") if isinstance(value, bool) else None
    if literal.kind != "text":
        found = order(value, literal, texts)
        return None if found is None else found == 0
    if not isinstance(value, str):
        return None
    if value == literal.text:
        return True
    wanted = folded(literal.text)
    return None if any(each == wanted for each in _readings(value)) else False


def fits(value: object, pattern: str) -> bool | None:
    """Whether a text matches a pattern. `*` is any text; if the match must be certain, only letters, digits and `_-.+`,
    and for `**` also slashes."""
    if not isinstance(value, str):
        return None
    if _fits_closely(value, pattern):
        return True
    pieces = [piece for piece in folded(pattern).split("*") if piece]
    first, last = pattern[:1] != "*", pattern[-1:] != "*"
    return None if any(_fits_loosely(each, pieces, first, last) for each in _readings(value)) else False


def folded(text: str) -> str:
    """A text as a lenient tool may read it: without case, widths, invisible characters and surrounding blanks."""
    if not text.isascii():
        from unicodedata import category, normalize

        text = normalize("NFKC", text).translate(STOPS)
        text = "".join(each for each in text if each.isspace() or category(each)[0] != "C").casefold()
    elif not text.isprintable():
        text = "".join(each for each in text if each.isspace() or each.isprintable())
    return text.lower().strip()


def _readings(value: str) -> set[str]:
    """A text and the values it may contain as a list or as parts; also with percent escapes decoded."""
    found = {value}
    if "%" in value:
        from urllib.parse import unquote

        found.add(unquote(value))
    pieces = {piece for text in found for piece in (text, *BETWEEN.split(text), *PARTS.split(text))}
    return {folded(each) for piece in pieces for each in (piece, piece.strip("./ "))}


def _fits_loosely(text: str, pieces: list[str], first: bool, last: bool) -> bool:
    if not pieces:
        return not first or not text  # `*`, or an empty pattern
    if len(pieces) == 1 and first and last:
        return text == pieces[0]
    if (first and not text.startswith(pieces[0])) or (last and not text.endswith(pieces[-1])):
        return False
    at = 0
    for piece in pieces:
        at = text.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return True


def _fits_closely(text: str, pattern: str) -> bool:
    """Track every position in the pattern that a prefix of the text can reach: wildcards are limited, so the first
    match may be the wrong one."""
    if len(text) > LONGEST or not {".", ".."}.isdisjoint(text.split("/")):
        return False
    tokens: list[str] = []
    for character in pattern:
        if character == "*" and tokens and tokens[-1] in ("*", "**"):
            tokens[-1] = "**"
        else:
            tokens.append(character)
    places = _past_wildcards({0}, tokens)
    for character in text:
        after = set()
        for place in places:
            token = tokens[place] if place < len(tokens) else ""
            if token in ("*", "**"):
                if is_plain(character) or (token == "**" and character == "/"):
                    after.add(place)
            elif token == character:
                after.add(place + 1)
        places = _past_wildcards(after, tokens)
    return len(tokens) in places


def _past_wildcards(places: set[int], tokens: list[str]) -> set[int]:
    """The positions, and those after wildcards, which may match nothing. A pattern has no two wildcards in a row."""
    return places | {place + 1 for place in places if place < len(tokens) and tokens[place] in ("*", "**")}


def is_plain(text: str) -> bool:
    """Whether a text consists of letters, digits and a few marks that are no separators."""
    if text.isascii():
        return all(each.isalnum() or each in PLAIN for each in text)
    from unicodedata import normalize

    return normalize("NFKC", text) == text and all(each.isalnum() or each in PLAIN for each in text)


def is_single(text: str) -> bool:
    """Whether a text is certainly one value: plain letters without look-alikes, and the marks of addresses and
    paths."""
    plain = text.isascii() and is_plain(text.translate(MARKS))
    return bool(text) and plain and {".", ".."}.isdisjoint(text.split("/"))


MARKS = str.maketrans(dict.fromkeys("@/:", "_"))
