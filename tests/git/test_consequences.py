"""What a call would cause in a real repository: files, commits and changes that are lost or sent."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from assent.contract import Call, Outcome
from assent.contract.approval import Consequence
from assent.engine import configure, consequences
from assent.facts.consequences import measure
from assent.facts.consequences.measure import plan


class Project:
    """A repository with two commits that `origin` does not have, and changes that are not committed."""

    def __init__(self, folder: Path) -> None:
        self.top = folder / "own"
        self.top.mkdir()
        self.home = folder / "home"
        self.home.mkdir()
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.email", "a@example.com")
        self.git("config", "user.name", "a")
        self.git("remote", "add", "origin", "https://me:hunter2@host.example/acme/x.git")
        for name in ("src/a.py", "src/b.py", "src/c.py"):
            self.write(name, "one\n")
        self.write(".gitignore", "build/\n")
        self.commit("one")
        self.git("update-ref", "refs/remotes/origin/main", "main")
        self.write("src/a.py", "two\n")
        self.commit("two")
        self.write("src/a.py", "three\n")
        self.commit("three")

    def git(self, *words: str) -> str:
        done = subprocess.run(["git", "-C", str(self.top), *words], check=True, capture_output=True, text=True)
        return done.stdout

    def write(self, name: str, text: str) -> None:
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def commit(self, message: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def asked(self, command: str, *, copy: str = "", undo: bool = True) -> list[Consequence]:
        """The consequences of a call; a measurement gets more time than it has in use: the machine may be busy."""
        environ = {"HOME": str(self.home), "ASSENT_HOME": str(self.home / "state")}
        here = configure.place(str(self.top), environ, home=str(self.home))
        engine, here = configure.open_gate(here, environ)
        call = Call("bash", {"command": command}, cwd=str(self.top), roots=here.roots, home=str(self.home))
        judged = engine.judge(call)
        assert judged.lowering is not None
        assert judged.facts is not None
        assert judged.decision.outcome is not Outcome.ALLOW
        found = measure.measure(plan(call, judged.lowering, judged.facts), 20.0)
        return [*found, *consequences._undone(judged, copy, undo)]

    def shown(self, command: str) -> list[str]:
        return [each.text for each in self.asked(command) if each.kind != "undo"]


@pytest.fixture
def own(tmp_path: Path) -> Project:
    return Project(tmp_path)


REMOTE = "`origin` (`https://host.example/acme/x.git`)"


def subject(own: Project, revision: str) -> str:
    return own.git("log", "-1", "--format=%h %s", revision).strip()


# ---------------------------------------------------------------- deletions


def test_a_deletion_says_how_much_goes_and_what_git_has_of_it(own: Project) -> None:
    assert own.shown("rm -rf src") == ["removes 3 files, 14 bytes", "git has all of them, unchanged"]


def test_a_deletion_names_what_git_does_not_have_and_changes_that_are_lost(own: Project) -> None:
    own.write("src/new.py", "x")
    own.write("src/b.py", "changed\n")
    own.write("build/out", "xx")
    own.write("src/staged.py", "s")
    own.git("add", "src/staged.py")
    assert own.shown("rm -rf src build") == [
        "removes 6 files, 22 bytes",
        "git does not have 2 of them (1 ignored): `src/new.py` and 1 more",
        "loses uncommitted changes in 2 files: `src/b.py`, `src/staged.py`",
    ]
    assert own.shown("rm -rf build") == [
        "removes 1 file, 2 bytes",
        "git does not have 1 of them (all ignored): `build/out`",
    ]


def test_a_deletion_outside_of_any_repository(own: Project, tmp_path: Path) -> None:
    (tmp_path / "loose").mkdir()
    (tmp_path / "loose/x").write_text("123")
    assert own.shown(f"rm -rf {tmp_path}/loose") == ["removes 1 file, 3 bytes", "they are in no git repository"]


def test_a_deleted_repository_goes_with_its_history(own: Project) -> None:
    own.write("vendor/x/y", "1")
    subprocess.run(["git", "init", "-q", str(own.top / "vendor/x")], check=True)
    found = own.shown("rm -rf vendor")
    assert found[1] == "removes a git repository with its history: `vendor/x`"
    assert found[2] == "git does not have 1 of them: `vendor/x/y`"


def test_what_is_not_there_and_what_is_not_known(own: Project) -> None:
    assert own.shown("rm -rf absent") == ["removes nothing that is there now: `absent`"]
    assert own.shown('rm -rf "$X"') == ["which files `$X` means is not known, so they are not counted"]
    assert own.shown("find . -name '*.py' -delete")[0].startswith("removes up to 3 files, 14 bytes: those that match")


def test_links_are_not_followed(own: Project, tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "far/big").write_text("x" * 1000)
    (own.top / "src/link").symlink_to(tmp_path / "far")
    assert own.shown("rm -rf src")[0].startswith("removes 4 files, ")


def test_pipes_and_hostile_names_are_counted_and_inert(own: Project) -> None:
    os.mkfifo(own.top / "src/pipe")
    own.write("src/\x1b[2J\u202e`x\n", "x")
    (own.top / os.fsdecode(b"src/\xff\xfe")).write_text("x")
    _, absent, *_ = own.shown("rm -rf src")
    assert absent.startswith("git does not have 3 of them: ")
    assert "`src/\\u{1b}[2J\\u{202e}\\u{60}x⏎`" in absent
    assert absent.isprintable()


# ---------------------------------------------------------------- pushes


def test_a_push_says_which_commits_it_adds_where(own: Project) -> None:
    two, three = subject(own, "HEAD~1"), subject(own, "HEAD")
    adds = f"adds 2 commits to `main` on {REMOTE}, as of the last fetch: `{three}`, `{two}`"
    assert own.shown("git push origin main") == [adds]
    assert own.shown("git push") == [adds]
    assert own.shown("git push origin HEAD") == [adds]
    assert own.shown("git push -o ci.skip -u origin main:refs/heads/main") == [adds]


def test_a_forced_push_says_which_commits_it_overwrites(own: Project) -> None:
    old = subject(own, "HEAD")
    own.git("update-ref", "refs/remotes/origin/main", "HEAD")
    own.git("reset", "-q", "--hard", "HEAD~1")
    overwrites = f"overwrites 1 commit of `main` on {REMOTE}, as of the last fetch: `{old}`"
    assert own.shown("git push --force origin main") == [overwrites]
    assert own.shown("git push origin +main") == [overwrites]
    assert own.shown("git push --force-with-lease origin main") == [overwrites]
    assert own.shown("git push origin main") == [
        f"is refused: `main` on {REMOTE} is ahead by 1 commit, as of the last fetch"
    ]


def test_other_pushes(own: Project) -> None:
    own.git("tag", "v1")
    own.git("update-ref", "refs/remotes/origin/old", "HEAD")
    two, three = subject(own, "HEAD~1"), subject(own, "HEAD")
    own.git("update-ref", "-d", "refs/remotes/origin/old")
    assert own.shown("git push origin main:fresh") == [
        f"creates `fresh` on {REMOTE} with 2 commits that it does not have, as of the last fetch: `{three}`, `{two}`"
    ]
    own.git("update-ref", "refs/remotes/origin/old", "HEAD")
    assert own.shown("git push origin :old") == [
        f"removes `old` from {REMOTE}; other branches have its commits, as of the last fetch"
    ]
    assert own.shown("git push origin v1") == [f"sends tag `v1` to {REMOTE}"]
    assert own.shown("git push https://u:p@evil.example/x main") == [
        "sends `main` to `https://evil.example/x`, which is no remote of the repository: what it has is not known"
    ]
    assert own.shown('git push origin "$B"')[0].startswith("which commits it sends is not known")
    own.git("update-ref", "refs/remotes/origin/main", "HEAD")
    assert own.shown("git push origin main") == [f"adds nothing to `main` on {REMOTE}, as of the last fetch"]


def test_commits_of_the_same_call_are_announced(own: Project) -> None:
    found = own.shown("git commit -am x && git push origin main")
    assert found[0].startswith("adds 2 commits")
    assert found[-1] == "measured before the call runs: one part of it may change what a later part does"
    assert own.shown("git push --dry-run origin main") == []


def test_a_hostile_subject_and_branch_are_inert(own: Project) -> None:
    own.git("checkout", "-q", "-b", "x`‮y")
    own.write("z", "1")
    own.commit("a`\x1b]0;owned\x07 <!channel>")
    found = own.shown("git push origin HEAD")[0]
    assert found.isprintable()
    assert "\\u{60}" in found
    assert "\\u{202e}" in found


# ---------------------------------------------------------------- what git drops


def test_a_reset_says_which_commits_and_changes_go(own: Project) -> None:
    own.write("src/b.py", "changed\n")
    own.git("branch", "other", "HEAD~1")
    two, three = subject(own, "HEAD~1"), subject(own, "HEAD")
    assert own.shown("git reset --hard HEAD~2") == [
        f"drops 2 commits from branch `main`: `{three}`, `{two}`",
        "no other branch, tag or remote has 1 of them",
        "loses uncommitted changes in 1 file: `src/b.py`",
    ]
    assert own.shown("git reset HEAD~1") == [
        f"drops 1 commit from branch `main`: `{three}`",
        "no other branch, tag or remote has it",
    ]
    assert own.shown("git reset --hard") == ["drops no commits", "loses uncommitted changes in 1 file: `src/b.py`"]


def test_discarded_files(own: Project) -> None:
    own.write("src/b.py", "changed\n")
    own.write("src/c.py", "changed\n")
    for command in ("git checkout -- src/b.py", "git restore src/b.py", "git checkout src/b.py"):
        assert own.shown(command) == ["loses uncommitted changes in 1 file: `src/b.py`"], command
    assert own.shown("git checkout -f")[0] == "loses uncommitted changes in 2 files: `src/b.py`, `src/c.py`"


def test_clean_says_what_it_removes(own: Project) -> None:
    own.write("loose.txt", "1234")
    own.write("build/x", "1")
    assert own.shown("git clean -fd") == ["removes 1 file, 4 bytes", "git does not have 1 of them: `loose.txt`"]
    assert own.shown("git clean -fdx")[0] == "removes 2 files, 5 bytes"


def test_a_rebase_says_which_commits_are_made_again(own: Project) -> None:
    three = subject(own, "HEAD")
    own.git("update-ref", "refs/remotes/origin/main", "HEAD")
    assert own.shown("git rebase -i HEAD~1") == [
        f"makes 1 commit of branch `main` again on top of `HEAD~1`: `{three}`",
        "each of them may be changed or dropped",
        "a remote has it already, as of the last fetch",
    ]


def test_branches_stashes_and_amended_commits(own: Project) -> None:
    own.git("checkout", "-q", "-b", "dev")
    own.write("d", "1")
    own.commit("only on dev")
    own.git("checkout", "-q", "main")
    own.write("src/b.py", "stashed\n")
    own.git("stash")
    assert own.shown("git branch -D dev") == [
        "removes branch `dev`, and 1 commit that no other branch, tag or remote has"
    ]
    assert own.shown("git stash clear")[0].startswith("drops 1 stash: `WIP on main: ")
    assert own.shown("git commit --amend -m x") == [
        f"replaces the last commit of branch `main`: `{subject(own, 'HEAD')}`"
    ]


# ---------------------------------------------------------------- safety


def test_nothing_of_a_hostile_repository_runs(own: Project, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    own.write("evil.sh", f"#!/bin/sh\ntouch {mark}\ncat\n")
    (own.top / "evil.sh").chmod(0o755)
    script = str(own.top / "evil.sh")
    own.write(".gitattributes", "* filter=evil diff=evil\n")
    own.write("src/b.py", "changed\n")
    for key in ("filter.evil.clean", "filter.evil.smudge", "diff.evil.textconv", "core.fsmonitor", "core.pager"):
        own.git("config", key, script)
    for command in ("rm -rf src", "git reset --hard HEAD~1", "git push", "git checkout -- src/b.py", "git clean -fdx"):
        assert "not known" in " ".join(own.shown(command)), command
    assert not mark.exists()


def test_hooks_do_not_run(own: Project, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    for name in ("pre-push", "post-checkout", "reference-transaction", "pre-rebase"):
        hook = own.top / ".git/hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {mark}\n")
        hook.chmod(0o755)
    for command in ("git push", "git reset --hard HEAD~1", "git rebase HEAD~1", "rm -rf src"):
        assert own.shown(command)
    assert not mark.exists()


def test_a_partial_clone_is_not_asked(own: Project) -> None:
    own.git("config", "remote.origin.promisor", "true")
    assert "partial clone" in own.shown("git push")[0]


def test_replaced_commits_are_not_believed(own: Project) -> None:
    own.git("replace", "HEAD", "HEAD~2")
    assert own.shown("git push")[0].startswith("adds 2 commits")


# ---------------------------------------------------------------- undo


def test_whether_a_copy_covers_it(own: Project) -> None:
    def undone(command: str, copy: str = "", *, undo: bool = True) -> list[str]:
        return [each.text for each in own.asked(command, copy=copy, undo=undo) if each.kind == "undo"]

    assert undone("rm -rf src", "kept") == ["a copy is kept: `assent undo` puts back what it deletes here"]
    assert undone("rm -rf src", "it is too large") == ["cannot be undone: it is too large"]
    assert undone("rm -rf src", undo=False) == ["cannot be undone: `undo` is off"]
    assert undone("git push") == []
