"""The classifier's settings, off until a person's own file names a model, and which questions a model may judge."""

from __future__ import annotations

import pytest

from assent.contract import Outcome, PolicyError
from assent.contract.classifier import Backend
from assent.engine.engine import Judged
from assent.policy.classifier import in_scope, version
from assent.policy.document import document_of, read_document
from assent.policy.rules import Origin
from assent.policy.settings import combine
from tests.cases import call, gate

ON = '[classifier]\non = true\napi = "anthropic"\nmodel = "small-1"\n'


def backend(*texts: tuple[str, Origin]) -> Backend | None:
    return combine([read_document(text, f"/{origin.word}.toml", origin) for text, origin in texts]).classifier


def test_without_a_word_of_it_there_is_none() -> None:
    assert backend(("", Origin.USER)) is None


def test_a_model_needs_to_be_switched_on() -> None:
    assert backend((ON.replace("on = true\n", ""), Origin.USER)) is None


def test_what_is_not_said_is_the_providers_own() -> None:
    url, key = "https://api.anthropic.com", "env:ANTHROPIC_API_KEY"
    assert backend((ON, Origin.USER)) == Backend("anthropic", "small-1", url, key, source="/user.toml:2")


def test_everything_can_be_said() -> None:
    text = (
        '[classifier]\non = true\napi = "openai"\nmodel = "org/m:7b"\nurl = "http://127.0.0.1:11434/v1/"\n'
        'key = "keyring:assent/local"\ntimeout = 2.5\ninput_price = 0.1\noutput_price = 1\n'
    )
    assert backend((text, Origin.USER)) == Backend(
        "openai",
        "org/m:7b",
        "http://127.0.0.1:11434/v1",
        "keyring:assent/local",
        timeout=2.5,
        input_price=0.1,
        output_price=1.0,
        source="/user.toml:2",
    )


@pytest.mark.parametrize("line", ["on = true", "on = false", 'url = "https://x.example"', 'key = "env:A"'])
def test_a_project_has_no_say_in_it(line: str) -> None:
    with pytest.raises(PolicyError, match=r"a project file may not set `classifier\.\w+`"):
        read_document(f"[classifier]\n{line}\n", ".assent.toml", Origin.PROJECT)


@pytest.mark.parametrize(
    "line",
    [
        'on = "true"',
        'api = "gemini"',
        'model = ""',
        'model = "a b"',
        'model = "a\\nb"',
        'url = "http://models.example"',
        'url = "http://127.0.0.1.example"',
        'url = "http://localhost@evil.example"',
        'url = "https://user:secret@models.example"',
        'url = "https://models.example/?x=1"',
        'url = "https://models.example/#x"',
        'url = "https://"',
        'url = "ftp://models.example"',
        'url = "models.example"',
        'url = "https://a\\\\b"',
        'url = "https://models.example:99999"',
        'key = "sk-live-1234567890"',
        'key = "file:/home/me/key"',
        'key = "env:"',
        'key = "keyring:assent"',
        "timeout = 0",
        "timeout = 16",
        "timeout = true",
        "input_price = -1",
        'output_price = "1"',
        'colour = "blue"',
    ],
)
def test_a_mistake_is_an_error_with_a_line_and_advice(line: str) -> None:
    with pytest.raises(PolicyError) as raised:
        read_document(f"{ON.rsplit('on', 1)[0]}\n{line}\n", "/user.toml", Origin.USER)
    assert (raised.value.file, raised.value.line > 1, bool(raised.value.suggestion)) == ("/user.toml", True, True)


def test_a_key_in_the_file_is_not_repeated_in_the_error() -> None:
    with pytest.raises(PolicyError) as raised:
        read_document('[classifier]\nkey = "sk-live-1234567890"\n', "/user.toml", Origin.USER)
    assert "sk-live" not in str(raised.value)


@pytest.mark.parametrize("missing", ["api", "model"])
def test_a_model_that_is_on_is_named_whole(missing: str) -> None:
    text = "".join(line for line in ON.splitlines(keepends=True) if not line.startswith(missing))
    with pytest.raises(PolicyError, match=f"has no `{missing}`"):
        backend((text, Origin.USER))


def test_any_file_switches_it_off() -> None:
    off = "[classifier]\non = false\n"
    assert backend((off, Origin.MANAGED), (ON, Origin.USER)) is None
    assert backend((ON, Origin.MANAGED), (off, Origin.USER)) is None


def test_the_managed_section_holds_alone() -> None:
    users = ON.replace("small-1", "mine") + 'url = "https://elsewhere.example"\n'
    found = backend((ON, Origin.MANAGED), (users, Origin.USER))
    assert found is not None
    assert (found.model, found.url, found.source) == ("small-1", "https://api.anthropic.com", "/managed.toml:2")


def test_a_managed_section_that_does_not_switch_it_on_leaves_it_off() -> None:
    assert backend((ON.replace("on = true\n", ""), Origin.MANAGED), (ON, Origin.USER)) is None


def may(made: Judged) -> bool:
    assert made.lowering is not None
    assert made.facts is not None
    assert made.policy is not None
    return in_scope(made.lowering, made.facts, made.policy, made.decision)


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("bash", "npm test"),
        ("bash", "cd src && make -j4 | tee log.txt"),
        ("bash", "cp a /srv/b"),
        ("write", {"file_path": "src/a.py", "content": "x"}),
        ("write", {"file_path": "/srv/a.py", "content": "x"}),
        ("fetch", "https://example.com/docs"),
        ("agent", "reviewer"),
        ("mcp__tracker__create_issue", {"title": "x"}),
        ("frobnicate", {"a": 1}),
    ],
)
def test_what_the_mode_alone_asks_about_may_be_judged(tool: str, given: str | dict[str, object]) -> None:
    assert may(gate("default").judge(call(tool, given), links={}))


@pytest.mark.parametrize(
    "command",
    [
        *("ls", "true"),  # allowed
        *("rm -rf /", "cat ~/.ssh/id_rsa"),  # denied, on the floor
        *("git push --force", "tar cf x.tar ~"),  # a shipped ask rule, a folder that holds credentials
        *("$X", "eval $Y", "cat <(", "cat $X"),  # could not be read, or not be named
        *("rm notes.txt", "mv a b", "git reset --hard"),  # high risk
        *("PATH=/tmp:$PATH npm test", "LD_PRELOAD=./x.so make", "NODE_OPTIONS='-r ./x' npm test"),
        *("npm test && rm notes.txt", "npm test; $X", "npm test && git push --force", "npm test | sh"),
    ],
)
def test_whatever_else_stands_behind_a_question_keeps_the_model_out(command: str) -> None:
    assert not may(gate("default").judge(call("bash", command), links={}))


@pytest.mark.parametrize("mode", ["plan", "full_auto", "yolo"])
@pytest.mark.parametrize(("tool", "given"), [("fetch", "https://example.com"), ("agent", "x"), ("bash", "npm test")])
def test_in_plan_mode_and_where_the_mode_asks_nothing_no_model_is_asked(mode: str, tool: str, given: str) -> None:
    assert not may(gate(mode).judge(call(tool, given), links={}))


@pytest.mark.parametrize("rules", [{"ask": ["bash(npm:*)"]}, {"deny": ["bash(npm:*)"]}, {"ask": ["bash"]}])
def test_a_rule_of_anybody_keeps_the_model_out(rules: dict[str, list[str]]) -> None:
    assert not may(gate("default", **rules).judge(call("bash", "npm test"), links={}))  # type: ignore[arg-type]


@pytest.mark.parametrize("origin", [Origin.MANAGED, Origin.PROJECT])
def test_a_rule_of_the_machine_or_the_project_does_too(origin: Origin) -> None:
    more = [document_of({"ask": ["bash(npm:*)"]}, "theirs", origin)]
    assert not may(gate("default", more=more).judge(call("bash", "npm test"), links={}))


def test_a_danger_whose_rule_is_switched_off_stays_a_persons() -> None:
    off = [document_of({"defaults": {"off": ["git-discard"]}}, "mine", Origin.USER)]
    made = gate("default", more=off).judge(call("bash", "git checkout -- ."), links={})
    assert (made.decision.outcome, may(made)) == (Outcome.ASK, False)


def test_a_link_that_leads_to_what_a_rule_speaks_of_keeps_the_model_out() -> None:
    links = {"/workspace/repo/out": "/etc/passwd"}
    write = call("write", {"file_path": "out", "content": "x"})
    one = gate("default", ask=["write(/etc/*)"])
    assert [may(one.judge(write, links=each)) for each in ({}, links)] == [True, False]


def test_a_policys_version_changes_with_every_rule_and_mode() -> None:
    bound = [
        gate(mode, **rules).settings.bind(("/w",), "/h")  # type: ignore[arg-type]  # passed through
        for mode, rules in (
            ("default", {}),
            ("auto", {}),
            ("default", {"ask": ["bash(x)"]}),
            ("default", {"deny": ["bash(x)"]}),
            ("default", {"allow": ["bash(x)"]}),
        )
    ]
    assert len({version(each) for each in bound}) == len(bound)
    assert version(bound[0]) == version(gate("default").settings.bind(("/w",), "/h"))
