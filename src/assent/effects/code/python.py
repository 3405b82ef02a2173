"""The reader for Python: its command line, and the code in it, which is parsed and never run.

Code is harmless only if every name and attribute in it is known to be; all else is EXECUTE, with the visible files,
commands and hosts. Imports search the current folder first, where a file may shadow any module: only modules that are
loaded before any code runs cannot be shadowed. Code that imports more, or opens files, is an EXECUTE on the folder's
modules, for facts to settle. So is code that only computes, under another name: Python also loads modules by itself
(for an encoding, a date, a traceback)."""

from __future__ import annotations

from typing import Any

from assent.contract import Pattern
from assent.effects.code.inline import PYTHON_EVALS, runs_foreign, scan
from assent.effects.code.python_calls import METHODS, Paths, PythonScope, bindings, call_effects, name_of, reads_only
from assent.effects.code.python_parse import parsed
from assent.effects.shell.command import Arg
from assent.effects.shell.commands.command_effects import DELETE, READ, WRITE, EffectsBuilder, Word, shown, values
from assent.effects.shell.commands.line import CommandLine
from assent.effects.shell.commands.options import parse
from assent.effects.shell.commands.readers.wrappers import PLAIN
from assent.programs.option import options_of

_OPTIONS = options_of(
    """-b -B -d -E -i!acts -I -O -OO -P -q -s -S -u -v -x!acts -V!prints -VV!prints -h!prints -?!prints
    --help-all!prints --help-env!prints --help-xoptions!prints -W=TEXT -X=TEXT -c=TEXT -m=TEXT
    --check-hash-based-pycs=TEXT!acts"""
)
_CODE = Pattern(r"-[bBdEiIOPqsSuvx]*[cm]")
_VALUED = Pattern(r"-[bBdEiIOPqsSuvx]*[WX]")
_SETTING = Pattern(r"[a-z]+|utf8=[01]|dev|faulthandler|importtime")


def python(line: CommandLine) -> None:
    builder = line.builder
    parsed = line.apply_parsed(parse(_until_code(line.words), _OPTIONS, style="posix"))
    settings = parsed.values("-W") + parsed.values("-X")
    if parsed.doubts or not all(isinstance(word, str) and _SETTING.fullmatch(word) for word in settings):
        builder.execute()
    builder.argv = tuple(line.words[len(_until_code(line.words)) :])
    if code := parsed.values("-c"):
        python_code(builder, code[0], isolated=parsed.has("-I", "-P"))
    elif module := parsed.values("-m"):
        from assent.effects.code.python_mains import library_main  # few calls run a module

        if not library_main(builder, module[0], builder.argv):
            builder.execute()
    elif parsed.operands and shown(parsed.operands[0]) != "-":
        builder.script_file(parsed.operands[0])
    elif parsed.operands or not (parsed.helps or any(given.option.prints for given in parsed.given)):
        builder.execute()


def _until_code(words: list[Word]) -> list[Word]:
    """The words up to the value of the first `-c` or `-m`: what follows belongs to the code."""
    index = 0
    while index < len(words):
        text = words[index]
        if not isinstance(text, str) or not text.startswith("-") or text == "-":
            return words
        match = _CODE.match(text)
        if match:
            return words[: index + (1 if len(text) > match.end() else 2)]
        index += 2 if _VALUED.fullmatch(text) or text == "--check-hash-based-pycs" else 1
    return words


def python_code(builder: EffectsBuilder, word: Word, *, isolated: bool = False) -> None:
    for text in values(word):
        if text is None:
            builder.execute()
        else:
            judge(builder, text, isolated=isolated)


# ---------------------------------------------------------------- code

# The modelled kinds of nodes: code with any other is not proved.
_KINDS = frozenset(
    """Module Expr Assign AugAssign AnnAssign For While If With withitem Try ExceptHandler Raise Assert Import
    ImportFrom alias Global Nonlocal Pass Break Continue Return Delete FunctionDef ClassDef arguments arg keyword
    Lambda BoolOp NamedExpr BinOp UnaryOp IfExp Dict Set ListComp SetComp DictComp GeneratorExp comprehension
    Yield YieldFrom Compare Call FormattedValue JoinedStr Constant Attribute Subscript Starred Name List Tuple
    Slice Load Store Del And Or Add Sub Mult MatMult Div Mod Pow LShift RShift BitOr BitXor BitAnd FloorDiv
    Invert Not UAdd USub Eq NotEq Lt LtE Gt GtE Is IsNot In NotIn Match match_case MatchValue MatchSingleton
    MatchSequence MatchMapping MatchStar MatchAs MatchOr MatchClass""".split()
)
# Names with underscores that a class may define. Others change how Python looks things up (`__match_args__`).
_METHODS = frozenset(
    """__init__ __str__ __repr__ __len__ __iter__ __next__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __hash__ __bool__
    __enter__ __exit__ __call__ __getitem__ __setitem__ __delitem__ __contains__ __add__ __radd__ __iadd__ __sub__
    __mul__ __rmul__ __truediv__ __floordiv__ __mod__ __neg__ __int__ __float__ __abs__ __missing__ __reversed__
    __post_init__""".split()
)
_IMPORTS = frozenset({"Import", "ImportFrom"})
_PLAIN_CLASSES = frozenset("str int float bool list dict tuple set frozenset bytes bytearray".split())
_MOST_NODES = 20_000  # of code that may be proved
_LOADED = frozenset({"sys", "time", "itertools", "errno"})
_CLOCKS = frozenset({"clock_settime", "clock_settime_ns"})
_BUILTINS = frozenset(
    """abs all any ascii bin bool bytearray bytes callable chr complex dict divmod enumerate filter float format
    frozenset hash hex id input int isinstance issubclass iter len list map max min next object oct ord pow print range
    repr reversed round set slice sorted str sum super tuple zip staticmethod classmethod property exit quit True
    False None Exception ValueError KeyError IndexError TypeError AttributeError StopIteration RuntimeError
    ZeroDivisionError AssertionError NotImplementedError OSError FileNotFoundError KeyboardInterrupt SystemExit
    UnicodeDecodeError UnicodeEncodeError UnicodeError ArithmeticError OverflowError LookupError NotImplemented Ellipsis
    __name__ memoryview BaseException""".split()
)
_NEVER = frozenset(
    """eval exec compile open getattr setattr delattr globals locals vars dir breakpoint help license credits
    copyright execfile file reload apply""".split()
)
_SYS = frozenset(
    """argv byteorder executable exit float_info flags getdefaultencoding getrecursionlimit getsizeof hash_info
    hexversion implementation int_info maxsize maxunicode path platform prefix base_prefix stderr stdin stdout
    version version_info""".split()
)
# Attributes that lead from a value to interpreter internals.
_INSIDE = Pattern(r"_.*|(?:gi|f|cr|ag|tb|co|func|im)_\w+|mro|modules|format_map|obj")
_FORMATS = Pattern(r"__|\{[^{}]*\.(?:gi|f|cr|ag|tb|co)_|environ")
_MODE = Pattern(r"[rwaxbtU+]*")
_OPENING = frozenset({"mode", "encoding", "errors", "newline", "buffering"})
_COOKIE = Pattern(r"(?:[^\n]*\n)?[^\n]*#[^\n]*coding[:=]")


def judge(builder: EffectsBuilder, text: str, *, isolated: bool = False) -> None:
    """Code as a text: from `-c`, standard input, or a script (`builder.script_folder`). `isolated`: Python does not
    search the folder for modules."""
    tree = parsed(text)
    if not tree:
        scan(builder, text if tree is None else Arg("<code>"))
        if tree is False:
            builder.gap("limit", "the code is too long or too deep to be read: split it")
        return
    nodes = _walk(tree)
    mark = builder.mark()
    code = _PythonCode(builder, nodes) if len(nodes) <= _MOST_NODES else None
    if code is not None:
        code.read()
    if code is None or not code.harmless or _COOKIE.match(text) or _never_ends(tree, nodes):
        builder.back(mark)
        builder.execute()
        _unproved(builder, tree, text)
    elif code.loads:
        builder.modules(isolated=isolated)
    elif not isolated:
        builder.modules(computes=True)


def _never_ends(tree: Any, nodes: list[Any]) -> bool:
    """Whether a loop of otherwise harmless code fills memory or a disk."""
    if not any(name_of(node) == "While" for node in nodes):
        return False
    from assent.effects.code.dataflow.endless_loops import python_marks

    return bool(python_marks(tree))


def _unproved(builder: EffectsBuilder, tree: Any, text: str) -> None:
    from assent.effects.code.dataflow.python_effects import python_effects  # not loaded for proved code

    if not builder.script_folder:
        runs_foreign(builder, text, PYTHON_EVALS)
    try:
        python_effects(builder, tree)
    except RecursionError:
        builder.gap("limit", "the code is nested too deep to be read: split it")


class _PythonCode:
    __slots__ = ("calls", "formats", "harmless", "inner", "loads", "nodes", "paths", "scope", "builder")

    def __init__(self, builder: EffectsBuilder, nodes: list[Any]) -> None:
        self.builder = builder
        self.nodes = nodes
        self.scope = PythonScope(self.nodes, builder.home, builder.argv)
        self.loads = any(module not in _LOADED for module in self.scope.modules)
        self.formats = any(name_of(node) == "Attribute" and node.attr == "format" for node in self.nodes)
        self.harmless = not (self.formats and any(map(self._formats_unknown, self.nodes)))
        self.paths = Paths(self.nodes, self.scope) if "pathlib" in self.scope.modules else None
        self.inner = {id(node.value) for node in self.nodes if name_of(node) == "Attribute"}
        self.calls = {id(node.func): node for node in self.nodes if name_of(node) == "Call"}

    def read(self) -> None:
        unknown = any(module not in _LOADED and module not in MODULES for module in self.scope.modules)
        if unknown or self.scope.ambiguous or not self.scope.bound.isdisjoint(self.scope.imported):
            self.doubt()  # an unknown module, or a name with several meanings
        for node in self.nodes:
            kind = name_of(node)
            if kind not in _KINDS:
                self.doubt()
            elif kind == "Constant":
                if self.formats and isinstance(node.value, str) and _FORMATS.search(node.value):
                    self.doubt()
            elif kind == "Name":
                self.name(node)
            elif kind == "Attribute":
                self.attribute(node)
            elif kind == "Call":
                self.method(node)
            elif kind == "MatchClass":
                self.pattern(node)
            elif kind == "FunctionDef":
                if node.name.startswith("__") and node.name not in _METHODS:
                    self.doubt()
            elif any(name.startswith("__") for name in bindings(node)) or (kind == "ClassDef" and node.keywords):
                self.doubt()  # the keywords of a class choose its metaclass
            elif kind == "ClassDef" and any(name_of(inner) in _IMPORTS for inner in _walk(node)):
                self.doubt()  # a module becomes an attribute of the class

    def _formats_unknown(self, node: Any) -> bool:
        """Whether a computed text is used as a format: it could name internals of any value."""
        if name_of(node) != "Attribute" or node.attr != "format":
            return False
        text = self.scope.text(node.value)
        return text is None or _FORMATS.search(text) is not None

    def doubt(self) -> None:
        self.harmless = False

    def name(self, node: Any) -> None:
        """A name on its own: not the module before a dot."""
        if id(node) in self.inner:
            return
        name, call = node.id, self.calls.get(id(node))
        path = self.scope.imported.get(name)
        if path is not None:
            if (
                name in self.scope.bound
                or "." not in path
                or not self.known(path, call)
                or (path == "sys.path" and not reads_only(self.nodes, node, self.scope))
            ):
                self.doubt()
        elif name == "open" and call is not None:
            self.opened(call)
        elif name == "input" and "3" not in self.builder.program:
            self.doubt()  # Python 2's `input` evaluates the line
        elif name == "type":
            if self.scope.imported or self.opens() or call is None or len(call.args) != 1 or call.keywords:
                self.doubt()  # the class of an open stream opens files, and a class can be made of a dictionary
        elif name not in _BUILTINS and (
            name in _NEVER or name.startswith("__") or name not in self.scope.bound
        ):  # a name that is bound somewhere may still be the builtin here
            self.doubt()

    def pattern(self, node: Any) -> None:
        """`case Class(x)`: a class chooses by name the attributes that its patterns read."""
        known = name_of(node.cls) == "Name" and node.cls.id in _PLAIN_CLASSES and node.cls.id not in self.scope.bound
        if not known or node.cls.id in self.scope.imported or any(map(_INSIDE.fullmatch, node.kwd_attrs)):
            self.doubt()

    def attribute(self, node: Any) -> None:
        if _INSIDE.fullmatch(node.attr):
            self.doubt()
        path, call, last = self.scope.path(node), self.calls.get(id(node)), id(node) not in self.inner
        if path is None:
            if self.paths is not None and not self.paths.harmless(node, call):
                self.doubt()
            return
        if path in ("os.environ", "os.environb", "os.getenv"):
            self.environment(node)
        if (
            (last and not self.known(path, call))
            or name_of(node.ctx) != "Load"  # another function under a known name
            or path.startswith("sys.path.")
            or (last and path == "sys.path" and not reads_only(self.nodes, node, self.scope))
            or path.partition(".")[0] in self.scope.bound
        ):
            self.doubt()

    def known(self, path: str, call: Any | None) -> bool:
        """Whether an attribute of a module does no more than is recorded here."""
        if call is not None and call_effects(self.builder, path, call, self.scope):
            return path in LOOKS and not any(name_of(arg) == "Starred" for arg in call.args)
        if is_harmless(path):
            return True
        if path == "pathlib.Path":
            return call is not None and self.scope.text(call) is not None
        module, _, name = path.partition(".")
        if module == "sys":
            return name.partition(".")[0] in _SYS
        known = module in ("time", "itertools", "errno") and name not in _CLOCKS
        return known and "." not in name and not name.startswith(("_", "*"))

    def environment(self, node: Any) -> None:
        """`os.environ["HOME"]` is plain; other names, and the whole, may be secrets."""
        names = [self.scope.text(other.slice) for other in self.nodes if getattr(other, "value", None) is node and
                 name_of(other) == "Subscript"]  # fmt: skip
        names += [self.scope.text(call.args[0]) for call in self.calls.values() if call.args and
                  (call.func is node or getattr(call.func, "value", None) is node)]  # fmt: skip
        if not names or any(name is None or not PLAIN.fullmatch(name) for name in names):
            self.builder.danger("prints-secret")

    def opens(self) -> bool:
        return any(name_of(call.func) == "Name" and call.func.id == "open" for call in self.calls.values())

    def opened(self, call: Any) -> None:
        self.loads = True
        named = {keyword.arg: keyword.value for keyword in call.keywords}
        modes = call.args[1:2] or [named[name] for name in ("mode",) if name in named]
        mode = self.scope.text(modes[0]) if modes else "r"
        first = call.args[0] if call.args else None
        stream = first is not None and name_of(first) == "Constant" and first.value in (0, 1, 2)
        word = self.scope.word(first) if first is not None else None
        plain = "open" not in self.scope.bound and not any(name_of(arg) == "Starred" for arg in call.args)
        if mode is None or not _MODE.fullmatch(mode) or not plain or len(call.args) > 3 or not named.keys() <= _OPENING:
            self.doubt()
        words = [] if stream else [word if word is not None else Arg("open()")]
        self.builder.paths(READ, words if mode is None or "r" in mode or "+" in mode else [])
        self.builder.paths(WRITE, words if mode is None or set(mode) & set("wax+") else [])

    def method(self, call: Any) -> None:
        """`Path("x").write_text(…)` and similar, if the path is known."""
        method = call.func.attr if name_of(call.func) == "Attribute" and self.scope.path(call.func) is None else ""
        text = self.scope.text(call.func.value) if method in METHODS else None
        if text is not None:
            self.builder.path(METHODS[method], text, recursive=METHODS[method] is DELETE)


def _walk(tree: Any) -> list[Any]:
    """All nodes from one down, without recursion."""
    found: list[Any] = []
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        found.append(node)
        for field in node._fields:
            value = getattr(node, field, None)
            if isinstance(value, list):
                waiting.extend(item for item in reversed(value) if hasattr(item, "_fields"))
            elif hasattr(value, "_fields"):
                waiting.append(value)
    return found


# ---------------------------------------------------------------- the standard library
#
# A name is listed if neither it nor any public attribute of its result runs a program, loads code,
# reaches the network or opens a file by itself. It counts only if no file shadows the module.

_NAMES = {
    "ast": "parse literal_eval dump walk unparse iter_child_nodes iter_fields get_docstring",
    "base64": "b64encode b64decode urlsafe_b64encode urlsafe_b64decode standard_b64decode b32encode "
    "b32decode b16encode b16decode",
    "binascii": "hexlify unhexlify crc32 Error",
    "bisect": "bisect bisect_left bisect_right insort",
    "collections": "Counter defaultdict OrderedDict deque namedtuple ChainMap",
    "csv": "reader writer DictReader DictWriter QUOTE_ALL QUOTE_MINIMAL QUOTE_NONE QUOTE_NONNUMERIC Error "
    "excel excel_tab",
    "datetime": "datetime date time timedelta timezone UTC MINYEAR MAXYEAR",
    "decimal": "Decimal ROUND_HALF_UP ROUND_HALF_EVEN ROUND_DOWN ROUND_UP",
    "difflib": "unified_diff ndiff context_diff SequenceMatcher get_close_matches",
    "fnmatch": "fnmatch fnmatchcase filter",
    "fractions": "Fraction",
    "functools": "reduce partial lru_cache cache cmp_to_key",
    "hashlib": "md5 sha1 sha224 sha256 sha384 sha512 blake2b blake2s sha3_256 sha3_512",
    "heapq": "heappush heappop heapify nlargest nsmallest merge",
    "html": "escape unescape",
    "io": "StringIO BytesIO",
    "json": "load loads dump dumps JSONDecodeError",
    "math": "*",
    "operator": "itemgetter add sub mul truediv floordiv mod neg",
    "os": "sep linesep getcwd",
    "os.path": "basename dirname join split splitext normpath relpath commonprefix commonpath isabs sep",
    "pprint": "pprint pformat pp",
    "random": "random randint randrange choice choices shuffle sample uniform gauss seed",
    "re": "compile match search sub subn split findall finditer fullmatch escape error I IGNORECASE M "
    "MULTILINE S DOTALL X VERBOSE A ASCII U UNICODE",
    "statistics": "mean fmean median median_low median_high mode multimode stdev pstdev variance pvariance quantiles",
    "string": "ascii_letters ascii_lowercase ascii_uppercase digits hexdigits octdigits punctuation "
    "printable whitespace capwords",
    "struct": "pack unpack calcsize unpack_from iter_unpack error",
    "textwrap": "dedent indent fill wrap shorten",
    "tomllib": "load loads TOMLDecodeError",
    "unicodedata": "name category normalize lookup bidirectional combining decimal digit numeric east_asian_width",
    "urllib.parse": "quote unquote quote_plus unquote_plus urlencode urlparse urlsplit parse_qs parse_qsl "
    "urljoin urlunparse urlunsplit",
    "uuid": "uuid4 uuid5 UUID NAMESPACE_DNS NAMESPACE_URL",
    "zlib": "crc32 adler32 compress decompress",
}
_HARMLESS = frozenset(f"{module}.{name}" for module, names in _NAMES.items() for name in names.split())
# Calls of these are read, and the files they open or list recorded.
_RECORDED = frozenset({"glob", "os", "os.path", "pathlib"})
MODULES = frozenset(_NAMES) | _RECORDED
LOOKS = frozenset(
    """os.listdir os.scandir os.walk os.stat os.path.exists os.path.isfile os.path.isdir os.path.islink
    os.path.lexists os.path.getsize os.path.getmtime glob.glob glob.iglob""".split()
)


def is_harmless(path: str) -> bool:
    """Whether a dotted path is such a name, or a public attribute of one."""
    module, _, rest = path.partition(".")
    if f"{module}.*" in _HARMLESS:
        return "." not in rest
    while path:
        if path in _HARMLESS:
            return True
        path = path.rpartition(".")[0]
    return False
