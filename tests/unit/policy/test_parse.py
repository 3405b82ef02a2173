"""Rule text becomes the rule that it says, or an error that says what to do."""

from __future__ import annotations

import re

import pytest

from assent.contract import PolicyError
from assent.policy.parse import parse_rule
from assent.policy.rules import About, Shape


@pytest.mark.parametrize(
    ("text", "about", "tool", "spec", "shape"),
    [
        ("bash", About.COMMAND, "bash", "", Shape.WHOLE),
        ("Bash()", About.COMMAND, "bash", "", Shape.WHOLE),
        ("shell(*)", About.COMMAND, "bash", "", Shape.WHOLE),
        ("bash(:*)", About.COMMAND, "bash", "", Shape.WHOLE),
        ("bash(npm test)", About.COMMAND, "bash", "npm test", Shape.EXACT),
        ("bash(npm run:*)", About.COMMAND, "bash", "npm run", Shape.PREFIX),
        ("run_shell_command(git * --force)", About.COMMAND, "bash", "git * --force", Shape.WILD),
        ("bash(:(){ :|:& };:)", About.COMMAND, "bash", ":(){ :|:& };:", Shape.EXACT),
        ("Read( /etc/* )", About.PATH, "read", "/etc/*", Shape.EXACT),
        ("MultiEdit(src/**)", About.PATH, "write", "src/**", Shape.EXACT),
        ("fetch(domain:Example.COM)", About.HOST, "fetch", "example.com", Shape.EXACT),
        ("mcp__Git__get_*", About.TOOL, "mcp__Git__get_*", "", Shape.WHOLE),
        ("Task(explore)", About.AGENT, "agent", "explore", Shape.EXACT),
        ("danger(force-push)", About.DANGER, "danger", "force-push", Shape.EXACT),
    ],
)
def test_a_rule_reads_as_written(text: str, about: About, tool: str, spec: str, shape: Shape) -> None:
    rule = parse_rule(text)
    assert (rule.about, rule.tool, rule.spec, rule.shape, rule.text) == (about, tool, spec, shape, text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("bash(rm -rf:*", "did you mean `bash(rm -rf:*)`?"),
        ("bash rm -rf:*)", "unbalanced parenthesis"),
        ("(ls)", "empty tool name"),
        ("", "empty tool name"),
        ("ba sh(ls)", "is no tool name"),
        ("write(src/[)", "never closed"),
        ("todo(x)", "takes no specifier"),
        ("fetch(domain:not a host)", "is no host"),
        ("danger()", "names no danger"),
    ],
)
def test_a_malformed_rule_is_an_error_that_says_what_to_do(text: str, says: str) -> None:
    with pytest.raises(PolicyError, match=re.escape(says)):
        parse_rule(text)
