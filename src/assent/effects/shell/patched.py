"""Commands that apply a patch: the files that a patch in the command's own text names, or else all of the folder that
it is applied in. Reads no files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assent.contract import Effect, Kind, Operation, Pattern, Target
from assent.effects import patches
from assent.effects.paths import path_target
from assent.effects.shell.command import Arg, CommandEffects
from assent.effects.shell.job import Job

if TYPE_CHECKING:
    from assent.effects.shell.walk import Walk

EXECUTE, WRITE = Operation.EXECUTE, Operation.WRITE
_NO_TREE = frozenset(("--cached", "--abort", "--quit", "--skip", "--show-current-patch"))
_STRIP = Pattern(r"(?:-[A-Za-z]*p|--strip=)([0-9]+)")
_FOLDER = Pattern(r"--d(?:i[a-z]*)?|-[A-Za-z0-9]*d")
_GLUED = Pattern(r"(?:--d(?:i[a-z]*)?=|-[A-Za-z0-9]*?d)(.+)")


def effects_of(walk: Walk, job: Job, base: str, sight: CommandEffects, effects: tuple[Effect, ...]) -> list[Effect]:
    """What a command that applies a patch writes, beside what its row says."""
    if not any(effect.operation is EXECUTE and effect.target.kind is Kind.PROGRAM for effect in effects):
        return []  # it only tells
    texts = [word for word in job.argv[1:] if isinstance(word, str) and "\n" in word]
    if job.stdin.text is not None:
        texts.append(job.stdin.text)
    read = [patches.read_patch(text) for text in texts]
    folders = _folders(walk, job, base, effects)
    out = [
        Effect(touch.operation, path_target(path, folder.raw or folder.name, walk.home))
        for touch in dict.fromkeys(touch for touched, _ in read for touch in touched)
        for path in _named(touch.path, base, job.argv)
        for folder in folders
        if folder.name
    ]
    whole = bool(read) and all(sure for _, sure in read) and all(folder.name for folder in folders)
    named = base in ("patch", "gpatch") and bool(sight.operands)  # `patch a.c a.patch`, whatever the patch names
    if not whole and not named and sight.flags.isdisjoint(_NO_TREE):
        out += [Effect(WRITE, folder, recursive=True) for folder in folders]
    return out


def _named(path: str, base: str, argv: list[str | Arg] | tuple[str | Arg, ...]) -> list[str]:
    """The files that a name in a patch may stand for, by how many folders the command takes off."""
    if not path:
        return []
    found = [match[1] for word in argv if isinstance(word, str) and (match := _STRIP.match(word))]
    if base in ("apply_patch", "applypatch"):
        return [path]
    if not found and base != "git":
        return list(dict.fromkeys((path, path.rpartition("/")[2] or path)))
    strip = min(int(found[-1]), 100) if found and len(found[-1]) < 4 else 1
    headers = (path, f"a/{path}", f"b/{path}")
    stripped = ("/".join(header.split("/")[strip:]) for header in headers)
    return list(dict.fromkeys(each for each in (path, *stripped) if each))


def _folders(walk: Walk, job: Job, base: str, effects: tuple[Effect, ...]) -> list[Target]:
    """Where the patch is applied. A folder that cannot be named is a target without a name."""
    bases = [effect.target.raw or effect.target.name for effect in effects if effect.target.kind is Kind.REPOSITORY]
    out: list[Target] = []
    for cwd in (base == "git" and bases) or job.state.cwds:
        for word in _directories(job.argv) or ["."]:
            if isinstance(word, str):
                out.append(path_target(word, cwd, walk.home, tilde=False))
            else:
                out.append(Target(Kind.PATH, "", word.text, certain=False))
    return out


def _directories(argv: list[str | Arg] | tuple[str | Arg, ...]) -> list[str | Arg]:
    """The values of `-d` and `--directory`; rather one too many than one too few."""
    out: list[str | Arg] = []
    for place, word in enumerate(argv[1:], 2):
        if isinstance(word, Arg):
            if word.prefix.startswith(("--d", "-d")):
                out.append(word)
        elif "\n" in word:
            continue
        elif _FOLDER.fullmatch(word):
            out += argv[place : place + 1]
        elif glued := _GLUED.fullmatch(word):
            out.append(glued[1])
    return out
