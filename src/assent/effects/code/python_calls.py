"""Resolves the names in Python code, and records the effects of calls of known functions and methods.

Values have no types here, so if `pathlib` is imported, a method that both paths and texts have (`replace`) counts as
the path's, unless its object is surely a text."""

from __future__ import annotations

from typing import Any

from assent.contract import Operation, Pattern
from assent.effects.shell.command import Arg
from assent.effects.shell.commands.command_effects import DELETE, LIST, READ, WRITE, EffectsBuilder, Word

_DEPTH = 20

METHODS: dict[str, Operation] = {
    "write_text": WRITE,
    "write_bytes": WRITE,
    "touch": WRITE,
    "mkdir": WRITE,
    "unlink": DELETE,
    "rmdir": DELETE,
    "read_text": READ,
    "read_bytes": READ,
    "iterdir": LIST,
    "exists": LIST,
    "is_file": LIST,
    "is_dir": LIST,
    "is_symlink": LIST,
    "stat": LIST,
}
_FILES: dict[str, tuple[Operation, ...]] = {
    "os.remove": (DELETE,),
    "os.unlink": (DELETE,),
    "os.rmdir": (DELETE,),
    "os.removedirs": (DELETE,),
    "shutil.rmtree": (DELETE,),
    "os.listdir": (LIST,),
    "os.scandir": (LIST,),
    "os.walk": (LIST,),
    "os.stat": (LIST,),
    "os.path.exists": (LIST,),
    "os.path.lexists": (LIST,),
    "os.path.isfile": (LIST,),
    "os.path.isdir": (LIST,),
    "os.path.islink": (LIST,),
    "os.path.getsize": (LIST,),
    "os.path.getmtime": (LIST,),
    "os.mkdir": (WRITE,),
    "os.makedirs": (WRITE,),
    "os.truncate": (WRITE,),
    "os.chmod": (WRITE,),
    "os.chown": (WRITE,),
    "os.open": (READ, WRITE),
    "io.open": (READ, WRITE),
    "os.link": (READ, WRITE),
    "os.symlink": (READ, WRITE),
    "os.rename": (READ, DELETE),
    "os.replace": (READ, DELETE),
    "shutil.move": (READ, DELETE),
    "shutil.copy": (READ,),
    "shutil.copy2": (READ,),
    "shutil.copyfile": (READ,),
    "shutil.copytree": (READ,),
}
_SECOND = frozenset(
    """os.link os.symlink os.rename os.replace shutil.move shutil.copy shutil.copy2 shutil.copyfile
    shutil.copytree""".split()
)
_DEEP = frozenset({"shutil.rmtree", "os.walk", "shutil.move", "shutil.copytree", "os.removedirs"})
_SCRIPTS = frozenset({"os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"})
_BINDING = {  # the field of a node that holds the name it binds
    **dict.fromkeys(("FunctionDef", "ClassDef", "AsyncFunctionDef", "ExceptHandler", "MatchAs", "MatchStar"), "name"),
    "MatchMapping": "rest",
    "arg": "arg",
}
_STARTS = Pattern(
    r"subprocess\.(?:run|call|check_call|check_output|Popen)|os\.(?:exec|spawn|posix_spawn)\w*|pty\.spawn"
)
_FETCHES = Pattern(
    r"urllib\.request\.(?:urlopen|urlretrieve|Request)|(?:requests|httpx)\.\w+|http\.client\.HTTPS?Connection"
    r"|socket\.create_connection|urllib2\.urlopen|ftplib\.FTP|smtplib\.SMTP"
)


def name_of(node: Any) -> str:
    return type(node).__name__


class PythonScope:
    """The names of some code. `imported`: name → dotted path; `bound`: names that it binds itself;
    `constants`: names bound once, to a text; `choices`: names bound once, by a loop over known texts or a glob, or to
    a word of the command line. `argv`: these words, if the code does not change them."""

    __slots__ = ("ambiguous", "argv", "bound", "choices", "constants", "counts", "home", "imported", "modules")

    def __init__(self, nodes: list[Any], home: str, argv: tuple[Word, ...] = ()) -> None:
        self.home = home
        self.imported: dict[str, str] = {}
        self.ambiguous = False
        self.modules: list[str] = []
        self.constants: dict[str, str] = {}
        self.choices: dict[str, Arg] = {}
        self.counts: dict[str, int] = {}
        counts = self.counts
        for node in nodes:
            self._import(node)
            for name in bindings(node):
                counts[name] = counts.get(name, 0) + 1
        self.bound = set(counts)
        self.argv = argv if argv and self._keeps_arguments(nodes) else ()
        for node in nodes:
            if name_of(node) == "Assign" and len(node.targets) == 1 and name_of(node.targets[0]) == "Name":
                name, text = node.targets[0].id, self.text(node.value)
                if counts[name] == 1 and text is not None:
                    self.constants[name] = text
                elif counts[name] == 1 and isinstance(word := self._argument(node.value), Arg):
                    self.choices[name] = word
            elif (
                name_of(node) in ("For", "comprehension")
                and name_of(node.target) == "Name"
                and counts[node.target.id] == 1
                and (found := self._several(node.iter)) is not None
            ):
                self.choices[node.target.id] = found

    def _several(self, node: Any) -> Arg | None:
        """The texts that a loop goes over: literals, or the matches of a glob."""
        while name_of(node) == "Call" and name_of(node.func) == "Name" and len(node.args) == 1:
            name = node.func.id
            if name not in ("sorted", "list", "reversed", "set") or name in self.bound or name in self.imported:
                return None
            node = node.args[0]
        if name_of(node) in ("List", "Tuple"):
            texts = [self.text(item) for item in node.elts]
            known = tuple(text for text in texts if text is not None)
            return Arg("<listed>", known) if known and len(known) == len(texts) else None
        if name_of(node) == "Subscript" and name_of(node.slice) == "Slice" and self.path(node.value) == "sys.argv":
            cut, first = node.slice, node.slice.lower
            start = first.value if name_of(first) == "Constant" and cut.upper is None and cut.step is None else 0
            words = self.argv[start - 1 :] if type(start) is int and start > 0 else ()
            given = tuple(word for word in words if isinstance(word, str))
            return Arg("<arguments>", given) if given and len(given) == len(words) else None
        if name_of(node) == "Call" and self.path(node.func) in ("glob.glob", "glob.iglob"):
            pattern = self.text(node.args[0]) if len(node.args) == 1 and not node.keywords else None
            return Arg(pattern, (pattern,), pattern=True) if pattern and "**" not in pattern else None
        return None

    def word(self, node: Any) -> Word | None:
        """The value of an expression as a word: one text, several, or None if unknown."""
        text = self.text(node)
        other = self.choices.get(node.id) if name_of(node) == "Name" else self._argument(node)
        return text if text is not None else other

    def _keeps_arguments(self, nodes: list[Any]) -> bool:
        """Whether the code only reads single words of `sys.argv`."""
        if not self.bound.isdisjoint(("argv", "sys", "len")) or "len" in self.imported:
            return False
        looked = {id(node.value) for node in nodes if name_of(node) == "Subscript" and name_of(node.ctx) == "Load"} | {
            id(node.args[0]) for node in nodes if name_of(node) == "Call" and _is_length(node)
        }
        return all(
            id(node) in looked
            for node in nodes
            if name_of(node) in ("Attribute", "Name") and self.path(node) == "sys.argv"
        )

    def _argument(self, node: Any) -> Word | None:
        """The word of the command line in `sys.argv[1]`."""
        if name_of(node) != "Subscript" or name_of(node.slice) != "Constant" or self.path(node.value) != "sys.argv":
            return None
        place = node.slice.value
        if type(place) is not int or not 0 < place <= len(self.argv):
            return None
        splits = any(isinstance(word, Arg) and word.splits for word in self.argv[:place])
        return None if splits else self.argv[place - 1]

    def _import(self, node: Any) -> None:
        kind = name_of(node)
        if kind == "Import":
            for alias in node.names:
                top = alias.name.partition(".")[0]
                self._known_as(alias.asname or top, alias.name if alias.asname else top)
                self.modules.append(alias.name)
        elif kind == "ImportFrom":
            self.modules.append("." if node.level or node.names[0].name == "*" else node.module)
            for alias in node.names:
                self._known_as(alias.asname or alias.name, f"{node.module}.{alias.name}")

    def _known_as(self, name: str, path: str) -> None:
        if self.imported.get(name, path) != path or name.startswith("__"):
            self.ambiguous = True
        self.imported[name] = path

    def path(self, node: Any) -> str | None:
        """The dotted path of `module.name`, by the imports."""
        parts: list[str] = []
        while name_of(node) == "Attribute":
            parts.append(node.attr)
            node = node.value
        if name_of(node) != "Name" or node.id not in self.imported:
            return None
        return ".".join([self.imported[node.id], *reversed(parts)])

    def text(self, node: Any, depth: int = 0) -> str | None:
        """The text of an expression, if visible: literals, joins, `expanduser`, `Path`."""
        kind = name_of(node)
        if kind == "Constant":
            return node.value if isinstance(node.value, str) else None
        if depth > _DEPTH:
            return None
        if kind == "Name":
            return self.constants.get(node.id)
        if kind == "BinOp":
            return self._joined(node, depth)
        if kind == "Subscript" and self.argv and isinstance(word := self._argument(node), str):
            return word
        if kind == "Subscript" and self.path(node.value) == "os.environ":
            return self.home if self.text(node.slice, depth + 1) == "HOME" else None
        return self._made(node, depth) if kind == "Call" else None

    def _joined(self, node: Any, depth: int) -> str | None:
        left, right, sign = self.text(node.left, depth + 1), self.text(node.right, depth + 1), name_of(node.op)
        if left is None or right is None:
            return None
        return left + right if sign == "Add" else _under(left, right) if sign == "Div" else None

    def _made(self, call: Any, depth: int) -> str | None:
        path = self.path(call.func)
        if path == "pathlib.Path.home":
            return self.home
        if path not in ("os.path.expanduser", "pathlib.Path", "os.path.join", "os.path.abspath"):
            return None
        known = [text for arg in call.args if (text := self.text(arg, depth + 1)) is not None]
        if len(known) < len(call.args):
            return None
        joined = known[0] if known else "."
        for part in known[1:]:
            joined = _under(joined, part)
        if path != "os.path.expanduser" or not joined.startswith("~"):
            return joined
        return self.home + joined[1:] if joined == "~" or joined.startswith("~/") else None  # of another user


def _is_length(call: Any) -> bool:
    return name_of(call.func) == "Name" and call.func.id == "len" and len(call.args) == 1


def _under(folder: str, name: str) -> str:
    """A name joined to a folder; an absolute name replaces it."""
    return name if name.startswith("/") else f"{folder}/{name}"


def bindings(node: Any) -> list[str]:
    """The names that a node binds, other than by import."""
    kind = name_of(node)
    if kind == "Name":
        return [] if name_of(node.ctx) == "Load" else [node.id]
    name = getattr(node, _BINDING[kind]) if kind in _BINDING else None
    return [name] if name else []


def call_effects(builder: EffectsBuilder, path: str, call: Any, scope: PythonScope) -> bool:
    """Record the effects of a call of a known function. Returns whether it is one."""
    args = call.args
    if path in ("glob.glob", "glob.iglob"):
        pattern = scope.text(args[0]) if args and not call.keywords else None
        builder.path(LIST, Arg(pattern, (pattern,), pattern=True) if pattern else Arg("<computed>"))
    elif path in _FILES:
        named = not args and bool(call.keywords)  # `os.listdir(path=…)`
        for operation in _FILES[path]:
            builder.path(operation, Arg("<named>") if named else _word(scope, args[:1]), recursive=path in _DEEP)
        if path in _SECOND:
            builder.path(WRITE, _word(scope, args[1:2]), recursive=path in _DEEP)
        if path == "shutil.rmtree":
            builder.danger("recursive-delete")
    elif path in _SCRIPTS:
        text = scope.text(args[0]) if args else None
        if text is not None:
            builder.shell(text)
    elif _STARTS.fullmatch(path):
        _started(builder, call, scope)
    elif _FETCHES.fullmatch(path):
        url = scope.text(args[0]) if args else None
        builder.fetch(url if url is not None else Arg(path))
    else:
        return False
    return True


def _word(scope: PythonScope, args: list[Any]) -> Word:
    word = scope.word(args[0]) if args else "."
    return word if word is not None else Arg("<computed>")


def _started(builder: EffectsBuilder, call: Any, scope: PythonScope) -> None:
    if not call.args:
        return
    first = call.args[0]
    if name_of(first) in ("List", "Tuple"):
        items = [scope.text(item) for item in first.elts]
        builder.run([item if item is not None else Arg("<computed>") for item in items])
    elif (text := scope.text(first)) is not None:
        builder.shell(text)


# ---------------------------------------------------------------- sys.path, one list: another name for it can change it

_COPIES = frozenset("print len list tuple sorted set repr str enumerate".split())


def reads_only(nodes: list[Any], node: Any, scope: PythonScope) -> bool:
    """Whether the list at a node is only printed, copied, looped over or indexed."""
    return any(_reads(holder, node, scope) for holder in nodes)


def _reads(holder: Any, node: Any, scope: PythonScope) -> bool:
    match name_of(holder):
        case "Call":
            return any(arg is node for arg in holder.args) and _copies(holder.func, scope)
        case "For" | "comprehension":
            return holder.iter is node
        case "Subscript":
            return holder.value is node and name_of(holder.ctx) == "Load"
        case "Compare":
            return any(other is node for other in holder.comparators)
        case kind:
            return kind == "FormattedValue" and holder.value is node


def _copies(func: Any, scope: PythonScope) -> bool:
    if name_of(func) == "Name":
        return func.id in _COPIES and func.id not in scope.bound and func.id not in scope.imported
    return name_of(func) == "Attribute" and func.attr == "join" and name_of(func.value) == "Constant"


# ---------------------------------------------------------------- path objects

_TOUCHES = frozenset(METHODS) | frozenset(
    """glob rglob walk rename replace chmod lchmod symlink_to hardlink_to link_to open copy copy_into move move_into
    lstat samefile readlink owner group resolve expanduser home cwd""".split()
)
_OF_TEXTS = frozenset(
    """read readline read_text read_bytes strip lstrip rstrip join lower upper title decode encode format removeprefix
    removesuffix zfill ljust rjust""".split()
)  # no path has them, or what they return is a text
_TEXTS = frozenset({"re.sub", "json.dumps", "textwrap.dedent", "textwrap.indent", "html.escape", "html.unescape"})


class Paths:
    __slots__ = ("_assigned", "_own", "scope")

    def __init__(self, nodes: list[Any], scope: PythonScope) -> None:
        self.scope = scope
        self._assigned: dict[str, list[Any]] = {}
        # Whether the code defines attributes: then a method's name does not tell what it returns.
        self._own = "collections" in scope.modules
        for node in nodes:
            kind = name_of(node)
            if kind == "ClassDef" or (kind == "Attribute" and name_of(node.ctx) != "Load"):
                self._own = True
            elif kind == "Assign" and len(node.targets) == 1 and name_of(node.targets[0]) == "Name":
                self._assigned.setdefault(node.targets[0].id, []).append(node.value)

    def harmless(self, node: Any, call: Any | None) -> bool:
        """Whether an attribute of a value does nothing to a file, or only what is recorded."""
        return (
            node.attr not in _TOUCHES
            or (node.attr in ("replace", "copy", "group") and self.is_text(node.value))
            or (node.attr in METHODS and call is not None and self.scope.text(node.value) is not None)
        )

    def is_text(self, node: Any, assumed: frozenset[str] = frozenset()) -> bool:
        """Whether an expression is a text or bytes for any values in it."""
        kind = name_of(node)
        if kind in ("Constant", "JoinedStr"):
            return kind == "JoinedStr" or isinstance(node.value, (str, bytes))
        if kind == "BinOp" and name_of(node.op) in ("Add", "Mod"):
            return not self._own and self.is_text(node.left, assumed)
        if kind == "Subscript":
            return name_of(node.slice) == "Slice" and self.is_text(node.value, assumed)
        if kind == "Name":
            return node.id in assumed or self._is_text_name(node.id, assumed | {node.id})
        if kind != "Call" or len(assumed) > 50:
            return False
        if name_of(node.func) == "Name":
            return node.func.id == "str" and "str" not in self.scope.bound and "str" not in self.scope.imported
        path = self.scope.path(node.func)
        if name_of(node.func) != "Attribute" or path is not None or self._own:
            return path in _TEXTS and name_of(node.func) == "Attribute"
        return node.func.attr in _OF_TEXTS or (node.func.attr == "replace" and self.is_text(node.func.value, assumed))

    def _is_text_name(self, name: str, assumed: frozenset[str]) -> bool:
        bound = self._assigned.get(name, [])
        known = bound and name not in self.scope.imported and len(bound) == self.scope.counts.get(name)
        return bool(known) and all(self.is_text(value, assumed) for value in bound)
