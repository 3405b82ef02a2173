"""Library modules for `python -m` that only read files and print.

Each was checked in Python 3.11 to 3.14. They load other modules, which facts look for in the folder."""

from __future__ import annotations

from assent.effects.shell.commands.command_effects import EffectsBuilder, Word
from assent.effects.shell.commands.options import parse
from assent.effects.shell.commands.roles import apply
from assent.programs.option import options_of

_JSON = ("--sort-keys --no-ensure-ascii --json-lines --indent=TEXT --tab --no-indent --compact", ("READ", "WRITE"))
# The options and the roles of the operands; any other word is not proved.
_MAINS: dict[str, tuple[str, tuple[str, ...]]] = {
    "ast": ("-m,--mode=TEXT --no-type-comments -a,--include-attributes -i,--indent=TEXT", ("READ",)),
    "base64": ("-d -e -u", ("READ",)),
    "calendar": ("-w,--width=TEXT -l,--lines=TEXT -s,--spacing=TEXT -m,--months=TEXT -t,--type=TEXT", ("TEXT", "TEXT")),
    "dis": ("-C,--show-caches -O,--show-offsets", ("READ",)),
    "json": _JSON,
    "json.tool": _JSON,
    "platform": ("", ("TEXT", "TEXT")),
    "site": ("--user-base --user-site", ()),
    "sysconfig": ("", ()),
    "tarfile": ("-l,--list=READ -t,--test=READ -v,--verbose", ()),
    "this": ("", ()),
    "tokenize": ("-e,--exact", ("READ",)),
    "zipfile": ("-l,--list=READ -t,--test=READ --metadata-encoding=TEXT", ()),
}
_MODES = frozenset({"tarfile", "zipfile"})  # without an option they do nothing, with any other option they write


def library_main(builder: EffectsBuilder, module: Word, words: tuple[Word, ...]) -> bool:
    """Add the effects of such a module. Returns whether it is one and all its words are known."""
    options, roles = _MAINS.get(module, ("?", ())) if isinstance(module, str) else ("?", ())
    if options == "?":
        return False
    parsed = parse(list(words), options_of(options))
    odd = parsed.doubts or parsed.spills or len(parsed.operands) > len(roles)
    if odd or (module in _MODES and not parsed.values("-l") + parsed.values("-t")):
        return False
    for given in parsed.given:
        if given.value is not None and given.option.role != "TEXT":
            apply(builder, given.option.role, given.value)
    for role, word in zip(roles, parsed.operands, strict=False):
        if role != "TEXT" and word != "-":
            apply(builder, role, word)
    builder.modules(computes="READ" not in roles and module not in _MODES)  # others count as code that opens files
    return True
