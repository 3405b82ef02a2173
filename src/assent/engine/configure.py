"""Builds an engine from the files and the environment of this machine, in the order of the layers.

Managed policy, user's file, project's file, ASSENT_MODE, options, session."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from time import strftime
from typing import TYPE_CHECKING

from assent import __version__
from assent.contract import Value
from assent.effects.declared import Tool
from assent.engine.engine import Engine
from assent.facts import workspace
from assent.policy.document import Document, Example
from assent.policy.policy import Policy
from assent.policy.rules import Origin
from assent.policy.settings import Settings, combine
from assent.state import files, saved, sessions, snapshot

if TYPE_CHECKING:
    from assent.engine.engine import Keep

DAY = "%Y-%m-%d"  # rules may end on one
WHOLE_PACK, TIGHTENING_PACK = 100, 101  # in addition to the origins of files: manifests that a person activated


class Place(Value):
    """Where a session runs: the project's folder, the workspace, and whose home it is."""

    __slots__ = ("project", "roots", "home", "state")

    def __init__(self, project: str, roots: tuple[str, ...], home: str, state: str) -> None:
        self.project = project
        self.roots = roots
        self.home = home
        self.state = state


def place(project: str, environ: Mapping[str, str], *, home: str = "", extra: Sequence[str] = ()) -> Place:
    home = home or environ.get("HOME", "") or os.path.expanduser("~")
    state = files.assent_home(environ, home)
    return Place(project, workspace.workspace_roots((project,), extra=extra, home=home), home, state)


def documents(here: Place, *, config: str = "", session: str = "", managed: str = files.MANAGED_FILE) -> list[Document]:
    """The configuration files in force, the managed one first. `config` replaces the user's file."""
    return _read(sources(here, config=config, session=session, managed=managed), strftime(DAY))


def sources(
    here: Place, *, config: str = "", session: str = "", managed: str = files.MANAGED_FILE
) -> list[tuple[str, int, str | None]]:
    """Path, origin and text of all configuration files; None for the text of one that does not exist."""
    found: list[tuple[str, int, str | None]] = []
    for path, origin in (
        (managed, Origin.MANAGED),
        (config or files.user_file(here.state), Origin.USER),
        (saved.path(here.state) if here.state else "", Origin.USER),
    ):
        text = files.config_text(path, managed=origin is Origin.MANAGED) if path else None
        if text is None and config and path == config:
            raise missing(config)
        found.append((path, int(origin), text))
    if here.state and os.path.lexists(files.packs_file(here.state)):
        found[1:1] = _pack_sources(here.state)  # the user's file comes after them, and wins
    return found + _project_sources(here, session)


def _pack_sources(state: str) -> list[tuple[str, int, str | None]]:
    """The packs that a person activated, each with its current rights."""
    from assent.state import activated

    out: list[tuple[str, int, str | None]] = []

    for pack in activated.packs(state):
        text, whole = activated.manifest(state, pack)
        out.append((activated.kept(state, pack.name), WHOLE_PACK if whole else TIGHTENING_PACK, text))
    return out


def _project_sources(here: Place, session: str) -> list[tuple[str, int, str | None]]:
    """The project's file now and at the start of the session, and the file of the folder where the session began."""
    if not here.project.startswith("/"):
        return []
    path = files.project_file(here.project)
    text = files.config_text(path)
    found = [(path, text)]
    if session:
        first = sessions.pinned(here.state, session, here.project, text)
        if first and first != text:  # an empty one tightens nothing
            found.append((path, first))
        start = began(here, session)
        if start[1]:
            found.append(start)
    return [(path, int(Origin.PROJECT), each) for path, each in found]


def began(here: Place, session: str) -> tuple[str, str | None]:
    """The file of the folder where a session began, with its text then, if that is another folder."""
    root = sessions.began(here.state, session, here.project, _commit)
    if root == here.project:
        return "", None
    path = files.project_file(root)
    return path, sessions.pinned(here.state, session, root, files.config_text(path))


def _commit(folder: str) -> tuple[str, ...]:
    from assent.facts import baseline  # the first call of a session needs it

    return baseline.start_of(folder)


def _read(found: list[tuple[str, int, str | None]], today: str) -> list[Document]:
    return [_document(path, origin, text, today) for path, origin, text in found if text is not None]


def _document(path: str, origin: int, text: str, today: str) -> Document:
    from assent.policy.document import read_document

    if origin in (WHOLE_PACK, TIGHTENING_PACK):
        from assent.policy.manifest import read_manifest

        return read_manifest(text, path, tighten=origin == TIGHTENING_PACK, today=today).document
    return read_document(text, path, Origin(origin), today=today)


def missing(path: str) -> Exception:
    from assent.contract import PolicyError

    return PolicyError("there is no such file", file=path, suggestion="check --config, or run `assent policy init`")


def open_gate(
    here: Place,
    environ: Mapping[str, str],
    *,
    mode: str = "",
    config: str = "",
    session: str = "",
    more: Sequence[Document] = (),
    hook: bool = False,
    alone: bool = False,
    tools: Mapping[str, Tool] | None = None,
) -> tuple[Engine, Place]:
    """The engine for a location, and the location with the workspace that its configuration adds. Raises PolicyError.

    `more` are further documents; `alone`: they replace the user's and the project's files, but not the managed one and
    saved denials, and ASSENT_MODE only tightens. `tools` are declared by the embedding program."""
    found = _binding(here) if alone else documents(here, config=config, session=session)
    return _open(here, environ, [*found, *more], mode=mode, tightens=hook or alone, tools=tools)


def _binding(here: Place) -> list[Document]:
    """The documents that cannot be replaced: the managed one, and the saved denials."""
    kept = [(files.MANAGED_FILE, int(Origin.MANAGED), files.config_text(files.MANAGED_FILE, managed=True))]
    if here.state:
        path = saved.path(here.state)
        kept.append((path, int(Origin.USER), files.config_text(path)))
    return _read(kept, strftime(DAY))


def _open(
    here: Place,
    environ: Mapping[str, str],
    found: list[Document],
    *,
    mode: str = "",
    tightens: bool = False,
    keep: Keep | None = None,
    tools: Mapping[str, Tool] | None = None,
) -> tuple[Engine, Place]:
    settings = combine(
        found,
        environment_mode=environ.get("ASSENT_MODE", ""),
        flag_mode=mode,
        environment_tightens=tightens,
        trusted=_trusted(found, here) is not False,
    )
    examples = tuple(example for document in found for example in document.examples)
    return _gate(here, environ, settings, examples, keep, tools)


def _gate(
    here: Place,
    environ: Mapping[str, str],
    settings: Settings,
    examples: tuple[Example, ...],
    keep: Keep | None,
    tools: Mapping[str, Tool] | None = None,
) -> tuple[Engine, Place]:
    if settings.extra:
        here = place(here.project, environ, home=here.home, extra=settings.extra)
    return Engine(settings, own=own(here), examples=examples, state=here.state, keep=keep, tools=tools), here


def _trusted(found: Sequence[Document], here: Place) -> bool | None:
    """Whether a person trusts the project; None if no file sets `untrusted_mode`."""
    return None if all(document.untrusted_mode is None for document in found) else _marked(here)


def _marked(here: Place) -> bool:
    from assent.state import trust

    return here.project.startswith("/") and trust.is_trusted(here.project, here.state)


def open_quickly(here: Place, environ: Mapping[str, str], *, session: str = "") -> tuple[Engine, Place]:
    """The engine of `open_gate` for a hook, from the snapshot that an earlier process saved. Raises PolicyError.

    INVARIANT: the decisions are the same as without it. The files are read each time; a snapshot of other texts, or of
    another day, version or state of the shipped rules, is not used."""
    if not here.state:
        return open_gate(here, environ, session=session, hook=True)
    found, today = sources(here, session=session), strftime(DAY)
    program = os.path.dirname(os.path.dirname(__file__))
    shipped = snapshot.states((f"{program}/policy", f"{program}/policy/packs"))
    made_of = snapshot.key(__version__, shipped, found, environ.get("ASSENT_MODE", ""), today)
    parts = snapshot.load(here.state, here.project, made_of)
    settings = _thawed(parts, here) if parts is not None else None
    trusted: bool | None = None

    def keep(settings: Settings, policy: Policy, roots: tuple[str, ...], home: str, fold: bool) -> None:
        from assent.policy.frozen import FrozenSettings, freeze

        if not isinstance(settings, FrozenSettings):
            known = trusted
        elif settings.fits(roots, home, fold):
            return
        else:
            known = settings.trust
        frozen = freeze(settings, policy, roots, home, fold=fold, trust=known)
        snapshot.save(here.state, here.project, made_of, frozen)

    if settings is not None:
        return _gate(here, environ, settings, (), keep)
    read = _read(found, today)
    trusted = _trusted(read, here)
    return _open(here, environ, read, tightens=True, keep=keep)


def _thawed(parts: dict[str, bytes], here: Place) -> Settings | None:
    """The settings of a snapshot, if the trust in the folder is unchanged."""
    from assent.policy.frozen import FrozenSettings

    settings = FrozenSettings(parts)
    return settings if settings.trust is None or settings.trust == _marked(here) else None


def own(here: Place) -> tuple[str, ...]:
    """Assent's own files: its state, its policies, its program."""
    program = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return (*files.own_paths(here.state, here.roots), program)
