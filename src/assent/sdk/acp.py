"""Agent Client Protocol: a client whose permissions, files and terminals pass the gate, and its prompt as a channel.

For editors and other programs that run agents over the protocol. What an agent does without asking is not visible here:
for that it has its own hooks."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from acp import Client, RequestError
from acp.schema import (
    AllowedOutcome,
    DeniedOutcome,
    FileEditToolCallContent,
    PermissionOption,
    RequestPermissionResponse,
    ToolCallUpdate,
)

from assent.api.gates import Gate, Session
from assent.contract import PayloadError
from assent.contract.approval import Answer, Held, Said, Scope, Verdict
from assent.effects.arguments import COMMAND_KEYS
from assent.effects.declared import Tool
from assent.sdk.tool_guard import ToolGuard, denial_text

RUNTIME = "acp"
SHELLS = (["bash", "-c"], ["sh", "-c"])
DENIED = -32010  # the error that an agent gets for a call of ours that it may not make
# The kinds of tool calls whose arguments Assent knows, and the tools that have these.
KINDS = {
    "execute": "bash",
    "read": "read",
    "edit": "write",
    "delete": "delete",
    "move": "move",
    "search": "search",
    "fetch": "fetch",
}
EDITING = ("view", "create", "str_replace", "insert", "undo_edit")  # what editing tools call a command
OWN = "acp:"
YES = (("allow_once", "Allow once"), ("allow_always", "Allow this call in this session"))
NO = (("reject_once", "Reject"),)


class AssentClient:
    """A client before the one of an editor. Everything but permissions, files and terminals is forwarded to that.

    `session` is a gate, which then has a session for each of the protocol's, or a function that gives the session for
    an id. If the gate asks, it asks in its channels: with `Gate(channels=[editor.ask])` in the editor's own prompt, see
    `Editor`. The kinds of tool calls are declared as in `KINDS`, unless the author declared them otherwise. `cwd` is
    the folder that the editor gave to the agent."""

    def __init__(self, session: Gate | Callable[[str], Session], inner: Client, *, cwd: str = "") -> None:
        self._session = session
        self._inner = inner
        self._cwd = cwd
        self._sessions: dict[str, Session] = {}

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption], **more: Any
    ) -> RequestPermissionResponse:
        given = _arguments(tool_call)
        kind = "execute" if _commands(given) else tool_call.kind or "other"
        verdict = await self._guard(session_id, kind, given, tool_call.title or "")
        wanted = ("allow_once",) if verdict.allowed is True else ("reject_once", "reject_always")
        chosen = next((each.option_id for kind in wanted for each in options if each.kind == kind), None)
        if chosen is None or verdict.stop:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=chosen))

    async def write_text_file(self, session_id: str, path: str, content: str, **more: Any) -> Any:
        await self._pass(session_id, "edit", {"path": path, "content": content})
        return await self._inner.write_text_file(session_id=session_id, path=path, content=content, **more)

    async def read_text_file(self, session_id: str, path: str, **more: Any) -> Any:
        await self._pass(session_id, "read", {"path": path})
        return await self._inner.read_text_file(session_id=session_id, path=path, **more)

    async def create_terminal(self, session_id: str, command: str, args: list[str] | None = None, **more: Any) -> Any:
        env = {each.name: each.value for each in more.get("env") or []}
        words = [command, *(args or [])]
        # A whole command line in place of a program works only in an editor with a shell.
        text = words[2] if len(words) == 3 and words[:2] in SHELLS else shlex.join(words) if args else command
        given = {"command": text, "cwd": more.get("cwd") or "", "env": env}
        await self._pass(session_id, "execute", {key: value for key, value in given.items() if value})
        return await self._inner.create_terminal(session_id=session_id, command=command, args=args, **more)

    async def _pass(self, session_id: str, kind: str, given: dict[str, object]) -> None:
        verdict = await self._guard(session_id, kind, given)
        if verdict.allowed is not True:
            raise RequestError(DENIED, denial_text(verdict))

    async def _guard(self, session_id: str, kind: str, given: dict[str, object], title: str = "") -> Verdict:
        return await ToolGuard(lambda: self._session_of(session_id), RUNTIME).guard(kind, given, description=title)

    def _session_of(self, id: str) -> Session:
        found = self._sessions.get(id)
        if found is None:
            make = self._session
            # INVARIANT: the ids are the agent's, and name no session but its own.
            own = f"{OWN}{make.id}:{id}" if isinstance(make, Gate) else ""
            found = make.session(own, cwd=self._cwd, runtime=RUNTIME) if isinstance(make, Gate) else make(id)
            for kind, like in KINDS.items():
                with suppress(PayloadError):  # the author declared it otherwise
                    found.declare(kind, Tool(like=like))
            self._sessions[id] = found
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class Editor:
    """The editor's own prompt as a channel: `Gate(channels=[editor.ask])`."""

    def __init__(self, client: Client, *, who: str) -> None:
        self._client = client
        self._who = who

    async def ask(self, held: Held) -> Answer | None:
        options = [PermissionOption(option_id=kind, name=name, kind=kind) for kind, name in (*YES, *NO)]  # type: ignore[arg-type]
        call = ToolCallUpdate(
            tool_call_id=held.id,
            title=f"{held.call.tool}: {'; '.join(held.effects) or held.decision.reason}",
            raw_input=dict(held.call.input),
        )
        said = await self._client.request_permission(
            session_id=_id_of(held.call.session), tool_call=call, options=options
        )
        chosen = said.outcome.option_id if isinstance(said.outcome, AllowedOutcome) else ""
        if chosen == "allow_always" and held.suggestions:
            return Answer(Said.ALLOW, scope=Scope.SESSION, who=self._who)
        if chosen in ("allow_once", "allow_always"):
            return Answer(Said.ALLOW, who=self._who)
        return Answer(Said.DENY, who=self._who) if chosen == "reject_once" else None


def _arguments(call: ToolCallUpdate) -> dict[str, object]:
    """Everything that a permission request says about what would be done."""
    raw = call.raw_input
    given = dict(raw) if isinstance(raw, dict) else {} if raw is None else {"input": json.dumps(raw, default=repr)}
    places = [each.path for each in call.locations or []]
    places += [each.path for each in call.content or [] if isinstance(each, FileEditToolCallContent)]
    if not places:
        return given
    free = next(key for key in ("locations", "more_locations", *map(str, range(len(given) + 1))) if key not in given)
    return {**given, free: places}


def _commands(given: dict[str, object]) -> bool:
    """Whether the arguments are those of a shell, whatever the kind of the call: agents label a command as reading if
    they think it only reads."""
    found = [value for key, value in given.items() if key.lower() in COMMAND_KEYS]
    return any(value and not (isinstance(value, str) and value in EDITING) for value in found)


def _id_of(session: str) -> str:
    return session.split(":", 2)[2] if session.startswith(OWN) else session
