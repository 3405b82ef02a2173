"""Commands that apply a patch (`git apply`, `patch`): which files they write, by the patch if it is known."""

from __future__ import annotations

from assent.contract import Effect, Kind, Operation, Pattern, Target
from assent.effects.paths import path_target
from assent.effects.shell.command import Arg, CommandEffects
from assent.effects.shell.record import ShellJob, Walk

EXECUTE, WRITE = Operation.EXECUTE, Operation.WRITE
_NO_TREE = frozenset(("--cached", "--abort", "--quit", "--skip", "--show-current-patch"))
_STRIP = Pattern(r"(?:-[A-Za-z]*p|--strip=)([0-9]+)")
_FOLDER = Pattern(r"--d(?:i[a-z]*)?|-[A-Za-z0-9]*d")
_GLUED = Pattern(r"(?:--d(?:i[a-z]*)?=|-[A-Za-z0-9]*?d)(.+)")


def patched(walk: Walk, job: ShellJob, base: str, summary: CommandEffects, effects: tuple[Effect, ...]) -> list[Effect]:
    """The writes of a command that applies a patch, in addition to its row."""
    if not any(effect.operation is EXECUTE and effect.target.kind is Kind.PROGRAM for effect in effects):
        return []  # it only reports
    from assent.effects import patches

    texts = [word for word in job.argv[1:] if isinstance(word, str) and "\n" in word]
    if job.stdin.text is not None:
        texts.append(job.stdin.text)
    read = [patches.read_patch(text) for text in texts]
    folders = _patch_folders(walk, job, base, effects)
    out = [
        Effect(touch.operation, path_target(path, folder.raw or folder.name, walk.home))
        for touch in dict.fromkeys(touch for touched, _ in read for touch in touched)
        for path in _patched_files(touch.path, base, job.argv)
        for folder in folders
        if folder.name
    ]
    whole = bool(read) and all(sure for _, sure in read) and all(folder.name for folder in folders)
    named = base in ("patch", "gpatch") and bool(summary.operands)  # `patch a.c a.patch` ignores the names in the patch
    if not whole and not named and summary.flags.isdisjoint(_NO_TREE):
        out += [Effect(WRITE, folder, recursive=True) for folder in folders]
    return out


def _patched_files(path: str, base: str, argv: list[str | Arg] | tuple[str | Arg, ...]) -> list[str]:
    """The files that a name in a patch may mean, by the number of stripped folders."""
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


def _patch_folders(walk: Walk, job: ShellJob, base: str, effects: tuple[Effect, ...]) -> list[Target]:
    """The folders that the patch is applied in. An unknown folder is an unnamed target."""
    bases = [effect.target.raw or effect.target.name for effect in effects if effect.target.kind is Kind.REPOSITORY]
    out: list[Target] = []
    for cwd in (base == "git" and bases) or job.state.cwds:
        for word in _directory_options(job.argv) or ["."]:
            if isinstance(word, str):
                out.append(path_target(word, cwd, walk.home, tilde=False))
            else:
                out.append(Target(Kind.PATH, "", word.text, certain=False))
    return out


def _directory_options(argv: list[str | Arg] | tuple[str | Arg, ...]) -> list[str | Arg]:
    """The values of `-d` and `--directory`; possibly too many, never too few."""
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
