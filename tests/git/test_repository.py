"""Git that only reads is harmless in the session's own repository, unless its settings make git run programs.

If a test says that git runs a program, real git is seen to run it."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from assent.facts.links import Links
from assent.facts.repository import harm

IDENTITY = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main")


def git(*words: str, at: Path) -> str:
    done = subprocess.run(
        ["git", *IDENTITY, "-c", "protocol.file.allow=always", "-C", str(at), *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"},
    )
    return done.stdout + done.stderr


def make(path: Path) -> Path:
    path.mkdir()
    git("init", "-q", at=path)
    (path / "a.txt").write_text("a\n")
    git("add", ".", at=path)
    git("commit", "-q", "-m", "one", at=path)
    return path


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return Path(os.path.realpath(tmp_path))


@pytest.fixture
def repo(place: Path) -> Path:
    return make(place / "repo")


def reason(folder: object, *roots: object, home: str = "") -> str:
    return harm(str(folder), tuple(map(str, roots)), Links(), home)


# ---------------------------------------------------------------- whose repository


def test_the_sessions_own_repository_is_harmless(repo: Path) -> None:
    (repo / "src").mkdir()
    assert reason(repo, repo) == ""
    assert reason(repo / "src", repo) == ""


def test_a_root_inside_a_repository_makes_it_the_sessions(repo: Path) -> None:
    (repo / "packages/one").mkdir(parents=True)
    assert reason(repo / "packages/one", repo / "packages/one") == ""


def test_a_folder_without_a_repository_is_harmless_in_the_workspace(place: Path) -> None:
    (place / "plain/sub").mkdir(parents=True)
    assert reason(place / "plain/sub", place / "plain") == ""
    assert reason(place / "plain", place / "other") == f"`{place}/plain` is outside the workspace"


def test_a_repository_inside_the_workspace_is_not_the_sessions(repo: Path) -> None:
    inner = make(repo / "inner")
    assert reason(inner, repo) == f"`{inner}` is another repository than the session's"


def test_a_repository_outside_the_workspace_is_not_the_sessions(repo: Path, place: Path) -> None:
    other = make(place / "other")
    assert reason(other, repo) == f"`{other}` is another repository than the session's"


def test_a_link_to_another_repository_is_that_repository(repo: Path, place: Path) -> None:
    other = make(place / "other")
    (repo / "link").symlink_to(other)
    assert reason(repo / "link", repo) == f"`{other}` is another repository than the session's"


def test_a_bare_repository_is_not_harmless(repo: Path) -> None:
    git("init", "-q", "--bare", str(repo / "data"), at=repo)
    git("config", "core.fsmonitor", "touch pwned", at=repo / "data")
    assert reason(repo / "data", repo) == f"`{repo}/data` is a bare repository"
    assert reason(repo / "data/refs", repo) == f"`{repo}/data` is a bare repository"


def test_the_git_folder_itself_is_its_repository(repo: Path) -> None:
    inner = make(repo / "inner")
    assert reason(repo / ".git", repo) == ""
    assert reason(repo / ".git/refs", repo) == ""
    assert reason(inner / ".git", repo) == f"`{inner}` is another repository than the session's"


def test_a_worktree_of_the_sessions_repository_is_the_sessions(repo: Path, place: Path) -> None:
    git("worktree", "add", "-q", ".worktrees/side", at=repo)
    git("worktree", "add", "-q", "../outside", at=repo)
    assert reason(repo / ".worktrees/side", repo) == ""
    assert reason(place / "outside", repo) == ""
    assert reason(repo, place / "outside") == ""


def test_a_folder_that_says_it_is_a_worktree_is_not_believed(repo: Path, place: Path) -> None:
    git("worktree", "add", "-q", "../side", at=repo)
    (repo / "liar").mkdir()
    (repo / "liar/.git").write_text((place / "side/.git").read_text())
    assert reason(repo / "liar", repo) == f"`{repo}/liar` is another repository than the session's"


def test_a_submodule_of_the_sessions_repository_is_the_sessions(repo: Path, place: Path) -> None:
    library = make(place / "library")
    git("submodule", "add", "-q", str(library), "lib", at=repo)
    assert reason(repo / "lib", repo) == ""
    assert reason(repo, repo) == ""


def test_a_git_file_that_leads_nowhere_is_not_harmless(repo: Path) -> None:
    (repo / "odd").mkdir()
    (repo / "odd/.git").write_text("gitdir: ../nowhere\n")
    assert reason(repo / "odd", repo) == f"`{repo}/odd/.git` leads to no git folder"
    (repo / "odd/.git").write_text("gitdir: ../.git\nmore\n")
    assert reason(repo / "odd", repo) == f"`{repo}/odd/.git` is no git folder"


def test_a_missing_folder_is_harmless_only_as_a_root_that_is_missing(repo: Path) -> None:
    assert reason("/workspace/nowhere", "/workspace/nowhere") == ""
    assert reason("/workspace/nowhere/evil", "/workspace/nowhere") != ""
    assert reason(repo / "not-yet", repo) == f"`{repo}/not-yet` is not the session's repository"


def test_without_a_file_system_only_a_root_is_the_sessions(repo: Path) -> None:
    links = Links({"/ws/link": "/out"})
    known = [
        harm(folder, ("/ws", str(repo)), links, portable=True) for folder in ("/ws", "/ws/sub", "/ws/link", "/out")
    ]
    assert [bool(why) for why in known] == [False, True, True, True]


def test_a_folder_that_cannot_be_told_is_not_harmless(repo: Path) -> None:
    (repo / "loop").symlink_to("loop")
    assert reason(repo / "loop", repo) == f"where `{repo}/loop` leads is not known"


# ---------------------------------------------------------------- settings by which git runs programs


def wrote(repo: Path, *words: str) -> bool:
    """Whether real git, asked to read, runs the program that was planted."""
    os.utime(repo / "a.txt", (1, 1))
    git(*words, at=repo)
    return (repo.parent / "pwned").exists()


def planted(repo: Path) -> str:
    script = repo.parent / "program"
    script.write_text(f"#!/bin/sh\ntouch {repo.parent}/pwned\n")
    script.chmod(0o755)
    return str(script)


def test_fsmonitor_runs_on_status(repo: Path) -> None:
    git("config", "core.fsmonitor", planted(repo), at=repo)
    assert wrote(repo, "status")
    assert reason(repo, repo) == f"`core.fsmonitor` in `{repo}/.git/config` can make git run a program"


def test_an_external_diff_runs_on_diff(repo: Path) -> None:
    git("config", "diff.external", planted(repo), at=repo)
    (repo / "a.txt").write_text("b\n")
    assert wrote(repo, "diff")
    assert reason(repo, repo) == f"`diff.external` in `{repo}/.git/config` can make git run a program"


def test_a_text_conversion_runs_on_show(repo: Path) -> None:
    git("config", "diff.x.textconv", planted(repo), at=repo)
    (repo / ".git/info/attributes").write_text("*.txt diff=x\n")
    assert wrote(repo, "show")
    assert reason(repo, repo) == f"`diff.x.textconv` in `{repo}/.git/config` can make git run a program"


def test_a_filter_runs_on_status(repo: Path) -> None:
    git("config", "filter.x.clean", planted(repo), at=repo)
    (repo / ".gitattributes").write_text("*.txt filter=x\n")
    assert wrote(repo, "status")
    assert reason(repo, repo) == f"`filter.x.clean` in `{repo}/.git/config` can make git run a program"


def test_a_hook_runs_on_status(repo: Path) -> None:
    hooks = repo / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    os.symlink(planted(repo), hooks / "post-index-change")
    assert wrote(repo, "status")
    assert reason(repo, repo) == f"`{hooks}/post-index-change` runs when git reads"


def test_a_hook_in_another_folder_runs_on_status(repo: Path) -> None:
    (repo / "hooks").mkdir()
    os.symlink(planted(repo), repo / "hooks/post-index-change")
    git("config", "core.hooksPath", "hooks", at=repo)
    assert wrote(repo, "status")
    assert reason(repo, repo) == f"`core.hooksPath` of `{repo}` is `hooks`"


def test_the_usual_hook_folders_are_harmless_without_a_hook_that_reading_runs(repo: Path) -> None:
    (repo / ".husky/_").mkdir(parents=True)
    git("config", "core.hooksPath", ".husky/_", at=repo)
    assert reason(repo, repo) == ""
    os.symlink(planted(repo), repo / ".husky/_/post-index-change")
    assert wrote(repo, "status")
    assert reason(repo, repo) == f"`{repo}/.husky/_/post-index-change` runs when git reads"


def test_an_included_file_counts(repo: Path) -> None:
    (repo / "shared.gitconfig").write_text(f"[core]\n\tfsmonitor = {planted(repo)}\n")
    git("config", "include.path", "../shared.gitconfig", at=repo)
    assert wrote(repo, "status")
    assert reason(repo, repo) == f"`core.fsmonitor` in `{repo}/.git/../shared.gitconfig` can make git run a program"


def test_a_conditional_include_counts_whatever_its_condition(repo: Path) -> None:
    (repo / "x").write_text("[alias]\n\tx = !y\n")
    git("config", "includeIf.onbranch:never.path", "../x", at=repo)
    assert reason(repo, repo) == f"`alias.x` in `{repo}/.git/../x` can make git run a program"


def test_an_include_from_home_is_followed(repo: Path, place: Path) -> None:
    (place / "mine").write_text("[core]\n\tpager = ./page\n")
    git("config", "include.path", "~/mine", at=repo)
    assert reason(repo, repo, home=str(place)) == f"`core.pager` in `{place}/mine` can make git run a program"


def test_includes_that_go_round_end(repo: Path) -> None:
    git("config", "include.path", "config", at=repo)
    assert "too many" in reason(repo, repo)


def test_a_worktrees_own_settings_count(repo: Path) -> None:
    git("config", "extensions.worktreeConfig", "true", at=repo)
    git("config", "--worktree", "core.fsmonitor", planted(repo), at=repo)
    assert wrote(repo, "status")
    assert reason(repo, repo) == f"`core.fsmonitor` in `{repo}/.git/config.worktree` can make git run a program"


def test_the_common_settings_count_in_a_worktree(repo: Path, place: Path) -> None:
    git("worktree", "add", "-q", "../side", at=repo)
    git("config", "core.fsmonitor", planted(repo), at=repo)
    assert wrote(repo, "-C", str(place / "side"), "status")
    assert "core.fsmonitor" in reason(place / "side", repo)


def test_settings_that_lie_elsewhere_count(repo: Path, place: Path) -> None:
    other = make(place / "other")
    git("config", "core.fsmonitor", planted(repo), at=other)
    (repo / ".git/commondir").write_text(f"{other}/.git\n")
    assert wrote(repo, "status")
    assert "core.fsmonitor" in reason(repo, repo)


def test_a_submodules_settings_count_for_the_repository_around_it(repo: Path, place: Path) -> None:
    library = make(place / "library")
    git("submodule", "add", "-q", str(library), "lib", at=repo)
    git("commit", "-q", "-m", "lib", at=repo)
    git("config", "core.fsmonitor", planted(repo), at=repo / "lib")
    assert wrote(repo, "status")
    assert "core.fsmonitor" in reason(repo, repo)


@pytest.mark.parametrize("version", ["2", "4"])
def test_an_embedded_repository_in_the_index_counts(repo: Path, version: str) -> None:
    git("update-index", "--index-version", version, at=repo)
    inner = make(repo / "inner")
    git("add", "inner", at=repo)
    git("commit", "-q", "-m", "inner", at=repo)
    git("config", "core.fsmonitor", planted(repo), at=inner)
    assert wrote(repo, "status")
    assert reason(repo, repo) != ""


def test_an_embedded_repository_counts_by_sha_256_too(place: Path) -> None:
    outer = place / "outer"
    outer.mkdir()
    git("init", "-q", "--object-format=sha256", at=outer)
    (outer / "inner").mkdir()
    git("init", "-q", "--object-format=sha256", at=outer / "inner")
    git("commit", "-q", "--allow-empty", "-m", "x", at=outer / "inner")
    (outer / "a.txt").touch()
    git("add", ".", at=outer)
    assert reason(outer, outer) == ""
    git("config", "core.fsmonitor", planted(outer), at=outer / "inner")
    assert wrote(outer, "status")
    assert "core.fsmonitor" in reason(outer, outer)


def test_a_working_tree_elsewhere_counts(repo: Path, place: Path) -> None:
    git("config", "core.worktree", str(repo), at=repo)
    assert reason(repo, repo) == ""
    git("config", "core.worktree", str(place), at=repo)
    assert reason(repo, repo) == f"`core.worktree` of `{repo}` is another folder"


def test_settings_that_cannot_be_read_count(repo: Path) -> None:
    (repo / ".git/config").write_text("[core\n")
    assert reason(repo, repo) == f"`{repo}/.git/config` cannot be read: line 1 is not understood"
    (repo / ".git/config").unlink()
    os.mkfifo(repo / ".git/config")
    assert reason(repo, repo) == f"`{repo}/.git/config` cannot be read: it is not a regular file"


def test_large_file_support_is_harmless(repo: Path) -> None:
    for key, value in (("clean", "git-lfs clean -- %f"), ("process", "git-lfs filter-process"), ("required", "true")):
        git("config", f"filter.lfs.{key}", value, at=repo)
    assert reason(repo, repo) == ""


def test_a_change_is_seen_at_once_and_so_is_its_end(repo: Path) -> None:
    seen = []
    for words in ((), ("alias.x", "!y"), ("--unset", "alias.x"), ("core.pager", "./p"), ("--unset", "core.pager")):
        if words:
            git("config", *words, at=repo)
        seen.append((reason(repo, repo), reason(repo, repo)))
    assert [(first == second, bool(first)) for first, second in seen] == [
        (True, bad) for bad in (False, True) * 2 + (False,)
    ]


def test_what_one_home_includes_says_nothing_of_another(repo: Path, tmp_path: Path) -> None:
    for name, text in (("calm", ""), ("wild", "[core]\n\tfsmonitor = evil\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "more").write_text(text)
    with (repo / ".git" / "config").open("a") as config:
        config.write("[include]\n\tpath = ~/more\n")
    for path in (repo / ".git" / "config", tmp_path / "calm" / "more"):
        old = path.stat().st_ctime_ns
        while time.time_ns() - old < 100_000_000:  # a look is remembered where nothing changed just before it
            time.sleep(0.02)
    assert reason(repo, repo, home=str(tmp_path / "calm")) == ""
    assert "fsmonitor" in reason(repo, repo, home=str(tmp_path / "wild"))
