"""opencode's `permission`: a word, or patterns with a word each, for each kind of tool. There the last match wins."""

from __future__ import annotations

import json

from assent.agents.permissions.permission import Permission, Permissions, split
from assent.agents.settings import hooks, jsonc
from assent.contract import SettingsError

PATHS = {"edit": "write", "read": "read", "list": "list", "glob": "list", "grep": "search"}
KINDS = {"webfetch": "fetch", "websearch": "websearch", "task": "agent"}
LAYERS = frozenset({"allow", "ask", "deny"})


class OpenCodePermissions(Permissions):
    runtime = "opencode"

    def read(self, text: str, file: str = "") -> tuple[Permission, ...]:
        if hooks.is_blank(text):
            return ()
        root = jsonc.parse(text).value
        found = root.get("permission") if isinstance(root, dict) else None
        if isinstance(found, str):
            found = {"*": found}
        if found is None:
            return ()
        if not isinstance(found, dict):
            raise SettingsError("`permission` is not an object")
        return tuple(each for kind, value in found.items() for each in entries(str(kind), value))

    def write(self, rules: tuple[tuple[str, str], ...]) -> tuple[str, tuple[str, ...]]:
        """The strictest last, since there the last match wins."""
        bash: dict[str, str] = {}
        left: list[str] = []
        for layer in ("allow", "ask", "deny"):
            for text in (each for at, each in rules if at == layer):
                halves = split(text)
                if halves is None or halves[0] != "bash" or not halves[1]:
                    left.append(text)
                    continue
                spec = halves[1].replace(":*", " *")
                bash.pop(spec, None)
                bash[spec] = layer
        return json.dumps({"permission": {"bash": bash}}, indent=2, ensure_ascii=False) + "\n", tuple(left)


def entries(kind: str, value: object) -> list[Permission]:
    patterns = value if isinstance(value, dict) else {"*": value}
    out: list[Permission] = []
    for pattern, word in patterns.items():
        shown = f"{kind}: {pattern}: {word}"
        if word not in LAYERS:
            out.append(Permission("ask", shown, note="does nothing: the word is not allow, ask or deny"))
        else:
            out.append(entry(kind, str(pattern), str(word), shown))
    return out


def entry(kind: str, pattern: str, word: str, shown: str) -> Permission:
    if kind == "bash":
        if pattern == "*":
            return whole(word, shown, "bash")
        spec = f"{pattern[:-2]}:*" if pattern.endswith(" *") and "*" not in pattern[:-2] else pattern
        note = "" if word == "allow" else "in opencode other spellings pass it; as a rule of Assent they do not"
        return Permission(word, shown, f"bash({spec})", note)
    if kind in PATHS:
        return (
            whole(word, shown, PATHS[kind]) if pattern == "*" else Permission(word, shown, f"{PATHS[kind]}({pattern})")
        )
    if kind in KINDS:
        return whole(word, shown, KINDS[kind]) if pattern == "*" else Permission(word, shown, note="write it by hand")
    if kind == "*":
        return whole(word, shown, "")
    return Permission(word, shown, note="no rule of ours speaks of that kind; the mode decides")


def whole(word: str, shown: str, rule: str) -> Permission:
    """A word for everything of a kind is what a mode is for; only a denial is taken as a rule."""
    if word == "deny" and rule:
        return Permission(word, shown, rule)
    if word == "ask":
        return Permission(word, shown, note="not needed: what is not known to be harmless is asked about")
    return Permission(word, shown, rule or "bash")


PERMISSIONS = OpenCodePermissions()
