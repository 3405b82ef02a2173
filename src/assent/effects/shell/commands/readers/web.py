"""Readers for network clients: curl, wget, httpie, netcat, socat."""

from __future__ import annotations

from collections.abc import Callable

from assent.contract import DOTALL, Pattern, Via
from assent.effects import requests
from assent.effects.addresses import host_of
from assent.effects.shell.command import Arg
from assent.effects.shell.commands.command_effects import (
    FETCH,
    READ,
    WRITE,
    EffectsBuilder,
    Word,
    literal,
    shown,
    values,
)
from assent.effects.shell.commands.line import CommandLine
from assent.effects.shell.commands.options import GivenOption

SENT = ("exfiltration",)
_OUTPUT = Pattern(r"%output\{(>{0,2})([^}]*)\}")
_MANY = ("-r", "--recursive", "-m", "--mirror", "-p", "--page-requisites", "-x", "-i", "--content-disposition")
_METHODS = frozenset("GET HEAD OPTIONS POST PUT PATCH DELETE TRACE CONNECT".split())
_SENDING = (
    "--data",
    "--data-ascii",
    "--data-binary",
    "--data-raw",
    "--data-urlencode",
    "--json",
    "--form",
    "--upload-file",
)
_MACHINE = r"(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\]|0\.0\.0\.0)(?::[0-9]{1,5})?"
_HERE = Pattern(rf"(?i:(?:https?://)?{_MACHINE})(?:[/?#].*)?", DOTALL)
_HERE_BEGINS = Pattern(rf"(?i:(?:https?://)?{_MACHINE})[/?]")
# Options of curl that send nothing beyond the address and headers, and follow no redirects.
_LOOKING = frozenset(
    """--compressed --connect-timeout -b --cookie -c -D -f --fail --fail-early --fail-with-body -g -I --head -H --header
    --http1.0 --http1.1 --http2 --http2-prior-knowledge -i -k -4 -6 -m --max-time -N --no-buffer --no-keepalive
    --no-progress-meter -o --output -# --progress-bar -r --range -X --retry --retry-all-errors --retry-connrefused
    --retry-delay --retry-max-time -S --show-error -s --silent --url -u -A -v --verbose -w -Z --path-as-is -O
    --create-dirs -e --raw --noproxy""".split()
)
_ITEM = Pattern(r"[^@=:]*(?:@|=@|:=@|:@)(?P<file>.+)", DOTALL)


# ---------------------------------------------------------------- curl


def curl(line: CommandLine) -> None:
    """Options and addresses as in the row, and the files in the values of some options."""
    line.standard()
    builder, parsed = line.builder, line.parsed
    for given in parsed.given:
        name = next((name for name in given.option.names if name in _CURL), "")
        if name and given.value is not None and given.option.role in ("TEXT", ""):
            _CURL[name](builder, given.value, name)
    if parsed.has("-K", "--config", "--unix-socket", "--abstract-unix-socket"):
        builder.fetch(Arg("the address that --config names"))
        builder.paths(READ, parsed.values("--config"))
        if parsed.has("-K", "--config"):
            builder.danger("exfiltration")  # the sent data is written there
    if parsed.has("-O", "--remote-name", "--remote-name-all"):
        _remote_names(line, parsed.operands + parsed.values("--url"))
    methods = parsed.values("--request")
    sends = parsed.has(*_SENDING)
    addresses = parsed.operands + parsed.values("--url")
    requested(builder, methods[-1] if methods else "POST" if sends else "GET", addresses)
    _kept_here(builder)
    if not builder.acts and all(map(_looks, parsed.given)) and all(map(_asks_here, addresses)):
        stay_here(builder)


def _looks(given: GivenOption) -> bool:
    """Whether an option keeps a request on its host and reading only."""
    return any(name in _LOOKING for name in given.option.names)


def _asks_here(address: Word) -> bool:
    """Whether all requests go to a server on this machine, by HTTP, and not to a path that removes something."""
    text = literal(address)
    if text is None:
        known = address.prefix if isinstance(address, Arg) and not address.splits else ""
        return _HERE_BEGINS.match(known) is not None and not requests.DESTROYING_PATH.search(
            shown(address).partition("?")[0]
        )
    return _HERE.fullmatch(text) is not None and not requests.DESTROYING_PATH.search(text.partition("?")[0])


def stay_here(builder: EffectsBuilder) -> None:
    """Note that every request goes to this machine and changes nothing."""
    builder.effects = [
        effect.but(via=Via.LOOPBACK) if effect.operation is FETCH else effect for effect in builder.effects
    ]


def _kept_here(builder: EffectsBuilder) -> None:
    """Data sent to this machine does not leave it."""
    hosts = [effect.target.name for effect in builder.effects if effect.operation is FETCH]
    if hosts and all(host in requests.OWN or host.startswith("127.") for host in hosts):
        builder.dangers = [danger for danger in builder.dangers if danger not in SENT]
        builder.effects = [effect.but(dangers=()) if effect.dangers == SENT else effect for effect in builder.effects]


def requested(builder: EffectsBuilder, method: Word, addresses: list[Word]) -> None:
    """A request that affects others, by its method and address."""
    name = (literal(method) or "DELETE").upper()
    for word in addresses or ["http://unknown/"]:
        builder.danger(*requests.marks(name, shown(word), certain=literal(word) is not None))


def _redirected(builder: EffectsBuilder, value: Word, name: str) -> None:
    """`--resolve host:port:address,…` and `--connect-to host:port:host:port`: the real destination."""
    for text in values(value):
        rest = text.split(":", 2)[2] if text is not None and text.count(":") > 1 else None
        if rest is None:
            builder.fetch(Arg(shown(value)))
        else:
            for address in rest.split(",") if name == "--resolve" else [rest]:
                builder.fetch(address)


def _sent(builder: EffectsBuilder, value: Word, name: str) -> None:
    """`@file`, or with `--data-urlencode` also `name@file`."""
    for text in values(value):
        if text is None:
            prefix = value.prefix if isinstance(value, Arg) else ""
            if not prefix or prefix[0] == "@" or name == "--data-urlencode":
                sent_file(builder, Arg(shown(value)))
        elif text.startswith("@"):
            sent_file(builder, text[1:])
        elif name == "--data-urlencode" and "@" in text.partition("=")[0]:
            sent_file(builder, text.partition("@")[2])


def _form(builder: EffectsBuilder, value: Word, name: str) -> None:
    """`name=@file` and `name=<file`, several with commas."""
    text = literal(value)
    content = text.partition("=")[2] if text is not None else "@"
    if text is None or (content[:1] in ("@", "<") and content.count(",") > 100):
        sent_file(builder, Arg(shown(value)))
    elif content[:1] in ("@", "<"):
        for piece in content[1:].split(","):
            sent_file(builder, piece.partition(";")[0].strip('"'))


def sent_file(builder: EffectsBuilder, word: Word, name: str = "") -> None:
    """A file whose content is sent to the network."""
    builder.path(READ, word, dangers=SENT)
    if shown(word) != "-":
        builder.danger("exfiltration")


def _cookie(builder: EffectsBuilder, value: Word, name: str) -> None:
    builder.paths(READ, [value] if "=" not in shown(value) else [])


def _write_out(builder: EffectsBuilder, value: Word, name: str) -> None:
    text = literal(value)
    if text is None:
        builder.execute()
        return
    if text.startswith("@"):
        builder.path(READ, text[1:])
    builder.paths(WRITE, [match[2] for match in _OUTPUT.finditer(text)])


def _held(builder: EffectsBuilder, value: Word, name: str) -> None:
    """`-H @file`, `--variable name@file`."""
    before, at, file = (literal(value) or "").partition("@")
    if at and ":" not in before and "=" not in before:
        sent_file(builder, file)


_CURL: dict[str, Callable[[EffectsBuilder, Word, str], None]] = {
    **dict.fromkeys(("--data", "--data-ascii", "--data-binary", "--json", "--url-query", "--data-urlencode"), _sent),
    "--form": _form,
    "--upload-file": sent_file,
    **dict.fromkeys(("--resolve", "--connect-to"), _redirected),
    "--write-out": _write_out,
    **dict.fromkeys(("--header", "--proxy-header", "--variable"), _held),
    "--cookie": _cookie,
}


def _remote_names(line: CommandLine, addresses: list[Word]) -> None:
    """`-O`: each address is saved under its own last name."""
    folder = [shown(value) for value in line.parsed.values("--output-dir")][-1:]
    for word in addresses:
        for text in values(word):
            name = _last_name(text) if text is not None else None
            if name is None or line.parsed.has("-J", "--remote-header-name") or "{" in name or "[" in name:
                line.builder.path(
                    WRITE, Arg(shown(word), under=(line.builder.cwd,) if line.builder.cwd and not folder else ())
                )
            else:
                line.builder.path(WRITE, "/".join([*folder, name]))


def _last_name(address: str) -> str:
    path = address.partition("?")[0].partition("#")[0].partition("://")[2] or address
    return path.rpartition("/")[2] if "/" in path else "index.html"


# ---------------------------------------------------------------- wget


def wget(line: CommandLine) -> None:
    """Each address is saved under its last name, unless `-O` or `--spider` says otherwise."""
    line.standard()
    builder, parsed = line.builder, line.parsed
    for value in parsed.values("--post-file") + parsed.values("--body-file"):
        sent_file(builder, value)
    methods = parsed.values("--method")
    posts = parsed.has("--post-data", "--post-file", "--body-data", "--body-file")
    requested(builder, methods[-1] if methods else "POST" if posts else "GET", parsed.operands)
    if any(map(parsed.values, ("--input-file", "--config", "--execute"))):
        builder.fetch(Arg("an address that another file or setting names"))
    if parsed.has("--spider", "-O", "--output-document"):
        return
    folder = shown((parsed.values("-P") or parsed.values("--directory-prefix") or ["."])[-1])
    if parsed.has(*_MANY):
        builder.path(WRITE, folder, recursive=True)
        return
    for word in parsed.operands:
        for text in values(word):
            builder.path(
                WRITE, f"{folder}/{_last_name(text) or 'index.html'}" if text is not None else Arg(shown(word))
            )


# ---------------------------------------------------------------- httpie


def http(line: CommandLine) -> None:
    """`http [METHOD] URL [items…]`: `name@file` items send files."""
    line.read_options()
    builder, words = line.builder, line.parsed.operands
    named = bool(words) and (shown(words[0]).isupper() or shown(words[0]).upper() in _METHODS)
    sends = len(words) > 1 + named
    method: Word = words[0] if named else "POST" if sends else "GET"
    words = words[1:] if named else words
    requested(
        builder, method, [f"localhost{shown(word)}" if shown(word)[:1] in (":", "/") else word for word in words[:1]]
    )
    if words:
        text = literal(words[0])
        builder.fetch("localhost" + text if text is not None and text.startswith((":", "/")) else words[0])
    for word in words[1:]:
        match = _ITEM.fullmatch(shown(word))
        if match:
            sent_file(builder, match["file"].partition(";")[0])
        elif isinstance(word, Arg):
            sent_file(builder, word)
    if line.parsed.has("-d", "--download") and not line.parsed.has("-o", "--output"):
        builder.path(WRITE, ".")


# ---------------------------------------------------------------- connections


def netcat(line: CommandLine) -> None:
    """`nc host port`; `-e` and `-c` tie a program to the connection, `-l` waits for others."""
    line.read_options()
    builder, parsed = line.builder, line.parsed
    if parsed.has("-e", "-c", "--exec", "--sh-exec", "--lua-exec"):
        builder.execute("reverse-shell")
    if parsed.has("-l", "--listen", "-U", "--unixsock"):
        builder.execute()
    if parsed.has("-U", "--unixsock"):
        builder.paths(WRITE, parsed.operands)
        return
    for word in parsed.operands[:1]:
        builder.fetch(word)


_ADDRESS = Pattern(r"(?P<kind>[A-Za-z0-9-]+)(?::(?P<rest>.*))?", DOTALL)


_FILES = ("open", "create", "gopen", "file", "pipe", "fifo", "pty")


def socat(line: CommandLine) -> None:
    """Always EXECUTE; a program attached to a connection is a remote shell. One word may contain two addresses."""
    line.read_options()
    line.builder.execute()
    for word in line.parsed.operands:
        for address in shown(word).split("!!"):
            _address(line.builder, address.partition(",")[0])


def _address(builder: EffectsBuilder, address: str) -> None:
    match = _ADDRESS.match(address)
    kind, rest = (match["kind"].lower(), match["rest"] or "") if match else ("", "")
    if "/" in address.partition(":")[0]:  # a bare path is opened
        builder.path(WRITE, address)
    elif kind in ("exec", "system", "shell"):
        builder.danger("reverse-shell")
        builder.shell(rest)
    elif "listen" not in kind and kind.startswith(("tcp", "udp", "openssl", "sctp", "ssl", "proxy", "socks")):
        builder.fetch(host_of(rest))
    elif kind in _FILES or kind.startswith(("unix", "local")):
        builder.path(WRITE, rest)
