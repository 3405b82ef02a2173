"""Codex's rules: `prefix_rule(pattern=[…], decision="…")` in `~/.codex/rules/*.rules`."""

from __future__ import annotations

import ast
import json
from itertools import product

from assent.agents.permissions import Permission, Permissions, prefix_of
from assent.contract import SettingsError

LAYER = {"allow": "allow", "prompt": "ask", "forbidden": "deny"}
DECISION = {ours: theirs for theirs, ours in LAYER.items()}
MOST = 64  # commands that one rule may spell
OURS = "assent-ask"


class CodexPermissions(Permissions):
    def read(self, text: str, file: str = "") -> tuple[Permission, ...]:
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError) as error:
            line = getattr(error, "lineno", 0) or 0
            raise SettingsError("the rules cannot be read", line=line) from None
        return tuple(found for each in tree.body for found in rules(each))

    def write(self, rules: tuple[tuple[str, str], ...]) -> tuple[str, tuple[str, ...]]:
        prefixes = [(layer, prefix) for layer, text in rules if (prefix := prefix_of(layer, text))]
        lines = (
            f"prefix_rule(pattern={json.dumps(prefix.split())}, decision={json.dumps(DECISION[layer])})\n"
            for layer, prefix in prefixes
        )
        return "".join(lines), tuple(text for layer, text in rules if not prefix_of(layer, text))


def rules(statement: ast.stmt) -> list[Permission]:
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return []
    shown = ast.unparse(call)
    try:
        given = {each.arg: ast.literal_eval(each.value) for each in call.keywords if each.arg}
    except (ValueError, TypeError):
        return [Permission("ask", shown, note="it is not written out, and cannot be read")]
    if call.func.id == "network_rule":
        layer = LAYER.get(str(given.get("decision")), "ask")
        return [Permission(layer, shown, f"fetch(domain:{given.get('host', '')})")]
    if call.func.id != "prefix_rule":
        return []
    return prefix(shown, given.get("pattern"), LAYER.get(str(given.get("decision", "allow")), "ask"))


def prefix(shown: str, pattern: object, layer: str) -> list[Permission]:
    if not isinstance(pattern, list) or not pattern:
        return [Permission(layer, shown, note="does nothing: it has no pattern")]
    choices = [[str(word) for word in each] if isinstance(each, list) else [str(each)] for each in pattern]
    if any(OURS in word for word in choices[0]):
        return []
    spelled = list(product(*choices))
    if len(spelled) > MOST:
        return [Permission(layer, shown, note=f"it spells {len(spelled)} commands; write a shorter one by hand")]
    note = "" if layer == "allow" else "in Codex a redirect, an assignment or `env` before it passes; here it does not"
    return [Permission(layer, shown, f"bash({' '.join(words)}:*)", note) for words in spelled]


PERMISSIONS = CodexPermissions("codex")
