"""One spelling for each tree, so that two readings can be compared: positions and source text left out, and the few
forms that bash itself rewrites when it prints a command written as bash writes them."""

from __future__ import annotations

import re
from typing import assert_never

from assent.effects.shell.tree import (
    Arithmetic,
    ArithmeticCommand,
    Assignment,
    Brace,
    CaseCommand,
    Command,
    CommandSub,
    Conditional,
    Coproc,
    For,
    ForArithmetic,
    Function,
    GlobPart,
    Group,
    If,
    Literal,
    Loop,
    Parameter,
    Part,
    Pipeline,
    ProcessSub,
    Redirect,
    Script,
    Simple,
    Tilde,
    Word,
)


def of(script: Script) -> str:
    """The canonical spelling of a script."""
    joins = [join if join in ("&", "&&", "||") else ";" for join in script.joins]
    pieces = [f"{command(one)} {join}" for one, join in zip(script.commands, joins, strict=True)]
    return " ".join(piece for piece in pieces if piece != " ;")


def word(one: Word | None) -> str:
    return "-" if one is None else "<" + " ".join(part(piece) for piece in one.parts) + ">"


def parts(pieces: tuple[Part, ...]) -> str:
    return " ".join(part(piece) for piece in pieces)


def part(one: Part) -> str:
    match one:
        case Literal():
            return f"{one.text!r}{'q' if one.quoted else ''}"
        case GlobPart():
            return f"glob:{one.text!r}"
        case Tilde():
            return f"tilde:{one.user!r}"
        case Parameter():
            flags = ("!" if one.indirect else "") + ("q" if one.quoted else "")
            return f"${{{flags} {one.name} [{word(one.subscript)}] {one.op} {word(one.operand)} {word(one.operand2)}}}"
        case CommandSub():
            return f"$({'q' if one.quoted else ''} {of(one.script)})"
        case ProcessSub():
            return f"{one.direction}({of(one.script)})"
        case Arithmetic():
            return arithmetic(one)
        case Brace():
            return "{" + ("…" if one.words is None else " , ".join(parts(words) for words in one.words)) + "}"
        case _:
            assert_never(one)


def arithmetic(one: Arithmetic) -> str:
    """An expression: its text, unless a substitution in it may have been reprinted."""
    text = "" if "$(" in one.text else re.sub(r"\s|\\\n", "", one.text)
    return f"(({text} {parts(one.parts)}{'q' if one.quoted else ''}))"


def command(one: Command) -> str:
    match one:
        case Simple():
            return simple(one)
        case Pipeline():
            return pipeline(one)
        case Group():
            return ("sub(" if one.subshell else "group{") + f"{of(one.body)}}}" + redirects(one.redirects)
        case If():
            return conditional(one.arms, one.otherwise) + redirects(one.redirects)
        case Loop():
            return f"loop {of(one.condition)} do {of(one.body)} done" + redirects(one.redirects)
        case For():
            over = ("$@",) if one.words is None else tuple(word(item) for item in one.words)
            if over == ("<${q @ [-]  - -}>",):
                over = ("$@",)
            kind = "select" if one.select else "for"
            return f"{kind} {one.name} in {' '.join(over)} do {of(one.body)} done" + redirects(one.redirects)
        case ForArithmetic():
            pieces = [re.sub(r"\s", "", piece) or "1" for piece in one.expression.text.split(";")]
            text = "" if "$(" in one.expression.text else ";".join(pieces)
            return f"for (({text} {parts(one.expression.parts)})) do {of(one.body)} done{redirects(one.redirects)}"
        case CaseCommand():
            arms = " ".join(f"{' | '.join(word(item) for item in arm)}) {of(body)} ;;" for arm, body in one.arms)
            return f"case {word(one.word)} in {arms} esac" + redirects(one.redirects)
        case Function():
            body = one.body
            if not isinstance(body, Group) or body.subshell:
                body = Group(Script((body,), ("",)), False)
            return f"function {one.name} {command(body)}"
        case ArithmeticCommand():
            return arithmetic(one.expression) + redirects(one.redirects)
        case Conditional():
            return f"[[ {' '.join(test(one.words))} ]]" + redirects(one.redirects)
        case Coproc():
            return f"coproc {one.name} {command(one.command)}"
        case _:
            assert_never(one)


def simple(one: Simple) -> str:
    left = " ".join(assignment(item) for item in one.assignments)
    right = " ".join(word(item) for item in one.words)
    return f"[{left} | {right}{redirects(one.redirects)}]"


def assignment(one: Assignment) -> str:
    value = word(one.value) if one.items is None else "(" + " ".join(word(item) for item in one.items) + ")"
    return f"{one.name}[{word(one.subscript)}]{'+' if one.append else ''}={value}"


def redirects(some: tuple[Redirect, ...]) -> str:
    return "".join(" " + redirect(one) for one in some)


def redirect(one: Redirect) -> str:
    """Bash leaves out a descriptor that an operator has anyway, and adds one to a duplication."""
    fd, op = one.fd, one.op
    if op in (">&", "<&"):
        fd = fd or ("1" if op == ">&" else "0")
    elif fd in ("0", "1") and (op[0] == "<") == (fd == "0"):
        fd = ""
    target = word(one.target)
    if op == "<&" and target == "<'-'>":
        op = ">&"
    if op in ("<<", "<<-"):
        text = word(one.body)
        return f"{fd}<<{'inert ' if one.inert else ''}{text}"
    return f"{fd}{op}{target}"


def pipeline(one: Pipeline) -> str:
    pieces = []
    for index, piece in enumerate(one.commands):
        text = command(piece)
        if index < len(one.merges) and one.merges[index]:
            text = text[:-1] + " 2>&<'1'>]" if isinstance(piece, Simple) else text + " 2>&<'1'>"
        pieces.append(text)
    return ("! " if one.negated else "") + ("time " if one.timed else "") + " | ".join(pieces)


def conditional(arms: tuple[tuple[Script, Script], ...], otherwise: Script | None) -> str:
    condition, body = arms[0]
    text = f"if {of(condition)} then {of(body)}"
    if len(arms) > 1:
        text += f" else {conditional(arms[1:], otherwise)} ;"
    elif otherwise is not None:
        text += f" else {of(otherwise)}"
    return text + " fi"


def test(words: tuple[Word, ...]) -> list[str]:
    """A test with its bare words spelled as `-n word`, as bash prints them."""
    texts = [item.text for item in words]
    out: list[str] = []
    index = 0
    while index < len(words):
        text = texts[index]
        if text == "!" and texts[index + 1 : index + 2] == ["!"]:
            index += 2
        elif text in ("(", ")", "&&", "||", "!") and not (text == "!" and index + 1 == len(words)):
            out.append(text)
            index += 1
        elif re.fullmatch(r"-[abcdefghknoprstuvwxzGLNORS]", text):
            out += [text, word(words[index + 1])]
            index += 2
        elif index + 1 == len(words) or texts[index + 1] in ("&&", "||", ")"):
            out += ["-n", word(words[index])]
            index += 1
        else:
            out += [word(words[index]), texts[index + 1], word(words[index + 2])]
            index += 3
    return out
