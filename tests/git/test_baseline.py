"""Code that is unchanged since the session began runs, other code that cannot be read asks: real repositories, through
the hook."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from assent.facts import baseline
from assent.facts.links import Links
from assent.state import ledger, sessions
from tests.unit.hook.test_hook import Session

UNREADABLE = "#!/bin/bash\necho building\n((\n"
CONFIG = 'mode = "full_auto"\n'
COMMAND = "bash scripts/build.sh"


def git(folder: Path, *words: str) -> str:
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder.parent), "GIT_CONFIG_NOSYSTEM": "1"}
    for who in ("AUTHOR", "COMMITTER"):
        environ |= {f"GIT_{who}_NAME": "a", f"GIT_{who}_EMAIL": "a@b.c"}
    done = subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True, text=True, env=environ)
    return done.stdout.strip()


def commit(folder: Path, files: dict[str, str], message: str = "x") -> str:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", message)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def session(tmp_path: Path) -> Session:
    found = Session(Path(os.path.realpath(tmp_path)), config=CONFIG)
    git(found.project, "init", "-q", "-b", "main")
    commit(found.project, {"scripts/build.sh": UNREADABLE, "README.md": "x\n"})
    return found


def edit(session: Session, path: str, text: str) -> None:
    """The agent edits a file: the hook allows it, and it is done."""
    given = {"file_path": str(session.project / path), "content": text}
    said = json.loads(session.send("PreToolUse", tool_name="Write", tool_input=given).stdout)["hookSpecificOutput"]
    assert said["permissionDecision"] == "allow"
    (session.project / path).parent.mkdir(parents=True, exist_ok=True)
    (session.project / path).write_text(text)


def test_code_of_the_first_commit_runs_and_is_asked_about_elsewhere(session: Session) -> None:
    assert session.decides(COMMAND) == "allow"
    (session.state / "config.toml").write_text('mode = "auto"\n')
    assert session.decides(COMMAND) == "ask"


def test_new_code_asks(session: Session) -> None:
    session.decides("ls")
    (session.project / "scripts/new.sh").write_text(UNREADABLE)
    assert session.decides("bash scripts/new.sh") == "ask"


def test_an_edit_asks_also_after_it_was_committed(session: Session) -> None:
    session.decides("ls")
    edit(session, "scripts/build.sh", UNREADABLE + "# more\n")
    assert session.decides(COMMAND) == "ask"
    git(session.project, "commit", "-q", "-a", "-m", "y")
    assert session.decides(COMMAND) == "ask"


def test_code_that_the_session_wrote_asks_though_it_is_the_same_again(session: Session) -> None:
    edit(session, "scripts/build.sh", UNREADABLE)
    assert session.decides(COMMAND) == "ask"


def test_a_change_that_no_call_made_asks(session: Session) -> None:
    session.decides("ls")
    (session.project / "scripts/build.sh").write_text(UNREADABLE + "# more\n")
    assert session.decides(COMMAND) == "ask"


def test_another_branch_asks_and_the_first_one_runs_again(session: Session) -> None:
    git(session.project, "checkout", "-q", "-b", "other")
    commit(session.project, {"scripts/build.sh": UNREADABLE + "# other\n"})
    git(session.project, "checkout", "-q", "main")
    session.decides("ls")
    git(session.project, "checkout", "-q", "other")
    assert session.decides(COMMAND) == "ask"
    git(session.project, "checkout", "-q", "main")
    assert session.decides(COMMAND) == "allow"


def test_a_checkout_by_the_session_is_noted(session: Session) -> None:
    git(session.project, "checkout", "-q", "-b", "other")
    commit(session.project, {"scripts/build.sh": UNREADABLE + "# other\n"})
    git(session.project, "checkout", "-q", "main")
    session.decides("git checkout other")
    written = ledger.load(str(session.state), "s1")
    assert str(session.project / "scripts/build.sh") in written.paths
    git(session.project, "checkout", "-q", "other")
    git(session.project, "checkout", "-q", "main")
    assert session.decides(COMMAND) == "ask"


def test_what_the_call_itself_may_change_first_asks(session: Session) -> None:
    assert session.decides("make x; bash scripts/build.sh") == "ask"
    assert session.decides("printf 'echo (( ((\\n' > scripts/build.sh; bash scripts/build.sh") == "ask"


def test_a_link_is_where_it_leads(session: Session) -> None:
    (session.project / "run.sh").symlink_to("scripts/build.sh")
    (session.project.parent / "away.sh").write_text(UNREADABLE)
    (session.project / "away.sh").symlink_to("../away.sh")
    assert session.decides("bash run.sh") == "allow"
    assert session.decides("bash away.sh") == "ask"
    (session.project / "scripts/build.sh").unlink()
    (session.project / "scripts/build.sh").symlink_to("../../away.sh")
    assert session.decides(COMMAND) == "ask"


def test_a_submodule_has_a_commit_of_its_own_and_asks(session: Session) -> None:
    inner = session.project.parent / "inner"
    inner.mkdir()
    git(inner, "init", "-q", "-b", "main")
    commit(inner, {"scripts/build.sh": UNREADABLE})
    git(session.project, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "sub")
    git(session.project, "commit", "-q", "-m", "sub")
    assert session.decides("bash sub/scripts/build.sh") == "ask"
    assert session.decides(COMMAND) == "allow"


def test_line_endings_that_git_changed_ask(session: Session) -> None:
    git(session.project, "config", "core.autocrlf", "true")
    (session.project / "scripts/build.sh").unlink()
    git(session.project, "checkout", "-q", "--", "scripts/build.sh")
    assert "\r\n" in (session.project / "scripts/build.sh").read_bytes().decode()
    assert session.decides(COMMAND) == "ask"


def test_code_past_the_limit_runs_where_it_is_untouched(session: Session) -> None:
    long = "echo x\n" * 100_000
    commit(session.project, {"long.sh": long})
    assert session.decides("bash long.sh") == "allow"
    (session.project / "long.sh").write_text(long + "echo y\n")
    assert session.decides("bash long.sh") == "ask"


def test_without_a_session_or_a_commit_nothing_is_untouched(tmp_path: Path) -> None:
    session = Session(Path(os.path.realpath(tmp_path)), config=CONFIG)
    (session.project / "a.sh").write_text(UNREADABLE)
    assert session.decides("bash a.sh") == "ask"
    git(session.project, "init", "-q")
    assert session.decides("bash a.sh") == "ask"
    commit(session.project, {})
    assert session.decides("bash a.sh") == "ask"  # the session began before
    assert session.decides("bash a.sh", session_id="s2") == "allow"
    assert session.decides("bash a.sh", session_id="") == "ask"


# ---------------------------------------------------------------- hostile repositories


def test_replaced_objects_and_forged_ones_change_nothing(session: Session) -> None:
    first = git(session.project, "rev-parse", "HEAD")
    session.decides("ls")
    evil = commit(session.project, {"scripts/build.sh": UNREADABLE + "# evil\n"})
    git(session.project, "replace", first, evil)
    assert git(session.project, "show", f"{first}:scripts/build.sh").endswith("# evil")
    assert session.decides(COMMAND) == "ask"
    git(session.project, "replace", "-d", first)
    objects = session.project / ".git/objects"
    old, new = (git(session.project, "rev-parse", f"{each}^{{tree}}") for each in (first, evil))
    forged = objects / old[:2] / old[2:]
    forged.chmod(0o600)
    forged.write_bytes((objects / new[:2] / new[2:]).read_bytes())
    baseline._known.clear()
    assert session.decides(COMMAND) == "ask"


def test_settings_and_alternates_of_the_repository_change_nothing(session: Session) -> None:
    ran = session.project.parent / "ran"
    trap = session.project.parent / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {ran}\n")
    trap.chmod(0o700)
    with (session.project / ".git/config").open("a") as file:
        file.write(f"[core]\n\tfsmonitor = {trap}\n\tsshCommand = {trap}\n[extensions]\n\tpartialClone = x\n")
        file.write(
            f'[remote "x"]\n\turl = ssh://a/b\n\tpromisor = true\n\tuploadpack = {trap}\n[include]\n\tpath = ../x\n'
        )
    assert session.decides(COMMAND) == "allow"
    blob = git(session.project, "rev-parse", "HEAD:README.md")
    (session.project / ".git/objects" / blob[:2] / blob[2:]).unlink()
    other = session.project.parent / "other"
    (other / "pack").mkdir(parents=True)
    (session.project / ".git/objects/info").mkdir(exist_ok=True)
    (session.project / ".git/objects/info/alternates").write_text(f"{other}\n/nonexistent\n")
    baseline._known.clear()
    assert session.decides(COMMAND) == "allow"
    tree = git(session.project, "rev-parse", "HEAD:scripts")
    (session.project / ".git/objects" / tree[:2] / tree[2:]).unlink()
    baseline._known.clear()
    assert session.decides(COMMAND) == "ask"  # it is not fetched either
    assert not ran.exists()


def test_another_repository_in_the_place_of_the_first_asks(session: Session) -> None:
    session.decides("ls")
    (session.project / ".git").rename(session.project / "old")
    git(session.project, "init", "-q")
    (session.project / "scripts/build.sh").write_text(UNREADABLE + "# evil\n")
    commit(session.project, {})
    baseline._known.clear()
    assert session.decides(COMMAND) == "ask"


# ---------------------------------------------------------------- the commit at the start


def test_the_commit_is_that_of_git(session: Session) -> None:
    top = session.project
    (top / "deep/er").mkdir(parents=True)
    expected = str(top), git(top, "rev-parse", "HEAD")
    assert baseline.commit_of(str(top)) == baseline.commit_of(str(top / "deep/er")) == expected
    git(top, "pack-refs", "--all")
    assert baseline.commit_of(str(top)) == expected
    git(top, "checkout", "-q", "--detach")
    assert baseline.commit_of(str(top)) == expected
    git(top, "worktree", "add", "-q", "-b", "beside", "../beside")
    beside = top.parent / "beside"
    id = commit(beside, {"a": "a\n"})
    assert baseline.commit_of(str(beside)) == (str(beside), id)
    assert baseline.commit_of(str(top)) == expected
    assert baseline.commit_of(str(top.parent)) == ("", "")


@pytest.mark.parametrize("format", ["sha1", "sha256"])
def test_files_are_compared_by_what_the_commit_has(tmp_path: Path, format: str) -> None:
    top = Path(os.path.realpath(tmp_path)) / "p"
    top.mkdir()
    git(top, "init", "-q", f"--object-format={format}")
    names = ["a.sh", "in/a b.sh", "in/dé/c.sh", "in/x:y.sh"]
    id = commit(top, dict.fromkeys(names, "echo\n"))
    git(top, "gc", "-q")
    (top / "new.sh").write_text("echo\n")
    files = [(str(top / name), "") for name in (*names, "new.sh", "none.sh", "in")]
    assert baseline.untouched(str(top), id, files, Links()) == tuple(path for path, _ in files[:4])
    assert baseline.untouched(str(top), id, [(files[0][0], "0" * 64)], Links()) == ()
    assert baseline.untouched(str(top), "f" * len(id), files, Links()) == ()


# ---------------------------------------------------------------- processes of one session


def test_hooks_of_one_session_share_what_it_wrote(session: Session) -> None:
    def process(event: bytes) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "assent", "hook", "claude", "--home", str(session.state)],
            input=event,
            capture_output=True,
            env={**session.environ, "PATH": os.environ["PATH"]},
            check=True,
        )
        return str(json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"])

    run = session.payload("PreToolUse", COMMAND)
    given = {"file_path": str(session.project / "scripts/build.sh"), "content": UNREADABLE}
    write = session.payload("PreToolUse", tool_name="Write", tool_input=given)
    assert [process(each) for each in (run, write, run)] == ["allow", "allow", "ask"]
    kept = ledger.path(str(session.state), "s1")
    assert os.stat(kept).st_mode & 0o777 == 0o600
    assert sessions.baseline(str(session.state), "s1") == baseline.commit_of(str(session.project))


# ---------------------------------------------------------------- processes that live on


@pytest.mark.parametrize("start", ["./serve &", "nohup ./serve", "coproc ./serve", "tmux new -d ./serve"])
def test_while_a_process_may_live_what_was_read_proves_nothing(session: Session, start: str) -> None:
    (session.state / "config.toml").write_text('mode = "auto"\n')
    commit(session.project, {"list.sh": "ls\n", "serve": UNREADABLE})
    own = "cat > x.sh <<'EOF'\nls\nEOF\nbash x.sh"
    assert session.decides("sleep 1 & ls") == session.decides("bash list.sh") == session.decides(own) == "allow"
    assert session.decides(start) == "ask"
    assert session.decides("bash list.sh") == session.decides(own) == "ask"
    assert session.decides("bash list.sh", session_id="s2") == "allow"


def test_a_tool_that_does_not_wait_starts_such_a_process(session: Session) -> None:
    (session.state / "config.toml").write_text('mode = "auto"\n')
    commit(session.project, {"list.sh": "ls\n"})
    given = {"command": "npm run dev", "run_in_background": True}
    assert session.decides("bash list.sh") == "allow"
    session.send("PreToolUse", tool_name="Bash", tool_input=given)
    assert session.decides("bash list.sh") == "ask"


# ---------------------------------------------------------------- manifests of tasks


def test_a_task_that_cannot_be_read_runs_where_its_manifest_is_untouched(session: Session) -> None:
    scripts = json.dumps({"scripts": {"build": "echo building; (("}})
    commit(session.project, {"package.json": scripts})
    assert session.decides("npm run build") == "allow"
    assert session.decides("npm run build", session_id="") == "ask"
    edit(session, "package.json", scripts + "\n")
    assert session.decides("npm run build") == "ask"


def test_a_manifest_past_the_limit_runs_where_it_is_untouched(session: Session) -> None:
    scripts = json.dumps({"scripts": {"build": "ls"}, "more": "x" * 600_000})
    commit(session.project, {"package.json": scripts})
    assert session.decides("npm run build") == "allow"
    (session.project / "package.json").write_text(scripts + "\n")
    assert session.decides("npm run build") == "ask"


def test_while_a_job_of_the_session_lives_no_task_is_proved(session: Session) -> None:
    (session.state / "config.toml").write_text('mode = "auto"\n')
    commit(session.project, {"package.json": json.dumps({"scripts": {"show": "ls -la"}})})
    assert session.decides("npm run show") == "allow"
    session.decides("./serve &")
    assert session.decides("npm run show") == "ask"
