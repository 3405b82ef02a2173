"""opencode: the messages of Assent's own plugin before a tool and when a dialog opens, and the answers to it.

The plugin is in `settings.py`. It throws on everything but an answer of this form, so nothing here can fail open."""

from __future__ import annotations

from collections.abc import Mapping

from assent.agents import adapter, payload
from assent.agents.adapter import Adapter, Event, EventKind, Rendered
from assent.contract import ASCII, Call, Outcome, Pattern, Reply
from assent.contract.display import visible
from assent.contract.tools import ALIASES

KINDS = {
    "tool.execute.before": EventKind.BEFORE_TOOL,
    "permission.asked": EventKind.PERMISSION,
    "tool.execute.after": EventKind.AFTER_TOOL,
    "session.idle": EventKind.STOP,
    "chat.message": EventKind.PROMPT,
    "session.created": EventKind.SESSION_START,
}
# opencode's own tools. Tools of MCP servers are named `server_tool`, so any other name that looks like a known tool
# (`read_file` of a server `read`) is somebody else's.
NATIVE = frozenset(
    "bash read write edit multiedit patch apply_patch glob grep list webfetch websearch task todowrite todoread "
    "question plan_enter plan_exit invalid".split()
)
# Those for which opencode opens its dialog whatever the arguments.
ASKS = frozenset(
    "read write edit multiedit patch apply_patch glob grep list webfetch websearch task todowrite skill".split()
)
# For shell text it asks only if it sees a command in it: not for `cd`, assignments, only redirections and the like.
COMMAND = Pattern(
    r"""\s*(?:(?:cd|pushd)[ \t]+(?:[\w.~/+-]+|"[\w .~/+-]*"|'[\w .~/+-]*')[ \t]*(?:&&|;)\s*)*"""
    r"(?:[A-Za-z_][A-Za-z0-9_]*=[\w.,:@%/+-]*[ \t]+)*"
    r"(?P<word>[A-Za-z0-9_.~/][\w.~/+-]*)(?=\s|$)",
    ASCII,
)
NO_COMMAND = frozenset(
    "cd chdir pushd popd push-location set-location export declare typeset local readonly unset unsetenv "
    "if then else elif fi for while until do done case esac in select function time coproc test let".split()
)
UNASKED = "a person has to approve this call first, and opencode opens no dialog for it"


class OpenCode(Adapter):
    def replaces(self, event: Event) -> bool:
        return adapter.runs_text(event, "bash")

    def asks(self, event: Event) -> bool:
        return asked_by_host(event.call)

    def parse(self, given: Mapping[str, object], *, environ: Mapping[str, str], home: str, project: str = "") -> Event:
        name = payload.text(given, "event")
        kind = adapter.kind_of(name, KINDS, given)
        session = payload.text_if_any(given, "sessionID")
        folder = payload.text_if_any(given, "directory")
        attended = given.get("attended")
        call = None
        if kind in adapter.WITH_CALL:
            call_input = payload.table(given, "args")
            tool = tool_of(payload.text(given, "tool"), given.get("servers"))
            cwd, roots = payload.text(given, "directory"), payload.folder(folder)
            call = self.call(tool, call_input, home, session, cwd=cwd, roots=roots)
        return Event(
            kind,
            name,
            call,
            session=session,
            mode="plan" if given.get("agent") == "plan" else "",
            attended=attended if isinstance(attended, bool) else None,
            call_id=payload.text_if_any(given, "callID"),
            agent=payload.text_if_any(given, "parentID"),
        )

    def render(self, event: Event | None, reply: Reply) -> Rendered:
        if event is None or (reply.fault and event.kind in (EventKind.BEFORE_TOOL, EventKind.PERMISSION)):
            return adapter.blocked(reply)
        if event.kind is EventKind.BEFORE_TOOL:
            return adapter.printed(before(event, reply))
        if event.kind is EventKind.PERMISSION:
            return adapter.printed(answer(reply, reply.outcome))
        if reply.fault:
            return adapter.noted(reply)
        told = event.kind is EventKind.AFTER_TOOL and reply.context
        return adapter.printed({"decision": "allow", "context": visible(reply.context)} if told else {})


def tool_of(name: str, servers: object) -> str:
    """The tool by the name that rules use. `servers` are the names of the MCP servers, if the plugin knows them."""
    known = [each for each in servers if isinstance(each, str) and each] if isinstance(servers, list) else []
    owner = max((each for each in known if name.startswith(f"{each}_")), key=len, default="")
    if owner:
        return f"mcp__{owner}__{name[len(owner) + 1 :]}"
    return name if name in NATIVE or name.lower() not in ALIASES else f"mcp__opencode__{name}"


def asked_by_host(call: Call | None) -> bool:
    if call is None:
        return False
    if call.tool in ASKS or (call.tool.startswith("mcp__") and not call.tool.startswith("mcp__opencode__")):
        return True
    command = call.input.get("command")
    if call.tool != "bash" or not isinstance(command, str):
        return False
    found = COMMAND.match(command)
    return found is not None and found["word"].lower() not in NO_COMMAND


def before(event: Event, reply: Reply) -> dict[str, object]:
    if reply.outcome is Outcome.ASK and not asked_by_host(event.call):
        out = answer(reply, Outcome.DENY)
        return {**out, "message": f"{UNASKED}: {out['message']}"}
    updated = adapter.replaced(event, reply)
    return answer(reply, reply.outcome) if updated is None else {**answer(reply, reply.outcome), "args": updated}


def answer(reply: Reply, outcome: Outcome) -> dict[str, object]:
    return {
        "decision": outcome.word,
        "reason": visible(reply.for_person),
        "message": visible(reply.for_agent),
        "stop": reply.stop and outcome is Outcome.DENY,
    }


ADAPTER = OpenCode("opencode")
