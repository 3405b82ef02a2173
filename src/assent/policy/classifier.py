"""The classifier's settings: each value read strictly, and which file's hold. Asks no model, reads no key.

They stand in the user's or the managed file only; a model and its address are never a project's to choose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from assent.contract import Pattern, PolicyError
from assent.contract.classifier import TIMEOUT, Backend
from assent.policy.rules import Origin

if TYPE_CHECKING:
    from assent.policy.document import Document

SECTION = "classifier"
APIS = {
    "anthropic": ("https://api.anthropic.com", "env:ANTHROPIC_API_KEY"),
    "openai": ("https://api.openai.com/v1", "env:OPENAI_API_KEY"),
}
LONGEST = 15  # seconds that a model may be waited for: a hook has 20 for everything
NAME = Pattern(r"[\w./:@+-]{1,200}")
KEY = Pattern(r"none|env:[A-Za-z_][A-Za-z0-9_]{0,200}|keyring:[\w.@+ -]{1,100}/[\w.@+ -]{1,100}")
ADDRESS = Pattern(r"[\x21-\x7e]{1,500}")
LOOPBACK = Pattern(r"localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1")


def value(name: str, given: object) -> object:
    """One setting of the section, checked. Raises ValueError with what is wrong and what to write."""
    match name:
        case "on":
            return _checked(given, isinstance(given, bool), "is true or false", "write `on = true`")
        case "api":
            return _checked(given, given in APIS, "is `anthropic` or `openai`", 'write `api = "anthropic"`')
        case "model":
            fits = isinstance(given, str) and NAME.fullmatch(given) is not None
            return _checked(given, fits, "is the name of a model", 'write `model = "…"` as its provider calls it')
        case "url":
            return _url(given)
        case "key":
            fits = isinstance(given, str) and KEY.fullmatch(given) is not None
            return _checked(
                given,
                fits,
                "says where the key is, and is never the key itself",
                "write `env:NAME`, `keyring:SERVICE/USER` or `none`",
            )
        case "timeout":
            what = f"is a number of seconds from 1 to {LONGEST}"
            return float(_number(given, 1, LONGEST, what, "write `timeout = 5`"))
        case _:
            return float(_number(given, 0, 10**6, "is the price of a million tokens", f"write `{name} = 1.5`"))


def _checked(given: object, fits: bool, what: str, suggestion: str) -> object:
    if not fits:
        raise ValueError(what, suggestion)
    return given


def _number(given: object, least: float, most: float, what: str, suggestion: str) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not least <= given <= most:
        raise ValueError(what, suggestion)
    return given


def _url(given: object) -> str:
    """An address whose requests nobody reads on the way: HTTPS, or HTTP that stays on this machine."""
    wrong = ValueError(
        "is an address with https, or with http on this machine, without user, query and fragment",
        'write `url = "https://…"`',
    )
    if not isinstance(given, str) or ADDRESS.fullmatch(given) is None or any(each in given for each in "?#\\@"):
        raise wrong
    try:
        found = urlsplit(given)
        host, _ = found.hostname or "", found.port
    except ValueError:
        raise wrong from None
    local = found.scheme == "http" and LOOPBACK.fullmatch(host) is not None
    if not host or not (found.scheme == "https" or local):
        raise wrong
    return given.rstrip("/")


def backend(documents: Sequence[Document]) -> Backend | None:
    """The model that may be asked; None where none may. The managed file's section holds alone where it has one, and
    any file can switch it off."""
    said = [each for each in documents if each.classifier]
    if not said or any(each.classifier.get("on") is False for each in said):
        return None
    managed = [each for each in said if each.origin is Origin.MANAGED]
    chosen = (managed or said)[-1]
    return _backend(chosen) if chosen.classifier.get("on") is True else None


def _backend(document: Document) -> Backend:
    table: Mapping[str, object] = document.classifier
    line = document.lines.get(f"{SECTION}.on", 0)
    for name in ("api", "model"):
        if name not in table:
            raise PolicyError(
                f"the classifier is on and has no `{name}`",
                file=document.file,
                line=line,
                suggestion=f'write `{name} = "…"` below `[classifier]`',
            )
    api = str(table["api"])
    url, key = APIS[api]
    return Backend(
        api,
        str(table["model"]),
        str(table.get("url", url)),
        str(table.get("key", key)),
        timeout=_float(table, "timeout", TIMEOUT),
        input_price=_float(table, "input_price", 0.0),
        output_price=_float(table, "output_price", 0.0),
        source=f"{document.file}:{line}" if line else document.file,
    )


def _float(table: Mapping[str, object], name: str, default: float) -> float:
    found = table.get(name, default)
    return found if isinstance(found, float) else default
