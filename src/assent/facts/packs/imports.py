"""Which files of the project a program loads: the local modules that Python, JavaScript, TypeScript and Go code names.

Within bounds. Code that loads or starts something by a computed name is `open`: not all that it runs is known."""

from __future__ import annotations

import os
import posixpath
import sys
from collections.abc import Iterable, Iterator

from assent.contract import Pattern
from assent.facts.links import Links
from assent.state.files import read

DEEPEST = 6  # files that load each other
LONGEST = 512 * 1024  # bytes of all files
MOST = 60  # files
MOST_NAMES = 2000  # in a folder
PYTHON_ENDINGS = (".py", ".pyc", ".pyw", ".so", ".pyd")
NODE_ENDINGS = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".json", ".node")
GO_ENDINGS = (".go", ".c", ".cc", ".cpp", ".cxx", ".m", ".h", ".hh", ".hpp", ".s", ".S", ".syso", ".f", ".swig")
# Modules of Python's library that load or start code by other means than an import.
_PYTHON_LOADERS = frozenset(
    """importlib runpy imp pkgutil zipimport subprocess multiprocessing pty code codeop ctypes pickle shelve marshal
    doctest unittest timeit trace pdb bdb profile asyncio concurrent webbrowser site builtins venv ensurepip distutils
    idlelib lib2to3 turtledemo antigravity this cgi wsgiref xmlrpc socketserver test modulefinder compileall py_compile
    posix nt _posixsubprocess copyreg logging.config""".split()
)
_IMPORTLIB = ("importlib.resources", "importlib.metadata")  # load no code, but for `entry_points`
# Installed packages that load no modules of the project by name.
_PYTHON_PACKAGES = frozenset(
    """annotated_types anyio attr attrs babel boto3 botocore bs4 cachetools certifi chardet charset_normalizer click
    colorama cryptography dateutil dotenv duckdb faker filelock google h11 httpcore httpx humanize idna iniconfig
    jsonschema loguru lxml markdown markdown_it markupsafe more_itertools msgpack networkx numpy openpyxl orjson
    packaging pandas pathspec pendulum PIL platformdirs polars psycopg psycopg2 pyarrow pydantic pydantic_core
    pydantic_settings pygments pymysql pytz redis regex requests rich ruamel scipy semver six sniffio sortedcontainers
    sqlglot sqlparse structlog tabulate tenacity termcolor toml tomli tomli_w tomlkit tqdm typer
    typing_extensions tzdata ujson urllib3 wcwidth xmltodict yaml yarl zstandard""".split()
)
_PYTHON_CALLS = frozenset("exec eval compile __import__ execfile".split())
_PYTHON_STARTS = frozenset(
    """system popen fork forkpty startfile import_module reload spec_from_file_location module_from_spec exec_module
    entry_points read_pickle unsafe_load full_load load_module find_spec find_module source_from_cache run_path
    run_module posix_spawn posix_spawnp addsitedir execl execle execlp execlpe execv execve execvp execvpe spawnl
    spawnle spawnlp spawnlpe spawnv spawnve spawnvp spawnvpe create_subprocess_exec create_subprocess_shell
    __loader__ __spec__ meta_path path_hooks""".split()
)
_SEARCHED = ("sys.path", "__path__")  # if changed, modules are searched elsewhere
_IMPORT = Pattern(
    r"(?:\bfrom|\bimport)\s*(?P<q>['\"])(?P<a>[^'\"\n]*)(?P=q)"
    r"|\b(?:require|import)\s*\(\s*(?P<r>['\"])(?P<b>[^'\"\n]*)(?P=r)\s*\)"
)
_LOOSE_NODE = Pattern(
    r"\b(?:from|import|require)\s*\(?\s*/[*/]|\brequire\b(?!\s*\(\s*['\"][^'\"\n]*['\"]\s*\))"
    r"|\bimport\s*\((?!\s*['\"][^'\"\n]*['\"]\s*\))"
    r"|\b(?:eval|Function|Worker|dlopen|createRequire|_load|register|child_process|vm|worker_threads|cluster|inspector"
    r"|template|repl|wasi|execa|zx|shelljs|fork|spawn|spawnSync|exec|execSync|execFile|execFileSync|Deno|Bun|process\.binding)\b"
)
# Installed packages that load no modules of the project by name.
_NODE_PACKAGES = frozenset(
    """ajv axios boxen chalk cli-table3 colorette commander csv-parse csv-stringify date-fns dayjs debug deepmerge
    dotenv fast-glob fast-xml-parser form-data fs-extra glob globby got ini ioredis js-yaml jsonc-parser
    kleur lodash lodash-es luxon marked mime-types minimatch minimist moment ms mustache nanoid node-fetch ora p-limit
    p-map papaparse pg picocolors picomatch pino prompts qs ramda redis rxjs semver strip-ansi string-width
    table tinyglobby undici uuid ws yaml yargs zod""".split()
)
_NODE_LIBRARY = frozenset(
    """assert async_hooks buffer console constants crypto dgram diagnostics_channel dns events fs http http2 https net
    os path perf_hooks process punycode querystring readline stream string_decoder timers tls tty url util v8
    zlib test""".split()
)
_GO_COMMENT = Pattern(r"(?s)//[^\n]*|/\*.*?\*/")
_GO_BODY = Pattern(r"(?m)^(?:func|type|var|const)\b")  # imports come before
_GO_NAME = Pattern(r"[\"`]([^\"`\n]+)[\"`]")
_GO_MODULE = Pattern(r"(?m)^module[ \t]+\"?([^\s\"]+)\"?")
_GO_REPLACE = Pattern(r"=>\s*\"?[./]")
_GO_LOOSE = frozenset({"os/exec", "plugin", "syscall", "unsafe", "C", "net/rpc"})


class Loaded:
    """What a program loads, found so far. `open`: why it may load or start other files (`""`: it does not)."""

    def __init__(self, links: Links, roots: tuple[str, ...]) -> None:
        self.files: dict[str, None] = {}
        self.folders: dict[str, None] = {}  # folders searched for modules
        self.installed: dict[str, None] = {}  # folders of installed packages that it loads
        self.absent: dict[str, None] = {}  # absent files that would change what is loaded
        self.first: dict[str, None] = {}  # folders also searched for library modules
        self.searched: list[str] = []  # folders for modules from a variable of the command
        self.configured = False  # whether files like `tsconfig.json`, which include each other, locate modules
        self.open = ""
        self._links = links
        self._roots = roots
        self._left = LONGEST

    def text(self, path: str) -> str:
        """The text of a loaded file; notes one that cannot be read or is too large."""
        self.files[path] = None
        if len(self.files) > MOST:
            self.open = "it loads too many files"
            return ""
        try:
            raw = read(path, self._left)[0]
            self._left -= len(raw)
            return raw.decode("utf-8")
        except (OSError, ValueError):
            self.open = f"`{path}` cannot be read"
            return ""

    def within(self, path: str) -> bool:
        return any(path.startswith(root.rstrip("/") + "/") for root in self._roots)

    # -------------------------------------------------------- python

    def python(self, starts: Iterable[str], folders: Iterable[str]) -> None:
        """What files load, with modules searched in some folders."""
        places = list(dict.fromkeys(folders))
        self.folders.update(dict.fromkeys(places))
        waiting = [(path, 0) for path in starts]
        while waiting and not self.open:
            path, depth = waiting.pop()
            if path in self.files:
                continue
            if depth > DEEPEST:
                self.open = "it loads files that load others, too deep"
                return
            if not path.endswith(".py"):
                self.files[path] = None  # compiled, but still compared
                continue
            text = self.text(path)
            waiting += [
                (each, depth + 1) for name in self._python_names(text, path) for each in self._module(name, places)
            ]

    def _python_names(self, text: str, path: str) -> list[str]:
        """The modules that a file names; `/folder/x` for one by its path."""
        import ast

        if self.open:
            return []
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self.open = f"`{path}` is not understood"
            return []
        found: list[str] = []
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                found += [each.name for each in node.names]
            elif isinstance(node, ast.ImportFrom):
                base = self._base(path, node.level, node.module or "")
                join = "/" if node.level else "."
                found += [f"{base}{join}{each.name}" for each in node.names if each.name != "*"] or [base]
            elif (isinstance(node, ast.Name) and node.id in _PYTHON_CALLS | _PYTHON_STARTS) or (
                isinstance(node, ast.Attribute) and (node.attr in _PYTHON_STARTS or _is_search_path(node))
            ):
                self.open = f"`{path}` may run what it does not name"
            elif isinstance(node, ast.keyword) and node.arg == "allow_pickle":
                self.open = f"`{path}` may load code as data"
        if "yaml" in text and "load" in text and not ("safe_load" in text or "SafeLoader" in text):
            self.open = f"`{path}` may load code as data"
        return found

    @staticmethod
    def _base(path: str, level: int, module: str) -> str:
        if not level:
            return module
        folder = path
        for _ in range(level):
            folder = posixpath.dirname(folder)
        return posixpath.join(folder, module.replace(".", "/")).rstrip("/")

    def _module(self, name: str, places: list[str]) -> Iterator[str]:
        """The files of a module and of its packages, in all folders that have one."""
        if name.startswith("/"):
            yield from self._files_of(posixpath.dirname(name))
            yield from self._files_of(name)
            return
        parts = name.split(".")
        found = [
            file
            for place in places
            for end in range(1, len(parts) + 1)
            for file in self._files_of(posixpath.join(place, *parts[:end]))
        ]
        yield from found
        local = found or any(os.path.isdir(posixpath.join(place, parts[0])) for place in places)
        if not local and not _loads_nothing(name):
            self.open = f"it uses `{name}`, which may load other files"

    def _files_of(self, stem: str) -> Iterator[str]:
        folder, name = posixpath.split(stem)
        for each in self._names(folder):
            if each.partition(".")[0] == name and each.endswith(PYTHON_ENDINGS):
                yield posixpath.join(folder, each)
        for each in self._names(stem):
            if each.partition(".")[0] == "__init__" and each.endswith(PYTHON_ENDINGS):
                yield posixpath.join(stem, each)

    def _names(self, folder: str) -> list[str]:
        try:
            found = os.listdir(folder)
        except OSError:
            return []
        if len(found) > MOST_NAMES:
            self.open = f"`{folder}` has too many files"
            return []
        return found

    # -------------------------------------------------------- javascript and typescript

    def node(self, start: str) -> None:
        waiting = [(start, 0)]
        while waiting and not self.open:
            path, depth = waiting.pop()
            if path in self.files:
                continue
            if depth > DEEPEST:
                self.open = "it loads files that load others, too deep"
                return
            text = self.text(path)
            if path.endswith((".json", ".node")) or self.open:
                continue
            if ("`" in text and "import(" in text) or "\\u" in text or _LOOSE_NODE.search(text):
                self.open = f"`{path}` may load or start what it does not name"
                return
            for found in _IMPORT.finditer(text):
                waiting += [(each, depth + 1) for each in self._required(found["a"] or found["b"] or "", path)]

    def _required(self, name: str, path: str) -> list[str]:
        """The files of the project that a name may mean; none for the library and installed packages."""
        if "\\" in name:
            self.open = f"which file `{name}` is in `{path}` is not known"
            return []
        if name.startswith("node:") or name.partition("/")[0] in _NODE_LIBRARY:
            return []
        if not name.startswith(("./", "../", ".", "/")):
            if not self._is_installed(name, path):
                self.open = f"`{name}` is no installed package"
            return []
        stem = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
        plain, ending = posixpath.splitext(stem)
        candidates = [stem, *(stem + each for each in NODE_ENDINGS), *(f"{stem}/index{each}" for each in NODE_ENDINGS)]
        if ending in (".js", ".mjs", ".cjs", ".jsx"):
            candidates += [plain + each for each in (".ts", ".tsx", ".mts", ".cts")]
        found = [each for each in candidates if os.path.isfile(each)]
        if os.path.lexists(posixpath.join(stem, "package.json")) or not found:
            self.open = f"which file `{name}` is in `{path}` is not known"
        return found

    def _is_installed(self, name: str, path: str) -> bool:
        """Whether a name is a known package in `node_modules`, not a link to a package of the project."""
        parts = name.split("/")
        package = "/".join(parts[: 2 if name.startswith("@") else 1])
        if not package or package.startswith("#"):
            return False
        folder = posixpath.dirname(path)
        while self.within(folder + "/"):
            modules = posixpath.join(folder, "node_modules")
            place = posixpath.join(modules, package)
            if os.path.isdir(place):
                real = self._links.canonical(place)
                self.installed[modules] = None
                return package in _NODE_PACKAGES and "/node_modules/" in real
            folder = posixpath.dirname(folder)
        return False

    # -------------------------------------------------------- go

    def go(self, folder: str, names: Iterable[str] = ()) -> None:
        """The packages of a module that a folder's package loads; `names` are the files, if given."""
        top = folder
        while not os.path.isfile(posixpath.join(top, "go.mod")):
            if not self.within(top + "/") or posixpath.dirname(top) == top:
                self.open = "it is in no module"
                return
            top = posixpath.dirname(top)
        around = folder
        while self.within(around + "/"):
            for name in ("go.work", "go.work.sum", "go.mod", "go.sum"):
                self._if_there(posixpath.join(around, name))
            around = posixpath.dirname(around)
        text = self.text(posixpath.join(top, "go.mod"))
        module = _GO_MODULE.search(text)
        if module is None or _GO_REPLACE.search(text):
            self.open = self.open or "the module has parts in other folders"
            return
        if os.path.isdir(posixpath.join(top, "vendor")):
            self.installed[posixpath.join(top, "vendor")] = None
        waiting, seen = [(folder, 0)], set()
        while waiting and not self.open:
            place, depth = waiting.pop()
            if place in seen:
                continue
            seen.add(place)
            if depth > DEEPEST:
                self.open = "it loads packages that load others, too deep"
                return
            waiting += [(each, depth + 1) for each in self._go_package(place, top, module[1])]

    def _go_package(self, folder: str, top: str, module: str) -> list[str]:
        found: list[str] = []
        self.folders[folder] = None
        for name in self._names(folder):
            if not name.endswith(GO_ENDINGS) or name.endswith("_test.go"):
                continue
            text = self.text(posixpath.join(folder, name))
            for each in _go_imports(text) if name.endswith(".go") else ():
                if each in _GO_LOOSE:
                    self.open = f"`{name}` uses `{each}`"
                elif each == module or each.startswith(module + "/"):
                    found.append(posixpath.join(top, each[len(module) + 1 :]).rstrip("/"))
        return found

    def _if_there(self, path: str) -> None:
        if os.path.lexists(path):
            self.files[path] = None
        else:
            self.absent[path] = None


def _go_imports(text: str) -> list[str]:
    """Every text in quotes before the first declaration."""
    plain = _GO_COMMENT.sub("", text)
    body = _GO_BODY.search(plain)
    return list(_GO_NAME.findall(plain[: body.start()] if body is not None else plain))


def is_of_a_library(name: str) -> bool:
    """Whether library code may load a module of that name."""
    return name in sys.stdlib_module_names or name in _PYTHON_PACKAGES or name in ("sitecustomize", "usercustomize")


def _is_search_path(node: object) -> bool:
    import ast

    return isinstance(node, ast.Attribute) and f".{ast.unparse(node)}".endswith(tuple(f".{each}" for each in _SEARCHED))


def _loads_nothing(name: str) -> bool:
    """Whether a module that is not in the project is known to load no code by name."""
    first = name.partition(".")[0]
    if name.startswith(_IMPORTLIB) or first in _PYTHON_PACKAGES:
        return True
    return first in sys.stdlib_module_names and first not in _PYTHON_LOADERS and name not in _PYTHON_LOADERS
