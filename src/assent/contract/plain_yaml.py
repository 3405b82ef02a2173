"""Reads a subset of YAML, exactly as YAML: mappings, lists, scalars on one line and block texts.

Anchors, aliases, tags, several documents and everything else not listed here are errors."""

from __future__ import annotations

from assent.contract.lean import Pattern

YamlNode = str | list["YamlNode"] | dict[str, "YamlNode"] | None
_KEY = Pattern(r"""("[^"\\]*"|'[^']*'|(?!\?\s)[^\s#&*!|>%@`"'\[\]{},][^#]*?)\s*:(?:\s+(.*))?""")
_CONTROL = Pattern(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]")  # including YAML's line breaks
_MOST_LINES = 10_000
_DEEPEST = 24


class NotPlainYaml(ValueError):
    """A text is not in the subset."""


def read(text: str) -> YamlNode:
    """The value of a document; numbers and the like are texts. Raises NotPlainYaml."""
    lines = text.replace("\r\n", "\n").split("\n")
    if len(lines) > _MOST_LINES or _CONTROL.search("\n".join(lines)):
        raise NotPlainYaml("too long, or with control characters")
    if lines[0].rstrip(" ") == "---":
        lines[0] = ""
    at = _next(lines, 0)
    if at == len(lines):
        return None
    found, at = _block(lines, at, 0)
    if at < len(lines):
        raise NotPlainYaml("a line that belongs to nothing")
    return found


def _next(lines: list[str], at: int) -> int:
    """The next line that is neither empty nor a comment."""
    while at < len(lines):
        line = lines[at]
        text = line.strip(" ")
        if text and text[0] != "#":
            if "\t" in line[: len(line) - len(line.lstrip())] or text in ("---", "..."):
                raise NotPlainYaml("a tab, or a second document")
            break
        at += 1
    return at


def _indent(lines: list[str], at: int) -> int:
    """The indent of a line; -1 after the last."""
    return len(lines[at]) - len(lines[at].lstrip(" ")) if at < len(lines) else -1


def _is_item(lines: list[str], at: int) -> bool:
    text = lines[at].strip(" ")
    return text == "-" or text.startswith("- ")


def _block(lines: list[str], at: int, depth: int) -> tuple[YamlNode, int]:
    if depth > _DEEPEST:
        raise NotPlainYaml("too deep")
    indent = _indent(lines, at)
    return _list(lines, at, indent, depth) if _is_item(lines, at) else _mapping(lines, at, indent, depth)


def _list(lines: list[str], at: int, indent: int, depth: int) -> tuple[YamlNode, int]:
    found: list[YamlNode] = []
    value: YamlNode
    while _indent(lines, at) == indent and _is_item(lines, at):
        text = lines[at].strip(" ")
        rest = text[1:].lstrip(" ")
        inner = indent + len(text) - len(rest)
        if rest and rest[0] not in "\"'[{" and _KEY.fullmatch(rest) is not None:
            lines[at] = " " * inner + rest  # a mapping that begins on the same line as the dash
            value, at = _mapping(lines, at, inner, depth + 1)
        else:
            value, at = _value(lines, at + 1, rest, indent, depth)
        found.append(value)
    return _ended(lines, at, indent, found)


def _mapping(lines: list[str], at: int, indent: int, depth: int) -> tuple[YamlNode, int]:
    found: dict[str, YamlNode] = {}
    while _indent(lines, at) == indent and not _is_item(lines, at):
        key = _KEY.fullmatch(lines[at].strip(" "))
        name = _new_key(key[1] if key is not None else "", found)
        found[name], at = _value(lines, at + 1, (key[2] or "").strip() if key is not None else "", indent, depth)
    return _ended(lines, at, indent, found)


def _new_key(text: str, found: dict[str, YamlNode]) -> str:
    name = text[1:-1] if text[:1] in ("'", '"') else text
    if not text or name in found or name == "<<":
        raise NotPlainYaml("no key, or one that is there twice")
    return name


def _ended(lines: list[str], at: int, indent: int, found: YamlNode) -> tuple[YamlNode, int]:
    if _indent(lines, at) > indent:
        raise NotPlainYaml("a line that is indented further")
    return found, at


def _value(lines: list[str], at: int, text: str, indent: int, depth: int) -> tuple[YamlNode, int]:
    """A value that begins next to its key or below it, and the line after it."""
    if text[:1] in ("|", ">"):
        return _text_block(lines, at, text, indent)
    at = _next(lines, at)
    below = _indent(lines, at)
    if text and text[0] != "#":
        if below > indent:
            raise NotPlainYaml("a scalar of several lines")
        return _scalar(text, depth), at
    if below < indent or (below == indent and not _is_item(lines, at)):
        return None, at
    return _block(lines, at, depth + 1)


def _text_block(lines: list[str], at: int, sign: str, indent: int) -> tuple[str, int]:
    found: list[str] = []
    inner = 0
    while at < len(lines):
        if lines[at].strip():
            if _indent(lines, at) <= indent:
                break
            inner = inner or _indent(lines, at)
        found.append(lines[at][inner:] if inner else "")
        at += 1
    while found and not found[-1].strip():
        found.pop()
    return (" " if sign[0] == ">" else "\n").join(found), _next(lines, at)


def _scalar(text: str, depth: int) -> YamlNode:
    if text[0] in "&*!%@`|>" or text[:2] in ("- ", "? ") or depth > _DEEPEST:
        raise NotPlainYaml("more than a scalar")
    if text[0] in "\"'":
        return _quoted(text)
    if text[0] in "[{":
        return _flow(text, depth)
    cut = text.find(" #")
    plain = text[:cut].rstrip() if cut >= 0 else text
    if ": " in plain or plain[-1:] == ":":
        raise NotPlainYaml("a mapping beside a key")
    return plain


def _quoted(text: str) -> str:
    sign, out, place = text[0], [], 1
    while place < len(text):
        if sign == "'" and text.startswith("''", place):
            out.append("'")
            place += 2
        elif sign == '"' and text[place] == "\\":
            following = text[place + 1 : place + 2]
            if following not in ('"', "\\", "n", "t", "/"):
                raise NotPlainYaml("an escape")
            out.append({"n": "\n", "t": "\t"}.get(following, following))
            place += 2
        elif text[place] == sign:
            rest = text[place + 1 :].strip()
            if rest and rest[0] != "#":
                raise NotPlainYaml("text behind a quoted one")
            return "".join(out)
        else:
            out.append(text[place])
            place += 1
    raise NotPlainYaml("a quote that does not end")


def _flow(text: str, depth: int) -> YamlNode:
    """`[a, b]` and `{a: b}` in one line, not nested."""
    closing = "]" if text[0] == "[" else "}"
    text = text.partition(" #")[0].rstrip()
    if not text.endswith(closing) or any(sign in text[1:-1] for sign in "[]{}"):
        raise NotPlainYaml("more than a simple list or mapping in one line")
    pieces = _pieces(text[1:-1])
    if closing == "]":
        return [_scalar(piece, depth + 1) for piece in pieces]
    found: dict[str, YamlNode] = {}
    for piece in pieces:
        key = _KEY.fullmatch(piece)
        name = _new_key(key[1] if key is not None else "", found)
        found[name] = _scalar(key[2].strip(), depth + 1) if key is not None and key[2] else None
    return found


def _pieces(text: str) -> list[str]:
    found, start, quote = [], 0, ""
    for place, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'" and text[start:place].strip()[-1:] in ("", ":"):
            quote = sign
        elif sign == ",":
            found.append(text[start:place])
            start = place + 1
    return [piece.strip() for piece in (*found, text[start:]) if piece.strip()]
