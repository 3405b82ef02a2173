"""Path text → the absolute paths it may name. Follows no links: facts do that."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from assent.contract import DOTALL, IGNORECASE, Kind, Pattern, Target


def joined(text: str, cwd: str, home: str, *, tilde: bool = True) -> tuple[str, bool]:
    """Return the absolute path that a tool would open, `..` and all, and whether it is certain.

    A leading `~/` is the user's home (most tools expand it; a shell has done so already, so it passes
    `tilde=False`), `~name` a guess at another user's. A relative path in an empty or relative cwd gives `""`."""
    if tilde and text.startswith("~"):
        name, _, rest = text[1:].partition("/")
        if not name:
            return (f"{home}/{rest}", True) if home.startswith("/") else ("", False)
        return f"/root/{rest}" if name == "root" else f"/home/{name}/{rest}", False
    if text.startswith("/"):
        return text, True
    return (f"{cwd}/{text}", True) if cwd.startswith("/") else ("", False)


LONGEST = 16384  # four times what a kernel takes, since `a/../` goes away


def normal(path: str) -> str:
    """Collapse `.`, `..`, double and trailing slashes; `..` stops at the root."""
    if path[:1] == "/" and "/." not in path and "//" not in path and path[-1] != "/":
        return path
    if path[:1] != "/":
        return posixpath.normpath(path)
    names: list[str] = []
    for name in path.split("/"):
        if name == "..":
            del names[-1:]
        elif name and name != ".":
            names.append(name)
    return "/" + "/".join(names)


def path_target(
    text: str, cwd: str, home: str, *, tilde: bool = True, pattern: bool = False, certain: bool = True
) -> Target:
    """The target that a path names; unnamed if it is far longer than a path can be."""
    raw, sure = joined(text, cwd, home, tilde=tilde)
    if not raw or len(raw) > LONGEST:
        return Target(Kind.PATH, "", text, pattern=pattern, certain=False)
    name = normal(raw)
    if sure and certain and not pattern and ".." not in raw:
        return Target(Kind.PATH, name, text)
    return Target(Kind.PATH, name, text, pattern=pattern, certain=sure and certain, raw=raw if ".." in raw else "")


# ---------------------------------------------------------------- how programs change a path before they open it
#
# At least one known program does each of these (a leading `@`, NULs, percent signs, backslashes, quotes, spaces of all
# sorts, `file:` addresses, line numbers). Which program does what changes from version to version, and a form too many
# only tightens, so every tool gets all of them.

PLAIN_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./~+,=-")
PERCENT = Pattern(r"((?:%[0-9A-Fa-f]{2})+)")
SPACES = Pattern(r"[\t\x0b\x0c\r\n\x85\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
UNSEEN = Pattern(r"[\x00-\x1f\x7f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
LOCAL = Pattern(r"\s*(?:view-source:)?file:(?://(?:localhost)?(?=/)|(?=/)|//)?(.*)", IGNORECASE | DOTALL)
ENCODED = Pattern(r"%([0-9A-Fa-f]{2})")
ESCAPED = Pattern(r"\\(.)")
HOME = Pattern(r"(?:\$HOME|\$\{HOME\}|\$env:HOME|%USERPROFILE%|%HOME%)(?=[/\\]|$)")
LINES = Pattern(r"(?:#L?\d[\dL-]*|:\d+(?:[:,-]\d+)*)$")
QUOTES = "\"'`<>"
LONGEST_PATH = 4096  # bytes of a path that a kernel accepts
MOST = 48


def is_path(text: str) -> bool:
    """Whether a text can be a file name: one line, within the length of a path."""
    return "\n" not in text and "\r" not in text and len(text) <= LONGEST_PATH


def may_be_path(text: str) -> bool:
    """Whether an unknown argument may name a file: prose has spaces and no slash."""
    return bool(text) and is_path(text) and ("/" in text or "\\" in text or not any(map(str.isspace, text.strip())))


def forms(text: str) -> tuple[str, ...]:
    """A text as a path, and every path that a program may read it as, itself first; at most `MOST`."""
    if PLAIN_LETTERS.issuperset(text):
        return (text,)
    found: dict[str, None] = {text: None}
    todo = [text]
    while todo and len(found) < MOST:
        for each in _cleaned(todo.pop()):
            if each and each not in found:
                found[each] = None
                todo.append(each)
    return tuple(found)


def _cleaned(text: str) -> Iterator[str]:
    """The results of one step of each kind of cleaning."""
    yield text.strip()
    yield text.strip(QUOTES)
    if "\0" in text:
        yield text.replace("\0", "")
        yield text.partition("\0")[0]
    yield UNSEEN.sub("", text)
    yield SPACES.sub(" ", text)
    if text[:1] == "@":
        yield text[1:]
        yield text[1:].lstrip("/\\")
    if "%" in text:
        yield PERCENT.sub(lambda found: _decoded(found[1]), text)
    if "\\" in text:
        yield text.replace("\\", "/")
        yield ESCAPED.sub(lambda found: found[1], text)
    if "file:" in text[:24].lower():
        yield local_file(text) or ""
    if "$" in text or "%" in text:
        yield HOME.sub(lambda found: "~", text)
    yield LINES.sub("", text)


def local_file(url: str) -> str | None:
    """The path of a `file:` address, or None."""
    found = LOCAL.fullmatch(url)
    return None if found is None else ENCODED.sub(lambda match: chr(int(match[1], 16)), found[1])


def _decoded(text: str) -> str:
    return bytes.fromhex(text.replace("%", "")).decode("utf-8", "replace")
