"""The reason codes: every stable dotted id that a receipt can carry, with what it means. Decides nothing.

Gaps bring their own codes from the reading of the call; those are listed here too, so that docs and tests know them."""

from __future__ import annotations

CODES: dict[str, str] = {
    "floor.sensitive-path": "the call touches a place that holds credentials",
    "floor.self": "the call touches Assent's own files, processes or answering commands",
    "floor.holds-sensitive": "a folder that holds credentials is read, copied or packed as a whole",
    "deny.rule": "a deny rule matches",
    "deny.inside": "a folder is read as a whole and a deny rule speaks of something in it",
    "ask.rule": "an ask rule matches",
    "allow.rule": "an allow rule matches",
    "intrinsic.read-only": "everything the call does is reading, listing or searching",
    "intrinsic.inert": "the call is known and does nothing that needs judging",
    "mode.allow": "no rule spoke, and the mode lets it pass",
    "mode.plan.mutation": "plan mode lets nothing change",
    "mode.plan.unknown": "plan mode lets nothing run that it cannot read",
    "mode.write": "a write in the workspace, which this mode asks about",
    "mode.delete": "a removal in the workspace, which this mode asks about",
    "mode.outside-workspace": "a change outside the workspace",
    "mode.execute": "the command is not proved read-only",
    "mode.repository": "git would follow the settings of a repository that is not proved harmless",
    "mode.delegate": "a sub-agent is launched",
    "mode.fetch": "an address on the network is reached",
    "mode.unknown-tool": "the tool is not known",
    "mode.mcp-tool": "a tool of an MCP server",
    "mode.unknown-target": "what it touches could not be named",
    "call.nothing-judged": "no part of the call could be judged",
    "headless.ask": "a person would have been asked, and nobody can answer",
    "policy.load": "the policy does not load, so nothing is decided",
    "gate.fault": "the gate failed inside and refuses",
    "gap.call.input": "the tool's arguments are missing or not of the form it takes",
    "gap.call.patch": "the patch cannot be read to the end",
    "gap.shell.unread": "the shell command was not read",
}
