"""opencode's `permission`: a word, or patterns with a word each, for each kind of tool. There the last match wins."""

from __future__ import annotations

import json

from assent.agents.permissions import LAYERS, Permission, Permissions, split
from assent.agents.settings import jsonc
from assent.contract import SettingsError

PATHS = {"edit": "write", "read": "read", "list": "list", "glob": "list", "grep": "search"}
KINDS = {"webfetch": "fetch", "websearch": "websearch", "task": "agent"}
RULES = {"bash": "bash", **PATHS, **KINDS}


class OpenCodePermissions(Permissions):
    def read(self, text: str, file: str = "") -> tuple[Permission, ...]:
        given = jsonc.objects(text).get("permission")
        found = {"*": given} if isinstance(given, str) else {} if given is None else given
        if not isinstance(found, dict):
            raise SettingsError("`permission` is not an object")
        return tuple(each for kind, value in found.items() for each in entries(str(kind), value))

    def write(self, rules: tuple[tuple[str, str], ...]) -> tuple[str, tuple[str, ...]]:
        """The strictest last, since there the last match wins."""
        bash: dict[str, str] = {}
        left: list[str] = []
        for layer, text in sorted(rules, key=lambda rule: LAYERS.index(rule[0])):
            tool, spec = split(text) or ("", "")
            if tool == "bash" and spec:
                bash.pop(spec.replace(":*", " *"), None)
                bash[spec.replace(":*", " *")] = layer
            else:
                left.append(text)
        return json.dumps({"permission": {"bash": bash}}, indent=2, ensure_ascii=False) + "\n", tuple(left)


def entries(kind: str, value: object) -> list[Permission]:
    patterns = value if isinstance(value, dict) else {"*": value}
    return [entry(kind, str(pattern), word, f"{kind}: {pattern}: {word}") for pattern, word in patterns.items()]


def entry(kind: str, pattern: str, word: object, shown: str) -> Permission:
    if not isinstance(word, str) or word not in LAYERS:
        return Permission("ask", shown, note="does nothing: the word is not allow, ask or deny")
    if pattern == "*" and kind in RULES:
        return whole(word, shown, RULES[kind])
    if kind == "bash":
        spec = f"{pattern[:-2]}:*" if pattern.endswith(" *") and "*" not in pattern[:-2] else pattern
        note = "" if word == "allow" else "in opencode other spellings pass it; as a rule of Assent they do not"
        return Permission(word, shown, f"bash({spec})", note)
    if kind in PATHS:
        return Permission(word, shown, f"{PATHS[kind]}({pattern})")
    if kind in KINDS:
        return Permission(word, shown, note="write it by hand")
    if kind == "*":
        return whole(word, shown, "")
    return Permission(word, shown, note="Assent has no rule for that kind; the mode decides")


def whole(word: str, shown: str, rule: str) -> Permission:
    """A word for everything of a kind is the role of a mode; only a denial becomes a rule."""
    if word == "deny" and rule:
        return Permission(word, shown, rule)
    if word == "ask":
        return Permission(word, shown, note="not needed: what is not known to be harmless is asked about")
    return Permission(word, shown, rule or "bash")


PERMISSIONS = OpenCodePermissions("opencode")
