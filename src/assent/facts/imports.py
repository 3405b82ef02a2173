"""Which files beside it a script loads: modules that Python and JavaScript import, files that a shell script names.

Read by their words, within bounds, from the folders where an interpreter looks first. Runs nothing. What a script
computes while it runs is not found: an approval is bound to what this finds, and to nothing behind it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from assent.contract import re
from assent.state.files import read

MOST = 128  # files
LONGEST = 1024 * 1024  # bytes of a file that is read for what it loads
WORDS = 4096  # of a shell script
PYTHON = (".py", ".pyw")
SCRIPT = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx")
_IMPORT = r"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n(;]+)|import[ \t]+([\w., \t]+))"
_LOAD = r"(?:from|require|import)[\s(]*[\"'`](\.{0,2}/[^\"'`\n]+)[\"'`]"
_WORD = r"[\w.+@/-]{1,200}"


def loaded(paths: Iterable[str], folders: tuple[str, ...]) -> list[str]:
    """The files that scripts load, and those that these load, by where they really are. `folders` are those in which
    the scripts run."""
    waiting = list(paths)
    seen = set(waiting)
    found: list[str] = []
    while waiting and len(found) < MOST:
        for path in _named(waiting.pop(0), folders):
            if path not in seen:
                seen.add(path)
                found.append(path)
                waiting.append(path)
    return found[:MOST]


def _named(path: str, folders: tuple[str, ...]) -> Iterator[str]:
    try:
        raw, _ = read(path, LONGEST)
        text = raw.decode("utf-8", "replace")
    except (OSError, ValueError):
        return
    own = os.path.dirname(path)
    first = text[:200].partition("\n")[0]
    if path.endswith(PYTHON) or (first.startswith("#!") and "python" in first):
        yield from _modules(text, own, folders)
    elif path.endswith(SCRIPT) or (first.startswith("#!") and "node" in first):
        for match in re.finditer(_LOAD, text):
            yield from _existing(os.path.join(own, match[1]), ("", *SCRIPT, ".json", "/index.js", "/index.ts"))
    elif path.endswith((".sh", ".bash", ".zsh")) or first.startswith("#!"):
        for number, match in enumerate(re.finditer(_WORD, text)):
            if number > WORDS:
                return
            if "." in match[0] or "/" in match[0]:  # `$(dirname "$0")/lib.sh` shows as `/lib.sh`
                for folder in dict.fromkeys((own, *folders)):
                    yield from _existing(os.path.join(folder, match[0].lstrip("/")))


def _modules(text: str, own: str, folders: tuple[str, ...]) -> Iterator[str]:
    for match in re.finditer(_IMPORT, text, 8):  # MULTILINE
        base, names, plain = match[1] or "", match[2] or "", match[3] or ""
        if plain:
            modules = [each.split()[0] for each in plain.split(",") if each.split()]
        else:
            inner = [each.split()[0] for each in re.sub(r"#[^\n]*|[()]", " ", names).split(",") if each.split()]
            modules = [base, *(f"{base}{'' if base.endswith('.') else '.'}{each}" for each in inner)]
        for module in modules:
            for folder, parts in _places(module, own, folders):
                for count in range(1, len(parts) + 1):
                    yield from _existing("/".join((folder, *parts[:count])), (".py", "/__init__.py"))


def _places(module: str, own: str, folders: tuple[str, ...]) -> Iterator[tuple[str, list[str]]]:
    parts = [each for each in module.split(".") if each]
    dots = len(module) - len(module.lstrip("."))
    if dots:
        folder = own
        for _ in range(dots - 1):
            folder = os.path.dirname(folder)
        yield folder, parts
    else:
        for folder in dict.fromkeys((own, *folders)):
            yield folder, parts


def _existing(path: str, endings: tuple[str, ...] = ("",)) -> Iterator[str]:
    for ending in endings:
        if os.path.isfile(path + ending):
            yield os.path.realpath(path + ending)
