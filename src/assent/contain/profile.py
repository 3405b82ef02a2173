"""The access of a contained run, as plain data: the folders, hosts, variables and limits of one call.

INVARIANT: everything inside is listed here. No other folder is bound, no other variable is set, no other host is
reachable."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from assent.contain.globs import below_root, system_matches
from assent.contract import AssentError, Call, Value

FOLDER = "contain"  # in the state folder
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/snap")
KERNEL = (*SYSTEM, "/proc", "/dev", "/sys", "/boot", "/run")
SHARED = frozenset(("/", "/home", "/root", "/var", "/tmp", "/mnt", "/media", "/srv"))  # folders of many things
ELSEWHERE = ("/home/linuxbrew/.linuxbrew", "/run/current-system")  # programs in folders that may hold more
# Below the home folder: toolchains, and caches of downloads only. No folder with settings or credentials: uv, stack,
# opam, pub and .NET keep them next to their programs.
TOOLCHAINS = tuple(
    ".pyenv .nvm .rustup .cargo/bin .cargo/registry .cargo/git go/bin go/pkg go/src sdk .local/bin .local/lib "
    ".local/share/uv/python .local/share/uv/tools .local/share/mise/installs .local/share/mise/shims "
    ".local/share/pnpm .local/share/fnm .local/share/virtualenvs .local/pipx .bun/bin .bun/install .deno/bin .volta "
    ".asdf .fnm .rbenv .sdkman .nodenv .goenv .rye/shims .rye/py .rye/self .npm/_cacache .npm-global/bin "
    ".npm-global/lib .yarn/berry .yarn/bin .m2/repository .m2/wrapper .gradle/caches .gradle/wrapper .gem/ruby "
    ".bundle/cache .composer/vendor .mix/archives .mix/elixir .mix/escripts .hex/packages .stack/programs "
    ".stack/snapshots .ghcup .opam/default .opam/download-cache .nix-profile .local/state/nix .pub-cache/bin "
    ".pub-cache/git .pub-cache/global_packages .pub-cache/hosted .dotnet/host .dotnet/packs .dotnet/sdk "
    ".dotnet/shared .dotnet/tools .nuget/packages .julia/packages .julia/juliaup .juliaup/bin .elan .sbt/boot "
    ".ivy2/cache .konan .swiftly .zvm".split()
)
CACHES = tuple(
    "pip uv yarn pnpm node node-gyp npm corepack pypoetry pre-commit ms-playwright puppeteer Cypress electron "
    "electron-builder zig deno bazelisk huggingface/hub huggingface/datasets torch nltk_data coursier turbo".split()
)
# Installed code: read-only unless the call installs. Caches of tools in there stay writable.
INSTALLED = tuple(
    "node_modules .venv venv vendor bower_components jspm_packages .bundle Pods .tox .nox elm-stuff".split()
)
OWN_CACHES = (".cache", ".vite", ".vitest", ".vite-temp")
# Parts of a git folder that git commands change and never run. Everything else in there is read-only.
GIT_DATA = tuple(
    "objects refs logs index index.lock HEAD HEAD.lock *_HEAD *_HEAD.lock COMMIT_EDITMSG MERGE_MSG MERGE_MODE "
    "SQUASH_MSG AUTO_MERGE packed-refs packed-refs.lock packed-refs.new shallow shallow.lock gc.pid gc.pid.lock gc.log "
    "sharedindex.* next-index-*.lock description branches".split()
)
# Variables that are passed on: none of them holds a secret.
VARIABLES = frozenset(
    "PATH LANG LANGUAGE LC_ALL LC_CTYPE LC_COLLATE LC_MESSAGES LC_MONETARY LC_NUMERIC LC_TIME TZ TERM COLORTERM "
    "COLUMNS LINES USER LOGNAME SHELL CI NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE NODE_ENV RAILS_ENV RACK_ENV "
    "MIX_ENV APP_ENV VIRTUAL_ENV PYENV_ROOT PYENV_VERSION PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED PYTHONUTF8 "
    "NVM_DIR VOLTA_HOME FNM_DIR BUN_INSTALL DENO_DIR PNPM_HOME CARGO_HOME RUSTUP_HOME RUSTUP_TOOLCHAIN RUST_BACKTRACE "
    "CARGO_TERM_COLOR GOPATH GOROOT GOTOOLCHAIN GOFLAGS JAVA_HOME GRADLE_HOME MAVEN_HOME GEM_HOME GEM_PATH RBENV_ROOT "
    "SDKMAN_DIR ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR DOTNET_ROOT MAKEFLAGS MAKELEVEL CC CXX DEBIAN_FRONTEND".split()
)
LONGEST = 32_768  # bytes of a variable
PROXY_PORT = 48443  # on loopback inside
PROGRAM_FOLDERS = frozenset(("bin", "sbin", "shims", ".bin", "libexec"))


class OpenSettings(Protocol):
    """The access that `[contain]` sets; `policy.contain_settings.ContainSettings` in practice."""

    network: tuple[str, ...]
    writable: tuple[str, ...]
    hidden: tuple[str, ...]
    memory: int
    processes: int
    seconds: int


class NotContained(AssentError):
    """A call for which there is no profile: it is asked about as without containment."""


class Profile(Value):
    """The access inside. `roots` are the workspace and `writable` other writable folders; `readable` are bound
    read-only, `links` are pairs of a link and its target, `hidden` paths in them are absent.

    `protected`, `concealed` and `opened` are globs below the roots: read-only, absent, and writable although a
    protected glob matches. `protected_files` matches no folder. `installs`: installed code is writable. `cache` is the
    project's own. `frozen`: the workspace is read-only. No `seconds`: the run has no time limit."""

    __slots__ = (
        *("roots", "writable", "readable", "links", "hidden", "protected", "protected_files", "concealed", "opened"),
        *("installs", "network", "environment", "home", "cache", "memory", "processes", "seconds"),
        "frozen",
    )

    def __init__(
        self,
        roots: Sequence[str],
        *,
        writable: Sequence[str] = (),
        readable: Sequence[str] = (),
        links: Sequence[tuple[str, str]] = (),
        hidden: Sequence[str] = (),
        protected: Sequence[str] = (),
        protected_files: Sequence[str] = (),
        concealed: Sequence[str] = (),
        opened: Sequence[str] = (),
        installs: bool = False,
        network: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        home: str = "/tmp",
        cache: str = "",
        memory: int = 8 * 10**9,
        processes: int = 1024,
        seconds: int = 3600,
        frozen: bool = False,
    ) -> None:
        self.roots = tuple(roots)
        self.writable = tuple(writable)
        self.readable = tuple(readable)
        self.links = tuple(links)
        self.hidden = tuple(hidden)
        self.protected = tuple(protected)
        self.protected_files = tuple(protected_files)
        self.concealed = tuple(concealed)
        self.opened = tuple(opened)
        self.installs = installs
        self.network = tuple(network)
        self.environment = dict(environment or {})
        self.home = home
        self.cache = cache
        self.memory = memory
        self.processes = processes
        self.seconds = seconds
        self.frozen = frozen

    def __hash__(self) -> int:
        return hash((self.roots, self.network, self.installs))

    @property
    def word(self) -> str:
        """The profile in a few words, for receipts."""
        network = f"network only to {', '.join(self.network)}" if self.network else "no network"
        if self.frozen:
            return f"{network}, {'writes only in ' + ', '.join(self.writable) if self.writable else 'writes no files'}"
        more = f" and {', '.join(self.writable)}" if self.writable else ""
        installed = "" if self.installs else ", installed code read-only"
        return f"{network}, writes only in the workspace{more}{installed}"

    def of_server(self, *, writes: bool) -> Profile:
        """The same for a server, which runs for as long as its client: without `writes` the workspace is read-only."""
        same = {name: getattr(self, name) for name in self.__slots__}
        return Profile(**{**same, "seconds": 0, "frozen": not writes})


def profile_for(
    settings: OpenSettings,
    call: Call,
    *,
    roots: Sequence[str],
    home: str,
    state: str,
    environ: Mapping[str, str],
    protects: Callable[[str], bool],
    guards: Callable[[str], bool],
    installs: bool = False,
    protected: Iterable[str] = (),
    guarded: Iterable[str] = (),
) -> Profile:
    """The profile of a call; NotContained if it cannot be contained.

    `protects` returns whether a write to a path is asked about or denied, `guards` whether it is on the floor.
    `protected` are the globs of rules on writes, `guarded` those of the floor for every operation, as written in the
    rules."""
    places = _Places(roots, home, state, protects, guards)
    places.check(call.cwd)
    patterns = _Patterns(places, installs)
    hidden = [*system_matches(guarded), *_hidden(settings, places, patterns)]
    for each in protected:
        patterns.protect(each)
    for each in guarded:
        patterns.conceal(each)
    for each in environ["PATH"].split(":") if environ.get("PATH") else ():  # an empty name is the current folder
        patterns.protect_programs(each)
    toolchains, more_links = _toolchains(places, environ)
    readable = [*system(), *toolchains, *_repositories(places)]
    return Profile(
        places.roots,
        writable=_writable(settings, places),
        readable=tuple(dict.fromkeys(readable)),
        links=(*links(), *places.links, *more_links),
        hidden=tuple(dict.fromkeys(hidden)),
        protected=tuple(dict.fromkeys(patterns.protected)),
        protected_files=("**/.git",),
        concealed=tuple(dict.fromkeys(patterns.concealed)),
        opened=tuple(f"**/.git/{name}" for name in GIT_DATA),
        installs=installs,
        network=settings.network,
        environment=_environment(environ, places.home, settings.network),
        home=places.home,
        cache=_cache(state, places.roots[0]),
        memory=settings.memory,
        processes=settings.processes,
        seconds=settings.seconds,
    )


class _Places:
    """The real paths of the roots and the home folder."""

    __slots__ = ("roots", "links", "home", "state", "protects", "guards")

    def __init__(
        self,
        roots: Sequence[str],
        home: str,
        state: str,
        protects: Callable[[str], bool],
        guards: Callable[[str], bool],
    ) -> None:
        real = [(each.rstrip("/"), os.path.realpath(each)) for each in roots if each.startswith("/")]
        self.roots = tuple(dict.fromkeys(path for _, path in real if os.path.isdir(path)))
        self.links = tuple((link, path) for link, path in real if link != path and path in self.roots)
        self.home = os.path.realpath(home) if home.startswith("/") else "/tmp"
        self.state = os.path.realpath(state)
        self.protects = protects
        self.guards = guards

    def check(self, cwd: str) -> None:
        """Raise NotContained unless the roots may be writable, and the call runs in one."""
        if not self.roots:
            raise NotContained("there is no workspace")
        for root in self.roots:
            if why := self._wrong(root):
                raise NotContained(f"`{root}` cannot be the workspace of a contained run: {why}")
        if not cwd.startswith("/") or not any(_within(os.path.realpath(cwd), root) for root in self.roots):
            raise NotContained("the call does not run in the workspace")

    def _wrong(self, root: str) -> str:
        if root in SHARED or any(_within(root, each) for each in KERNEL):
            return "it is a folder of the system"
        if _within(self.home, root):
            return "it contains the home folder"
        if _within(self.state, root) or _within(root, self.state):
            return "Assent's own files are there"
        if os.stat(root).st_uid != os.geteuid():
            return "it belongs to another user"
        if self.guards(root) or self.protects(f"{root}/x"):
            return "it is protected"
        return ""

    def readable(self, path: str) -> bool:
        """Whether a folder can be shown: it exists, is not guarded, and contains nothing blocked."""
        closed = (self.home, self.state, *self.roots)
        return os.path.isdir(path) and not self.guards(path) and not any(_within(each, path) for each in closed)


class _Patterns:
    """Globs of rules as globs below the roots."""

    __slots__ = ("places", "installs", "protected", "concealed")

    def __init__(self, places: _Places, installs: bool) -> None:
        self.places = places
        self.installs = installs
        self.protected: list[str] = [f"**/.git/{name}" for name in ("*", "modules/**")]
        self.concealed: list[str] = []

    def protect(self, glob: str) -> None:
        for each in self._below(glob):
            names = each.split("/")
            if ".git" not in names and not (self.installs and not {*INSTALLED, "site-packages"}.isdisjoint(names)):
                self.protected.append(each)

    def protect_programs(self, folder: str) -> None:
        """If PATH names a folder of the workspace, a run could replace later commands there."""
        real = os.path.realpath(folder) if folder.startswith("/") else ""
        for root in self.places.roots:
            if real in ("", root):
                raise NotContained("PATH names the workspace, so that every file there is a command")
            names = real[len(root) + 1 :].split("/") if _within(real, root) else []
            if names and not (self.installs and not {*INSTALLED}.isdisjoint(names)):
                self.protected.append("/".join(names))

    def conceal(self, glob: str) -> None:
        self.concealed += self._below(glob)

    def _below(self, glob: str) -> list[str]:
        found: list[str] = []
        for root in self.places.roots:
            pattern = below_root(glob, root, self.places.home)
            if pattern in ("", "*"):
                raise NotContained(f"a rule protects the whole workspace: `{glob}`")
            if pattern is not None:
                found.append(pattern)
        return found


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def system() -> list[str]:
    return [path for path in (*SYSTEM, *ELSEWHERE) if os.path.isdir(path) and not os.path.islink(path)]


def links() -> list[tuple[str, str]]:
    """`/bin` is a link on most systems."""
    return [(path, os.readlink(path)) for path in SYSTEM if os.path.islink(path)]


def _toolchains(places: _Places, environ: Mapping[str, str]) -> tuple[list[str], list[tuple[str, str]]]:
    """Folders with programs and their libraries, below the home folder and in PATH; and links to them."""
    wanted = [f"{places.home}/{name}" for name in TOOLCHAINS]
    wanted += [f"{places.home}/.cache/{name}" for name in CACHES]
    for each in environ.get("PATH", "").split(":"):
        if each.startswith("/") and os.path.basename(each) in PROGRAM_FOLDERS:
            above = os.path.dirname(each)
            wanted.append(above if os.path.isfile(f"{above}/pyvenv.cfg") else each)
    inside = (*SYSTEM, *places.roots)
    found: list[str] = []
    linked: list[tuple[str, str]] = []
    for path in (each for each in wanted if os.path.isdir(each)):
        real = os.path.realpath(path)
        visible = any(_within(real, each) for each in inside)
        if visible or places.readable(real):
            found += [] if visible else [real]
            linked += [(path, real)] if os.path.islink(path) and not any(_within(path, each) for each in inside) else []
    return found, linked


def _repositories(places: _Places) -> list[str]:
    """The repository of a worktree, which is elsewhere."""
    found = []
    for root in places.roots:
        try:
            with open(f"{root}/.git", encoding="utf-8", errors="surrogateescape") as file:
                text = file.read(4096)
        except OSError:
            continue
        folder, git, _ = os.path.realpath(text.removeprefix("gitdir:").strip()).rpartition("/.git/")
        path = f"{folder}/.git"
        if git and places.readable(path) and not any(_within(path, each) for each in places.roots):
            found.append(path)
    return found


def _writable(settings: OpenSettings, places: _Places) -> tuple[str, ...]:
    found = []
    for each in settings.writable:
        path = os.path.realpath(_expanded(each, places.home))
        system = path in SHARED or any(_within(path, one) for one in KERNEL)
        if system or not places.readable(path) or places.protects(f"{path}/x") or _within(path, places.state):
            raise NotContained(f"`writable` in `[contain]` names `{each}`, which cannot be opened")
        found.append(path)
    return tuple(dict.fromkeys(found))


def _hidden(settings: OpenSettings, places: _Places, patterns: _Patterns) -> list[str]:
    """Paths outside the workspace; those below it become globs."""
    found = []
    for each in settings.hidden:
        path = _expanded(each, places.home)
        if not path.startswith("/"):
            patterns.concealed.append(path)
            continue
        within = [path[len(root) + 1 :] for root in places.roots if _within(path, root)]
        patterns.concealed += within
        if not within:
            found.append(path)
    return found


def _expanded(path: str, home: str) -> str:
    return f"{home}/{path[2:]}" if path.startswith("~/") else path.rstrip("/")


def _environment(environ: Mapping[str, str], home: str, network: Sequence[str]) -> dict[str, str]:
    found = {name: environ[name] for name in sorted(VARIABLES) if name in environ and _plain(environ[name])}
    path = ":".join(each for each in found.get("PATH", "").split(":") if each.startswith("/"))
    found |= {"PATH": path or "/usr/local/bin:/usr/bin:/bin", "HOME": home, "TMPDIR": "/tmp", "ASSENT_CONTAINED": "1"}
    if network:
        address = f"http://127.0.0.1:{PROXY_PORT}"
        names = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")
        found |= dict.fromkeys(names, address) | dict.fromkeys(("NO_PROXY", "no_proxy"), "localhost,127.0.0.1,::1")
    return found


def _plain(value: str) -> bool:
    return len(value) <= LONGEST and "\0" not in value


def _cache(state: str, root: str) -> str:
    from assent.contract.lean import sha256

    return os.path.join(state, FOLDER, "caches", sha256(os.fsencode(root)).hexdigest()[:32])
