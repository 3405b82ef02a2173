"""Readers for git subcommands that only a combination of words makes harmless. Reads no repository."""

from __future__ import annotations

from assent.contract import ASCII, Effect, Kind, Pattern, Target
from assent.effects.shell.command import Arg
from assent.effects.shell.commands.command_effects import DELETE, EXECUTE, READ, WRITE, Word, literal, shown, values
from assent.effects.shell.commands.line import CommandLine, into
from assent.effects.shell.commands.readers.system import print_place

_SHARED = frozenset({"main", "master", "trunk", "develop", "production", "prod", "release", "stable"})
_MAGIC = Pattern(r"[*?\[\\]|^:")  # of pathspecs, which git expands itself
_REMOTE = Pattern(r"[A-Za-z0-9][\w.-]*(?:/[\w.-]+)*")
_STASH = Pattern(r"stash@\{\d+\}|\d+")
_NAME = Pattern(r"(?!.*\.\.)[A-Za-z0-9_][\w./+-]*(?:[~^]\d*)*", ASCII)  # of a revision; what it is facts tell
_PLAIN_GLOBALS = ("-C", "-c", "--no-pager", "--no-optional-locks", "--no-advice")
_PLAIN_CHECKOUT = ("--quiet", "--no-track", "--track", "--detach", "--progress", "--no-progress")
_PLAIN_MERGE = (
    *("--no-edit", "--message", "--no-commit", "--ff", "--ff-only", "--no-ff", "--quiet", "--stat", "--no-stat"),
    "--verbose",
)


def git_push(line: CommandLine) -> None:
    """`git push`: forcing or deleting a branch that others share, by its name, is a danger of its own."""
    line.standard()
    forced = line.parsed.has("--force", "--delete", "--mirror", "--prune")
    texts = [text for word in line.parsed.operands[1:] for text in values(word)]
    if any(text is not None and _overwrites(text, forced) for text in texts):
        line.builder.danger("force-push-main")


def _overwrites(refspec: str, forced: bool) -> bool:
    """Whether a refspec sets a shared branch back: `+main`, `:main`, `x:main` under `--force`."""
    source, colon, target = refspec.removeprefix("+").partition(":")
    branch = (target if colon else source).removeprefix("refs/heads/")
    return branch in _SHARED and (forced or refspec[:1] == "+" or (bool(colon) and not source))


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
    if _only(line, *_PLAIN_LIST):
        line.builder.prints = "hashes"


def git_merge_base(line: CommandLine) -> None:
    """`git merge-base` prints the name of a commit, with some options several."""
    line.standard()
    if not line.parsed.doubts and not line.parsed.spills:
        line.builder.prints = "hashes" if line.parsed.has("--all", "--octopus", "--independent") else "hash"


def git_rev_parse(line: CommandLine) -> None:
    """`git rev-parse name` prints the name of a commit, or the name as it stands where there is no such thing: only
    with `--verify` nothing then."""
    line.standard()
    words = line.parsed.operands
    texts = values(words[0]) if len(words) == 1 else (None,)
    verified = line.parsed.has("--verify") and None not in texts
    if (
        _only(line, "--verify", "--quiet", "--short")
        and line.parsed.ended < 0
        and (verified or all(text is not None and _HEAD.fullmatch(text) for text in texts))
    ):
        line.builder.prints = "hash"
    elif not words and not line.before and [given.spelling for given in line.parsed.given] in _GIT_FOLDERS:
        print_place(line, ("", ".git"))


# ---------------------------------------------------------------- what only writes git's own store
#
# Their rows say `stores` and `hooks`, or the reader adds both; a form that does more is EXECUTE besides.


def _only(line: CommandLine, *names: str) -> bool:
    """Whether the line is read without a doubt and has no other options than these."""
    parsed = line.parsed
    return (
        not parsed.doubts and not parsed.spills and all(any(n in g.option.names for n in names) for g in parsed.given)
    )


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
    """`git fetch name`, `git ls-remote name`, `git remote show names…`: the name may be that of a folder or a bundle
    that anybody put there."""
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
    """`git checkout -b name` without a start only makes a branch."""
    words, creates = line.parsed.operands, line.parsed.has("-b")
    if creates and _only(line, "-b", "--quiet", "--no-track") and not _words(line):
        _start(line)
        _stores(line, "checkout")
    elif len(words) == 1 and _is_hash(words[0]) and _only(line, "--quiet", "--detach"):
        _start(line)
        line.builder.execute()
    elif not (_only(line, "-b", *_PLAIN_CHECKOUT) and _tree(line, "checkout", words, "checkout", file=not creates)):
        line.unproved()
        if len(words) == 1 and line.parsed.ended < 0 and not line.parsed.has("-b", "-B", "--orphan"):
            line.builder.path(WRITE, words[0], dangers=("discard-there",))


def git_switch(line: CommandLine) -> None:
    """`git switch -c name` without a start only makes a branch."""
    parsed = line.parsed
    if _only(line, "--create", *_PLAIN_CHECKOUT) and _tree(line, "checkout", parsed.operands, "checkout"):
        return
    if _only(line, "--create", "--quiet", "--no-track") and parsed.has("--create") and not _words(line):
        line.standard()
        _stores(line, "checkout")
    else:
        line.unproved()


def git_merge(line: CommandLine) -> None:
    """`git merge name`, where it needs no editor."""
    edits = not line.parsed.has("--no-edit", "--message", "--ff-only", "--no-commit")
    if edits or not (_only(line, *_PLAIN_MERGE) and _tree(line, "merge", line.parsed.operands, "commit")):
        line.unproved()


def git_pick(line: CommandLine) -> None:
    """`git cherry-pick commits` and `git revert --no-edit commits`: the files that these commits changed."""
    verb = "pick" if line.builder.subcommand[-1:] == ("cherry-pick",) else "revert"
    plain = _only(line, "--no-edit", "--no-commit", "-x")
    edits = verb == "revert" and not line.parsed.has("--no-edit", "--no-commit")
    if edits or not (plain and _tree(line, verb, line.parsed.operands, "commit", most=20)):
        line.unproved()


def git_stash(line: CommandLine) -> None:
    """`git stash` puts the changed files back to what is committed, `pop` and `apply` bring them back."""
    verb, words = line.builder.subcommand[1:2], line.parsed.operands
    if verb in ((), ("push",)) and not _words(line):
        more = "--include-untracked"
        name = "stash-all" if line.parsed.has(more) else "stash"
        done = _only(line, "--quiet", "--message", "--keep-index", more) and _tree(line, name, [], "commit", most=0)
    else:
        known = len(words) <= 1 and all(_STASH.fullmatch(literal(word) or "") for word in words)
        plain = verb in (("pop",), ("apply",)) and known and _only(line, "--quiet")
        done = plain and _tree(line, "unstash", [], "commit", most=0)
    if not done:
        line.unproved()


def git_branch(line: CommandLine) -> None:
    """`git branch name [start]` makes one; other forms are as the row says."""
    if 1 <= len(line.parsed.operands) <= 2 and _only(line, "--quiet") and _plain(line):
        _start(line)
        _stores(line)
    else:
        line.standard()


def git_tag(line: CommandLine) -> None:
    """`git tag name [commit]` makes one, with its message on the line where it has one."""
    parsed = line.parsed
    signed = parsed.has("--annotate") and not parsed.has("--message", "--file")
    if (
        1 <= len(parsed.operands) <= 2
        and _only(line, "--annotate", "--message", "--file")
        and not signed
        and _plain(line)
    ):
        _start(line)
        for given in parsed.given:
            if given.option.role == "READ" and given.value is not None:
                line.form(line.row.forms["-F"], given.value)
                line.builder.path(READ, given.value)
        _stores(line)
    else:
        line.standard()


def git_reset(line: CommandLine) -> None:
    """`git reset` without `--hard` and its like changes the index, and moves the branch; the files stay as they are."""
    line.standard()
    if _only(line, "--quiet", "--soft", "--mixed", "--refresh", "--no-refresh", "--intent-to-add"):
        _stores(line)
    else:
        line.builder.execute()


def git_restore(line: CommandLine) -> None:
    """`git restore --staged paths` changes the index alone."""
    if _only(line, "--staged", "--source", "--quiet") and line.parsed.has("--staged"):
        _start(line)
        _stores(line)
    else:
        line.unproved()


def git_rm(line: CommandLine) -> None:
    """`git rm` without `-f` refuses to remove what is not committed; with `--cached` it changes the index alone."""
    plain = all(text is not None and not _MAGIC.search(text) for w in line.parsed.operands for text in values(w))
    if not plain or not _only(line, "--cached", "--quiet", "-r", "--ignore-unmatch", "--dry-run"):
        line.unproved()
        return
    _start(line)
    if not line.parsed.has("--cached", "--dry-run"):
        line.builder.paths(DELETE, line.parsed.operands, recursive=line.parsed.has("-r"), lossless=True)
    _stores(line)


def git_mv(line: CommandLine) -> None:
    """`git mv`: files move, and the index with them; it refuses to overwrite."""
    words = line.parsed.operands
    if not _only(line, "--verbose", "--dry-run", "-k") or len(words) < 2 or literal(words[-1]) is None:
        line.unproved()
        return
    _start(line)
    for word in words[:-1]:
        line.builder.path(READ, word, recursive=True, stays=True)
        line.builder.path(DELETE, word, recursive=True, lossless=True)
    into(line.builder, words[:-1], words[-1], recursive=True, stays=True)
    _stores(line)


def _words(line: CommandLine) -> bool:
    return bool(line.parsed.operands) or line.parsed.ended >= 0


def _is_hash(word: Word) -> bool:
    return isinstance(word, Arg) and word.kind == "hash"


def _plain(line: CommandLine) -> bool:
    return line.parsed.ended < 0 and all(
        text is not None and text[:1] != "-" for word in line.parsed.operands for text in values(word)
    )


def _start(line: CommandLine) -> None:
    """What holds of the line whatever its own options and operands do: flags, and the options before the subcommand."""
    line.preamble()
    line.apply_options(line.before)


def _tree(line: CommandLine, verb: str, words: list[Word], hooks: str, *, most: int = 1, file: bool = False) -> bool:
    """Record that it changes the files of the working tree, which facts can tell. False where its words are not plain
    names, or the tree is another. `file`: its word may be a file whose changes are discarded instead."""
    if (
        line.parsed.ended >= 0
        or len(words) > most
        or (most and not words)
        or not all(any(name in given.option.names for name in _PLAIN_GLOBALS) for given in line.before)
        or not all(isinstance(word, str) and _NAME.fullmatch(word) for word in words)
    ):
        return False
    _start(line)
    builder = line.builder
    if file:
        builder.path(WRITE, words[0], dangers=("discard-there",))
    name = f"{' '.join((verb, *map(str, words)))}:{builder.cwd}" if builder.cwd else ""
    builder.effects.append(Effect(EXECUTE, Target(Kind.TREE, name, " ".join(builder.subcommand), certain=bool(name))))
    _stores(line, hooks)
    return True


def _stores(line: CommandLine, hooks: str = "refs") -> None:
    """It writes git's store, under hooks of the repository."""
    builder = line.builder
    for folder in builder.repositories or [builder.cwd]:
        builder.effects.append(Effect(WRITE, Target(Kind.REPOSITORY, folder, certain=bool(folder))))
        builder.hooks(hooks, folder)


def git_each(line: CommandLine) -> None:
    """`git for-each-repo --config=key words…`: git runs with these words, in other repositories."""
    line.standard()
    line.builder.run(["git", *line.parsed.operands])
