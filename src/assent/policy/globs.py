"""Path globs in the manner of .gitignore: what they match, and what they could match. Knows no rules and no effects.

`*` and `?` stay inside one name, `**` spans folders, `[abc]` is one character. Names beginning with a dot are
matched like others: a rule that says `*` means every file."""

from __future__ import annotations

import re

from assent.contract.errors import PolicyError
from assent.contract.value import Value

WILD = re.compile(r"[*?\[]")


class Glob(Value):
    """One pattern, bound to a folder: absolute, and split where its wildcards begin.

    `prefix`: the folder before the first wildcard, without a final slash (`""`: it starts with `**`).
    `literal`: the whole path where there is no wildcard, else `""`."""

    __slots__ = ("text", "prefix", "literal", "_regex", "_below", "chunk", "first")

    def __init__(self, text: str) -> None:
        self.text = text
        found = WILD.search(text)
        if found is None:
            self.literal = text.rstrip("/") or "/"
            self.prefix = self.literal
            self._regex = None
            self._below = None
        else:
            self.literal = ""
            self.prefix = text[: text.rfind("/", 0, found.start())] if "/" in text[: found.start()] else ""
            self._regex = re.compile(translate(text))
            self._below = re.compile(translate(text) + "(?s:/.*)?")
        self.chunk = longest_chunk(text)
        self.first = next((name for name in text.split("/") if name not in ("", "**")), "")

    def matches(self, path: str) -> bool:
        """Whether the pattern names exactly this path."""
        return path == self.literal if self._regex is None else self._regex.fullmatch(path) is not None

    def covers(self, path: str) -> bool:
        """Whether the pattern names this path or a folder above it."""
        if self._below is not None:
            return self._below.fullmatch(path) is not None
        return path == self.literal or (self.literal != "/" and path.startswith(self.literal + "/"))

    def roots(self, folder: str) -> bool:
        """Whether the pattern speaks of what lies directly in the folder, so of the folder as a whole."""
        return self.text in (f"{folder}/*", f"{folder}/**") or self.text.startswith(f"{folder}/**/")


def longest_chunk(text: str) -> str:
    """The longest text that every match must contain: no wildcard, no slash at the `**` that may vanish."""
    plain = re.sub(r"\[[^\]]*\]", "*", text.replace("/**/", "*").replace("**/", "*").replace("/**", "*"))
    return max(re.split(r"[*?]+", plain), key=len)


def translate(text: str) -> str:
    """The regular expression of a glob."""
    out: list[str] = []
    at = 0
    while at < len(text):
        if text.startswith("/**/", at):
            out.append("/(?s:.*/)?")
            at += 4
        elif text.startswith("**/", at) and at == 0:
            out.append("(?s:.*/)?")
            at += 3
        elif text.startswith("/**", at) and at + 3 == len(text):
            out.append("(?s:/.*)?")
            at += 3
        elif text.startswith("**", at):
            out.append("(?s:.*)")
            at += 2
        elif text[at] == "*":
            out.append("[^/]*")
            at += 1
        elif text[at] == "?":
            out.append("[^/]")
            at += 1
        elif text[at] == "[":
            end = class_end(text, at)
            body = text[at + 1 : end]
            negated = body[:1] in "!^"
            inner = re.sub(r"([\\\[\]&~|])", r"\\\1", body[1:] if negated else body)
            out.append(f"(?!/)[{'^' if negated else ''}{inner}]")
            at = end + 1
        else:
            out.append(re.escape(text[at]))
            at += 1
    return "".join(out)


def class_end(text: str, at: int) -> int:
    """The closing bracket of the class that opens at `at`; -1 where there is none."""
    start = at + 1
    if text[start : start + 1] in ("!", "^"):
        start += 1
    return text.find("]", start + 1)


def check(text: str) -> None:
    """Raise PolicyError where a glob is malformed."""
    at = text.find("[")
    while at >= 0:
        end = class_end(text, at)
        if end < 0:
            raise PolicyError(
                f"bad glob `{text}`: `[` is never closed",
                suggestion="close it, or write `[[]` for the character itself",
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
        raise PolicyError("bad glob: it holds a NUL character", suggestion="remove it")


def overlaps(shell_glob: str, rule_glob: str) -> bool:
    """Whether some path matches both a shell's glob and a rule's glob, or lies below a match of the rule's.

    Compared name by name. A shell's `*` does not match a leading dot. Where a name holds wildcards on both sides
    the answer is yes: doubt denies."""
    return _overlap(shell_glob.split("/"), rule_glob.split("/"))


def _overlap(shell: list[str], rule: list[str]) -> bool:
    # One row of a table over (how much of shell, how much of rule) was matched; sizes are path depths.
    reach = {0}
    for depth, name in enumerate([*shell, ""]):
        closed: set[int] = set()
        todo = sorted(reach)
        while todo:
            at = todo.pop()
            if at in closed:
                continue
            closed.add(at)
            if at < len(rule) and rule[at] == "**":
                todo.append(at + 1)
        if len(rule) in closed:
            return True
        if depth == len(shell):
            return False
        reach = set()
        for at in closed:
            if at >= len(rule):
                continue
            if rule[at] == "**":
                reach.add(at)
            elif name == "**":
                reach.update(range(at, len(rule) + 1))
            elif names_meet(name, rule[at]):
                reach.add(at + 1)
    return False


_meetings: dict[tuple[str, str], bool] = {}


def names_meet(shell: str, rule: str) -> bool:
    """Whether one name may match both a name of a shell's glob and one of a rule's. Remembered: rules are few."""
    key = (shell, rule)
    met = _meetings.get(key)
    if met is None:
        if len(_meetings) > 20_000:
            _meetings.clear()
        met = _meetings[key] = _meet(shell, rule)
    return met


def _meet(shell: str, rule: str) -> bool:
    shell_wild = WILD.search(shell) is not None or "(" in shell
    rule_wild = WILD.search(rule) is not None
    if not shell_wild:
        return shell == rule if not rule_wild else re.fullmatch(translate(rule), shell) is not None
    if not rule_wild:
        return _shell_name(shell, rule)
    if shell[:1] in ("*", "?") and rule.startswith("."):
        return False
    head_s, head_r = re.split(r"[*?\[(]", shell)[0], re.split(r"[*?\[]", rule)[0]
    tail_s, tail_r = re.split(r"[*?\])]", shell)[-1], re.split(r"[*?\]]", rule)[-1]
    heads = head_s.startswith(head_r) or head_r.startswith(head_s)
    return heads and (tail_s.endswith(tail_r) or tail_r.endswith(tail_s))


def _shell_name(shell: str, name: str) -> bool:
    if name.startswith(".") and not shell.startswith((".", "[", "{", "@(", "+(")):
        return False
    if "(" in shell:
        return True  # an extended glob: not compared further
    return (
        re.fullmatch(translate(shell) if "[" not in shell or class_end(shell, shell.find("[")) > 0 else ".*", name)
        is not None
    )
