"""A row of a command table, compiled: which options and operands a command form takes and what each does.
Reads no files and no command lines."""

from __future__ import annotations

import re

from assent.contract.errors import PolicyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

PATH_ROLES = frozenset({"READ", "LIST", "SEARCH", "WRITE", "DELETE", "EDIT", "MOVE", "INTO", "ERASE"})
HARMLESS_ROLES = frozenset({"", "TEXT", "REV", "READ", "LIST", "SEARCH"})
ROLES = (
    PATH_ROLES
    | HARMLESS_ROLES
    | {"DIR", "URL", "HOST", "RUN", "SHELL", "SCRIPT", "CONFIG", "SQL", "SED", "AWK", "JQ", "GITCONFIG", "REPO"}
) - {""}
LANGUAGES = frozenset({"python", "node", "perl", "ruby", "php", "lua"})
KEYS = frozenset(
    "options operands runs service globals style dangers prints repo like aliases reader help safe acts "
    "pure secret_operands forms".split()
)
STYLES = frozenset({"gnu", "posix", "single", "bsd"})
PRINTS = frozenset({"", "word", "number", "paths", "names"})
BOOLEANS = ("runs", "repo", "help", "pure")
LISTS = ("dangers", "aliases", "safe", "acts", "secret_operands")

_NAME = r"(?:-NUM|-[,!=\[]|[-+](?:[^\s,=!\[\]+-][^\s,=!\[\]]*|-[^\s,=!\[\]-][^\s,=!\[\]]*|[*]))"
_OPTION = re.compile(
    rf"(?P<names>{_NAME}(?:,{_NAME})*)(?:\[=(?P<maybe>[A-Z]+(?::[a-z]+)?)\]|=(?P<value>[A-Z]+(?::[a-z]+)?))?"
    r"(?P<tags>(?:![a-z]+(?::[a-z-]+)?)*)"
)
_NAMES = re.compile(_NAME)
_SLOT = re.compile(r"(?P<role>[A-Z]+(?::[a-z]+)?)(?P<count>[?*+]?)(?:=(?P<default>\S+))?")
_TAGS = frozenset({"acts", "writes", "recursive", "prints", "drop", "repeat"})


class Option:
    """One option with all its spellings. `role` is `""` for a flag; `optional` values stand only after `=` or glued."""

    __slots__ = (
        "acts",
        "dangers",
        "drop",
        "harmless",
        "names",
        "optional",
        "prints",
        "recursive",
        "repeat",
        "role",
        "writes",
    )

    def __init__(self, names: tuple[str, ...], role: str, optional: bool, tags: frozenset[str]) -> None:
        self.names = names
        self.role = role
        self.optional = optional
        self.acts = "acts" in tags
        self.writes = "writes" in tags
        self.recursive = "recursive" in tags
        self.prints = "prints" in tags
        self.drop = "drop" in tags
        self.repeat = "repeat" in tags
        self.dangers = tuple(sorted(tag[7:] for tag in tags if tag.startswith("danger:")))
        self.harmless = role in HARMLESS_ROLES and not (self.acts or self.writes or self.dangers)


class Slot:
    """A place for operands: `least` words at least, `many` says that any number may follow."""

    __slots__ = ("default", "least", "many", "role")

    def __init__(self, role: str, count: str, default: str) -> None:
        self.role = role
        self.least = 1 if count in ("", "+") else 0
        self.many = count in ("*", "+")
        self.default = default


class Options:
    """A set of options that a word can be looked up in. `rest` says that any other option is harmless."""

    __slots__ = ("harmless", "long", "names", "number", "plus", "rest")

    def __init__(self, options: tuple[Option, ...], rest: bool) -> None:
        self.names = {name: option for option in options for name in option.names if name[0] == "-"}
        self.plus = {name: option for option in options for name in option.names if name[0] == "+"}
        self.long = [name for name in self.names if name.startswith("--")]
        self.number = self.names.pop("-NUM", None)
        self.rest = rest
        self.harmless = all(option.harmless for option in options)

    def completions(self, prefix: str) -> list[Option]:
        """The distinct long options that an abbreviation could mean."""
        return list(dict.fromkeys(self.names[name] for name in self.long if name.startswith(prefix)))


class Row:
    """What one command form does with its words; the fields are the keys of the format."""

    __slots__ = (
        "dangers",
        "forms",
        "globals",
        "help",
        "name",
        "operands",
        "options",
        "prints",
        "pure",
        "reader",
        "repo",
        "roles",
        "runs",
        "secret_operands",
        "service",
        "style",
    )

    def __init__(self, name: str, keys: Mapping[str, object]) -> None:
        self.name = name
        self.options = _options(name, "options", keys.get("options", ""))
        self.globals = _options(name, "globals", keys.get("globals", ""))
        self.operands = _slots(name, keys.get("operands"))
        self.roles = frozenset(slot.role for slot in self.operands)
        self.runs = bool(keys.get("runs", False))
        self.repo = bool(keys.get("repo", False))
        self.help = bool(keys.get("help", True))
        self.pure = bool(keys.get("pure", False))
        self.service = _text(name, "service", keys)
        self.style = "posix" if "RUN" in self.roles else _choice(name, "style", keys, STYLES, "gnu")
        self.prints = _choice(name, "prints", keys, PRINTS, "")
        self.reader = _text(name, "reader", keys)
        self.dangers = _words(name, "dangers", keys)
        self.forms = _forms(name, keys.get("forms", {}))
        self.secret_operands = frozenset(_words(name, "secret_operands", keys))


def check_row(name: str, keys: Mapping[str, object], *, readers: frozenset[str] = frozenset()) -> None:
    """Raise PolicyError, naming row and key, where a row is not well formed. Examples are not tried here."""
    if not name or name != " ".join(name.split()):
        raise _wrong(name, "name", "a row is named by its program and subcommand, with single spaces")
    for key in keys:
        if key not in KEYS:
            raise _wrong(name, key, "not a key of a row", _nearest(key))
    for key in BOOLEANS:
        if not isinstance(keys.get(key, False), bool):
            raise _wrong(name, key, "must be true or false")
    for key in LISTS:
        _words(name, key, keys)
    for key in ("like", "service", "reader"):
        _text(name, key, keys)
    if readers and keys.get("reader", "") not in readers | {""}:
        raise _wrong(name, "reader", f"no reader is called `{keys['reader']}`")
    Row(name, keys)


def _options(row: str, key: str, value: object) -> Options:
    if not isinstance(value, str):
        raise _wrong(row, key, "must be one string of options, separated by spaces")
    words = value.split()
    listed = tuple(_option(row, key, word) for word in words if word != "*")
    seen: set[str] = set()
    for option in listed:
        for name in option.names:
            if name in seen:
                raise _wrong(row, key, f"`{name}` is listed twice")
            seen.add(name)
    return Options(listed, "*" in words)


def _option(row: str, key: str, word: str) -> Option:
    match = _OPTION.fullmatch(word)
    if match is None:
        raise _wrong(row, key, f"`{word}` is not an option", "write it as `-n,--name=ROLE!tag`")
    role = match["value"] or match["maybe"] or ""
    if role and not _known(role):
        raise _wrong(row, key, f"`{role}` in `{word}` is not a role", _nearest(role, ROLES))
    tags = frozenset(match["tags"].split("!")[1:])
    for tag in tags:
        if tag not in _TAGS and not tag.startswith("danger:"):
            raise _wrong(row, key, f"`!{tag}` in `{word}` is not a tag", _nearest(tag, _TAGS))
    return Option(tuple(_NAMES.findall(match["names"])), role, bool(match["maybe"]), tags)


def _slots(row: str, value: object) -> tuple[Slot, ...]:
    if value is None:
        return ()
    if not isinstance(value, str):
        raise _wrong(row, "operands", "must be one string of roles, separated by spaces")
    slots = []
    for word in value.split():
        match = _SLOT.fullmatch(word)
        if match is None or not _known(match["role"]):
            raise _wrong(row, "operands", f"`{word}` is not a role", _nearest(word, ROLES))
        slots.append(Slot(match["role"], match["count"], match["default"] or ""))
    if sum(slot.many for slot in slots) > 1:
        raise _wrong(row, "operands", "only one role can take any number of words")
    if any(slot.role == "RUN" for slot in slots[:-1]):
        raise _wrong(row, "operands", "RUN takes all words, so it must be last")
    return tuple(slots)


def _forms(row: str, value: object) -> dict[str, re.Pattern[str]]:
    if not isinstance(value, dict):
        raise _wrong(row, "forms", "must be a table of patterns")
    try:
        return {str(name): re.compile(pattern) for name, pattern in value.items()}
    except (re.error, TypeError) as error:
        raise _wrong(row, "forms", f"not a pattern: {error}") from error


def _known(role: str) -> bool:
    kind, _, language = role.partition(":")
    return language in LANGUAGES if kind == "CODE" else role in ROLES


def _text(row: str, key: str, keys: Mapping[str, object]) -> str:
    value = keys.get(key, "")
    if not isinstance(value, str):
        raise _wrong(row, key, "must be a string")
    return value


def _choice(row: str, key: str, keys: Mapping[str, object], choices: frozenset[str], default: str) -> str:
    value = keys.get(key, default)
    if not isinstance(value, str) or value not in choices:
        raise _wrong(row, key, f"must be one of {', '.join(sorted(c for c in choices if c))}")
    return value


def _words(row: str, key: str, keys: Mapping[str, object]) -> tuple[str, ...]:
    value = keys.get(key, ())
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise _wrong(row, key, "must be a list of strings")
    return tuple(value)


def _nearest(word: str, choices: frozenset[str] = KEYS) -> str:
    from difflib import get_close_matches  # on the way to an error only

    near = get_close_matches(word.strip("*+?"), choices, 1)
    return f"did you mean `{near[0]}`?" if near else ""


def _wrong(row: str, key: str, message: str, suggestion: str = "") -> PolicyError:
    return PolicyError(f'commands."{row}".{key}: {message}', suggestion=suggestion)
