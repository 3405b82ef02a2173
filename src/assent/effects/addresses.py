"""URL text → the host it reaches, read as strictly as any client might. Reaches nothing."""

from __future__ import annotations

from assent.contract.pattern import DOTALL, IGNORECASE, Pattern, re

URL = Pattern(r"[a-zA-Z][a-zA-Z0-9+.-]*://[^\s\"'<>`]+")
SCHEME = Pattern(r"([a-zA-Z][a-zA-Z0-9+.-]*):[/\\]{2,}")


SPECIAL = Pattern(r"(https?|ftp|wss?):[/\\]*", IGNORECASE)  # for which browsers need no slashes
BREAKS = Pattern(r"[\t\r\n]")
LOCAL = Pattern(r"\s*(?:view-source:)?file:(?://(?:localhost)?(?=/)|(?=/)|//)?(.*)", IGNORECASE | DOTALL)
PERCENT = Pattern(r"%([0-9A-Fa-f]{2})")
PIECE = Pattern(r"\{([^{}]*)\}|\[([0-9]{1,9}|[A-Za-z])-([0-9]{1,9}|[A-Za-z])(?::[0-9]+)?\]")
MOST_PIECES, MOST_HOSTS, MOST_RANGE = 8, 64, 16
TOLD = (169, 254, 170, 100, 200, 192, 2, 253)  # numbers in addresses that rules speak of


def scheme_of(url: str) -> str:
    found = SCHEME.match(url.strip())
    return found[1].lower() if found else ""


def host_of(url: str) -> str:
    """The host of a URL or a bare `host[:port][/path]`, in lower case; `""` where there is none.

    Clients differ on backslashes and on several `@`: what stands after the last `@` is where they go."""
    text = BREAKS.sub("", url.strip())
    found = SCHEME.match(text) or SPECIAL.match(text)
    rest = text[found.end() :] if found else text.lstrip("/\\") if text[:1] in ("/", "\\") else text
    authority = re.split(r"[/\\?#]", rest, maxsplit=1)[0]
    host = authority.rpartition("@")[2]
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
    """Every host of a URL in which a client may expand `{a,b}` and `[1-3]`, itself among them."""
    host = host_of(url)
    if "{" not in host and "[" not in url and "\\" not in url:
        return [host]
    hosts = [url, url.replace("\\", "")]
    for _ in range(MOST_PIECES):
        found = next((match for each in hosts if (match := PIECE.search(each))), None)
        if found is None or len(hosts) > MOST_HOSTS:
            break
        hosts = [each.replace(found[0], choice, 1) for each in hosts for choice in choices(found)]
    return list(dict.fromkeys([host, *map(host_of, hosts)]))[:MOST_HOSTS]


def choices(found: re.Match[str]) -> list[str]:
    if found[1] is not None:
        return found[1].split(",")
    low, high = found[2], found[3]
    if low.isdigit() and high.isdigit():
        whole = range(int(low), int(high) + 1)
        return [str(number) for number in dict.fromkeys((*whole[:MOST_RANGE], *filter(whole.__contains__, TOLD)))]
    return [chr(code) for code in range(ord(low[0]), min(ord(high[0]), ord(low[0]) + MOST_HOSTS) + 1)]


def local_file(url: str) -> str | None:
    """The path of a `file:` address, or None."""
    found = LOCAL.fullmatch(url)
    if found is None:
        return None
    return PERCENT.sub(lambda match: chr(int(match[1], 16)), found[1]) if "%" in found[1] else found[1]


def urls_in(text: str) -> list[str]:
    """Every URL that stands in a text."""
    return [found.rstrip(".,;)") for found in URL.findall(text)]
