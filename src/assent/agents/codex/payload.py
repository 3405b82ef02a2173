"""Codex CLI: PreToolUse, PermissionRequest and the events that only inform.

Codex has no ask for a hook: it runs the call. So an ask is a denial here, or, for shell commands and if the installer
set it up, the same command, started by a program for which Codex's own rule opens the dialog (`Reply.through`)."""

from __future__ import annotations

from collections.abc import Mapping

from assent.agents import adapter, payload
from assent.agents.adapter import Adapter, Event, EventKind, Rendered
from assent.contract import Outcome, Reply
from assent.contract.display import visible

MODES = {"plan": "plan", "default": "default", "acceptEdits": "auto", "bypassPermissions": "full_auto"}
MOVED = "moved"  # Codex has its settings and rules in another folder than the installer knows
NOBODY_ASKED = "a person has to approve this call first, and Codex cannot ask"


class Codex(Adapter):
    once = ("exec", "e", "review")
    rewriting = True
    reports = False

    def rewrites(self, event: Event) -> bool:
        """A plain shell command, unless Codex is set to ask about nothing: it may not ask then."""
        call = event.call
        plain = call is not None and call.tool == "Bash" and set(call.input) == {"command"}
        return plain and event.mode in ("", "plan", "default")

    def replaces(self, event: Event) -> bool:
        return adapter.runs_text(event, "Bash")

    def asks(self, event: Event) -> bool:
        return False

    def parse(self, given: Mapping[str, object], *, environ: Mapping[str, str], home: str, project: str = "") -> Event:
        """`cwd` is the folder of the call, which the model chooses, and never the workspace."""
        return adapter.parse(
            given,
            runtime=self.runtime,
            home=home,
            roots=payload.folder(project),
            modes=MODES,
            attended=adapter.unattended(environ),
            form=MOVED if environ.get("CODEX_HOME", "").rstrip("/") not in ("", f"{home}/.codex") else "",
        )

    def render(self, event: Event | None, reply: Reply) -> Rendered:
        if event is None:
            return adapter.blocked(reply)
        match event.kind:
            case EventKind.BEFORE_TOOL | EventKind.PERMISSION if reply.fault:
                return adapter.blocked(reply)
            case EventKind.BEFORE_TOOL:
                return before(event, reply)
            case EventKind.PERMISSION:
                return adapter.printed(adapter.permission_request(reply, interrupts=False))
            case EventKind.PROMPT if reply.outcome is Outcome.DENY and not reply.fault:
                return adapter.printed(adapter.blocking(reply))
            case EventKind.CONFIG_CHANGE:  # an event that Codex does not have
                return adapter.printed({})
            case _:
                return adapter.noted(reply) if reply.fault else adapter.printed(adapter.context_fields(event, reply))


def before(event: Event, reply: Reply) -> Rendered:
    """Exactly these keys: with any other one the call runs. An allow is empty: an unknown key,
    or a decision that Codex does not support, is a warning."""
    if reply.outcome is Outcome.ALLOW and not reply.command:
        return adapter.printed({})
    out: dict[str, object] = {"hookEventName": "PreToolUse", "permissionDecision": "deny"}
    if (updated := adapter.replaced(event, reply)) is not None:
        return adapter.printed({"hookSpecificOutput": {**out, "permissionDecision": "allow", "updatedInput": updated}})
    command = asking(event, reply)
    if command:
        out |= {"permissionDecision": "allow", "updatedInput": {"command": command}}
    else:
        asked = f"{NOBODY_ASKED}: " if reply.outcome is Outcome.ASK else ""
        out["permissionDecisionReason"] = visible(asked + reply.for_agent)
    return adapter.printed({"hookSpecificOutput": out})


def asking(event: Event, reply: Reply) -> str:
    """The same command, started by the program that Codex's own rules ask about; `""` if that cannot be done.

    Whoever sets `through` has checked that rule: without it the command would run unasked. With form MOVED, the rule is
    in a folder that Codex does not read."""
    if reply.outcome is not Outcome.ASK or not reply.through.startswith("/") or event.form == MOVED or not event.call:
        return ""
    command = event.call.input.get("command")
    if event.call.tool != "Bash" or set(event.call.input) != {"command"} or not isinstance(command, str):
        return ""
    return f"{quoted(reply.through)} {quoted(command)}" if command and "\0" not in command else ""


PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-")


def quoted(word: str) -> str:
    """One quoted word for a shell."""
    return word if word and set(word) <= PLAIN else "'" + word.replace("'", "'\\''") + "'"


ADAPTER = Codex("codex")
