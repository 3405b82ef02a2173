"""Rule text becomes the rule that it says, or an error that says what to do."""

from __future__ import annotations

import re

import pytest

from assent.contract import PolicyError
from assent.policy.parse import parse_rule
from assent.policy.rules import RuleKind, RuleShape


@pytest.mark.parametrize(
    ("text", "about", "tool", "spec", "shape"),
    [
        ("bash", RuleKind.COMMAND, "bash", "", RuleShape.WHOLE),
        ("Bash()", RuleKind.COMMAND, "bash", "", RuleShape.WHOLE),
        ("shell(*)", RuleKind.COMMAND, "bash", "", RuleShape.WHOLE),
        ("bash(:*)", RuleKind.COMMAND, "bash", "", RuleShape.WHOLE),
        ("bash(npm test)", RuleKind.COMMAND, "bash", "npm test", RuleShape.EXACT),
        ("bash(npm run:*)", RuleKind.COMMAND, "bash", "npm run", RuleShape.PREFIX),
        ("run_shell_command(git * --force)", RuleKind.COMMAND, "bash", "git * --force", RuleShape.WILD),
        ("bash(:(){ :|:& };:)", RuleKind.COMMAND, "bash", ":(){ :|:& };:", RuleShape.EXACT),
        ("Read( /etc/* )", RuleKind.PATH, "read", "/etc/*", RuleShape.EXACT),
        ("MultiEdit(src/**)", RuleKind.PATH, "write", "src/**", RuleShape.EXACT),
        ("fetch(domain:Example.COM)", RuleKind.HOST, "fetch", "example.com", RuleShape.EXACT),
        ("mcp__Git__get_*", RuleKind.TOOL, "mcp__Git__get_*", "", RuleShape.WHOLE),
        ("Task(explore)", RuleKind.AGENT, "agent", "explore", RuleShape.EXACT),
        ("danger(force-push)", RuleKind.DANGER, "danger", "force-push", RuleShape.EXACT),
    ],
)
def test_a_rule_reads_as_written(text: str, about: RuleKind, tool: str, spec: str, shape: RuleShape) -> None:
    rule = parse_rule(text)
    assert (rule.about, rule.tool, rule.spec, rule.shape, rule.text) == (about, tool, spec, shape, text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("bash(rm -rf:*", "did you mean `bash(rm -rf:*)`?"),
        ("bash rm -rf:*)", "unbalanced parenthesis"),
        ("(ls)", "empty tool name"),
        ("", "empty tool name"),
        ("ba sh(ls)", "is not a tool name"),
        ("write(src/[)", "never closed"),
        ("todo(x)", "`todo` takes conditions on its arguments"),
        ("fetch(domain:not a host)", "is not a host"),
        ("danger()", "names no danger"),
    ],
)
def test_a_malformed_rule_is_an_error_that_says_what_to_do(text: str, says: str) -> None:
    with pytest.raises(PolicyError, match=re.escape(says)):
        parse_rule(text)
