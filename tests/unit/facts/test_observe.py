"""Facts tell of everything that a call names, and of nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assent.contract import Below, Effect, Facts, Invocation, Kind, Lowering, Operation, Target
from assent.facts.links import folding
from assent.facts.observe import observe
from tests.unit.facts.projects import repository


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return Path(os.path.realpath(tmp_path))


def reading(*targets: Target) -> Lowering:
    return Lowering("read", tuple(Effect(Operation.READ, target) for target in targets))


def path(name: object, **kw: object) -> Target:
    return Target(Kind.PATH, str(name), **kw)  # type: ignore[arg-type]  # passed on as they are


def test_a_path_that_leads_to_itself_needs_no_fact(place: Path) -> None:
    facts = observe(reading(path(place / "a")), roots=(str(place),), home="/home/me", cwd=str(place))
    assert facts == Facts(roots=(str(place),), home="/home/me", folds_case=folding((str(place), "/home/me", "/")))


def test_links_globs_roots_and_own_files_are_told_together(place: Path) -> None:
    (place / "real").mkdir()
    (place / "real/k.pem").touch()
    (place / "link").symlink_to("real")
    (place / "loop").symlink_to("loop")
    link = f"{place}/link"
    facts = observe(
        reading(
            path(f"{link}/new"),
            path(f"{place}/x", raw=f"{link}/../x"),
            path(f"{place}/loop/a"),
            path(f"{link}/*.pem", pattern=True),
            path("", under=(link,)),
            Target(Kind.HOST, "example.com"),
        ),
        roots=(link,),
        home="",
        cwd=link,
        own=(f"{link}/.assent",),
    )
    assert facts == Facts(
        canonical={
            link: f"{place}/real",
            f"{link}/new": f"{place}/real/new",
            f"{link}/../x": f"{place}/x",
            f"{place}/loop/a": "",
            f"{link}/*.pem": f"{place}/real/*.pem",
            f"{link}/k.pem": f"{place}/real/k.pem",
        },
        roots=(link, f"{place}/real"),
        own=(f"{link}/.assent", f"{place}/real/.assent"),
        folds_case=folding((link, f"{place}/real", "/")),
        expansions={f"{link}/*.pem": (f"{link}/k.pem",)},
        below={link: Below(listed=True, linked=True)},
    )


def test_a_path_is_told_as_the_kernel_and_as_a_tool_would_open_it(place: Path) -> None:
    (place / "far/away").mkdir(parents=True)
    (place / "link").symlink_to("far/away")
    (place / "x").symlink_to("/secret")
    facts = observe(reading(path(place / "x", raw=f"{place}/link/../x")), roots=(), home="", cwd="")
    assert facts.canonical == {f"{place}/x": "/secret", f"{place}/link/../x": f"{place}/far/x"}


def test_given_links_are_all_there_is(place: Path) -> None:
    (place / "a").symlink_to("/elsewhere")
    facts = observe(
        reading(path("/ws/link/new"), path(place / "a"), path(f"{place}/*", pattern=True)),
        roots=("/ws", str(place)),
        home="/home/me",
        cwd="/ws",
        given={"/ws/link": "/outside"},
    )
    assert facts == Facts(
        canonical={"/ws/link/new": "/outside/new"},
        roots=("/ws", str(place)),
        home="/home/me",
        below={f"{place}/*": Below()},
    )


def test_the_links_below_the_whole_file_system_are_not_known_and_not_looked_for(place: Path) -> None:
    (place / "all").symlink_to("/")
    for root in ("/", f"{place}/all"):
        whole = Lowering("bash", (Effect(Operation.LIST, path(root), recursive=True),))
        facts = observe(whole, roots=(str(place),), home="/home/me", cwd=str(place))
        assert facts.below == {root: Below(whole=False, linked=True)}


@pytest.mark.parametrize("root", ["/", "/home/me", "/home", "/etc", "/usr/lib"])
def test_what_may_not_be_a_root_is_none_wherever_it_came_from(root: str) -> None:
    assert observe(reading(), roots=(root, "/ws"), home="/home/me", cwd="").roots == ("/ws",)
    assert observe(reading(), roots=("/ws",), home="/home/me", cwd="", given={"/ws": root}).roots == ("/ws",)


def test_repositories_are_told_by_the_folder_that_the_call_names(place: Path) -> None:
    repository(place / "own")
    repository(place / "own/inner")
    effects = tuple(
        Effect(Operation.EXECUTE, Target(Kind.REPOSITORY, name)) for name in (f"{place}/own", f"{place}/own/inner", "")
    )
    facts = observe(Lowering("bash", effects), roots=(f"{place}/own",), home="", cwd="")
    assert facts.repositories == {
        f"{place}/own": "",
        f"{place}/own/inner": f"`{place}/own/inner` is another repository than the session's",
    }


def test_git_cannot_start_in_a_folder_outside_that_is_missing_and_stays_so(tmp_path: Path) -> None:
    missing = str(tmp_path / "nowhere" / "repo")
    root = tmp_path / "project"
    root.mkdir()
    git = Effect(Operation.EXECUTE, Target(Kind.REPOSITORY, missing))
    made = Effect(Operation.WRITE, Target(Kind.PATH, str(tmp_path / "nowhere")))
    alone = observe(Lowering("bash", (git,)), roots=(str(root),), home="/home/u", cwd=str(root))
    after = observe(Lowering("bash", (made, git)), roots=(str(root),), home="/home/u", cwd=str(root))
    assert alone.repositories[missing] == ""
    assert after.repositories[missing] != ""


def test_a_missing_folder_in_the_workspace_is_not_known_to_be_harmless(tmp_path: Path) -> None:
    inside = str(tmp_path / "project" / "sub")
    git = Effect(Operation.EXECUTE, Target(Kind.REPOSITORY, inside))
    facts = observe(Lowering("bash", (git,)), roots=(str(tmp_path / "project"),), home="/home/u", cwd=str(tmp_path))
    assert facts.repositories[inside] != ""


def one_file(operation: Operation, name: str, at: int, **more: bool) -> Effect:
    target = Target(Kind.PATH, name, pattern=more.get("pattern", False), certain=more.get("certain", True))
    lossless, recursive = more.get("lossless", False), more.get("recursive", False)
    return Effect(operation, target, invocation=at, lossless=lossless, recursive=recursive)


def test_a_file_that_the_call_makes_before_it_removes_it_is_fresh(tmp_path: Path) -> None:
    def fresh(*effects: Effect) -> tuple[str, ...]:
        lowering = Lowering("bash", effects, invocations=(Invocation("x", ("x",)),) * 3)
        return observe(lowering, roots=(str(tmp_path),), home="", cwd="").fresh

    new, old = f"{tmp_path}/new", f"{tmp_path}/old"
    (tmp_path / "old").write_text("")
    write, delete = Operation.WRITE, Operation.DELETE
    assert fresh(one_file(write, new, 0), one_file(delete, new, 1)) == (new,)
    assert fresh(one_file(write, new, 0), one_file(delete, new, 1, recursive=True)) == (new,)
    inner = f"{new}/a"
    others = [
        # The folder may be a link that leads to what was there.
        (one_file(write, new, 0), one_file(write, inner, 1), one_file(delete, inner, 2, recursive=True)),
        (one_file(write, old, 0), one_file(delete, old, 1)),  # it is there
        (one_file(delete, new, 0), one_file(write, new, 1)),  # made later
        (one_file(write, new, 0), one_file(delete, f"{new}2", 1)),  # another
        (one_file(write, new, 0), one_file(delete, new, 1, certain=False)),
        (one_file(write, new, 0, pattern=True), one_file(delete, new, 1)),
        (  # what was moved there is what is removed
            one_file(delete, old, 0, lossless=True, recursive=True),
            one_file(write, new, 0),
            one_file(delete, new, 1),
        ),
    ]
    assert [fresh(*effects) for effects in others] == [()] * len(others)
    assert (
        observe(
            Lowering("bash", (one_file(write, new, 0), one_file(delete, new, 1))),
            roots=(str(tmp_path),),
            home="",
            cwd="",
            given={},
        ).fresh
        == ()
    )


def test_whether_what_a_checkout_names_is_there_is_looked_at(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    names = [f"{tmp_path}/{name}" for name in ("file", "dangling", "main")]
    marked = tuple(Effect(Operation.WRITE, Target(Kind.PATH, name), dangers=("discard-there",)) for name in names)
    unknown = Effect(Operation.WRITE, Target(Kind.PATH, "", certain=False), dangers=("discard-there",))
    plain = Effect(Operation.WRITE, Target(Kind.PATH, f"{tmp_path}/other"))
    lowering = Lowering("bash", (*marked, unknown, plain))
    assert observe(lowering, roots=(), home="", cwd="").absent == (f"{tmp_path}/main",)
    assert observe(lowering, roots=(), home="", cwd="", given={}).absent == tuple(names)
