"""The pack `plans`: dry runs, and migrations of a local database.

Proved for `terraform plan` and `tofu plan`: plain options, and every file of the configuration, with its local modules,
is unchanged since the session's start: a plan runs what these files name. For `helm diff`: plain options, and files of
the workspace. For `alembic upgrade`: `alembic.ini` names a database that is a file of the workspace or on this machine,
the scripts use only that one, and all of them are unchanged since the session's start."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator

from assent.contract import Effect, Invocation, Pattern
from assent.facts.packs.pack_call import PackCall

TERRAFORM = frozenset(
    "-no-color -input=false -refresh=false -refresh-only -detailed-exitcode -compact-warnings -lock=false -json".split()
)
TERRAFORM_VALUED = ("-target=", "-out=", "-var-file=", "-parallelism=", "-lock-timeout=")
CONFIGURATION = (".tf", ".tf.json", ".tfvars", ".tfvars.json", ".tofu", ".tofu.json", ".tfvars.json", ".hcl")
HELM = frozenset("--install --allow-unreleased --no-color --suppress-secrets --reset-values --reuse-values".split())
HELM_VALUED = frozenset("-n --namespace -f --values -C --context --version --kube-context".split())
MOST = 60  # files that are compared at a time
_MODULE = Pattern(r"(?m)^\s*source\s*=\s*\"(\.{1,2}/[^\"]*)\"")
_URL = Pattern(r"(?m)^\s*sqlalchemy\.url\s*=\s*(\S+)\s*$")
_SCRIPTS = Pattern(r"(?m)^\s*script_location\s*=\s*(?:%\(here\)s/)?([A-Za-z0-9_./-]+)\s*$")
_LOCAL = Pattern(
    r"(?:postgresql|postgres|mysql|mariadb)(?:\+[a-z0-9]+)?://(?:[^@/?#\s]*@)?(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?/[\w-]*$"
)
_FILE = Pattern(r"sqlite(?:\+[a-z0-9]+)?:///([A-Za-z0-9_./-]+)$")
_IMPORT = Pattern(r"(?m)^\s*(?:from\s+([\w.]+)\s+import|import\s+([\w., ]+))")
_KNOWN = frozenset("alembic sqlalchemy logging __future__ typing collections datetime uuid re enum".split())
# Code that uses another database than that of the file.
_ELSEWHERE = (
    "environ",
    "getenv",
    "set_main_option",
    "set_section_option",
    "create_engine",
    "create_async_engine",
    "open(",
)


def proved(call: PackCall) -> Iterator[Effect]:
    fine: set[int] = set()
    for index, command in call.commands(("terraform", "tofu", "helm", "alembic")):
        if "/" in command.words[0] or call.runs_before(index, fine) or not _is_dry(command, call):
            continue
        fine.add(index)
        yield from call.runs(index, ())


def _is_dry(command: Invocation, call: PackCall) -> bool:
    folder, words = call.links.canonical(command.cwds[0]), command.words
    if words[0] == "alembic":
        plain = len(words) == 3 and words[1] == "upgrade" and words[2] in ("head", "heads")
        return plain and _is_local(folder, call)
    if words[0] == "helm":
        return words[1:3] in (("diff", "upgrade"), ("diff", "release"), ("diff", "revision")) and _differs(
            folder, words[3:], call
        )
    words = words[1:]
    if words and words[0].startswith("-chdir="):
        folder, words = call.links.canonical(posixpath.join(folder, words[0][7:])), words[1:]
    return words[:1] == ("plan",) and bool(folder) and _plans(folder, words[1:], call)


# ---------------------------------------------------------------- terraform


def _plans(folder: str, words: tuple[str, ...], call: PackCall) -> bool:
    for word in words:
        word = word[1:] if word.startswith("--") else word
        if word not in TERRAFORM and not word.startswith(TERRAFORM_VALUED):
            return False
        name, _, value = word.partition("=")
        if name in ("-out", "-var-file") and not _in_workspace(folder, value, call):
            return False
        if name == "-var-file" and not call.are_as_before((posixpath.join(folder, value),)):
            return False
        if name == "-out" and call.has(posixpath.join(folder, value)) and not value.endswith((".tfplan", ".plan")):
            return False
    return _is_as_before(folder, call)


def _is_as_before(folder: str, call: PackCall) -> bool:
    """Whether the configuration of a folder and of its local modules is unchanged; false for a folder without any."""
    waiting, seen, files = [folder], {folder}, list[str]()
    while waiting:
        here = waiting.pop()
        if not (here in call.roots or call.is_inside(here)):
            return False
        try:
            names = sorted(os.listdir(here))
        except OSError:
            return False
        mine = [posixpath.join(here, name) for name in names if name.endswith(CONFIGURATION)]
        files += mine
        if len(files) > MOST:
            return False
        for path in mine:
            for source in _MODULE.findall(call.text(path) or ""):
                module = call.links.canonical(posixpath.normpath(posixpath.join(here, source)))
                if module not in seen:
                    seen.add(module)
                    waiting.append(module)
    return bool(files) and call.are_as_before(tuple(files))


def _in_workspace(folder: str, path: str, call: PackCall) -> bool:
    real = call.links.canonical(posixpath.normpath(posixpath.join(folder, path))) if path else ""
    return bool(real) and call.is_inside(real)


# ---------------------------------------------------------------- helm


def _differs(folder: str, words: tuple[str, ...], call: PackCall) -> bool:
    waiting = iter(words)
    operands = []
    for word in waiting:
        name, equals, value = word.partition("=")
        if name in HELM_VALUED:
            value = value if equals else next(waiting, "")
            if name in ("-f", "--values") and not _in_workspace(folder, value, call):
                return False
        elif word.startswith("-"):
            if word not in HELM:
                return False
        else:
            operands.append(word)
    return bool(operands) and not any(
        "://" in each or (each[0] in "/~." and not _in_workspace(folder, each, call)) for each in operands
    )


# ---------------------------------------------------------------- alembic


def _is_local(folder: str, call: PackCall) -> bool:
    settings = posixpath.join(folder, "alembic.ini")
    text = call.text(settings) or ""
    urls, places = _URL.findall(text), _SCRIPTS.findall(text)
    if len(urls) != 1 or len(places) != 1 or not _is_local_database(urls[0], folder, call):
        return False
    scripts = _files_below(posixpath.join(folder, places[0]), call)
    if not scripts or posixpath.join(folder, places[0], "env.py") not in scripts:
        return False
    texts = [call.text(path) or "" for path in scripts]
    alone = not any(word in each for each in texts for word in _ELSEWHERE) and all(map(_imports_known, texts))
    return alone and call.are_as_before((settings, *scripts))


def _is_local_database(url: str, folder: str, call: PackCall) -> bool:
    if _LOCAL.match(url):
        return True
    file = _FILE.match(url)
    return file is not None and _in_workspace(folder, file[1], call)


def _files_below(folder: str, call: PackCall) -> list[str]:
    """The files of Python below a folder of the workspace; none if there are too many, or a link is among them."""
    if call.links.canonical(folder) != folder or not call.is_inside(folder):
        return []
    found: list[str] = []
    for here, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        if any(os.path.islink(posixpath.join(here, name)) for name in (*folders, *names)):
            return []
        found += [posixpath.join(here, name) for name in names if name.endswith(".py")]
        if len(found) >= MOST:
            return []
    return found


def _imports_known(text: str) -> bool:
    """Whether code imports modules of the list only."""
    named = [each for pair in _IMPORT.findall(text) for part in pair for each in part.split(",") if each.strip()]
    return (
        all(each.strip().partition(" ")[0].partition(".")[0] in _KNOWN for each in named) and "__import__" not in text
    )
