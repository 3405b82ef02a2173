"""Which hooks git would run in a folder's repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from assent.contract import Effect, Kind, Lowering, Operation, Target
from assent.facts.githooks import hook
from assent.facts.links import Links
from assent.facts.observe import observe


@pytest.fixture
def own(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path / "own")], check=True)
    (tmp_path / "own/sub").mkdir()
    return tmp_path / "own"


def found(group: str, folder: Path) -> str:
    return hook(f"{group}:{folder}", Links(None))


def test_samples_and_other_files_are_no_hooks(own: Path) -> None:
    (own / ".git/hooks").mkdir(exist_ok=True)
    (own / ".git/hooks/pre-commit.sample").write_text("")
    (own / ".git/hooks/README").write_text("")
    assert [found(group, own) for group in ("refs", "checkout", "commit")] == ["", "", ""]


@pytest.mark.parametrize(
    ("name", "groups"),
    [
        ("pre-commit", ["commit"]),
        ("commit-msg", ["commit"]),
        ("post-rewrite", ["commit"]),
        ("post-checkout", ["checkout", "commit"]),
        ("reference-transaction", ["refs", "checkout", "commit"]),
        ("pre-auto-gc", ["refs", "checkout", "commit"]),
        ("post-index-change", ["refs", "checkout", "commit"]),
        ("pre-push", []),
    ],
)
def test_a_hook_counts_for_the_commands_that_run_it(own: Path, name: str, groups: list[str]) -> None:
    (own / ".git/hooks").mkdir(exist_ok=True)
    (own / ".git/hooks" / name).write_text("")
    assert [group for group in ("refs", "checkout", "commit") if found(group, own / "sub")] == groups


@pytest.mark.parametrize("folder", [".husky", ".husky/_", ".githooks", ".git/hooks"])
def test_hooks_count_in_every_folder_that_settings_may_name(own: Path, folder: str) -> None:
    (own / folder).mkdir(parents=True, exist_ok=True)
    (own / folder / "pre-commit").write_text("")
    assert found("commit", own) == f"`{own}/{folder}/pre-commit` is a hook"


def test_a_linked_worktree_runs_the_hooks_of_its_repository(own: Path) -> None:
    git = ["git", "-C", str(own), "-c", "user.name=a", "-c", "user.email=b"]
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", "../tree"], check=True)
    (own / ".git/hooks").mkdir(exist_ok=True)
    (own / ".git/hooks/pre-commit").write_text("")
    assert found("commit", own.parent / "tree") == f"`{own}/.git/hooks/pre-commit` is a hook"


def test_a_group_that_is_not_known_counts_them_all(own: Path) -> None:
    (own / ".git/hooks").mkdir(exist_ok=True)
    (own / ".git/hooks/commit-msg").write_text("")
    assert found("frobnicate", own) != ""


def test_facts_tell_of_hooks_by_the_name_that_the_effect_has(own: Path) -> None:
    names = (f"commit:{own}", f"refs:{own}", "")
    effects = tuple(Effect(Operation.EXECUTE, Target(Kind.HOOKS, name)) for name in names)
    (own / ".git/hooks").mkdir(exist_ok=True)
    (own / ".git/hooks/pre-commit").write_text("")
    facts = observe(Lowering("bash", effects), roots=(str(own),), home="", cwd="")
    assert facts.hooks == {f"commit:{own}": f"`{own}/.git/hooks/pre-commit` is a hook", f"refs:{own}": ""}


def test_a_remote_is_no_place_on_this_machine_unless_the_repository_names_it(own: Path) -> None:
    subprocess.run(["git", "-C", str(own), "remote", "add", "up", "https://example.com/x.git"], check=True)
    for name in ("up", "g"):
        (own / name).mkdir()
    (own / "b.bundle").write_text("")
    reasons = {name: found(f"remote={name}", own) for name in ("origin", "up", "g", "b")}
    assert reasons == {
        "origin": "",
        "up": "",
        "g": f"`{own}/g` is on this machine, and no remote of the repository",
        "b": f"`{own}/b.bundle` is on this machine, and no remote of the repository",
    }


def test_a_remote_that_the_call_itself_may_make_is_none(own: Path) -> None:
    asked = Effect(Operation.EXECUTE, Target(Kind.HOOKS, f"remote=g:{own}"))
    made = [Effect(Operation.WRITE, Target(Kind.PATH, f"{own}/{name}")) for name in ("g/config", "h")]
    told = [observe(Lowering("bash", (each, asked)), roots=(str(own),), home="/h", cwd=str(own)).hooks for each in made]
    assert told == [{f"remote=g:{own}": "another part of the command may make it"}, {f"remote=g:{own}": ""}]
