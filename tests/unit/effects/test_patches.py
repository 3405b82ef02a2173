"""Patches name every file that they touch."""

from __future__ import annotations

from assent.contract import Operation
from assent.effects.patches import Touch, read_patch

W, D = Operation.WRITE, Operation.DELETE


def test_the_envelope_names_adds_updates_deletes_and_moves() -> None:
    text = (
        "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n*** Move to: c\n@@\n-x\n+y\n"
        "*** Delete File: d\n*** End Patch\n"
    )
    assert read_patch(text) == ((Touch(W, "a"), Touch(W, "b"), Touch(D, "b"), Touch(W, "c"), Touch(D, "d")), True)


def test_changed_lines_in_an_envelope_are_no_headers() -> None:
    text = "*** Begin Patch\n*** Update File: a\n@@\n--- b\n+++ c\n+*** Add File: d\n*** End Patch"
    assert read_patch(text) == ((Touch(W, "a"),), True)


def test_an_indented_header_is_a_header() -> None:
    assert read_patch("  *** Begin Patch\n  *** Delete File: a\n") == ((Touch(D, "a"),), True)


def test_an_unknown_header_is_not_understood() -> None:
    assert read_patch("*** Begin Patch\n*** Chmod File: a\n*** End Patch") == ((), False)


def test_a_unified_diff_names_both_sides() -> None:
    assert read_patch("--- a/x\n+++ b/y\n@@ -1 +1 @@\n") == ((Touch(W, "y"), Touch(W, "x")), True)


def test_a_unified_diff_deletes_and_adds() -> None:
    text = "--- a/x\t2024\n+++ /dev/null\n@@\n--- /dev/null\n+++ b/z\n"
    assert read_patch(text) == ((Touch(D, "x"), Touch(W, "z")), True)


def test_a_quoted_name_is_unquoted() -> None:
    assert read_patch('--- "a/t\\303\\251"\n+++ "b/\\056git/config"\n')[0][0] == Touch(W, ".git/config")


def test_a_mode_only_git_diff_names_its_file() -> None:
    assert read_patch("diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n") == (
        (Touch(W, "run.sh"),),
        True,
    )


def test_text_without_files_is_not_understood() -> None:
    assert read_patch("hello") == ((), False)


def test_a_patch_that_says_the_same_again_and_again_says_it_once() -> None:
    again = "*** Update File: a\n*** Move to: b\n" * 3
    assert read_patch(f"*** Begin Patch\n{again}*** End Patch\n") == (
        (Touch(W, "a"), Touch(D, "a"), Touch(W, "b")),
        True,
    )


def test_the_date_behind_a_name_is_no_part_of_it() -> None:
    assert read_patch("--- a/x  2026-01-02 03:04:05\n+++ b/x  2026-01-02 03:04:05\n") == ((Touch(W, "x"),), True)
