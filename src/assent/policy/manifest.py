"""The manifest of a plugin or a policy pack: its name, and the mode and rules that it requests.

It applies only after a person has seen it. One from a project can only tighten."""

from __future__ import annotations

from assent.contract import PolicyError, Value, re
from assent.policy.document import Document, document_of, parse_table
from assent.policy.modes import Mode
from assent.policy.rules import Origin, Rule, RuleKind

ABOUT = ("name", "version", "description")
WIDENS = ("mode", "allow")
TIGHTENS = ("max_mode", "ask", "deny")
NAME = r"[a-z0-9][a-z0-9._-]{0,63}"
LONGEST = 300  # characters of a description
MOST = 200  # rules that widen: nobody reads more before saying yes


class Manifest(Value):
    """`left_out` are the settings that were ignored, because the manifest can only tighten."""

    __slots__ = ("name", "version", "description", "document", "left_out")

    def __init__(
        self, name: str, version: str, description: str, document: Document, left_out: tuple[str, ...] = ()
    ) -> None:
        self.name = name
        self.version = version
        self.description = description
        self.document = document
        self.left_out = left_out


def read_manifest(text: str, file: str, *, tighten: bool = False, today: str = "") -> Manifest:
    """Parse a manifest; `tighten` ignores what would widen. Raises PolicyError with file and line."""
    table = parse_table(text, file)
    about = {key: table.pop(key, "") for key in ABOUT}
    for key, value in about.items():
        if not isinstance(value, str) or len(value) > LONGEST:
            raise PolicyError(f"`{key}` must be a text of at most {LONGEST} characters", file=file)
    name = str(about["name"])
    if not re.fullmatch(NAME, name):
        raise PolicyError(
            f"`{name}` is not a valid name" if name else "a manifest needs a name",
            file=file,
            suggestion='write `name = "my-plugin"`: lower-case letters, digits, `.`, `_` and `-`',
        )
    if wrong := next((key for key in table if key not in (*WIDENS, *TIGHTENS)), ""):
        suggestion = f"a manifest has {', '.join((*ABOUT, *WIDENS, *TIGHTENS))}"
        raise PolicyError(f"a manifest may not set `{wrong}`", file=file, suggestion=suggestion)
    left_out = tuple(key for key in WIDENS if key in table) if tighten else ()
    kept = {key: value for key, value in table.items() if key not in left_out}
    document = document_of(kept, file, Origin.USER, text=text, today=today)
    if document.mode is Mode.YOLO:
        raise PolicyError("no manifest may ask for `yolo`", file=file, suggestion="ask for `auto` or `full_auto`")
    if believing := next((rule for rule in document.allow if _relies_on_server(rule)), None):
        raise PolicyError(
            f"no manifest may allow `{believing.text}`: it relies on what a server says of its tools",
            file=file,
            suggestion="name the tools, or write this rule in the user's configuration",
        )
    if len(document.allow) > MOST:
        raise PolicyError(
            f"it has {len(document.allow)} allow rules, more than a person can read",
            file=file,
            suggestion=f"ask for at most {MOST}, or make several packs",
        )
    return Manifest(name, str(about["version"]), str(about["description"]), document, left_out)


def _relies_on_server(rule: Rule) -> bool:
    from assent.policy.conditions import names_annotation

    return rule.about is RuleKind.TOOL and bool(rule.spec) and names_annotation(rule.spec)
