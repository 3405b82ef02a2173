"""Redacts secrets and cuts long text before anything is written.

A redacted value keeps its kind and nothing else: `‹redacted: github token›`. This module finds random-looking text:
long runs of letters and digits, except hashes, UUIDs, paths, identifiers and base64 of text. `shapes` and `named` find
the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from assent.contract import Pattern, keep, re
from assent.trail import named, shapes
from assent.trail.named import secret_kind
from assent.trail.shapes import Span

MAX_TEXT = 16_384  # characters kept of one text
MAX_INPUT = 65_536  # characters kept of one input, all texts together
MAX_DEPTH = 40
_MARK = Pattern(r"‹redacted: [a-z -]{1,40}›")
_NODE = 8  # characters that a value counts for itself
# In an object with two keys, one names the other: {"name": "API_KEY", "value": "…"}.
_NAME_KEYS = ("name", "key", "Name", "Key")
_VALUE_KEYS = ("value", "Value", "val")
CACHED, CACHED_LENGTH = 256, 4000  # texts, characters of one
_clean: dict[str, None] = {}  # a cache of texts without secrets: agents repeat themselves
RANDOM = "high-entropy text"
SHORTEST = 20
_RUN = Pattern(r"[A-Za-z0-9+/_=-]{20,}")
# Hashes and other random names that are no secrets.
# Texts, not patterns, here and below: few lines need them, and `re` caches compiled ones.
_NOT_SECRET = (
    r"[0-9a-fA-F]+"  # a hash in hexadecimal
    r"|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"  # a UUID
    r"|[0-7][0-9A-HJKMNP-TV-Z]{25}"  # a ULID
    r"|(?:sha(?:1|224|256|384|512)|md5)-[A-Za-z0-9+/=]+"  # subresource integrity
    r"|(?:[A-Za-z]{1,24}[_-])+[0-9a-f]{6,64}"  # a name and a hash
    r"|(?:[A-Za-z0-9]{1,16}[_-])+[0-9a-f]{32,64}"  # as above
    r"|0x[0-9a-fA-F]+"
    r"|[A-Z]{1,5}_kw[A-Za-z0-9_-]+"  # a node of GitHub's graph
)
_HASH_BEFORE = r"(?:(?i:sha(?:1|224|256|384|512)|md5)|h1)[:=-]$"
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/_=-"
_CLASSES = str.maketrans(_LETTERS, "a" * 26 + "A" * 26 + "0" * 10 + ".....")
_DIGITS = frozenset("0123456789")
_ALPHABET = frozenset(_LETTERS)
LONG = 4000  # characters of a text
_CHANGES = r"(?=aA|a0|Aa|A0|0a|0A)"


def mark(kind: str) -> str:
    return f"‹redacted: {kind}›"


def text(given: str) -> str:
    if quiet(given):
        return given
    found = [*shapes.find(given), *named.find(given), *find_random(given)]
    if found and "‹redacted: " in given:
        marks = [each.span() for each in _MARK.finditer(given)]
        found = [span for span in found if not any(start <= span[0] and span[1] <= end for start, end in marks)]
    return _replaced(given, found) if found else given


def quiet(given: str) -> bool:
    """Whether nothing in a text even hints at a secret. Takes microseconds, and is true of most texts."""
    if given in _clean:
        return True
    if len(given) >= 6 and (shapes.hinted(given) or named.hinted(given)):
        return False
    found = not any(find_random(given))
    if found and len(given) <= CACHED_LENGTH:
        keep(_clean, given, None, CACHED)
    return found


def _replaced(given: str, spans: Iterable[Span]) -> str:
    """The text with spans redacted; overlapping ones are replaced by one mark with the kind of the first."""
    out: list[str] = []
    done = 0
    start, end, kind = -1, -1, ""
    for each in sorted(spans, key=lambda span: (span[0], -span[1])):
        if each[0] < end:
            end = max(end, each[1])
            continue
        if end >= 0:
            out += (given[done:start], mark(kind))
            done = end
        start, end, kind = each
    out += (given[done:start], mark(kind), given[end:])
    return "".join(out)


def texts(given: object, depth: int = 0) -> Iterator[str]:
    """Every text and key in a JSON-shaped value, and "secret" after each name that announces one."""
    if isinstance(given, str):
        yield given
    elif depth > MAX_DEPTH:
        return
    elif isinstance(given, dict):
        for key, each in given.items():
            name = key if isinstance(key, str) else str(key)
            yield name
            named_secret = name in _NAME_KEYS and isinstance(each, str) and secret_kind(each, key=True)
            if named_secret or secret_kind(name, key=True):
                yield "secret"
            yield from texts(each, depth + 1)
    elif isinstance(given, list | tuple | set | frozenset):
        yield " ".join(each for each in given if isinstance(each, str))
        for each in given:
            yield from texts(each, depth + 1)
    elif given is not None and not isinstance(given, int | float):
        yield str(given)


class _Budget:
    """How much of an input may still be kept, and whether it is known to have no secret."""

    __slots__ = ("left", "clean")

    def __init__(self, clean: bool = False) -> None:
        self.left = MAX_INPUT
        self.clean = clean

    def text(self, given: str) -> str:
        return given if self.clean else text(given)


def value(given: object, *, clean: bool = False) -> object:
    """Any JSON-shaped value without its secrets, bounded in size and depth. Anything else becomes text.

    `clean` says that all its texts together are `quiet`."""
    return _value(given, _Budget(clean), 0)


def mapping(given: Mapping[str, object], *, clean: bool = False) -> dict[str, object]:
    """As `value`, for an object."""
    return _mapping(given, _Budget(clean), 0)


def _value(given: object, budget: _Budget, depth: int) -> object:
    budget.left -= _NODE
    if isinstance(given, str):
        return _cut(budget.text(given), budget)
    if given is None or isinstance(given, bool | int):
        return given if not isinstance(given, int) or -(1 << 63) <= given < 1 << 64 else _cut(str(given)[:100], budget)
    if isinstance(given, float):
        return given if given - given == 0 else str(given)
    if depth > MAX_DEPTH:
        return "‹cut: nested too deep›"
    if isinstance(given, dict):
        return _mapping(given, budget, depth)
    if isinstance(given, list | tuple | set | frozenset):
        return _sequence(list(given), budget, depth)
    return _cut(budget.text(str(given)), budget)


def _mapping(given: Mapping[str, object], budget: _Budget, depth: int) -> dict[str, object]:
    """An object without its secrets: those of its values, those its keys announce, and keys that are secrets."""
    announced = "" if budget.clean else _announced(given)
    out: dict[str, object] = {}
    for key, each in given.items():
        if budget.left <= 0:
            out["‹cut›"] = f"{len(given) - len(out)} more"
            break
        name = key if isinstance(key, str) else str(key)
        kind = "" if budget.clean else secret_kind(name, key=True) or (announced if key in _VALUE_KEYS else "")
        shown = _cut(budget.text(name), budget)
        out[shown] = _wiped(each, kind, depth) if kind else _value(each, budget, depth + 1)
    return out


def _announced(given: Mapping[str, object]) -> str:
    names = (name for key in _NAME_KEYS if isinstance(name := given.get(key), str))
    return secret_kind(next(names, ""), key=True)


def _sequence(items: list[object], budget: _Budget, depth: int) -> list[object]:
    """A list without its secrets; in a list of words, a flag announces the word after it."""
    out: list[object] = []
    kind = ""
    for each in items:
        if budget.left <= 0:
            out.append(f"‹cut: {len(items) - len(out)} more›")
            break
        if kind and isinstance(each, str) and not each.startswith("-"):
            out.append(_wiped(each, kind, depth))
            kind = ""
            continue
        flag = isinstance(each, str) and each.startswith("-") and len(each) < 80 and not budget.clean
        kind = secret_kind(str(each).lstrip("-"), key=True) if flag else ""
        out.append(_value(each, budget, depth + 1))
    return out if budget.clean else _joined(items, out)


def _joined(items: list[object], out: list[object]) -> list[object]:
    """Redact words that announce a secret only together: `curl`, `-u`, `me:secret`."""
    words = [each for each in items if isinstance(each, str)]
    whole = " ".join(words)
    if not 1 < len(words) <= 200 or not len(words) == len(items) == len(out) or len(whole) > MAX_TEXT:
        return out
    spans = list(named.find(whole))
    at = 0
    for index, word in enumerate(words):
        inside = [
            (max(a, at) - at, min(b, at + len(word)) - at, kind)
            for a, b, kind in spans
            if a < at + len(word) and b > at
        ]
        if inside and out[index] == word:
            out[index] = _replaced(word, inside)
        elif inside:
            out[index] = mark(inside[0][2])
        at += len(word) + 1
    return out


def _wiped(given: object, kind: str, depth: int) -> object:
    """A value whose key announces a secret: every text and number in it is redacted, its shape is kept."""
    if given is None or isinstance(given, bool) or given == "":
        return given
    if depth <= MAX_DEPTH and isinstance(given, dict):
        return {text(str(key))[:200]: _wiped(each, kind, depth + 1) for key, each in list(given.items())[:50]}
    if depth <= MAX_DEPTH and isinstance(given, list | tuple):
        return [_wiped(each, kind, depth + 1) for each in given[:50]]
    if isinstance(given, str) and named.refers(given):
        return text(given)[:200]
    return mark(kind)


def _cut(given: str, budget: _Budget) -> str:
    """A text, cut in the middle if it is too long, with its true length."""
    room = max(min(MAX_TEXT, budget.left), 64)
    budget.left -= min(len(given), room)
    if len(given) <= room:
        return given
    head, tail = room * 2 // 3, room // 3
    return f"{given[:head]}‹cut: {len(given) - head - tail} of {len(given)} characters›{given[-tail:]}"


def find_random(given: str) -> Iterator[Span]:
    for at, whole in _runs(given) if len(given) >= SHORTEST else ():
        for run in whole.split("="):
            if len(run) >= SHORTEST:
                yield from _in_run(given, at, run)
            at += len(run) + 1


def _runs(given: str) -> Iterator[tuple[int, str]]:
    """Long runs of the characters of such secrets. Short texts need no pattern."""
    if len(given) > LONG:
        yield from ((found.start(), found[0]) for found in _RUN.finditer(given))
        return
    at = 0
    for word in given.split():
        at = given.index(word, at)
        if len(word) >= SHORTEST:
            begin = 0
            for end, letter in enumerate(f"{word} "):
                if letter not in _ALPHABET:
                    if end - begin >= SHORTEST:
                        yield at + begin, word[begin:end]
                    begin = end + 1
        at += len(word)


def _in_run(given: str, start: int, run: str) -> Iterator[Span]:
    before = given[max(start - 1, 0) : start]
    if run[0] == "/" or (before in (".", "~", ":", "@", "}", "%") and "/" in run[:3]):  # a path
        if len(run) > 28:
            yield from _in_path(run, start)
    elif looks_random(run) and not _harmless(given, start, run):
        yield start, start + len(run), RANDOM


def _in_path(path: str, at: int) -> Iterator[Span]:
    """Folders have odd names; only a very long one counts, or base64 that happens to begin with a slash."""
    if path.lower() != path != path.upper() and looks_random(path, 0.36 if "+" in path else 0.5):
        yield at, at + len(path), RANDOM
        return
    for name in path.split("/"):
        mixed = len(name) >= 32 and name.lower() != name != name.upper()
        if mixed and looks_random(name, 0.45) and not re.fullmatch(_NOT_SECRET, name):
            yield at, at + len(name), RANDOM
        at += len(name) + 1


def looks_random(run: str, changes: float = 0.36) -> bool:
    """Whether letters, capitals and digits alternate as they do in random text and not in names."""
    if len(run) < 32 and _DIGITS.isdisjoint(run):
        return False
    classes = run.translate(_CLASSES)
    lower, upper, digits = classes.count("a"), classes.count("A"), classes.count("0")
    length = lower + upper + digits
    if length < SHORTEST - 2 or (not digits and not (lower and upper and length >= 32)):
        return False
    if len(set(run)) * 5 < min(length, 40) * 2:  # a few characters again and again
        return False
    turns = len(re.findall(_CHANGES, classes))
    if lower and upper:
        return turns >= (changes if digits else 0.45) * (length - 1)
    # One case only: randomness needs more length to show.
    return length >= 24 and digits >= 4 and turns >= 0.28 * (length - 1)


def _harmless(given: str, start: int, run: str) -> bool:
    if re.fullmatch(_NOT_SECRET, run) or re.search(_HASH_BEFORE, given[max(start - 8, 0) : start]):
        return True
    decoded = _decoded(run)
    return bool(decoded) and not any(shapes.find(decoded)) and not any(named.find(decoded))


def _decoded(run: str) -> str:
    """The text that base64 encodes; `""` if it encodes none."""
    trimmed = run.rstrip("=").translate({ord("-"): "+", ord("_"): "/"})
    from binascii import a2b_base64

    try:
        decoded = a2b_base64(trimmed + "=" * (-len(trimmed) % 4))
    except ValueError:
        return ""
    printable = len(decoded) > 8 and all(32 <= byte < 127 or byte in b"\r\n\t" for byte in decoded)
    return decoded.decode("ascii") if printable else ""
