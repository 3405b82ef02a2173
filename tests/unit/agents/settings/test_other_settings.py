"""Codex's TOML, and the files that are wholly ours: in, out, and the rest byte for byte."""

from __future__ import annotations

import hashlib
import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.agents import settings
from assent.agents.codex.settings import CodexAsking, quoted
from assent.agents.settings import jsonc
from assent.agents.settings.entry import FAILED, HookEntry
from assent.contract import SettingsError

ENTRY = HookEntry(("/opt/my tools/assent", "hook", "codex"), 600)
LINES = st.sampled_from(
    [
        'model = "m"',
        "# a note",
        "",
        "[tools]",
        "web = true",
        "[[hooks.PreToolUse]]",
        'matcher = "Bash"',
        "[[hooks.PreToolUse.hooks]]",
        'command = "check.sh"',
        "[hooks.state.x]",
        'text = """\na\n"""',
    ]
)


@st.composite
def files(draw: st.DrawFn) -> str:
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    lines = draw(st.lists(LINES, max_size=8))
    text = newline.join(line.replace("\n", newline) for line in lines)
    return text + draw(st.sampled_from(["", newline, newline * 2]))


def can_hold(text: str) -> bool:
    """Whether a text is TOML, and its hooks are lists that more can be added to."""
    try:
        found = tomllib.loads(text).get("hooks", {}).get("PreToolUse", [])
    except tomllib.TOMLDecodeError:
        return False
    return isinstance(found, list)


@given(files())
def test_uninstalling_right_after_installing_gives_back_the_bytes(text: str) -> None:
    mine = settings.load("codex")
    if not can_hold(text):
        with pytest.raises(SettingsError):
            mine.install(text, ENTRY)
        return
    kept = tomllib.loads(text)
    made = mine.install(text, ENTRY)
    assert mine.uninstall(made) == text
    assert mine.install(made, ENTRY) == made
    assert jsonc.keeps(tomllib.loads(made), kept)


@given(files(), st.sampled_from(['last = "x"\n', "[more]\na = 1", "\n# end"]))
def test_what_stands_after_our_block_stays_a_line_of_its_own(text: str, more: str) -> None:
    mine = settings.load("codex")
    try:
        made = mine.install(text, ENTRY)
    except SettingsError:
        return
    left = mine.uninstall(made + more)
    assert left in (text + more, f"{text}\n{more}", f"{text}\r\n{more}")
    assert left.endswith(f"\n{more}") or left == more


def test_the_block_of_codex_is_its_own_form_and_trusted() -> None:
    entry = HookEntry(
        ("/usr/bin/assent", "hook", "codex"), 600, events=("PreToolUse",), file="/home/me/.codex/config.toml"
    )
    before = 'model = "m"\n\n[[hooks.PreToolUse]]\nmatcher = "Bash"\nhooks = []\n'
    guarded = (
        """/bin/sh -c 'out=$(/usr/bin/assent hook codex) && [ -n "$out" ] && printf "%s\\n" "$out" && exit 0; """
        f"""[ $? -eq 2 ] || echo "{FAILED}" >&2; exit 2'"""
    )
    reviewed = {
        "event_name": "pre_tool_use",
        "hooks": [{"async": False, "command": guarded, "timeout": 600, "type": "command"}],
        "matcher": "*",
    }
    digest = hashlib.sha256(json.dumps(reviewed, separators=(",", ":")).encode()).hexdigest()
    assert settings.load("codex").install(before, entry) == (
        before
        + f"""
# >>> assent >>>
[[hooks.PreToolUse]]
matcher = "*"
[[hooks.PreToolUse.hooks]]
type = "command"
command = {json.dumps(guarded)}
timeout = 600
[hooks.state."/home/me/.codex/config.toml:pre_tool_use:1:0"]
trusted_hash = "sha256:{digest}"
# <<< assent <<<
"""
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [("a = 1\nb = \n", 2), ("a = 1\na = 2", 2), ('hooks = "x"\n', 0), ("[hooks]\nPreToolUse = []\n", 0)],
)
def test_a_file_in_which_our_hooks_cannot_stand_is_refused(text: str, line: int) -> None:
    with pytest.raises(SettingsError) as caught:
        settings.load("codex").install(text, ENTRY)
    assert caught.value.line == line


def test_the_rules_for_codex_ask_before_the_asking_program_by_either_name() -> None:
    asked = CodexAsking().rules('/opt/a "b"/assent-ask')
    assert asked.splitlines()[1:] == [
        "prefix_rule(",
        '    pattern=[["/opt/a \\"b\\"/assent-ask", "assent-ask"]],',
        '    decision="prompt",',
        '    justification="Assent asks about this command",',
        ")",
    ]


@given(st.text())
def test_any_command_is_a_string_of_toml(text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    assert tomllib.loads(f"x = {quoted(text)}") == {"x": text}


@pytest.mark.parametrize("runtime", ["opencode", "copilot", "cline"])
def test_a_file_of_our_own_comes_and_goes_as_one(runtime: str) -> None:
    mine = settings.load(runtime)
    entry = HookEntry(("/usr/bin/assent", "hook", runtime), 600)
    made = mine.install("", entry)
    assert mine.uninstall(made) == ""
    assert mine.install(made, entry) == made
    assert mine.uninstall("another's") == "another's"
    with pytest.raises(SettingsError):
        mine.install("another's", entry)


def test_the_hook_file_of_copilot_is_in_its_own_style() -> None:
    made = settings.load("copilot").install("", HookEntry(("/usr/bin/assent", "hook", "copilot"), 60))
    assert json.loads(made) == {
        "version": 1,
        "hooks": {"preToolUse": [{"type": "command", "bash": "/usr/bin/assent hook copilot", "timeoutSec": 60}]},
    }


def test_every_runtime_names_the_user_s_own_file() -> None:
    assert [
        runtime for runtime in settings.RUNTIMES if not settings.load(runtime).places["user"].startswith("~/.")
    ] == []
    assert [settings.load(runtime).runtime for runtime in settings.RUNTIMES] == list(settings.RUNTIMES)
