"""Guarded places by another name: links, a state folder elsewhere, hard links."""

from __future__ import annotations

import os
from pathlib import Path

from assent.facts.guarded import ABOVE, FILES, FOLDERS, PLACES, aliases, hard_link
from assent.facts.links import Links
from assent.policy.shipped import entries


def test_every_place_of_the_floor_in_a_home_is_looked_at() -> None:
    """A place with a wildcard in a name is found through the folder above it; what any folder may hold is found by its
    own name."""
    missing = []
    for entry in entries("floor")["rule"]:
        for rule in entry.rules:
            if not rule.spec.startswith(("**/", "~/")):
                continue
            place = rule.spec.partition("/")[2].removesuffix("/**")
            if "*" in place:
                place = place[: place.index("*")].rpartition("/")[0]
            known = place in PLACES or any(place.startswith(f"{above}/") for above in (*ABOVE[1:], *FOLDERS))
            if not known and not (rule.tool == "write" and place == ".assent.toml"):
                missing.append(rule.spec)
    assert missing == []


def test_a_linked_folder_is_known_by_its_real_path(tmp_path: Path) -> None:
    home, keys = tmp_path / "home", tmp_path / "keys"
    (home / ".aws").mkdir(parents=True)
    keys.mkdir()
    (home / ".ssh").symlink_to(keys)
    (home / ".aws" / "credentials").symlink_to(tmp_path / "creds")
    found = dict(aliases(str(home), "", Links()))
    assert found == {str(keys): f"{home}/.ssh", f"{tmp_path}/creds": f"{home}/.aws/credentials"}


def test_links_inside_a_linked_folder_are_known(tmp_path: Path) -> None:
    home, keys = tmp_path / "home", tmp_path / "keys"
    home.mkdir()
    keys.mkdir()
    (home / ".ssh").symlink_to(keys)
    (keys / "id_work").symlink_to(tmp_path / "elsewhere")
    assert dict(aliases(str(home), "", Links()))[f"{tmp_path}/elsewhere"] == f"{home}/.ssh/id_work"


def test_a_state_folder_elsewhere_is_the_guarded_one(tmp_path: Path) -> None:
    home, state = tmp_path / "home", tmp_path / "state"
    home.mkdir()
    state.mkdir()
    (tmp_path / "link").symlink_to(state)
    found = dict(aliases(str(home), f"{tmp_path}/link", Links()))
    assert found == {f"{tmp_path}/link": f"{home}/.assent", str(state): f"{home}/.assent"}


def test_an_ordinary_home_has_no_other_names(tmp_path: Path) -> None:
    (tmp_path / ".ssh").mkdir()
    assert aliases(str(tmp_path), f"{tmp_path}/.assent", Links()) == ()
    assert aliases("", "", Links()) == ()


def test_given_links_are_all_there_are() -> None:
    found = aliases("/home/user", "", Links({"/home/user/.kube": "/srv/kube", "/home/user/.ssh/k": "/srv/k"}))
    assert dict(found) == {"/srv/kube": "/home/user/.kube", "/srv/k": "/home/user/.ssh/k"}


def test_a_hard_link_is_the_guarded_file(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "work").write_text("key")
    (home / FILES[0]).write_text("key")
    os.link(home / ".ssh" / "work", tmp_path / "notes")
    os.link(home / FILES[0], tmp_path / "other")
    (tmp_path / "a").write_text("a")
    os.link(tmp_path / "a", tmp_path / "b")
    links = Links()
    assert hard_link(f"{tmp_path}/notes", str(home), links) == f"{home}/.ssh/work"
    assert hard_link(f"{tmp_path}/other", str(home), links) == f"{home}/{FILES[0]}"
    assert hard_link(f"{tmp_path}/b", str(home), links) == ""
    assert hard_link(f"{tmp_path}/missing", str(home), links) == ""


def test_a_place_that_becomes_a_link_is_seen_in_the_same_process(tmp_path: Path) -> None:
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".config").mkdir()
    for folder in (tmp_path, tmp_path / ".ssh", tmp_path / ".config"):
        os.utime(folder, (1_000_000_000, 1_000_000_000))
    home = str(tmp_path)
    assert aliases(home, "", Links()) == aliases(home, "", Links()) == ()
    (tmp_path / ".config" / "gcloud").symlink_to("/srv/gcloud")
    assert dict(aliases(home, "", Links())) == {"/srv/gcloud": f"{home}/.config/gcloud"}
    (tmp_path / ".config" / "gcloud").unlink()
    (tmp_path / ".ssh" / "k").symlink_to("/srv/k")
    assert dict(aliases(home, "", Links())) == {"/srv/k": f"{home}/.ssh/k"}
