"""The shipped rules: floor, defaults and packs, from the data files beside this module, to which agent programs add."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from assent.agents import known
from assent.contract import PolicyError
from assent.policy.parse import did_you_mean, parse_rule
from assent.policy.rules import Origin, Rule

HERE = __file__.rpartition("/")[0]
PACKS = ("dev-tasks", "git-local")
OF_AGENTS = ("floor", "defaults")  # files to whose entries agent programs add
CREDENTIALS = "agents"  # the entry of the floor for files that they keep credentials in
STARTING = "auto"  # the mode of the policy to start from
_kept: dict[str, dict[str, list[ShippedEntry]]] = {}


class ShippedEntry:
    """One entry of a data file: an id, its rules, and the paths or commands that show what it means."""

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
        import tomllib  # takes longer than a decision, which knows these from a snapshot

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
    """Add to an entry what the agent programs say of it in a section of their `agent.toml`."""
    for given in known.section(section).values():
        more: Any = given.get(row["id"], {})
        for key in more:
            row[key] = [*row.get(key, ()), *more[key]]
    if row["id"] == CREDENTIALS:
        row["rules"] = [f"path(**/{each})" for each in known.joined("home", "credentials")]


def _entry(row: dict[str, object], origin: Origin, words: dict[str, str]) -> ShippedEntry:
    """`words` are lists that a pack's rules name as `<script>`."""
    texts = row.get("rules") or [row["rule"]]
    assert isinstance(texts, list)
    for word, choice in words.items():
        texts = [text.replace(word, choice) for text in texts]
    name, reason = str(row["id"]), str(row.get("reason", ""))
    rules = tuple(
        parse_rule(
            text,
            source=f"shipped:{name}",
            origin=origin,
            id=name,
            reason=reason if origin is Origin.SHIPPED else "",
            advice=str(row.get("advice", "")),
            excepts=tuple(_texts(row, "except")),
        )
        for text in texts
    )
    return ShippedEntry(name, rules, _texts(row, "match"), _texts(row, "not_match"), reason)


def _texts(row: dict[str, object], key: str) -> list[str]:
    value = row.get(key, [])
    assert isinstance(value, list)
    return [str(item) for item in value]


def floor_rules() -> list[Rule]:
    """The floor's rules; one that begins with `**/` also as a rule on the home folder, so that folders above are
    known."""
    out: list[Rule] = []
    for rule in (rule for entry in entries("floor")["rule"] for rule in entry.rules):
        out.append(rule)
        if rule.spec.startswith("**/"):
            at_home = f"{rule.tool}(~/{rule.spec[3:]})"
            out.append(parse_rule(at_home, source=rule.source, origin=rule.origin, id=rule.id, reason=rule.reason))
    return out


def default_rules(section: str, off: Container[str] = ()) -> list[Rule]:
    """The shipped deny or ask rules, without those switched off."""
    return [rule for entry in entries("defaults")[section] if entry.id not in off for rule in entry.rules]


def default_ids() -> list[str]:
    return [entry.id for section in ("deny", "ask") for entry in entries("defaults")[section]]


def pack_rules(name: str) -> list[Rule]:
    if name not in PACKS:
        raise PolicyError(f"unknown pack `{name}`", suggestion=did_you_mean(name, PACKS))
    return [rule for entry in entries(f"packs/{name}")["rule"] for rule in entry.rules]


def starter(mode: str = STARTING) -> str:
    """The commented policy to start from: what `assent install` offers and `assent policy init` writes."""
    with open(f"{HERE}/starter.toml", encoding="utf-8") as file:
        return file.read().replace(f'\nmode = "{STARTING}"\n', f'\nmode = "{mode}"\n', 1)
