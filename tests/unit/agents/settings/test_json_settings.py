"""Hooks in JSON settings: put in beside others, taken out again, and everything else byte for byte unchanged."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.agents import settings
from assent.agents.settings import hooks, jsonc
from assent.agents.settings.entry import HookEntry, is_ours
from assent.contract import SettingsError

ENTRY = HookEntry(("/opt/my tools/assent", "hook", "RUNTIME", "--home", "/home/me/.assent"), 600)
JSON_RUNTIMES = ["claude", "gemini", "qwen", "cursor", "openharness"]


# ---------------------------------------------------------------- texts as people write them

BLANKS = st.sampled_from(["", " ", "\n", "\n  ", "\t", "\r\n", " // note\n", "/* note */", " /* a\n b */ ", "\n\n    "])
OTHERS = st.sampled_from(
    [
        {"matcher": "Bash", "hooks": [{"type": "command", "command": "check.sh"}]},
        {"hooks": []},
        {"command": "other hook"},
        7,
    ]
)
HOOKS = st.dictionaries(
    st.sampled_from(["PreToolUse", "Stop", "BeforeTool", "preToolUse", "pre_tool_use", "Other"]),
    st.lists(OTHERS, max_size=3),
    max_size=3,
)
SCALARS = (
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=6) | st.sampled_from(["//", "/*", "{", ","])
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
)
ROOTS = st.dictionaries(st.sampled_from(["model", "env", "permissions", "x y", ""]), VALUES, max_size=3)


@st.composite
def files(draw: st.DrawFn) -> tuple[str, dict[str, object]]:
    """A settings file and what it says."""
    root: dict[str, object] = {**draw(ROOTS)}
    if draw(st.booleans()):
        root["hooks"] = draw(HOOKS)
    text = draw(BLANKS) + spelled(draw, root) + draw(BLANKS)
    return text, root


def spelled(draw: st.DrawFn, value: object) -> str:
    if isinstance(value, dict):
        inner = [
            draw(BLANKS) + json.dumps(key) + draw(BLANKS) + ":" + draw(BLANKS) + spelled(draw, each) + draw(BLANKS)
            for key, each in value.items()
        ]
        return bracketed(draw, inner, "{}")
    if isinstance(value, list):
        return bracketed(draw, [draw(BLANKS) + spelled(draw, each) + draw(BLANKS) for each in value], "[]")
    return json.dumps(value)


def bracketed(draw: st.DrawFn, inner: list[str], ends: str) -> str:
    trailing = "," if inner and draw(st.integers(0, 5)) == 0 else ""
    return ends[0] + ",".join(inner) + trailing + draw(BLANKS) + ends[1]


# ---------------------------------------------------------------- laws


@given(files())
def test_a_text_is_read_as_what_it_says(file: tuple[str, dict[str, object]]) -> None:
    text, root = file
    assert jsonc.parse(text).value == root


@pytest.mark.parametrize("runtime", JSON_RUNTIMES)
@given(file=files())
def test_uninstalling_right_after_installing_gives_back_the_bytes(
    runtime: str, file: tuple[str, dict[str, object]]
) -> None:
    text, root = file
    mine = settings.load(runtime)
    made = mine.install(text, ENTRY)
    assert mine.uninstall(made) == text
    assert mine.install(made, ENTRY) == made
    assert jsonc.keeps(jsonc.parse(made).value, root)
    assert len(hooks.installed(made)) == len(mine.events)


@pytest.mark.parametrize("runtime", JSON_RUNTIMES)
@pytest.mark.parametrize("text", ["", "\n", "  ", "\r\n\r\n"])
def test_a_file_that_we_made_is_gone_afterwards(runtime: str, text: str) -> None:
    mine = settings.load(runtime)
    made = mine.install(text, ENTRY)
    assert json.loads(made)
    assert mine.uninstall(made).strip() == ""


@given(file=files())
def test_a_strict_file_stays_strict(file: tuple[str, dict[str, object]]) -> None:
    """Where the runtime takes plain JSON only, the file is plain JSON afterwards too."""
    _, root = file
    for text in (json.dumps(root), json.dumps(root, indent=2), json.dumps(root, indent="\t")):
        assert json.loads(settings.load("claude").install(text, ENTRY)).keys() >= root.keys()


@given(file=files())
def test_a_newer_entry_takes_the_place_of_an_older_one(file: tuple[str, dict[str, object]]) -> None:
    text, _ = file
    mine = settings.load("claude")
    older = mine.install(text, HookEntry(("/usr/bin/assent", "hook", "claude"), 60, events=("PreToolUse", "Stop")))
    assert mine.install(older, ENTRY) == mine.install(text, ENTRY)


@given(file=files(), more=VALUES, blank=BLANKS)
def test_what_others_add_later_stays_when_ours_is_taken_out(
    file: tuple[str, dict[str, object]], more: object, blank: str
) -> None:
    text, root = file
    mine = settings.load("claude")
    made = mine.install(text, ENTRY)
    for where in ("root", "events"):
        tree = jsonc.parse(made)
        events = tree.member("hooks")
        assert events is not None
        container = tree if where == "root" else events.node
        made = jsonc.append(made, container, more, f"added to {where}") + blank
    left = jsonc.parse(mine.uninstall(made)).value
    assert isinstance(left, dict)
    assert hooks.installed(mine.uninstall(made)) == []
    assert jsonc.keeps(left, {**root, "added to root": more})
    assert jsonc.keeps(left, {"hooks": {"added to events": more}})


@given(file=files())
def test_ours_are_taken_out_of_a_file_that_was_formatted_anew(file: tuple[str, dict[str, object]]) -> None:
    text, root = file
    mine = settings.load("claude")
    value = jsonc.parse(mine.install(text, ENTRY)).value
    for indent in (None, 2):
        left = mine.uninstall(json.dumps(value, indent=indent))
        found = jsonc.parse(left or "{}").value
        assert isinstance(found, dict)
        assert {key: each for key, each in found.items() if key != "hooks"} == {
            key: each for key, each in root.items() if key != "hooks"
        }
        assert hooks.installed(left) == []


@given(st.text(alphabet='{}[]",:/* \n1tabcrue\\') | st.text())
def test_any_text_is_read_or_refused_with_a_line(text: str) -> None:
    try:
        jsonc.parse(text)
    except SettingsError as error:
        line = error.line
    else:
        line = 1
    assert 1 <= line <= text.count("\n") + 1


@given(files(), st.integers(0, 200), st.sampled_from(["", "}", '"', ",", "{"]))
def test_a_file_that_does_not_parse_is_never_changed(file: tuple[str, dict[str, object]], at: int, junk: str) -> None:
    text = file[0][:at] + junk + file[0][at + 1 :]
    try:
        made = settings.load("claude").install(text, ENTRY)
    except SettingsError:
        return
    assert settings.load("claude").uninstall(made) == text


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', "line 3: `,` or `}` is missing"),
        ('{\n  "a": 1,\n  "a": 2\n}', "line 3: key `a` is given twice"),
        ("{\n\n  a: 1\n}", "line 3: a key in double quotes is missing"),
        ('{"a" 1}', "line 1: `:` is missing after the key `a`"),
        ('{"a": nope}', "line 1: no JSON value: `nope}`"),
        ('{"a": 1', "line 1: `,` or `}` is missing"),
        ("{}\n{}", "line 2: there is more text after the end of the settings"),
        ('{"a": 1 /* x', "line 1: a comment does not end"),
        ("[]", "line 1: the settings are not an object"),
        ('{\n"hooks": []}', "line 2: `hooks` is not an object"),
        ('{"hooks": {\n"PreToolUse": {}}}', "line 2: `hooks.PreToolUse` is not a list"),
        ("[" * 200, "line 1: the settings are nested too deep"),
        ("// only a note", "line 1: a value is missing"),
    ],
)
def test_what_cannot_be_changed_is_refused_with_line_and_reason(text: str, message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        settings.load("claude").install(text, ENTRY)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("hook", "ours"),
    [
        ({"type": "command", "command": "/usr/bin/assent", "args": ["hook", "claude"]}, True),
        ({"type": "command", "command": "'/opt/my tools/assent' hook claude --x"}, True),
        ({"type": "command", "command": "python3 -I -m assent hook gemini"}, True),
        ({"bash": "/usr/bin/assent hook copilot"}, True),
        ({"bash": "/usr/bin/python3.12 -IS /home/a/.assent/bin/assent hook copilot --home /x"}, True),
        ({"command": HookEntry(("/opt/my tools/assent", "hook", "codex", "it's"), 1).guarded}, True),
        ({"command": HookEntry(("/opt/other", "hook", "codex"), 1).guarded}, False),
        ({"command": "/bin/sh -c 'assent hook'"}, False),
        ({"type": "http", "url": "http://127.0.0.1:9001/hook/claude"}, True),
        ({"type": "http", "url": "https://example.com/hook/claude"}, False),
        ({"type": "command", "command": "/usr/bin/assent check"}, False),
        ({"type": "command", "command": "echo assent hook"}, False),
        ({"type": "command", "command": "assent-notes hook"}, False),
        ({"type": "command", "command": "it's"}, False),
        ("assent hook claude", False),
    ],
)
def test_ours_are_known_by_what_they_call(hook: object, ours: bool) -> None:
    assert is_ours(hook) is ours


@pytest.mark.parametrize(
    ("text", "claude", "gemini"),
    [
        ("", "", ""),
        ('{"a": "// no comment", "b": [1, 2]}', "", ""),
        ('{\n  "a": 1 // x\n}', "line 2: comments", ""),
        ('{\n  "a": "\\"//", /* x */ "b": 1}', "line 2: comments", ""),
        ('{"a": [\n1,\n]}', "line 2: a comma before a closing bracket", "line 2: a comma before a closing bracket"),
    ],
)
def test_what_a_runtime_does_not_load_is_told_with_its_line(text: str, claude: str, gemini: str) -> None:
    for runtime, said in (("claude", claude), ("gemini", gemini)):
        found = settings.load(runtime).objection(text)
        line, _, what = said.partition(": ")
        wanted = f"{line}: the program does not load settings with {what}, nor any hook in them; remove it"
        assert found == (wanted if said else "")


@given(file=files())
def test_installing_makes_no_objection_that_was_not_there(file: tuple[str, dict[str, object]]) -> None:
    text, _ = file
    for runtime in JSON_RUNTIMES:
        mine = settings.load(runtime)
        assert (mine.objection(mine.install(text, ENTRY)) == "") == (mine.objection(text) == "")


# ---------------------------------------------------------------- what is there afterwards

BEFORE = """{
  // my own
  "model": "opus",
  "hooks": {
    "PreToolUse": [
      { "matcher": "Bash", "hooks": [{ "type": "command", "command": "check.sh" }] } // keep
    ]
  }
}
"""
AFTER = """{
  // my own
  "model": "opus",
  "hooks": {
    "PreToolUse": [
      { "matcher": "Bash", "hooks": [{ "type": "command", "command": "check.sh" }] }, // keep
      {
        "matcher": "*",
        "hooks": [
          {
            "type": "command",
            "command": "/usr/bin/assent",
            "args": [
              "hook",
              "claude"
            ],
            "timeout": 600,
            "onFailure": "block",
            "statusMessage": "Assent is checking"
          }
        ]
      }
    ]
  }
}
"""


def test_other_hooks_and_comments_stay() -> None:
    entry = HookEntry(("/usr/bin/assent", "hook", "claude"), 600, events=("PreToolUse",))
    assert settings.load("claude").install(BEFORE, entry) == AFTER
    assert settings.load("claude").uninstall(AFTER) == BEFORE


def entry_of(runtime: str, event: str, entry: HookEntry) -> object:
    made = jsonc.parse(settings.load(runtime).install("{}", entry)).value
    assert isinstance(made, dict)
    return made["hooks"][event]


def test_entries_are_in_each_runtime_s_own_words() -> None:
    entry = HookEntry(("/usr/bin/assent", "hook", "x", "a b"), 30)
    command = {"type": "command", "command": entry.guarded}
    assert entry_of("gemini", "BeforeTool", entry) == [
        {"matcher": "*", "hooks": [{"name": "assent", **command, "timeout": 30000}]}
    ]
    assert entry_of("qwen", "PermissionRequest", entry) == [
        {"matcher": "*", "hooks": [{"name": "assent", **command, "timeout": 30}]}
    ]
    assert entry_of("openharness", "pre_tool_use", entry) == [
        {
            "type": "command",
            "command": "/usr/bin/assent hook x 'a b'",
            "timeout_seconds": 30,
            "block_on_failure": True,
        }
    ]
    assert entry_of("cursor", "preToolUse", entry) == [{"command": entry.guarded, "timeout": 30, "failClosed": True}]
    assert entry_of("claude", "Stop", entry) == [
        {"hooks": [{"type": "command", "command": "/usr/bin/assent", "args": ["hook", "x", "a b"], "timeout": 30}]}
    ]


def test_over_http_the_deciding_events_go_to_the_server_and_the_others_to_the_command() -> None:
    entry = HookEntry(
        ("/usr/bin/assent", "hook", "claude"),
        600,
        url="http://127.0.0.1:9001/hook/claude",
        headers=(("Authorization", "Bearer $ASSENT_HOOK_TOKEN"),),
        variables=("ASSENT_HOOK_TOKEN",),
    )
    http = {
        "type": "http",
        "url": "http://127.0.0.1:9001/hook/claude",
        "timeout": 600,
        "headers": {"Authorization": "Bearer $ASSENT_HOOK_TOKEN"},
        "allowedEnvVars": ["ASSENT_HOOK_TOKEN"],
    }
    assert entry_of("claude", "PreToolUse", entry) == [
        {"matcher": "*", "hooks": [{**http, "onFailure": "block", "statusMessage": "Assent is checking"}]}
    ]
    assert entry_of("claude", "PermissionRequest", entry) == [{"matcher": "*", "hooks": [http]}]
    command = {"type": "command", "command": "/usr/bin/assent", "args": ["hook", "claude"], "timeout": 600}
    assert entry_of("claude", "Stop", entry) == [{"hooks": [command]}]
    assert entry_of("claude", "SessionStart", entry) == [{"hooks": [command]}]
