"""Options as rows list them: their spellings, the roles of their values, and their tags.

A row lists hundreds of options and a command line has a few, so each is parsed on its first look-up."""

from __future__ import annotations

from assent.contract import Pattern, PolicyError

PATH_ROLES = frozenset({"READ", "LIST", "SEARCH", "WRITE", "DELETE", "EDIT", "MOVE", "REPLACE", "INTO", "ERASE"})
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
_NAME = r"(?:-NUM|-[,!=\[]|-(?=[,=!\s]|$)|[-+](?:[^\s,=!\[\]+-][^\s,=!\[\]]*|-[^\s,=!\[\]-][^\s,=!\[\]]*|[*]))"
_OPTION = Pattern(
    rf"(?P<names>{_NAME}(?:,{_NAME})*)(?:\[=(?P<maybe>[A-Z]+(?::[a-z]+)?)\]"
    r"|=(?P<value>[A-Z]+(?::[a-z]+)?)(?P<values>(?:=[A-Z]+(?::[a-z]+)?)*))?"
    r"(?P<tags>(?:![a-z]+(?::[a-z-]+)?)*)"
)
_NAMES = Pattern(_NAME)
TAGS = frozenset(
    {
        "acts",
        "destroys",
        "writes",
        "recursive",
        "prints",
        "last",
        "drop",
        "repeat",
        "lists",
        "follows",
        "keeps",
        "hidden",
    }
)
_GIVES = frozenset(
    "gives:" + kind for kind in ("word", "number", "date", "paths", "names", "files", "filenames", "nothing")
)
_SIGNS = frozenset(",!=[")
DESTROY = "destroy"  # the mark of destructive options, which becomes an effect of its own
OTHER = "--*"
OTHER_TEXT = "--*=TEXT"  # any other long option, with a plain value or none
_OTHERS = frozenset({"*", OTHER})
_HEAD = Pattern(r"-[,!=\[](?=[,=!\[]|$)|[^=!\[]+")


class Option:
    """One option with all its spellings. `roles` are those of its values, `role` the first, `""` for a flag; an
    `optional` value is only given after `=` or attached."""

    __slots__ = (
        "acts",
        "dangers",
        "drop",
        "follows",
        "gives",
        "harmless",
        "hidden",
        "keeps",
        "last",
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
        self.follows = "follows" in tags
        self.keeps = "keeps" in tags
        self.hidden = "hidden" in tags
        self.last = "last" in tags
        self.prints = self.last or "prints" in tags
        self.drop = "drop" in tags
        self.lists = "lists" in tags
        self.lifts = tuple(tag[6:] for tag in tags if tag.startswith("lifts:"))
        self.repeat = "repeat" in tags
        self.dangers = dangers_of(tags)
        self.gives = gives_of(tags)
        self.harmless = HARMLESS_ROLES.issuperset(roles) and not (self.acts or self.writes or self.dangers)


class Options:
    """A set of options to look up words in. `rest` says that any other option is harmless, `other` matches any other
    long one (`--*`), `number` is the option for `-` and digits, `plus` says that words with a plus are options too."""

    __slots__ = ("_made", "_row", "_words", "number", "other", "plus", "rest")

    def __init__(self, row: str, words: list[str]) -> None:
        self._row = row
        self._words = {name: word for word in reversed(words) if word[:3] not in _OTHERS for name in spellings(word)}
        self._made: dict[str, Option] = {}
        self.rest = "*" in words
        self.other = Option((OTHER,), ("TEXT",), True, frozenset()) if OTHER_TEXT in words else None
        self.plus = any(name[0] == "+" for name in self._words)
        self.number = self.get("-NUM")

    def __contains__(self, name: str) -> bool:
        return name in self._words

    @property
    def filled(self) -> bool:
        return bool(self._words)

    def get(self, name: str) -> Option | None:
        made = self._made.get(name)
        if made is None and name in self._words:
            made = _option(self._row, "options", self._words[name])
            self._made.update(dict.fromkeys(made.names, made))
        return made

    def all(self) -> list[Option]:
        return self.completions("-")

    def completions(self, prefix: str) -> list[Option]:
        """The distinct long options that an abbreviation could mean."""
        found = (self.get(name) for name in self._words if name.startswith(prefix))
        return list(dict.fromkeys(option for option in found if option is not None))


def options_of(text: str) -> Options:
    """Options written in the format of the key `options`, for readers with their own options."""
    return Options("reader", text.split())


def spellings(word: str) -> list[str]:
    if not _SIGNS.isdisjoint(word[:2]):  # the option is a sign: `-,`, `-=`
        match = _HEAD.match(word)
        head = match[0] if match is not None else word
    else:
        head = word.partition("=")[0].partition("!")[0].partition("[")[0]
    return _NAMES.findall(head) if head[1:2] == "," or ",-," in head else head.split(",")


def without(mine: list[str], others: list[str]) -> list[str]:
    """The options of `others` without the spellings that `mine` has: a row's own options take precedence over its
    sets."""
    taken = {name for word in mine for name in spellings(word)}
    left = []
    for word in others:
        names = spellings(word)
        new = [name for name in names if name not in taken]
        if new:
            left.append(word if new == names else ",".join(new) + word[len(",".join(names)) :])
    return left


def check_options(row: str, key: str, value: object) -> None:
    """Raise PolicyError if a listed option is not well formed, or is listed twice."""
    if not isinstance(value, str):
        raise wrong(row, key, "must be one string of options, separated by spaces")
    seen: set[str] = set()
    for word in value.split():
        if word.startswith(OTHER) and word != OTHER_TEXT:
            raise wrong(row, key, f"`{word}` says nothing of the values", f"write it as `{OTHER_TEXT}`")
        for name in _option(row, key, word).names if word != "*" else ():
            if name in seen:
                raise wrong(row, key, f"`{name}` is listed twice")
            seen.add(name)


def _option(row: str, key: str, word: str) -> Option:
    names, roles, optional, tags = _plain(word) or _parts(row, key, word)
    if unknown := next((role for role in roles if not is_role(role)), ""):
        raise wrong(row, key, f"`{unknown}` in `{word}` is not a role", nearest(unknown, ROLES))
    return Option(names, roles, optional, tags_of(row, key, tags))


def _plain(word: str) -> tuple[tuple[str, ...], tuple[str, ...], bool, str] | None:
    """Fast path for most options, names of letters with at most one value: no regular expression. None for any
    other."""
    body, mark, tags = word.partition("!")
    if mark and not all(tag.replace(":", "").replace("-", "").isalpha() and tag.islower() for tag in tags.split("!")):
        return None
    optional = body.endswith("]")
    head, equals, role = body[:-1].partition("[=") if optional else body.partition("=")
    names = head.split(",")
    letters = all(name[0:1] == "-" and name.lstrip("-").replace("-", "").isalnum() for name in names)
    odd = any(name.startswith("---") or name.endswith("-") or name[:4] == "-NUM" != name for name in names)
    if not letters or odd or bool(equals) != bool(role) or (role and role not in ROLES) or not head.isascii():
        return None
    return tuple(names), (role,) if role else (), optional, mark + tags


def _parts(row: str, key: str, word: str) -> tuple[tuple[str, ...], tuple[str, ...], bool, str]:
    match = _OPTION.fullmatch(word)
    if match is None:
        raise wrong(row, key, f"`{word}` is not an option", "write it as `-n,--name=ROLE!tag`")
    first = match["value"] or match["maybe"]
    roles = (first, *(match["values"] or "").split("=")[1:]) if first else ()
    return tuple(_NAMES.findall(match["names"])), roles, bool(match["maybe"]), match["tags"]


def tags_of(row: str, key: str, text: str) -> frozenset[str]:
    tags = frozenset(text.split("!")[1:])
    for tag in tags - TAGS - _GIVES:
        if not tag.startswith(("danger:", "lifts:")):
            raise wrong(row, key, f"`!{tag}` is not a tag", nearest(tag, TAGS))
    return tags


def dangers_of(tags: frozenset[str]) -> tuple[str, ...]:
    """The ids among tags of the form `danger:id`; `destroys` is one too."""
    found = sorted(tag[7:] for tag in tags if tag.startswith("danger:"))
    return (*found, DESTROY) if "destroys" in tags else tuple(found)


def gives_of(tags: frozenset[str]) -> str:
    """The tag about the output (`""`: none)."""
    return next((tag[6:] for tag in tags if tag in _GIVES), "")


def is_role(role: str) -> bool:
    kind, _, language = role.partition(":")
    return language in LANGUAGES if kind == "CODE" else role in ROLES


def nearest(word: str, choices: frozenset[str]) -> str:
    from difflib import get_close_matches  # only before an error

    near = get_close_matches(word.strip("*+?"), choices, 1)
    return f"did you mean `{near[0]}`?" if near else ""


def wrong(row: str, key: str, message: str, suggestion: str = "") -> PolicyError:
    return PolicyError(f'commands."{row}".{key}: {message}', suggestion=suggestion)
