"""What an expression of code may be, and where its data comes from."""

from __future__ import annotations

from itertools import islice, product

from assent.contract import Pattern
from assent.effects.code.dataflow.nodes import HOLE

MOST_TEXTS = 12
MOST_REFS = 12
MOST_ITEMS = 400
MOST_LISTS = 24
_LONGEST_TEXT = 65_536

# Where data comes from.
VARIABLE = 1  # an environment variable with a secret name
ENVIRONMENT = 2  # the whole environment
KEY_FILE = 4  # a file with secrets
TREE = 8  # many files of a folder
LOCAL_FILE = 16  # a file
FETCHED = 32  # the network
DECODED = 64  # text that was encoded
ALTERED = 128  # a file, with its content changed

SECRET_NAME = Pattern(
    r"(?i)(?:.*_)?(?:\w*token|\w*secret|passw(?:or)?d|pwd|pass|\w*api_?key|\w*access_?key|\w*private_?key|\w*secret_?key"
    r"|credentials?|\w*_auth|auth_\w+|dsn|connection_string|\w*_key)(?:_(?:id|file|base64|b64|json|value|\d+))?"
)
SECRET_PATH = Pattern(
    r"(?:.*/)?(?:\.(?:ssh|gnupg|aws|azure|kube|password-store|mozilla|config/gcloud|config/gh|local/share/keyrings)(?:/.*)?"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)|\.netrc|\.pgpass|\.git-credentials|\.npmrc|\.pypirc|\.docker/config\.json|\.env(?:\.\w+)?"
    r"|.*\.kdbx|credentials\.(?:json|toml)|.*\.pem)|/etc/g?shadow-?"
)
_EXAMPLES = Pattern(r".*\.(?:example|sample|template|dist|schema)")


class CodeValue:
    """What an expression may be. `texts`: with holes; `refs`: dotted names of libraries, `()` behind what is called.
    `items`, `fields`: of a list or map; `lists`: the lists that it may be, if several. `glob`: texts are
    patterns; `deep`: all below them; `path`: surely paths."""

    __slots__ = ("texts", "refs", "items", "fields", "taint", "glob", "deep", "path", "lists")

    def __init__(
        self,
        texts: tuple[str, ...] = (),
        refs: tuple[str, ...] = (),
        items: tuple[CodeValue, ...] | None = None,
        fields: dict[str, CodeValue] | None = None,
        taint: int = 0,
        *,
        glob: bool = False,
        deep: bool = False,
        path: bool = False,
    ) -> None:
        self.texts = texts
        self.refs = refs
        self.items = items
        self.lists: tuple[tuple[CodeValue, ...], ...] = ()
        self.fields = fields
        self.taint = taint
        self.glob = glob
        self.deep = deep
        self.path = path

    @property
    def text(self) -> str | None:
        """The one text that it is, or None."""
        return self.texts[0] if len(self.texts) == 1 and HOLE not in self.texts[0] and not self.glob else None

    @property
    def known(self) -> bool:
        return bool(self.texts) and not any(HOLE in text for text in self.texts)

    def tainted(self, taint: int) -> CodeValue:
        if taint | self.taint == self.taint:
            return self
        made = CodeValue(
            *(self.texts, self.refs, self.items, self.fields, self.taint | taint),
            glob=self.glob,
            deep=self.deep,
            path=self.path,
        )
        made.lists = self.lists
        return made

    @property
    def choices(self) -> tuple[tuple[CodeValue, ...], ...]:
        """The lists that it may be."""
        return self.lists or ((self.items,) if self.items is not None else ())


NOTHING = CodeValue()
OPEN = CodeValue((HOLE,))


def text_value(text: str, taint: int = 0, *, path: bool = False) -> CodeValue:
    return CodeValue((text,), taint=taint, path=path)


def union(found: list[CodeValue]) -> CodeValue:
    """Any of several."""
    if len(found) == 1:
        return found[0]
    texts: dict[str, None] = {}
    refs: dict[str, None] = {}
    items: list[CodeValue] = []
    fields: dict[str, CodeValue] = {}
    taint, glob, deep, path = 0, False, False, False
    for each in found:
        texts.update(dict.fromkeys(each.texts))
        refs.update(dict.fromkeys(each.refs))
        items += each.items or ()
        for name, value in (each.fields or {}).items():
            fields[name] = union([fields[name], value]) if name in fields else value
        taint |= each.taint
        glob, deep, path = glob or each.glob, deep or each.deep, path or each.path
    known = tuple(texts)
    if len(known) > MOST_TEXTS:
        known = (*known[:MOST_TEXTS], HOLE)
    lists = any(each.items is not None for each in found)
    made = CodeValue(
        known,
        tuple(refs)[:MOST_REFS],
        tuple(items[:MOST_ITEMS]) if lists else None,
        fields or None,
        taint,
        glob=glob,
        deep=deep,
        path=path,
    )
    made.lists = tuple(dict.fromkeys(one for each in found for one in each.choices))[:MOST_LISTS]
    return made


def joined(found: list[CodeValue], *, between: str = "") -> CodeValue:
    """Texts joined."""
    taint, glob, deep, path = 0, False, False, False
    choices = []
    for each in found:
        taint |= each.taint
        glob, deep, path = glob or each.glob, deep or each.deep, path or each.path
        choices.append(each.texts or (HOLE,))
    texts = list(dict.fromkeys(between.join(some) for some in islice(product(*choices), MOST_TEXTS + 1)))
    if len(texts) > MOST_TEXTS:
        texts = [*texts[:MOST_TEXTS], HOLE]
    known = tuple(text if len(text) <= _LONGEST_TEXT else HOLE for text in texts)
    return CodeValue(known, taint=taint, glob=glob, deep=deep, path=path)


def under(found: list[CodeValue]) -> CodeValue:
    """Paths joined, each below the one before; an absolute one replaces those before."""
    made = found[0] if found else text_value(".")
    for each in found[1:]:
        texts = dict.fromkeys(
            name if name.startswith(("/", "~/")) else f"{folder.rstrip('/')}/{name}" if folder != "/" else f"/{name}"
            for folder in made.texts or (HOLE,)
            for name in (text.removeprefix("./") for text in each.texts or (HOLE,))
        )
        known = tuple(texts) if len(texts) <= MOST_TEXTS else (*tuple(texts)[:MOST_TEXTS], HOLE)
        made = CodeValue(known, taint=made.taint | each.taint, glob=made.glob or each.glob, deep=made.deep or each.deep)
    return CodeValue(made.texts, taint=made.taint, glob=made.glob, deep=made.deep, path=True)


def parent(found: CodeValue, levels: int = 1) -> CodeValue:
    """The folder of a path."""
    texts = []
    for text in found.texts or (HOLE,):
        for _ in range(levels):
            text = text.rstrip("/")
            text = text[: text.rfind("/")] or "/" if "/" in text else HOLE if HOLE in text else "."
        texts.append(text)
    glob = found.glob and any(letter in text for text in texts for letter in "*?[")
    return CodeValue(tuple(texts), taint=found.taint, glob=glob, deep=found.deep, path=True)


def some(found: CodeValue) -> CodeValue:
    """Some of the files of a pattern or a folder."""
    if not found.glob and not found.deep:
        return found
    texts = []
    for text in found.texts:
        folder, slash, last = text.rpartition("/")
        if last in ("*", "**"):
            texts.append((folder + slash or "./") + HOLE)
        else:
            texts.append(f"{text}/{HOLE}" if found.deep else text)
    glob = found.glob and not any(HOLE in text for text in texts)
    return CodeValue(tuple(texts), found.refs, taint=found.taint, glob=glob, path=found.path)


def file_taint(found: CodeValue) -> int:
    """The taint of a file's content."""
    if found.texts and all(text in ("0", "/dev/stdin", "php://stdin", "php://input", "-") for text in found.texts):
        return found.taint  # standard input
    taint = LOCAL_FILE | found.taint
    if found.glob or found.deep:
        taint |= TREE
    if any(SECRET_PATH.fullmatch(text) and not _EXAMPLES.fullmatch(text) for text in found.texts):
        taint |= KEY_FILE
    return taint
