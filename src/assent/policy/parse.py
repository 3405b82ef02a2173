"""Rule text → Rule. Matches nothing and reads no files."""

from __future__ import annotations

from assent.contract.errors import PolicyError
from assent.contract.pattern import Pattern
from assent.contract.tools import canonical
from assent.policy import globs
from assent.policy.rules import PATH_WORDS, About, Origin, Rule, Shape
from assent.policy.spelling import did_you_mean

NAME = Pattern(r"[A-Za-z_][A-Za-z0-9_.*:/-]*")
DOMAIN = Pattern(r"(?:\*\.)?[A-Za-z0-9_][A-Za-z0-9_.-]*|\*|\[[0-9a-fA-F:.]+\]|[0-9a-fA-F:]+")
WITH_SPECIFIER = ("bash", "read", "write", "delete", "list", "search", "path", "fetch", "agent", "danger")


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
    about = subject(tool, spec, text)
    shape, spec = shape_of(about, spec)
    operations = PATH_WORDS.get(tool, frozenset())
    if about is About.PATH and shape is not Shape.WHOLE:
        spec = spec.strip()
        globs.check(spec)
    if about is About.HOST and shape is not Shape.WHOLE:
        spec = domain(spec, text)
    return Rule(
        about,
        tool,
        spec,
        shape,
        text,
        operations=operations,
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
    open_at = bare.find("(")
    if open_at < 0:
        if ")" in bare:
            raise PolicyError(f"unbalanced parenthesis in `{text}`", suggestion="write `tool(specifier)`")
        name, spec = bare, ""
    else:
        if not bare.endswith(")"):
            raise PolicyError(f"unbalanced parenthesis in `{text}`", suggestion=f"did you mean `{bare})`?")
        name, spec = bare[:open_at].rstrip(), bare[open_at + 1 : -1]
    if not name:
        raise PolicyError(f"empty tool name in `{text}`", suggestion="write for example `bash(ls:*)`")
    if NAME.fullmatch(name) is None:
        raise PolicyError(f"`{name}` is no tool name", suggestion="write `tool` or `tool(specifier)`")
    if "\0" in spec:
        raise PolicyError(f"`{name}(…)` holds a NUL character", suggestion="remove it")
    return canonical(name), spec.strip()


def subject(tool: str, spec: str, text: str) -> About:
    match tool:
        case "bash":
            return About.COMMAND
        case "read" | "write" | "delete" | "list" | "search" | "path":
            return About.PATH
        case "fetch":
            return About.HOST
        case "agent":
            return About.AGENT
        case "danger":
            if not spec:
                raise PolicyError(f"`{text}` names no danger", suggestion="write for example `danger(force-push)`")
            return About.DANGER
    if spec and spec != "*":
        raise PolicyError(
            f"`{tool}` takes no specifier", suggestion=f"write `{tool}`, or {did_you_mean(tool, WITH_SPECIFIER)}"
        )
    return About.TOOL


def shape_of(about: About, spec: str) -> tuple[Shape, str]:
    if spec in ("", "*"):
        return Shape.WHOLE, ""
    if about is About.COMMAND:
        if spec.endswith(":*"):
            stem = spec[:-2].rstrip()
            if not stem:
                return Shape.WHOLE, ""
            return (Shape.WILD, f"{stem}*") if "*" in stem else (Shape.PREFIX, stem)
        return (Shape.WILD, spec) if "*" in spec else (Shape.EXACT, spec)
    return Shape.EXACT, spec


def domain(spec: str, text: str) -> str:
    name = spec.removeprefix("domain:").strip().lower().rstrip(".")
    if DOMAIN.fullmatch(name) is None:
        raise PolicyError(
            f"`{name}` in `{text}` is no host", suggestion="write for example `fetch(domain:example.com)`"
        )
    return name
