"""A row of a command table, compiled: the options and operands of a command form and their effects."""

from __future__ import annotations

from collections.abc import Mapping

from assent.contract import IGNORECASE, Pattern, re
from assent.programs.option import (
    DESTROY,
    OTHER_TEXT,
    ROLES,
    Options,
    check_options,
    dangers_of,
    gives_of,
    is_role,
    nearest,
    tags_of,
    wrong,
)

KEYS = frozenset(
    "options operands runs service globals style dangers prints repo stores hooks like aliases reader help safe acts "
    "pure secret_operands forms marks with recursive keeps_links follows_below visible groups file_prefixes obeys "
    "obeys_checked env forwards tunes destroys".split()
)
STYLES = frozenset({"gnu", "posix", "single", "go", "bsd", "words"})
HOOKS = frozenset({"", "refs", "checkout", "commit"})
PRINTS = frozenset({"", "word", "number", "paths", "names", "files", "filenames"})
BOOLEANS = (
    *("runs", "destroys", "repo", "stores", "help", "pure", "recursive", "keeps_links", "follows_below", "visible"),
)
LISTS = ("dangers", "aliases", "safe", "acts", "secret_operands", "file_prefixes", "obeys")

_OBEYED = Pattern(
    r"\$[A-Za-z_]\w*|(?:\^?(?:\*\*/|\{\})?(?:\*/)*[^\s$^#{}*~][^\s#~]*|\{\}(?=[#~]))(?:#[^\s!]*!\S*|~[^\s#]+)?"
    r"|\{\}[-.]\S+|\+\{\}(?:\.db)?|=\{\}"
)
_VARIABLE = Pattern(r"[A-Za-z_]\w*\*?|\*")
_SLOT = Pattern(
    r"(?P<role>[A-Z]+(?::[a-z]+)?)(?P<count>[?*+]?)(?:=(?P<default>[^\s!]+))?(?P<tags>(?:![a-z]+(?::[a-z-]+)?)*)"
)


class Slot:
    """A place for operands: `least` words at least, `many` says that any number may follow."""

    __slots__ = ("acts", "dangers", "default", "gives", "least", "many", "recursive", "role")

    def __init__(self, role: str, count: str, default: str, tags: frozenset[str]) -> None:
        self.role = role
        self.acts = "acts" in tags
        self.recursive = "recursive" in tags
        self.dangers = dangers_of(tags)
        self.gives = gives_of(tags)
        self.least = 1 if count in ("", "+") else 0
        self.many = count in ("*", "+")
        self.default = default


class Row:
    """The effects of one command form; the fields are the keys of the format."""

    __slots__ = (
        "dangers",
        "env",
        "file_prefixes",
        "follows_below",
        "forms",
        "forwards",
        "globals",
        "groups",
        "help",
        "hooks",
        "keeps_links",
        "marks",
        "name",
        "obeyed_names",
        "obeys",
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
        "tunes",
        "visible",
    )

    def __init__(self, name: str, keys: Mapping[str, object]) -> None:
        self.name = name
        self.options = Options(name, str(keys.get("options", "")).split())
        self.globals = Options(name, str(keys.get("globals", "")).split())
        self.tunes = Options(name, str(keys.get("tunes", "")).split())
        self.operands = _slots(name, keys.get("operands"))
        self.roles = frozenset(slot.role for slot in self.operands)
        self.runs = bool(keys.get("runs", False))
        self.repo = bool(keys.get("repo", False))
        self.stores = bool(keys.get("stores", False))
        self.hooks = _choice(name, "hooks", keys, HOOKS, "")
        self.help = bool(keys.get("help", True))
        self.pure = bool(keys.get("pure", False))
        self.service = _text(name, "service", keys)
        self.style = "posix" if "RUN" in self.roles else _choice(name, "style", keys, STYLES, "gnu")
        self.prints = _choice(name, "prints", keys, PRINTS, "")
        self.reader = _text(name, "reader", keys)
        self.forwards = _text(name, "forwards", keys)
        dangers = _words(name, "dangers", keys)
        self.dangers = (*dangers, DESTROY) if keys.get("destroys") else dangers
        self.groups = frozenset(_text(name, "groups", keys).split())
        self.file_prefixes = _words(name, "file_prefixes", keys)
        self.recursive = bool(keys.get("recursive", False))
        self.follows_below = bool(keys.get("follows_below", False))
        self.keeps_links = bool(keys.get("keeps_links", False))
        self.visible = bool(keys.get("visible", False))
        self.marks = _marks(name, keys.get("marks", {}))
        self.forms = _forms(name, keys.get("forms", {}))
        self.secret_operands = frozenset(_words(name, "secret_operands", keys))
        obeys = _words(name, "obeys", keys)
        self.obeys = tuple(each for each in obeys if each[:1] != "$")
        self.obeyed_names = frozenset(each[1:] for each in obeys if each[:1] == "$")
        self.env = tuple(_text(name, "env", keys).split())


def check_row(name: str, keys: Mapping[str, object], *, readers: frozenset[str] = frozenset()) -> None:
    """Raise PolicyError, naming row and key, if a row is not well formed. Examples are not checked here."""
    if not name or name != " ".join(name.split()):
        raise wrong(name, "name", "a row is named by its program and subcommand, with single spaces")
    for key in keys:
        if key not in KEYS:
            raise wrong(name, key, "not a key of a row", nearest(key, KEYS))
    for key in BOOLEANS:
        if not isinstance(keys.get(key, False), bool):
            raise wrong(name, key, "must be true or false")
    for key in LISTS:
        _words(name, key, keys)
    for key in ("like", "service", "reader", "groups", "obeys_checked"):
        _text(name, key, keys)
    _check_obeyed(name, keys)
    if readers and keys.get("reader", "") not in readers | {""}:
        raise wrong(name, "reader", f"no reader is called `{keys['reader']}`")
    for pattern in Row(name, keys).forms.values():  # compiled when a command needs them; a wrong one is an error now
        try:
            re.compile(pattern.text)
        except re.error as error:
            raise wrong(name, "forms", f"not a pattern: {error}") from error
    for key in ("options", "globals", "tunes"):
        check_options(name, key, keys.get(key, ""))
    # The value of an option that is not listed may be among the operands: these must be plain text too.
    inherited = "TEXT*" if "like" in keys else None
    if OTHER_TEXT in str(keys.get("options", "")).split() and keys.get("operands", inherited) != "TEXT*":
        raise wrong(name, "options", f"`{OTHER_TEXT}` is only for rows whose operands are `TEXT*`")


def _slots(row: str, value: object) -> tuple[Slot, ...]:
    if value is None:
        return ()
    if not isinstance(value, str):
        raise wrong(row, "operands", "must be one string of roles, separated by spaces")
    slots = [_slot(row, word) for word in value.split()]
    if sum(slot.many for slot in slots) > 1:
        raise wrong(row, "operands", "only one role can take any number of words")
    if any(slot.role == "RUN" for slot in slots[:-1]):
        raise wrong(row, "operands", "RUN takes all words, so it must be last")
    return tuple(slots)


def _slot(row: str, word: str) -> Slot:
    body, mark, tags = word.partition("!")
    head, equals, default = body.partition("=")
    plain = head.rstrip("?*+")
    if plain in ROLES and len(head) - len(plain) <= 1 and bool(equals) == bool(default) and bool(mark) == bool(tags):
        return Slot(plain, head[len(plain) :], default, tags_of(row, "operands", mark + tags))  # most rows
    match = _SLOT.fullmatch(word)
    if match is None or not is_role(match["role"]):
        raise wrong(row, "operands", f"`{word}` is not a role", nearest(word, ROLES))
    return Slot(match["role"], match["count"], match["default"] or "", tags_of(row, "operands", match["tags"]))


def _marks(row: str, value: object) -> tuple[Mark, ...]:
    if not isinstance(value, dict) or not all(isinstance(tags, str) for tags in value.values()):
        raise wrong(row, "marks", "must be a table of globs and their tags")
    return tuple(Mark(word, tags_of(row, "marks", tags)) for word, tags in value.items())


class Mark:
    """A glob for single words, and the tags of those that it matches."""

    __slots__ = ("pattern", "head", "tags")

    def __init__(self, word: str, tags: frozenset[str]) -> None:
        self.pattern = Pattern(glob(word), IGNORECASE)
        self.head = word.partition("*")[0].lower()
        self.tags = tags

    def may_match(self, prefix: str) -> bool:
        """Whether a word with this known prefix may match."""
        prefix = prefix.lower()
        return prefix.startswith(self.head) or self.head.startswith(prefix)


def glob(word: str) -> str:
    """A pattern for a word in which `*` is any text."""
    return "(?s:.*)".join("".join(_literal(each) for each in piece) for piece in word.split("*"))


def _literal(character: str) -> str:
    return character if character.isalnum() or character in "_-/@:,=" else "\\" + character


def _forms(row: str, value: object) -> dict[str, Pattern]:
    if not isinstance(value, dict) or not all(isinstance(pattern, str) for pattern in value.values()):
        raise wrong(row, "forms", "must be a table of patterns")
    return {str(name): Pattern(pattern) for name, pattern in value.items()}


def _check_obeyed(name: str, keys: Mapping[str, object]) -> None:
    for entry in _words(name, "obeys", keys):
        if not _OBEYED.fullmatch(entry):
            raise wrong(
                name, "obeys", f"`{entry}` names no file and no variable", "write it as `file`, `^file` or `$NAME`"
            )
    for variable in _text(name, "env", keys).split():
        if not _VARIABLE.fullmatch(variable.partition("=")[0]):
            raise wrong(name, "env", f"`{variable}` is not a variable", "write it as `NAME` or `NAME=pattern`")


def _text(row: str, key: str, keys: Mapping[str, object]) -> str:
    value = keys.get(key, "")
    if not isinstance(value, str):
        raise wrong(row, key, "must be a string")
    return value


def _choice(row: str, key: str, keys: Mapping[str, object], choices: frozenset[str], default: str) -> str:
    value = keys.get(key, default)
    if not isinstance(value, str) or value not in choices:
        raise wrong(row, key, f"must be one of {', '.join(sorted(c for c in choices if c))}")
    return value


def _words(row: str, key: str, keys: Mapping[str, object]) -> tuple[str, ...]:
    value = keys.get(key, ())
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise wrong(row, key, "must be a list of strings")
    return tuple(value)
