"""Differences of other shells from bash: `sh` (often dash, which lacks bash's own forms) and zsh.

The reader reads every text as bash does. This module finds texts that another shell reads differently."""

from __future__ import annotations

from collections.abc import Iterator

from assent.contract import DOTALL, Pattern, Value, fields
from assent.effects.shell.record import Walk
from assent.effects.shell.state import ShellState
from assent.effects.shell.tree import (
    ArithmeticCommand,
    Assignment,
    Brace,
    Conditional,
    Coproc,
    For,
    ForArithmetic,
    Function,
    GlobPart,
    Literal,
    Parameter,
    Part,
    ProcessSub,
    Script,
    Simple,
    Word,
)
from assent.programs.traits import has

SH_ADVICE = "`sh` may read this otherwise than bash: write it for `sh`, or run it with `bash -c`"

_BASH_ONLY = (ArithmeticCommand, Conditional, Coproc, ForArithmetic, ProcessSub)
_BUILTINS = frozenset(
    """declare typeset let shopt source mapfile readarray pushd popd enable compgen complete bind builtin caller
    disown help function select""".split()
)
_PIECE = Pattern(r"""\\.|"(?:[^"\\]|\\.)*"|\$['\[]|'[^']*'""", DOTALL)
_ESCAPED = Pattern(r"\$'(?:[^'\\]|\\[^'])*\\'", DOTALL)
_OPERAND = r"(?:\+\+|--|[-+!~])?\s*(?:\$?[A-Za-z_]\w*|\$\{\w+\}|\$#|[0-9]+)(?:\[\w+\])?(?:\+\+|--)?"
_OPERATOR = r"\s*(?:<<|>>|\*\*|[-+*/%]?=|[=!<>]=|[-+*/%<])\s*"
_SUM = Pattern(rf"\s*{_OPERAND}(?:(?:{_OPERATOR}{_OPERAND})|\s*>=?\s*\$?[0-9{{#][\w}}]*)*\s*")
_EITHER = Pattern(r"&&|\|\|")
_FIRST = Pattern(r"\s*(?:!\s+)?(\$\{?|)([A-Za-z_]\w*)\}?(?=[\s<>]|$)")
_PLAIN = Pattern(r"[A-Za-z./][\w./-]*")
SUBSCRIPT_ADVICE = "zsh evaluates this subscript: write `${name}` with the braces, or a plain number"
_PLAIN_SUBSCRIPT = Pattern(r"\[(?:-?[0-9]+(?:,-?[0-9]+)?|[@*])\]")
_ODD_SUBSCRIPT = Pattern(r"\$[+=^~#]+[A-Za-z_]\w*\[(?!-?[0-9]+\]|[@*]\])")


def doubts(script: Script, text: str, shell: str, zsh: bool) -> list[tuple[str, str]]:
    """The forms that the shell may read differently from bash, as (code, advice) of gaps."""
    out = []
    if _differs(script, text) if has(shell, "posix-shell") else not shell and _ends_elsewhere(script, text):
        out.append(("gap.shell.unmodelled", SH_ADVICE))
    if zsh and _has_odd_subscript(text):
        out.append(("gap.shell.zsh", SUBSCRIPT_ADVICE))
    return out


def _differs(script: Script, text: str) -> bool:
    """Whether a text holds a form of bash that dash reads differently."""
    return any(_is_bashs(node, text) for node in _nodes(script))


def _ends_elsewhere(script: Script, text: str) -> bool:
    """Whether a `$'…'` holds an escaped quote: dash ends it there and reads the rest differently."""
    return "$'" in text and any(isinstance(node, Word) and _has_escaped_quote(node.text) for node in _nodes(script))


def _has_escaped_quote(text: str) -> bool:
    return any(found[0] == "$'" and _ESCAPED.match(text, found.start()) for found in _PIECE.finditer(text))


def _nodes(script: Script) -> Iterator[Value]:
    todo: list[object] = [script]
    while todo:
        node = todo.pop()
        if isinstance(node, tuple):
            todo.extend(node)
        elif isinstance(node, Value):
            yield node
            todo.extend(getattr(node, name) for name in fields(type(node)))


def _is_bashs(node: Value, text: str) -> bool:
    if isinstance(node, _BASH_ONLY):
        return True
    if isinstance(node, Word):
        return "$" in node.text and any(found[0] in ("$'", "$[") for found in _PIECE.finditer(node.text))
    if isinstance(node, Simple):
        return bool(node.words) and _bashs_command(node.words)
    if isinstance(node, Assignment):
        return node.append or node.items is not None or node.subscript is not None
    if isinstance(node, Function):
        return text.startswith("function", node.start)
    return isinstance(node, For) and node.select


def _bashs_command(words: tuple[Word, ...]) -> bool:
    name = words[0].text
    if name in _BUILTINS or any(type(part) is Brace for part in words[0].parts):
        return True
    options = [word.text for word in words[1:] if word.text[:1] == "-"]
    return (name == "printf" and "-v" in options) or (name == "read" and any(word != "-r" for word in options))


# ---------------------------------------------------------------- where the shell is not known


def does_nothing_in_dash(node: ArithmeticCommand | Conditional, state: ShellState) -> bool:
    """Whether dash finds no command in `((…))` or `[[ … ]]`."""
    return _sum_only(node.expression.text, state) if isinstance(node, ArithmeticCommand) else _tests_only(node.words)


def _sum_only(expression: str, state: ShellState) -> bool:
    """Whether `((expression))` does nothing in dash, which reads it as a command in two subshells.

    Its first word then cannot be a command: a name with an operator attached, or a name that the text sets as a
    variable."""
    for piece in _EITHER.split(expression):
        if not _SUM.fullmatch(piece):
            return False
        first = _FIRST.match(piece)
        found = state.get(first[2]) if first is not None else None
        if first is not None and (found is None or (first[1] and not found.numeric)):
            return False
    return True


def _tests_only(words: tuple[Word, ...]) -> bool:
    """Whether `[[ words ]]` does nothing in dash, which reads it as a missing command: `>` writes a file, and `&&` and
    `||` start another command."""
    for place, word in enumerate(words):
        behind = place and words[place - 1].text in ("&&", "||")
        if word.text == ">" or (behind and _PLAIN.fullmatch(word.text)):
            return False
    return True


def check_subscripts(walk: Walk, parts: tuple[Part, ...]) -> None:
    """`$name[…]`: a subscript in zsh, where bash sees two things."""
    for place, part in enumerate(parts[:-1]):
        if type(part) is not Parameter or part.op or part.subscript is not None or part.indirect:
            continue
        behind = parts[place + 1]
        if not (type(behind) is Literal or type(behind) is GlobPart) or behind.text[:1] != "[":
            continue
        if not _PLAIN_SUBSCRIPT.match(behind.text) and not walk.shown(part).startswith("${"):
            walk.gap("gap.shell.zsh", SUBSCRIPT_ADVICE)


def _has_odd_subscript(text: str) -> bool:
    """Whether a text holds `$#name[…]` or similar."""
    return "$" in text and _ODD_SUBSCRIPT.search(text) is not None
