"""URL text → the hosts it may reach, and the effects of the tools that reach them. Reaches nothing."""

from __future__ import annotations

from assent.contract import DOTALL, IGNORECASE, Call, Effect, Kind, Lowering, Operation, Pattern, Target, re
from assent.effects.arguments import listed, lowered_keys, strings
from assent.effects.paths import local_file, path_target

URL = Pattern(r"[a-zA-Z][a-zA-Z0-9+.-]*://[^\s\"'<>`]+")
SCHEME = Pattern(r"([a-zA-Z][a-zA-Z0-9+.-]*):[/\\]{2,}")


SPECIAL = Pattern(r"(https?|ftp|wss?):[/\\]*", IGNORECASE)  # for which browsers need no slashes
BREAKS = Pattern(r"[\t\r\n]")
PERCENT = Pattern(r"%([0-9A-Fa-f]{2})")
PIECE = Pattern(r"\{([^{}]*)\}|\[([0-9]{1,9}|[A-Za-z])-([0-9]{1,9}|[A-Za-z])(?::[0-9]+)?\]")
MOST_PIECES, MOST_HOSTS, MOST_RANGE = 8, 64, 16
TOLD = (169, 254, 170, 100, 200, 192, 2, 253)  # numbers in the IP addresses that rules name
# An address in which every client sees the same host: plain letters, at most one `@`, nothing escaped.
PLAIN = Pattern(
    r"(?:[a-zA-Z][a-zA-Z0-9+.-]*://(?!/)|//(?!/)|(?!\w+:/|(?i:https?|ftp|wss?):))"
    r"(?:[\w.~!$&()*+,;=:-]*@)?(?:[A-Za-z0-9_-][A-Za-z0-9_.-]*|\[[0-9A-Fa-f:.]+\]|[0-9A-Fa-f]*::[0-9A-Fa-f:.]*)"
    r"(?::[0-9]*)?(?:/.*|[?#][^@\\]*)?",
    DOTALL,
)
CONTROL = Pattern(r"[\x00-\x20\x7f-\xa0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]")
NUMBER = Pattern(r"0[xX][0-9A-Fa-f]*|[0-9]+")
UNKNOWN = ""  # the host of an address that clients read differently


def scheme_of(url: str) -> str:
    found = SCHEME.match(url.strip())
    return found[1].lower() if found else ""


def host_of(url: str) -> str:
    """The host of a URL or a bare `host[:port][/path]`, in lower case; `""` if there is none.

    Clients differ on backslashes and on several `@`: most take the host after the last `@`."""
    text = BREAKS.sub("", url.strip())
    found = SCHEME.match(text) or SPECIAL.match(text)
    rest = text[found.end() :] if found else text.lstrip("/\\") if text[:1] in ("/", "\\") else text
    host = re.split(r"[/\\?#]", rest, maxsplit=1)[0].rpartition("@")[2]
    if host.startswith("["):
        host = host[1:].partition("]")[0]
    elif host.count(":") == 1:
        host = host.partition(":")[0]
    if "%" in host:
        host = PERCENT.sub(lambda match: chr(int(match[1], 16)), host)
        host = re.split(r"[/\\?#]", host, maxsplit=1)[0].rpartition("@")[2]
    if not host.isascii():
        from unicodedata import normalize  # such hosts are rare

        host = normalize("NFKC", host).replace("\u3002", ".")
    return host.lower().rstrip(".")


def hosts_of(url: str) -> list[str]:
    """Every host that a client may read in a URL: each choice of `{a,b}` and `[1-3]`, the address that a number
    means, and both forms of an internationalized name.

    INVARIANT: if clients may disagree (escapes, several `@`, blanks, backslashes), `UNKNOWN` is among them, so that
    no allow rule settles it."""
    host = host_of(url)
    if PLAIN.fullmatch(url) and not CONTROL.search(url):
        return [host, *_same(host)]
    found = list(dict.fromkeys([host, *_written(url), *map(host_of, _expanded(url))]))
    others = [other for each in found for other in _same(each)]
    return list(dict.fromkeys([*found[:MOST_HOSTS], *others, UNKNOWN]))


def _expanded(url: str) -> list[str]:
    hosts = [url, url.replace("\\", "")]
    for _ in range(MOST_PIECES):
        found = next((match for each in hosts if (match := PIECE.search(each))), None)
        if found is None or len(hosts) > MOST_HOSTS:
            break
        hosts = [each.replace(found[0], choice, 1) for each in hosts for choice in choices(found)]
    return hosts


def _written(url: str) -> list[str]:
    """The hosts that clients may see in an odd address: the text before and after each sign that may end it."""
    text = BREAKS.sub("", url.strip())
    start = SCHEME.match(text) or SPECIAL.match(text)
    rest = (text[start.end() :] if start else text)[:2048]
    decoded = PERCENT.sub(lambda match: chr(int(match[1], 16)), rest)
    pieces = [piece for each in (rest, decoded) for piece in re.split(r"[/\\?#@\s]+", each)[:8]]
    return [piece.partition(":")[0].lower().rstrip(".") for piece in pieces if "." in piece]


def _same(host: str) -> list[str]:
    """Other names of the same host: a number as the address it means, a name in its two alphabets."""
    found: list[str] = []
    if host[:1].isdigit() and ":" not in host:
        found += _numbered(host)
    elif host.startswith(("::ffff:", "::0:", "64:ff9b:")):
        found += _numbered(host.rpartition(":")[2]) if "." in host else _mapped(host)
    if "xn--" in host or not host.isascii():
        found += _other_alphabet(host)
    return [each for each in dict.fromkeys(found) if each != host]


def _numbered(host: str) -> list[str]:
    """`2130706433`, `0x7f.1`, `0177.0.0.1` as four numbers, as C libraries read them."""
    pieces = host.split(".")
    if len(pieces) > 4 or not all(NUMBER.fullmatch(piece) for piece in pieces):
        return []
    bases = [16 if piece[:2] in ("0x", "0X") else 8 if piece[:1] == "0" and len(piece) > 1 else 10 for piece in pieces]
    try:
        *first, last = [
            int(piece[2:] or "0", 16) if base == 16 else int(piece, base)
            for piece, base in zip(pieces, bases, strict=True)
        ]
    except ValueError:  # an 8 in an octal number: some read it as decimal
        *first, last = [int(piece) for piece in pieces]
    if any(number > 255 for number in first) or last >= 256 ** (4 - len(first)):
        return []
    tail = [(last >> (8 * place)) & 255 for place in reversed(range(4 - len(first)))]
    return [".".join(map(str, (*first, *tail)))]


def _mapped(host: str) -> list[str]:
    """`::ffff:7f00:1` as four numbers."""
    pieces = [piece for piece in host.split(":") if piece][-2:]
    try:
        high, low = (int(piece, 16) for piece in (["0", *pieces])[-2:])
    except ValueError:
        return []
    return [f"{high >> 8 & 255}.{high & 255}.{low >> 8 & 255}.{low & 255}"]


def _other_alphabet(host: str) -> list[str]:
    try:
        return [host.encode("idna").decode() if not host.isascii() else host.encode().decode("idna")]
    except UnicodeError:
        return [UNKNOWN]


def choices(found: re.Match[str]) -> list[str]:
    if found[1] is not None:
        return found[1].split(",")
    low, high = found[2], found[3]
    if low.isdigit() and high.isdigit():
        whole = range(int(low), int(high) + 1)
        return [str(number) for number in dict.fromkeys((*whole[:MOST_RANGE], *filter(whole.__contains__, TOLD)))]
    return [chr(code) for code in range(ord(low[0]), min(ord(high[0]), ord(low[0]) + MOST_HOSTS) + 1)]


def urls_in(text: str) -> list[str]:
    return [found.rstrip(".,;)") for found in URL.findall(text)]


URL_KEYS = ("url", "urls", "uri", "prompt", "query")
HOST_KEYS = frozenset({"host", "hostname", "domain", "url", "endpoint", "address"})


def fetch(call: Call, tool: str) -> Lowering:
    given = lowered_keys(call.input)
    effects: list[Effect] = []
    requests = [each for each in listed(given.get("requests")) if isinstance(each, dict)]
    for each in (given, *map(lowered_keys, requests)):
        for key in URL_KEYS:
            for text in strings(each.get(key)):
                urls = [text] if key in ("url", "urls", "uri") else urls_in(text)
                effects += [effect for url in urls for effect in address(call, url, key)]
    return Lowering(
        tool, tuple(effects) or (Effect(Operation.FETCH, Target(Kind.HOST, "", "an unnamed address"), "url"),)
    )


def search(call: Call, tool: str) -> Lowering:
    """A web search, and the address of the service if the call chooses it."""
    found = Effect(Operation.SEARCH, Target(Kind.SERVICE, "web", "the web"), "query")
    chosen = [
        effect
        for key, value in lowered_keys(call.input).items()
        if "url" in key or key in HOST_KEYS
        for text in strings(value)
        for effect in address(call, text, key)
    ]
    return Lowering(tool, (found, *chosen))


def address(call: Call, url: str, where: str) -> list[Effect]:
    local = local_file(url)
    if local is not None:
        return [Effect(Operation.READ, path_target(local or "/", call.cwd, call.home), where)]
    return [Effect(Operation.FETCH, Target(Kind.HOST, host, url), where) for host in hosts_of(url)]
