"""Rule text becomes the rule that it says, or an error that says what to do."""

from __future__ import annotations

import re

import pytest

from assent.contract import PolicyError
from assent.policy.parse import parse_rule
from assent.policy.rules import About, RuleShape


@pytest.mark.parametrize(
    ("text", "about", "tool", "spec", "shape"),
    [
        ("bash", About.COMMAND, "bash", "", RuleShape.WHOLE),
        ("Bash()", About.COMMAND, "bash", "", RuleShape.WHOLE),
        ("shell(*)", About.COMMAND, "bash", "", RuleShape.WHOLE),
        ("bash(:*)", About.COMMAND, "bash", "", RuleShape.WHOLE),
        ("bash(npm test)", About.COMMAND, "bash", "npm test", RuleShape.EXACT),
        ("bash(npm run:*)", About.COMMAND, "bash", "npm run", RuleShape.PREFIX),
        ("run_shell_command(git * --force)", About.COMMAND, "bash", "git * --force", RuleShape.WILD),
        ("bash(:(){ :|:& };:)", About.COMMAND, "bash", ":(){ :|:& };:", RuleShape.EXACT),
        ("Read( /etc/* )", About.PATH, "read", "/etc/*", RuleShape.EXACT),
        ("MultiEdit(src/**)", About.PATH, "write", "src/**", RuleShape.EXACT),
        ("fetch(domain:Example.COM)", About.HOST, "fetch", "example.com", RuleShape.EXACT),
        ("mcp__Git__get_*", About.TOOL, "mcp__Git__get_*", "", RuleShape.WHOLE),
        ("Task(explore)", About.AGENT, "agent", "explore", RuleShape.EXACT),
        ("danger(force-push)", About.DANGER, "danger", "force-push", RuleShape.EXACT),
    ],
)
def test_a_rule_reads_as_written(text: str, about: About, tool: str, spec: str, shape: RuleShape) -> None:
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
        ("todo(x)", "takes no specifier"),
        ("fetch(domain:not a host)", "is not a host"),
        ("danger()", "names no danger"),
    ],
)
def test_a_malformed_rule_is_an_error_that_says_what_to_do(text: str, says: str) -> None:
    with pytest.raises(PolicyError, match=re.escape(says)):
        parse_rule(text)
