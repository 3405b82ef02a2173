"""Data flows: from the network into an interpreter, from a file to the network, decoded text into a shell.

Reads the words of commands that pass data on; records nothing itself."""

from __future__ import annotations

from collections.abc import Sequence

from assent.contract import Effect, Kind, Operation, Pattern, Target, keep, re
from assent.contract.secret_files import is_environment_file
from assent.effects.shell.command import EVERY, LISTED, TOKENS, Arg, CommandEffects, weakest
from assent.effects.shell.state import COMPUTED, DECODED, FETCHED, FROM_FILE, SECRET, SECRET_FILE, SHELL_OUTPUT
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
_SHOWS = (("diff",), ("show",), ("cat-file",), ("format-patch",), ("blame",), ("archive",))
_PATCHES = frozenset({"-p", "-u", "--patch", "-S", "-G", "-L"})
_LINE_ENDS = Pattern(r"(?:\\[rn]|\\01[25]|[\r\n])+")  # as `tr` takes them
_STDIN_DATA = Pattern(r".*[@<]-|.*[@=]/dev/stdin|-")
_CREDENTIALS = Pattern(r"-u|--user|--oauth2-bearer|--proxy-user|--http-user|--http-password")
_HEADER = Pattern(r"(?i)[\w-]*(?:auth|api-?key|token|secret|key|cookie|credential)[\w-]*\s*:|bearer ")
_GLUED_CREDENTIALS = Pattern(
    r"(?i)(?:-H|--header=)\s*[\w-]*(?:auth|key|token|secret|cookie)[\w-]*\s*:|-u\S|--user=|--oauth2-bearer=|--http-\w+="
    r"|authorization:|[\w-]*(?:api-?key|token)\s*:"
)
_SECRET_NAME = Pattern(r"(?i)\$\{?(\w*(?:secret|token|passw|credential|api_?key|access_?key|private_?key)\w*)")
LEAKS = ("exfiltration", "exfiltration-secret")
_ONE_NAME = Pattern(r"\$\{?\w+\}?")
_DATA = Pattern(r"-d|--data(?:-raw|-binary|-ascii|-urlencode)?|--json|--post-data|--body-data")
# Services that secrets are named after, and their hosts.
_OWNERS = Pattern(
    r"(?i)_*(github|gh|gitlab|openai|anthropic|slack|npm|pypi|twine|aws|stripe|hf|huggingface|cloudflare|cf|vercel|netlify"
    r"|heroku|sendgrid|twilio|discord|telegram|notion|linear|datadog|dd|sentry|google|gcp|azure|docker|dockerhub)_"
)
_PLACES: dict[str, tuple[str, ...]] = {
    "gh": ("github", "ghcr.io"),
    "github": ("github", "ghcr.io"),
    "openai": ("openai", "azure"),
    "pypi": ("pypi", "pythonhosted"),
    "twine": ("pypi",),
    "aws": ("amazonaws", "aws"),
    "hf": ("huggingface", "hf.co"),
    "huggingface": ("huggingface", "hf.co"),
    "cf": ("cloudflare",),
    "dd": ("datadog",),
    "google": ("google",),
    "gcp": ("google",),
    "azure": ("azure", "microsoft", "windows.net"),
    "dockerhub": ("docker",),
}
_OWN = frozenset({"localhost", "::1", "[::1]", "0.0.0.0", "host.docker.internal"})
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
    """The standard output of a command: the text if it is known, else what is known of its words. `files`: the output
    is the content of these files, one after the other; each may be one of several."""

    __slots__ = ("text", "taint", "kind", "under", "files")

    def __init__(
        self,
        text: str | None = None,
        taint: int = 0,
        kind: str = "",
        under: tuple[str, ...] = (),
        files: tuple[tuple[Target, ...], ...] = (),
    ) -> None:
        self.text = text
        self.taint = taint
        self.kind = kind
        self.under = under
        self.files = files

    def shared(self) -> Stream:
        """The same stream, read by several commands: which of them gets which part is not known."""
        whole = self.text is None and not self.files
        return self if whole else Stream(None, self.taint, self.kind, self.under)

    def some(self) -> Stream:
        """Only some of its lines."""
        return Stream(None, self.taint, self.kind, tuple(folder for folder in self.under if folder != EVERY))


NOTHING = Stream("")
UNSEEN = Stream()
SCRIPT = Stream()  # the rest of the text that a shell reads from its standard input
HANDED_ON = Stream(None, FROM_FILE)  # the input of a process substitution, from any command
TERMINAL = Stream()  # the input of the call itself: not the output of a command in the text


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


_REMEMBERED = 256  # programs
_families: dict[str, str] = {}


def family(name: str) -> str:
    """`shell`, `python`, `node`, `php`, `other` for programs that run code they are given; `""` for the rest."""
    kind = _families.get(name)
    if kind is None:
        known = (kind for kind in ("shell", "python", "node", "php") if has(name, kind))
        kind = next(known, "other" if has(name, "other-language") else "")
        keep(_families, name, kind, _REMEMBERED)
    return kind


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


_INLINE = {
    "perl": "-e",
    "ruby": "-e",
    "node": "-e",
    "nodejs": "-e",
    "php": "-r",
    "lua": "-e",
    "luajit": "-e",
    "bun": "-e",
}


def inline(kind: str, name: str, argv: tuple[str | Arg, ...], text: str) -> tuple[str | Arg, ...]:
    """An interpreter that reads this code from stdin, rewritten with the code on its command line."""
    if name in ("bun", "deno") and argv[1:2] == ("run",) and argv[-1] == "-":
        return (argv[0], "-e" if name == "bun" else "eval", text)
    option = "-c" if kind == "python" else _INLINE.get(name.rstrip("0123456789."), "")
    words = argv[1:]
    if not option or code_from(kind, words) != "stdin":
        return argv
    at = next((place for place, word in enumerate(words) if word in ("-", "/dev/stdin", "/proc/self/fd/0")), len(words))
    return (argv[0], *words[:at], option, text, *words[at + 1 :])


def code_dangers(taint: int) -> tuple[str, ...]:
    dangers = ((FETCHED, "remote-code"), (DECODED, "obfuscated"))
    return tuple(danger for bit, danger in dangers if taint & bit)


def sends(
    name: str, args: Sequence[str | Arg], stdin: Stream, taint: int, hosts: Sequence[str] = ()
) -> tuple[str, ...]:
    """The dangers of a command that sends data from elsewhere to the network."""
    texts = [arg if isinstance(arg, str) else arg.text for arg in args]
    piped = 0
    if has(name, "network-pipe") or name == "ssh" or any(map(_STDIN_DATA.fullmatch, texts)):
        piped = stdin.taint
    if has(name, "network-pipe") and piped & SHELL_OUTPUT:
        return ("reverse-shell",)
    if hosts and all(host in _OWN or host.startswith("127.") for host in hosts):
        return ()  # it stays on this machine
    leaks = (taint | piped) & FROM_FILE or (has(name, "name-lookup") and taint & COMPUTED)
    if piped & (SECRET | SECRET_FILE) or _hands_over(args, texts, taint, hosts):
        return LEAKS
    if leaks or (taint & SECRET and not _authenticates(args, texts, hosts)):
        return ("exfiltration",)
    return ()


def _hands_over(args: Sequence[str | Arg], texts: list[str], taint: int, hosts: Sequence[str]) -> bool:
    """Whether the words leak a secret: the content of an environment file, a secret as the whole payload, or one named
    after another service. A secret in a field of a request (`client_secret=$X`) may be meant for the receiver."""
    if taint & SECRET_FILE and not _authenticates(args, texts, hosts):
        return True
    if not taint & SECRET:
        return False
    for place, text in enumerate(texts):
        named = _SECRET_NAME.findall(text) if not isinstance(args[place], str) else ()
        whole = place > 0 and _DATA.fullmatch(texts[place - 1]) and _ONE_NAME.fullmatch(text)
        if named and (whole or not all(_belongs(secret, hosts) for secret in named)):
            return True
    return False


def _authenticates(args: Sequence[str | Arg], texts: list[str], hosts: Sequence[str]) -> bool:
    """Whether the secrets among the words authenticate the caller, each at its own service. A word whose secret has no
    telling name may hold any of them."""
    if hosts and all(host in _OWN or host.startswith("127.") for host in hosts):
        return True
    known = False
    for place, text in enumerate(texts):
        if isinstance(args[place], str):
            continue
        option = texts[place - 1] if place and texts[place - 1][:1] == "-" else ""
        header = option in ("-H", "--header")
        fits = _HEADER.match(text) is not None if header else _CREDENTIALS.fullmatch(option) is not None
        fits = fits or _GLUED_CREDENTIALS.match(text) is not None
        named = _SECRET_NAME.findall(text)
        if named and not (fits and all(_belongs(secret, hosts) for secret in named)):
            return False
        known = known or fits
    return known


def _belongs(secret: str, hosts: Sequence[str]) -> bool:
    """Whether a secret named after a service goes to that service."""
    owner = _OWNERS.match(secret)
    if owner is None:
        return True
    places = _PLACES.get(owner[1].lower(), (owner[1].lower(),))
    return all(any(place in host for place in places) for host in hosts)


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
    """The output of a command, as far as later commands depend on it."""
    reads = False
    for effect in effects:
        operation = effect.operation
        if operation is Operation.FETCH:
            taint |= FETCHED
        elif (operation is Operation.READ or operation is Operation.SEARCH) and effect.target.kind is Kind.PATH:
            reads = True
            taint |= SECRET_FILE if is_environment_file(effect.target.name) else 0
        if "prints-secret" in effect.dangers:
            taint |= SECRET
    if not effects and name in _FILTERS and stdin.kind and stdin.text is None and _keeps_lines(name, args):
        return stdin if EVERY not in stdin.under or _keeps_all(name, args) else stdin.some()
    if has(name, "prints-path-part") and len(args) == 1 and isinstance(args[0], str) and args[0][:1] not in ("", "-"):
        return Stream(_part_of_path(name, args[0]), taint)
    prints = summary.prints
    if prints in TOKENS or prints == "hashes":
        under = summary.under if prints == "place" else ()
        return Stream(None, taint & ~(FROM_FILE | SECRET | SECRET_FILE), prints, under)
    if prints in LISTED and (not reads or summary.flags & _NAMES_ONLY):
        return Stream(None, taint, prints, summary.under)
    patches = summary.subcommand[:1] == ("log",) and not summary.flags.isdisjoint(_PATCHES)
    if reads or (name == "git" and (patches or summary.subcommand[:1] in _SHOWS)):
        taint |= FROM_FILE
    taint |= stdin.taint
    if has(name, "passes-input"):
        return _passed(name, args, stdin, taint)
    if decodes(name, args):
        return Stream(_decoded(name, args, stdin), taint | DECODED)
    if family(name) == "shell":
        taint |= SHELL_OUTPUT
    return Stream(None, taint)


def _part_of_path(name: str, path: str) -> str:
    """The output of `dirname` or `basename` for a path."""
    folder, slash, last = (path.rstrip("/") or "/").rpartition("/")
    if name == "basename":
        return f"{last or '/'}\n"
    return f"{folder.rstrip('/') or '/' if slash else '.'}\n"


def _keeps_all(name: str, args: Sequence[str | Arg]) -> bool:
    """Whether a filter drops nothing, or only what it names."""
    if name in ("sort", "uniq", "cat"):
        return True
    inverts = any(isinstance(arg, str) and (arg == "--invert-match" or (arg[:1] == "-" and "v" in arg)) for arg in args)
    return name not in ("head", "tail", "sed") and inverts


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
    """Whether a command decodes text, which may then be run."""
    decodes = has(name, "decoder")
    if not decodes and not has(name, "decoder-by-option"):
        return False
    options = [arg for arg in args if isinstance(arg, str)]
    if name == "tr" and len(options) == len(args) == 2 and options[0] == "-d" and _LINE_ENDS.fullmatch(options[1]):
        return False
    if decodes:
        return True
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
