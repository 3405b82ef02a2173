"""Path globs like those of .gitignore: what they match, and what they could match.

`*` and `?` stay inside one name, `**` spans folders, `[abc]` is one character. Names beginning with a dot are
matched like others: a rule that says `*` means every file."""

from __future__ import annotations

from assent.contract import DOTALL, Pattern, PolicyError, keep, re

WILD = Pattern(r"[*?\[]")
# The pieces of a glob: wildcards, classes such as `[a-z]`, and characters.
PIECE = Pattern(r"/\*\*/|\A\*\*/|/\*\*\Z|\*\*|\[(?:[!^].|[^!^])[^\]]*\]|.", DOTALL)
WILDCARDS = {
    "/**/": "/(?s:.*/)?",
    "**/": "(?s:.*/)?",
    "/**": "(?s:/.*)?",
    "**": "(?s:.*)",
    "*": "[^/]*",
    "?": "[^/]",
}
REPEATED = Pattern(r"(?:(?<=/)|^)\*\*(?:/\*\*)+(?=/|$)")
# How a name of a shell's glob and one of a rule's overlap: not at all, by wildcards alone, or by letters of both.
APART, WEAK, STRONG = 0, 1, 2


class PathGlob:
    """One pattern, bound to a folder: absolute, and split where its wildcards begin.

    `prefix`: the folder before the first wildcard, without a final slash (`""`: it starts with `**`).
    `literal`: the whole path if there is no wildcard, else `""`. `first`: its first name that is not `**`.
    Patterns of `re` are compiled on first use: a policy has hundreds of globs, and a call needs few."""

    __slots__ = ("text", "prefix", "literal", "first", "_regex", "_below")

    def __init__(self, text: str) -> None:
        if "**/**" in text:
            text = REPEATED.sub("**", text)  # `a/**/**` is `a/**`, the folder itself included
        self.text = text
        wild = wild_at(text)
        if wild < 0:
            self.literal = self.prefix = text.rstrip("/") or "/"
        else:
            self.literal = ""
            self.prefix = text[: text.rfind("/", 0, wild)] if "/" in text[:wild] else ""
        self.first = next((name for name in text.split("/") if name not in ("", "**")), "")
        self._regex: re.Pattern[str] | None = None
        self._below: re.Pattern[str] | None = None

    def matches(self, path: str) -> bool:
        """Whether the pattern names exactly this path."""
        if self.literal:
            return path == self.literal
        if self._regex is None:
            self._regex = re.compile(translate(self.text))
        return self._regex.fullmatch(path) is not None

    def covers(self, path: str) -> bool:
        """Whether the pattern names this path or a folder above it."""
        if self.literal:
            return path == self.literal or (self.literal != "/" and path.startswith(self.literal + "/"))
        if self._below is None:
            self._below = re.compile(translate(self.text) + "(?s:/.*)?")
        return self._below.fullmatch(path) is not None

    def opens(self, folder: str) -> bool:
        """Whether a folder at or below the prefix could hold something that the pattern names, or be below that.

        Compared name by name up to a `**`: `~/*.key` matches nothing in `~/src`."""
        if self.literal:
            return True
        inside = folder[len(self.prefix) + 1 :]
        for want, name in zip(self.text[len(self.prefix) + 1 :].split("/"), inside.split("/"), strict=False):
            if "**" in want or ("[" in want and class_end(want, want.find("[")) < 0) or not name:
                return True
            if not name_matches(want, name):
                return False
        return True

    def roots(self, folder: str) -> bool:
        """Whether the pattern names the direct content of the folder, so the folder as a whole."""
        return self.text in (f"{folder}/*", f"{folder}/**") or self.text.startswith(f"{folder}/**/")


def wild_at(text: str) -> int:
    """The position of the first wildcard; -1 if there is none."""
    return min((at for at in (text.find("*"), text.find("?"), text.find("[")) if at >= 0), default=-1)


def name_matches(glob: str, name: str) -> bool:
    """Whether a glob without `**` matches one name. Most need no regular expression."""
    if "?" in glob or "[" in glob:
        return re.fullmatch(translate(glob), name) is not None
    first, *others = glob.split("*")
    if not others:
        return name == glob
    *middle, last = others
    if len(name) < len(first) + len(last) or not name.startswith(first) or not name.endswith(last):
        return False
    at, end = len(first), len(name) - len(last)
    for piece in middle:
        found = name.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def longest_chunk(text: str) -> str:
    """The longest text that every match must contain: no wildcard, no slash at the `**` that may vanish."""
    plain = re.sub(r"\[[^\]]*\]", "*", text.replace("/**/", "*").replace("**/", "*").replace("/**", "*"))
    return max(re.split(r"[*?]+", plain), key=len)


def translate(text: str) -> str:
    """The regular expression of a glob."""
    return "".join(map(_expression, PIECE.findall(text)))


def _expression(piece: str) -> str:
    if piece in WILDCARDS:
        return WILDCARDS[piece]
    if len(piece) == 1:
        return re.escape(piece)
    body, negated = piece[1:-1], piece[1] in "!^"
    inner = re.sub(r"([\\\[\]&~|])", r"\\\1", body[1:] if negated else body)
    return f"(?!/)[{'^' if negated else ''}{inner}]"


def class_end(text: str, at: int) -> int:
    """The closing bracket of the class that opens at `at`; -1 if there is none."""
    return text.find("]", at + (3 if text[at + 1 : at + 2] in ("!", "^") else 2))


def check(text: str) -> None:
    """Raise PolicyError if a glob is malformed."""
    at = text.find("[")
    while at >= 0:
        end = class_end(text, at)
        if end < 0:
            raise PolicyError(
                f"bad glob `{text}`: `[` is never closed",
                suggestion="close it, or write `[[]` for the character itself",
            )
        if "/" in text[at:end]:  # names are compared one by one, so the class would be cut in two
            raise PolicyError(
                f"bad glob `{text}`: a class in brackets never matches `/`",
                suggestion="remove the `/` from the brackets",
            )
        try:
            re.compile(translate(text[at : end + 1]))
        except re.error as error:
            raise PolicyError(f"bad glob `{text}`: {error}", suggestion="check the range in the brackets") from None
        at = text.find("[", end)
    if "***" in text:
        raise PolicyError(
            f"bad glob `{text}`: `***` means nothing", suggestion="`**` spans folders, `*` stays in one name"
        )
    if "\0" in text:
        raise PolicyError("bad glob: it contains a NUL character", suggestion="remove it")


REMEMBERED, MOST_MET = 64, 2_000  # globs of a shell, globs of rules that each was compared with
_met: dict[str, dict[str, bool]] = {}


def overlaps(shell_glob: str, rule_glob: str) -> bool:
    """Whether a shell's glob aims at what a rule's glob names, or at something below that. Cached: one decision
    compares the same globs several times."""
    known = _met.get(shell_glob)
    if known is None or len(known) >= MOST_MET:
        known = {}
        keep(_met, shell_glob, known, REMEMBERED)
    found = known.get(rule_glob)
    if found is None:
        found = known[rule_glob] = _aims_at(shell_glob, rule_glob)
    return found


def _aims_at(shell_glob: str, rule_glob: str) -> bool:
    """Compared name by name; a shell's `*` does not match a leading dot. At least one name must match by its letters:
    `src/*` may match anything and aims at nothing; its actual matches are known from the host's facts."""
    rule = rule_glob.split("/")
    # For each depth of the shell's glob: how much of the rule was matched → whether by letters.
    reach: dict[int, bool] = {0: False}
    for name in [*shell_glob.split("/"), None]:
        for at in range(len(rule)):  # `**` may match no folder at all
            if at in reach and rule[at] == "**":
                reach[at + 1] = reach.get(at + 1, False) or reach[at]
        if reach.get(len(rule)):
            return True
        if name is None:
            return False
        reach = _step(name, rule, reach)
    return False


def _step(name: str, rule: list[str], reach: dict[int, bool]) -> dict[int, bool]:
    after: dict[int, bool] = {}
    for at, sure in reach.items():
        if at == len(rule) or rule[at] == "**":  # below what matched, or any folder
            after[at] = after.get(at, False) or sure
        elif name == "**":
            for later in range(at, len(rule) + 1):
                after[later] = after.get(later, False) or sure
                if later < len(rule) and rule[later].startswith("."):  # not matched by it
                    break
        elif met := names_overlap(name, rule[at]):
            after[at + 1] = after.get(at + 1, False) or sure or (met == STRONG and name != "")
    return after


_overlaps: dict[tuple[str, str], int] = {}
_EXTENDED = Pattern(r"[?*+@!^#~]\(|[|\[]")
_ENDING = Pattern(r"\*+\.\w+")


def names_overlap(shell: str, rule: str) -> int:
    """Whether one name may match both a name of a shell's glob and one of a rule's. Cached: rules are few."""
    key = (shell, rule)
    met = _overlaps.get(key)
    if met is None:
        if len(_overlaps) > 20_000:
            _overlaps.clear()
        met = _overlaps[key] = _name_overlap(shell, rule)
    return met


def is_wild(shell: str) -> bool:
    """Whether a shell's glob has wildcards, or is an extended glob."""
    return "*" in shell or "?" in shell or "[" in shell or "(" in shell


def _name_overlap(shell: str, rule: str) -> int:
    if "(" in shell and not _EXTENDED.search(shell):  # zsh groups by parentheses; a quoted one is part of a name
        literal, group = shell.replace("(", "[(]").replace(")", "[)]"), shell.replace("(", "").replace(")", "")
        return max(_name_overlap(literal, rule), _name_overlap(group, rule))
    rule_wild = WILD.search(rule) is not None
    if not is_wild(shell):
        same = shell == rule if not rule_wild else re.fullmatch(translate(rule), shell) is not None
        return STRONG if same else APART
    if not rule_wild:
        if not _shell_name(shell, rule):
            return APART
        if _ENDING.fullmatch(shell):
            return WEAK  # an ending alone aims at nothing
        return STRONG if len(re.sub(r"\[[^\]]*\]|[*?()|@+!]", "", shell)) >= 2 else WEAK
    if shell[:1] in ("*", "?") and rule.startswith("."):
        return APART
    head_s, head_r = re.split(r"[*?\[(]", shell)[0], re.split(r"[*?\[]", rule)[0]
    tail_s, tail_r = re.split(r"[*?\])]", shell)[-1], re.split(r"[*?\]]", rule)[-1]
    heads = head_s.startswith(head_r) or head_r.startswith(head_s)
    if not heads or not (tail_s.endswith(tail_r) or tail_r.endswith(tail_s)):
        return APART
    return STRONG if max(min(len(head_s), len(head_r)), min(len(tail_s), len(tail_r))) >= 2 else WEAK


def _shell_name(shell: str, name: str) -> bool:
    """Whether a name of a shell's glob matches a name."""
    if name.startswith(".") and not shell.startswith((".", "[", "@(", "+(")):
        return False
    if "(" in shell.replace("[(]", ""):
        return True  # an extended glob: not compared further
    whole = "[" not in shell or class_end(shell, shell.find("[")) > 0
    return re.fullmatch(translate(shell) if whole else ".*", name) is not None
