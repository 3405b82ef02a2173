"""Codex's config.toml: our hooks as a marked block at its end, with the hashes that make Codex trust them.

A hooks.json has the same entries as other programs; this is for the file that every Codex user has."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

from assent.agents.settings import Asking, Hole, ProgramSettings, hooks, jsonc
from assent.agents.settings.entry import HookEntry, calls_hook, words_of
from assent.agents.settings.hooks import Wired
from assent.contract import SettingsError

MANAGED = "/etc/codex/managed_config.toml"  # not overridden by settings of a project or a user
BEGIN, END = "# >>> assent >>>", "# <<< assent <<<"
BLOCK = re.compile(rf"(\A|\r?\n){BEGIN}\r?\n(?:.*\n)*?{END}(?:\r?\n|\Z)")
TOOL_EVENTS = frozenset({"PreToolUse", "PermissionRequest", "PostToolUse"})


SCRIPT = """\
#!/bin/sh
# Assent's asking program: written by `assent install codex`. Codex asks before it runs this.
exec /bin/bash -c "$1"
"""


class CodexAsking(Asking):
    """Our rules, which make Codex ask before it runs the asking program; `exec` rejects it.

    Without them an ask through that program would simply run, so callers check the file first."""

    place = "rules/assent.rules"
    home = ".codex/rules/assent.rules"
    mark = "# Assent's rules for Codex:"
    script = SCRIPT

    def rules(self, program: str) -> str:
        names = json.dumps([program, program.rpartition("/")[2]])
        return f"""\
# Assent's rules for Codex: written by `assent install codex`, removed by `assent uninstall codex`.
prefix_rule(
    pattern=[{names}],
    decision="prompt",
    justification="Assent asks about this command",
)
"""


class CodexSettings(ProgramSettings):
    asking = CodexAsking()

    def install(self, text: str, entry: HookEntry) -> str:
        before = self.uninstall(text)
        kept = read(before)
        newline = "\r\n" if "\r\n" in before else "\n"
        pinned = ["[features]", "hooks = true"] if entry.file == MANAGED and "features" not in kept else []
        lines = [BEGIN, *pinned, *block(kept, entry, entry.events or self.events), END, ""]
        out = before + (newline if before else "") + newline.join(lines)
        check(kept, out)
        features = kept.get("features")
        if entry.file == MANAGED and isinstance(features, dict) and features.get("hooks") is not True:
            raise SettingsError("`[features]` is there without `hooks = true`, which keeps the hook on; add it")
        return out

    def uninstall(self, text: str) -> str:
        found = BLOCK.search(text)
        if found is None:
            return text
        before, after = text[: found.start()], text[found.end() :]
        joined = before and after and not before.endswith("\n")  # our line break now separates two lines of others
        return before + (found[1] if joined else "") + after

    def distrusted(self, text: str, file: str) -> str:
        return "Codex does not trust the hook yet, and skips it silently" if untrusted(text, file) else ""

    def confines(self, text: str) -> tuple[str, str]:
        """Codex has it on unless told otherwise. It blocks less than a contained run."""
        if read_if_any(text).get("sandbox_mode") == "danger-full-access":
            return "", ""
        closes = "writes outside the workspace and the network, not reading: credentials can be read in it"
        return closes, "start Codex with `--sandbox danger-full-access`, or answer the questions"

    def wired(self, text: str, file: str) -> tuple[Wired, ...]:
        return tuple(hooks.one(event, each, hook) for event, each, hook, _ in ours(read(text)))

    def holes(self, text: str, *, http: bool = False) -> tuple[Hole, ...]:
        return tuple(_open(read_if_any(text)))

    def brought(self, text: str) -> tuple[Hole, ...]:
        return ()

    def reserved(self, text: str) -> tuple[Hole, ...]:
        return self.only_managed(read_if_any(text), "allow_managed_hooks_only")


def read(text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"not TOML: {error}", line=_line(text, str(error))) from None


def read_if_any(text: str) -> dict[str, object]:
    """The same, empty for what is not TOML."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}


def _line(text: str, message: str) -> int:
    if "end of document" in message:
        return text.rstrip("\n").count("\n") + 1
    found = message.rpartition("line ")[2].split(",")[0].rstrip(")")
    return int(found) if found.isdigit() else 0


def block(kept: dict[str, object], entry: HookEntry, events: tuple[str, ...]) -> list[str]:
    table = kept.get("hooks")
    lines: list[str] = []
    trust: list[str] = []
    for event in events:
        matcher = "*" if event in TOOL_EVENTS else None
        lines += [f"[[hooks.{event}]]", *([f"matcher = {quoted(matcher)}"] if matcher else [])]
        lines += [f"[[hooks.{event}.hooks]]", 'type = "command"', f"command = {quoted(entry.guarded)}"]
        lines += [f"timeout = {entry.timeout}"]
        if entry.file:
            present = table.get(event) if isinstance(table, dict) else None
            group = len(present) if isinstance(present, list) else 0
            key = f"{entry.file}:{snake(event)}:{group}:0"
            digest = trusted_hash(event, entry.guarded, entry.timeout, matcher)
            trust += [f"[hooks.state.{quoted(key)}]", f"trusted_hash = {quoted(digest)}"]
    return lines + trust


def snake(event: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in event).lstrip("_")


def quoted(text: str) -> str:
    """A basic string of TOML: a JSON string, except for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def trusted_hash(event: str, command: str, timeout: int, matcher: str | None) -> str:
    hook = {"async": False, "command": command, "timeout": timeout, "type": "command"}
    seen = {"event_name": snake(event), "hooks": [hook], **({"matcher": matcher} if matcher else {})}
    text = json.dumps(seen, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def ours(found: dict[str, object]) -> Iterator[tuple[str, dict[str, Any], dict[str, Any], str]]:
    """Our hooks: the event, the group, the hook, and Codex's key for it, after the name of the file."""
    table = found.get("hooks")
    for event, groups in table.items() if isinstance(table, dict) else ():
        for at, group in enumerate(groups if isinstance(groups, list) else ()):
            for index, hook in enumerate(group.get("hooks", [])):
                if calls_hook(words_of(str(hook.get("command", "")))):
                    yield event, group, hook, f"{snake(event)}:{at}:{index}"


def untrusted(text: str, file: str) -> str:
    """The key of a hook of ours that Codex would skip, as nobody has trusted it; `""` if there is none."""
    found: dict[str, Any] = read(text)
    for event, group, hook, key in ours(found):
        expected = trusted_hash(event, str(hook["command"]), hook.get("timeout", 600), group.get("matcher"))
        if found["hooks"].get("state", {}).get(f"{file}:{key}", {}).get("trusted_hash") != expected:
            return f"{file}:{key}"
    return ""


def check(kept: dict[str, object], out: str) -> None:
    """Our new text must parse with everything that was there."""
    try:
        made = tomllib.loads(out)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"our hooks cannot be added to those of this file; add them by hand: {error}") from None
    if not jsonc.keeps(made, kept):
        raise SettingsError("the settings would not keep all that is in them; add the hook by hand")


def _open(found: dict[str, object]) -> Iterator[Hole]:
    features = found.get("features")
    if isinstance(features, dict) and (features.get("hooks") is False or features.get("codex_hooks") is False):
        yield Hole("`features.hooks` is false: every hook is off", "remove it", inert=True)
    if found.get("sandbox_mode") == "danger-full-access" and found.get("approval_policy") == "never":
        yield Hole("Codex neither asks nor sandboxes anything: only the hook guards", "choose `workspace-write`")


SETTINGS = CodexSettings("codex")
