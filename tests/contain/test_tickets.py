"""A ticket is good for one run, of its own user, for a while. Whatever else is done with one, nothing runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assent.contain import sandbox, ticket, words
from tests.contain.box import Box, Done, needed

NOT_RUN = "assent: the command was not run: "


def run(box: Box, id: str) -> Done:
    done = box.finish(box.start([words.runner(str(box.state)), id]))
    return Done(done.status, done.output, box.receipt(id))


def tickets(box: Box) -> Path:
    return box.state / "contain/tickets"


def refused(done: Done, why: str) -> bool:
    return (done.status, done.output) == (126, f"{NOT_RUN}{why}\n")


def test_a_ticket_is_used_once(box: Box) -> None:
    id = box.issue("echo ran >> out; exit 3")
    first = run(box, id)
    assert (first.status, first.output) == (3, "")
    assert refused(run(box, id), "its ticket was used already, or never was")
    assert (box.work / "out").read_text() == "ran\n"
    assert first.receipt is not None
    seconds, complete = first.receipt.seconds, first.receipt.complete  # not everywhere, see `exact`
    changed = (f"{box.work}/out",) if complete else ()
    assert first.receipt == ticket.Receipt(
        id, "digest", started=True, status=3, seconds=seconds, changed=changed, complete=complete
    )


def test_of_many_that_start_at_once_one_runs(box: Box) -> None:
    id = box.issue("echo ran >> out")
    started = [box.start([words.runner(str(box.state)), id]) for _ in range(6)]
    ended = sorted(box.finish(each).status for each in started)
    assert ended == [0, 126, 126, 126, 126, 126]
    assert (box.work / "out").read_text() == "ran\n"


@pytest.mark.parametrize("id", ["", "0" * 31, "0" * 33, "../" + "0" * 29, "G" * 32, "A" * 32, "--help", "inside"])
def test_what_is_no_id_is_refused(box: Box, id: str) -> None:
    box.issue("true")
    assert refused(run(box, id), "this is not a ticket")


def test_an_id_that_was_never_issued_is_refused(box: Box) -> None:
    box.issue("true")
    assert refused(run(box, "0" * 32), "its ticket was used already, or never was")


def test_without_an_id_and_with_more_words_nothing_runs(box: Box) -> None:
    id = box.issue("true")
    for more in ([], [id, "x"], ["inside", "0", "0", "0"], ["inside", "5", "6", "0"]):
        done = box.finish(box.start([words.runner(str(box.state)), *more]))
        assert done.status == 126, done


def test_an_expired_ticket_is_refused_and_says_so_in_its_receipt(box: Box) -> None:
    id = box.issue("true", now=1000.0)
    done = run(box, id)
    assert refused(done, "its ticket has expired")
    assert done.receipt == ticket.Receipt(id, "digest", status=126, complete=True, why="its ticket has expired")


def test_a_link_is_no_ticket(box: Box) -> None:
    id = box.issue("true")
    with box.as_user():
        (tickets(box) / id).rename(box.folder / "elsewhere")
        (tickets(box) / id).symlink_to(box.folder / "elsewhere")
    assert refused(run(box, id), "its ticket is not a file of this user alone")


def test_a_ticket_with_two_names_is_refused(box: Box) -> None:
    id = box.issue("true")
    with box.as_user():
        (tickets(box) / ("0" * 32)).hardlink_to(tickets(box) / id)
    assert refused(run(box, id), "its ticket is not a file of this user alone")


def test_a_ticket_that_others_can_read_is_refused(box: Box) -> None:
    id = box.issue("true")
    (tickets(box) / id).chmod(0o644)
    assert refused(run(box, id), "its ticket is not a file of this user alone")


def test_a_ticket_of_another_user_is_refused(box: Box) -> None:
    needed(root=True)
    id = box.issue("true")
    os.chown(tickets(box) / id, 0, 0)
    assert refused(run(box, id), "its ticket is not a file of this user alone")


def test_a_folder_of_tickets_that_is_not_the_users_alone_is_refused(box: Box) -> None:
    id = box.issue("true")
    tickets(box).chmod(0o755)
    assert refused(run(box, id), "its folder of tickets is not this user's alone")


def test_a_ticket_under_another_id_is_refused(box: Box) -> None:
    id = box.issue("true")
    with box.as_user():
        (tickets(box) / id).rename(tickets(box) / ("0" * 32))
    assert refused(run(box, "0" * 32), "its ticket was made for another run")


@pytest.mark.parametrize("cut", [0, 1, 17, 200, -1, -2, -6])
def test_a_ticket_that_is_not_whole_is_refused(box: Box, cut: int) -> None:
    id = box.issue("touch ran")
    with box.as_user():
        data = (tickets(box) / id).read_bytes()
        (tickets(box) / id).write_bytes(data[:cut])
    done = run(box, id)
    assert (done.status, done.output.startswith(f"{NOT_RUN}its ticket cannot be used: ")) == (126, True), done
    assert not (box.work / "ran").exists()


def test_a_forged_ticket_of_other_words_runs_no_other_sandbox(box: Box) -> None:
    """Whoever can write into the folder of tickets is not inside; a program that is not the system's does not start."""
    id = box.issue("touch ran")
    with box.as_user():
        data = (tickets(box) / id).read_bytes()
        program = box.put("fake", "#!/bin/sh\nshift 3\nexec bash -c 'touch ran'\n", 0o755)
        (tickets(box) / id).write_bytes(data.replace(words.bubblewrap().encode(), bytes(program)))
    assert refused(run(box, id), "bubblewrap is not a program of the system")


def test_an_id_is_found_in_the_command_line_and_nowhere_else() -> None:
    id = "0123456789abcdef" * 2
    assert ticket.command_line("/h/a b", id) == f"'/h/a b/bin/assent-contain' {id}"
    assert ticket.id_of("/h/a b", ticket.command_line("/h/a b", id)) == id
    assert ticket.id_of("/h/.assent", f"  /h/.assent/bin/assent-contain {id}\n") == id
    for other in (
        f"/h/.assent/bin/assent-contain {id}; ls",
        f"x {id}",
        id,
        "",
        f"/h/.assent/bin/assent-contain {id[1:]}",
    ):
        assert ticket.id_of("/h/.assent", other) == ""


def test_a_receipt_that_is_not_whole_is_none(box: Box) -> None:
    id = box.issue("true")
    assert run(box, id).receipt is not None
    path = box.state / "contain/receipts" / id
    data = path.read_bytes()
    for cut in range(len(data)):
        path.write_bytes(data[:cut])
        assert box.receipt(id) is None


def test_the_sandbox_is_tried_once_and_the_runner_put_into_its_place() -> None:
    needed()
    box = Box(user=os.geteuid())
    state, works = str(box.state), box.state / "contain/works"
    assert sandbox.why_not(state) == ""
    kept = works.read_text()
    assert sandbox.why_not(state) == ""
    assert works.read_text() == kept
    Path(words.runner(state)).write_text("#!/bin/sh\nexit 1\n")
    assert sandbox.why_not(state) == ""
    assert sandbox.is_current(state)
    works.write_text(works.read_text().splitlines()[0] + "\nthe reason\n")
    assert sandbox.why_not(state) == "the reason"
    assert sandbox.why_not(state, again=True) == ""
    box.close()


def test_where_it_cannot_work_it_says_so(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "source", lambda: "/nowhere/assent-contain")
    assert sandbox.why_not(str(box.state)).startswith("the runner was not built")
    monkeypatch.undo()
    monkeypatch.setattr(words, "PLACES", ("/nowhere/bwrap",))
    assert sandbox.why_not(str(box.state)) == "bubblewrap is not installed; install the package `bubblewrap`"
    program = box.put("bwrap", "#!/bin/sh\n", 0o755)
    monkeypatch.setattr(words, "PLACES", (str(program),))
    if os.geteuid() == 0:
        os.chown(program, box.user, box.user)
    assert sandbox.why_not(str(box.state)) == "bubblewrap is not a program of the system"
    monkeypatch.undo()
    monkeypatch.setattr("sys.platform", "darwin")
    assert sandbox.why_not(str(box.state)) == "contained runs need Linux"
