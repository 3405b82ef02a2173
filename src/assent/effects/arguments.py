"""The arguments of a call as the tools may read them: by any spelling of a key, in lists and objects. Knows no tool."""

from __future__ import annotations

from assent.contract.errors import PayloadError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# Arguments that are text for the file tools: never a path, whatever they look like.
TEXT_KEYS = frozenset(
    "content contents text new_text file_text new_str old_str new_string old_string newstring oldstring new_source "
    "instruction instructions explanation description code_edit diff patch edits replacements edit_mode cell_id "
    "cell_type replace_all replaceall expected_replacements allow_multiple insert_text insert_line view_range offset "
    "limit line_start line_end start_line end_line pages encoding command_description reason thought timeout mode "
    "language output_mode type head_limit multiline case_sensitive context ignore_case max_results query queries regex "
    "old_text item".split()
)
NESTED_KEYS = frozenset({"edits", "files", "replacements", "operations", "changes"})
PATTERN_KEYS = frozenset(
    "pattern glob include exclude glob_pattern file_pattern include_pattern exclude_pattern file_glob".split()
)
MAX_VALUES = 2000
DEEPEST = 64


def lowered_keys(given: Mapping[str, object]) -> dict[str, object]:
    """Arguments by lower-case key, so that no spelling hides one."""
    out: dict[str, object] = {}
    for key, value in given.items():
        low = key.lower()
        if low in out and out[low] != value:
            raise PayloadError(f"argument `{key}` is given twice with different values")
        out[low] = value
    return out


def strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        if value:
            yield value
    elif isinstance(value, list):
        yield from (item for item in value if isinstance(item, str) and item)


def listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def nonempty(value: object) -> bool:
    return value not in (None, {}, [], "")


def path_arguments(
    given: Mapping[str, object], skip: tuple[str, ...] = (), level: int = 0
) -> Iterator[tuple[str, str]]:
    """Every argument that may be a path, with its key. Lists and nested edits are looked into."""
    if level > DEEPEST:
        raise PayloadError("the arguments are nested too deep to be read")
    for key, value in given.items():
        low = key.lower()
        if low in skip:
            continue
        if "/" in key or key[:1] == "~":
            yield "input", key  # edits by the name of their file
        nested = low in NESTED_KEYS and not isinstance(value, str)
        if nested or (low not in TEXT_KEYS and low not in PATTERN_KEYS):
            yield from _places(low, value, level)


def _places(key: str, value: object, level: int) -> Iterator[tuple[str, str]]:
    """The paths in one argument, in lists and objects too."""
    if level > DEEPEST:
        raise PayloadError("the arguments are nested too deep to be read")
    if isinstance(value, str):
        if value:
            yield key, value
    elif isinstance(value, dict):
        yield from path_arguments(value, level=level + 1)
    elif isinstance(value, list):
        for item in value:
            yield from _places(key, item, level + 1)


def values(given: Mapping[str, object]) -> tuple[list[tuple[str, str]], bool]:
    """Every string in the arguments, at any depth, with its nearest key; and whether that is all of them."""
    todo: list[tuple[str, object]] = [(str(key), value) for key, value in given.items()]
    found: list[tuple[str, str]] = []
    for _ in range(MAX_VALUES):
        if not todo:
            return found, True
        where, value = todo.pop()
        if isinstance(value, str):
            found.append((where, value))
            todo += [(where, inner) for inner in _enclosed(value)]
        elif isinstance(value, dict):
            todo += [(str(key), inner) for key, inner in value.items()]
        elif isinstance(value, list):
            todo += [(where, inner) for inner in value]
    return found, not todo


def _enclosed(text: str) -> list[object]:
    """Arguments that are written as JSON inside of one."""
    if text[:1] not in "{[" or not 1 < len(text) < 65536:
        return []
    import json  # such arguments are rare

    try:
        return [json.loads(text)]
    except (ValueError, RecursionError):
        return []
