"""Cases are read as they are written, and every mistake in them is named with its line."""

from __future__ import annotations

import pytest

from assent.cli.policy_cases import CASE_KEYS, PolicyCase, read_call, read_cases
from assent.contract import PayloadError, PolicyError
from assent.policy.document import read_document
from assent.policy.rules import Origin


def cases(text: str, file: str = "x.assent-test.toml") -> tuple[PolicyCase, ...]:
    return read_cases(text, file).cases


def test_a_case_has_the_call_the_expectation_and_its_line() -> None:
    (found,) = cases('\n[[test]]\ncall = "bash git push"\nexpect = "ask"\nmode = "auto"\n')
    assert found == PolicyCase(
        "bash git push",
        "bash git push",
        {
            "tool": "bash",
            "input": {"command": "git push"},
            "cwd": "/workspace",
            "home": "/home/user",
            "mode": "auto",
            "facts": {"symlinks": {}, "files": {}, "untouched": []},
            "env": {},
            "headless": False,
        },
        expect=("ask",),
        file="x.assent-test.toml",
        line=2,
    )


def test_several_calls_are_several_cases_of_one_line() -> None:
    found = cases('[[test]]\nname = "reads"\ncalls = ["bash ls", "read a.py"]\nexpect = ["allow", "ask"]\n')
    assert [(each.name, each.line, each.expect) for each in found] == [
        ("reads: bash ls", 1, ("allow", "ask")),
        ("reads: read a.py", 1, ("allow", "ask")),
    ]


def test_relative_facts_are_in_the_folder_of_the_call() -> None:
    (found,) = cases(
        '[[test]]\ncall = "bash ./a.sh"\nexpect = "ask"\ncwd = "/code"\n[test.facts]\nfiles = { "a.sh" = "ls" }\n'
        'symlinks = { "out" = "/etc" }\nuntouched = ["a.sh"]\n'
    )
    assert found.row["facts"] == {
        "symlinks": {"/code/out": "/etc"},
        "files": {"/code/a.sh": "ls"},
        "untouched": ["/code/a.sh"],
    }


@pytest.mark.parametrize(
    ("given", "tool", "read", "shown"),
    [
        ("bash git push", "bash", {"command": "git push"}, "bash git push"),
        ("fetch https://a.example", "fetch", {"url": "https://a.example"}, "fetch https://a.example"),
        ('refund {"amount": 5}', "refund", {"amount": 5}, 'refund {"amount": 5}'),
        ({"tool": "refund", "input": {"amount": 5}}, "refund", {"amount": 5}, 'refund {"amount": 5}'),
        ({"tool": "bash", "input": {"command": "ls"}}, "bash", {"command": "ls"}, "bash ls"),
        ({"tool": "clock"}, "clock", {}, "clock {}"),
    ],
)
def test_a_call_is_text_or_a_table(given: object, tool: str, read: dict[str, object], shown: str) -> None:
    assert read_call(given) == (tool, read, shown)


@pytest.mark.parametrize("given", ["", " ", 5, [], {"tool": ""}, {"tool": "bash", "input": "ls"}, {"tol": "bash"}])
def test_what_is_no_call_is_refused(given: object) -> None:
    with pytest.raises(PayloadError):
        read_call(given)


BEGIN = '[[test]]\ncall = "bash ls"\nexpect = "allow"\n'


@pytest.mark.parametrize(
    ("text", "line", "says", "suggests"),
    [
        ("[[test]]\ncall = 'bash ls'\nexpect = 'alow'\n", 3, "`alow` is no outcome", "did you mean `allow`?"),
        ("[[test]]\ncall = 'bash ls'\n", 1, "expects nothing", "expect"),
        ("[[test]]\nexpect = 'ask'\n", 1, "either `call` or `calls`", "bash git push"),
        ("[[test]]\ncall = 'bash ls'\ncalls = ['bash ls']\nexpect = 'ask'\n", 3, "either", "call"),
        ("[[test]]\ncalls = []\nexpect = 'ask'\n", 2, "list of calls", "calls ="),
        ("[[test]]\nexpect = 'ask'\ncall = 'refund 5'\n", 3, "JSON object", "call ="),
        (f"{BEGIN}reson = 'floor'\n", 4, "unknown key `reson`", "did you mean `reason`?"),
        (f"{BEGIN}reason = 'flor'\n", 4, "`flor` is no reason code", "assent check"),
        (f"{BEGIN}reason = 'ask.rul'\n", 4, "`ask.rul` is no reason code", "did you mean `ask.rule`?"),
        (f"{BEGIN}mode = 'automatic'\n", 4, "automatic", "auto"),
        (f"{BEGIN}facts = {{ links = {{}} }}\n", 4, "unknown fact `links`", "symlinks"),
        (f"{BEGIN}facts = {{ files = ['a'] }}\n", 4, "`facts.files` must be a table", "write"),
        (f"{BEGIN}facts = {{ untouched = 'a' }}\n", 4, "`facts.untouched` must be a list", "write"),
        (f"{BEGIN}facts = 5\n", 4, "`facts` must be a table", "write"),
        (f"{BEGIN}cwd = 'src'\n", 4, "absolute", "write"),
        (f"{BEGIN}headless = 'yes'\n", 4, "true or false", "write"),
        (f"{BEGIN}env = {{ PATH = 5 }}\n", 4, "`env` must be a table", "write"),
        (f"{BEGIN}grants = ['bash(ls)']\n", 4, "`grants` must be a list", "write"),
        (f"{BEGIN}name = ''\n", 4, "`name` must be text", "write"),
        (f"{BEGIN}\n[[test]]\ncall = 'bash ls'\nexpect = 'never'\n", 7, "`never`", "use one of"),
        ("policy = 5\n", 1, "`policy` must be a path", "write"),
        ("test = 5\n", 1, "list of tables", "[[test]]"),
        ("\nmode = 'auto'\n", 2, "unknown key `mode` in a test file", "use one of"),
        ("[[test]\n", 1, "not valid TOML", "quotes"),
    ],
)
def test_a_mistake_is_named_with_its_line_and_the_next_step(text: str, line: int, says: str, suggests: str) -> None:
    with pytest.raises(PolicyError) as raised:
        cases(text)
    assert (raised.value.file, raised.value.line) == ("x.assent-test.toml", line)
    assert says in raised.value.message
    assert suggests in raised.value.suggestion


def test_tables_in_a_list_have_the_line_of_the_list() -> None:
    (found,) = cases('\n\ntest = [{ call = "bash ls", expect = "allow" }]\n')
    assert found.line == 3


def test_a_wrong_case_stops_no_call() -> None:
    """The policy loads; `assent test` reports the mistake."""
    text = 'deny = ["bash(rm:*)"]\n[[test]]\nexpect = "nonsense"\n'
    for origin in Origin.MANAGED, Origin.USER, Origin.PROJECT:
        assert [rule.text for rule in read_document(text, "f", origin).deny] == ["bash(rm:*)"]
    with pytest.raises(PolicyError):
        cases(text, "f")


def test_tests_that_are_no_tables_do_not_load() -> None:
    with pytest.raises(PolicyError, match=r"f:1: `test` must be a list of tables"):
        read_document('test = "bash ls"\n', "f", Origin.PROJECT)


def test_every_key_has_its_meaning() -> None:
    assert all(CASE_KEYS.values())
