"""Commands that the floor denies: on Assent's own server, into other terminals, and agents started without hooks.

The server accepts answers only from people who signed in: this only stops the attempt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assent.agents import known
from assent.contract import IGNORECASE, Effect, Invocation, Outcome, Pattern, Server, re
from assent.programs.traits import has

CONNECTS = "this connects to Assent's server, where people answer questions"
ENDS = "this ends Assent's server"
LOOKS = "this inspects Assent's server"
_HOST = r"(?P<host>[\w.%\[\]:-]*?)"
# The files of a process that reveal no more than `ps`.
_PLAIN = ("stat", "status", "statm", "cmdline", "comm", "limits", "cgroup")
_NUMBERS = Pattern(r"[0-9.xa-fA-F]+")


def of_command(invocation: Invocation, server: Server) -> str:
    """Why a command acts on the server; `""` if it does not."""
    program, words = invocation.program, invocation.words[1:]
    if has(program, "ends-processes") and (_named(words, server.pid) or server.named):
        return ENDS if program != "fuser" or invocation.flags & {"-k", "--kill"} else ""
    if has(program, "debugger") and _named(words, server.pid):
        return LOOKS
    if has(program, "looks-only") or not server.port:
        return ""
    names_port = has(program, "port-client") and server.port in words
    mentions = has(program, "code-in-words") and any(_mentions(word, server.port) for word in words)
    return CONNECTS if names_port or mentions or any(_addresses(word, server.port) for word in words) else ""


def of_address(effect: Effect, server: Server) -> bool:
    text = effect.target.text
    return bool(server.port) and (_addresses(text, server.port) or text.endswith(f"/{server.port}"))


def of_path(names: tuple[str, ...], server: Server) -> bool:
    """Whether a path is the memory, the environment or the open files of the server."""
    below = f"/proc/{server.pid}/"
    return any(name.startswith(below) and name[len(below) :] not in _PLAIN for name in names)


def _named(words: tuple[str, ...], pid: str) -> bool:
    """`123`, `-123` (its group), `-p123`, `--pid=123`, `1,123`."""
    return bool(pid) and any(pid in re.findall(r"[0-9]+", word) for word in words)


def _mentions(text: str, port: str) -> bool:
    """Whether a text is code that contains the number."""
    return re.search(r"[^\w./=:,@-]", text) is not None and re.search(rf"(?<![\w.]){port}(?!\w)", text) is not None


def _addresses(text: str, port: str) -> bool:
    """`host:port` in a text, for a host that may be this machine."""
    addresses = re.finditer(rf"(?:(?<=[/@=, :\"'])|^){_HOST}[:/]{port}(?![0-9\w])", text)
    return any(not _remote(found["host"]) for found in addresses)


def _remote(host: str) -> bool:
    """A host that is plainly another machine: an address not of this machine, or a name with a domain."""
    host = host.strip("[]").lower()
    if _NUMBERS.fullmatch(host):
        parts = host.split(".")
        plain = len(parts) == 4 and all(part.isdigit() and str(int(part)) == part for part in parts)
        return plain and parts[0] not in ("127", "0")
    name = host.rpartition(".")[2]
    return "." in host and ":" not in host and name not in ("localhost", "localdomain", "local", "internal", "me", "io")


_FLAGS_WITH_VALUE = "cfLST"
# tmux commands that neither type, nor show a pane, nor run an unseen command of tmux.
_HARMLESS = {
    name: alias
    for name, _, alias in (
        word.partition("=")
        for word in """
        break-pane=breakp clear-history=clearhist clear-prompt-history=clearphist delete-buffer=deleteb
        detach-client=detach display-message=display has-session=has join-pane=joinp
        kill-pane=killp kill-server= kill-session= kill-window=killw last-pane=lastp last-window=last
        link-window=linkw list-clients=lsc list-commands=lscm list-keys=lsk list-panes=lsp list-sessions=ls
        list-windows=lsw move-pane=movep move-window=movew new-session=new new-window=neww next-layout=nextl
        next-window=next previous-layout=prevl previous-window=prev refresh-client=refresh rename-session=rename
        rename-window=renamew
        resize-pane=resizep resize-window=resizew rotate-window=rotatew run-shell=run select-layout=selectl
        select-pane=selectp select-window=selectw server-info=info set-environment=setenv set-option=set
        set-window-option=setw show-environment=showenv show-hooks= show-messages=showmsgs show-options=show
        show-window-options=showw split-window=splitw start-server=start swap-pane=swapp swap-window=swapw
        unlink-window=unlinkw wait-for=wait
        """.split()
    )
}
# The other commands of tmux: they may be abbreviated.
_OTHERS = """
    attach-session bind-key capture-pane choose-buffer choose-client choose-tree clock-mode command-prompt
    confirm-before copy-mode customize-mode display-menu display-panes display-popup find-window if-shell list-buffers
    load-buffer lock-client lock-server lock-session paste-buffer pipe-pane respawn-pane respawn-window save-buffer
    send-keys send-prefix server-access set-buffer
    set-hook show-buffer show-prompt-history source-file suspend-client switch-client unbind-key
    """.split()
_ALIASES = {alias: name for name, alias in _HARMLESS.items() if alias}
# Commands that type into a named pane or show one: a person can tell whether it is theirs. By name or alias, with the
# harmless flags and options with a value.
_NAMED = {
    "send-keys": ("lR", "tN"),
    "send": ("lR", "tN"),
    "capture-pane": ("aCeJNPpqT", "tES"),
    "capturep": ("aCeJNPpqT", "tES"),
    "source-file": ("nqv", ""),
    "source": ("nqv", ""),
}
# A session by its name or id, with a window and a pane. Others (`0`, `%3`, `{last}`) may be the pane of a dialog.
_WORD = r"[^\s:.;#%@$=!~^+*?\[\]{}()|&<>-][^\n:.;#%$=!~^+*?\[\]{}()|&<>]*"
_SESSION = Pattern(rf"\s*=?(?:\$\d+|(?=[^:]*[A-Za-z]){_WORD})(?::=?(?:{_WORD})?(?:\.\d+)?)?")
_PANE = Pattern(rf"\s*=?(?:[$%@]\d+|{_WORD})?(?::=?(?:{_WORD})?)?(?:\.\d+)?")
# The user's settings, which tmux read when it started.
_OWN_SETTINGS = Pattern(r"(?:~|\$HOME|/root|/home/[\w.-]+|/Users/[\w.-]+)/\.(?:tmux\.conf|config/tmux/tmux\.conf)")
# Commands that are harmless with these options only.
_PLAIN_OPTIONS = {"refresh-client": ("S", "t"), "detach-client": ("aP", "st")}
# Options of tmux that hold commands of tmux.
_HOOKED = Pattern(
    r"comma.*|after-.*|alert-.*|client-.*|session-.*|pane-(?:d|e|f|m|s|t).*"
    r"|window-(?:layout|linked|pane|renamed|resized|unlinked).*|.*command-alias.*"
)
_PRESSES = Pattern(r"TIOCSTI|ioctl\W.*(?:\b0x5412\b|\b21522\b|\b2147578994\b|\b0x80017472\b)", IGNORECASE)
_BUS = Pattern(r".*(?:sendText|sendMouseEvent|runCommand|FeedChild|getDisplayedText|TypeText|SendKey).*", IGNORECASE)
_ZELLIJ = ("write", "dump-screen", "edit-scrollback", "paste", "send-keys")


def reaches(invocation: Invocation) -> Outcome:
    """DENY for a command that may type into the terminal where a person answers, or shows it; ASK if it names another
    terminal."""
    program, words = invocation.program, invocation.words[1:]
    if has(program, "tmux"):
        return _tmux(words)
    found = False
    if program == "zellij":
        found = _zellij(words)
    elif program in ("kitty", "kitten"):
        found = any(word.startswith("@") for word in words)
    elif program == "wezterm":
        found = "cli" in words and any(word in ("send-text", "get-text") for word in words)
    elif has(program, "desktop-bus"):
        found = any(_BUS.fullmatch(word) for word in words)
    elif has(program, "code-in-words"):
        found = any(_PRESSES.search(word) for word in words)
    return Outcome.DENY if found else Outcome.ALLOW


def _zellij(words: Sequence[str]) -> bool:
    acting = [at for at, word in enumerate(words) if word in ("action", "ac")]
    if acting and any(word.startswith(_ZELLIJ) for word in words[acting[0] + 1 :]):
        return True
    return any(word in ("attach", "a", "watch", "w") for word in words[:3])


def _tmux(words: Sequence[str]) -> Outcome:
    at = 0
    while at < len(words) and words[at][:1] == "-" and words[at] != "-":
        word = words[at]
        at += 1
        if word == "--":
            break
        for place, letter in enumerate(word[1:], 2):
            if letter == "C":  # reads commands from its standard input
                return Outcome.DENY
            if letter in _FLAGS_WITH_VALUE:
                value = word[place:] or "".join(words[at : at + 1])
                at += not word[place:]
                if letter == "f" and value != "/dev/null":
                    return Outcome.DENY
                break
    return max((_reached(command) for command in _tmux_commands(words[at:])), default=Outcome.ALLOW)


def _tmux_commands(words: Sequence[str]) -> Iterator[list[str]]:
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


def _reached(command: Sequence[str]) -> Outcome:
    word, rest = command[0], command[1:]
    if word in _NAMED:
        return Outcome.ASK if _names_its_place(word, rest) else Outcome.DENY
    names = _meant(word)
    if not names or not all(name in _HARMLESS for name in names):
        return Outcome.DENY
    flags = "".join(each[1:] for each in rest if each[:1] == "-" and each[:2] != "--")
    if ("new-session" in names and "A" in flags) or ("run-shell" in names and "C" in flags):
        return Outcome.DENY
    if any(_options_of(rest, *_PLAIN_OPTIONS[name]) is None for name in names if name in _PLAIN_OPTIONS):
        return Outcome.DENY
    hooked = bool({"set-option", "set-window-option"} & set(names)) and any(_HOOKED.fullmatch(each) for each in rest)
    return Outcome.DENY if hooked else Outcome.ALLOW


def _names_its_place(word: str, rest: Sequence[str]) -> bool:
    """Whether a command names the one pane that it types into or shows, or the user's own settings."""
    found = _options_of(rest, *_NAMED[word])
    if found is None:
        return False
    given, operands = found
    if word in ("source-file", "source"):
        return bool(operands) and all(map(_OWN_SETTINGS.fullmatch, operands))
    if word in ("send-keys", "send"):
        return _SESSION.fullmatch(given.get("t", "")) is not None
    return "p" in given and not operands and bool(given.get("t")) and _PANE.fullmatch(given["t"]) is not None


def _options_of(words: Sequence[str], flags: str, valued: str) -> tuple[dict[str, str], Sequence[str]] | None:
    """The options of a command of tmux by their letters, and its operands; None for an option that is not listed."""
    given: dict[str, str] = {}
    at = 0
    while at < len(words) and words[at][:1] == "-" and words[at] != "-":
        word = words[at]
        at += 1
        if word == "--":
            break
        for place, letter in enumerate(word[1:], 2):
            if letter in valued:
                given[letter] = word[place:] or "".join(words[at : at + 1])
                at += not word[place:]
                break
            if letter not in flags:
                return None
            given[letter] = ""
    return given, words[at:]


def _meant(word: str) -> tuple[str, ...]:
    """The commands that a word may mean: by full name or alias, else by prefix."""
    if word in _HARMLESS:
        return (word,)
    if word in _ALIASES:
        return (_ALIASES[word],)
    return tuple(name for name in (*_HARMLESS, *_OTHERS) if name.startswith(word))


# A program by its names: its command, its package, the file that is run.
PROGRAMS = {name: runtime for runtime, names in known.lists("program", "names").items() for name in names}
# Parts of the paths of packages, in the arguments of package runners and interpreters.
PACKAGES = {name: runtime for runtime, names in known.lists("program", "packages").items() for name in names}
# Options that bypass hooks, or load settings from places unknown to the installer.
OPTIONS = known.lists("bypass", "options")
# Options before a setting: one that names hooks may switch them off.
SETTINGS = known.lists("bypass", "settings")
_HOOKS = Pattern(r".*hooks.*")
_VARIABLE = Pattern(
    rf"(?:{'|'.join(known.joined('environment', 'prefixes'))}|XDG_CONFIG_|HOME=|NODE_OPTIONS=|LD_|DYLD_)"
    r"(?!\w*(?:MODEL|API_KEY|BASE_URL|EFFORT|MAX_\w*TOKENS|TELEMETRY|AUTOUPDATE\w*|NONESSENTIAL_TRAFFIC)=).*=.*",
)


def unhooked(invocation: Invocation) -> str:
    """Why a command starts an agent without its hooks; `""` if it does not."""
    program = invocation.program
    words: Sequence[str] = invocation.words[1:]
    if program == "env":
        return _environment(words)
    if has(program, "other-root"):
        return f"an agent would start without its hooks: under `{program}`" if any(map(named, words)) else ""
    name = PROGRAMS.get(program, "")
    if not name and has(program, "package-runner"):
        name, words = _run(words)
    return _options(name, words) if name else ""


def named(word: str) -> str:
    """The agent program that a word names: its command, a path to it, its package, a file in that; else `""`."""
    return PROGRAMS.get(word.rpartition("/")[2].partition("@")[0]) or _packaged(word)


def _packaged(word: str) -> str:
    return next((runtime for name, runtime in PACKAGES.items() if name in word), "")


def _run(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The agent program that a runner runs, and its arguments."""
    return next(((found, words[at + 1 :]) for at, word in enumerate(words) if (found := _packaged(word))), ("", ()))


def _options(name: str, words: Sequence[str]) -> str:
    for word in words:
        option = word.partition("=")[0]
        if option in OPTIONS.get(name, ()):
            return f"an agent would start without its hooks: `{option}`"
        if "disableAllHooks" in word:
            return "an agent would start without its hooks: `disableAllHooks`"
    if _switched(words, SETTINGS.get(name, ())):
        return "an agent would start without its hooks: an option turns them off"
    for command in _changing_hooks(name):
        rest = iter(words)
        if all(part in rest for part in command):
            return f"this changes what hooks an agent has: `{' '.join(command)}`"
    return ""


def _changing_hooks(name: str) -> list[list[str]]:
    """Words, in order and with anything between them, that change the settings of hooks."""
    found = known.section("bypass").get(name, {}).get("commands", [])
    assert isinstance(found, list)
    return found


def _switched(words: Sequence[str], options: tuple[str, ...]) -> bool:
    """`--disable hooks`, `--disable=hooks`, `-c features.hooks=false`, `-chooks…`, `--config 'hooks=…'`."""
    for before, word in zip(("", *words), words, strict=False):
        option, _, glued = word.partition("=") if word.startswith("--") else (word[:2], "", word[2:])
        if (option in options and _HOOKS.fullmatch(glued)) or (before in options and _HOOKS.fullmatch(word)):
            return True
    return False


def _environment(words: Sequence[str]) -> str:
    """`env` with a variable that gives the agent program after it other settings."""
    place = next((at for at, word in enumerate(words) if named(word)), -1)
    if place < 0:
        return ""
    before = words[:place]
    letters = "".join(word[1:] for word in before if word[:1] == "-" and word[:2] != "--")
    cleared = "i" in letters or any(word in ("-", "--ignore-environment") for word in before)
    unset = [word.removeprefix("--unset=").removeprefix("-u") for word in before]
    changed = cleared or any(_VARIABLE.fullmatch(word) for word in before)
    if changed or any(word in ("HOME", "PATH") or word.startswith("XDG_CONFIG") for word in unset):
        return "an agent would start without its hooks: in another environment"
    return ""
