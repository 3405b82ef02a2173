"""A person sees the command, the change against the current file, or every argument."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from assent.approval.preview import LONGEST, preview
from assent.contract import Call
from assent.contract.approval import Preview


def shown(folder: Path, tool: str, **given: object) -> Preview:
    return preview(Call(tool, given, cwd=str(folder), home="/home/user"))


def test_a_command_is_shown_as_it_is(tmp_path: Path) -> None:
    assert shown(tmp_path, "Bash", command="ls\n-la", description="x", timeout=5) == Preview("command", "ls\n-la")
    assert shown(tmp_path, "shell", command=["bash", "-c", "echo a b"]) == Preview("command", "bash -c 'echo a b'")


def test_a_tool_that_is_declared_to_be_a_shell_is_shown_as_one(tmp_path: Path) -> None:
    call = Call("launch", {"command": "make it"}, cwd=str(tmp_path), runtime="langchain")
    assert preview(call, "bash") == Preview("command", "make it")
    assert preview(call).kind == "input"


def test_what_a_command_runs_with_is_shown_behind_it(tmp_path: Path) -> None:
    assert shown(tmp_path, "shell", command="make", workdir="/srv").text == 'make\n\n# with\n{\n "workdir": "/srv"\n}'


def test_two_commands_in_one_call_are_shown_as_arguments(tmp_path: Path) -> None:
    assert shown(tmp_path, "bash", command="ls", script="rm x").kind == "input"


def test_a_new_file_is_all_added(tmp_path: Path) -> None:
    assert shown(tmp_path, "Write", file_path="a.py", content="one\ntwo") == Preview(
        "diff", "# a new file\n@@ -0,0 +1,2 @@\n+one\n+two", path="a.py"
    )


def test_a_write_is_shown_against_the_file_of_now(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("\n".join(map(str, range(1, 101))))
    new = "\n".join(map(str, [*range(1, 50), "new", *range(51, 101)]))
    assert shown(tmp_path, "Write", file_path=str(tmp_path / "a.py"), content=new).text == (
        "@@ -47,7 +47,7 @@\n 47\n 48\n 49\n-50\n+new\n 51\n 52\n 53"
    )


def test_an_edit_is_shown_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("a\nb\nc\n")
    edit = {"file_path": "a.py", "old_string": "b", "new_string": "B"}
    assert shown(tmp_path, "Edit", **edit).text == "@@ -1,4 +1,4 @@\n a\n-b\n+B\n c\n "
    assert shown(tmp_path, "replace", **edit) == shown(tmp_path, "Edit", **edit)


def test_several_edits_are_applied_one_after_the_other(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a\nb")
    edits = [{"old_string": "a", "new_string": "x"}, {"old_string": "x\nb", "new_string": "y"}]
    assert shown(tmp_path, "MultiEdit", file_path="a", edits=edits).text == "@@ -1,2 +1 @@\n-a\n-b\n+y"


def test_old_text_that_is_not_there_or_too_often_is_said(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x x")
    assert shown(tmp_path, "Edit", file_path="a", old_string="x", new_string="y").text.startswith(
        "# the old text is there 2 times\n"
    )
    assert shown(tmp_path, "Edit", file_path="a", old_string="x", new_string="y", replace_all=True).text == (
        "# in 2 places\n@@ -1 +1 @@\n-x x\n+y y"
    )
    assert shown(tmp_path, "Edit", file_path="a", old_string="q", new_string="y").text.startswith(
        "# the old text is not in the current file; it is:\n#   q\n"
    )


def test_inserted_lines_are_shown_where_they_go(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1\n2\n3")
    found = shown(tmp_path, "str_replace_editor", command="insert", path="a", insert_line=1, new_str="x\n")
    assert found.text == "@@ -1,3 +1,4 @@\n 1\n+x\n 2\n 3"


def test_a_cell_of_a_notebook_is_shown_as_its_source(tmp_path: Path) -> None:
    cells = [{"id": "c1", "source": ["a\n", "b"]}, {"id": "c2", "source": "z"}]
    (tmp_path / "n.ipynb").write_text(json.dumps({"cells": cells}))
    found = shown(tmp_path, "NotebookEdit", notebook_path="n.ipynb", cell_id="c1", new_source="a\nc")
    assert found.text == "@@ -1,5 +1,5 @@\n # cell c1\n a\n-b\n+c\n # cell c2\n z"


def test_a_patch_is_shown_as_it_is(tmp_path: Path) -> None:
    patch = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"
    assert shown(tmp_path, "apply_patch", input=patch) == Preview("diff", patch)


def test_a_link_is_said_to_lead_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("a")
    (tmp_path / "link").symlink_to("real")
    assert shown(tmp_path, "Write", file_path="link", content="b").text == (
        f"# leads to {tmp_path}/real\n@@ -1 +1 @@\n-a\n+b"
    )


def test_what_is_no_text_or_too_long_or_no_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\0x")
    (tmp_path / "huge").write_bytes(b"x" * (1024 * 1024 + 1))
    os.mkfifo(tmp_path / "pipe")
    lines = {
        name: shown(tmp_path, "Write", file_path=name, content="x").text.split("\n")[0]
        for name in ("binary", "huge", "pipe")
    }
    assert lines == {
        "binary": "# the current file is not text (3 bytes)",
        "huge": "# the current file is not shown: it is longer than 1048576 bytes",
        "pipe": "# the current file is not shown: it is not a regular file",
    }


def test_a_write_that_changes_nothing_says_so(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    assert shown(tmp_path, "Write", file_path="a", content="x").text == "# nothing changes"


def test_a_long_change_is_shown_whole_and_in_a_moment(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("\n".join(f"old {n}" for n in range(30_000)))
    found = shown(tmp_path, "Write", file_path="a", content="\n".join(f"new {n}" for n in range(30_000)))
    assert (found.length, found.whole) == (len(found.text), True)
    assert found.length > 500_000


@pytest.mark.parametrize("more", [1, 50, 1_000_000])
def test_what_is_too_long_to_be_shown_says_so(tmp_path: Path, more: int) -> None:
    found = shown(tmp_path, "Bash", command="x" * (LONGEST + more))
    assert (found.length, found.whole) == (LONGEST + more, False)
    assert f"of {found.length} characters not shown" in found.text
    assert shown(tmp_path, "Bash", command="x" * LONGEST).whole


@pytest.mark.parametrize(
    "given",
    [
        {"file_path": "a", "path": "b", "content": "x"},
        {"file_path": "a", "content": "x", "old_string": "y", "new_string": "z"},
        {"file_path": "a", "edits": [{"path": "b", "old_string": "y", "new_string": "z"}]},
        {"file_path": "a", "code_edit": "…"},
        {"file_path": ["a"], "content": "x"},
        {"file_path": "a\0b", "content": "x"},
        {"content": "x"},
        {},
    ],
)
def test_what_a_tool_could_read_in_another_way_is_shown_whole(tmp_path: Path, given: dict[str, object]) -> None:
    assert shown(tmp_path, "Write", **given) == Preview("input", json.dumps(given, indent=1, ensure_ascii=False))


def test_other_tools_show_their_arguments(tmp_path: Path) -> None:
    assert shown(tmp_path, "mcp__a__b", x=["é", 1]) == Preview("input", '{\n "x": [\n  "é",\n  1\n ]\n}')
    assert shown(tmp_path, "weird", x={1}).text == '{\n "x": "{1}"\n}'


def test_several_files_are_shown_one_after_the_other(tmp_path: Path) -> None:
    files = [{"path": "a", "content": "1"}, {"path": "b", "content": "2"}]
    assert shown(tmp_path, "edit_files", files=files).text == (
        "# a\n# a new file\n@@ -0,0 +1 @@\n+1\n# b\n# a new file\n@@ -0,0 +1 @@\n+2"
    )


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Write", {"file_path": "a", "FilePath": "/etc/x", "content": "x"}),
        ("Write", {"file_path": "a", "content": "x", "file_text": "y"}),
        ("Edit", {"file_path": "a", "old_string": "x", "new_string": "y", "new_str": "z"}),
        ("Edit", {"file_path": "a", "old_string": "x", "oldString": "q", "new_string": "y"}),
        ("MultiEdit", {"file_path": "a", "edits": [{"old_string": "x", "new_string": "y", "newString": "z"}]}),
    ],
)
def test_one_thing_under_two_names_is_shown_as_arguments(tmp_path: Path, tool: str, given: dict[str, object]) -> None:
    assert shown(tmp_path, tool, **given).kind == "input"


def test_an_argument_that_no_difference_shows_is_shown_before_it(tmp_path: Path) -> None:
    text = shown(tmp_path, "Write", file_path="a", content="x", mode="append\n-all").text
    assert text.split("\n")[:2] == ["# a new file", '# with {"mode": "append\\n-all"}']
