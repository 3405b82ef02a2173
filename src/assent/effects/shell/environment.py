"""Which environment names change what a program loads or runs, and which are harmless. Holds the names as data.

Two questions, two lists. A *proof* that a command only reads holds under an assignment only if the name is known to be
harmless (`is_harmless`). An *allow rule* is lost only if the name is known to change what programs load (`changes`):
a rule on `npm test` holds for `DATABASE_URL=x npm test` too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assent.agents import known
from assent.contract import Pattern
from assent.programs.traits import has

if TYPE_CHECKING:
    from assent.effects.shell.state import ShellValue

# A name is listed if its value can name code, a library, a program, a configuration file or an endpoint
# that a command then uses. A name in none of these families is treated as data for the program.
_NAMES = frozenset(
    """
    PATH IFS ENV BASH_ENV SHELLOPTS BASHOPTS BASH_XTRACEFD POSIXLY_CORRECT PROMPT_COMMAND PS0 PS1 PS2 PS4 CDPATH FPATH
    ZDOTDIR INPUTRC GLOBIGNORE EXECIGNORE HISTFILE SHELL HOME GCONV_PATH LOCPATH NLSPATH GLIBC_TUNABLES
    PAGER MANPAGER EDITOR VISUAL BROWSER FCEDIT LESS LESSOPEN LESSCLOSE LESSKEY LESSKEYIN MORE MANOPT MANPATH
    VIMINIT EXINIT VIM VIMRUNTIME MYVIMRC EMACSLOADPATH TERMINFO TERMCAP
    NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED
    ELECTRON_RUN_AS_NODE VIRTUAL_ENV CLASSPATH JAVA_HOME JAVA_OPTS JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS
    JVM_OPTS ANT_OPTS SBT_OPTS MAVEN_OPTS MAVEN_ARGS PHPRC PHP_INI_SCAN_DIR TCLLIBPATH LUA_INIT LUA_PATH LUA_CPATH
    R_PROFILE R_PROFILE_USER R_ENVIRON R_ENVIRON_USER JULIA_LOAD_PATH JULIA_DEPOT_PATH
    CC CXX CPP LD AR AS FC RUSTC RUSTDOC RUSTFLAGS RUSTDOCFLAGS CFLAGS CXXFLAGS CPPFLAGS LDFLAGS GOFLAGS GOROOT GOPATH
    GOBIN GOPROXY GONOSUMDB GONOSUMCHECK GOINSECURE GOENV GOTOOLCHAIN GOTOOLDIR CGO_CFLAGS CGO_LDFLAGS CGO_CXXFLAGS
    MAKEFLAGS MFLAGS GNUMAKEFLAGS MAKEFILES PYTEST_ADDOPTS PYTEST_PLUGINS TOX_TESTENV_PASSENV
    KUBECONFIG DOCKER_HOST DOCKER_CONFIG DOCKER_CONTEXT DOCKER_CERT_PATH CONTAINER_HOST HELM_PLUGINS
    AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE AWS_CA_BUNDLE BOTO_CONFIG GOOGLE_APPLICATION_CREDENTIALS
    TF_CLI_CONFIG_FILE TERRAFORM_CONFIG GNUPGHOME SSH_AUTH_SOCK RSYNC_RSH CVS_RSH RSH
    RIPGREP_CONFIG_PATH ACKRC BAT_CONFIG_PATH GREP_OPTIONS TAR_OPTIONS GZIP BZIP2 XZ_OPT XZ_DEFAULTS ZSTD_CLEVEL TAPE
    FZF_DEFAULT_OPTS FZF_DEFAULT_OPTS_FILE CURL_HOME WGETRC NETRC OPENSSL_CONF OPENSSL_MODULES OPENSSL_ENGINES
    SSL_CERT_FILE SSL_CERT_DIR CURL_CA_BUNDLE REQUESTS_CA_BUNDLE HTTP_PROXY HTTPS_PROXY ALL_PROXY FTP_PROXY
    http_proxy https_proxy all_proxy ftp_proxy rsync_proxy PSQLRC PGSERVICEFILE PGPASSFILE PGHOST PGHOSTADDR
    MYSQL_HOME SQLITE_HISTORY DOTNET_STARTUP_HOOKS GUILE_LOAD_PATH ASDF_DIR MISE_CONFIG_FILE YARN_RC_FILENAME
    SIMPLE_BACKUP_SUFFIX SUDO_ASKPASS BASH_CMDS BASH_ALIASES BASH_LOADABLES_PATH
    NODE_REDIRECT_WARNINGS NODE_V8_COVERAGE NODE_COMPILE_CACHE SSLKEYLOGFILE MALLOC_TRACE GOCACHEPROG GOCOVERDIR GOVCS
    GCCGO MYPYPATH MYPY_CACHE_DIR DENO_DIR DENO_V8_FLAGS ERL_LIBS ELIXIR_ERL_OPTIONS MIX_EXS MIX_HOME COMPOSER
    GTEST_OUTPUT RAKEOPT SPEC_OPTS PYLINTRC PYLINTHOME JAVACMD DART_VM_OPTIONS PUB_CACHE SWIFT_EXEC DEVELOPER_DIR
    COMPILER_PATH GCC_EXEC_PREFIX CPATH LIBRARY_PATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH USE_BAZEL_VERSION TEST_TMPDIR
    MOCHA_OPTIONS GOLANGCI_LINT_CACHE INIT_CWD
    """.split()
)
_AGENTS = "|".join(known.joined("environment", "prefixes"))  # prefixes of variables that agent programs obey
_FAMILIES = Pattern(
    r"(?:LD_|DYLD_|GIT_|PYTHON|PERL|RUBY|GEM_|BUNDLE_|BASH_FUNC_|npm_config_|NPM_CONFIG_|CARGO_|RUSTC_|RUSTUP_|GRADLE_"
    r"|PIP_|UV_|CONDA_|NIX_|CORECLR_|COMPlus_|DOTNET_|ANSIBLE_|TF_CLI_ARGS|AWS_ENDPOINT|PKG_CONFIG|CMAKE_|XDG_"
    r"|TS_NODE_|SYSTEMD_|ASSENT_|KUBE_|GUILE_|YARN_|COVERAGE_|PYTEST_|JEST_|VITEST_|NYC_|ESLINT_|TSX_|BABEL_|npm_|PNPM_"
    r"|COREPACK_|BUN_|ERL_\w*FLAGS|COMPOSER_|PRE_COMMIT_|LEFTHOOK_|JUST_|TOX_|NOX_|HATCH_|POETRY_|PDM_|PIPENV_"
    r"|RUFF_|MISE_"
    rf"|{_AGENTS}|MAVEN_|MVNW_|CCACHE_|BAZEL|CTEST_|TURBO_|NX_|VALE_|COMPOSE_|MSB(?:UILD|uild)|Custom(?:Before|After))"
    r"|\w*(?:_PAGER|_EDITOR|_BROWSER|_ASKPASS|_RSH|_PRELOAD|_COMMAND|_WRAPPER|_LINKER|_RUNNER)$"
)
_HARMLESS = Pattern(
    r"GIT_(?:TERMINAL_PROMPT|OPTIONAL_LOCKS|(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)|MERGE_AUTOEDIT|ADVICE"
    r"|NO_LAZY_FETCH"
    r"|(?:LITERAL|GLOB|NOGLOB|ICASE)_PATHSPECS|CONFIG_NOSYSTEM|LFS_SKIP_SMUDGE|PROGRESS_DELAY|NO_REPLACE_OBJECTS)"
    r"|PYTHON(?:UNBUFFERED|DONTWRITEBYTECODE|HASHSEED|IOENCODING|UTF8|FAULTHANDLER|NOUSERSITE|SAFEPATH)"
    r"|CARGO_(?:TERM_\w+|INCREMENTAL|NET_OFFLINE|TARGET_DIR|PROFILE_\w+|BUILD_JOBS)"
    r"|PIP_(?:DISABLE_PIP_VERSION_CHECK|NO_INPUT|QUIET|NO_COLOR)|UV_(?:OFFLINE|NO_PROGRESS|FROZEN|NO_SYNC|QUIET)"
    r"|DOTNET_(?:CLI_TELEMETRY_OPTOUT|NOLOGO|SKIP_FIRST_TIME_EXPERIENCE)|npm_config_(?:loglevel|progress|fund|audit)"
    r"|TURBO_(?:TELEMETRY_DISABLED|UI|FORCE)|NX_(?:DAEMON|SKIP_NX_CACHE|TUI|NO_CLOUD)|JEST_WORKER_ID"
    r"|VITEST_POOL_ID|MISE_QUIET"
    rf"|(?:{_AGENTS})\w*(?:MODEL|API_KEY|EFFORT|TELEMETRY|AUTOUPDATE\w*|TRAFFIC)"
    r"|XDG_(?:CURRENT_DESKTOP|SESSION_TYPE)|SYSTEMD_COLORS|ANSIBLE_(?:NOCOLOR|FORCE_COLOR)"
)
OWN = "ASSENT_"
_NO_PROGRAM = Pattern(r"cat|true|:|")
_NO_TOOL = Pattern(r"(?:gcc|g\+\+|clang|clang\+\+|cc|c\+\+)(?:-\d+)?")
_VALUES: dict[str, Pattern] = {
    **dict.fromkeys(("PAGER", "MANPAGER", "EDITOR", "VISUAL"), _NO_PROGRAM),
    **dict.fromkeys(("CC", "CXX"), _NO_TOOL),
    **dict.fromkeys(  # to stderr; any other value is a file or a socket
        ("GIT_TRACE", "GIT_TRACE_SETUP", "GIT_TRACE_PERFORMANCE", "GIT_TRACE_CURL", "GIT_CURL_VERBOSE"),
        Pattern(r"[012]|true|false"),
    ),
    "LESS": Pattern(r"-[FRXSKEMNQiIgGsmcdeqwJnuUL]*"),
    "NODE_OPTIONS": Pattern(
        r"(?:\s*--(?:max-old-space-size=\d+|experimental-vm-modules|experimental-strip-types|no-warnings"
        r"|no-deprecation|trace-warnings|unhandled-rejections=\w+|stack-trace-limit=\d+))*\s*"
    ),
    "GOFLAGS": Pattern(r"(?:\s*-(?:mod=(?:mod|vendor|readonly)|count=\d+|v|race|tags=[\w,]+|buildvcs=\w+|p=\d+))*\s*"),
    "GOTOOLCHAIN": Pattern(r"local|auto|go[\d.]+"),
    "RUSTFLAGS": Pattern(r"(?:\s*(?:-[DAW] ?[\w:-]+|-C ?(?:debuginfo|opt-level|target-cpu)=[\w-]+|--cfg ?\w+))*\s*"),
    "MAKEFLAGS": Pattern(r"\s*-j ?\d+\s*"),
}
_ANY = Pattern(r"(?s:.*)")
_FLAG = Pattern(r"[A-Za-z0-9]*")
_LOCALE = Pattern(r"[A-Za-z0-9_.@:-]*")  # no slash: a locale can be a path
# Further names that the C library obeys (glibc drops these for privileged programs).
_LIBRARY = Pattern(
    r"GETCONF_DIR|HOSTALIASES|LOCALDOMAIN|MALLOC_\w+|NIS_PATH|RESOLV_HOST_CONF|RES_OPTIONS|TMPDIR|TZDIR|OUTPUT_CHARSET"
    r"|TEXTDOMAIN|TEXTDOMAINDIR"
)
# Names whose values no program uses as a file, a program, an address or code, with the values that are harmless.
_FOR_ALL: dict[str, Pattern] = {
    **dict.fromkeys(
        """NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE COLUMNS LINES CI DEBIAN_FRONTEND NODE_ENV NODE_NO_WARNINGS
        RUST_BACKTRACE PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONUTF8 PYTHONNOUSERSITE
        PYTHONSAFEPATH PYTHONFAULTHANDLER GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS PIP_DISABLE_PIP_VERSION_CHECK
        PIP_NO_COLOR PIP_NO_INPUT PIP_QUIET UV_OFFLINE UV_NO_PROGRESS UV_FROZEN UV_NO_SYNC UV_QUIET CARGO_NET_OFFLINE
        CARGO_TERM_COLOR CARGO_TERM_QUIET CARGO_TERM_VERBOSE DOTNET_NOLOGO DOTNET_CLI_TELEMETRY_OPTOUT
        NPM_CONFIG_PROGRESS npm_config_progress NPM_CONFIG_LOGLEVEL npm_config_loglevel HOMEBREW_NO_AUTO_UPDATE
        GH_NO_UPDATE_NOTIFIER GH_PROMPT_DISABLED NEXT_TELEMETRY_DISABLED TURBO_TELEMETRY_DISABLED SYSTEMD_COLORS
        ANSIBLE_NOCOLOR ANSIBLE_FORCE_COLOR CHECKPOINT_DISABLE PGCONNECT_TIMEOUT MSYS_NO_PATHCONV""".split(),
        _FLAG,
    ),
    **dict.fromkeys(("LANG", "LANGUAGE"), _LOCALE),
    **dict.fromkeys(("TERM", "COLORTERM", "PYTHONIOENCODING", "LESSCHARSET"), Pattern(r"[\w+.:-]*")),
    **dict.fromkeys(("GREP_COLOR", "GREP_COLORS", "LS_COLORS"), _ANY),
    **{f"GIT_{who}_{what}": _ANY for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL", "DATE")},
    "TZ": Pattern(r"[A-Za-z<][A-Za-z0-9_+/<>,:-]*|"),
    "LESS": _VALUES["LESS"],
}
_SUFFIX_PROGRAM = Pattern(r"\w*(?:_PAGER|_EDITOR|_BROWSER)")


def changes(name: str, values: tuple[str, ...] | None) -> bool:
    """Whether setting the name can change what a later command loads, runs or connects to. `values`: all it can be."""
    if (name not in _NAMES and not _FAMILIES.match(name)) or _HARMLESS.fullmatch(name):
        return False
    harmless = _VALUES.get(name)
    if harmless is None and _SUFFIX_PROGRAM.fullmatch(name):
        harmless = _NO_PROGRAM
    return harmless is None or values is None or not all(harmless.fullmatch(value) for value in values)


def is_harmless(name: str, values: tuple[str, ...] | None, listed: tuple[str, ...] = ()) -> bool:
    """Whether a program does the same under an assignment to the name. `values`: all that it can be, None unknown;
    `listed`: the variables in the program's row, `NAME`, `NAME=pattern` or `FAMILY_*`; `*` is a program that obeys
    only those of the C library."""
    pattern = _FOR_ALL.get(name)
    if pattern is None and name[:3] == "LC_":
        pattern = _LOCALE
    if pattern is None and (name in ("PAGER", "EDITOR", "VISUAL") or name.endswith(("_PAGER", "MANPAGER", "_EDITOR"))):
        pattern = _NO_PROGRAM
    if pattern is None and "*" in listed:
        return not changes(name, None) and not _LIBRARY.fullmatch(name)
    if pattern is None:
        return any(_is_listed(entry, name, values) for entry in listed)
    return pattern is _ANY or (values is not None and all(pattern.fullmatch(value) for value in values))


def _is_listed(entry: str, name: str, values: tuple[str, ...] | None) -> bool:
    known, sign, pattern = entry.partition("=")
    if known != name and not (known[-1:] == "*" and name.startswith(known[:-1])):
        return False
    return not sign or (values is not None and all(Pattern(pattern).fullmatch(value) for value in values))


def reason(name: str, before: str = "") -> str:
    """Why no allow rule may settle a command under that name, in words. The first reason found counts; a name of
    Assent's own comes before all."""
    return before if before and not name.startswith(OWN) else f"`{name}` changes what the command runs"


_INDEXES = Pattern(
    r"(?i)(?:PIP|UV)_(?:EXTRA_|DEFAULT_)?INDEX(?:_URL)?|PIP_TRUSTED_HOST|npm_config_registry|YARN_REGISTRY"
    r"|YARN_NPM_REGISTRY_SERVER"
    r"|GOPROXY|GONOSUMDB|GONOSUMCHECK|GOSUMDB|GOINSECURE|CARGO_REGISTRIES_\w+|BUNDLE_MIRROR\w*"
    r"|CONDA_CHANNEL_ALIAS|POETRY_REPOSITORIES\w*"
)
_OFFICIAL = Pattern(
    r"https://(?:registry\.npmjs\.org|registry\.yarnpkg\.com|pypi\.org|proxy\.golang\.org|rubygems\.org"
    r"|index\.crates\.io"
    r"|download\.pytorch\.org|conda\.anaconda\.org)(?:[/,].*)?|direct|on|sum\.golang\.org|https?://(?:localhost"
    r"|127\.)[:\d./]*.*"
)
_ELSEWHERE = Pattern(r"(?:ssh|tcp)://(?!localhost|127\.|0\.0\.0\.0|docker[:/]).+")
_CHECKED = frozenset({"0", "false"})


def dangers(program: str, given: dict[str, ShellValue]) -> tuple[str, ...]:
    """The dangers of variables that a program is given: packages from elsewhere, another machine, checks left out."""
    found: dict[str, None] = {}
    for name, value in given.items():
        texts = value.values or ()
        if has(program, "package-manager") and _INDEXES.fullmatch(name):
            if not texts or not all(map(_OFFICIAL.fullmatch, texts)):
                found["remote-install"] = None
        elif name == "DOCKER_HOST" and has(program, "container-client"):
            if not texts or any(map(_ELSEWHERE.fullmatch, texts)):
                found["deploy"] = None
        elif program == "git" and (name == "SKIP" or (name == "HUSKY" and texts and set(texts) <= _CHECKED)):
            found["checks-off"] = None
    return tuple(found)
