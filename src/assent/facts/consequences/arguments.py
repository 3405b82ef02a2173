"""The recipients, amounts and names among the arguments of a tool. Reads only the call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assent.contract import Pattern
from assent.contract.approval import Consequence
from assent.facts.consequences.words import clip_end, listed, say

KIND = "arguments"
MOST_VALUES, DEEPEST = 400, 8
LONGEST_VALUE, LONGEST_ALL = 2000, 20_000  # characters searched for addresses, in one value and in all
LONGEST_KEY = 100
SHOWN = 5
_ADDRESS = Pattern(r"[A-Za-z0-9._%+'-]{1,64}@[A-Za-z0-9.-]{1,190}\.[A-Za-z]{2,24}")
_SPLIT = Pattern(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")
# The last word of an argument's name → the kind of its value.
_RECIPIENTS = frozenset(
    "to cc bcc recipient recipients email emails mail addressee addressees attendee attendees participant participants "
    "invitee invitees channel phone iban payee beneficiary assignee assignees reviewer reviewers".split()
)
_AMOUNTS = frozenset(
    "amount amounts price total sum cost fee quantity qty value balance budget refund discount".split()
)
_NAMES = frozenset(
    "name title subject repo repository project owner org organization customer account user username bucket database "
    "table environment env cluster namespace branch file filename id domain server service product order".split()
)
_CURRENCY = frozenset({"currency", "unit"})
_MONEY = Pattern(r"^[^\w\s]{0,3} ?-?[0-9][0-9.,' ]{0,20} ?[A-Za-z]{0,4}[^\w\s]?$")

Found = tuple[str, object]  # the path of an argument, and its value


def measure(given: Mapping[str, object]) -> Iterator[Consequence]:
    recipients: dict[str, None] = {}
    amounts: dict[str, None] = {}
    names: dict[str, None] = {}
    mentioned: dict[str, None] = {}
    currency = next((str(value) for path, value in _values(given) if _word(path) in _CURRENCY and _is_short(value)), "")
    left = LONGEST_ALL
    for path, value in _values(given):
        word = _word(path)
        if isinstance(value, str):
            searched = value[: min(LONGEST_VALUE, left)] if "@" in value else ""
            left -= len(searched)
            addresses = _ADDRESS.findall(searched)
            if word in _RECIPIENTS:
                recipients.update(dict.fromkeys(addresses or ([value] if _is_short(value) else ())))
            else:
                mentioned.update(dict.fromkeys(addresses))
        if word in _AMOUNTS and _is_amount(value):
            amounts[f"{path} {number(value)}{f' {currency}' if currency else ''}"] = None
        elif word in _NAMES and _is_short(value) and not _ADDRESS.match(str(value)):
            names[f"{path} {value}"] = None
    told = [each for each in mentioned if each not in recipients]
    for key, found in (("recipients", recipients), ("mentions", told), ("amounts", amounts), ("names", names)):
        if found:
            yield say(KIND, f"arguments.{key}", names=listed(list(found), shown=SHOWN))


def _values(given: object, path: str = "", depth: int = 0) -> Iterator[Found]:
    """The plain values in arguments with their paths, up to a limit."""
    waiting: list[tuple[str, object, int]] = [(path, given, depth)]
    left = MOST_VALUES
    while waiting and left > 0:
        path, value, depth = waiting.pop(0)
        left -= 1
        if isinstance(value, Mapping) and depth < DEEPEST:
            waiting += [(_joined(path, key), each, depth + 1) for key, each in list(value.items())[:left]]
        elif isinstance(value, list | tuple) and depth < DEEPEST:
            waiting += [(path, each, depth + 1) for each in value[:left]]
        else:
            yield path, value


def _joined(path: str, key: object) -> str:
    return f"{path}.{str(key)[:LONGEST_KEY]}" if path else str(key)[:LONGEST_KEY]


def _word(path: str) -> str:
    """The last word of an argument's name: `billing.toEmail` → `email`."""
    words = [word for word in _SPLIT.split(path.rpartition(".")[2]) if word]
    return words[-1].lower() if words else ""


def _is_short(value: object) -> bool:
    if isinstance(value, bool) or value is None:
        return False
    return isinstance(value, int | float) or (isinstance(value, str) and 0 < len(value.strip()) <= 200)


def _is_amount(value: object) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, int | float) or (isinstance(value, str) and _MONEY.match(value.strip()) is not None)


def number(value: object) -> str:
    """A number as people write it; text stays as it is."""
    if isinstance(value, int):
        return (
            f"{value:,}"
            if abs(value) < 10**15
            else clip_end(str(value))
            if value.bit_length() < 4000
            else "a huge number"
        )
    return f"{value:,}" if isinstance(value, float) else str(value)
