"""Whatever state a repository is in, what git discards after a copy is put back unchanged."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from hypothesis import Phase, event, given
from hypothesis import strategies as st

from tests.examples import examples
from tests.undo.git_states import collect_garbage, git, is_sound, state
from tests.undo.test_git import COPIED, session_in, undo

MORE = ("git rebase topic", "git rebase HEAD~1", "git rebase --onto HEAD~2 HEAD~1", "git reset --hard HEAD@{1}")


def stage_all(folder: Path) -> None:
    git(folder, "add", "-A", check=False)


def commit_all(folder: Path) -> None:
    git(folder, "add", "-A", check=False)
    git(folder, "commit", "-qm", "all", check=False)


def pack_refs(folder: Path) -> None:
    git(folder, "pack-refs", "--all")


def collect(folder: Path) -> None:
    git(folder, "gc", "-q")


def detach(folder: Path) -> None:
    git(folder, "checkout", "-q", "--detach")


def conflict(folder: Path) -> None:
    git(folder, "add", "-A", check=False)
    git(folder, "commit", "-qm", "mine", check=False)
    git(folder, "checkout", "-qb", "other", "HEAD~1", check=False)
    (folder / "src").mkdir(exist_ok=True)
    (folder / "src/b.txt").write_text("theirs\n")
    git(folder, "commit", "-qam", "theirs", check=False)
    git(folder, "merge", "-q", "main", check=False)


def modes(folder: Path) -> None:
    for name, mode in (("a.txt", 0o755), ("new.txt", 0o600)):
        if (folder / name).exists():
            (folder / name).chmod(mode)


def links(folder: Path) -> None:
    for name, leads in (("link", "a.txt"), ("dangling", "nowhere")):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(leads)


def sparse(folder: Path) -> None:
    with (folder / "holes").open("wb") as file:
        file.seek(1_000_000)
        file.write(b"end")


def empty_index(folder: Path) -> None:
    git(folder, "rm", "-rq", "--cached", ".", check=False)


def ahead(folder: Path) -> None:
    git(folder, "stash", "-qu", check=False)
    git(folder, "checkout", "-q", "topic", check=False)


def nested(folder: Path) -> None:
    for place in ("inner", "new/inner"):
        (folder / place).mkdir(parents=True, exist_ok=True)
        git(folder / place, "init", "-q")
        (folder / place / "work").write_text("work\n")


def swapped(folder: Path) -> None:
    """A folder in the place of a file, a file in that of a folder, and what is in the way of other branches."""
    for name in ("a.txt", "topic.txt"):
        if not (folder / name).is_dir():
            (folder / name).unlink(missing_ok=True)
            (folder / name).mkdir()
        (folder / name / "mine").write_text("mine\n")
    if (folder / "new").is_dir():
        shutil.rmtree(folder / "new")
        (folder / "new").write_text("a file now\n")


def renamed(folder: Path) -> None:
    git(folder, "mv", "a.txt", "b c\n.txt", check=False)
    git(folder, "branch", "-m", "side", "side/ways", check=False)


def ignored(folder: Path) -> None:
    (folder / "src").mkdir(exist_ok=True)
    (folder / "src/x.o").write_text("ignored\n")
    (folder / ".gitignore").write_text("*\n")


def split_index(folder: Path) -> None:
    git(folder, "update-index", "--split-index", check=False)


STEPS = [stage_all, commit_all, pack_refs, collect, detach, conflict, modes, links, sparse, empty_index, ahead]
STEPS += [nested, swapped, renamed, ignored, split_index]


@given(st.lists(st.sampled_from(STEPS), max_size=4), st.sampled_from([*COPIED, *MORE]), st.booleans())
@examples(250, phases=(Phase.explicit, Phase.reuse, Phase.generate))  # an example takes a second: it is not shrunk
def test_what_git_discards_in_any_state_is_put_back(steps: list[object], command: str, collected: bool) -> None:
    folder = tempfile.mkdtemp()
    try:
        session = session_in(Path(folder), stashes="stash" in command)
        for step in steps:
            assert callable(step)
            step(session.project)
        before = state(session.project)
        if session.decides(command) != "allow":
            return  # what cannot be copied asks
        assert state(session.project) == before
        subprocess.run(command, shell=True, cwd=session.project, check=False, capture_output=True)
        if state(session.project) == before:
            return
        if collected and not before["doing"]:
            collect_garbage(session.project)
        event("put back")
        undo(session)
        assert state(session.project) == before
        assert is_sound(session.project)
    finally:
        shutil.rmtree(folder)
