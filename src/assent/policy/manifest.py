"""The manifest of a plugin or a policy pack: who it is, and the mode and rules that it asks for. Reads no files.

A manifest asks; it holds only after a person has seen it. One that comes from a project can only tighten."""

from __future__ import annotations

from assent.contract import PolicyError, Value, re
from assent.policy.document import Document
from assent.policy.modes import Mode
from assent.policy.rules import Origin

ABOUT = ("name", "version", "description")
WIDENS = ("mode", "allow")
TIGHTENS = ("max_mode", "ask", "deny")
NAME = r"[a-z0-9][a-z0-9._-]{0,63}"
LONGEST = 300  # characters of a description
MOST = 200  # rules that widen: more than that nobody reads before they say yes


class Manifest(Value):
    """What a manifest says. `left_out` are the settings that were passed over, since it can only tighten."""

    __slots__ = ("name", "version", "description", "document", "left_out")

    def __init__(
        self, name: str, version: str, description: str, document: Document, left_out: tuple[str, ...] = ()
    ) -> None:
        self.name = name
        self.version = version
        self.description = description
        self.document = document
        self.left_out = left_out

    @property
    def widens(self) -> bool:
        return bool(self.document.allow) or self.document.mode is not None


def read_manifest(text: str, file: str, *, tighten: bool = False, today: str = "") -> Manifest:
    """Parse a manifest; `tighten` passes over what would widen. Raises PolicyError with file and line."""
    from assent.policy.document import parse_table, read_table  # takes longer than a decision

    table = parse_table(text, file)
    about = {key: table.pop(key, "") for key in ABOUT}
    for key, value in about.items():
        if not isinstance(value, str) or len(value) > LONGEST:
            raise PolicyError(f"`{key}` is a text of at most {LONGEST} characters", file=file)
    name = str(about["name"])
    if not re.fullmatch(NAME, name):
        suggestion = 'write `name = "my-plugin"`: small letters, digits, `.`, `_` and `-`'
        raise PolicyError(
            "a manifest has a name" if not name else f"`{name}` is no name", file=file, suggestion=suggestion
        )
    for key in table:
        if key not in (*WIDENS, *TIGHTENS):
            suggestion = f"a manifest has {', '.join((*ABOUT, *WIDENS, *TIGHTENS))}"
            raise PolicyError(f"a manifest may not set `{key}`", file=file, suggestion=suggestion)
    left_out = tuple(key for key in WIDENS if key in table) if tighten else ()
    kept = {key: value for key, value in table.items() if key not in left_out}
    document = read_table(kept, text, file, Origin.USER, today=today)
    if document.mode is Mode.YOLO:
        raise PolicyError("no manifest may ask for `yolo`", file=file, suggestion="ask for `auto` or `full_auto`")
    if len(document.allow) > MOST:
        problem = f"it has {len(document.allow)} allow rules, more than a person reads"
        raise PolicyError(problem, file=file, suggestion=f"ask for at most {MOST}, or make several packs")
    return Manifest(name, str(about["version"]), str(about["description"]), document, left_out)
