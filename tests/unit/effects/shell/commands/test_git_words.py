"""What git's words weigh: revisions that name files, refspecs that overwrite, words that make reading into changing."""

from __future__ import annotations

import pytest

from tests.unit.effects.shell.commands.sights import does

READS = "EXECUTE </w>"  # the conditional effect: what the repository's own settings could run
ACTS = "EXECUTE <git>"


@pytest.mark.parametrize(
    ("word", "path"),
    [
        ("HEAD:.env", ".env"),
        (":2:.env", ".env"),
        (":(top).env", ".env"),
        ("main", "main"),
        ("/etc/passwd", "/etc/passwd"),
        ("../x", "/x"),
        ("src/../../x", "/x"),
    ],
)
def test_a_word_that_names_a_file_is_read(word: str, path: str) -> None:
    assert does(f"git diff '{word}'") == [f"READ {path}", READS]


@pytest.mark.parametrize("word", ["HEAD", "HEAD~3", "@", "a1b2c3d", "main..feature", "origin/main...HEAD", "ORIG_HEAD"])
def test_a_plain_revision_or_range_is_no_file(word: str) -> None:
    assert does(f"git diff {word}") == [READS]


def test_files_behind_two_dashes_are_read() -> None:
    assert does("git log -p main..x -- .env src") == ["READ .env", "READ src", READS]


@pytest.mark.parametrize(
    ("listing", "changing"),
    [
        ("git branch --list x", "git branch x"),
        ("git branch --contains x", "git branch -v x"),
        ("git tag -l v1", "git tag v1"),
        ("git tag -n3 v1", "git tag --sort=x v1"),
        ("git config user.name", "git config user.name x"),
        ("git symbolic-ref HEAD", "git symbolic-ref HEAD x"),
        ("git remote -v", "git remote -v update"),
        ("git stash list", "git stash -q list"),
        ("git notes list", "git notes --ref=x add"),
        ("git replace -l x", "git replace x y"),
    ],
)
def test_a_listing_form_reads_and_its_neighbour_acts(listing: str, changing: str) -> None:
    assert does(listing) == [READS]
    assert any(line.startswith(ACTS) for line in does(changing))


@pytest.mark.parametrize("words", ["--force", "-f", "origin +x", "origin :x", "-d origin x", "--mirror origin"])
def test_overwriting_what_others_may_have_is_a_forced_push(words: str) -> None:
    assert does(f"git push {words}") == [f"{ACTS} !push !force-push"]


@pytest.mark.parametrize(
    "words",
    ["--force origin main", "origin +master", "origin :main", "origin +HEAD:refs/heads/main", "-d origin trunk"],
)
def test_overwriting_a_shared_branch_by_name_is_a_danger_of_its_own(words: str) -> None:
    assert does(f"git push {words}") == [f"{ACTS} !push !force-push !force-push-main"]


@pytest.mark.parametrize("words", ["", "origin main", "--force-with-lease origin main", "-u origin feature:feature"])
def test_a_push_that_others_can_refuse_only_pushes(words: str) -> None:
    assert f"{ACTS} !push" in does(f"git push {words}")


@pytest.mark.parametrize(
    "command",
    [
        "git checkout -- a",
        "git checkout .",
        "git checkout HEAD~1 a",
        "git checkout -qf main",
        "git restore a",
        "git restore -SW a",
        "git reset --hard",
        "git clean -xdf",
        "git stash drop",
        "git branch -D x",
        "git switch --discard-changes x",
    ],
)
def test_what_throws_work_away_says_so(command: str) -> None:
    assert any(line.startswith(ACTS) and line.endswith("!discard-work") for line in does(command))


@pytest.mark.parametrize(
    "command",
    [
        "git checkout main",
        "git checkout -b x origin/main",
        "git restore --staged a",
        "git reset HEAD~1",
        "git switch x",
    ],
)
def test_what_git_refuses_to_lose_does_not(command: str) -> None:
    assert ACTS in does(command)
    assert not [line for line in does(command) if "discard-work" in line]


@pytest.mark.parametrize("command", ["git checkout HEAD~1 -- a.txt", "git checkout -- a.txt", "git restore a.txt"])
def test_a_file_that_is_brought_back_is_written(command: str) -> None:
    assert any(line.startswith("WRITE a.txt") for line in does(command))
