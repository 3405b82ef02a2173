"""The read, write and edit tools. A file that exists has to be read before it is changed, and is left alone if it
changed since."""

from __future__ import annotations

import os
from functools import partial
from threading import Event

from assent.tools import opening
from assent.tools.tool import Given, GuardedTool, Problem, Result, ToolContext, ToolJob

LINES = 2000  # shown at once
WIDEST = 2000  # characters of a line
MOST = 60_000  # characters at once
PATH: dict[str, object] = {"type": "string", "description": "the file, absolute or from the project's folder"}


class ReadTool(GuardedTool):
    name = "read"
    risk = "read"
    description = "Read a text file. Lines come with their numbers; a long file is read in parts, by `offset`."
    properties = {
        "file_path": PATH,
        "offset": {"type": "integer", "minimum": 1, "maximum": 10**9, "description": "the first line, from 1"},
        "limit": {"type": "integer", "minimum": 1, "maximum": LINES, "description": "how many lines"},
    }
    required = ("file_path",)

    def prepare(self, context: ToolContext, given: Given) -> ToolJob:
        target = opening.resolve(given["file_path"], context.folder)
        work = partial(_read, context, target.path, given.get("offset", 1), given.get("limit", LINES))
        return ToolJob(target.input("file_path"), work)


class WriteTool(GuardedTool):
    name = "write"
    risk = "write"
    description = (
        "Write a whole file. A file that exists has to be read first. A person may be asked, and sees the difference."
    )
    properties = {"file_path": PATH, "content": {"type": "string", "description": "the whole content of the file"}}
    required = ("file_path", "content")

    def prepare(self, context: ToolContext, given: Given) -> ToolJob:
        target = opening.resolve(given["file_path"], context.folder)
        after = given["content"].encode()
        if len(after) > opening.LARGEST:
            raise Problem(f"a file of at most {opening.LARGEST} bytes can be written")
        new = not os.path.lexists(target.path)
        before, problem = (None, "") if new else _version(context, target.path)
        input = {**target.input("file_path"), "content": given["content"]}
        return ToolJob(input, partial(_change, context, target.path, before, after), problem)


class EditTool(GuardedTool):
    name = "edit"
    risk = "write"
    description = (
        "Replace an exact text in a file that was read before. The text has to occur once, unless `replace_all` is "
        "true. A person may be asked, and sees the difference."
    )
    properties = {
        "file_path": PATH,
        "old_string": {"type": "string", "description": "the text to replace, without the line numbers of `read`"},
        "new_string": {"type": "string", "description": "the text to put there"},
        "replace_all": {"type": "boolean", "description": "replace every occurrence"},
    }
    required = ("file_path", "old_string", "new_string")

    def prepare(self, context: ToolContext, given: Given) -> ToolJob:
        target = opening.resolve(given["file_path"], context.folder)
        old, new, everywhere = given["old_string"], given["new_string"], given.get("replace_all", False)
        if not old:
            raise Problem("`old_string` is empty; use `write` to write a whole file")
        if old == new:
            raise Problem("`old_string` and `new_string` are the same; nothing would change")
        (before, problem), after = _version(context, target.path), b""
        if not problem:
            try:
                after = _replaced(before, old, new, everywhere)
            except Problem as error:
                problem = str(error)
        input = {**target.input("file_path"), "old_string": old, "new_string": new, "replace_all": everywhere}
        return ToolJob(input, partial(_change, context, target.path, before, after), problem)


def _read(context: ToolContext, path: str, offset: int, limit: int, _: Event) -> Result:
    raw = opening.read(path)
    if opening.binary(raw):
        raise Problem(f"`{path}` is not text ({len(raw)} bytes)")
    context.versions.add(path, raw)
    return Result(_numbered(raw, offset, limit) if raw else "[the file is empty]")


def _numbered(raw: bytes, offset: int, limit: int) -> str:
    """Lines with their numbers, within bounds, and a note on what is not shown."""
    text = raw.decode("utf-8", "replace")
    lines = text.removesuffix("\n").split("\n")
    if offset > len(lines):
        raise Problem(f"the file has {len(lines)} lines; `offset` is beyond them")
    shown: list[str] = []
    size = cut = 0
    for number, line in enumerate(lines[offset - 1 : offset - 1 + limit], offset):
        line = line.removesuffix("\r")
        if len(line) > WIDEST:
            line, cut = f"{line[:WIDEST]}…", cut + 1
        size += len(line) + 8
        if size > MOST and shown:
            break
        shown.append(f"{number:6}\t{line}")
    last = offset + len(shown) - 1
    notes = [f"[{cut} lines are longer than {WIDEST} characters and cut]"] if cut else []
    if last < len(lines):
        notes.append(f"[lines {offset} to {last} of {len(lines)}; go on with `offset` {last + 1}]")
    if text.encode() != raw:
        notes.append("[some bytes are not UTF-8 and shown as \ufffd; `edit` does not take the file]")
    return "\n".join([*shown, *notes])


def _change(context: ToolContext, path: str, before: bytes | None, after: bytes, stop: Event) -> Result:
    """Give a file other content. `before` is None for a new one."""
    with context.changing:
        if stop.is_set():
            raise Problem("the call was cancelled")
        if before is None:
            opening.create(path, after)
        else:
            opening.replace(path, before, after)
        context.versions.add(path, after)
    lines = after.count(b"\n") + (not after.endswith(b"\n") and bool(after))
    return Result(f"{'wrote' if before is None else 'changed'} `{path}` ({lines} lines)")


def _version(context: ToolContext, path: str) -> tuple[bytes, str]:
    """The bytes of a file, and why it must not be changed: it was not read, or not this version."""
    if path not in context.versions:
        return b"", f"`{path}` was not read yet; use `read` first, so that nothing is lost"
    try:
        raw = opening.read(path)
    except Problem as error:
        return b"", str(error)
    current = context.versions.is_current(path, raw)
    return (raw, "") if current else (b"", f"`{path}` changed since it was read; read it again")


def _replaced(before: bytes, old: str, new: str, everywhere: bool) -> bytes:
    """The content after an edit. Raises Problem, with what to do."""
    if opening.binary(before):
        raise Problem("the file is not text; use `bash`")
    try:
        text = before.decode("utf-8")
    except UnicodeDecodeError:
        raise Problem("the file is not UTF-8; use `bash`") from None
    count = text.count(old)
    if not count:
        ends = "; the lines of this file end in \\r\\n" if "\r\n" in text and "\n" in old and "\r\n" not in old else ""
        raise Problem(f"`old_string` is not in the file; copy it exactly, with its spaces, without line numbers{ends}")
    if count > 1 and not everywhere:
        raise Problem(f"`old_string` occurs {count} times; give more of the text around it, or set `replace_all`")
    return text.replace(old, new).encode()
