"""Reads the arguments of a call as tools may: by any spelling of a key, in lists, objects and JSON text.

Knows no tool, only the keys that any tool reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assent.contract import PayloadError

# Arguments that are text for the file tools: never a path, whatever they look like.
TEXT_KEYS = frozenset(
    "content contents text new_text file_text new_str old_str new_string old_string newstring oldstring new_source "
    "instruction instructions explanation description code_edit diff patch edits replacements edit_mode cell_id "
    "cell_type replace_all replaceall expected_replacements allow_multiple insert_text insert_line view_range offset "
    "limit line_start line_end start_line end_line pages encoding command_description reason thought timeout mode "
    "language output_mode type head_limit multiline case_sensitive context ignore_case max_results query queries regex "
    "old_text item newtext oldtext patchtext input command operation exclude exclude_pattern ignore respect_git_ignore "
    "file_filtering_options recursive usedefaultexcludes -a -b -c -n -i -o before after fixed_strings no_ignore "
    "total_max_matches max_matches_per_file names_only modified_by_user ai_proposed_content startline endline "
    "start_line_one_indexed end_line_one_indexed_inclusive should_read_entire_file cell_number is_new_cell insert "
    "ignorecase literal files_only forcereadlargefiles create_directories toolcallid tool_call_id wait_for_previous "
    "prompt job_id explanation_text is_new_file cell_idx cell_language reason_for_change cell_index new_cell "
    "lines line_numbers max_lines".split()
)
NESTED_KEYS = frozenset({"edits", "files", "replacements", "operations", "changes"})
PATTERN_KEYS = frozenset(
    "pattern glob include exclude glob_pattern file_pattern include_pattern exclude_pattern file_glob".split()
)
# Arguments that name a file or a folder for some tool.
PATH_KEYS = frozenset(
    "path paths file files file_path file_paths filepath filename file_name absolute_path absolutepath target_file "
    "target_path target_notebook notebook_path notebook source destination src dst from to old_path new_path target "
    "uri folder dir_path directory dir root target_directory target_directories relative_workspace_path cwd workdir "
    "working_directory location".split()
)
COMMAND_KEYS = ("command", "cmd", "script", "commands")
FOLDER_KEYS = frozenset({"workdir", "working_directory", "dir_path", "directory", "cwd"})
# Further arguments of shell tools, and arguments that do not change what runs.
BESIDE_COMMAND = frozenset(
    "description timeout timeout_ms run_in_background is_background background dangerouslydisablesandbox "
    "justification sandbox_permissions with_escalated_permissions prefix_rule yield_time_ms max_output_tokens login "
    "tty mode sessionid session_id detach initial_wait async requires_approval explanation delay_ms wait_ms "
    "additional_permissions delay persistent reason suggested_timeout timeout_seconds wait_for_previous "
    "thought thoughts tool_summary summary intent rationale purpose title".split()
)
KNOWN_KEYS = TEXT_KEYS | NESTED_KEYS | PATTERN_KEYS | PATH_KEYS | frozenset(COMMAND_KEYS)
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
    for item in value if isinstance(value, list) else (value,):
        if isinstance(item, str) and item:
            yield item


def listed(value: object) -> list[object]:
    """The items of a list, given as a list or as JSON text."""
    if isinstance(value, str):
        value = next(iter(enclosed(value)), None)
    return value if isinstance(value, list) else []


def nonempty(value: object) -> bool:
    return value not in (None, {}, [], "")


def places(key: str, value: object, level: int = 0) -> Iterator[tuple[str, str]]:
    """Every text in an argument that names files, with its nearest key: in lists, in objects, and in JSON text."""
    if level > DEEPEST:
        raise PayloadError("the arguments are nested too deep to be read")
    if isinstance(value, str):
        if value:
            yield key, value
            for inner in enclosed(value):
                yield from places(key, inner, level + 1)
    elif isinstance(value, list):
        for item in value:
            yield from places(key, item, level + 1)
    elif isinstance(value, dict):
        yield from nested(value, level + 1)


def nested(given: Mapping[str, object], level: int = 0) -> Iterator[tuple[str, str]]:
    """The texts in an object that may name files; edits may be under the name of their file."""
    for key, value in given.items():
        low = key.lower()
        if "/" in key or key[:1] in ("~", ".") or (low not in KNOWN_KEYS and isinstance(value, dict | list)):
            yield "input", key
        known_text = low in TEXT_KEYS or low in PATTERN_KEYS
        if not known_text or (low in NESTED_KEYS and not isinstance(value, str)):
            yield from places(low, value, level)


def values(given: Mapping[str, object]) -> tuple[list[tuple[str, str]], bool]:
    """Every string in the arguments, at any depth, with its nearest key; and whether these are all."""
    todo: list[tuple[str, object]] = [(str(key), value) for key, value in given.items()]
    found: list[tuple[str, str]] = []
    for _ in range(MAX_VALUES):
        if not todo:
            return found, True
        where, value = todo.pop()
        if isinstance(value, str):
            found.append((where, value))
            todo += [(where, inner) for inner in enclosed(value)]
        elif isinstance(value, dict):
            todo += [(str(key), inner) for key, inner in value.items()]
        elif isinstance(value, list):
            todo += [(where, inner) for inner in value]
    return found, not todo


def _all_given(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object; a key that is given twice keeps all its values, as tools differ on which one counts."""
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    return {key: [value for each, value in pairs if each == key] for key in found}


def enclosed(text: str) -> list[object]:
    text = text.strip() if text[:1].isspace() or text[:1] == "\ufeff" else text
    if text[:1] not in ("{", "[", '"') or not 1 < len(text) < 65536:
        return []
    import json  # such arguments are rare

    try:
        found: object = json.loads(text, object_pairs_hook=_all_given)
    except (ValueError, RecursionError):
        return []
    return [found]
