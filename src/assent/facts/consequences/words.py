"""The words for consequences: one table for every surface, and the format of numbers and names in it.

INVARIANT: every name of a file, branch, package or person goes through `quoted`, which makes it inert and short."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assent.contract.approval import Consequence
from assent.contract.display import clip, code

SHOWN = 3  # names of many
LONGEST_NAME = 72
LONGEST = 500  # characters of one consequence
_UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB")

CUT = "; counting was cut short"
WORDS = {
    # deletions
    "delete.files": "removes {files}, {size}",
    "delete.least": "removes at least {files}, {size} or more" + CUT,
    "delete.most": "removes up to {files}, {size}: those that match below {names}",
    "delete.nothing": "removes nothing that is there now: {names}",
    "delete.unknown": "which files {names} means is not known, so they are not counted",
    "delete.remote": "{names} is on a network file system and was not counted",
    "delete.unread": "{count} could not be read and are not counted",
    "delete.repository": "removes a git repository with its history: {names}",
    "delete.in-git": "git has all of them, unchanged",
    "delete.not-in-git": "git does not have {count} of them: {names}",
    "delete.ignored": "git does not have {count} of them ({ignored} ignored): {names}",
    "delete.no-git": "they are in no git repository",
    "delete.git-unknown": "which of them git has is not known: {why}",
    "lost.changes": "loses uncommitted changes in {files}: {names}",
    "lost.no-changes": "loses no uncommitted changes",
    # history
    "reset.commits": "drops {commits} from {branch}: {names}",
    "reset.kept": "another branch, a tag or a remote still has {those}",
    "reset.only-here": "no other branch, tag or remote has {those}",
    "reset.none": "drops no commits",
    "rebase.commits": "makes {commits} of {branch} again on top of {onto}: {names}",
    "rebase.none": "moves {branch} to {onto}, and makes no commits again",
    "rebase.any": "each of them may be changed or dropped",
    "rebase.pushed": "a remote has {those} already, as of the last fetch",
    "amend.commit": "replaces the last commit of {branch}: {names}",
    "checkout.files": "changes {files} to switch to {branch}: {names}",
    "checkout.none": "changes no files",
    "branch.drops": "removes {what} {names}, and {commits} that no other branch, tag or remote has",
    "branch.kept": "removes {what} {names}; another branch, tag or remote has all of its commits",
    "branch.absent": "removes nothing: there is no {what} {names}",
    "stash.drops": "drops {stashes}: {names}",
    "stash.none": "drops nothing: there are no stashes",
    "git.unknown": "what it drops is not known: {why}",
    # pushes
    "push.adds": "adds {commits} to {branch} on {remote}, as of the last fetch: {names}",
    "push.overwrites": "overwrites {commits} of {branch} on {remote}, as of the last fetch: {names}",
    "push.refused": "is refused: {branch} on {remote} is ahead by {commits}, as of the last fetch",
    "push.creates": "creates {branch} on {remote} with {commits} that it does not have, as of the last fetch: {names}",
    "push.nothing": "adds nothing to {branch} on {remote}, as of the last fetch",
    "push.deletes": "removes {branch} from {remote}, as of the last fetch with {commits} that no other branch has",
    "push.deletes-name": "removes {branch} from {remote}; other branches have its commits, as of the last fetch",
    "push.tag": "sends tag {branch} to {remote}",
    "push.tags": "sends {tags} to {remote}, those that it has too",
    "push.all": "sends {branches} to {remote}",
    "push.mirror": "makes {remote} the same as this repository, and removes the branches and tags that are not here",
    "push.address": "sends {branch} to {remote}, which is no remote of the repository: what it has is not known",
    "push.unknown": "which commits it sends is not known: {why}",
    # installs
    "install.new": "installs {count} new to {lock}: {names}",
    "install.known": "installs {count} that {lock} has already: {names}",
    "install.no-lock": "installs {count}: {names}; there is no lock file",
    "install.lock": "installs the {count} of {lock}",
    "install.missing": "installs {count} of {manifest} that {lock} does not have: {names}",
    "install.listed": "installs the {count} that {manifest} names: {names}",
    "install.system": "installs {count} on this machine: {names}",
    "install.needs": "what new packages need in turn comes too, and is not known here",
    "install.unknown": "which packages it installs is not known: {why}",
    # databases
    "rows.delete": "deletes {rows} of {total} in {table}",
    "rows.update": "changes {rows} of {total} in {table}",
    "rows.insert": "adds {rows} to {table}, which has {total}",
    "rows.drop": "drops {table} with {rows}",
    "rows.behind": "changes that are still in the write-ahead log of {names} are not counted",
    "rows.unknown": "how many rows it touches is not known: {why}",
    # uploads
    "upload.files": "sends {files}, {size}, to {remote}: {names}",
    "upload.least": "sends at least {files}, {size} or more, to {remote}: {names}" + CUT,
    "upload.input": "sends what it reads from its input to {remote}; how much is not known",
    "upload.unknown": "what it sends to {remote}, and how much, is not known",
    # arguments of tools
    "arguments.recipients": "goes to {names}",
    "arguments.mentions": "addresses in its text: {names}",
    "arguments.amounts": "amounts: {names}",
    "arguments.names": "names: {names}",
    # undo
    "copy.kept": "a copy is kept: `assent undo` puts back what it deletes here",
    "copy.none": "cannot be undone: {why}",
    "copy.off": "cannot be undone: `undo` is off",
    # measuring itself
    "order": "measured before the call runs: one part of it may change what a later part does",
    "late": "not all of it could be measured in time",
    "failed": "what it {what} could not be measured: {why}",
}


def say(
    kind: str, key: str, given: Mapping[str, str] | None = None, *, cut: bool = False, **values: str
) -> Consequence:
    """A consequence in the words of the table. Values come `given` or by name; foreign ones are `quoted` before."""
    text = WORDS[key].format(**(given or {}), **values)
    return Consequence(kind, clip(text, LONGEST), cut=cut or text.endswith(CUT))


def quoted(name: str) -> str:
    """A foreign name, inert, short, on one line, in back-quotes that it cannot end."""
    if len(name) > LONGEST_NAME * 4:
        name = f"{name[: LONGEST_NAME * 2]}…{name[-LONGEST_NAME * 2 :]}"
    shown = code(name).replace("\n", "⏎").replace("\t", " ").replace("`", "\\u{60}")
    return f"`{shown if len(shown) <= LONGEST_NAME else clip_end(shown)}`"


def clip_end(shown: str) -> str:
    """The start and the end of a name that is too long; an escaped character is not split."""
    head, tail = shown[: LONGEST_NAME // 2], shown[-(LONGEST_NAME // 2) + 1 :]
    if "\\u{" in head[-10:] and "}" not in head[head.rindex("\\u{") :]:
        head = head[: head.rindex("\\u{")]
    if "}" in tail[:10] and "\\u{" not in tail[: tail.index("}")]:
        tail = tail[tail.index("}") + 1 :]
    return f"{head}…{tail}"


def listed(names: Sequence[str], count: int = 0, *, shown: int = SHOWN) -> str:
    """The first of many names, and how many more there are; `count` if these are not all."""
    count = max(count, len(names))
    found = ", ".join(map(quoted, names[:shown]))
    rest = count - min(len(names), shown)
    return f"{found} and {rest:,} more" if rest > 0 else found


def counted(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def those(some: int, count: int) -> str:
    """Some of the things that were named before."""
    if some < count:
        return f"{some:,} of them"
    return "it" if count == 1 else "all of them"


def size(number: int) -> str:
    """Bytes for people: `512 bytes`, `1.4 MB`."""
    if number < 1000:
        return counted(number, "byte")
    found, unit = float(number), 0
    while found >= 999.5 and unit < len(_UNITS) - 1:
        found, unit = found / 1000, unit + 1
    return f"{found:.1f} {_UNITS[unit]}" if found < 9.95 else f"{found:.0f} {_UNITS[unit]}"
