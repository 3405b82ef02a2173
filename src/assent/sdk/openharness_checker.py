"""The API of OpenHarness's permission checker on this gate, for programs that were written for it.

Both its checker and ours decide, and the stricter decision counts. The differences are listed in docs/embedding.md."""

from __future__ import annotations

import asyncio
import fnmatch
import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from assent.api.gates import Approval, Gate, PermissionMode, Session
from assent.approval.escalation import DenialTracker
from assent.contract import Call, Decision, Outcome, PayloadError, Value, texts
from assent.contract.approval import Answer, Held, Said, Verdict
from assent.contract.tools import canonical
from assent.engine.engine import Engine
from assent.engine.memory import getuser
from assent.policy.document import document_of
from assent.policy.rules import Origin
from assent.policy.settings import combine

__all__ = [
    "OPERATIONS",
    "ApprovalGate",
    "DenialTracker",
    "PathRule",
    "PermissionChecker",
    "PermissionContext",
    "PermissionDecision",
    "PermissionMode",
    "PermissionSettings",
    "request_approval",
    "requires_approval",
    "resolve_approval",
]

RUNTIME = "openharness"
FILE_TOOLS = ("read", "list", "search", "write", "delete")
ASK_HOW = "approve it when you are asked, or run `/permissions full_auto` to let such tools run in this session"
INSTALLS = ("install", "create", "init", "add")
INSTALLERS = ("npm", "pnpm", "yarn", "bun", "pip", "uv", "poetry", "cargo", "npx", "gem", "go")

# Everyday operations of agents: name → tool, input. The first six are OpenHarness's own operations.
OPERATIONS: dict[str, tuple[str, dict[str, object]]] = {
    "read": ("read", {"file_path": "src/app.py"}),
    "list": ("list", {"path": "src"}),
    "search": ("search", {"pattern": "TODO", "path": "src"}),
    "write": ("write", {"file_path": "src/new.py", "content": "x"}),
    "delete": ("bash", {"command": "rm src/old.py"}),
    "execute": ("bash", {"command": "make build"}),
    "web_search": ("websearch", {"query": "python asyncio"}),
    "edit": ("write", {"file_path": "src/app.py", "old_string": "a", "new_string": "b"}),
    "shell": ("bash", {"command": "mkdir build"}),
    "install": ("bash", {"command": "npm install left-pad"}),
    "push": ("bash", {"command": "git push origin feature"}),
    "agent": ("agent", {"subagent_type": "general", "prompt": "x"}),
}


@dataclass(frozen=True)
class PathRule:
    """A pattern of paths, where `*` is any text, slashes too. `allow=False` denies."""

    pattern: str
    allow: bool = True


class PermissionSettings(Value):
    """Path rules may be objects, or mappings with `pattern` and `allow`."""

    __slots__ = ("mode", "allowed_tools", "denied_tools", "path_rules", "denied_commands")

    def __init__(
        self,
        mode: str = PermissionMode.DEFAULT,
        allowed_tools: Sequence[str] = (),
        denied_tools: Sequence[str] = (),
        path_rules: Sequence[object] = (),
        denied_commands: Sequence[str] = (),
    ) -> None:
        self.mode = PermissionMode(mode)
        self.allowed_tools = texts(allowed_tools, "allowed_tools")
        self.denied_tools = texts(denied_tools, "denied_tools")
        self.path_rules = tuple(path_rules)
        self.denied_commands = texts(denied_commands, "denied_commands")


@dataclass(frozen=True)
class PermissionDecision:
    """Whether a tool may run at once, or only after a person has confirmed it."""

    allowed: bool
    requires_confirmation: bool = False
    reason: str = ""

    def __bool__(self) -> bool:
        raise TypeError("a decision is neither true nor false; write `decision.allowed`")


class PermissionChecker:
    """Decides by such settings, or by OpenHarness's own settings objects. Relative paths are relative to `project`."""

    def __init__(self, settings: Any, *, project: str = "") -> None:
        self._settings = settings
        self._project = os.path.abspath(project or os.getcwd())
        self._home = os.path.expanduser("~")
        self.path_rules = tuple(_path_rules(settings.path_rules))
        commands = _texts(settings, "denied_commands")
        for name in ("allowed_tools", "denied_tools"):
            _texts(settings, name)
        policy = {"mode": str(PermissionMode(settings.mode).value), "deny": [*_commands(commands)]}
        self._commands = commands
        self._engine = Engine(combine([document_of(policy, "the settings", Origin.USER)]))

    def evaluate(
        self, tool_name: str, *, is_read_only: bool, file_path: str | None = None, command: str | None = None
    ) -> PermissionDecision:
        """Never raises."""
        try:
            theirs, reason = self._theirs(tool_name, is_read_only, file_path, command)
            ours = self._ours(tool_name, is_read_only, file_path, command)
        except Exception as error:  # the net: after a fault the tool does not run
            return PermissionDecision(False, reason=f"an internal error of the gate: {type(error).__name__}: {error}")
        if ours is not None and self._counts(ours, tool_name) and ours.outcome > theirs:
            theirs, reason = ours.outcome, ours.reason
        return PermissionDecision(theirs is Outcome.ALLOW, theirs is Outcome.ASK, reason)

    def _counts(self, ours: Decision, tool_name: str) -> bool:
        """A tool that is allowed by name needs no confirmation; what is denied stays denied."""
        return ours.outcome is Outcome.DENY or tool_name not in _texts(self._settings, "allowed_tools")

    def _theirs(
        self, tool_name: str, is_read_only: bool, file_path: str | None, command: str | None
    ) -> tuple[Outcome, str]:
        """The decision of OpenHarness's checker, except that an allowed tool does not lift a denial."""
        settings, mode = self._settings, PermissionMode(self._settings.mode)
        if tool_name in _texts(settings, "denied_tools"):
            return Outcome.DENY, f"{tool_name} is denied by name"
        for rule in self.path_rules if file_path else ():
            if not rule.allow and any(fnmatch.fnmatch(each, rule.pattern) for each in self._forms(file_path or "")):
                return Outcome.DENY, f"the path {file_path} is denied by {rule.pattern}"
        for pattern in self._commands if command else ():
            if fnmatch.fnmatch(command or "", pattern):
                return Outcome.DENY, f"the command is denied by {pattern}"
        if tool_name in _texts(settings, "allowed_tools"):
            return Outcome.ALLOW, f"{tool_name} is allowed by name"
        if mode in (PermissionMode.FULL_AUTO, PermissionMode.YOLO):
            return Outcome.ALLOW, f"{mode.value} lets all tools run"
        if is_read_only:
            return Outcome.ALLOW, "it only reads"
        if mode is PermissionMode.PLAN:
            return Outcome.DENY, "plan mode lets nothing change until it is left"
        hint = "; installing packages changes the workspace" if _installs(command or "") else ""
        return Outcome.ASK, f"it changes something, so in {mode.value} mode a person confirms it: {ASK_HOW}{hint}"

    def _ours(self, tool_name: str, is_read_only: bool, file_path: str | None, command: str | None) -> Decision | None:
        """The stricter decision of our rules on the path and on the command; None if there is neither."""
        tool = tool_name if canonical(tool_name) in FILE_TOOLS else "read" if is_read_only else "write"
        found = [self._decided(tool, {"file_path": file_path})] if file_path else []
        found += [self._decided("bash", {"command": command})] if command else []
        return max(found, key=lambda each: each.outcome, default=None)

    def _forms(self, path: str) -> tuple[str, ...]:
        """A path as patterns may mean it: itself, in the project, with links resolved, and as a folder."""
        whole = os.path.join(self._project, os.path.expanduser(path))
        found = dict.fromkeys((path, os.path.abspath(whole), os.path.realpath(whole)))
        return tuple(form for each in found for form in (each, each.rstrip("/") + "/"))

    def _decided(self, tool: str, given: dict[str, object]) -> Decision:
        place = {"cwd": self._project, "home": self._home, "runtime": RUNTIME, "shell": "bash"}
        return self._engine.decide(Call(tool, given, roots=(self._project,), **place))


def requires_approval(op: str, mode: str = PermissionMode.DEFAULT) -> bool:
    """Whether one of the `OPERATIONS` may not run at once in a mode: a person is asked, or it is denied."""
    name = str(getattr(op, "value", op)).lower()
    if name not in OPERATIONS:
        raise PayloadError(f"`{op}` is none of the operations {', '.join(OPERATIONS)}")
    tool, given = OPERATIONS[name]
    call = Call(tool, given, cwd="/workspace", roots=("/workspace",), home="/home/user", shell="bash")
    return _engine_in(PermissionMode(mode).value).decide(call).outcome is not Outcome.ALLOW


def request_approval(gate: Session, call: Call, *, seconds: float = 86400.0) -> Approval:
    return gate.request_approval(call, seconds=seconds)


def resolve_approval(gate: Session, id: str, call: Call, *, approved: bool, who: str, message: str = "") -> Verdict:
    return gate.resolve_approval(id, call, allow=approved, who=who, message=message)


class ApprovalGate:
    """A gate whose questions the program shows itself: `ask` waits for the answer, `resolve` gives it.

    `show` receives every question, with its id; it may be a coroutine function. `options` are those of `Gate`, which
    owns the timeout, the second look and the trail."""

    def __init__(self, show: Callable[[Held], object], **options: Any) -> None:
        self._show = show
        self._waiting: dict[str, asyncio.Future[Answer]] = {}
        self.gate = Gate(channels=[self._shown], **options)

    async def ask(self, tool_name: str, tool_input: Mapping[str, object] | None = None, *, reason: str = "") -> bool:
        """Whether a tool may run. Everything but a yes is False: a timeout, a fault, a rule that denies."""
        call = self.gate.call(tool_name, tool_input or {}, description=reason, runtime=RUNTIME)
        return (await self.gate.guard(call)).allowed

    def resolve(self, request_id: str, approved: bool, *, who: str = "", message: str = "") -> bool:
        """Answer a question, from any thread. False if none with this id waits. Nothing but True is a yes."""
        waiting = self._waiting.pop(request_id, None)
        if waiting is None:
            return False
        said = Said.ALLOW if approved is True else Said.DENY
        answer = Answer(said, who=who or getuser(), channel="program", message=message)
        waiting.get_loop().call_soon_threadsafe(_answered, waiting, answer)
        return True

    def pending(self) -> tuple[str, ...]:
        return tuple(self._waiting)

    def close(self) -> None:
        self.gate.close()

    async def _shown(self, held: Held) -> Answer:
        waiting: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting[held.id] = waiting
        try:
            found = self._show(held)
            if inspect.isawaitable(found):
                await found
            return await waiting
        finally:
            self._waiting.pop(held.id, None)


def _answered(waiting: asyncio.Future[Answer], answer: Answer) -> None:
    if not waiting.done():  # the question ended in another way
        waiting.set_result(answer)


class PermissionContext:
    """The mode of a session, and the denials that a person gave in it."""

    def __init__(self, mode: str = PermissionMode.DEFAULT) -> None:
        self.mode = PermissionMode(mode)
        self.denials = DenialTracker()

    def requires_approval(self, op: str) -> bool:
        return requires_approval(op, self.mode)

    def record_denial(self) -> bool:
        """A person said no. True: it is time to offer another mode."""
        return self.denials.denied()

    def record_approval(self) -> None:
        self.denials.approved()


@lru_cache
def _engine_in(mode: str) -> Engine:
    return Engine(combine([document_of({"mode": mode}, "the mode", Origin.USER)]))


def _texts(settings: Any, name: str) -> tuple[str, ...]:
    """A list of the settings as it is now; None is an empty one, as in OpenHarness."""
    found = getattr(settings, name)
    return () if found is None else texts(found, name)


def _path_rules(rules: Iterable[object]) -> Iterable[PathRule]:
    """Rules with a pattern. A deny rule without one is an error: it would deny nothing."""
    if isinstance(rules, str | bytes | Mapping):
        raise PayloadError('`path_rules` must be a list; write `path_rules=[PathRule("…", allow=False)]`')
    for rule in rules:
        if isinstance(rule, str | bytes):
            raise PayloadError(f"`{rule!r:.80}` is no path rule; write `PathRule({rule!r:.80}, allow=False)`")
        row = rule if isinstance(rule, Mapping) else {name: getattr(rule, name, None) for name in ("pattern", "allow")}
        pattern, allow = row.get("pattern"), row.get("allow", True)
        if isinstance(pattern, str) and pattern.strip():
            yield PathRule(pattern.strip(), allow is not False)
        elif allow is False:
            raise PayloadError(f"a path rule that denies has no pattern: {rule!r}")


def _commands(patterns: Iterable[str]) -> Iterable[str]:
    """Deny rules of ours for patterns of commands, so that wrappers and quotes do not bypass them."""
    from assent.policy.parse import parse_rule

    for pattern in patterns:
        rule = f"bash({pattern})"
        try:
            parse_rule(rule)
        except Exception:  # a pattern that is no rule of ours is still matched as theirs
            continue
        yield rule


def _installs(command: str) -> bool:
    words = command.split()
    return any(program in words for program in INSTALLERS) and any(word in words for word in INSTALLS)
