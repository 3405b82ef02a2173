"""Deadlines, and the mounts that measuring must not touch."""

from __future__ import annotations

import pytest

from assent.facts.consequences.deadline import Deadline, remote_mount


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("36 35 98:0 / /mnt/a rw,noatime - nfs4 srv:/x rw", "/mnt/a"),
        ("36 35 98:0 / /mnt/with\\040blank rw shared:1 master:2 - cifs //srv/x rw", "/mnt/with blank"),
        ("36 35 98:0 / /home/me/remote rw - fuse.sshfs me@h:/ rw", "/home/me/remote"),
        ("36 35 98:0 / /net rw - autofs /etc/auto.net rw", "/net"),
        ("36 35 98:0 / / rw - ext4 /dev/sda1 rw", ""),
        ("36 35 98:0 / /tmp rw - tmpfs tmpfs rw", ""),
        ("", ""),
        ("nonsense - nfs", ""),
    ],
)
def test_remote_file_systems_are_found_in_the_table_of_mounts(line: str, place: str) -> None:
    assert remote_mount(line) == place


def test_what_is_below_a_remote_mount_is_remote() -> None:
    deadline = Deadline(60.0)
    deadline._remote = ("/mnt/a",)
    assert [deadline.is_remote(each) for each in ("/mnt/a", "/mnt/a/b", "/mnt/ab", "/")] == [True, True, False, False]
    assert deadline.part(0.5).is_remote("/mnt/a/b")


def test_a_deadline_that_is_over_marks_what_follows() -> None:
    deadline = Deadline(0.0)
    assert (deadline.over(), deadline.cut, deadline.left()) == (True, True, 0.0)
    fresh = Deadline(60.0)
    assert (fresh.over(), fresh.cut) == (False, False)
    assert fresh.part(0.5).left() < 31
