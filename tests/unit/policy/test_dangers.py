"""Dangers that depend on where paths and addresses lead."""

from __future__ import annotations

import pytest

from assent.contract import Effect, Facts, Kind, Operation, Target
from assent.policy.dangers import found_in, is_broad, is_metadata

FACTS = Facts(roots=("/code/project",), home="/home/user")


@pytest.mark.parametrize(
    "path",
    ["/", "/*", "/etc", "/usr/*", "/home", "/home/user", "/home/user/*", "/home/other", "/code", "/code/project",
     "/code/project/*", "/root", "/var/lib"],
)  # fmt: skip
def test_roots_that_much_depends_on_are_broad(path: str) -> None:
    assert is_broad(path, FACTS)


@pytest.mark.parametrize(
    "path", ["/code/project/build", "/tmp/x", "/home/user/project", "/srv/app/cache/*", "/var/lib/x"]
)
def test_ordinary_folders_are_not_broad(path: str) -> None:
    assert not is_broad(path, FACTS)


@pytest.mark.parametrize(
    "host",
    ["169.254.169.254", "2852039166", "0xa9fea9fe", "0xA9.0xFE.0xA9.0xFE", "0251.0376.0251.0376", "169.254.43518",
     "169.16689662", "::ffff:169.254.169.254", "::ffff:a9fe:a9fe", "metadata.google.internal", "fd00:ec2::254"],
)  # fmt: skip
def test_a_metadata_address_is_one_in_any_spelling(host: str) -> None:
    assert is_metadata(host)


@pytest.mark.parametrize("host", ["example.com", "127.0.0.1", "10.0.0.1", "", "1.2.3.4.5", "0x", "169.254.1.1"])
def test_other_addresses_are_not(host: str) -> None:
    assert not is_metadata(host)


def test_a_plain_delete_of_one_file_is_not_broad() -> None:
    effect = Effect(Operation.DELETE, Target(Kind.PATH, "/etc"))
    assert found_in(effect, ("/etc",), FACTS) == ()


def test_a_recursive_mode_change_of_a_root_is_broad() -> None:
    effect = Effect(Operation.WRITE, Target(Kind.PATH, "/usr"), recursive=True, dangers=("mode-change",))
    assert found_in(effect, ("/usr",), FACTS) == ("mode-change", "broad-mode")


def test_what_discards_work_only_where_it_is_there_depends_on_the_host() -> None:
    effect = Effect(Operation.WRITE, Target(Kind.PATH, "/w/main"), dangers=("discard-there",))
    assert found_in(effect, ("/w/main",), Facts()) == ("discard-work",)
    assert found_in(effect, ("/w/main",), Facts(absent=("/w/main",))) == ()
    assert found_in(effect, ("/w/main",), Facts(absent=("/w/other",))) == ("discard-work",)


def test_all_files_of_a_root_are_lost_where_they_are_deleted_or_emptied() -> None:
    def marks(operation: Operation, folder: str, *dangers: str) -> tuple[str, ...]:
        target = Target(Kind.PATH, "", "{}", under=(folder,), certain=False)
        return found_in(Effect(operation, target, dangers=dangers), (), FACTS)

    assert marks(Operation.DELETE, "/code/project", "every-file") == ("broad-write",)  # a person may mean that
    assert marks(Operation.DELETE, "/code", "every-file") == ("broad-delete",)
    assert marks(Operation.DELETE, "/", "every-file") == ("broad-delete",)
    assert marks(Operation.DELETE, "/code/project/build", "every-file") == ()
    assert marks(Operation.WRITE, "/code/project", "every-file", "empties") == ("broad-write",)
    assert marks(Operation.WRITE, "/code/project", "every-file") == ()
    assert marks(Operation.WRITE, "/code/project", "empties") == ()


def test_all_files_of_a_folder_of_the_home_are_asked_about() -> None:
    def marks(name: str) -> tuple[str, ...]:
        return found_in(Effect(Operation.DELETE, Target(Kind.PATH, name, pattern=True)), (name,), facts)

    facts = Facts(roots=("/home/user/app",), home="/home/user")
    assert marks("/home/user/Documents/*") == marks("/home/user/work/a/.[!.]*") == ("broad-write",)
    assert marks("/home/user/Documents/*.tmp") == marks("/home/user/Documents/a*") == ()
    assert marks("/home/user/app/notes/*") == marks("/home/user/.cache/pip/*") == marks("/srv/x/*") == ()


def test_what_empties_a_glob_over_a_root_is_broad() -> None:
    def marks(name: str, *dangers: str) -> tuple[str, ...]:
        effect = Effect(Operation.WRITE, Target(Kind.PATH, name, pattern=True), dangers=dangers)
        return found_in(effect, (name,), FACTS)

    assert marks("/code/project/*", "empties") == marks("/code/project/**/*", "empties") == ("broad-write",)
    assert marks("/code/project/*.log", "empties") == marks("/code/project/*") == ()
