"""Commands that type into another terminal, or show what is in one: multiplexers, read by their own words.

Judges commands only; the devices of terminals are paths, and stand in `floor.toml`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assent.contract import IGNORECASE, Invocation, Pattern
from assent.programs.traits import has

_FLAGS_WITH_VALUE = "cfLST"
# What tmux is asked to do by these neither types, nor shows a pane, nor runs a command of tmux's own that is not seen.
_HARMLESS = {
    name: alias
    for name, _, alias in (
        word.partition("=")
        for word in """
        break-pane=breakp clear-history=clearhist display-message=display has-session=has join-pane=joinp
        kill-pane=killp kill-server= kill-session= kill-window=killw last-pane=lastp last-window=last
        link-window=linkw list-clients=lsc list-commands=lscm list-keys=lsk list-panes=lsp list-sessions=ls
        list-windows=lsw move-pane=movep move-window=movew new-session=new new-window=neww next-layout=nextl
        next-window=next previous-layout=prevl previous-window=prev rename-session=rename rename-window=renamew
        resize-pane=resizep resize-window=resizew rotate-window=rotatew run-shell=run select-layout=selectl
        select-pane=selectp select-window=selectw server-info=info set-environment=setenv set-option=set
        set-window-option=setw show-environment=showenv show-hooks= show-messages=showmsgs show-options=show
        show-window-options=showw split-window=splitw start-server=start swap-pane=swapp swap-window=swapw
        unlink-window=unlinkw wait-for=wait
        """.split()
    )
}
# The others that tmux has: a word that is short for one of them is that one.
_OTHERS = """
    attach-session bind-key capture-pane choose-buffer choose-client choose-tree clear-prompt-history clock-mode
    command-prompt confirm-before copy-mode customize-mode delete-buffer detach-client display-menu display-panes
    display-popup find-window if-shell list-buffers load-buffer lock-client lock-server lock-session paste-buffer
    pipe-pane refresh-client respawn-pane respawn-window save-buffer send-keys send-prefix server-access set-buffer
    set-hook show-buffer show-prompt-history source-file suspend-client switch-client unbind-key
    """.split()
_ALIASES = {alias: name for name, alias in _HARMLESS.items() if alias}
# Options of tmux that hold commands of tmux.
_HOOKED = Pattern(
    r"comma.*|after-.*|alert-.*|client-.*|session-.*|pane-(?:d|e|f|m|s|t).*"
    r"|window-(?:layout|linked|pane|renamed|resized|unlinked).*|.*command-alias.*"
)
_PRESSES = Pattern(r"TIOCSTI|ioctl\W.*(?:\b0x5412\b|\b21522\b|\b2147578994\b|\b0x80017472\b)", IGNORECASE)
_BUS = Pattern(r".*(?:sendText|sendMouseEvent|runCommand|FeedChild|getDisplayedText|TypeText|SendKey).*", IGNORECASE)
_ZELLIJ = ("write", "dump-screen", "edit-scrollback", "paste", "send-keys")


def reaches(invocation: Invocation) -> bool:
    """Whether a command types into another terminal, or shows what is in one."""
    program, words = invocation.program, invocation.words[1:]
    if has(program, "tmux"):
        return _tmux(words)
    if program == "zellij":
        return _zellij(words)
    if program in ("kitty", "kitten"):
        return any(word.startswith("@") for word in words)
    if program == "wezterm":
        return "cli" in words and any(word in ("send-text", "get-text") for word in words)
    if has(program, "desktop-bus"):
        return any(_BUS.fullmatch(word) for word in words)
    if has(program, "code-in-words"):
        return any(_PRESSES.search(word) for word in words)
    return False


def _zellij(words: Sequence[str]) -> bool:
    acting = [at for at, word in enumerate(words) if word in ("action", "ac")]
    if acting and any(word.startswith(_ZELLIJ) for word in words[acting[0] + 1 :]):
        return True
    return any(word in ("attach", "a", "watch", "w") for word in words[:3])


def _tmux(words: Sequence[str]) -> bool:
    at = 0
    while at < len(words) and words[at][:1] == "-" and words[at] != "-":
        word = words[at]
        at += 1
        if word == "--":
            break
        for place, letter in enumerate(word[1:], 2):
            if letter == "C":  # commands come on its standard input
                return True
            if letter in _FLAGS_WITH_VALUE:
                value = word[place:] or "".join(words[at : at + 1])
                at += not word[place:]
                if letter == "f" and value != "/dev/null":
                    return True
                break
    return any(_typing(command) for command in _commands(words[at:]))


def _commands(words: Sequence[str]) -> Iterator[list[str]]:
    """The commands of a sequence: a word that ends with `;` ends one."""
    command: list[str] = []
    for word in words:
        ends = word.endswith(";") and not word.endswith("\\;")
        rest = word[:-1] if ends else word
        if rest:
            command.append(rest)
        if ends and command:
            yield command
            command = []
    if command:
        yield command


def _typing(command: Sequence[str]) -> bool:
    word, rest = command[0], command[1:]
    names = _meant(word)
    if not names or not all(name in _HARMLESS for name in names):
        return True
    flags = "".join(each[1:] for each in rest if each[:1] == "-" and each[:2] != "--")
    if "new-session" in names and "A" in flags:
        return True
    if "run-shell" in names and "C" in flags:
        return True
    return bool({"set-option", "set-window-option"} & set(names)) and any(_HOOKED.fullmatch(each) for each in rest)


def _meant(word: str) -> tuple[str, ...]:
    """The commands that a word may be: by its whole name or alias, else those that it is the beginning of."""
    if word in _HARMLESS:
        return (word,)
    if word in _ALIASES:
        return (_ALIASES[word],)
    return tuple(name for name in (*_HARMLESS, *_OTHERS) if name.startswith(word))
