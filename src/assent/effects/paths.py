"""Path text → absolute lexical path. Follows no links: that is the work of facts."""

from __future__ import annotations

import posixpath

from assent.contract import Kind, Target


def joined(text: str, cwd: str, home: str, *, tilde: bool = True) -> tuple[str, bool]:
    """Return the absolute path that a tool would open, `..` and all, and whether it is certain.

    A leading `~/` is the user's home (most tools expand it; a shell has done so already, so it passes
    `tilde=False`), `~name` a guess at another's. A relative path in an empty or relative cwd has no absolute
    form: `""`."""
    if tilde and text.startswith("~"):
        name, _, rest = text[1:].partition("/")
        if not name:
            return (f"{home}/{rest}", True) if home.startswith("/") else ("", False)
        base = "/root" if name == "root" else f"/home/{name}"
        return f"{base}/{rest}", False
    if text.startswith("/"):
        return text, True
    if not cwd.startswith("/"):
        return "", False
    return f"{cwd}/{text}", True


LONGEST = 16384  # four times what a kernel takes, since `a/../` goes away


def normal(path: str) -> str:
    """Collapse `.`, `..`, double and trailing slashes; `..` stops at the root."""
    if path[:1] == "/" and "/." not in path and "//" not in path and path[-1] != "/":
        return path
    out = posixpath.normpath(path)
    return out[1:] if out.startswith("//") else out


def path_target(
    text: str, cwd: str, home: str, *, tilde: bool = True, pattern: bool = False, certain: bool = True
) -> Target:
    """The target that a path names. None that is far longer than a path can be is named."""
    raw, sure = joined(text, cwd, home, tilde=tilde)
    if not raw or len(raw) > LONGEST:
        return Target(Kind.PATH, "", text, pattern=pattern, certain=False)
    name = normal(raw)
    if sure and certain and not pattern and ".." not in raw:
        return Target(Kind.PATH, name, text)
    return Target(Kind.PATH, name, text, pattern=pattern, certain=sure and certain, raw=raw if ".." in raw else "")
