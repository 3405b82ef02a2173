"""Gemini CLI's settings.json, or the hooks.json of an extension. Its timeouts are in milliseconds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assent.agents.settings import holes
from assent.agents.settings.entry import Entry
from assent.agents.settings.holes import Hole
from assent.agents.settings.settings import JsonHooks

MANIFEST = '{\n  "name": "assent",\n  "version": "1.0.0"\n}\n'


class GeminiCliSettings(JsonHooks):
    runtime = "gemini"
    before = "BeforeTool"
    unit = 0.001
    secret_name = True
    comments = True
    events = ("BeforeTool",)
    # An extension is known by this file beside its hooks. Its hooks fire in folders too that are not trusted.
    beside = {"extension": ("../gemini-extension.json", MANIFEST)}

    def entry(self, event: str, entry: Entry) -> object:
        hook = {"type": "command", "name": entry.name, "command": entry.guarded, "timeout": entry.timeout * 1000}
        return {"matcher": "*", "hooks": [hook]}

    def holes(self, text: str, *, http: bool = False) -> tuple[Hole, ...]:
        return tuple(_open(holes.objects(text)))

    def needed(self, text: str) -> tuple[Hole, ...]:
        given = holes.objects(text).get("hooksConfig")
        value = {**(given if isinstance(given, dict) else {}), "enabled": True}
        said = "a project's `hooksConfig.enabled` switches hooks off"
        return (holes.Hole(said, "set `hooksConfig` here", key="hooksConfig", value=value),)


def _open(found: Mapping[str, object]) -> Iterator[Hole]:
    config = found.get("hooksConfig")
    if isinstance(config, dict):
        if config.get("enabled") is False:
            yield holes.Hole("`hooksConfig.enabled` is false: every hook is off", "set it to true", inert=True)
        disabled = config.get("disabled")
        for name in disabled if isinstance(disabled, list) else ():
            if isinstance(name, str) and "assent" in name:
                yield holes.Hole(f"`hooksConfig.disabled` names `{name}`", "take it out of the list", inert=True)


SETTINGS = GeminiCliSettings()
