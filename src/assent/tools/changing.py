"""The write and edit tools. A file that is there has to be read first, and is left alone if it changed since."""

from __future__ import annotations

import os

from assent.tools import opening
from assent.tools.reading import binary
from assent.tools.tool import Bench, Given, Guarded, Problem, Result, Risk, Stop

PATH: dict[str, object] = {"type": "string", "description": "the file, absolute or from the project's folder"}


class WriteTool(Guarded):
    name = "write"
    risk = Risk.WRITE
    description = (
        "Write a file whole. A file that is there already has to be read first. A person may be asked, and sees the "
        "difference."
    )
    properties = {
        "file_path": PATH,
        "content": {"type": "string", "description": "everything that the file shall hold"},
    }
    required = ("file_path", "content")

    def prepare(self, bench: Bench, given: Given) -> ChangeJob:
        place = opening.resolve(given["file_path"], bench.folder)
        after = given["content"].encode()
        if len(after) > opening.LARGEST:
            raise Problem(f"a file of at most {opening.LARGEST} bytes can be written")
        input = {**place.input("file_path"), "content": given["content"]}
        if not os.path.lexists(place.path):
            return ChangeJob(bench, place.path, None, after, input)
        before, problem = version(bench, place.path)
        return ChangeJob(bench, place.path, before, after, input, problem)


class EditTool(Guarded):
    name = "edit"
    risk = Risk.WRITE
    description = (
        "Replace an exact text in a file that was read before. The text has to be there once, or `replace_all` be "
        "true. A person may be asked, and sees the difference."
    )
    properties = {
        "file_path": PATH,
        "old_string": {"type": "string", "description": "the text to replace, without the line numbers of `read`"},
        "new_string": {"type": "string", "description": "the text to put there"},
        "replace_all": {"type": "boolean", "description": "replace it wherever it is"},
    }
    required = ("file_path", "old_string", "new_string")

    def prepare(self, bench: Bench, given: Given) -> ChangeJob:
        place = opening.resolve(given["file_path"], bench.folder)
        old, new, everywhere = given["old_string"], given["new_string"], given.get("replace_all", False)
        if not old:
            raise Problem("`old_string` is empty; use `write` to write a file whole")
        if old == new:
            raise Problem("`old_string` and `new_string` are the same; nothing would change")
        input = {**place.input("file_path"), "old_string": old, "new_string": new, "replace_all": everywhere}
        before, problem = version(bench, place.path)
        after = b""
        if not problem:
            try:
                after = replaced(before, old, new, everywhere).encode()
            except Problem as error:
                problem = str(error)
        return ChangeJob(bench, place.path, before, after, input, problem)


class ChangeJob:
    """A file that shall hold other bytes. `before` is None for one that is not there yet."""

    def __init__(
        self,
        bench: Bench,
        path: str,
        before: bytes | None,
        after: bytes,
        input: dict[str, object],
        problem: str = "",
    ) -> None:
        self._bench = bench
        self._path = path
        self._before = before
        self._after = after
        self.input = input
        self.problem = problem

    def run(self, stop: Stop) -> Result:
        with self._bench.changing:
            if stop:
                raise Problem("the call was taken back")
            if self._before is None:
                opening.create(self._path, self._after)
            else:
                opening.replace(self._path, self._before, self._after)
            self._bench.versions.saw(self._path, self._after)
        lines = self._after.count(b"\n") + (not self._after.endswith(b"\n") and bool(self._after))
        return Result(f"{'wrote' if self._before is None else 'changed'} `{self._path}` ({lines} lines)")


def version(bench: Bench, path: str) -> tuple[bytes, str]:
    """The bytes of a file, and what speaks against changing it: it was not read, or not this version."""
    if not bench.versions.known(path):
        return b"", f"`{path}` was not read yet; use `read` first, so that nothing is lost"
    try:
        raw = opening.read(path)
    except Problem as error:
        return b"", str(error)
    if not bench.versions.current(path, raw):
        return b"", f"`{path}` changed since it was read; read it again"
    return raw, ""


def replaced(before: bytes, old: str, new: str, everywhere: bool) -> str:
    """The text after an edit. Raises Problem, with what to do."""
    if binary(before):
        raise Problem("the file is not text; use `bash`")
    try:
        text = before.decode("utf-8")
    except UnicodeDecodeError:
        raise Problem("the file is not UTF-8; use `bash`") from None
    found = text.count(old)
    if not found:
        ends = "; the lines of this file end in \\r\\n" if "\r\n" in text and "\n" in old and "\r\n" not in old else ""
        raise Problem(f"`old_string` is not in the file; copy it exactly, with its spaces, without line numbers{ends}")
    if found > 1 and not everywhere:
        raise Problem(f"`old_string` is there {found} times; give more of the text around it, or set `replace_all`")
    return text.replace(old, new)
