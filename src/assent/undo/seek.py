"""Finds the files that a call would search for and delete: rather too many than too few."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Sequence
from fnmatch import translate

from assent.undo.take import CannotCopy

MOST = 200_000  # entries of folders


def seek(folder: str, names: Sequence[str]) -> list[str]:
    """The paths below a folder whose last name matches one of the patterns, in any case; the folder itself if there are
    none. Raises CannotCopy, without patterns also if a link leads to a folder, because the deleted files may be
    elsewhere."""
    # `?` is a letter or a byte of one, depending on the program's locale: here it is anything.
    wide = [name.replace("?", "*") for name in names]
    patterns = re.compile("|".join(map(translate, wide)), re.IGNORECASE) if names else None
    if patterns is not None and patterns.match(posixpath.basename(folder)):
        return [folder]
    found: list[str] = []
    waiting, count = [folder], 0
    while waiting:
        here = waiting.pop()
        try:
            with os.scandir(here) as entries:
                for entry in entries:
                    count += 1
                    if patterns is None and entry.is_symlink() and entry.is_dir():
                        raise CannotCopy(f"`{entry.path}` leads to another folder")
                    if patterns is not None and patterns.match(entry.name):
                        found.append(entry.path)
                    elif entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except FileNotFoundError:
            continue
        except NotADirectoryError:
            found.append(here)
        except OSError as error:
            raise CannotCopy(f"`{here}` cannot be read: {error.strerror}") from None
        if count > MOST:
            raise CannotCopy(f"`{folder}` has more than {MOST:,} files to look at")
    return found if patterns is not None else [folder]
