"""Parses the text of a rule, and the text of an example into effects; suggests corrections of misspelt words."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from assent.contract import Effect, Kind, Lowering, Operation, Pattern, PolicyError, Target, assert_never
from assent.contract.tools import canonical
from assent.policy import globs
from assent.policy.rules import PATH_WORDS, WORDS, Origin, Rule, RuleKind, RuleShape

ROOT, HOME = "/workspace", "/home/user"  # where examples are read
# Looks like a condition; occurs in no path.
CONDITION = Pattern(r"\s(?:[=<>~]|![=~]|[<>]=|in|is)\s|[<>]|!=|^\w+\s*=\s*[\w-]+$")
NAME = Pattern(r"[A-Za-z_][A-Za-z0-9_.*:/-]*")
DOMAIN = Pattern(r"(?:\*\.)?[A-Za-z0-9_][A-Za-z0-9_.-]*|\*|\[[0-9a-fA-F:.]+\]|[0-9a-fA-F:]+")


def parse_rule(
    text: str,
    *,
    source: str = "",
    origin: Origin = Origin.USER,
    id: str = "",
    reason: str = "",
    message: str = "",
    advice: str = "",
    excepts: tuple[str, ...] = (),
    number: int = 0,
    undoable: bool = False,
) -> Rule:
    """Read `tool` or `tool(specifier)`; raise PolicyError (without a place) if it is neither."""
    tool, spec = split(text)
    about = WORDS.get(tool, RuleKind.TOOL)
    shape, spec = specifier(about, spec, tool, text)
    return Rule(
        about,
        tool,
        spec,
        shape,
        text,
        operations=PATH_WORDS.get(tool, frozenset()),
        source=source,
        origin=origin,
        id=id,
        reason=reason,
        message=message,
        advice=advice,
        words=tuple(spec.split()) if about is RuleKind.COMMAND else (),
        excepts=excepts,
        number=number,
        undoable=undoable,
    )


def split(text: str) -> tuple[str, str]:
    """The canonical tool word and the specifier (`""`: the whole tool)."""
    bare = text.strip()
    name, opened, spec = bare.partition("(")
    if (opened and not bare.endswith(")")) or (not opened and ")" in bare):
        raise PolicyError(
            f"unbalanced parenthesis in `{text}`",
            suggestion=f"did you mean `{bare})`?" if opened else "write `tool(specifier)`",
        )
    name, spec = name.rstrip(), spec[:-1]
    if not name:
        raise PolicyError(f"empty tool name in `{text}`", suggestion="write for example `bash(ls:*)`")
    if NAME.fullmatch(name) is None:
        raise PolicyError(f"`{name}` is not a tool name", suggestion="write `tool` or `tool(specifier)`")
    if "\0" in spec:
        raise PolicyError(f"`{name}(…)` contains a NUL character", suggestion="remove it")
    return canonical(name), spec.strip()


def specifier(about: RuleKind, spec: str, tool: str, text: str) -> tuple[RuleShape, str]:
    """How a rule's specifier is compared, and its normalized form; raise PolicyError if it has none."""
    if about is RuleKind.COMMAND:
        return _command(spec)
    exact = "" if spec == "*" else spec
    if about is RuleKind.PATH:
        globs.check(exact)
    elif about is RuleKind.HOST and exact:
        exact = domain(exact, text)
    elif about is RuleKind.DANGER and not spec:
        raise PolicyError(f"`{text}` names no danger", suggestion="write for example `danger(force-push)`")
    elif about is RuleKind.TOOL and exact:
        _check_conditions(exact, tool)
    if about in (RuleKind.PATH, RuleKind.AGENT) and exact:
        _check_no_condition(exact, tool, text)
    return RuleShape.EXACT if exact else RuleShape.WHOLE, exact


def _check_conditions(spec: str, tool: str) -> None:
    """Raise PolicyError if the specifier of a rule on a tool is no list of conditions."""
    from assent.policy.conditions import conditions_of

    try:
        conditions_of(spec)
    except PolicyError as error:
        near = did_you_mean(tool, tuple(WORDS))
        other = f"; {near}" if near.startswith("did") else ""
        raise PolicyError(
            f"`{tool}` takes conditions on its arguments: {error.message}", suggestion=f"{error.suggestion}{other}"
        ) from None


def _check_no_condition(spec: str, tool: str, text: str) -> None:
    """Raise PolicyError if a condition is written in place of a path or a name: it would match nothing."""
    if CONDITION.search(spec) is None:
        return
    from assent.policy.conditions import conditions_of

    try:
        conditions_of(spec)
    except PolicyError:
        return
    raise PolicyError(
        f"`{text}` has a condition where `{tool}` takes a {'name' if tool == 'agent' else 'path'}",
        suggestion=f"conditions are for tools by their own names; `{tool}` is a word for several tools",
    )


def with_conditions(text: str, when: str) -> str:
    """The text of a rule on a tool, with conditions from a separate key. Raises PolicyError if it has its own."""
    tool, spec = split(text)
    if not when.strip():
        raise PolicyError("`when` is empty", suggestion='write for example `when = "amount > 100"`')
    if spec and spec != "*":
        raise PolicyError(f"`{text}` has a specifier and `when`", suggestion="write all of it in one of them")
    if tool in WORDS:
        raise PolicyError(f"`{tool}` takes no conditions", suggestion="conditions are for tools by their own names")
    return f"{text.strip().partition('(')[0].rstrip()}({when.strip()})"


def _command(spec: str) -> tuple[RuleShape, str]:
    stem = spec[:-2].rstrip() if spec.endswith(":*") else ""
    if stem:
        return (RuleShape.WILD, f"{stem}*") if "*" in stem else (RuleShape.PREFIX, stem)
    if spec in ("", "*", ":*"):
        return RuleShape.WHOLE, ""
    return (RuleShape.WILD, spec) if "*" in spec else (RuleShape.EXACT, spec)


def example(rule: Rule, text: str, lower: Callable[[str], Lowering]) -> tuple[Effect, ...]:
    """The effects of an example of a rule; none for a command, which is lowered whole."""
    match rule.about:
        case RuleKind.COMMAND:
            return ()
        case RuleKind.PATH:
            name = text if text.startswith("/") else f"{HOME}{text[1:]}" if text.startswith("~") else f"{ROOT}/{text}"
            return tuple(Effect(each, Target(Kind.PATH, name)) for each in rule.operations)
        case RuleKind.HOST:
            return (Effect(Operation.FETCH, Target(Kind.HOST, text.lower())),)
        case RuleKind.AGENT:
            return (Effect(Operation.DELEGATE, Target(Kind.AGENT, text)),)
        case RuleKind.DANGER:
            return (*lower(text).effects, Effect(Operation.EXECUTE, Target(Kind.NOTHING, ""), dangers=(text,)))
        case RuleKind.TOOL:
            return (Effect(Operation.EXECUTE, Target(Kind.TOOL, text)),)
    return assert_never(rule.about)


def domain(spec: str, text: str) -> str:
    name = spec.removeprefix("domain:").strip().lower().rstrip(".")
    if DOMAIN.fullmatch(name) is None:
        raise PolicyError(
            f"`{name}` in `{text}` is not a host", suggestion="write for example `fetch(domain:example.com)`"
        )
    return name


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A suggestion in words: the nearest known word, or all of them."""
    words = list(known)
    near = min(words, key=lambda other: distance(word.lower(), other.lower()), default="")
    if near and distance(word.lower(), near.lower()) <= (1 if len(word) < 4 else max(2, len(word) // 3)):
        return f"did you mean `{near}`?"
    return "use one of " + ", ".join(f"`{each}`" for each in words)


def distance(a: str, b: str) -> int:
    """How many insertions, deletions and replacements turn one word into the other."""
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, right in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (left != right))
    return row[-1]
