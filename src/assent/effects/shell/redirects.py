"""Redirections → effects on their targets, and the input and output of a command. Runs nothing."""

from __future__ import annotations

from assent.contract import Kind, Operation, Pattern, Target
from assent.contract.secret_files import is_environment_file
from assent.effects.paths import path_target
from assent.effects.shell.command import EVERY, Arg, temporary
from assent.effects.shell.commands.command_effects import EVERY_FILE
from assent.effects.shell.flows import Stream
from assent.effects.shell.record import Plumbing, Walk
from assent.effects.shell.state import FETCHED, FROM_FILE, NUMBER, SECRET_FILE, ShellState, ShellValue, either
from assent.effects.shell.tree import ProcessSub, Redirect
from assent.effects.shell.words import single, value

READ, WRITE, FETCH = Operation.READ, Operation.WRITE, Operation.FETCH

_NO_FILE = Pattern(r"/dev/(?:null|stdin|stdout|stderr|tty|full|fd/[0-9]+)|/proc/self/fd/[0-9]+")
_SOCKET = Pattern(r"/dev/(?:tcp|udp)/([^/]*)(?:/.*)?")
_DEVICE = Pattern(
    r"/dev/(?:r?disk\d|sd[a-z]|hd[a-z]|vd[a-z]|xvd[a-z]|nvme\d|mmcblk\d|mapper/|md\d|dm-\d|loop\d|mem$|kmem$)"
)
_DUPLICATE = Pattern(r"[0-9]*-?")
_EXPANDS = Pattern(r"[$`\\'\"*?\[~<>(){}!]")
_ZSH_RANGE = Pattern(r"[0-9]*-[0-9]*>?")


def plumb(walk: Walk, redirects: tuple[Redirect, ...], state: ShellState) -> Plumbing:
    out = Plumbing()
    for redirect in redirects:
        walk.step()
        walk.step()
        op = redirect.op
        if redirect.fd[:1] == "{":
            name = redirect.fd.strip("{}").partition("[")[0]
            before = state.get(name)  # which it keeps if the file cannot be opened
            walk.assign(name, NUMBER if before is None else either(before, NUMBER), state)
        if op == "<<" or op == "<<-":
            _document(walk, redirect, state, out)
        elif op == "<<<":
            found = value(walk, redirect.target, state)
            walk.taint |= found.taint
            if redirect.fd in ("", "0"):
                text = found.one
                out.stdin = Stream(None if text is None else text + "\n", found.taint, found.kind, found.under)
        else:
            _file(walk, redirect, state, out)
    return out


def _document(walk: Walk, redirect: Redirect, state: ShellState, out: Plumbing) -> None:
    if redirect.body is None:
        return
    found = value(walk, redirect.body, state)
    if redirect.fd in ("", "0"):
        out.stdin = Stream(found.one, found.taint)
    else:
        walk.taint |= found.taint


def _file(walk: Walk, redirect: Redirect, state: ShellState, out: Plumbing) -> None:
    op, word = redirect.op, redirect.target
    target = single(walk, word, state)
    if walk.zsh:
        _zsh(walk, redirect)
    if op in ("<&", ">&") and _duplicates(op, target):
        text = target if isinstance(target, str) else target.text
        if state.sockets and (not isinstance(target, str) or text in state.sockets):
            _online(op, out)
        elif redirect.fd == "0" or (op == "<&" and not redirect.fd):
            out.stdin = Stream("" if text == "-" else None, FROM_FILE)
        elif op == ">&" and redirect.fd in ("", "1"):
            out.quiet = out.quiet or text != "1"
        return
    if op == ">&":
        _again(walk, target, state)
    where = walk.where(redirect.start, redirect.end)
    reads = op == "<" or op == "<>"
    writes = op != "<" and op != "<&"
    if writes and redirect.fd in ("", "1"):
        out.quiet = True
    if reads and redirect.fd in ("", "0"):
        inner = word.parts[0] if len(word.parts) == 1 else None
        out.stdin = walk.last if type(inner) is ProcessSub else Stream(None, FROM_FILE)
    for one in _texts(target):
        _target(walk, redirect, state, out, target, one, where, reads, writes)
    if op == "<" and redirect.fd in ("", "0") and walk.place == "here" and out.stdin is not None:
        files = tuple(found for operation, found, _, place in out.effects if operation is READ and place == where)
        if files and out.stdin.text is None and out.stdin.taint == FROM_FILE and all(map(_is_named, files)):
            secret = any(is_environment_file(found.name) for found in files)
            out.stdin = Stream(None, FROM_FILE | (SECRET_FILE if secret else 0), files=(files,))


def _is_named(target: Target) -> bool:
    return bool(target.name or target.under)


def _again(walk: Walk, target: str | Arg, state: ShellState) -> None:
    """Bash expands the word of `>&word` twice if it is no descriptor: the first result may run then."""
    texts = _texts(target)
    live = tuple(text for text in texts if text is not None and _EXPANDS.search(text))
    if live or None in texts:
        walk.gap("gap.shell.unmodelled", "bash expands the word after `>&` twice: write `&>` instead")
        walk.evaluated(ShellValue(live), state)


def _target(
    walk: Walk,
    redirect: Redirect,
    state: ShellState,
    out: Plumbing,
    target: str | Arg,
    text: str | None,
    where: str,
    reads: bool,
    writes: bool,
) -> None:
    """The effects of one possible text of a target; None is an unknown text."""
    typed = reads and text == "/dev/tty"  # a person's input there is not for the command
    if text is not None and _NO_FILE.fullmatch(text) and not typed:
        if writes and text in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
            out.quiet = False
        return
    socket = _SOCKET.fullmatch(text) if text is not None else None
    if socket is not None:
        out.effects.append((FETCH, Target(Kind.HOST, socket[1], text or ""), (), where))
        out.opened.append(redirect.fd or ("1" if redirect.op == ">" else "0"))
        _online(redirect.op, out)
        return
    for found in _paths(walk, state, target, text):
        dangers = ("raw-device",) if writes and _DEVICE.match(found.name) else ()
        if reads:
            out.effects.append((READ, found, (), where))
            if found.name in walk.fetched and out.stdin is not None:
                out.stdin = Stream(None, out.stdin.taint | walk.fetched[found.name])
        if writes and not typed:
            out.effects.append((WRITE, found, (*dangers, *_emptied(redirect.op, found, target)), where))
            if redirect.fd in ("", "1"):
                out.files.append(found.name)
                out.appends = out.appends or redirect.op == ">>"


def _emptied(op: str, found: Target, word: str | Arg) -> tuple[str, ...]:
    """Marks of a file that loses its content, if it may be any of several."""
    if "a" in op or ">>" in op or op == "<>" or not (found.pattern or not found.name):
        return ()
    return ("empties", EVERY_FILE) if isinstance(word, Arg) and EVERY in word.under else ("empties",)


def _paths(walk: Walk, state: ShellState, target: str | Arg, text: str | None) -> list[Target]:
    if text is None:
        assert isinstance(target, Arg)
        made = temporary(target)
        if made:
            return [path_target(path, cwd, walk.home, tilde=False) for path in made for cwd in state.cwds]
        return [unnamed(target, walk, state.cwds[0])]
    pattern = isinstance(target, Arg) and target.pattern
    cwds = ("",) if text[:1] == "/" else state.cwds
    return [path_target(text, cwd, walk.home, tilde=False, pattern=pattern) for cwd in cwds]


def unnamed(word: Arg, walk: Walk, cwd: str) -> Target:
    """An unknown path; if its beginning is known, with a guess at its name, good enough to deny."""
    under = tuple(folder for folder in word.under if folder != EVERY) if word.kind != "place" else ()
    if "/" in word.prefix:
        found = path_target(word.prefix + "?", cwd, walk.home, tilde=False)
        name = found.name.removesuffix("?") + "*" if found.name else ""
        return Target(Kind.PATH, name, word.text, pattern=True, under=under, certain=False)
    return Target(Kind.PATH, "", word.text, under=under, certain=False)


def _texts(target: str | Arg) -> tuple[str | None, ...]:
    if isinstance(target, str):
        return (target,)
    return target.values if target.values is not None else (None,)


def _duplicates(op: str, target: str | Arg) -> bool:
    """Whether `>&word` copies or closes a descriptor. `<&word` can do nothing else."""
    if op == "<&":
        return True
    if isinstance(target, str):
        return target != "" and _DUPLICATE.fullmatch(target) is not None
    if target.values is not None:
        return all(text and _DUPLICATE.fullmatch(text) for text in target.values)
    return target.kind == "number"


def _online(op: str, out: Plumbing) -> None:
    out.online = True
    out.sends = out.sends or op not in ("<", "<&")
    if op in ("<", "<&", "<>"):
        out.stdin = Stream(None, FETCHED)


def _zsh(walk: Walk, redirect: Redirect) -> None:
    """Forms that zsh reads differently: `>! file` forces, `<1-9>` is a glob."""
    text = redirect.target.text
    if (text == "!" and redirect.op != "<") or (redirect.op == "<" and _ZSH_RANGE.fullmatch(text)):
        walk.gap("gap.shell.zsh", "zsh reads this redirection otherwise than bash: write it with a plain file name")
