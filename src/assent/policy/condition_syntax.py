"""Parses conditions: `amount > 100, to ~ *@acme.example, number(total) <= 5, items[*].price < 10`.

Every mistake is a PolicyError (without a place) with a suggestion."""

from __future__ import annotations

from assent.contract import ASCII, Pattern, PolicyError
from assent.contract.call import ANNOTATIONS
from assent.policy.condition_values import ANNOTATED, DATE, DECIMAL, ONLY, Condition, RuleValue, is_date

OPERATORS = ("=", "!=", "<", "<=", ">", ">=", "~", "!~", "in", "is")
WORDS = ("read-only", "not read-only", "any")
INSTEAD = {
    wrong: right
    for right, several in {
        "=": "== === eq equals :",
        "!=": "!== <> ne not !",
        ">=": "=> gte",
        "<=": "=< lte",
        ">": "gt",
        "<": "lt",
        "~": "=~ ~= ~~ like matches contains glob",
    }.items()
    for wrong in several.split()
}
_NAME = r"(?:[A-Za-z_][A-Za-z0-9_-]*|\"[^\"]*\"|'[^']*')"
_PATH = rf"{_NAME}(?:\.{_NAME}|\[\*\])*"
CONDITION = Pattern(
    rf"(?:(?P<number>number)\(\s*(?P<inner>{_PATH})\s*\)|(?P<path>{_PATH}))"
    r"(?P<operator>\s*[=!<>~:&|]+|\s+[a-z]+(?=[\s\[]|$))\s*(?P<value>.*)",
    ASCII,
)
STEP = Pattern(rf"{_NAME}|\[\*\]", ASCII)
WORD = Pattern(r"[^\s,()\[\]\"'=<>~!|&\\]+")
NUMERIC = Pattern(r"[-+]?[0-9][0-9_,.']*(?:[eE][-+]?[0-9]+)?|0[xob][0-9a-fA-F_]+", ASCII)
JOINED = Pattern(r"\b(?:and|or)\b|[;&|]")
# Other spellings of annotations.
NAMED = {
    spelling: word
    for word, name in ANNOTATIONS.items()
    for spelling in (word, word.replace("_", ""), name.lower(), f"{word}_hint")
}
CONSTANTS = frozenset("true false null none nil undefined nan infinity yes no on off".split())
# Forms of regular expressions that have no meaning here.
EXPRESSION = Pattern(r"\\|\^|\$|\.\+|^\.\*|[(){}\[\]|]|^/.*/[a-z]*$")
SUGGESTION = "write for example `refund(amount > 100)`, with an operator of " + " ".join(OPERATORS)


def parse(text: str) -> tuple[Condition, ...]:
    """The conditions of a text, separated by commas."""
    if any(not each.isprintable() for each in text):
        raise PolicyError("a condition holds a character that is not visible", suggestion="remove it")
    return tuple(map(_condition, _split(text, text)))


def _split(text: str, whole: str) -> list[str]:
    """The pieces between commas that are not in quotes or brackets."""
    pieces, quote, depth = [""], "", 0
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        else:
            depth += (character in "[(") - (character in "])")
        if character == "," and not quote and not depth:
            pieces.append("")
        else:
            pieces[-1] += character
    if quote or depth:
        raise PolicyError(f"a quote or bracket in `{whole}` is not closed", suggestion="close it")
    if not all(piece.strip() for piece in pieces):
        raise PolicyError(f"a condition is empty in `{whole}`", suggestion="remove the comma")
    return [piece.strip() for piece in pieces]


def _condition(text: str) -> Condition:
    if text == ONLY:
        return Condition((), ONLY)
    if (annotation := _annotation(text)) is not None:
        return annotation
    found = CONDITION.fullmatch(text)
    if found is None:
        at_index = Pattern(r".*\[\d+\].*").fullmatch(text)
        raise PolicyError(
            f"`{text}` is no condition", suggestion="write `[*]`, which is every item" if at_index else SUGGESTION
        )
    operator, value = found["operator"].strip(), found["value"].strip()
    if operator not in OPERATORS:
        word = INSTEAD.get(operator, "")
        joins = operator in ("&&", "&", "and") or operator in ("||", "|", "or")
        advice = f"write `{word}`" if word else "a comma is `and`, two rules are `or`" if joins else SUGGESTION
        raise PolicyError(f"`{operator}` in `{text}` is no operator", suggestion=advice)
    steps = (step[0] for step in STEP.finditer(found["inner"] or found["path"]))
    path = tuple(step[1:-1] if step[0] in "\"'" else step for step in steps)
    if not value:
        raise PolicyError(f"`{text}` has no value", suggestion=SUGGESTION)
    if operator == "is":
        return Condition(path, operator, word=_word(value, text))
    number = found["number"] is not None
    literals = _list(value, text) if operator == "in" else (_literal(value, text, pattern="~" in operator),)
    _check(operator, literals, text, number)
    return Condition(path, operator, literals, number=number)


def _annotation(text: str) -> Condition | None:
    """The condition of `read_only`, `not destructive` and so on; None if the text is another one."""
    words = text.split()
    name = words[-1] if len(words) == 1 or (len(words) == 2 and words[0] == "not") else ""
    if name in ANNOTATIONS:
        return Condition((), ANNOTATED, word=" ".join(words))
    meant = NAMED.get(name.replace("-", "_").lower())
    if meant is not None:
        raise PolicyError(f"`{text}` is no condition", suggestion=f"write `{' '.join([*words[:-1], meant])}`")
    return None


def _word(value: str, text: str) -> str:
    word = " ".join(value.split()).replace("read_only", "read-only").replace("readonly", "read-only")
    if word not in WORDS:
        words = ", ".join(f"`{each}`" for each in WORDS)
        raise PolicyError(f"`{text}` is no condition: `is` takes {words}", suggestion="to compare values, write `=`")
    return word


def _list(value: str, text: str) -> tuple[RuleValue, ...]:
    if value[0] != "[" or value[-1] != "]" or not value[1:-1].strip():
        raise PolicyError(f"`in` takes a list in `{text}`", suggestion="write for example `currency in [EUR, USD]`")
    return tuple(_literal(each, text) for each in _split(value[1:-1], text))


def _literal(value: str, text: str, *, pattern: bool = False) -> RuleValue:
    if value[0] in "\"'" and len(value) > 1 and value[0] == value[-1] and value[0] not in value[1:-1]:
        value = value[1:-1]
        return _pattern(value, text) if pattern else RuleValue("text", value)
    if pattern:
        if any(each.isspace() for each in value) or set(value) & set("\"'"):
            raise _unquoted(value, text)
        return _pattern(value, text)
    if DECIMAL.fullmatch(value):
        return RuleValue("number", value)
    if value in ("true", "false"):
        return RuleValue("boolean", value)
    for kind in ("date", "moment"):
        if is_date(value, kind):
            return RuleValue(kind, value)
    if NUMERIC.fullmatch(value) or DATE.match(value):
        raise PolicyError(
            f"`{value}` in `{text}` is not written as a number or a date",
            suggestion=f'write digits as in `1000.5`, a date as in `2027-01-31`, or a text as in `"{value}"`',
        )
    if value.lower() in CONSTANTS:
        raise PolicyError(
            f"`{value}` in `{text}` is no value",
            suggestion=f'write `true` or `false`, or a text as in `"{value}"`; a missing argument needs no condition',
        )
    if WORD.fullmatch(value) is None:
        raise _unquoted(value, text)
    if "*" in value:
        raise PolicyError(f"`*` in `{text}` is no wildcard", suggestion="write `~` in place of `=`, `!~` for `!=`")
    return RuleValue("text", value)


def _unquoted(value: str, text: str) -> PolicyError:
    if JOINED.search(value):
        return PolicyError(f"`{value}` in `{text}` is no value", suggestion="a comma is `and`, two rules are `or`")
    quote = "'" if '"' in value else '"'
    return PolicyError(f"`{value}` in `{text}` is not one word", suggestion=f"write `{quote}{value}{quote}`")


def _pattern(value: str, text: str) -> RuleValue:
    if not value or EXPRESSION.search(value):
        raise PolicyError(
            f"`{value}` in `{text}` is no pattern: regular expressions are not read",
            suggestion="write `*` for any text; several patterns are several rules",
        )
    return RuleValue("text", value)


def _check(operator: str, literals: tuple[RuleValue, ...], text: str, number: bool) -> None:
    kinds = {each.kind for each in literals}
    if len(kinds) > 1:
        raise PolicyError(f"the list in `{text}` has values of several kinds", suggestion="write a rule for each kind")
    if operator[0] in "<>" and not kinds <= {"number", "date", "moment"}:
        raise PolicyError(
            f"`{operator}` in `{text}` compares numbers and dates", suggestion="write for example `amount > 100`"
        )
    if number and (kinds != {"number"} or "~" in operator):
        raise PolicyError(f"`number(…)` in `{text}` is compared with numbers", suggestion="remove `number`")
