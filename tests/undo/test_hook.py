"""A hook copies what a call destroys, and lets a complete copy answer the question about it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from assent.undo.restore import put_back
from assent.undo.store import CopyStore, Limits
from tests.undo.trees import Look, look
from tests.unit.hook.test_hook import Session

AUTO, FULL = 'mode = "auto"\n', 'mode = "full_auto"\n'


def session_in(folder: Path, config: str = AUTO, **more: str) -> Session:
    session = Session(Path(os.path.realpath(folder)), config=config, **more)
    (session.project / "src").mkdir()
    (session.project / "src/a.txt").write_text("one\n")
    (session.project / "b.txt").write_text("two\n")
    return session


def last_record(session: Session) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((session.state / "audit/permissions.jsonl").read_text().splitlines()[-1])
    return found


def store(session: Session) -> CopyStore:
    return CopyStore(str(session.state))


def undo(session: Session) -> None:
    copies = store(session)
    put_back(copies, copies.copies()[0], id="back", now=time.time() + 1, limits=Limits())


@pytest.mark.parametrize("command", ["rm b.txt", "rm -rf src", "rm -r src b.txt", "unlink b.txt", "rm -f b.txt none"])
def test_a_copied_deletion_runs_in_auto_and_is_put_back(tmp_path: Path, command: str) -> None:
    session = session_in(tmp_path)
    assert session.decides(command) == "allow"
    record = last_record(session)
    assert (record["code"], record["copy"]) == ("undo.copied", "kept")
    subprocess.run(command, shell=True, cwd=session.project, check=True)
    undo(session)
    assert (session.project / "src/a.txt").read_text() == "one\n"
    assert (session.project / "b.txt").read_text() == "two\n"


@pytest.mark.parametrize(
    "command",
    [
        "find src -name '*.txt' -delete",
        "find . -iname '*.TXT' -delete",
        "find src -type f -exec rm {} +",
        "find src -name deep -exec rm -rf {} +",
        "find src \\( -name '*.txt' -o -name '*.md' \\) -delete",
        "find . -name '*.txt' -exec rm {} \\;",
        "find src -empty -delete",
        "find src/deep -name 'deep' -exec rm -rf {} +",
        "find src -name empty -exec rm {} +",  # which is a file, or a folder that has it
        "find src -name '*.zzz' -o -delete",
        "LC_ALL=C find src -name 'a??b' -delete",  # bytes
    ],
)
def test_what_find_deletes_is_looked_for_and_put_back(tmp_path: Path, command: str) -> None:
    session = session_in(tmp_path)
    (session.project / "src/deep/er").mkdir(parents=True)
    for name in ("src/deep/x.txt", "src/deep/er/y.md", "src/deep/er/Z.TXT", "src/empty", "src/aüb"):
        (session.project / name).write_text("" if name == "src/empty" else name)
    before = look(session.project)
    assert session.decides(command) == "allow"
    subprocess.run(command, shell=True, cwd=session.project, check=True, capture_output=True)
    assert look(session.project) != before
    undo(session)
    assert _untimed(look(session.project)) == _untimed(before)


def _untimed(found: Look) -> Look:
    """Without the times of folders, which change with what they hold, and those at which files were read."""
    return {
        name: each[:2] if each[0] == "folder" else (*each[:3], *each[4:]) if each[0] == "file" else each
        for name, each in found.items()
    }


def test_a_link_to_a_folder_below_makes_what_find_deletes_unknown(tmp_path: Path) -> None:
    session = session_in(tmp_path)
    (session.project / "away").mkdir()
    (session.project / "src/link").symlink_to("../away")
    assert session.decides("find src -type f -exec rm {} +") == "ask"


def test_the_same_deletion_asks_in_default_and_is_denied_in_plan(tmp_path: Path) -> None:
    session = session_in(tmp_path, "")
    assert session.decides("rm b.txt") == "ask"
    assert session.decides("rm b.txt", permission_mode="plan") == "deny"


def test_nobody_is_needed_for_a_deletion_that_is_copied(tmp_path: Path) -> None:
    session = session_in(tmp_path, attended="0")
    assert session.decides("rm b.txt") == "allow"
    assert session.decides("rm $X") == "deny"


@pytest.mark.parametrize(
    ("config", "command"),
    [
        ('mode = "auto"\nask = ["bash(rm:*)"]\n', "rm b.txt"),  # a rule of the user
        ('mode = "auto"\nask = ["write(src/**)"]\n', "rm -rf src"),
        (AUTO, "rm b.txt; curl -s https://example.com"),  # another question
        (AUTO, "rm b.txt; npm install x"),
        (AUTO, "rm -rf $X"),
        (AUTO, "rm ../outside.txt"),
        (AUTO, "find -L src -name '*.txt' -delete"),
        (AUTO, "find src -name '[a-z].txt' -delete"),
        (AUTO, "find src -type f | xargs rm"),
        (AUTO, "rsync -aK --delete docs/ src/"),  # through links to folders
        (AUTO, "rsync -a --keep-dirlinks --delete docs/ src/"),
        ('mode = "auto"\nask = ["danger(recursive-delete)"]\n', "rm -rf src"),  # the same danger as a shipped rule
        (AUTO, "sudo rm b.txt"),
        (AUTO, "rm .env"),
        ('mode = "auto"\n[undo]\non = false\n', "rm b.txt"),
        ('mode = "auto"\n[undo]\nmax_files = 1\n', "rm -rf src"),
    ],
)
def test_what_a_copy_does_not_answer_asks(tmp_path: Path, config: str, command: str) -> None:
    session = session_in(tmp_path, config)
    (session.project / ".env").write_text("TOKEN=x\n")
    (session.project.parent / "outside.txt").write_text("x")
    assert session.decides(command) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "mkdir t; tar -cf t/x.tar --remove-files src; rm -rf t",
        "mkdir t; find src -type f -exec mv {} t/ \\; ; rm -rf t",
        "python3 x.py; rm -rf src",
        "mv b.txt src/b.txt; rm -rf src",
        "cd src && mv ../src ../../s2 && rm -f ../b.txt",
        "ln -s src q; rm -rf q/../b.txt",
        "cp -P l m; rm m/x b.txt",
        "mkdir t; git mv b.txt t/; rm -rf t b.txt",
    ],
)
def test_what_may_be_moved_to_where_it_is_deleted_asks(tmp_path: Path, command: str) -> None:
    session = session_in(tmp_path)
    (session.project / "x.py").write_text("import os\nos.rename('b.txt', 'src/b.txt')\n")
    assert session.decides(command) != "allow"


def test_a_file_where_a_folder_would_be_is_in_nobodys_way(tmp_path: Path) -> None:
    """`cp X new` may write `new` or `new/X`: both are noted as absent."""
    session = session_in(tmp_path, FULL)
    command = "cp b.txt b.bak; rm b.txt"
    assert session.decides(command) == "allow"
    subprocess.run(command, shell=True, cwd=session.project, check=True)
    undo(session)
    assert (session.project / "b.txt").read_text() == "two\n"
    assert not (session.project / "b.bak").exists()


def test_while_a_process_of_the_session_lives_a_deletion_asks(tmp_path: Path) -> None:
    session = session_in(tmp_path)
    session.decides("(sleep 9; mv b.txt src/) &")
    assert session.decides("rm -rf src") == "ask"


def test_a_file_with_another_name_is_not_copied(tmp_path: Path) -> None:
    session = session_in(tmp_path)
    key = session.project.parent / ".ssh/id_rsa"
    key.parent.mkdir()
    key.write_text("key")
    os.link(key, session.project / "src/plain.txt")
    assert session.decides("rm -rf src") == "ask"
    assert store(session).copies() == []


def test_a_question_says_that_it_cannot_be_undone(tmp_path: Path) -> None:
    session = session_in(tmp_path)
    (session.project / "src/.env").write_text("TOKEN=x\n")
    answer = json.loads(session.send("PreToolUse", "rm -rf src").stdout)["hookSpecificOutput"]
    assert answer["permissionDecision"] == "ask"
    assert "it cannot be undone: `" in answer["permissionDecisionReason"]
    assert store(session).copies() == []


def test_a_file_that_is_written_over_is_copied(tmp_path: Path) -> None:
    session = session_in(tmp_path)
    assert session.decides("echo new > b.txt") == "allow"
    assert last_record(session)["copy"] == "kept"
    (session.project / "b.txt").write_text("new\n")
    undo(session)
    assert (session.project / "b.txt").read_text() == "two\n"


@pytest.mark.parametrize(
    "command",
    [
        "mv b.txt src/a.txt",
        "mv -f src/a.txt b.txt",
        "mv src/a.txt b.txt && mv c.txt src/a.txt",
        "mv dir/in.txt b.txt",
        "mv link b.txt",
        "ln -sf src/a.txt b.txt",
        "cp src/a.txt b.txt",
        "cp b.txt link",
        "sed -i s/two/2/ b.txt",
        "truncate -s 0 b.txt",
        "echo x >> b.txt",
        "echo x | tee b.txt src/a.txt",
        "dd if=b.txt of=src/a.txt",
    ],
)
def test_what_is_written_over_or_moved_there_is_put_back(tmp_path: Path, command: str) -> None:
    session = session_in(tmp_path)
    (session.project / "c.txt").write_text("three\n")
    (session.project / "dir").mkdir()
    (session.project / "dir/in.txt").write_text("four\n")
    (session.project / "link").symlink_to("c.txt")
    before = look(session.project)
    assert session.decides(command) == "allow"
    assert last_record(session)["copy"] == "kept"
    subprocess.run(command, shell=True, cwd=session.project, check=True, capture_output=True)
    assert _untimed(look(session.project)) != _untimed(before)
    undo(session)
    assert _untimed(look(session.project)) == _untimed(before)


@pytest.mark.parametrize("command", ["mv b.txt src/", "mv src new", "mv b.txt c.txt"])
def test_what_is_moved_and_replaces_nothing_needs_no_copy(tmp_path: Path, command: str) -> None:
    session = session_in(tmp_path)
    assert session.decides(command) == "allow"
    assert store(session).copies() == []


def test_a_tool_that_edits_is_copied(tmp_path: Path) -> None:
    session = session_in(tmp_path)
    given = {"file_path": str(session.project / "b.txt"), "content": "new"}
    session.send("PreToolUse", tool_name="Write", tool_input=given)
    (copy,) = store(session).copies()
    assert copy.about.call == f"Write {session.project}/b.txt"
    assert copy.about.session == "s1"


def test_a_name_that_no_file_can_have_is_no_error(tmp_path: Path) -> None:
    session = session_in(tmp_path)
    given = {"file_path": f"{session.project}/b\0.txt", "content": "new"}
    assert session.send("PreToolUse", tool_name="Write", tool_input=given).stdout
    assert last_record(session)["outcome"] == "ask"


def test_what_the_pack_rebuild_names_needs_no_copy(tmp_path: Path) -> None:
    session = session_in(tmp_path, AUTO + '[packs]\non = ["rebuild"]\n')
    (session.project / ".gitignore").write_text("node_modules/\n")
    for words in ("init -q", "add .", "-c user.name=a -c user.email=a@example.com commit -qm one"):
        subprocess.run(["git", *words.split()], cwd=session.project, check=True)
    (session.project / "node_modules").mkdir()
    (session.project / "node_modules/x.js").write_text("made again")
    session.send("SessionStart")
    assert session.decides("rm -rf node_modules") == "allow"
    assert last_record(session)["code"] == "allow.pack"
    assert store(session).copies() == []
    assert session.decides("rm -rf node_modules b.txt") == "allow"
    assert [entry.path for entry in store(session).entries(store(session).copies()[0])] == [
        str(session.project / "b.txt")
    ]


def test_a_new_file_needs_no_copy(tmp_path: Path) -> None:
    session = session_in(tmp_path)
    assert session.decides("echo new > new.txt; mkdir -p x/y") == "allow"
    assert "copy" not in last_record(session)
    assert store(session).copies() == []


def test_without_a_copy_full_auto_runs_and_says_so(tmp_path: Path) -> None:
    session = session_in(tmp_path, FULL + "[undo]\nmax_files = 1\n")
    assert session.decides("rm b.txt src/a.txt") == "allow"
    assert last_record(session)["copy"] == "no-copy"
    assert "more than 1 files" in last_record(session)["no_copy"]


def test_where_copies_are_required_full_auto_asks(tmp_path: Path) -> None:
    session = session_in(tmp_path, FULL + "[undo]\nmax_files = 1\nrequired = true\n")
    assert session.decides("rm b.txt src/a.txt") == "ask"
    assert last_record(session)["code"] == "undo.required"


def test_a_project_cannot_switch_copies_off(tmp_path: Path) -> None:
    session = session_in(tmp_path)
    (session.project / ".assent.toml").write_text("[undo]\non = false\n")
    assert session.decides("rm b.txt") == "deny"  # the file does not load: it can only tighten


def test_a_full_disk_asks(tmp_path: Path) -> None:
    """The folder of copies on a file system of 64 kB."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("mounting a small file system needs root")
    session = session_in(tmp_path)
    (session.project / "src/big").write_bytes(os.urandom(300_000))
    folder = session.state / "undo"
    folder.mkdir(mode=0o700)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(folder)], check=False)
    if mounted.returncode:
        pytest.skip("this machine lets no test mount a file system")
    try:
        assert session.decides("rm -rf src") == "ask"
        assert store(session).copies() == []
    finally:
        subprocess.run(["umount", str(folder)], check=True)
