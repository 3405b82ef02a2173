"""A call to try a runtime's hook with, in the form of its events, and what the runtime would make of the answer.

Written down apart from the adapters, so that the two can disagree. Starts nothing."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from assent.agents.adapter import Rendered

SESSION = "assent-doctor"
FORBIDDEN = "cat ~/.ssh/id_rsa"  # on the floor: denied in every mode, whatever the rules
HARMLESS = "pwd"
ALLOWED, BLOCKED, UNSURE = "allowed", "blocked", "not an answer"


def event(runtime: str, command: str, folder: str) -> dict[str, object]:
    """The payload before a shell command, for a call in a folder."""
    arguments = {"command": command}
    match runtime:
        case "gemini" | "qwen":
            name = "BeforeTool" if runtime == "gemini" else "PreToolUse"
            tool = "run_shell_command"
        case "opencode":
            where = {"directory": folder, "servers": [], "attended": False}
            ids = {"sessionID": SESSION, "callID": SESSION}
            return {"event": "tool.execute.before", "tool": "bash", "args": arguments, **ids, **where}
        case "copilot":
            return {"sessionId": SESSION, "timestamp": 0, "cwd": folder, "toolName": "bash", "toolArgs": arguments}
        case "cursor":
            ids = {"conversation_id": SESSION, "generation_id": SESSION}
            roots = {"workspace_roots": [folder], "cwd": folder}
            return {"hook_event_name": "beforeShellExecution", "command": command, **ids, **roots}
        case "cline":
            call = {"id": SESSION, "name": "run_commands", "input": {"commands": [command]}}
            return {"hookName": "tool_call", "taskId": SESSION, "workspaceRoots": [folder], "tool_call": call}
        case "openharness":
            return {"event": "pre_tool_use", "tool_name": "bash", "tool_input": arguments}
        case _:
            name, tool = "PreToolUse", "Bash"
    common = {"session_id": SESSION, "transcript_path": "", "cwd": folder, "hook_event_name": name}
    return {**common, "permission_mode": "default", "tool_name": tool, "tool_input": arguments, "tool_use_id": SESSION}


def understood(runtime: str, answer: Rendered) -> str:
    """What the runtime makes of a hook's end."""
    match runtime:
        case "cline":
            said = _json(answer.stdout).get("cancel")
            return {True: BLOCKED, False: ALLOWED}.get(said, UNSURE) if isinstance(said, bool) else UNSURE
        case "openharness":
            return ALLOWED if answer.status == 0 else BLOCKED
        case "opencode" | "copilot" if answer.status:
            return BLOCKED
        case _ if answer.status == 2 and answer.stderr.strip():
            return BLOCKED
        case _ if answer.status:
            return UNSURE
    return _said(runtime, _json(answer.stdout))


def _said(runtime: str, found: dict[str, object]) -> str:
    inner = found.get("hookSpecificOutput")
    key = {"copilot": "permissionDecision", "cursor": "permission"}.get(runtime, "decision")
    if runtime in ("claude", "codex", "qwen"):
        found, key = (inner if isinstance(inner, dict) else {}), "permissionDecision"
    word = found.get(key)
    if runtime == "codex" and not found:
        return ALLOWED
    return {"allow": ALLOWED, "deny": BLOCKED, "block": BLOCKED}.get(word, UNSURE) if isinstance(word, str) else UNSURE


def _json(text: str) -> dict[str, object]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
