"""Whether case tells names apart is what the file system says."""

from __future__ import annotations

from pathlib import Path

from assent.facts.case import folding


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
