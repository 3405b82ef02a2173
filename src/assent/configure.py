"""From the files and the environment of this machine to a Gate. Knows the order of the layers; decides nothing.

Managed policy, user's file, project's file, ASSENT_MODE, flags, session."""

from __future__ import annotations

import os
from time import strftime

from assent.contract.value import Value
from assent.facts import files, saved, sessions, trust, workspace
from assent.gate import Gate
from assent.policy.document import read_document
from assent.policy.rules import Origin
from assent.policy.settings import combine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assent.policy.document import Document


class Place(Value):
    """Where a session runs: the project's folder, the workspace, and whose home it is."""

    __slots__ = ("project", "roots", "home", "state")

    def __init__(self, project: str, roots: tuple[str, ...], home: str, state: str) -> None:
        self.project = project
        self.roots = roots
        self.home = home
        self.state = state


def place(project: str, environ: Mapping[str, str], *, home: str = "", extra: Sequence[str] = ()) -> Place:
    """The place of a session in a project folder."""
    home = home or environ.get("HOME", "") or os.path.expanduser("~")
    state = files.assent_home(environ, home)
    return Place(project, workspace.workspace_roots((project,), extra=extra, home=home), home, state)


def documents(here: Place, *, config: str = "", session: str = "", managed: str = files.MANAGED_FILE) -> list[Document]:
    """The configuration files in force, the managed one first. `config` stands in for the user's file."""
    today = strftime("%Y-%m-%d")
    found: list[Document] = []
    sources = (
        (managed, Origin.MANAGED),
        (config or files.user_file(here.state), Origin.USER),
        (saved.path(here.state) if here.state else "", Origin.USER),
    )
    for path, origin in sources:
        text = files.config_text(path, managed=origin is Origin.MANAGED) if path else None
        if text is None and config and path == config:
            raise missing(config)
        if text is not None:
            found.append(read_document(text, path, origin, today=today))
    return found + project_documents(here, session, today)


def project_documents(here: Place, session: str, today: str) -> list[Document]:
    """The project's file as it is now, and as the session saw it first."""
    if not here.project.startswith("/"):
        return []
    path = files.project_file(here.project)
    text = files.config_text(path)
    texts = [text] if text is not None else []
    if session:
        first = sessions.pinned(here.state, session, here.project, text)
        if first is not None and first != text:
            texts.append(first)
    return [read_document(each, path, Origin.PROJECT, today=today) for each in texts]


def missing(path: str) -> Exception:
    from assent.contract.errors import PolicyError

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
) -> tuple[Gate, Place]:
    """The gate for a place, and the place with the workspace that its configuration adds. Raises PolicyError."""
    found = [*documents(here, config=config, session=session), *more]
    settings = combine(
        found,
        environment_mode=environ.get("ASSENT_MODE", ""),
        flag_mode=mode,
        environment_tightens=hook,
        trusted=_trusted(found, here),
    )
    if settings.extra:
        here = place(here.project, environ, home=here.home, extra=settings.extra)
    examples = tuple(example for document in found for example in document.examples)
    return Gate(settings, own=own(here), examples=examples, state=here.state), here


def _trusted(found: Sequence[Document], here: Place) -> bool:
    """Asked only where a file sets `untrusted_mode`."""
    if all(document.untrusted_mode is None for document in found):
        return True
    return here.project.startswith("/") and trust.is_trusted(here.project, here.state)


def own(here: Place) -> tuple[str, ...]:
    """Assent's own files: its state, its policies, its program."""
    program = os.path.dirname(os.path.abspath(__file__))
    return (*files.own_paths(here.state, here.roots), program)
