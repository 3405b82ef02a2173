"""URL text → the host it reaches, read as strictly as any client might. Reaches nothing."""

from __future__ import annotations

import re

URL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://[^\s\"'<>`]+")
SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):[/\\]{2,}")


def scheme_of(url: str) -> str:
    found = SCHEME.match(url.strip())
    return found[1].lower() if found else ""


def host_of(url: str) -> str:
    """The host of a URL or a bare `host[:port][/path]`, in lower case; `""` where there is none.

    Clients differ on backslashes and on several `@`: what stands after the last `@` is where they go."""
    text = url.strip()
    found = SCHEME.match(text)
    rest = text[found.end() :] if found else text
    authority = re.split(r"[/\\?#]", rest, maxsplit=1)[0]
    host = authority.rpartition("@")[2]
    if host.startswith("["):
        host = host[1:].partition("]")[0]
    elif host.count(":") == 1:
        host = host.partition(":")[0]
    return host.lower().rstrip(".")


def urls_in(text: str) -> list[str]:
    """Every URL that stands in a text."""
    return [found.rstrip(".,;)") for found in URL.findall(text)]
