"""Paths resolve as in the kernel; if that is unknown, the answer is empty."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from assent.facts import links
from assent.facts.links import Links, folding
from tests.examples import examples


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder that is canonical itself."""
    return Path(os.path.realpath(tmp_path))


def canonical(path: object) -> str:
    return Links().canonical(str(path))


def test_a_path_without_links_leads_to_itself(place: Path) -> None:
    (place / "a").mkdir()
    (place / "a/b").touch()
    assert canonical(place / "a/b") == f"{place}/a/b"


def test_a_link_leads_to_its_target(place: Path) -> None:
    (place / "real").mkdir()
    (place / "real/f").touch()
    (place / "absolute").symlink_to(place / "real")
    (place / "relative").symlink_to("real")
    (place / "chain").symlink_to("relative")
    assert [canonical(place / name / "f") for name in ("absolute", "relative", "chain")] == [f"{place}/real/f"] * 3


def test_a_new_file_under_a_link_is_where_the_link_leads(place: Path) -> None:
    (place / "out").mkdir()
    (place / "link").symlink_to("out")
    assert canonical(place / "link/new/deeper.txt") == f"{place}/out/new/deeper.txt"


def test_dots_are_taken_after_the_link_is_followed(place: Path) -> None:
    (place / "far/away").mkdir(parents=True)
    (place / "near").mkdir()
    (place / "near/link").symlink_to("../far/away")
    assert canonical(f"{place}/near/link/../x") == f"{place}/far/x"


def test_dots_after_a_missing_folder_come_back(place: Path) -> None:
    (place / "link").symlink_to("/somewhere")
    assert canonical(f"{place}/missing/../link/x") == "/somewhere/x"


def test_a_dangling_link_leads_to_what_is_not_there(place: Path) -> None:
    (place / "dangling").symlink_to("/nowhere/at/all")
    assert canonical(place / "dangling") == "/nowhere/at/all"


def test_a_loop_cannot_be_told(place: Path) -> None:
    (place / "one").symlink_to("two")
    (place / "two").symlink_to("one")
    assert canonical(place / "one/x") == ""
    assert canonical(place / "one") == ""


def test_trailing_and_double_slashes_change_nothing(place: Path) -> None:
    (place / "real").mkdir()
    (place / "link").symlink_to("real")
    assert [canonical(f"{place}/{tail}") for tail in ("link/", "link//", "./link/.", "/link///.//")] == [
        f"{place}/real"
    ] * 4


def test_dots_stop_at_the_root() -> None:
    assert [canonical(path) for path in ("/", "/..", "/../..", "//", "/.", "/../etc")] == ["/"] * 5 + ["/etc"]


@pytest.mark.parametrize("path", ["", "a", "a/b", "~/x", "/nul\0byte", "/" + "x" * 5000, "/" + "n" * 300])
def test_what_the_kernel_would_refuse_cannot_be_told(path: str) -> None:
    assert canonical(path) == ""


def test_a_folder_that_may_not_be_searched_hides_where_its_links_lead(place: Path) -> None:
    (place / "closed").mkdir(mode=0o000)
    was = os.geteuid()
    if was == 0:
        os.seteuid(65534)  # root may search every folder
    try:
        assert canonical(place / "closed/x") == ""
    finally:
        os.seteuid(was)


def test_links_of_another_process_are_not_read_as_ones_own() -> None:
    asked = ("/proc/self/cwd", "/proc/self/cwd/x", "/proc/1/cwd", "/proc/self/fd/3/x", "/proc/thread-self/cwd/..")
    assert [canonical(path) for path in asked] == [""] * 5
    assert canonical("/proc/self/root/etc/shadow") == "/etc/shadow"
    assert canonical("/proc/1234567/task/9/root/etc/shadow") == "/etc/shadow"
    assert canonical("/proc/self/environ") == "/proc/self/environ"


def test_descriptors_lead_to_themselves() -> None:
    asked = ("/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd/0", "/dev/fd/63", "/proc/self/fd/1")
    assert [canonical(path) for path in asked] == list(asked)
    assert canonical("/dev/fd/3/x") == ""


def test_a_firmlink_is_the_folder_it_stands_for() -> None:
    assert canonical("/System/Volumes/Data/Users/me/.ssh/id_rsa") == "/Users/me/.ssh/id_rsa"


def test_names_that_a_folder_does_not_have_are_noted_by_one_list(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "there").mkdir()
    (place / "led").symlink_to(place / "there")
    found, asked = Links(), list[str]()
    assert found.canonical(str(place)) == str(place)
    found.note_absent(str(place), ("there", "led", "absent"))
    status = os.lstat

    def noted(path: str) -> os.stat_result:
        asked.append(path)
        return status(path)

    monkeypatch.setattr(os, "lstat", noted)
    assert found.canonical(f"{place}/absent/below") == f"{place}/absent/below"
    assert asked == []
    assert found.is_gone(f"{place}/absent")
    assert found.canonical(f"{place}/led/x") == f"{place}/there/x"
    assert found.canonical(f"{place}/there/x") == f"{place}/there/x"


@pytest.mark.parametrize("why", ["long", "folds", "missing"])
def test_a_list_that_may_not_tell_notes_nothing(place: Path, monkeypatch: pytest.MonkeyPatch, why: str) -> None:
    folder = str(place / "none" if why == "missing" else place)
    if why == "long":
        for number in range(links.MOST_LISTED):
            (place / str(number)).touch()
    if why == "folds":
        monkeypatch.setitem(links._known, folder, True)
    found = Links()
    found.note_absent(folder, ("later",))
    (place / "none").mkdir()
    Path(folder, "later").symlink_to(place)
    assert found.canonical(f"{folder}/later") == str(place)


def test_given_links_stand_in_for_the_file_system(place: Path) -> None:
    (place / "disk").symlink_to("/elsewhere")
    links = Links({"/workspace/link": "/outside", "/workspace/near/": "link/sub", "/loop": "/loop"})
    assert links.canonical("/workspace/link/new.rs") == "/outside/new.rs"
    assert links.canonical("/workspace/near/../x") == "/outside/x"
    assert links.canonical("/loop/x") == ""
    assert links.canonical(f"{place}/disk/x") == f"{place}/disk/x"


NAMES = st.sampled_from(["a", "b", "l", "m", "n", "..", ".", "", "new"])


@examples(300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(NAMES, min_size=1, max_size=8))
def test_where_the_kernel_goes_we_go(tmp_path: Path, names: list[str]) -> None:
    """What exists is compared with the kernel's own answer, through /proc/self/fd."""
    place = os.path.realpath(tmp_path)
    if not os.path.isdir(f"{place}/a"):
        os.makedirs(f"{place}/a/b/a")
        os.symlink("a/b", f"{place}/l")
        os.symlink("../../l/..", f"{place}/a/b/m")
        os.symlink(f"{place}/a/b/m", f"{place}/n")
        os.symlink("nowhere", f"{place}/a/n")
    path = place + "/" + "/".join(names)
    try:
        handle = os.open(path, os.O_PATH)
    except OSError:
        return
    try:
        assert canonical(path) == os.readlink(f"/proc/self/fd/{handle}")
    finally:
        os.close(handle)


def test_in_a_locale_that_is_not_of_utf_8_a_name_beyond_ascii_cannot_be_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel would be asked for other bytes, and a link by that name would seem not to be there."""
    (tmp_path / "é").symlink_to("/etc/passwd")
    (tmp_path / "plain").symlink_to("/etc/passwd")
    (tmp_path / "to é").symlink_to(tmp_path / "é")
    assert Links().canonical(f"{tmp_path}/é") == "/etc/passwd"
    monkeypatch.setattr(links, "FOREIGN", True)
    assert [Links().canonical(f"{tmp_path}/{name}") for name in ("é", "ü", "é/x", "to é", "plain")] == [
        "",
        "",
        "",
        "",
        "/etc/passwd",
    ]


def test_half_a_character_is_a_name_that_cannot_be_told(tmp_path: Path) -> None:
    """Python asks the kernel for a single byte, and others for the character that stands for what is none."""
    assert [Links().canonical(f"{tmp_path}/{name}") for name in ("\udce9", "\ud800", "a\udfff/b")] == ["", "", ""]


@pytest.mark.parametrize(
    "path",
    [
        "/dev/fd/../cwd/x",
        "/dev/fd/3/x",
        "/dev/stdin/x",
        "/dev/stdin/../x",
        "/dev/stderr/x/y",
        "/proc/self/fd/3/../x",
        "/proc/self/fd/../cwd/x",
    ],
)
def test_what_lies_beside_or_below_the_handles_of_another_process_cannot_be_told(path: str) -> None:
    assert Links().canonical(path) == ""


def test_a_folder_folds_case_where_two_spellings_are_one_file(tmp_path: Path) -> None:
    (tmp_path / "Name").touch()
    folds = (tmp_path / "nAME").exists()
    assert folding((str(tmp_path),)) == ((str(tmp_path),) if folds else ())


def test_two_files_that_differ_in_case_are_two(tmp_path: Path) -> None:
    (tmp_path / "Name").touch()
    if (tmp_path / "nAME").exists():
        return  # here they cannot be
    (tmp_path / "nAME").touch()
    assert folding((str(tmp_path),)) == ()


def test_a_folder_to_come_is_as_the_one_it_will_stand_in(tmp_path: Path) -> None:
    (tmp_path / "Name").touch()
    folds = (tmp_path / "nAME").exists()
    coming = str(tmp_path / "new/deeper")
    assert folding(("", coming)) == ((coming,) if folds else ())
