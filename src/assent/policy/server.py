"""Commands that speak to Assent's own server, end it or look into it. Knows its numbers only; talks to nobody.

The server itself lets nobody answer who has not signed in: this stops the trying."""

from __future__ import annotations

from assent.contract import Effect, Invocation, Pattern, Server, re
from assent.programs.traits import has

SPEAKS = "this speaks to the server of Assent, which persons answer on"
ENDS = "this ends the server of Assent"
LOOKS = "this looks into the server of Assent"
_HOST = r"(?P<host>[\w.%\[\]:-]*?)"
# The files of a process that say no more than `ps` does.
_PLAIN = ("stat", "status", "statm", "cmdline", "comm", "limits", "cgroup")
_NUMBERS = Pattern(r"[0-9.xa-fA-F]+")


def of_command(invocation: Invocation, server: Server) -> str:
    """Why a command acts on the server; `""` where it does not."""
    program, words = invocation.program, invocation.words[1:]
    if has(program, "ends-processes") and (_named(words, server.pid) or server.named):
        return ENDS if program != "fuser" or invocation.flags & {"-k", "--kill"} else ""
    if has(program, "debugger") and _named(words, server.pid):
        return LOOKS
    if has(program, "looks-only") or not server.port:
        return ""
    if has(program, "port-client") and server.port in words:
        return SPEAKS
    if has(program, "code-in-words") and any(_mentions(word, server.port) for word in words):
        return SPEAKS
    return SPEAKS if any(_addresses(word, server.port) for word in words) else ""


def of_address(effect: Effect, server: Server) -> bool:
    """Whether something is fetched from the server."""
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
    """Whether a text is code in which the number stands."""
    code = re.search(r"[^\w./=:,@-]", text)
    return code is not None and re.search(rf"(?<![\w.]){port}(?!\w)", text) is not None


def _addresses(text: str, port: str) -> bool:
    """`host:port` in a text, for a host that may be this machine."""
    for found in re.finditer(rf"(?:(?<=[/@=, :\"'])|^){_HOST}[:/]{port}(?![0-9\w])", text):
        if not _remote(found["host"]):
            return True
    return False


def _remote(host: str) -> bool:
    """A host that is plainly another machine: an address of its own, or a name with a domain."""
    host = host.strip("[]").lower()
    if _NUMBERS.fullmatch(host):
        parts = host.split(".")
        plain = len(parts) == 4 and all(part.isdigit() and str(int(part)) == part for part in parts)
        return plain and parts[0] not in ("127", "0")
    name = host.rpartition(".")[2]
    return "." in host and ":" not in host and name not in ("localhost", "localdomain", "local", "internal", "me", "io")
