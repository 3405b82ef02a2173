"""ssh, scp, rsync, containers, the APIs of forges."""

from __future__ import annotations

import pytest

from assent.effects.shell.command import Arg
from tests.unit.effects.shell.commands.commands import does


def test_a_remote_command_runs_elsewhere() -> None:
    assert does("ssh -p 22 me@host rm -rf /") == ["FETCH host", "EXECUTE <ssh>", "SHELL@ rm -rf /"]
    assert does("ssh host -p 22 ls") == ["FETCH host", "EXECUTE <ssh>", "SHELL@ ls"]
    assert does("ssh -V") == []


def test_a_setting_of_ssh_may_run_a_command_here() -> None:
    assert does("ssh -oProxyCommand='rm x' host") == ["FETCH host", "EXECUTE <ssh>", "SHELL rm x"]
    assert does("ssh -o 'LocalCommand rm x' host ls")[-2:] == ["SHELL rm x", "SHELL@ ls"]


def test_copies_to_a_host_leave_and_copies_from_one_are_written() -> None:
    assert does("scp a host:b") == ["READ a !exfiltration", "FETCH host !exfiltration", "EXECUTE <scp>"]
    assert does("scp me@host:a .") == ["FETCH host", "WRITE /w", "EXECUTE <scp>"]
    assert does("rsync -a src/ host:dst") == ["READ+ src !exfiltration", "FETCH host !exfiltration"]
    assert does("rsync -a rsync://host/x dst")[0] == "FETCH host"


def test_local_copies_of_rsync() -> None:
    assert does("rsync -a src dst") == ["READ+ src", "WRITE+ dst", "WRITE+ dst/src"]
    assert "DELETE+ dst !recursive-delete" in does("rsync -a --delete src dst")
    assert does("rsync -an --delete src dst") == ["READ+ src"]


def test_a_container_is_elsewhere() -> None:
    assert does("docker exec -it -u root c rm -rf /") == ["EXECUTE <docker>", "RUN@ rm -rf /"]
    assert does("kubectl exec -n ns pod -c x -- rm a") == ["EXECUTE <kubectl>", "RUN@ rm a"]
    assert does("docker run --rm -v /:/h alpine rm a") == ["READ+ /", "WRITE+ /", "EXECUTE <docker>", "RUN@ rm a"]
    assert does("docker run -v ./src:/s:ro alpine") == ["READ+ src", "EXECUTE <docker>"]


@pytest.mark.parametrize(
    ("command", "reads"),
    [
        ("gh api repos/o/r", True),
        ("gh api -X GET search -f q=x", True),
        (("gh", "api", Arg("repos/o/$f", ("repos/o/a", "repos/o/b"))), True),
        (("gh", "api", Arg("repos/o/x?ref=y", ("repos/o/x?ref=y",), pattern=True)), True),
        (("gh", "api", Arg("repos/$X", prefix="repos/")), True),
        (("gh", "api", Arg("$X")), False),
        (("gh", "api", Arg("graph$X", prefix="graph")), False),
        (("gh", "api", Arg("$X", ("repos/o/r", "graphql"))), False),
        (("gh", "api", Arg("repos/$X", prefix="repos/"), "-f", "a=b"), False),
        ("gh api graphql -f query='query { viewer { login } }'", True),
        ("gh api repos/o/r/issues -f title=x", False),
        ("gh api -X DELETE repos/o/r/x", False),
        ("gh api graphql -f query='mutation { x }'", False),
        ("gh api graphql -F query=@q", False),
        ("gh api --input f repos/o/r", False),
    ],
)
def test_an_api_is_read_by_get_and_queries_only(command: str | tuple[str | Arg, ...], reads: bool) -> None:
    assert ("EXECUTE <gh>" not in does(command)) is reads


def test_deleting_a_repository_destroys() -> None:
    assert "EXECUTE <gh> !destroy-remote" in does("gh api -X DELETE repos/o/r")
