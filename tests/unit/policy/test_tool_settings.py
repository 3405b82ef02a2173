"""Tools that files declare: what is refused, and whose declaration holds."""

from __future__ import annotations

import pytest

from assent.contract import PolicyError
from assent.policy.document import Document, read_document
from assent.policy.rules import Origin
from assent.policy.settings import combine

READS = '[tools."mcp__Files__Read"]\nreads = ["path"]\n'
WRITES = '[tools.mcp__files__read]\nwrites = ["path", "to"]\nfetches = ["url"]\n'


def document(text: str, origin: Origin = Origin.USER) -> Document:
    return read_document(text, "config.toml", origin)


def test_a_tool_is_known_by_its_name_in_any_case() -> None:
    assert combine([document(READS)]).tools == (("mcp__files__read", (("read", ("path",)),), "config.toml:1"),)


def test_a_later_file_replaces_a_declaration_but_not_a_managed_one() -> None:
    managed = document(WRITES, Origin.MANAGED)
    wanted = (("mcp__files__read", (("fetch", ("url",)), ("write", ("path", "to"))), "config.toml:1"),)
    assert combine([managed, document(READS)]).tools == wanted
    assert combine([document(READS), document(WRITES)]).tools == wanted


@pytest.mark.parametrize(
    ("text", "says", "line"),
    [
        ('mode = "auto"\n[tools.a_tool]\nread = ["path"]', "did you mean `reads`?", 2),
        ('[tools.a_tool]\nreads = "path"', "is a list of its arguments", 1),
        ("[tools.a_tool]\nreads = []", "is a list of its arguments", 1),
        ("[tools.a_tool]", "says nothing of the tool", 1),
        ('[tools."a*"]\nreads = ["path"]', "is not the name of one tool", 1),
        ('[tools.run_shell_command]\nreads = ["command"]', "Assent knows as `bash`", 1),
        ("tools = 5", "`tools` must be a table", 1),
    ],
)
def test_a_mistake_is_an_error_with_its_line(text: str, says: str, line: int) -> None:
    with pytest.raises(PolicyError, match=says) as found:
        document(text)
    assert found.value.line == line


def test_a_project_declares_nothing() -> None:
    with pytest.raises(PolicyError, match="a project file may not set `tools`"):
        document(READS, Origin.PROJECT)
