"""Python's own parser, for texts that it can parse in bounded time and stack."""

from __future__ import annotations

from typing import Any

from assent.contract import DOTALL, Pattern

_ONLY_AST = 0x400  # ast.PyCF_ONLY_AST, without the cost of importing ast
_LIMIT = 524_288
_BRACKET = Pattern(r"[()\[\]{}]")
_TOKEN = Pattern(
    r"""'{3}(?:[^\\]|\\.)*?'{3}|"{3}(?:[^\\]|\\.)*?"{3}|'(?:[^'\\\n]|\\.)*+'|"(?:[^"\\\n]|\\.)*+"|[#][^\n]*+|[()\[\]{}]|(?P<line>\n)"""
    r"""|(?P<word>\b(?:lambda|not|else|elif|await)\b|\*\*)|\bif\b""",
    DOTALL,
)
_SIGNS = Pattern(r"(?:[-+~][ \t]*+){200}")
_DEEPEST, _MOST = 50, 200  # nested brackets, keywords that nest the code after them


def parsed(text: str) -> Any | None:
    """The syntax tree of a text; None if it is not Python, False if it is too long or too deep."""
    try:
        return compile(text, "<code>", "exec", _ONLY_AST, dont_inherit=True) if _is_flat(text) else False
    except (SyntaxError, ValueError):
        return None
    except (RecursionError, MemoryError):
        return False


def _is_flat(text: str) -> bool:
    """Whether Python's own parser can read the text within a small stack."""
    if len(text) > _LIMIT or _SIGNS.search(text):
        return False
    level = nested = branches = 0
    for match in _TOKEN.finditer(text):
        token = match[0]
        if match.lastgroup == "line":
            nested = nested if level > 0 else 0
        elif match.lastgroup == "word":
            nested += 1
            branches = branches + 1 if token == "elif" else branches
        elif token == "if":
            branches = 0
        elif len(token) == 1:
            level += 1 if token in "([{" else -1
        if nested > _MOST or branches > _MOST or level + _depth(token) > _DEEPEST:
            return False
    return True


def _depth(token: str) -> int:
    """The depth of brackets in a string, which may hold code."""
    level = deepest = 0
    for bracket in _BRACKET.findall(token) if len(token) > 1 else ():
        level = level + 1 if bracket in "([{" else max(0, level - 1)
        deepest = max(deepest, level)
    return deepest
