"""The plugin for opencode, run by Node as opencode would run it: nothing but an answer of ours lets a call run."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from assent.agents import settings
from assent.agents.settings.entry import HookEntry

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="needs Node")

# Stands where opencode does: fires the plugin's hooks for one call and tells what became of it.
HOST = """
import { Assent } from "./plugin.mjs"
const replies = []
const client = {
  mcp: { status: async () => ({ data: { "my files": {} } }) },
  _client: { post: async (request) => { replies.push([request.url, request.body]); return {} } },
}
const plugin = await Assent({ client, directory: "/workspace", serverUrl: new URL("http://127.0.0.1:1") })
const config = JSON.parse(process.argv[2])
await plugin.config(config)
for (const [session, agent, parent] of JSON.parse(process.argv[3])) {
  const info = { id: session, parentID: parent ?? undefined }
  await plugin.event({ event: { type: "session.created", properties: { info } } })
  await plugin["chat.message"]({ sessionID: session }, { message: { agent } })
}
let thrown = null
try {
  await plugin["tool.execute.before"]({ tool: "bash", sessionID: "s", callID: "c" }, { args: { command: "ls" } })
} catch (error) { thrown = error.message }
const asked = { id: "per_1", permission: "bash", tool: { callID: "c" } }
if (thrown === null) await plugin.event({ event: { type: "permission.asked", properties: asked } })
const other = { ...asked, id: "per_2", tool: { callID: "x" } }
await plugin.event({ event: { type: "permission.asked", properties: other } })
console.log(JSON.stringify({ thrown, replies, config }))
"""


Sessions = tuple[tuple[str, str, str | None], ...]  # session, agent, the session that started it


def run(
    tmp_path: Path, answer: str, config: object = None, timeout: int = 20, sessions: Sessions = ()
) -> dict[str, object]:
    """What the host saw, with a hook that runs some Python on the payload `given`."""
    assert NODE is not None
    hook = tmp_path / "hook.py"
    hook.write_text(f"import json, sys\ngiven = json.load(sys.stdin)\n{answer}\n", encoding="utf-8")
    words = (sys.executable, str(hook)) if answer != "missing" else ("/nowhere/assent", "hook", "opencode")
    plugin = settings.load("opencode").install("", HookEntry(words, timeout))
    (tmp_path / "plugin.mjs").write_text(plugin, encoding="utf-8")
    (tmp_path / "host.mjs").write_text(HOST, encoding="utf-8")
    argv = [NODE, "host.mjs", json.dumps(config or {}), json.dumps(sessions)]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    seen: dict[str, object] = json.loads(done.stdout)
    return seen


def saying(answer: dict[str, object]) -> str:
    return f"print(json.dumps({answer!r}))"


def test_an_allowed_call_runs_and_its_dialog_is_answered(tmp_path: Path) -> None:
    seen = run(tmp_path, saying({"decision": "allow"}))
    assert (seen["thrown"], seen["replies"]) == (None, [["/permission/per_1/reply", {"reply": "once"}]])


def test_a_denied_call_is_thrown_out_with_the_message(tmp_path: Path) -> None:
    seen = run(tmp_path, saying({"decision": "deny", "message": "use make"}))
    assert (seen["thrown"], seen["replies"]) == ("use make", [])


def test_an_asked_call_is_left_to_the_dialog(tmp_path: Path) -> None:
    seen = run(tmp_path, saying({"decision": "ask"}))
    assert (seen["thrown"], seen["replies"]) == (None, [])


@pytest.mark.parametrize(
    ("later", "reply"),
    [
        ({"decision": "allow"}, {"reply": "once"}),
        ({"decision": "deny", "message": "no"}, {"reply": "reject", "message": "no"}),
        ({"decision": "deny", "message": "no", "stop": True}, {"reply": "reject"}),
    ],
)
def test_an_answer_while_the_dialog_stands_closes_it(
    tmp_path: Path, later: dict[str, object], reply: dict[str, object]
) -> None:
    answer = f"print(json.dumps({later!r} if given['event'] == 'permission.asked' else {{'decision': 'ask'}}))"
    assert run(tmp_path, answer)["replies"] == [["/permission/per_1/reply", reply]]


@pytest.mark.parametrize(
    ("answer", "timeout"),
    [
        ("sys.exit('broken')", 20),
        ("sys.exit(1)", 20),
        ("print('nonsense')", 20),
        ("print('{}')", 20),
        (saying({"decision": "ALLOW"}), 20),
        (saying({"decision": "allow"}) + "\nprint('and more')", 20),
        ("pass", 20),
        ("import os; os.kill(os.getpid(), 9)", 20),
        ("import time; time.sleep(9)", 1),
        ("missing", 20),
    ],
)
def test_a_hook_that_breaks_lets_nothing_run(tmp_path: Path, answer: str, timeout: int) -> None:
    seen = run(tmp_path, answer, timeout=timeout)
    assert str(seen["thrown"]).startswith("Assent could not decide")
    assert seen["replies"] == []


def test_the_hook_is_told_the_call(tmp_path: Path) -> None:
    kept = tmp_path / "given.json"
    answer = f"open({str(kept)!r}, 'w').write(json.dumps(given)) if 'tool' in given else None\n" + saying(
        {"decision": "allow"}
    )
    run(tmp_path, answer)
    assert json.loads(kept.read_text(encoding="utf-8")) == {
        "event": "tool.execute.before",
        "tool": "bash",
        "sessionID": "s",
        "callID": "c",
        "args": {"command": "ls"},
        "directory": "/workspace",
        "servers": ["my_files"],
    }


@pytest.mark.parametrize(
    ("sessions", "agent"),
    [
        ((("s", "plan", None),), "plan"),
        ((("s", "build", None),), "build"),
        ((("p", "plan", None), ("s", "general", "p")), "plan"),
        ((("p", "build", None), ("s", "general", "p")), "general"),
    ],
)
def test_the_hook_is_told_who_works_and_a_sub_agent_of_a_plan_plans(
    tmp_path: Path, sessions: Sessions, agent: str
) -> None:
    answer = saying({"decision": "deny"}).replace("'deny'", "'deny', 'message': given.get('agent')")
    assert run(tmp_path, answer, sessions=sessions)["thrown"] == agent


@pytest.mark.parametrize(
    ("given", "made"),
    [
        (None, {"*": "ask"}),
        ("allow", {"*": "ask"}),
        ("deny", "deny"),
        (
            {"*": "allow", "bash": {"*": "ask", "git *": "allow", "rm *": "deny"}, "edit": "deny"},
            {"*": "ask", "bash": {"*": "ask", "git *": "ask", "rm *": "deny"}, "edit": "deny"},
        ),
    ],
)
def test_opencode_asks_about_all_that_it_does_not_deny(tmp_path: Path, given: object, made: object) -> None:
    config = {"permission": given, "agent": {"build": {"permission": {"edit": "allow"}}, "plan": {}}}
    seen = run(tmp_path, saying({"decision": "deny", "message": "x"}), config)
    assert seen["config"] == {
        "permission": made,
        "agent": {"build": {"permission": {"edit": "ask"}}, "plan": {}},
    }
