"""Parses git's configuration syntax, exactly or not at all, and knows the keys by which git runs programs.

Opens no files: includes are named for the caller to follow."""

from __future__ import annotations

from assent.contract import Pattern, Value, re


class GitSetting(Value):
    """One setting: `name` is `section.key` in lower case, `subsection` the quoted part as written (`""`: none).
    `value` is None for a key without a value, which git reads as true."""

    __slots__ = ("name", "subsection", "value")

    def __init__(self, name: str, subsection: str, value: str | None) -> None:
        self.name = name
        self.subsection = subsection
        self.value = value


class GitConfigError(ValueError):
    """The text is not git configuration as parsed here. Git may read it differently, so nothing in it is harmless."""


# ---------------------------------------------------------------- syntax

_HEADER = Pattern(r'\[([A-Za-z0-9.-]+)(?:[ \t\r]+"((?:[^"\\\n]|\\[^\n])*)")?\]')
_KEY = Pattern(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*")
_BLANK = Pattern(r"[ \t\r\n]+|[#;][^\n]*")
_SPACE = Pattern(r"[ \t\r]+")
_PLAIN = Pattern(r"[^ \t\r\n\"\\#;]+")
_QUOTED = Pattern(r"[^\n\"\\]+")
_ESCAPED = Pattern(r"\\(.)")
_ESCAPES = {"\\": "\\", '"': '"', "n": "\n", "t": "\t", "b": "\b"}


def entries(text: str) -> tuple[GitSetting, ...]:
    """Read a configuration file's settings in order, or raise GitConfigError."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if "\0" in text:
        raise GitConfigError("a NUL character")
    found: list[GitSetting] = []
    section, subsection, at = "", "", 0
    while at < len(text):
        if blank := _BLANK.match(text, at):
            at = blank.end()
        elif header := _HEADER.match(text, at):
            section, subsection, at = *_header(header), header.end()
        elif (key := _KEY.match(text, at)) and section:
            value, at = _value(text, key.end())
            found.append(GitSetting(f"{section}.{key[1].lower()}", subsection, value))
        else:
            raise GitConfigError(f"line {text.count(chr(10), 0, at) + 1} is not understood")
    return tuple(found)


def _header(match: re.Match[str]) -> tuple[str, str]:
    """Section and subsection; the old form `[a.b]` means the same as `[a "b"]` in lower case."""
    if match[2] is not None:
        return match[1].lower(), _ESCAPED.sub(lambda escaped: escaped[1], match[2])
    section, _, subsection = match[1].lower().partition(".")
    return section, subsection


def _value(text: str, at: int) -> tuple[str | None, int]:
    if at >= len(text) or text[at] == "\n":
        return None, at
    if text[at] != "=":
        raise GitConfigError("a key without `=`")
    at += 1
    parts: list[str] = []
    kept = 0  # white space at the end counts only if something follows it
    quoted = False
    while at < len(text) and text[at] != "\n":
        char = text[at]
        if char == "\\":
            following = text[at + 1 : at + 2]
            if following not in _ESCAPES and following != "\n":
                raise GitConfigError("an unknown escape")
            at += 2
            if following == "\n":
                continue
            parts.append(_ESCAPES[following])
        elif char == '"':
            quoted = not quoted
            at += 1
        elif run := (_QUOTED if quoted else _PLAIN).match(text, at):
            parts.append(run[0])
            at = run.end()
        elif run := _SPACE.match(text, at):
            at = run.end()
            if parts:
                parts.append(" " * len(run[0]))
            continue
        else:
            end = text.find("\n", at)  # a comment
            at = len(text) if end < 0 else end
            break
        kept = len(parts)
    if quoted:
        raise GitConfigError("a quote that does not end")
    return "".join(parts[:kept]), at


# ---------------------------------------------------------------- meaning

INCLUDES = frozenset({"include.path", "includeif.path"})

# Keys that name a program by their last word, in any section, so that future keys are covered too.
_PROGRAM = tuple(
    "command cmd program helper driver textconv hook editor pager askpass gitproxy external difffilter clean smudge "
    "process tunnel browser viewer fsmonitor uploadpack receivepack vcs templatedir smtpserver "
    "standalonetransferagent".split()
)
_SECTIONS = frozenset({"alias", "browser", "guitool", "hook", "instaweb", "man"})
_BOOLEAN = frozenset({"true", "false", "yes", "no", "on", "off", "0", "1", ""})
_PAGERS = frozenset({"", "cat", "less"})
_HARMLESS: dict[str, frozenset[str]] = {
    "core.fsmonitor": _BOOLEAN,  # true is git's own daemon
    "core.pager": _PAGERS,
    "credential.helper": frozenset(
        {"", "store", "cache", "osxkeychain", "manager", "manager-core", "libsecret", "wincred", "gnome-keyring"}
    ),
    "gpg.program": frozenset({"gpg", "gpg2", "gpgsm", "ssh-keygen", "/usr/bin/gpg", "/usr/bin/gpg2"}),
    "merge.driver": frozenset({"true"}),  # the idiom that keeps our side
}
_LFS = Pattern(r"git-lfs (?:(?:clean|smudge)(?: --skip)? -- %f|filter-process(?: --skip)?)$")
_FILES = frozenset({"blame.ignorerevsfile", "format.signaturefile"})
_TRANSPORTS = frozenset({"file", "git", "http", "https", "ssh"})


def runs_program(entry: GitSetting) -> bool:
    """Whether a setting alone can make git run a program.

    `core.hooksPath`, `core.worktree` and includes name paths: the caller checks these."""
    name, subsection = entry.name, entry.subsection
    value = "true" if entry.value is None else entry.value
    section, _, key = name.partition(".")
    if name in _HARMLESS:
        return value.casefold() not in _HARMLESS[name]
    if section == "filter" and subsection == "lfs" and _LFS.match(value):
        return False
    if section == "pager":
        return value.casefold() not in _BOOLEAN | _PAGERS
    if section == "url" or key in {"url", "pushurl"}:
        return (subsection if section == "url" else value).lstrip().startswith(("ext::", "fd::"))
    if name == "protocol.allow":
        return value.casefold() != "never" and subsection not in _TRANSPORTS
    if name in _FILES:  # git prints their lines
        return value.startswith(("/", "~", "..")) or "/../" in value
    if name in ("help.format", "help.htmlpath"):  # any other value of these starts a browser
        return value.casefold() not in ("man", "info")
    return section in _SECTIONS or name == "lfs.path" or value.lstrip().startswith("!") or key.endswith(_PROGRAM)


def shown(entry: GitSetting) -> str:
    """The setting's name as git writes it, for reasons."""
    section, _, key = entry.name.partition(".")
    return f"{section}.{entry.subsection}.{key}" if entry.subsection else entry.name
