"""Read, write and edit: the approved file and no other, the version that was read and no other."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from assent.tools import opening
from assent.tools.tool import Problem
from tests.tools.world import World


def test_lines_come_with_their_numbers(world: World) -> None:
    world.file("a.txt", "one\ntwo\n\nfour\n")
    assert world.told("read", file_path="a.txt") == ("     1\tone\n     2\ttwo\n     3\t\n     4\tfour", False)
    assert world.told("read", file_path="a.txt", offset=2, limit=1) == (
        "     2\ttwo\n[lines 2 to 2 of 4; go on with `offset` 3]",
        False,
    )
    assert world.told("read", file_path="a.txt", offset=9) == ("the file has 4 lines; `offset` is beyond them", True)


def test_long_files_and_lines_are_cut_with_a_note(world: World) -> None:
    world.file("a.txt", "x" * 5000 + "\n" + "y\n" * 5000)
    text, error = world.told("read", file_path="a.txt")
    assert not error
    assert "[1 lines are longer than 2000 characters and cut]" in text
    assert text.endswith("[lines 1 to 2000 of 5001; go on with `offset` 2001]")


def test_what_is_not_text_is_not_shown(world: World) -> None:
    (world.project / "a.bin").write_bytes(b"\x7fELF\0\1")
    assert world.told("read", file_path="a.bin") == ("`PROJECT/a.bin` is not text (6 bytes)", True)
    assert world.told("read", file_path="src") == ("`PROJECT/src` is a folder; use `glob` to list it", True)
    os.mkfifo(world.project / "pipe")
    assert world.told("read", file_path="pipe") == ("`PROJECT/pipe` is not a regular file", True)
    assert world.told("read", file_path="none") == ("`PROJECT/none` does not exist", True)


def test_a_file_that_is_too_long_is_not_read(world: World) -> None:
    with (world.project / "big").open("wb") as out:
        out.truncate(opening.LARGEST + 1)
    text, error = world.told("read", file_path="big")
    assert error
    assert "is too long (16777217 bytes" in text


@pytest.mark.parametrize("path", ["/proc/self/environ", "/dev/zero", "/proc/self/fd/0", "/sys/kernel/notes"])
def test_the_insides_of_the_system_are_no_files(world: World, path: str) -> None:
    _, error = world.told("read", file_path=path)
    assert error


def test_a_protected_file_stays_closed_by_any_name(world: World, tmp_path: Path) -> None:
    home = os.path.expanduser("~")
    (world.project / "notes").symlink_to(f"{home}/.ssh")
    for path in (
        "~/.ssh/id_rsa",
        "notes/id_rsa",
        f"{home}/./.ssh/../.ssh/id_rsa",
        f"/proc/self/root{home}/.ssh/id_rsa",
    ):
        text, error = world.told("read", file_path=path)
        assert (error, "floor.sensitive-path" in text) == (True, True), path


def test_the_gate_judges_where_a_link_leads_and_its_name(tmp_path: Path) -> None:
    world = World(tmp_path, deny=["read(secret/**)", "read(alias/**)"])
    world.file("secret/a", "s")
    world.file("plain/a", "p")
    (world.project / "way").symlink_to("secret")
    (world.project / "alias").symlink_to("plain")
    for path in ("secret/a", "way/a", "alias/a"):
        text, error = world.told("read", file_path=path)
        assert (error, "deny.rule" in text) == (True, True), path
    assert world.told("read", file_path="plain/a") == ("     1\tp", False)
    world.close()


# ---------------------------------------------------------------- changing


def test_an_edit_needs_a_read_of_this_version(world: World) -> None:
    path = world.file("a.py", "x = 1\n")
    edit = {"file_path": "a.py", "old_string": "1", "new_string": "2"}
    unread = ("`PROJECT/a.py` was not read yet; use `read` first, so that nothing is lost", True)
    assert world.told("edit", **edit) == unread
    world.call("read", file_path="a.py")
    path.write_text("x = 1 # new\n")
    assert world.told("edit", **edit) == ("`PROJECT/a.py` changed since it was read; read it again", True)
    world.call("read", file_path="a.py")
    assert world.told("edit", **edit) == ("changed `PROJECT/a.py` (1 lines)", False)
    assert path.read_text() == "x = 2 # new\n"


def test_edits_can_follow_each_other(world: World) -> None:
    path = world.file("a.py", "x = 1\n")
    world.call("read", file_path="a.py")
    for number in range(1, 4):
        world.call("edit", file_path="a.py", old_string=str(number), new_string=str(number + 1))
    assert path.read_text() == "x = 4\n"


def test_an_edit_is_exact_and_says_what_to_do(world: World) -> None:
    path = world.file("a.py", "a\na\r\nb\n")
    world.call("read", file_path="a.py")

    def edit(old: str, new: str = "c", **more: object) -> tuple[str, bool]:
        return world.told("edit", file_path="a.py", old_string=old, new_string=new, **more)

    many = "`old_string` occurs 2 times; give more of the text around it, or set `replace_all`"
    none = "`old_string` is not in the file; copy it exactly, with its spaces, without line numbers"
    assert edit("a") == (many, True)
    assert edit("z") == (none, True)
    assert edit("a\nb") == (f"{none}; the lines of this file end in \\r\\n", True)
    assert edit("") == ("`old_string` is empty; use `write` to write a whole file", True)
    assert edit("a", "a") == ("`old_string` and `new_string` are the same; nothing would change", True)
    assert world.asked == []
    assert edit("a", replace_all=True) == ("changed `PROJECT/a.py` (3 lines)", False)
    assert path.read_bytes() == b"c\nc\r\nb\n"


def test_what_is_not_utf8_is_not_edited(world: World) -> None:
    path = world.file("a.txt")
    path.write_bytes(b"caf\xe9 x\n")
    text, _ = world.told("read", file_path="a.txt")
    assert "some bytes are not UTF-8" in text
    assert world.told("edit", file_path="a.txt", old_string="x", new_string="y")[1]
    assert path.read_bytes() == b"caf\xe9 x\n"


def test_a_new_file_is_written_with_its_folders(world: World) -> None:
    assert world.told("write", file_path="a/b/c.txt", content="hi\n") == ("wrote `PROJECT/a/b/c.txt` (1 lines)", False)
    assert (world.project / "a/b/c.txt").read_text() == "hi\n"
    assert world.told("edit", file_path="a/b/c.txt", old_string="hi", new_string="ho")[1] is False


def test_a_file_that_is_there_is_overwritten_only_after_it_was_read(world: World) -> None:
    path = world.file("a.txt", "old\n")
    assert world.told("write", file_path="a.txt", content="new\n")[1]
    assert path.read_text() == "old\n"
    world.call("read", file_path="a.txt")
    assert world.told("write", file_path="a.txt", content="new\n") == ("changed `PROJECT/a.txt` (1 lines)", False)
    assert path.read_text() == "new\n"


def test_permissions_stay_and_no_file_is_left_beside(world: World) -> None:
    path = world.file("run.sh", "echo 1\n")
    path.chmod(0o754)
    world.call("read", file_path="run.sh")
    world.call("edit", file_path="run.sh", old_string="1", new_string="2")
    assert stat.S_IMODE(path.stat().st_mode) == 0o754
    assert sorted(each.name for each in world.project.iterdir()) == ["run.sh", "src"]


def test_an_edit_leaves_other_names_of_the_file_alone(world: World) -> None:
    other = world.outside / "other"
    other.write_text("x = 1\n")
    os.link(other, world.project / "a.py")
    world.call("read", file_path="a.py")
    assert not world.call("edit", file_path="a.py", old_string="1", new_string="2").error
    assert other.read_text() == "x = 1\n"


def test_a_person_sees_the_difference(tmp_path: Path) -> None:
    world = World(tmp_path, mode="default")
    world.file("a.py", "x = 1\ny = 2\n")
    world.call("read", file_path="a.py")
    world.call("edit", file_path="a.py", old_string="1", new_string="3")
    (held,) = world.asked
    assert held.preview.kind == "diff"
    assert [line for line in held.preview.text.splitlines() if line[:1] in "+-"] == ["-x = 1", "+x = 3"]
    assert world.tools.preview("write", {"file_path": "b.py", "content": "z\n"}).kind == "diff"
    world.close()


def test_a_denied_change_is_told_as_such_before_anything_about_the_file(tmp_path: Path) -> None:
    world = World(tmp_path, deny=["write(src/**)"])
    world.file("src/a.py", "x")
    for path in ("src/a.py", "src/none.py"):
        for name, given in (("edit", {"old_string": "x", "new_string": "y"}), ("write", {"content": "y"})):
            text, error = world.told(name, file_path=path, **given)
            assert error
            assert "deny.rule" in text
    world.close()


# ---------------------------------------------------------------- between approval and opening


@pytest.fixture
def asking(tmp_path: Path) -> World:
    """Every read asks, so that something can happen meanwhile."""
    world = World(tmp_path, mode="default", ask=["read(**)"])
    (world.outside / "secret").write_text("s3cret\n")
    return world


def test_a_file_swapped_for_a_link_is_not_followed(asking: World) -> None:
    path = asking.file("a.txt", "plain\n")

    def swap(_: object) -> bool:
        path.unlink()
        path.symlink_to(asking.outside / "secret")
        return True

    asking.said = swap
    text, error = asking.told("read", file_path="a.txt")
    assert error
    assert "s3cret" not in text


def test_a_folder_swapped_for_a_link_is_not_followed(asking: World) -> None:
    asking.file("docs/secret", "plain\n")

    def swap(_: object) -> bool:
        os.rename(asking.project / "docs", asking.project / "old")
        (asking.project / "docs").symlink_to(asking.outside)
        return True

    asking.said = swap
    text, error = asking.told("read", file_path="docs/secret")
    assert error
    assert "s3cret" not in text


def test_a_link_that_is_turned_after_the_look_opens_what_was_judged(world: World) -> None:
    """The race after the gate's last look: the walk itself follows nothing."""
    world.file("docs/a", "plain\n")
    path = str(world.project / "docs/a")
    assert opening.read(path) == b"plain\n"
    os.rename(world.project / "docs", world.project / "old")
    (world.project / "docs").symlink_to("old")
    with pytest.raises(Problem, match="`docs` on the way is a link"):
        opening.read(path)
    with pytest.raises(Problem, match="`docs` on the way is a link"):
        opening.create(str(world.project / "docs/b"), b"")
    (world.project / "last").symlink_to("old/a")
    with pytest.raises(Problem, match="it is a link by now"):
        opening.replace(str(world.project / "last"), b"plain\n", b"x")


def test_a_file_changed_while_the_question_is_open_is_not_overwritten(asking: World) -> None:
    path = asking.file("a.py", "x = 1\n")
    asking.call("read", file_path="a.py")

    def change(_: object) -> bool:
        path.write_text("x = 1 # precious\n")
        return True

    asking.said = change
    _, error = asking.told("edit", file_path="a.py", old_string="1", new_string="2")
    assert error
    assert path.read_text() == "x = 1 # precious\n"


def test_a_new_file_is_not_written_through_a_link_that_came_meanwhile(asking: World) -> None:
    def plant(_: object) -> bool:
        (asking.project / "new.txt").symlink_to(asking.outside / "target")
        return True

    asking.said = plant
    _, error = asking.told("write", file_path="new.txt", content="x")
    assert error
    assert not (asking.outside / "target").exists()


def test_a_changed_file_is_noticed_at_the_very_end(world: World) -> None:
    path = world.file("a", "one")
    with pytest.raises(Problem, match="changed in the meantime"):
        opening.replace(str(path), b"other", b"two")
    assert path.read_text() == "one"
    assert sorted(each.name for each in path.parent.iterdir()) == ["a", "src"]
