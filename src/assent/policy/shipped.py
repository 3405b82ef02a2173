"""The shipped rules: floor, defaults and packs, from the data files next to this module and the additions of agent
programs."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from assent.agents import known
from assent.contract import PolicyError
from assent.contract.packs import PACKS, RULES
from assent.policy.parse import did_you_mean, parse_rule, with_conditions
from assent.policy.rules import Origin, Rule

HERE = __file__.rpartition("/")[0]
OF_AGENTS = ("floor", "defaults")  # files with entries that agent programs extend
CREDENTIALS = "agents"  # the floor's entry for their credential files
STARTING = "auto"  # the mode of the policy to start from
_kept: dict[str, dict[str, list[ShippedEntry]]] = {}


class ShippedEntry:
    """One entry of a data file: an id, its rules, and paths or commands as examples."""

    __slots__ = ("id", "rules", "match", "not_match", "reason")

    def __init__(self, id: str, rules: tuple[Rule, ...], match: list[str], not_match: list[str], reason: str) -> None:
        self.id = id
        self.rules = rules
        self.match = match
        self.not_match = not_match
        self.reason = reason


def entries(name: str) -> dict[str, list[ShippedEntry]]:
    """The entries of `floor`, `defaults` or `packs/…`, by their section (`rule`, `deny`, `ask`)."""
    found = _kept.get(name)
    if found is None:
        import tomllib  # slower than a decision, which uses a snapshot

        with open(f"{HERE}/{name}.toml", "rb") as file:
            table = tomllib.load(file)
        origin = Origin.PACK if name.startswith("packs/") else Origin.SHIPPED
        for section, rows in table.items():
            for row in rows if name in OF_AGENTS else ():
                _join(row, "floor" if name == "floor" else section)
        words = {f"<{word}>": "{" + ",".join(each) + "}" for word, each in table.pop("words", {}).items()}
        found = _kept[name] = {section: [_entry(row, origin, words) for row in rows] for section, rows in table.items()}
    return found


def _join(row: dict[str, Any], section: str) -> None:
    """Extend an entry by the sections on it in the `agent.toml` of agent programs."""
    for given in known.section(section).values():
        more: Any = given.get(row["id"], {})
        for key in more:
            row[key] = [*row.get(key, ()), *more[key]]
    if row["id"] == CREDENTIALS:
        row["rules"] = [f"path(**/{each})" for each in known.joined("home", "credentials")]


def _entry(row: dict[str, object], origin: Origin, words: dict[str, str]) -> ShippedEntry:
    """`words` are lists that a pack's rules refer to as `<script>`."""
    texts = row.get("rules") or [row["rule"]]
    assert isinstance(texts, list)
    when = str(row.get("when", ""))
    texts = [_written_out(str(text), words) for text in texts]
    texts = [with_conditions(text, when) for text in texts] if when else texts
    name, reason = str(row["id"]), str(row.get("reason", ""))
    rules = tuple(
        parse_rule(
            text,
            source=f"shipped:{name}",
            origin=origin,
            id=name,
            reason=reason if origin is Origin.SHIPPED else "",
            advice=str(row.get("advice", "")),
            excepts=tuple(_written_out(text, words) for text in _texts(row, "except")),
            undoable=row.get("undoable") is True and origin is Origin.SHIPPED,
        )
        for text in texts
    )
    return ShippedEntry(name, rules, _texts(row, "match"), _texts(row, "not_match"), reason)


def _written_out(text: str, words: dict[str, str]) -> str:
    for word, choice in words.items() if "<" in text else ():
        text = text.replace(word, choice)
    return text


def _texts(row: dict[str, object], key: str) -> list[str]:
    value = row.get(key, [])
    assert isinstance(value, list)
    return [str(item) for item in value]


def floor_rules() -> list[Rule]:
    """The floor's rules; one that begins with `**/` also as a rule on the home folder, so that the folders above are
    known."""
    out: list[Rule] = []
    for rule in (rule for entry in entries("floor")["rule"] for rule in entry.rules):
        out.append(rule)
        if rule.spec.startswith("**/"):
            at_home = parse_rule(
                f"{rule.tool}(~/{rule.spec[3:]})",
                source=rule.source,
                origin=rule.origin,
                id=rule.id,
                reason=rule.reason,
                excepts=rule.excepts,
            )
            out.append(at_home)
    return out


def default_rules(section: str, off: Container[str] = ()) -> list[Rule]:
    """The shipped deny or ask rules, without those switched off."""
    return [rule for entry in entries("defaults")[section] if entry.id not in off for rule in entry.rules]


def default_ids() -> list[str]:
    return [entry.id for section in ("deny", "ask") for entry in entries("defaults")[section]]


def pack_rules(name: str) -> list[Rule]:
    """The rules of a pack; none if it is proved by facts."""
    if name not in PACKS:
        raise PolicyError(f"unknown pack `{name}`", suggestion=did_you_mean(name, list(PACKS)))
    if name not in RULES:
        return []
    return [rule for entry in entries(f"packs/{name}")["rule"] for rule in entry.rules]


def starter(mode: str = STARTING) -> str:
    """The commented policy to start from: `assent install` offers it, `assent policy init` writes it."""
    with open(f"{HERE}/starter.toml", encoding="utf-8") as file:
        return file.read().replace(f'\nmode = "{STARTING}"\n', f'\nmode = "{mode}"\n', 1)
