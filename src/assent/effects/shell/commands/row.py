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
    | {
        "DIR",
        "URL",
        "HOST",
        "RUN",
        "SHELL",
        "SCRIPT",
        "CONFIG",
        "SQL",
        "SED",
        "AWK",
        "JQ",
        "GITCONFIG",
        "REPO",
        "REMOTE",
    }
) - {""}
LANGUAGES = frozenset({"python", "node", "perl", "ruby", "php", "lua"})
KEYS = frozenset(
    "options operands runs service globals style dangers prints repo stores like aliases reader help safe acts "
    "pure secret_operands forms marks with recursive groups file_prefixes".split()
)
STYLES = frozenset({"gnu", "posix", "single", "bsd"})
PRINTS = frozenset({"", "word", "number", "paths", "names"})
BOOLEANS = ("runs", "repo", "stores", "help", "pure", "recursive")
LISTS = ("dangers", "aliases", "safe", "acts", "secret_operands", "file_prefixes")

_NAME = r"(?:-NUM|-[,!=\[]|-(?=[,=!\s]|$)|[-+](?:[^\s,=!\[\]+-][^\s,=!\[\]]*|-[^\s,=!\[\]-][^\s,=!\[\]]*|[*]))"
_OPTION = re.compile(
    rf"(?P<names>{_NAME}(?:,{_NAME})*)(?:\[=(?P<maybe>[A-Z]+(?::[a-z]+)?)\]"
    r"|=(?P<value>[A-Z]+(?::[a-z]+)?)(?P<values>(?:=[A-Z]+(?::[a-z]+)?)*))?"
    r"(?P<tags>(?:![a-z]+(?::[a-z-]+)?)*)"
)
_NAMES = re.compile(_NAME)
_SLOT = re.compile(
    r"(?P<role>[A-Z]+(?::[a-z]+)?)(?P<count>[?*+]?)(?:=(?P<default>[^\s!]+))?(?P<tags>(?:![a-z]+(?::[a-z-]+)?)*)"
)
_TAGS = frozenset({"acts", "writes", "recursive", "prints", "drop", "repeat", "lists"})


class Option:
    """One option with all its spellings. `roles` are those of its values, `role` the first, `""` for a flag; an
    `optional` value stands only after `=` or glued."""

    __slots__ = (
        "acts",
        "dangers",
        "drop",
        "harmless",
        "lifts",
        "lists",
        "names",
        "optional",
        "prints",
        "recursive",
        "repeat",
        "role",
        "roles",
        "writes",
    )

    def __init__(self, names: tuple[str, ...], roles: tuple[str, ...], optional: bool, tags: frozenset[str]) -> None:
        self.names = names
        self.roles = roles
        self.role = roles[0] if roles else ""
        self.optional = optional
        self.acts = "acts" in tags
        self.writes = "writes" in tags
        self.recursive = "recursive" in tags
        self.prints = "prints" in tags
        self.drop = "drop" in tags
        self.lists = "lists" in tags
        self.lifts = tuple(tag[6:] for tag in tags if tag.startswith("lifts:"))
        self.repeat = "repeat" in tags
        self.dangers = dangers_of(tags)
        self.harmless = HARMLESS_ROLES.issuperset(roles) and not (self.acts or self.writes or self.dangers)


class Slot:
    """A place for operands: `least` words at least, `many` says that any number may follow."""

    __slots__ = ("acts", "dangers", "default", "least", "many", "recursive", "role")

    def __init__(self, role: str, count: str, default: str, tags: frozenset[str]) -> None:
        self.role = role
        self.acts = "acts" in tags
        self.recursive = "recursive" in tags
        self.dangers = dangers_of(tags)
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
        "file_prefixes",
        "forms",
        "globals",
        "groups",
        "help",
        "marks",
        "name",
        "operands",
        "options",
        "prints",
        "pure",
        "reader",
        "recursive",
        "repo",
        "roles",
        "runs",
        "secret_operands",
        "service",
        "stores",
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
        self.stores = bool(keys.get("stores", False))
        self.help = bool(keys.get("help", True))
        self.pure = bool(keys.get("pure", False))
        self.service = _text(name, "service", keys)
        self.style = "posix" if "RUN" in self.roles else _choice(name, "style", keys, STYLES, "gnu")
        self.prints = _choice(name, "prints", keys, PRINTS, "")
        self.reader = _text(name, "reader", keys)
        self.dangers = _words(name, "dangers", keys)
        self.groups = frozenset(_text(name, "groups", keys).split())
        self.file_prefixes = _words(name, "file_prefixes", keys)
        self.recursive = bool(keys.get("recursive", False))
        self.marks = _marks(name, keys.get("marks", {}))
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
    for key in ("like", "service", "reader", "groups"):
        _text(name, key, keys)
    if readers and keys.get("reader", "") not in readers | {""}:
        raise _wrong(name, "reader", f"no reader is called `{keys['reader']}`")
    Row(name, keys)
    for key in ("options", "globals"):
        _check_twice(name, key, keys.get(key, ""))


def options_of(text: str) -> Options:
    """Options written in the format of the key `options`, for readers that bring their own."""
    return _options("reader", "options", text)


def without(mine: list[str], others: list[str]) -> list[str]:
    """The options of `others` without the spellings that `mine` has: what a row lists itself goes before its sets."""
    taken = {name for word in mine for name in _NAMES.findall(_names(word))}
    left = []
    for word in others:
        names = [name for name in _NAMES.findall(_names(word)) if name not in taken]
        if names or word == "*":
            left.append(",".join(names) + word[len(_names(word)) :] if names else word)
    return left


def _names(word: str) -> str:
    """The part of an option that holds its spellings."""
    match = _OPTION.fullmatch(word)
    return match["names"] if match else ""


def _options(row: str, key: str, value: object) -> Options:
    if not isinstance(value, str):
        raise _wrong(row, key, "must be one string of options, separated by spaces")
    words = value.split()
    return Options(tuple(_option(row, key, word) for word in words if word != "*"), "*" in words)


def _check_twice(row: str, key: str, value: object) -> None:
    seen: set[str] = set()
    for word in str(value).split():
        for name in _NAMES.findall(_names(word)):
            if name in seen:
                raise _wrong(row, key, f"`{name}` is listed twice")
            seen.add(name)


def _option(row: str, key: str, word: str) -> Option:
    match = _OPTION.fullmatch(word)
    if match is None:
        raise _wrong(row, key, f"`{word}` is not an option", "write it as `-n,--name=ROLE!tag`")
    first = match["value"] or match["maybe"]
    roles = (first, *(match["values"] or "").split("=")[1:]) if first else ()
    for role in roles:
        if not _known(role):
            raise _wrong(row, key, f"`{role}` in `{word}` is not a role", _nearest(role, ROLES))
    tags = _tags(row, key, match["tags"])
    return Option(tuple(_NAMES.findall(match["names"])), roles, bool(match["maybe"]), tags)


def _tags(row: str, key: str, text: str) -> frozenset[str]:
    tags = frozenset(text.split("!")[1:])
    for tag in tags:
        if tag not in _TAGS and not tag.startswith(("danger:", "lifts:")):
            raise _wrong(row, key, f"`!{tag}` is not a tag", _nearest(tag, _TAGS))
    return tags


def dangers_of(tags: frozenset[str]) -> tuple[str, ...]:
    """The ids among tags of the form `danger:id`."""
    return tuple(sorted(tag[7:] for tag in tags if tag.startswith("danger:")))


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
        tags = _tags(row, "operands", match["tags"])
        slots.append(Slot(match["role"], match["count"], match["default"] or "", tags))
    if sum(slot.many for slot in slots) > 1:
        raise _wrong(row, "operands", "only one role can take any number of words")
    if any(slot.role == "RUN" for slot in slots[:-1]):
        raise _wrong(row, "operands", "RUN takes all words, so it must be last")
    return tuple(slots)


def _marks(row: str, value: object) -> tuple[tuple[re.Pattern[str], frozenset[str]], ...]:
    if not isinstance(value, dict) or not all(isinstance(tags, str) for tags in value.values()):
        raise _wrong(row, "marks", "must be a table of globs and their tags")
    return tuple((re.compile(glob(word), re.IGNORECASE), _tags(row, "marks", tags)) for word, tags in value.items())


def glob(word: str) -> str:
    """A pattern for a word in which `*` is any text."""
    return "".join("(?s:.*)" if piece == "*" else re.escape(piece) for piece in re.split(r"(\*)", word))


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
