"""The classifier's settings, and which questions a model may judge.

The settings are in the user's or the managed file only: a project never chooses a model or its address. A model may
answer in place of a person only if the mode asks about a call that no rule matches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from assent.contract import Decision, Facts, Layer, Lowering, Outcome, Part, Pattern, PolicyError, dumps, sha256
from assent.contract.classifier import TIMEOUT, Backend
from assent.policy.modes import Mode
from assent.policy.policy import Policy
from assent.policy.rules import Origin

if TYPE_CHECKING:
    from assent.policy.document import Document

SECTION = "classifier"
APIS = {
    "anthropic": ("https://api.anthropic.com", "env:ANTHROPIC_API_KEY"),
    "openai": ("https://api.openai.com/v1", "env:OPENAI_API_KEY"),
}
LONGEST = 15  # seconds to wait for a model: a hook has 20 in total
NAME = Pattern(r"[\w./:@+-]{1,200}")
KEY = Pattern(r"none|env:[A-Za-z_][A-Za-z0-9_]{0,200}|keyring:[\w.@+ -]{1,100}/[\w.@+ -]{1,100}")
ADDRESS = Pattern(r"[\x21-\x7e]{1,500}")
LOOPBACK = Pattern(r"localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1")


# Text settings: the pattern, the meaning, and what to write instead.
TEXTS = {
    "api": (Pattern("anthropic|openai"), "must be `anthropic` or `openai`", 'write `api = "anthropic"`'),
    "model": (NAME, "must be the name of a model", 'write `model = "…"` as its provider calls it'),
    "key": (
        KEY,
        "must say where the key is, and never contains the key itself",
        "write `env:NAME`, `keyring:SERVICE/USER` or `none`",
    ),
}


def value(name: str, given: object) -> object:
    """One setting of the section, checked. Raises ValueError with what is wrong and what to write."""
    if name in TEXTS:
        pattern, *problem = TEXTS[name]
        if not isinstance(given, str) or pattern.fullmatch(given) is None:
            raise ValueError(*problem)
        return given
    match name:
        case "on":
            if not isinstance(given, bool):
                raise ValueError("must be true or false", "write `on = true`")
            return given
        case "url":
            return _url(given)
        case "timeout":
            return _number(given, 1, LONGEST, f"must be a number of seconds from 1 to {LONGEST}", "write `timeout = 5`")
        case _:
            return _number(given, 0, 10**6, "must be the price of a million tokens", f"write `{name} = 1.5`")


def _number(given: object, least: float, most: float, what: str, suggestion: str) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not least <= given <= most:
        raise ValueError(what, suggestion)
    return float(given)


def _url(given: object) -> str:
    """An address whose traffic nobody can read: HTTPS, or HTTP on this machine."""
    wrong = ValueError(
        "must be an https address, or http on this machine, without user, query and fragment",
        'write `url = "https://…"`',
    )
    if not isinstance(given, str) or ADDRESS.fullmatch(given) is None or any(each in given for each in "?#\\@"):
        raise wrong
    from urllib.parse import urlsplit

    try:
        found = urlsplit(given)
        host, _ = found.hostname or "", found.port
    except ValueError:
        raise wrong from None
    local = found.scheme == "http" and LOOPBACK.fullmatch(host) is not None
    if not host or not (found.scheme == "https" or local):
        raise wrong
    return given.rstrip("/")


def backend(documents: Sequence[Document]) -> Backend | None:
    """The model that may be asked; None if none may. The section of the managed file replaces the others, and any
    file can switch it off."""
    given = [each for each in documents if each.classifier]
    if not given or any(each.classifier.get("on") is False for each in given):
        return None
    document = ([each for each in given if each.origin is Origin.MANAGED] or given)[-1]
    table: Mapping[str, object] = document.classifier
    if table.get("on") is not True:
        return None
    line = document.lines.get(f"{SECTION}.on", 0)
    for name in ("api", "model"):
        if name not in table:
            raise PolicyError(
                f"the classifier is on but has no `{name}`",
                file=document.file,
                line=line,
                suggestion=f'write `{name} = "…"` below `[classifier]`',
            )
    api = str(table["api"])
    url, key = APIS[api]
    return Backend(
        api,
        str(table["model"]),
        str(table.get("url", url)),
        str(table.get("key", key)),
        timeout=_float(table, "timeout", TIMEOUT),
        input_price=_float(table, "input_price", 0.0),
        output_price=_float(table, "output_price", 0.0),
        source=f"{document.file}:{line}" if line else document.file,
    )


def _float(table: Mapping[str, object], name: str, default: float) -> float:
    found = table.get(name, default)
    return found if isinstance(found, float) else default


ALLOW, ASK = Outcome.ALLOW, Outcome.ASK
# The mode's questions about fully analysed calls. All others are for a person: gaps, unnamed targets, deletions, and
# doubts from facts of the host (`mode.repository`, `mode.modules`, `mode.settings`).
OPEN = frozenset(
    "mode.write mode.outside-workspace mode.execute mode.hooks mode.delegate mode.fetch mode.unknown-tool "
    "mode.mcp-tool".split()
)
MODES = frozenset({Mode.DEFAULT, Mode.AUTO, Mode.FULL_AUTO, Mode.YOLO})
CODE = "classifier.safe"


def in_scope(lowering: Lowering, facts: Facts, policy: Policy, decision: Decision) -> bool:
    """Whether every part of a call asks only because no rule matches it.

    INVARIANT: false if a rule, the floor or a person's answer matches, in plan mode, with a gap, if the environment
    changes what runs, for anything of high risk (deletions, known dangers), and while a person has paused the
    protection of Assent itself."""
    if decision.outcome is not ASK or policy.mode not in MODES or decision.risk == "high" or facts.paused:
        return False
    if lowering.gaps or any(invocation.forfeit for invocation in lowering.invocations):
        return False
    return bool(decision.parts) and all(part.outcome is ALLOW or _is_open(part) for part in decision.parts)


def _is_open(part: Part) -> bool:
    return part.outcome is ASK and part.layer is Layer.MODE and part.code in OPEN and not part.high and not part.rule


def settled(decision: Decision, model: str) -> Decision:
    """The decision after a model called the call safe: this settles all its questions."""
    reason = f"no rule matches it, and the model `{model}` called it safe"
    parts = tuple(
        Part(ALLOW, Layer.CLASSIFIER, CODE, reason, what=part.what, where=part.where) if part.outcome is ASK else part
        for part in decision.parts
    )
    deciding = next(part for part in parts if part.layer is Layer.CLASSIFIER)
    return decision.but(ALLOW, deciding, parts)


def version(policy: Policy) -> str:
    """A digest of a policy's mode and rules."""
    layers = (policy.floor, policy.deny, policy.ask, policy.allow)
    rules = [[(rule.text, rule.source, rule.origin.value, rule.excepts) for rule in each.every()] for each in layers]
    return sha256(dumps([policy.mode.value, rules]).encode("ascii")).hexdigest()
