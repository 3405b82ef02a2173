"""Parses the text of a rule, and the text of an example into effects; suggests what a misspelt word may mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from assent.contract import Effect, Kind, Lowering, Operation, Pattern, PolicyError, Target, assert_never
from assent.contract.tools import canonical
from assent.policy import globs
from assent.policy.rules import PATH_WORDS, WORDS, About, Origin, Rule, RuleShape

ROOT, HOME = "/workspace", "/home/user"  # where examples are read
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
) -> Rule:
    """Read `tool` or `tool(specifier)`; raise PolicyError (without a place) where it is neither."""
    tool, spec = split(text)
    about = WORDS.get(tool, About.TOOL)
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
        words=tuple(spec.split()) if about is About.COMMAND else (),
        excepts=excepts,
        number=number,
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


def specifier(about: About, spec: str, tool: str, text: str) -> tuple[RuleShape, str]:
    """How a rule's specifier is compared, and the specifier as it is matched; raise PolicyError where it has none."""
    if about is About.COMMAND:
        return _command(spec)
    exact = "" if spec == "*" else spec
    if about is About.PATH:
        globs.check(exact)
    elif about is About.HOST and exact:
        exact = domain(exact, text)
    elif about is About.DANGER and not spec:
        raise PolicyError(f"`{text}` names no danger", suggestion="write for example `danger(force-push)`")
    elif about is About.TOOL and exact:
        raise PolicyError(
            f"`{tool}` takes no specifier", suggestion=f"write `{tool}`, or {did_you_mean(tool, tuple(WORDS))}"
        )
    return RuleShape.EXACT if exact else RuleShape.WHOLE, exact


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
        case About.COMMAND:
            return ()
        case About.PATH:
            name = text if text.startswith("/") else f"{HOME}{text[1:]}" if text.startswith("~") else f"{ROOT}/{text}"
            return tuple(Effect(each, Target(Kind.PATH, name)) for each in rule.operations)
        case About.HOST:
            return (Effect(Operation.FETCH, Target(Kind.HOST, text.lower())),)
        case About.AGENT:
            return (Effect(Operation.DELEGATE, Target(Kind.AGENT, text)),)
        case About.DANGER:
            return (*lower(text).effects, Effect(Operation.EXECUTE, Target(Kind.NOTHING, ""), dangers=(text,)))
        case About.TOOL:
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
