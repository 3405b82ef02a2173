"""The readers: functions for what a table cannot say. Imported one by one, when a command needs them.

A reader has the signature `def name(line: Line) -> None` and adds to `line.seen`; a language is read by
`def name(seen: Seen, word: Word) -> None`. `NAMES` says which module holds which reader."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from assent.effects.shell.command import Arg
    from assent.effects.shell.commands.see import Line
    from assent.effects.shell.commands.seen import Seen

    Reader = Callable[[Line], None]
    Language = Callable[[Seen, str | Arg], None]

_MODULES = {
    "documents": "pandoc",
    "archives": "tar dd",
    "awk": "awk",
    "environment": "env printenv",
    "files": "copy move link remove remove_folder modes go_fmt probe dotfiles",
    "find": "find fd",
    "git": "git_push git_fetch git_commit git_checkout git_switch git_branch git_tag git_reset git_restore git_rm "
    "git_mv git_lfs git_each git_rev_list git_merge_base git_rev_parse git_merge git_pick git_stash",
    "inline": "node perl ruby php lua",
    "jq": "jq yq",
    "places": "which go_env go_list",
    "processes": "kill ps",
    "python": "python",
    "remote": "ssh scp rsync elsewhere compose gh_api gh_view",
    "sed": "sed",
    "sql": "sqlite",
    "shells": "shell",
    "web": "curl wget http netcat socat",
    "wrappers": "xargs parallel sudo su joined flock script tmux busybox package rtk",
}
NAMES = {name: module for module, names in _MODULES.items() for name in names.split()}

_LANGUAGES = {
    "SQL": ("sql", "sql"),
    "SED": ("sed", "sed_script"),
    "AWK": ("awk", "awk_program"),
    "JQ": ("jq", "jq_filter"),
    "CODE:python": ("python", "python_code"),
}

_loaded: dict[str, object] = {}


def reader(name: str) -> Reader:
    """The reader of that name; one that does not exist reads nothing, so the line is EXECUTE."""
    if name not in NAMES:
        return _missing
    return _load(name, NAMES[name], name.replace("-", "_"))  # type: ignore[return-value]  # NAMES lists readers only


def language(role: str) -> Language:
    """The reader of code in a role (`SED`, `CODE:python`)."""
    module, function = _LANGUAGES.get(role) or ("inline", f"{role[5:]}_code")
    return _load(role, module, function)  # type: ignore[return-value]  # _LANGUAGES lists such functions only


def _load(key: str, module: str, function: str) -> object:
    if key not in _loaded:
        _loaded[key] = getattr(__import__(f"{__name__}.{module}", fromlist=[function]), function)
    return _loaded[key]


def _missing(line: Line) -> None:
    line.standard()
    line.seen.execute()
