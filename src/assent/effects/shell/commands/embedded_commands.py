"""Commands inside the words of editors, of scripting hosts, and of languages that have no reader of their own.

Records their visible effects; proves nothing."""

from __future__ import annotations

from collections.abc import Callable

from assent.contract import Pattern
from assent.effects.shell.commands.command_effects import DELETE, EffectsBuilder, Word, literal

_LONGEST, _MOST = 65_536, 50
_STRING = r"\"((?:[^\"\\]|\\.)*)\""
_VIM = Pattern(r"^:?\s*(?:silent!?\s+|exe(?:cute)?\s+['\"])*(?:%|\d+(?:,\S+?)?|\.)?(?:r|w)?\s*!\s*(.+)$")
_VIM_CALL = Pattern(r"\bsystem(?:list)?\(\s*['\"]([^'\"]+)['\"]")
_LISP = Pattern(
    r"\((?:async-)?(?:shell-command(?:-to-string)?|call-process-shell-command|system\*?|shell|sh)\s+"
    + _STRING
    + r"((?:\s+"
    + _STRING
    + r")*)"
)
_LISP_DELETES = Pattern(r"\(delete-(?:directory|file)\s+" + _STRING)
_APPLE = Pattern(r"(?i)do\s+shell\s+script\s+" + _STRING)
_APPLE_TRASH = Pattern(r"(?i)\bempty\s+(?:the\s+)?trash\b")
# A call that starts a program, with all texts up to the end of the line; one that removes a folder's content.
_CALLS = Pattern(
    r"\b(?:system2?|shell|sh|exec|run|popen|execute|spawn|cmd|Command(?:::new)?|System\.(?:cmd|shell)|os\.cmd"
    r"|Process\.run"
    r"|ProcessBuilder)\b"
    r"[!?*]?\s*[\(\[ ]\s*((?:[\"'`]|c\().*)"
)
_SPAWNED = Pattern(r"\s*(?:spawn|exec)\s+(?:-\S+\s+)*([^\"\[{$].*)")
_EXECUTED = Pattern(r"[\"']([^\"']+)[\"']\.(?:execute\(\)|!!|!)")
_TEXTS = Pattern(r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'|`([^`]*)`")
_REMOVES = Pattern(
    r"\b(?:rm_rf[!]?|rmtree|delete[Dd]ir(?:ectory)?\w*|deleteRecursively|remove_dir_all|RemoveAll|remove_all|delTree"
    r"|file\s+delete\s+-force|unlink(?=.*recursive)|rm(?=.*recursive)|fs::remove_dir_all|remove-directory"
    r"|removeItem|Directory\.Delete)\b([^\n;]*)"
)
_HOME = Pattern(
    r"(?i)\bhome(?:dir)?\s*\(|user_home|[\"']HOME[\"']|user\.home|path\.expand|Sys\.getenv\(\"HOME|UserHomeDir"
    r"|env\(HOME\)"
)
_POWER_REMOVES = Pattern(
    r"(?i)(?:^|[;|{&\s])(?:remove-item|rm|rd|ri|del|erase|rmdir)(?=\s(?:.*\s)?-r)\s(?P<rest>[^;|}]*)"
)
_POWER: tuple[tuple[Pattern, str], ...] = (
    (
        Pattern(r"(?i)\b(?:format-volume|clear-disk|initialize-disk|remove-partition|reset-physicaldisk)\b"),
        "format-disk",
    ),
    (Pattern(r"(?i)\b(?:stop|restart)-computer\b"), "power"),
    (
        Pattern(r"(?i)\b(?:iex|invoke-expression)\b.*(?:iwr|irm|invoke-(?:webrequest|restmethod)|downloadstring)"),
        "remote-code",
    ),
    (
        Pattern(r"(?i)(?:iwr|irm|invoke-(?:webrequest|restmethod)|downloadstring).*\|\s*(?:iex|invoke-expression)"),
        "remote-code",
    ),
    (Pattern(r"(?i)\bset-executionpolicy\b|\bset-mppreference\b|\badd-mppreference\b"), "security-off"),
    (Pattern(r"(?i)\b(?:stop|remove|disable)-(?:service|netfirewallrule|localuser)\b"), "system-change"),
    (Pattern(r"(?i)\b(?:remove|clear)-(?:az|aws|ad|s3|ec2|rds|vm|cluster|storage|sql)\w*\b"), "destroy"),
    (Pattern(r"(?i)\b(?:register-scheduledtask|new-service|schtasks\s+/create)\b"), "persistence"),
)
_ROOTS = Pattern(
    r"(?i)\s*(?:-\w+\s+)*[\"']?(?:~|\$home|\$env:userprofile|%userprofile%|[a-z]:"
    r"|[a-z]:[\\/](?:users(?:[\\/][^\\/\s\"']+)?)?|/|/home(?:/\w+)?)[\\/]?\*?[\"']?(?:\s.*)?"
)
_CMD_REMOVES = Pattern(r"(?i)\b(?:rd|rmdir|del|erase)\s(?=.*/s)((?:/\w+\s+)*)(?P<rest>[^&|]*)")
_CMD_FORMATS = Pattern(r"(?i)\bformat\s+[a-z]:")


def add(builder: EffectsBuilder, words: list[Word]) -> None:
    """Record the effects of such commands in the words of a program."""
    reader = _READERS.get(builder.program.removesuffix(".exe"))
    if reader is None:
        return
    options, read = reader
    before = ""
    for word in words[:_MOST]:
        text = literal(word)
        if text is None:
            before = ""
            continue
        name, _, value = text.partition("=")
        if before in options or before.lower() in options:
            read(builder, text[:_LONGEST])
        elif read is _elsewhere and builder.program == "heroku" and " " in text:
            read(builder, text)
        elif name in options and value:
            read(builder, value[:_LONGEST])
        elif "+" in options and text[:1] == "+":
            read(builder, text[1:])
        before = text


def add_input(builder: EffectsBuilder, text: str) -> None:
    """The same for the standard input of such a program."""
    reader = _READERS.get(builder.program)
    if reader is not None and reader[1] is not _vim:
        reader[1](builder, text[:_LONGEST])


def is_read(program: str) -> bool:
    """Whether files in a program's language are read here."""
    return program in _READERS and _READERS[program][1] in (_other, _lisp)


def notebook(text: str) -> str:
    """The code of a notebook, as Python; its shell commands as calls."""
    from json import loads

    try:
        cells = loads(text)["cells"]
        sources = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError):
        return "eval(input())"  # not a notebook
    lines = "\n".join(source if isinstance(source, str) else "".join(source) for source in sources).split("\n")
    return "\n".join(line if line.lstrip()[:1] not in ("!", "%") else _magic(line) for line in lines)


def _magic(line: str) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    command = line.strip()
    return f"{indent}__import__('os').system({command[1:]!r})" if command[0] == "!" else f"{indent}pass"


def _vim(builder: EffectsBuilder, text: str) -> None:
    for line in text.split("|") if "!" not in text else [text]:
        found = _VIM.match(line)
        if found is not None:
            builder.shell(found[1].rstrip("'\""))
    for command in _VIM_CALL.findall(text):
        builder.shell(command)


def _lisp(builder: EffectsBuilder, text: str) -> None:
    for first, rest, *_ in _LISP.findall(text):
        builder.shell(" ".join([_plain(first), *map(_plain, (each[0] for each in _TEXTS.findall(rest)))]))
    for path in _LISP_DELETES.findall(text):
        _deleted(builder, path)


def _apple(builder: EffectsBuilder, text: str) -> None:
    for command in _APPLE.findall(text):
        builder.shell(_plain(command))
    if _APPLE_TRASH.search(text):
        builder.danger("destroy")


def _power(builder: EffectsBuilder, text: str) -> None:
    for found in _POWER_REMOVES.finditer(text):
        builder.danger("broad-delete" if _ROOTS.fullmatch(found["rest"]) else "recursive-delete")
    for form, danger in _POWER:
        if form.search(text):
            builder.danger(danger)


def _cmd(builder: EffectsBuilder, text: str) -> None:
    for found in _CMD_REMOVES.finditer(text):
        builder.danger("broad-delete" if _ROOTS.fullmatch(found["rest"]) else "recursive-delete")
    if _CMD_FORMATS.search(text):
        builder.danger("format-disk")
    _power(builder, text)


def _other(builder: EffectsBuilder, text: str) -> None:
    """Code of another language: calls that start programs or remove folders."""
    for line in text.split("\n")[:2000]:
        for found in _CALLS.finditer(line):
            texts = [_plain(next(filter(None, each), "")) for each in _TEXTS.findall(found[1])]
            if texts:
                builder.shell(texts[0] if " " in texts[0] else " ".join(texts))
        spawned = _SPAWNED.match(line) if builder.program in ("expect", "tclsh", "wish") else None
        if spawned is not None:
            builder.shell(spawned[1])
        for command in _EXECUTED.findall(line):
            builder.shell(command)
        for rest in _REMOVES.findall(line):
            texts = [next(filter(None, each), "") for each in _TEXTS.findall(rest)]
            if _HOME.search(line):
                _deleted(builder, "~")
            elif texts:
                _deleted(builder, _plain(texts[0]))
            else:
                builder.danger("recursive-delete")


def _deleted(builder: EffectsBuilder, path: str) -> None:
    path = builder.home + path[1:] if path == "~" or path.startswith("~/") else path
    builder.path(DELETE, path, recursive=True, dangers=("recursive-delete",))


def _plain(text: str) -> str:
    return text.replace('\\"', '"').replace("\\'", "'").replace("\\\\", "\\")


def _elsewhere(builder: EffectsBuilder, text: str) -> None:
    """A command for another machine."""
    if " " in text.strip():
        builder.shell(text, place="elsewhere")


_CODE = ("-e", "--eval", "-c", "--expr", "-e,")
_READERS: dict[str, tuple[tuple[str, ...], Callable[[EffectsBuilder, str], None]]] = {
    **dict.fromkeys(("vim", "vi", "nvim", "ex", "view", "gvim", "vimdiff"), (("-c", "--cmd", "+"), _vim)),
    **dict.fromkeys(("emacs", "emacsclient"), (("--eval", "-eval", "--execute", "-execute", "-e"), _lisp)),
    **dict.fromkeys(("guile", "racket", "sbcl", "clojure", "clj", "bb", "chez"), ((*_CODE, "--eval"), _lisp)),
    "osascript": (("-e",), _apple),
    **dict.fromkeys(("fly", "flyctl"), (("-C", "-c", "--command"), _elsewhere)),
    "heroku": (("run", "-a", "--app", "run:detached", "--"), _elsewhere),
    "gcloud": (("--command",), _elsewhere),
    "aws": (("--command", "--commands"), _elsewhere),
    "eb": (("-c", "--command"), _elsewhere),
    "az": (("--scripts",), _elsewhere),
    **dict.fromkeys(("pwsh", "powershell"), (("-c", "-command", "--command", "-commandwithargs"), _power)),
    "cmd": (("/c", "/k", "/C", "/K"), _cmd),
    **dict.fromkeys(
        """Rscript R julia elixir iex groovy scala kotlin jshell tclsh expect swift ocaml ghc octave erl crystal nim
        raku dart wish go java cargo dotnet""".split(),
        ((*_CODE, "-E", "--execute", "-eval"), _other),
    ),
}
