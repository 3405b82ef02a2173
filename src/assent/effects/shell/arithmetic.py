"""Shell expressions: arithmetic, subscripts, the operators of `[[ … ]]` and `test`. Computes nothing; finds the names
that are read and set, and whether evaluation can run a command.

Bash evaluates the value of a name as an expression again, and expands a subscript in it: `x='a[$(cmd)]'` and
then `$((x))` runs cmd. In zsh a number that a builtin takes is an expression too: `exit 'path[$(cmd)]'`."""

from __future__ import annotations

from collections.abc import Sequence

from assent.contract import Pattern
from assent.effects.shell.command import TOKENS, Arg
from assent.effects.shell.record import Walk
from assent.effects.shell.state import DECODED, FETCHED, FROM_FILE, NUMBER, ShellState, ShellValue, either
from assent.effects.shell.tree import (
    Arithmetic,
    Brace,
    CommandSub,
    Conditional,
    GlobPart,
    Literal,
    Parameter,
    Part,
    Word,
)
from assent.effects.shell.words import part_value, value

ADVICE = "compute with plain numbers, or with values that cannot hold a command"

_NAMES = Pattern(r"(?<![\w$])[A-Za-z_]\w*")
_SET = Pattern(
    r"([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)?(?:(?:<<|>>|[-+*/%&|^])?=(?!=)|\+\+|--)|(?:\+\+|--)\s*([A-Za-z_]\w*)"
)
_LIVE = Pattern(r"\$\(|`|\$\{")
_NESTING = 8
_COMPARES = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))
_NAMING = frozenset(("-v", "-R"))
_FOREIGN = FETCHED | FROM_FILE | DECODED
ZSH_NUMBERS = frozenset(
    """BAUD COLUMNS DIRSTACKSIZE EGID ERRNO EUID FUNCNEST GID HISTSIZE KEYTIMEOUT LINES LISTMAX LOGCHECK MAILCHECK
    OPTIND PERIOD REPORTMEMORY REPORTTIME SAVEHIST SECONDS SHLVL TMOUT TRY_BLOCK_ERROR TRY_BLOCK_INTERRUPT TTYIDLE
    UID ZSH_SUBSHELL ARGC PPID status histchars""".split()
)
_NUMBER = Pattern(r"[-+]?[0-9]+(?:\.[0-9]+)?")
_CONVERSION = Pattern(r"%(?:%|[-+ #0']*(\*|[0-9]+\$?)?(?:\.(\*|[0-9]*))?[hlLjzt]*(.))")
_TEXTS = frozenset("sbqc")


def evaluate_arithmetic(walk: Walk, node: Arithmetic, state: ShellState) -> None:
    """`$((…))`, `((…))`: visit its substitutions, note a gap for what could run, note the names it sets."""
    walk.step()
    text = node.text
    if node.parts and walk.enter():  # each may hold an expression in turn
        for part in node.parts:
            _spliced(walk, part, state)
        walk.leave()
    if "'" in text or "\\" in text or ('"' in text and _LIVE.search(text)):
        walk.gap("gap.shell.arithmetic", ADVICE)
        walk.evaluated(ShellValue((text.replace("'", ""),)), state)
    _evaluate_names(walk, text, state, 0)
    assign_results(walk, text, state)


def evaluate_word(walk: Walk, node: Word, state: ShellState) -> None:
    """A word evaluated as an expression: a subscript, an offset, an operand of `-eq`."""
    for part in node.parts:
        if type(part) is Literal or type(part) is GlobPart or type(part) is Brace:
            _known(walk, part.text, state, 0)
        else:
            _spliced(walk, part, state)


def _spliced(walk: Walk, part: Part, state: ShellState) -> None:
    """An expansion whose value becomes part of an expression. The environment is trusted; arguments from `set` and
    callers are not."""
    found = part_value(walk, part, state)
    if found.values is not None:
        evaluate(walk, found, state)
        return
    plain = type(part) is Parameter and part.name.isidentifier() and not (part.op or part.indirect or part.subscript)
    if type(part) in (Parameter, CommandSub) and not (plain and state.get(part.name) is None):  # type: ignore[union-attr]  # plain is a Parameter
        _trust(walk, found, state, 0)


def evaluate(walk: Walk, found: ShellValue, state: ShellState, depth: int = 0) -> None:
    if found.values is None:
        _trust(walk, found, state, depth)
        return
    for each in found.values:
        if not each.isdigit():
            _known(walk, each, state, depth)


def _evaluate_names(walk: Walk, expression: str, state: ShellState, depth: int) -> None:
    for name in _NAMES.findall(expression) if state.vars or state.opaque or state.aliased else ():
        walk.step()
        found = state.get(name)
        if found is not None:
            _trust(walk, found, state, depth)


def assign_results(walk: Walk, expression: str, state: ShellState) -> None:
    """Names that an expression sets then hold a number, or their old value."""
    for match in _SET.finditer(expression) if "=" in expression or "++" in expression or "--" in expression else ():
        name = match[1] or match[2]
        walk.assign(name, either(state.get(name), NUMBER), state)


def _trust(walk: Walk, found: ShellValue, state: ShellState, depth: int) -> None:
    """Note a gap for a value that could hold a subscript with a command."""
    if found.items is not None:
        for item in found.items:
            _trust(walk, item, state, depth)
        return
    if found.values is not None:
        evaluate(walk, found, state, depth + 1)
    elif found.kind not in TOKENS:
        walk.gap("gap.shell.arithmetic", ADVICE)


def _known(walk: Walk, value: str, state: ShellState, depth: int) -> None:
    # A subscript may be joined from several values, so the bracket may be in another one.
    if "$" in value or "`" in value or depth > _NESTING:
        walk.gap("gap.shell.arithmetic", ADVICE)
        walk.evaluated(ShellValue((value,)), state)
    else:
        _evaluate_names(walk, value, state, depth + 1)


def evaluate_conditional(walk: Walk, node: Conditional, state: ShellState) -> None:
    """`[[ … ]]`: operands of `-eq` and similar are arithmetic, that of `-v` is a name with a subscript."""
    words = node.words
    numbers = {place + side for place, word in enumerate(words) if word.text in _COMPARES for side in (-1, 1)}
    for place, word in enumerate(words):
        if place in numbers:
            evaluate_word(walk, word, state)
        else:
            found = value(walk, word, state)
            if place and (words[place - 1].text in _NAMING or (walk.zsh and words[place - 1].text == "-t")):
                evaluate_name(walk, found, state)


def evaluate_test(walk: Walk, args: list[str | Arg], taint: int, state: ShellState) -> None:
    """`test` and `[` get words: one of them may be `-v`."""
    for place, arg in enumerate(args):
        if isinstance(arg, str):
            if "[" in arg and ("$" in arg or "`" in arg):
                evaluate_name(walk, ShellValue((arg,)), state)
        elif place and args[place - 1] in _NAMING:
            evaluate_name(walk, ShellValue(arg.values, kind=arg.kind), state)
        elif (arg.splits and taint & _FOREIGN) or (
            arg.values and any("[" in text and "$" in text for text in arg.values)
        ):
            evaluate_name(walk, ShellValue(), state)


def evaluate_name(walk: Walk, found: ShellValue, state: ShellState) -> None:
    """A name that a builtin looks up or sets: a command in its subscript runs."""
    if found.values is None:
        if found.kind not in TOKENS:
            walk.gap("gap.shell.subscript", "write out the name of the variable")
        return
    for text in found.values:
        if "[" in text and ("$" in text or "`" in text):
            walk.gap("gap.shell.subscript", "write out the subscript without an expansion")
            walk.evaluated(ShellValue((text,)), state)
        elif "[" in text:
            evaluate(walk, ShellValue((text[text.index("[") + 1 :].rstrip("]"),)), state)


def zsh_numbers(walk: Walk, words: Sequence[str | Arg], state: ShellState) -> None:
    if not walk.zsh:
        return
    for word in words:
        if isinstance(word, Arg):
            evaluate(walk, ShellValue(word.values if not word.pattern else None, kind=word.kind), state)
        elif not _NUMBER.fullmatch(word):
            evaluate(walk, ShellValue((word,)), state)


def zsh_words(walk: Walk, words: Sequence[str | Arg], state: ShellState) -> None:
    """Words that zsh may evaluate: a subscript with a command in it is a gap."""
    for word in words if walk.zsh else ():
        for text in (word,) if isinstance(word, str) else word.values or ():
            if "[" in text and ("$" in text or "`" in text):
                evaluate_name(walk, ShellValue((text,)), state)


def zsh_printf(walk: Walk, words: Sequence[str | Arg], state: ShellState) -> None:
    """The words of `printf` that its format reads as numbers."""
    if not walk.zsh or len(words) < 2:
        return
    form = words[0]
    forms = (form,) if isinstance(form, str) else form.values
    if forms is None or (isinstance(form, Arg) and form.pattern) or any(map(_counts, forms)):
        zsh_numbers(walk, words[1:], state)


def _counts(form: str) -> bool:
    return any(
        "*" in found[0] or (found[3] is not None and found[3] not in _TEXTS) for found in _CONVERSION.finditer(form)
    )
