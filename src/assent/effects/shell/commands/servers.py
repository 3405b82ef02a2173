"""Programs that serve a folder to whoever connects: the folder is read with all below it. Starts nothing.

Which folder it is can be told by an option, an operand, or nothing at all, which is the current folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assent.contract import Effect, Pattern
from assent.effects.paths import path_target
from assent.effects.shell.command import Arg
from assent.effects.shell.commands.command_effects import READ, Seen, literal, shown
from assent.programs.traits import has

if TYPE_CHECKING:
    Word = str | Arg

_MODULES = frozenset(
    """http.server SimpleHTTPServer uploadserver pyftpdlib RangeHTTPServer http.server.__main__ wsgidav updog
    twisted.web twisted""".split()
)
_SUBCOMMANDS = {
    "caddy": "file-server",
    "rclone": "serve",
    "twistd": "web",
    "twist": "web",
    "deno": "run",
    "git": "daemon",
}
_DENO = Pattern(r".*file[-_]server.*")
_ROOT = Pattern(r"--?[\w.-]+=(.+)|-[a-zA-Z]([~/.].*)")
_NO_FOLDER = Pattern(r"\d+|[\w.-]*:\d+|tcp:.*|https?:.*|-.*|")
_VALUED = frozenset(
    """-p --port -P -b --bind -l --listen -i --interface -a --address --addr -S --protocol -e --cert --key -c --user
    --password -f""".split()
)


def serves(seen: Seen, words: list[Word]) -> bool:
    """Whether a command line starts such a server."""
    program = seen.program
    texts = [shown(word) for word in words]
    if has(program, "file-server"):
        return True
    if has(program, "maybe-python"):
        return any(
            text[2:] in _MODULES or (text == "-m" and "".join(texts[place + 1 : place + 2]) in _MODULES)
            for place, text in enumerate(texts)
            if text.startswith("-m")
        )
    if program == "php":
        return any(text.startswith("-S") for text in texts)
    if program == "ruby":
        return any("httpd" in text for text in texts) and any(text.startswith("-r") for text in texts)
    wanted = _SUBCOMMANDS.get(program)
    if wanted is None or wanted not in texts:
        return False
    return program != "deno" or any(map(_DENO.fullmatch, texts))


def served(seen: Seen, words: list[Word]) -> None:
    """The folders that it may serve, as told."""
    folders: list[str] = []
    before = ""
    for word in words:
        text = literal(word)
        if text is not None:
            found = _ROOT.fullmatch(text)
            folder = (found[1] or found[2]) if found else text
            if before not in _VALUED and not (_NO_FOLDER.fullmatch(folder) or folder in _MODULES):
                folders.append(folder)
        before = text or ""
    for folder in dict.fromkeys((*folders, ".")):
        target = path_target(folder, seen.cwd, seen.home, certain=False)
        seen.effects.append(Effect(READ, target, recursive=True))
