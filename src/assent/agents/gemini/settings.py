"""Gemini CLI's settings.json, or the hooks.json of an extension: the parts that its `[settings]` section cannot
express."""

from __future__ import annotations

from assent.agents.settings import Hole, JsonHooks, jsonc


class GeminiCliSettings(JsonHooks):
    def holes(self, text: str, *, http: bool = False) -> tuple[Hole, ...]:
        config = _config(text)
        off = Hole("`hooksConfig.enabled` is false: every hook is off", "set it to true", inert=True)
        listed = config.get("disabled")
        names = [each for each in listed if isinstance(each, str)] if isinstance(listed, list) else []
        disabled = (
            Hole(f"`hooksConfig.disabled` names `{name}`", "take it out of the list", inert=True)
            for name in names
            if "assent" in name
        )
        return (*((off,) if config.get("enabled") is False else ()), *disabled)

    def needed(self, text: str) -> tuple[Hole, ...]:
        said = "a project's `hooksConfig.enabled` switches hooks off"
        value = {**_config(text), "enabled": True}
        return (Hole(said, "set `hooksConfig` here", key="hooksConfig", value=value),)


def _config(text: str) -> dict[str, object]:
    found = jsonc.objects(text).get("hooksConfig")
    return found if isinstance(found, dict) else {}


SETTINGS = GeminiCliSettings("gemini")
