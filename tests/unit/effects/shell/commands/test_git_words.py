"""The effects of git's arguments: revisions that name files, refspecs that overwrite, words that make reading into
changing."""

from __future__ import annotations

import pytest

from assent.contract import Operation
from assent.effects.shell import lower
from assent.effects.shell.command import Arg
from tests.unit.effects.shell.commands.commands import does, effects_of

READS = "EXECUTE </w>"  # the conditional effect: what the repository's own settings could run
ACTS = "EXECUTE <git>"


@pytest.mark.parametrize(
    ("word", "path"),
    [
        ("HEAD:.env", ".env"),
        (":2:.env", ".env"),
        (":(top).env", ".env"),
        ("main", "main"),
        ("HEAD:./a..b/.env", "a..b/.env"),
    ],
)
def test_a_word_that_names_a_file_is_read(word: str, path: str) -> None:
    assert does(f"git diff '{word}'") == [f"READ {path}", READS]


@pytest.mark.parametrize(
    ("word", "path"),
    [
        ("/etc/passwd", "/etc/passwd"),
        ("../x", "/x"),
        ("src/../../x", "/x"),
        ("a..b/../../x", "/x"),
        ("HEAD~/../../x", "/x"),
        ("a1b2c3d^/../../x/..", "/"),
    ],
)
def test_a_place_outside_is_read_with_all_that_is_below(word: str, path: str) -> None:
    assert does(f"git diff '{word}'") == [f"READ+ {path}", READS]


@pytest.mark.parametrize("word", ["HEAD", "a1b2c3d", "main..feature", "x:y", "src"])
def test_without_an_index_every_word_is_a_path(word: str) -> None:
    assert does(f"git diff --no-index a {word}") == ["READ+ a", f"READ+ {word}", READS]


@pytest.mark.parametrize(
    "setting",
    """color.ui=never pager.log=false core.quotePath=off diff.renames log.date=iso
    safe.directory=* core.fsmonitor=false gc.auto=0""".split(),
)
def test_a_setting_of_display_changes_nothing(setting: str) -> None:
    assert does(f"git -c '{setting}' log") == [READS]


@pytest.mark.parametrize(
    "setting",
    """diff.renames.textconv=./x merge.conflictstyle.driver=./x branch.sortx.remote=ext::x blame.ignoreRevsFile=/x
    pager.log=./x core.fsmonitor=./x gc.auto=1 log.showSignature grep.fallbackToNoIndex""".split(),
)
def test_any_other_setting_is_not_proved(setting: str) -> None:
    assert any(line.startswith(ACTS) for line in does(f"git -c '{setting}' log"))


@pytest.mark.parametrize("word", ["HEAD", "HEAD~3", "@", "a1b2c3d", "main..feature", "origin/main...HEAD", "ORIG_HEAD"])
def test_a_plain_revision_or_range_is_no_file(word: str) -> None:
    assert does(f"git diff {word}") == [READS]


@pytest.mark.parametrize("lines", ["1,5:.env", "/x/,+3:.env", ":main:.env", "^:main:.env"])
def test_the_file_whose_lines_are_followed_is_read(lines: str) -> None:
    assert "READ .env" in does(f"git log -L {lines}")


def test_files_behind_two_dashes_are_read() -> None:
    assert does("git log -p main..x -- .env src") == ["READ .env", "READ src", READS]


@pytest.mark.parametrize(
    ("listing", "changing"),
    [
        ("git branch --list x", "git branch -m x"),
        ("git branch --contains x", "git branch -v x"),
        ("git tag -l v1", "git tag -f v1"),
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


def pushed(words: str) -> list[str]:
    """What a push does, without the questions that facts answer."""
    return [line for line in does(f"git push {words}") if "<push=" not in line]


@pytest.mark.parametrize("words", ["--force", "-f", "origin +x", "origin :x", "-d origin x"])
def test_overwriting_what_others_may_have_is_a_forced_push(words: str) -> None:
    assert pushed(words) == [f"{ACTS} !push !force-push"]


def test_pushing_everything_reaches_the_shared_branches() -> None:
    assert pushed("--mirror origin") == [f"{ACTS} !push !force-push !push-default"]
    assert pushed("--all origin") == [f"{ACTS} !push !push-default"]


@pytest.mark.parametrize("words", ["--dry-run", "-n origin main", "--dry-run --force origin main", "-nf origin +main"])
def test_a_rehearsal_is_no_push(words: str) -> None:
    assert does(f"git push {words}") == [ACTS]


def test_facts_are_asked_where_a_push_goes() -> None:
    assert "EXECUTE <push=remote origin:/w> !exfiltration-if" in does("git push origin x")
    assert "EXECUTE <push=branch origin x:/w> !push-default-if" in does("git push origin HEAD:x")
    assert "EXECUTE <push=branch  :/w> !push-default-if" in does("git push")


@pytest.mark.parametrize(
    "words",
    ["--force origin main", "origin +master", "origin :main", "origin +HEAD:refs/heads/main", "-d origin trunk"],
)
def test_overwriting_a_shared_branch_by_name_is_a_danger_of_its_own(words: str) -> None:
    assert pushed(words) == [f"{ACTS} !push !force-push !force-push-main !push-default"]


@pytest.mark.parametrize("words", ["", "origin x", "--force-with-lease origin x", "-u origin feature:feature"])
def test_a_push_that_others_can_refuse_only_pushes(words: str) -> None:
    assert pushed(words) == [f"{ACTS} !push"]


@pytest.mark.parametrize("words", ["origin main", "--force-with-lease origin main", "origin x:stable", 'origin "$X"'])
def test_a_shared_branch_by_name_or_an_unknown_one_is_a_danger(words: str) -> None:
    lowered = lower(f"git push {words}", cwd="/w", home="/home/u").effects
    assert any("push-default" in effect.dangers for effect in lowered)


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
    assert any(line.endswith("!discard-work") for line in does(command))
    assert any(line.startswith("EXECUTE <") and not line.startswith(READS) for line in does(command))


@pytest.mark.parametrize(
    ("command", "asked"),
    [
        ("git checkout -- a", "discard - a"),
        ("git checkout .", "discard ? ."),
        ("git checkout HEAD~1 a", "discard ? HEAD~1 a"),
        ("git checkout HEAD~1 -- a b", "discard HEAD~1 a b"),
        ("git checkout -qf main", "force main"),
        ("git restore a", "discard - a"),
        ("git restore -SW a", "discard HEAD a"),
        ("git restore --source=x a", "discard x a"),
        ("git reset --hard", "reset HEAD"),
        ("git reset --hard HEAD@{1}", "reset HEAD@{1}"),
        ("git clean -xdf", "clean dx"),
        ("git clean -f src", "clean - src"),
        ("git stash drop stash@{1}", "stash-drop stash@{1}"),
        ("git stash clear", "stash-clear"),
        ("git branch -D x y", "branch-delete x y"),
        ("git branch -d x", "branch-delete x"),
        ("git branch -f x HEAD~1", "branch-force x HEAD~1"),
        ("git tag -d v1", "tag-delete v1"),
        ("git rm -rf a", "remove a"),
        ("git rebase main", "rebase main main"),
        ("git rebase --onto new old", "rebase old new"),
        ("git switch --discard-changes x", "force x"),
    ],
)
def test_what_git_discards_is_asked_of_facts(command: str, asked: str) -> None:
    assert f"EXECUTE <{asked}:/w>" in [line.partition(" !")[0] for line in does(command)]


@pytest.mark.parametrize(
    "command",
    [
        "git checkout - -- a",
        "git checkout -- ':(glob)**'",
        "git checkout -p -- a",
        "git -c core.worktree=/x reset --hard",
        "git --git-dir=x reset --hard",
        "git reset --hard $X",
        "git reset --hard a..b",
        "git clean -ffd",
        "git clean -fi",
        "git clean -f -e x",
        "git stash drop $X",
        "git branch -D -r origin/x",
        "git branch -D -",
        "git rebase -i main",
        "git rebase -x 'make' main",
        "git rebase main topic",
        "git rebase --abort",
        "git rebase --autostash main",
        "git rm -f '*.txt'",
    ],
)
def test_what_is_not_plain_runs(command: str) -> None:
    assert any(line.startswith(ACTS) for line in does(command))


@pytest.mark.parametrize(
    ("command", "asked", "hooks"),
    [
        ("git checkout -b x origin/main", "checkout origin/main", "checkout"),
        ("git switch x", "checkout x", "checkout"),
        ("git switch -c x HEAD~2", "checkout HEAD~2", "checkout"),
        ("git merge --no-edit dev", "merge dev", "commit"),
        ("git merge -m x dev", "merge dev", "commit"),
        ("git merge --ff-only dev", "merge dev", "commit"),
        ("git merge --no-commit --no-ff dev", "merge dev", "commit"),
        ("git cherry-pick abc def", "pick abc def", "commit"),
        ("git revert --no-edit HEAD", "revert HEAD", "commit"),
        ("git stash", "stash", "commit"),
        ("git stash push -m wip", "stash", "commit"),
        ("git stash -u", "stash-all", "commit"),
        ("git stash pop", "unstash", "commit"),
        ("git stash apply stash@{1}", "unstash", "commit"),
    ],
)
def test_what_changes_the_working_tree_names_what_git_is_asked(command: str, asked: str, hooks: str) -> None:
    assert does(command) == [f"EXECUTE <{asked}:/w>", *stored(hooks)]


def test_a_checkout_may_be_of_a_file_that_has_the_name() -> None:
    assert does("git checkout main") == ["WRITE main !discard-there", "EXECUTE <checkout main:/w>", *stored("checkout")]


@pytest.mark.parametrize(
    "command",
    [
        "git checkout @{-1}",
        "git checkout -",
        "git checkout HEAD:x",
        "git checkout a..b",
        "git checkout :/text",
        "git checkout 'a b'",
        "git checkout -m main",
        "git checkout -B x main",
        "git checkout --recurse-submodules main",
        "git switch -C x main",
        "git switch a b",
        "git --work-tree=sub checkout main",
        "git --git-dir=sub/.git switch main",
        "git --work-tree=.claude stash pop",
        "git merge dev",  # an editor
        "git merge --no-edit a b",
        "git merge --no-edit -s ours dev",
        "git merge --no-edit --autostash dev",
        "git merge --abort",
        "git cherry-pick -e abc",
        "git cherry-pick a..b",
        "git cherry-pick -m 1 abc",
        "git cherry-pick --continue",
        "git revert HEAD",  # an editor
        "git stash -a",
        "git stash -p",
        "git stash -- a",
        "git stash push a",
        "git stash pop --index",
        "git stash pop $x",
        "git stash apply abc",
    ],
)
def test_other_ways_to_change_the_tree_act(command: str) -> None:
    assert any(line.startswith(ACTS) for line in does(command))


@pytest.mark.parametrize("command", ["git checkout HEAD~1 -- a.txt", "git checkout -- a.txt", "git restore a.txt"])
def test_a_file_that_is_brought_back_is_written(command: str) -> None:
    assert any(line.startswith("WRITE a.txt") for line in does(command))


def stored(hooks: str) -> list[str]:
    """A write to the store of the repository at hand, under its hooks."""
    return ["WRITE </w>", f"EXECUTE <{hooks}:/w>"]


@pytest.mark.parametrize(
    ("command", "hooks"),
    [
        ("git commit -m x", "commit"),
        ("git commit -am x --quiet", "commit"),
        ("git commit --amend --no-edit", "commit"),
        ("git commit --fixup abc123", "commit"),
        ("git commit -m x -- a b", "commit"),
        ("git checkout -b new", "checkout"),
        ("git checkout -q -b new", "checkout"),
        ("git switch -c new", "checkout"),
        ("git reset", "refs"),
        ("git reset -q HEAD a b", "refs"),
        ("git reset -- a", "refs"),
        ("git reset --soft HEAD~1", "refs"),
        ("git reset HEAD~1", "refs"),
        ("git restore --staged a", "refs"),
        ("git restore -S --source=HEAD~1 .", "refs"),
        ("git rm --cached a", "refs"),
        ("git rm -r -q --cached build", "refs"),
    ],
)
def test_what_only_changes_the_store_runs_nothing_but_hooks(command: str, hooks: str) -> None:
    assert does(command) == stored(hooks)


@pytest.mark.parametrize("command", ["git branch x", "git branch x HEAD~2", "git tag v1", "git tag -a v1 -m x HEAD~1"])
def test_a_new_name_for_a_commit_only_changes_the_store(command: str) -> None:
    assert does(command) == [*stored("refs"), READS]


@pytest.mark.parametrize(
    "command",
    [
        "git commit",  # an editor
        "git commit --amend",
        "git commit -m x -e",
        "git commit -c HEAD",
        "git commit --fixup=amend:HEAD",
        "git commit --fixup=reword:HEAD",
        "git commit -m x --no-verify",
        "git commit -m x -S",
        "git commit -p -m x",
        "git commit --squash HEAD",
        "git -c core.editor=./x commit -m x",
        "git -c core.hooksPath=./x commit -m x",
        "git checkout -B new",
        "git checkout -b new -f",
        "git switch -C new",
        "git branch -m a b",
        "git branch -u origin/x a",
        "git tag -a v1",  # an editor
        "git tag -s v1 -m x",
        "git tag -f v1",
        "git reset --keep HEAD~1",
        "git reset -p",
        "git reset --recurse-submodules",
        "git restore -p --staged a",
        "git rm --cached -f a",
        "git rm '*.txt'",  # git's own globs
        "git rm :/",
        "git rm ':(top)a'",
        "git mv -f a b",
        "git stash -q list",
        "git stash frobnicate",
        "git stash branch x",
        "git stash create",
        "git stash store x",
        "git apply a.patch",
        "git apply --cached a.patch",
    ],
)
def test_what_does_more_than_change_the_store_acts(command: str) -> None:
    assert any(line.startswith(ACTS) for line in does(command))


def test_what_git_removes_or_moves_is_in_the_store_or_elsewhere() -> None:
    assert does("git rm a") == ["DELETE a", *stored("refs")]
    assert does("git rm -r src") == ["DELETE+ src", *stored("refs")]
    assert does("git rm -n a") == stored("refs")
    assert does("git mv a b") == ["READ+ a", "DELETE+ a", "WRITE+ b", "WRITE+ b/a", *stored("refs")]
    removed = [effect for name in ("git rm a", "git mv a b") for effect in effects_of(name).effects]
    assert all(effect.lossless for effect in removed if effect.operation is Operation.DELETE)


def test_a_patch_is_only_looked_at_where_it_is_checked() -> None:
    assert does("git apply --check a.patch") == ["READ a.patch", READS]


@pytest.mark.parametrize("word", [Arg("$X"), Arg("$X", ("--hard", "HEAD"))])
@pytest.mark.parametrize(
    "command",
    [
        "git reset",
        "git stash",
        "git stash pop",
        "git rm",
        "git mv a",
        "git branch",
        "git tag",
        "git commit -m x",
        "git checkout -b n",
    ],
)
def test_a_word_that_may_be_an_option_acts(command: str, word: Arg) -> None:
    assert any(line.startswith(ACTS) for line in does((*command.split(), word)))


def test_a_message_may_be_anything_and_its_file_is_read() -> None:
    assert does(("git", "commit", "-m", Arg("$X"))) == stored("commit")
    assert does("git commit -F msg.txt") == ["READ msg.txt", *stored("commit")]
    assert does("git tag -F msg.txt v1") == ["READ msg.txt", *stored("refs"), READS]


def test_the_store_is_that_of_the_folder_which_git_is_sent_to() -> None:
    assert does("git -C sub commit -m x") == ["WRITE <sub>", "EXECUTE <commit:/w/sub>"]
    assert does("git -C sub tag v1") == ["WRITE <sub>", "EXECUTE <refs:/w/sub>", "EXECUTE <sub>"]


def test_a_checkout_of_one_name_discards_work_if_that_is_a_file() -> None:
    assert "WRITE main !discard-there" in does("git checkout main")
    assert "WRITE main !discard-there" in does("git checkout -q main")
    assert not [line for line in does("git checkout -b new main") if "discard" in line]
