"""What flows where: from the network into an interpreter, from a file to the network, decoded text into a shell.

Reads the words of commands that pass data on; emits nothing itself."""

from __future__ import annotations

from collections.abc import Sequence

from assent.contract import Effect, Kind, Operation, Pattern, re
from assent.effects.shell.command import LISTED, TOKENS, Arg, CommandEffects, weakest
from assent.effects.shell.state import COMPUTED, DECODED, FETCHED, FROM_FILE, SECRET, SHELL_OUTPUT
from assent.programs.traits import has

_NAMES_ONLY = frozenset(("-l", "-L", "--files-with-matches", "--files-without-match", "--files", "--name-only"))
_GREP = Pattern(r"-[viEFPwxqse]+|--invert-match|--ignore-case")
_SOME_LINES = Pattern(r"(?:\d+|\$)(?:,(?:\d+|\$))?p")
_FILTERS = {
    "head": Pattern(r"-n|-?\d+|-n-?\d+|--lines=\d+|-q"),
    "tail": Pattern(r"-n|-\d+|-n\+?\d+|--lines=\+?\d+|-q"),
    "sort": Pattern(r"-[urnVhfb]+|--reverse|--unique|--version-sort"),
    "uniq": Pattern(r"-[diu]+"),
    "cat": Pattern(r"-u"),
    "sed": Pattern(r"-n"),
    **dict.fromkeys(("grep", "egrep", "fgrep", "rg"), _GREP),
}
_STDIN_DATA = Pattern(r".*[@<]-|.*[@=]/dev/stdin|-")
_AUTHENTICATES = Pattern(r"(?i)authorization|api-?key|[\w-]*token\b|^-u|^--user\b|bearer")
_VALUED = {
    "shell": frozenset(("-o", "+o", "-O", "+O", "--rcfile", "--init-file")),
    "python": frozenset(("-W", "-X", "--check-hash-based-pycs")),
    "node": frozenset(("-r", "--require", "--import", "--loader", "-C", "--conditions")),
    "php": frozenset(("-d", "-c", "-z")),
    "other": frozenset(("-I", "-r", "-M", "-d", "-c")),
}
_CODE = {
    "shell": Pattern(r"-[A-Za-z]*c[A-Za-z]*"),
    "python": Pattern(r"-[A-Za-z]*[cm].*"),
    "node": Pattern(r"-[A-Za-z]*[ep][A-Za-z]*|--eval.*|--print.*|eval"),
    "php": Pattern(r"-[A-Za-z]*[rBRE].*|--run.*|--process-.*"),
    "other": Pattern(r"-[A-Za-z0-9]*[eErR].*|--run.*|-[BRF].*"),
}


class Stream:
    """What a command writes to its standard output: the text where it is known, else what its words are worth."""

    __slots__ = ("text", "taint", "kind", "under")

    def __init__(self, text: str | None = None, taint: int = 0, kind: str = "", under: tuple[str, ...] = ()) -> None:
        self.text = text
        self.taint = taint
        self.kind = kind
        self.under = under

    def shared(self) -> Stream:
        """The same as several commands read it: which of them gets what is not known."""
        return self if self.text is None else Stream(None, self.taint, self.kind, self.under)


NOTHING = Stream("")
UNSEEN = Stream()
TERMINAL = Stream()  # what the call itself reads: nothing that another command of the text made


def together(streams: list[Stream]) -> Stream:
    if len(streams) == 1:
        return streams[0]
    texts = [stream.text for stream in streams if stream.text is not None]
    taint = 0
    for stream in streams:
        taint |= stream.taint
    if len(texts) == len(streams):
        return Stream("".join(texts), taint)
    printed = [stream for stream in streams if stream.text != ""]
    kinds = {stream.kind for stream in printed if stream.text is None}
    if kinds and kinds <= LISTED and all(stream.text is None for stream in printed):
        return Stream(None, taint, weakest(kinds), tuple(dict.fromkeys(f for s in printed for f in s.under)))
    return Stream(None, taint)


def family(name: str) -> str:
    """`shell`, `python`, `node`, `php`, `other` for programs that run code they are given; `""` for the rest."""
    known = (kind for kind in ("shell", "python", "node", "php") if has(name, kind))
    return next(known, "other" if has(name, "other-language") else "")


def code_from(kind: str, args: Sequence[str | Arg]) -> str:
    """Where an interpreter takes its code from: `args`, `stdin`, `file`, or `module`."""
    skip = False
    for arg in args:
        if skip:
            skip = False
            continue
        text = arg if isinstance(arg, str) else arg.text
        if text in _VALUED[kind]:
            skip = True
        elif kind == "shell" and re.fullmatch(r"-[A-Za-z]*s[A-Za-z]*", text) and "c" not in text:
            return "stdin"
        elif _CODE[kind].fullmatch(text) and text != "-":
            return "module" if kind == "python" and "m" in text.split("=")[0] and "c" not in text else "args"
        elif text in ("-", "/dev/stdin", "/proc/self/fd/0"):
            return "stdin"
        elif text.startswith("/dev/fd/"):
            return "args"
        elif (text in ("--version", "--help", "-V", "-v", "-h") and kind != "shell") or not text.startswith(("-", "+")):
            return "file"
    return "stdin"


_INLINE = {"perl": "-e", "ruby": "-e", "node": "-e", "nodejs": "-e", "php": "-r"}


def inline(kind: str, name: str, argv: tuple[str | Arg, ...], stdin: Stream) -> tuple[str | Arg, ...]:
    """An interpreter that reads known code from its input, as the same interpreter with that code on its line."""
    option = "-c" if kind == "python" else _INLINE.get(name, "")
    if not option or stdin.text is None or argv[1:] not in ((), ("-",)):
        return argv
    return argv[0], option, stdin.text


def code_dangers(taint: int) -> tuple[str, ...]:
    dangers = ((FETCHED, "remote-code"), (DECODED, "obfuscated"))
    return tuple(danger for bit, danger in dangers if taint & bit)


def sends(name: str, args: Sequence[str | Arg], stdin: Stream, taint: int) -> tuple[str, ...]:
    """The dangers of a command that reaches the network with data that came from elsewhere."""
    texts = [arg if isinstance(arg, str) else arg.text for arg in args]
    piped = 0
    if has(name, "network-pipe") or name == "ssh" or any(map(_STDIN_DATA.fullmatch, texts)):
        piped = stdin.taint
    if has(name, "network-pipe") and piped & SHELL_OUTPUT:
        return ("reverse-shell",)
    leaks = (taint | piped) & FROM_FILE or (has(name, "name-lookup") and taint & COMPUTED)
    if leaks or ((taint | piped) & SECRET and not any(map(_AUTHENTICATES.search, texts))):
        return ("exfiltration",)
    return ()


def hands_out_shell(name: str, args: Sequence[str | Arg]) -> bool:
    """`nc -e sh`, `socat … EXEC:sh`: a program that ties a shell to a connection."""
    texts = [arg if isinstance(arg, str) else arg.text for arg in args]
    if name in ("nc", "ncat", "netcat"):
        return any(
            text in ("--exec", "--sh-exec") or text.startswith("--exec=") or re.fullmatch(r"-[a-z]*[ec].*", text)
            for text in texts
        )
    return name == "socat" and any(re.match(r"(?i)(exec|system):", text) for text in texts)


def output(
    name: str, args: Sequence[str | Arg], effects: Sequence[Effect], summary: CommandEffects, stdin: Stream, taint: int
) -> Stream:
    """What a command prints, as far as later commands care."""
    reads = False
    for effect in effects:
        operation = effect.operation
        if operation is Operation.FETCH:
            taint |= FETCHED
        elif (operation is Operation.READ or operation is Operation.SEARCH) and effect.target.kind is Kind.PATH:
            reads = True
        if "prints-secret" in effect.dangers:
            taint |= SECRET
    if not effects and name in _FILTERS and stdin.kind and stdin.text is None and _keeps_lines(name, args):
        return stdin
    prints = summary.prints
    if prints in TOKENS or prints == "hashes":
        return Stream(None, taint & ~(FROM_FILE | SECRET), prints, summary.under if prints == "place" else ())
    if prints in LISTED and (not reads or summary.flags & _NAMES_ONLY):
        return Stream(None, taint, prints, summary.under)
    if reads:
        taint |= FROM_FILE
    taint |= stdin.taint
    if has(name, "passes-input"):
        return _passed(name, args, stdin, taint)
    if decodes(name, args):
        return Stream(_decoded(name, args, stdin), taint | DECODED)
    if family(name) == "shell":
        taint |= SHELL_OUTPUT
    return Stream(None, taint)


def _keeps_lines(name: str, args: Sequence[str | Arg]) -> bool:
    """Whether a filter prints lines of its input as they are, and nothing else."""
    options = [arg for arg in args if not isinstance(arg, str) or (arg.startswith("-") and arg != "-")]
    if name == "sed" and not (len(args) == 2 and isinstance(args[1], str) and _SOME_LINES.fullmatch(args[1])):
        return False
    return all(isinstance(arg, str) and _FILTERS[name].fullmatch(arg) for arg in options)


def _passed(name: str, args: Sequence[str | Arg], stdin: Stream, taint: int) -> Stream:
    operands = [arg for arg in args if not isinstance(arg, str) or not arg.startswith("-") or arg == "-"]
    if name == "tee" or not operands or operands == ["-"]:
        return Stream(stdin.text if len(args) == len(operands) else None, taint, stdin.kind, stdin.under)
    return Stream(None, taint)


def decodes(name: str, args: Sequence[str | Arg]) -> bool:
    """Whether a command turns text that nobody can read into text that somebody may run."""
    if has(name, "decoder") or not has(name, "decoder-by-option"):
        return has(name, "decoder")
    options = [arg for arg in args if isinstance(arg, str)]
    if name in ("base64", "base32", "basenc", "base58", "gbase64"):
        return any(re.fullmatch(r"-[a-z]*[dD].*|--de.*", option) for option in options)
    if name == "xxd":
        return any(option.startswith("-") and "r" in option for option in options)
    if name == "openssl":
        return any(option in ("-d", "-a", "-base64") for option in options)
    return name in ("gzip", "bzip2", "xz", "zstd", "lz4", "brotli") and any(
        re.fullmatch(r"-[a-z0-9]*d.*|--de.*|--unc.*", option) for option in options
    )


def _decoded(name: str, args: Sequence[str | Arg], stdin: Stream) -> str | None:
    text = stdin.text
    if text is None or len(text) > 65536:
        return None
    if name == "rev" and not args:
        return "\n".join(line[::-1] for line in text.split("\n"))
    if name == "base64" and len(args) == 1:
        try:
            import binascii

            return binascii.a2b_base64(text.encode()).decode()
        except (ValueError, UnicodeError):
            return None
    return None
