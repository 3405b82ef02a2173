"""Calls that reach the network: the addresses that they name → effects. Reaches nothing."""

from __future__ import annotations

from assent.contract import Call, Effect, Kind, Lowering, Operation, Target
from assent.effects import addresses
from assent.effects.arguments import listed, lowered_keys, strings
from assent.effects.paths import path_target

URL_KEYS = ("url", "urls", "uri", "prompt", "query")
HOST_KEYS = frozenset({"host", "hostname", "domain", "url", "endpoint", "address"})


def fetch(call: Call, tool: str) -> Lowering:
    given = lowered_keys(call.input)
    effects: list[Effect] = []
    requests = [each for each in listed(given.get("requests")) if isinstance(each, dict)]
    for each in (given, *map(lowered_keys, requests)):
        for key in URL_KEYS:
            for text in strings(each.get(key)):
                urls = [text] if key in ("url", "urls", "uri") else addresses.urls_in(text)
                effects += [effect for url in urls for effect in address(call, url, key)]
    return Lowering(
        tool, tuple(effects) or (Effect(Operation.FETCH, Target(Kind.HOST, "", "an unnamed address"), "url"),)
    )


def search(call: Call, tool: str) -> Lowering:
    """A search of the web, and the address of the service where the call chooses it."""
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
    local = addresses.local_file(url)
    if local is not None:
        return [Effect(Operation.READ, path_target(local or "/", call.cwd, call.home), where)]
    return [Effect(Operation.FETCH, Target(Kind.HOST, host, url), where) for host in addresses.hosts_of(url)]
