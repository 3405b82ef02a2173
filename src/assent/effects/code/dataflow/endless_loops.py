"""Endless loops in code that start processes."""

from __future__ import annotations

from typing import Any

from assent.contract import DOTALL, Pattern

_STARTS_PYTHON = frozenset(
    """fork forkpty Popen Process spawnv spawnl spawnlp spawnvp posix_spawn posix_spawnp create_subprocess_exec
    create_subprocess_shell start_new_thread""".split()
)
_THREADS_PYTHON = frozenset({"Thread", "Timer"})
# Calls that a server or a timer waits in.
_WAITS = frozenset(
    """accept recv recvfrom recv_into sleep get input read readline readlines wait poll select next popleft pop
    get_nowait time monotonic perf_counter tick update_idletasks mainloop serve_forever handle_request receive
    fetchone listen getch getkey waitKey communicate join run_until_complete run_pending urlopen stdin""".split()
)
_GROWS = frozenset("append extend appendleft insert write writelines add update put setdefault makedirs mkdir".split())
_MANY = 500
_PROBES = frozenset("connect connect_ex create_connection open_connection".split())
_SCANNED = 50
_ENDS_PYTHON = frozenset("wait communicate join exit _exit abort waitpid kill poll".split())
_LOOP = Pattern(
    r"\b(?:for\s*\(\s*;\s*;\s*\)|while\s*\(?\s*(?:true|1)\s*\)?|until\s*\(?\s*false\s*\)?|loop)\s*(?P<body>do\b|\{)?"
)
_TIMER = Pattern(r"\bsetInterval\s*\(")
_STARTS = Pattern(
    r"(?:\b|_)(?:fork|spawn|pcntl_fork|proc_open|popen)\b(?!\s*[:=])|\bnew\s+Worker\b|\bexec(?:File)?\s*\(|\bProcess\.spawn\b"
)
_ENDS = Pattern(
    r"\b(?:break|return|last|exit|wait|waitpid|die|raise|throw|await|spawnSync|pcntl_wait\w*|process\.exit|clearInterval|on\s*\("
    r"|Process\.(?:wait|detach)|waitall|sleep)\b"
)
_FORKS = Pattern(r"\bfork\b[\s()]*(?:while|until)\b")
_BLOCK = Pattern(r"\b(?:do|if|unless|case|def|begin|class|while|until|end)\b|[{}]")
_TOKEN = Pattern(
    r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|//[^\n]*|/\*.*?\*/|[#][^\n]*|(?P<mark>[{}()])""", DOTALL
)
_MOST_LOOPS = 50


def python_starts_endlessly(tree: Any) -> bool:
    """Whether a `while True` starts processes, and neither leaves the loop nor waits for them."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if type(node).__name__ == "While" and _is_true(node.test):
            names, leaves = _used(node.body)
            if not leaves and names & _STARTS_PYTHON and not names & _ENDS_PYTHON:
                return True
        waiting += _inner(node)
    return False


def python_marks(tree: Any) -> list[str]:
    """The dangers of the loops of a text: they start processes, fill memory or a disk, flood a host, try its ports."""
    found: list[str] = []
    waiting = [tree]
    scans = probes = here = False
    while waiting:
        node = waiting.pop()
        kind = type(node).__name__
        if kind == "While" and _is_true(node.test):
            names, leaves = _used(node.body)
            if not leaves and names.isdisjoint(_WAITS):
                if not names.isdisjoint(_THREADS_PYTHON) and "start" in names:
                    found.append("fork-bomb")
                if "sendto" in names:
                    found.append("attacks")
                elif not names.isdisjoint(_GROWS) or _doubles(node.body):
                    found.append("fills")
        elif kind == "For" and _count(node.iter) >= _MANY:
            names, leaves = _used(node.body)
            if not leaves and not names.isdisjoint(_STARTS_PYTHON) and names.isdisjoint(_ENDS_PYTHON):
                found.append("fork-bomb")
        if kind == "Call" and _count(node) >= _SCANNED:
            scans = True
        elif kind == "Attribute" and node.attr in _PROBES:
            probes = True
        elif kind == "Constant" and node.value in ("localhost", "127.0.0.1", "::1"):
            here = True
        waiting += _inner(node)
    if scans and probes and not here and "port" in _names(tree):
        found.append("attacks")
    return found


def _names(tree: Any) -> set[str]:
    """The names of a text, in lower case and without a plural."""
    waiting, found = [tree], set()
    while waiting:
        node = waiting.pop()
        if type(node).__name__ == "Name":
            found.add(node.id.lower().rstrip("s"))
        waiting += _inner(node)
    return found


def _count(node: Any) -> int:
    """The number of rounds of `range(…)` with known numbers."""
    if type(node).__name__ != "Call" or getattr(node.func, "id", "") != "range" or node.keywords:
        return 0
    numbers = [number for arg in node.args[:2] if isinstance(number := getattr(arg, "value", None), int)]
    if not numbers or len(numbers) < min(len(node.args), 2):
        return 0
    return numbers[0] if len(numbers) == 1 else numbers[1] - numbers[0]


def _doubles(body: list[Any]) -> bool:
    """Whether a statement doubles something: `a += a`, `a = a * 2`."""
    for statement in body:
        kind = type(statement).__name__
        if kind == "AugAssign" and type(statement.op).__name__ == "Mult":
            return True
        if (
            kind == "Assign"
            and type(statement.value).__name__ == "BinOp"
            and type(statement.value.op).__name__ == "Mult"
        ):
            return any(
                type(target).__name__ == "Name" and getattr(statement.value.left, "id", "") == target.id
                for target in statement.targets
            )
    return False


def _is_true(test: Any) -> bool:
    return type(test).__name__ == "Constant" and bool(test.value)


def _used(body: list[Any]) -> tuple[set[str], bool]:
    """The names in statements, and whether one of them leaves a loop."""
    names: set[str] = set()
    leaves = False
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        kind = type(node).__name__
        leaves = leaves or kind in ("Break", "Return", "Raise", "Await", "With")
        if kind in ("Name", "Attribute"):
            names.add(node.id if kind == "Name" else node.attr)
        waiting += _inner(node)
    return names, leaves


def _inner(node: Any) -> list[Any]:
    found: list[Any] = []
    for field in node._fields:
        value = getattr(node, field, None)
        found += [item for item in (value if isinstance(value, list) else (value,)) if hasattr(item, "_fields")]
    return found


def starts_endlessly(text: str) -> bool:
    """The same for JavaScript, Ruby, Perl and PHP, by the text of the loop."""
    if _FORKS.search(text):
        return True
    for count, match in enumerate(_LOOP.finditer(text)):
        if count > _MOST_LOOPS:
            break
        body = _body(text, match.end(), match["body"] or "")
        if _STARTS.search(body) and not _ENDS.search(body):
            return True
    for count, match in enumerate(_TIMER.finditer(text)):
        if count > _MOST_LOOPS:
            break
        body = _enclosed(text, match.end(), "(", ")")
        if _STARTS.search(body) and "clearInterval" not in text:
            return True
    return False


_FILLS = Pattern(r"\.push\s*\(|\.(?:append|write)\w*\s*\(|\*=\s*2\b|<<\s|\.unshift\s*\(|\.concat\s*\(")
_PAUSES = Pattern(
    r"\b(?:await|yield|read\w*|recv|accept|gets|readline|prompt|shift|pop|next|Date|performance|sleep|select|listen)\b"
)
_COUNTS = Pattern(r"\bfor\s*\([^)]*<=?\s*\d{3,5}\b[^)]*\)|\(?\b\d{1,4}\.\.\.?\d{3,5}\)?\.each|1\.upto\(\d{3,5}\)")
_CONNECTS = Pattern(r"\b(?:net|tls)\.(?:connect|createConnection)\b|\.connect\s*\(|TCPSocket\.(?:new|open)|fsockopen")
_HERE = Pattern(r"localhost|127\.0\.0\.1|::1")


def loop_marks(text: str) -> list[str]:
    """The other dangers of loops in JavaScript, Ruby, Perl and PHP, by their text."""
    found: list[str] = []
    for count, match in enumerate(_LOOP.finditer(text)):
        if count > _MOST_LOOPS:
            break
        body = _body(text, match.end(), match["body"] or "")
        if _FILLS.search(body) and not _ENDS.search(body) and not _PAUSES.search(body):
            found.append("fills")
    if _CONNECTS.search(text) and _COUNTS.search(text) and not _HERE.search(text):
        found.append("attacks")
    return found


def _body(text: str, start: int, opened: str) -> str:
    if opened == "{":
        return _enclosed(text, start, "{", "}")
    if opened == "do":
        depth = 1
        for match in _BLOCK.finditer(text, start):
            depth += -1 if match[0] == "end" else match[0] not in "{}"
            if depth == 0:
                return text[start : match.start()]
        return text[start:]
    end = text.find(";", start)
    return text[start : end if end >= 0 else len(text)]


def _enclosed(text: str, start: int, opens: str, closes: str) -> str:
    depth = 1
    for match in _TOKEN.finditer(text, start):
        if match["mark"] is not None:
            depth += (match["mark"] == opens) - (match["mark"] == closes)
            if depth == 0:
                return text[start : match.start()]
    return text[start:]
