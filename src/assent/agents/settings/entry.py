"""The hook that the installer adds to a program's settings, and how such an entry is recognized."""

from __future__ import annotations

import re
import shlex

from assent.contract import Value

LOOPBACK = re.compile(r"http://(?:127\.0\.0\.1|localhost|\[::1\]):[0-9]+/hook/[a-z-]+")
NOTICE = "Assent is checking"
PROGRAMS = ("assent", "assent.exe", "assent-hook")  # the last is the compiled client
LONGEST_PREFIX = 3  # words before ours: `python -I -m`
# Without any quotes: it is part of shell lines.
FAILED = (
    "Assent could not decide: its hook failed. Install Assent again and run assent install, or remove its hook from "
    "the settings of this program"
)
# The hook's output is passed on if there is some and it succeeded.
ANSWERED = 'out=$({}) && [ -n "$out" ] && printf "%s\\n" "$out" && exit 0'
BLOCKED = f'[ $? -eq 2 ] || echo "{FAILED}" >&2; exit 2'
GUARD = re.compile(r"out=\$\((.*?)\) && \[ -n", re.DOTALL)


class HookEntry(Value):
    """The hook to install.

    `words` are the program, by its absolute path, and its arguments. `timeout` is in seconds. `url` is set for an HTTP
    hook, with its `headers` and the `variables` that they may use. `events` are the program's own names (none: its
    default). `file` is the path of the settings file, for programs that need it. `name` is that of the hook, for
    programs whose projects can switch off a hook by its name."""

    __slots__ = ("words", "timeout", "url", "headers", "variables", "events", "file", "name")

    def __init__(
        self,
        words: tuple[str, ...],
        timeout: int,
        *,
        url: str = "",
        headers: tuple[tuple[str, str], ...] = (),
        variables: tuple[str, ...] = (),
        events: tuple[str, ...] = (),
        file: str = "",
        name: str = "assent",
    ) -> None:
        self.words = words
        self.timeout = timeout
        self.url = url
        self.headers = headers
        self.variables = variables
        self.events = events
        self.file = file
        self.name = name

    @property
    def command(self) -> str:
        return shlex.join(self.words)

    @property
    def guarded(self) -> str:
        """The same for programs that let a call run when a hook breaks: anything but an answer becomes a block."""
        return shlex.join(guarded(self.words))


def guarded(words: tuple[str, ...]) -> tuple[str, ...]:
    """A command within a shell line that blocks if it does not answer."""
    return ("/bin/sh", "-c", f"{ANSWERED.format(shlex.join(words))}; {BLOCKED}")


def is_ours(hook: object) -> bool:
    if not isinstance(hook, dict):
        return False
    url, args = hook.get("url"), hook.get("args")
    if isinstance(url, str) and LOOPBACK.fullmatch(url):
        return True
    more = [each for each in args if isinstance(each, str)] if isinstance(args, list) else []
    texts = [text for key in ("command", "bash") if isinstance(text := hook.get(key), str) and text]
    return any(calls_hook([text, *more] if more else words_of(text)) for text in texts)


def words_of(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def argv_of(words: tuple[str, ...]) -> list[str]:
    """The words that a hook is started with, without the shell line around them."""
    found = list(words)
    for _ in range(LONGEST_PREFIX):
        if found[:2] != ["/bin/sh", "-c"] or len(found) != 3:
            break
        inner = GUARD.match(found[2])
        found = words_of(inner[1] if inner else found[2])
    return found


def calls_hook(words: list[str]) -> bool:
    """`…/assent hook …`, `…/assent-hook hook …`, `python -m assent hook …` or `python -IS …/assent hook …`, perhaps
    guarded."""
    if words[:2] == ["/bin/sh", "-c"]:
        guarded = GUARD.match(words[2]) if len(words) == 3 else None
        return guarded is not None and calls_hook(words_of(guarded[1]))
    for at, word in enumerate(words[: LONGEST_PREFIX + 1]):
        if word.rpartition("/")[2] in PROGRAMS and words[at + 1 : at + 2] == ["hook"]:
            return at == 0 or words[at - 1] == "-m" or _runs_script(words[:at])
    return False


def _runs_script(words: list[str]) -> bool:
    """An interpreter with flags alone before the script."""
    return words[0].rpartition("/")[2].startswith("python") and all(flag.startswith("-") for flag in words[1:])
