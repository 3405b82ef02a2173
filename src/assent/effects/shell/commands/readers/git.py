"""Readers for git subcommands that are harmless only with certain combinations of words. Reads no repository."""

from __future__ import annotations

from assent.contract import ASCII, Effect, Kind, Pattern, Target
from assent.contract.branches import branch_of, is_shared
from assent.effects.shell.command import Arg
from assent.effects.shell.commands.command_effects import DELETE, EXECUTE, READ, WRITE, Word, literal, shown, values
from assent.effects.shell.commands.line import CommandLine, into
from assent.effects.shell.commands.readers.git_losses import ANY, DISCARDS, INDEX, lose, only, start, stores
from assent.effects.shell.commands.readers.system import print_place

_PUSHES = frozenset({"push", "force-push", "force-push-main"})
_CURRENT = Pattern(r"\$\(\s*git (?:branch --show-current|rev-parse --abbrev-ref HEAD|symbolic-ref --short HEAD)\s*\)")
_STEERS = ("remote.", "url.", "push.", "branch.")
_MAGIC = Pattern(r"[*?\[\\]|^:")  # of pathspecs, which git expands itself
_REMOTE = Pattern(r"[A-Za-z0-9][\w.-]*(?:/[\w.-]+)*")
_STASH = Pattern(r"stash@\{\d+\}|\d+")
_NAME = Pattern(r"(?!.*\.\.)[A-Za-z0-9_][\w./+-]*(?:[~^]\d*)*", ASCII)  # of a revision, which facts resolve
_PLAIN_GLOBALS = ("-C", "-c", "--no-pager", "--no-optional-locks", "--no-advice")
_PLAIN_CHECKOUT = ("--quiet", "--no-track", "--track", "--detach", "--progress", "--no-progress")
_PLAIN_MERGE = (
    *("--no-edit", "--message", "--no-commit", "--ff", "--ff-only", "--no-ff", "--quiet", "--stat", "--no-stat"),
    "--verbose",
)


def git_push(line: CommandLine) -> None:
    """`git push`: forcing or deleting a branch that others share, by its name, is a danger of its own."""
    line.standard()
    if line.parsed.has("--dry-run") and not line.parsed.doubts:
        line.builder.dangers = [danger for danger in line.builder.dangers if danger not in _PUSHES]
        return
    forced = line.parsed.has("--force", "--delete", "--mirror", "--prune")
    texts = [text for word in line.parsed.operands[1:] for text in values(word)]
    if any(text is not None and _overwrites(text, forced) for text in texts):
        line.builder.danger("force-push-main")
    _pushed(line)


def _pushed(line: CommandLine) -> None:
    """The destination of a push. Facts may add the current branch, the default branch, the remotes."""
    builder, parsed = line.builder, line.parsed
    remotes = [*parsed.operands[:1], *parsed.values("--repo")]
    remote = literal(remotes[0]) if remotes else ""
    settings = [text for given in line.before if "-c" in given.option.names for text in values(given.value or "")]
    steered = any(text is None or text.lower().startswith(_STEERS) for text in settings)
    if parsed.has("--all", "--branches", "--mirror") or steered:
        builder.danger("push-default")
    if remote is None or steered:
        builder.danger("exfiltration")
        return
    _ask_facts(line, f"remote {remote}", "exfiltration-if")
    words = parsed.operands[1:]
    for word in words:
        for text in values(word):
            branch = _branch(text) if text is not None else "" if _CURRENT.fullmatch(shown(word)) else None
            if branch is None or is_shared(branch):
                builder.danger("push-default")
            elif not branch.startswith("refs/"):
                _ask_facts(line, f"branch {remote} {branch}", "push-default-if")
    if not words and not parsed.has("--tags", "--all", "--branches", "--mirror"):
        _ask_facts(line, f"branch {remote} ", "push-default-if")


def _branch(refspec: str) -> str:
    """The branch that a refspec sets; `""` for the current one."""
    source, colon, target = refspec.removeprefix("+").partition(":")
    name = branch_of(target if colon else source)
    return "" if name in ("HEAD", "@") else name


def _ask_facts(line: CommandLine, question: str, danger: str) -> None:
    builder = line.builder
    group = "push=" + question.replace(":", "\1")
    for folder in builder.repositories or [builder.cwd]:
        name = f"{group}:{folder}" if folder else ""
        target = Target(Kind.HOOKS, name, folder or "a repository", certain=bool(folder))
        builder.effects.append(Effect(EXECUTE, target, dangers=(danger,)))


def _overwrites(refspec: str, forced: bool) -> bool:
    """Whether a refspec sets a shared branch back: `+main`, `:main`, `x:main` under `--force`."""
    source, colon, target = refspec.removeprefix("+").partition(":")
    branch = branch_of(target if colon else source)
    return is_shared(branch) and (forced or refspec[:1] == "+" or (bool(colon) and not source))


# ---------------------------------------------------------------- names of commits, as words of other commands

_PLAIN_LIST = (
    *("--all", "--branches", "--tags", "--remotes", "--not", "--reverse", "--max-count", "-NUM", "--skip", "--merges"),
    *("--no-merges", "--first-parent", "--since", "--until", "--author", "--grep", "--topo-order", "--date-order"),
    *("--ancestry-path", "--abbrev-commit", "--max-parents", "--min-parents", "--full-history"),
)
_RUNS_MORE = ("--edit", "--reedit-message", "--template", "--patch", "--interactive", "--no-verify", "--gpg-sign")
_GIT_FOLDERS = (["--git-dir"], ["--absolute-git-dir"], ["--git-common-dir"])
_HEAD = Pattern(r"HEAD(?:[~^]\d*)*")


def git_rev_list(line: CommandLine) -> None:
    """`git rev-list` prints names of commits, one on a line, unless an option puts more there."""
    line.standard()
    if only(line, *_PLAIN_LIST):
        line.builder.prints = "hashes"


def git_merge_base(line: CommandLine) -> None:
    """`git merge-base` prints the name of a commit, with some options several."""
    line.standard()
    if not line.parsed.doubts and not line.parsed.spills:
        line.builder.prints = "hashes" if line.parsed.has("--all", "--octopus", "--independent") else "hash"


def git_rev_parse(line: CommandLine) -> None:
    """`git rev-parse name` prints the id of a commit, or the name itself if there is no such commit; with `--verify`,
    nothing then."""
    line.standard()
    words = line.parsed.operands
    texts = values(words[0]) if len(words) == 1 else (None,)
    verified = line.parsed.has("--verify") and None not in texts
    if (
        only(line, "--verify", "--quiet", "--short")
        and line.parsed.ended < 0
        and (verified or all(text is not None and _HEAD.fullmatch(text) for text in texts))
    ):
        line.builder.prints = "hash"
    elif not words and not line.before and [given.spelling for given in line.parsed.given] in _GIT_FOLDERS:
        print_place(line, ("", ".git"))


# ---------------------------------------------------------------- writes to git's own store only
#
# Their rows say `stores` and `hooks`, or the reader adds both; a form that does more is also EXECUTE.


def git_commit(line: CommandLine) -> None:
    """`git commit` with its message on the line; without one it starts an editor."""
    line.standard()
    fixes = line.parsed.values("--fixup")
    has_message = line.parsed.has("--message", "--file", "--reuse-message", "--no-edit", "--dry-run") or (
        bool(fixes) and all(":" not in (literal(word) or ":") for word in fixes)
    )
    if not has_message or line.parsed.has(*_RUNS_MORE):
        line.builder.execute()


def git_fetch(line: CommandLine) -> None:
    """`git fetch name`, `git ls-remote name`, `git remote show names…`: the name may be that of a local
    folder or bundle."""
    line.standard()
    builder = line.builder
    several = line.parsed.has("--multiple") or builder.subcommand == ("remote", "show")
    for word in line.parsed.operands if several else line.parsed.operands[:1]:
        for text in values(word):
            if text is not None and _REMOTE.fullmatch(text):
                for folder in builder.repositories or [builder.cwd]:
                    builder.hooks(f"remote={text}", folder)
            elif text is None or "://" not in text:
                builder.execute()
    if not several and line.parsed.has("--prune") and any(":" in shown(word) for word in line.parsed.operands[1:]):
        builder.execute()


def git_lfs(line: CommandLine) -> None:
    """`git lfs fetch` and similar: `.lfsconfig` in the tree names the server."""
    line.standard()
    line.builder.fetch(Arg("the server in .lfsconfig"))


def git_checkout(line: CommandLine) -> None:
    """`git checkout -b name` without a start only makes a branch; named files are restored from git."""
    words, creates = line.parsed.operands, line.parsed.has("-b")
    if only(line, "--quiet", "--force") and _discards(line):
        return
    if creates and only(line, "-b", "--quiet", "--no-track") and not _words(line):
        start(line)
        stores(line, "checkout")
    elif len(words) == 1 and _is_hash(words[0]) and only(line, "--quiet", "--detach"):
        start(line)
        line.builder.execute()
    elif not (only(line, "-b", *_PLAIN_CHECKOUT) and _tree(line, "checkout", words, "checkout", file=not creates)):
        line.unproved()
        if len(words) == 1 and line.parsed.ended < 0 and not line.parsed.has("-b", "-B", "--orphan"):
            line.builder.path(WRITE, words[0], dangers=("discard-there",))


def _discards(line: CommandLine) -> bool:
    """`git checkout -f [name]`, `git checkout [name] -- files`, `git checkout .`"""
    words, ended = line.parsed.operands, line.parsed.ended
    if ended in (0, 1):
        return lose(line, "discard", words, "checkout", files=ended, source="" if ended else INDEX)
    if ended < 0 and line.parsed.has("--force") and len(words) <= 1:
        return lose(line, "force", words or ["HEAD"], "checkout")
    if ended < 0 and words and (len(words) > 1 or literal(words[0]) == "." or str(words[0]).startswith("./")):
        return lose(line, "discard", words, "checkout", files=0, source=ANY)
    return False


def git_switch(line: CommandLine) -> None:
    """`git switch -c name` without a start only makes a branch."""
    parsed = line.parsed
    forced = parsed.has("--force", "--discard-changes") and only(line, "--force", "--discard-changes", "--quiet")
    if forced and len(parsed.operands) == 1 and lose(line, "force", parsed.operands, "checkout"):
        return
    if only(line, "--create", *_PLAIN_CHECKOUT) and _tree(line, "checkout", parsed.operands, "checkout"):
        return
    if only(line, "--create", "--quiet", "--no-track") and parsed.has("--create") and not _words(line):
        line.standard()
        stores(line, "checkout")
    else:
        line.unproved()


def git_merge(line: CommandLine) -> None:
    """`git merge name`, if it needs no editor."""
    edits = not line.parsed.has("--no-edit", "--message", "--ff-only", "--no-commit")
    if edits or not (only(line, *_PLAIN_MERGE) and _tree(line, "merge", line.parsed.operands, "commit")):
        line.unproved()


def git_pick(line: CommandLine) -> None:
    """`git cherry-pick commits` and `git revert --no-edit commits`: the files that these commits changed."""
    verb = "pick" if line.builder.subcommand[-1:] == ("cherry-pick",) else "revert"
    plain = only(line, "--no-edit", "--no-commit", "-x")
    edits = verb == "revert" and not line.parsed.has("--no-edit", "--no-commit")
    if edits or not (plain and _tree(line, verb, line.parsed.operands, "commit", most=20)):
        line.unproved()


def git_stash(line: CommandLine) -> None:
    """`git stash` resets the changed files to the last commit, `pop` and `apply` bring the changes back."""
    verb, words = line.builder.subcommand[1:2], line.parsed.operands
    if verb in ((), ("push",)) and not _words(line):
        more = "--include-untracked"
        name = "stash-all" if line.parsed.has(more) else "stash"
        done = only(line, "--quiet", "--message", "--keep-index", more) and _tree(line, name, [], "commit", most=0)
    else:
        known = len(words) <= 1 and all(_STASH.fullmatch(literal(word) or "") for word in words)
        plain = verb in (("pop",), ("apply",)) and known and only(line, "--quiet")
        done = plain and _tree(line, "unstash", [], "commit", most=0)
    if not done:
        line.unproved()


def git_branch(line: CommandLine) -> None:
    """`git branch name [start]` makes one; other forms are as in the row."""
    parsed = line.parsed
    words, plain = parsed.operands, _plain(line)
    removes = only(line, "-D", "--delete", "--force", "--quiet") and parsed.has("-D", "--delete")
    if 1 <= len(words) <= 2 and only(line, "--quiet") and plain:
        start(line)
        stores(line)
    elif removes and words and plain:
        danger = DISCARDS if parsed.has("-D", "--force") else ""
        if not lose(line, "branch-delete", words, danger=danger):
            line.standard()
    elif not (
        only(line, "--force", "--quiet")
        and 1 <= len(words) <= 2
        and plain
        and lose(line, "branch-force", words if len(words) == 2 else [*words, "HEAD"])
    ):
        line.standard()


def git_tag(line: CommandLine) -> None:
    """`git tag name [commit]` makes one, with any message on the line."""
    parsed = line.parsed
    if parsed.has("--delete") and only(line, "--delete") and _plain(line):
        if not lose(line, "tag-delete", parsed.operands, danger=""):
            line.standard()
        return
    signed = parsed.has("--annotate") and not parsed.has("--message", "--file")
    if (
        1 <= len(parsed.operands) <= 2
        and only(line, "--annotate", "--message", "--file")
        and not signed
        and _plain(line)
    ):
        start(line)
        for given in parsed.given:
            if given.option.role == "READ" and given.value is not None:
                line.form(line.row.forms["-F"], given.value)
                line.builder.path(READ, given.value)
        stores(line)
    else:
        line.standard()


def git_reset(line: CommandLine) -> None:
    """`git reset` without `--hard` and similar changes the index and moves the branch, but no files."""
    hard, words = only(line, "--hard", "--quiet") and line.parsed.has("--hard"), line.parsed.operands
    if hard and line.parsed.ended < 0 and len(words) <= 1 and lose(line, "reset", words or ["HEAD"]):
        return
    line.standard()
    if only(line, "--quiet", "--soft", "--mixed", "--refresh", "--no-refresh", "--intent-to-add"):
        stores(line)
    else:
        line.builder.execute()


def git_restore(line: CommandLine) -> None:
    """`git restore --staged paths` changes only the index."""
    if only(line, "--staged", "--source", "--quiet") and line.parsed.has("--staged"):
        start(line)
        stores(line)
    elif not (only(line, "--staged", "--worktree", "--source", "--quiet") and _restores(line)):
        line.unproved()


def _restores(line: CommandLine) -> bool:
    """`git restore [--source=name] files`: restores the files from the index or a commit."""
    sources, files = line.parsed.values("--source"), line.parsed.operands
    if not sources and line.parsed.has("--staged"):
        sources = ["HEAD"]
    source = "" if sources else INDEX
    plain = bool(files) and len(sources) <= 1
    return plain and lose(line, "discard", [*sources, *files], "checkout", files=len(sources), source=source)


def git_rm(line: CommandLine) -> None:
    """`git rm` without `-f` refuses to remove uncommitted changes; with `--cached` it changes only the index."""
    if (
        line.parsed.has("--force")
        and only(line, "--force", "--quiet", "-r")
        and lose(line, "remove", line.parsed.operands, files=0)
    ):
        return
    plain = all(text is not None and not _MAGIC.search(text) for w in line.parsed.operands for text in values(w))
    if not plain or not only(line, "--cached", "--quiet", "-r", "--ignore-unmatch", "--dry-run"):
        line.unproved()
        return
    start(line)
    if not line.parsed.has("--cached", "--dry-run"):
        line.builder.paths(DELETE, line.parsed.operands, recursive=line.parsed.has("-r"), lossless=True)
    stores(line)


def git_mv(line: CommandLine) -> None:
    """`git mv`: files move, and the index with them; it refuses to overwrite."""
    words = line.parsed.operands
    if not only(line, "--verbose", "--dry-run", "-k") or len(words) < 2 or literal(words[-1]) is None:
        line.unproved()
        return
    start(line)
    for word in words[:-1]:
        line.builder.path(READ, word, recursive=True, stays=True)
        line.builder.path(DELETE, word, recursive=True, lossless=True)
    into(line.builder, words[:-1], words[-1], recursive=True, stays=True)
    stores(line)


def _words(line: CommandLine) -> bool:
    return bool(line.parsed.operands) or line.parsed.ended >= 0


def _is_hash(word: Word) -> bool:
    return isinstance(word, Arg) and word.kind in ("hash", "hashes")


def _plain(line: CommandLine) -> bool:
    return line.parsed.ended < 0 and all(
        text is not None and text[:1] != "-" for word in line.parsed.operands for text in values(word)
    )


def _tree(line: CommandLine, verb: str, words: list[Word], hooks: str, *, most: int = 1, file: bool = False) -> bool:
    """Record that it changes files of the working tree, which facts can list. False if its words are not plain names,
    or it is another tree. `file`: its word may be a file whose changes are discarded instead."""
    if (
        line.parsed.ended >= 0
        or len(words) > most
        or (most and not words)
        or not all(any(name in given.option.names for name in _PLAIN_GLOBALS) for given in line.before)
        or not all(isinstance(word, str) and _NAME.fullmatch(word) for word in words)
    ):
        return False
    start(line)
    builder = line.builder
    if file:
        builder.path(WRITE, words[0], dangers=("discard-there",))
    name = f"{' '.join((verb, *map(str, words)))}:{builder.cwd}" if builder.cwd else ""
    builder.effects.append(Effect(EXECUTE, Target(Kind.TREE, name, " ".join(builder.subcommand), certain=bool(name))))
    stores(line, hooks)
    return True


def git_each(line: CommandLine) -> None:
    """`git for-each-repo --config=key words…`: git runs with these words, in other repositories."""
    line.standard()
    line.builder.run(["git", *line.parsed.operands])
