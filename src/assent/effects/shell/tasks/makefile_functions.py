"""The functions of GNU make."""

from __future__ import annotations

import posixpath
from collections.abc import Callable

from assent.effects.shell.tasks.makefile_values import (
    Function,
    MakeValues,
    MakeVariable,
    has_marks,
    outside,
    replaced,
    stem,
)

NAMES = frozenset(
    """subst patsubst strip findstring filter filter-out sort word wordlist words firstword lastword dir notdir suffix
    basename addsuffix addprefix join wildcard realpath abspath if or and foreach call value origin flavor shell error
    warning info eval file guile let intcmp""".split()
)
# Their arguments are expanded only when used.
_LAZY = frozenset("if or and foreach let intcmp".split())
_MOST = {"subst": 3, "patsubst": 3, "findstring": 2, "filter": 2, "filter-out": 2, "word": 2, "wordlist": 3} | {
    **dict.fromkeys(("addsuffix", "addprefix", "join", "file"), 2),
    **dict.fromkeys(("foreach", "if", "let"), 3),
    "intcmp": 5,
}
_WITH_MANY = frozenset(("call", "or", "and"))
_MOST_ITEMS = 500


def call(values: MakeValues, name: str, text: str, local: dict[str, MakeVariable], depth: int) -> str:
    """The result of a function for its unexpanded arguments."""
    given = _arguments(text, 10_000 if name in _WITH_MANY else _MOST.get(name, 1))
    if name in _LAZY:
        return _lazy(values, name, given, local, depth)
    expanded = [values.expand(each, local, depth) for each in given]
    if name == "call":
        return _called(values, expanded, local, depth)
    return apply(values, name, expanded, local)


def apply(values: MakeValues, name: str, given: list[str], local: dict[str, MakeVariable]) -> str:
    """The result of a function for expanded arguments."""
    first = given[0] if given else ""
    if name in _TEXTS:
        padded = [*given, "", "", ""]
        return _TEXTS[name](padded[0], padded[1], padded[2])
    if name == "shell":
        return values.run(first)
    if name == "eval":
        values.exact = False
        values.define(first)
    elif name == "file":
        return _file(values, given)
    elif name == "wildcard":
        return values.perhaps(first)
    elif name in ("realpath", "abspath"):
        values.exact = values.exact and name == "abspath"
        return " ".join(posixpath.normpath(posixpath.join(values.folder, word)) for word in first.split())
    elif name == "value":
        found = local.get(first.strip()) or values.variables.get(first.strip())
        return found.value if found is not None else values.value(first.strip(), local, 0)
    elif name == "origin":
        known = values.variables.get(first.strip())
        values.exact = False
        return known.origin if known is not None else "undefined"
    elif name == "flavor":
        known = values.variables.get(first.strip())
        return "undefined" if known is None else "simple" if known.simple else "recursive"
    elif name == "guile":
        values.unread = True
    return ""


def _lazy(values: MakeValues, name: str, given: list[str], local: dict[str, MakeVariable], depth: int) -> str:
    if name in ("or", "and"):
        found = ""
        for each in given:
            found = values.expand(each.strip(), local, depth)
            if has_marks(found) and not values.either():
                found = "" if name == "or" else found
                continue
            if bool(found) == (name == "or"):
                return found
        return found
    if name == "if":
        test = values.expand(given[0].strip(), local, depth)
        yes = values.either() if has_marks(test) else bool(test)
        return values.expand(given[1 if yes else 2], local, depth) if len(given) > (1 if yes else 2) else ""
    if name in ("let", "intcmp") or len(given) < 3:
        values.unread = values.unread or name in ("let", "intcmp")
        return " ".join(values.expand(each, local, depth) for each in given)
    variable = values.expand(given[0], local, depth).strip()
    items = values.expand(given[1], local, depth).split()
    values.unread = values.unread or len(items) > _MOST_ITEMS
    out = []
    for item in items[:_MOST_ITEMS]:
        out.append(values.expand(given[2], {**local, variable: MakeVariable(item, simple=True)}, depth))
    return " ".join(out)


def _called(values: MakeValues, given: list[str], local: dict[str, MakeVariable], depth: int) -> str:
    name = given[0].strip() if given else ""
    if name in NAMES:
        return apply(values, name, given[1:], local) if name not in _LAZY else " ".join(given[1:])
    numbered = {str(place): MakeVariable(each, simple=True) for place, each in enumerate([name, *given[1:]])}
    inner = {key: each for key, each in local.items() if not key.isdigit()}
    return values.value(name, {**inner, **numbered}, depth)


def _file(values: MakeValues, given: list[str]) -> str:
    """`$(file >name,text)`, as the shell does it."""
    values.exact = False
    first = given[0].strip()
    sign = ">>" if first.startswith(">>") else first[:1]
    name = values.rendered(first[len(sign) :].strip())
    if sign == "<":
        return values.run(f"cat {name}")
    text = values.rendered((given[1] if len(given) > 1 else "").replace("'", "'\\''"), "'")
    values.ran.append(f"printf '%s\\n' '{text}' {sign or '>'} {name}")
    return ""


def _arguments(text: str, most: int) -> list[str]:
    """Arguments by their commas; the last of `most` takes the rest."""
    found: list[str] = []
    start, levels = 0, {"(": 0, "{": 0}
    for place, sign in outside(text):
        if sign in "({":
            levels[sign] += 1
        elif sign in ")}":
            levels["(" if sign == ")" else "{"] -= 1
        elif sign == "," and len(found) + 1 < most and levels["("] <= 0 and levels["{"] <= 0:
            found.append(text[start:place])
            start = place + 1
    return [*found, text[start:]]


# ---------------------------------------------------------------- texts


def _each(change: Callable[[str], str]) -> Callable[[str, str, str], str]:
    return lambda words, b, c: " ".join(filter(None, (change(word) for word in words.split())))


def _number(text: str, otherwise: int) -> int:
    return int(text.strip()) if text.strip().isdecimal() else otherwise


def _filtered(patterns: str, words: str, *, keep: bool) -> str:
    wanted = patterns.split()
    return " ".join(
        word
        for word in words.split()
        if has_marks(word) or any(stem(word, pattern) is not None for pattern in wanted) == keep
    )


def _dir(word: str) -> str:
    return word[: word.rfind("/") + 1] or ("" if has_marks(word) else "./")


def _without_suffix(word: str) -> str:
    dot = word.rfind(".")
    return word[:dot] if dot > word.rfind("/") else word


def _suffix(word: str) -> str:
    dot = word.rfind(".")
    return word[dot:] if dot > word.rfind("/") else ""


def _joined(a: str, b: str) -> str:
    left, right = a.split(), b.split()
    count = max(len(left), len(right))
    pairs = zip(left + [""] * (count - len(left)), right + [""] * (count - len(right)), strict=True)
    return " ".join(f"{x}{y}" for x, y in pairs)


_TEXTS: dict[str, Callable[[str, str, str], str]] = {
    "subst": lambda a, b, c: c.replace(a, b) if a else c + b,
    "patsubst": lambda a, b, c: " ".join(replaced(word, a.strip(), b.strip()) for word in c.split()),
    "strip": lambda a, b, c: " ".join(a.split()),
    "findstring": lambda a, b, c: a if a in b else "",
    "filter": lambda a, b, c: _filtered(a, b, keep=True),
    "filter-out": lambda a, b, c: _filtered(a, b, keep=False),
    "sort": lambda a, b, c: " ".join(sorted(set(a.split()))),
    "word": lambda a, b, c: " ".join(b.split()[_number(a, 1) - 1 :][:1]),
    "wordlist": lambda a, b, c: " ".join(c.split()[max(_number(a, 1) - 1, 0) : _number(b, 10_000)]),
    "words": lambda a, b, c: str(len(a.split())),
    "firstword": lambda a, b, c: " ".join(a.split()[:1]),
    "lastword": lambda a, b, c: " ".join(a.split()[-1:]),
    "dir": _each(_dir),
    "notdir": _each(lambda word: word[word.rfind("/") + 1 :]),
    "suffix": _each(_suffix),
    "basename": _each(_without_suffix),
    "addsuffix": lambda a, b, c: " ".join(f"{word}{a}" for word in b.split()),
    "addprefix": lambda a, b, c: " ".join(f"{a}{word}" for word in b.split()),
    "join": lambda a, b, c: _joined(a, b),
}


FUNCTIONS: dict[str, Function] = dict.fromkeys(NAMES, call)
