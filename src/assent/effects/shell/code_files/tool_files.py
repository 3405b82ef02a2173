"""Files of code that tools load by themselves: settings of bundlers, linters and test runners, tests, and modules of
servers. Settings are found by name; tests are those that the command names or that the session wrote.

Their visible effects count; nothing is proved by them."""

from __future__ import annotations

from assent.contract import Effect, Kind, Operation, Pattern
from assent.effects.paths import normal
from assent.effects.shell.code_files import modules, scripts
from assent.effects.shell.record import ShellJob, Walk
from assent.programs.traits import has

MOST_TESTS = 40  # files that one command reads
SESSION = "session:"  # requests the files that the session wrote
_ENDINGS = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts")
_SERVERS = frozenset("uvicorn gunicorn hypercorn daphne granian celery flask waitress-serve dramatiq".split())
_MODULE = Pattern(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?::[\w.()]+)?")
_CRUDE = frozenset({"go", "rust-script", "elixir"})
_TEMPORARY = ("/tmp/", "/var/tmp/", "/private/tmp/", "/var/folders/")
_MADE = Pattern(
    r"/\.?(?:dist|build|out|output|coverage|te?mp|target|node_modules|__pycache__|[\w-]*cache|next|nuxt|turbo|vite"
    r"|test-results|playwright-report|reports?|htmlcov|storybook-static|fixtures?|__snapshots__|logs?)(?:/|$)"
)
_PYTHON_TEST = r"(?:.*/)?(?:test_[^/]*|[^/]*_test|conftest|tests?|noxfile)\.py"
_NODE_TEST = (
    r"(?:.*/)?(?:[^/]*\.(?:test|spec|cy|e2e|bench|setup)\.[cm]?[jt]sx?|__tests__/.*\.[cm]?[jt]sx?"
    r"|(?:setup|global-?setup|global-?teardown|setup-?tests?)[^/]*\.[cm]?[jt]sx?)"
)


class LoadedFiles:
    """The files that a tool loads: their `language`, `settings` in its folder by name, `tests` by pattern, and the
    `verbs` with which it loads them (none: always)."""

    __slots__ = ("language", "settings", "tests", "verbs")

    def __init__(self, language: str, settings: tuple[str, ...] = (), tests: str = "", verbs: str = "") -> None:
        self.language = language
        self.settings = settings
        self.tests = Pattern(tests) if tests else None
        self.verbs = frozenset(verbs.split())


def _named(*stems: str) -> tuple[str, ...]:
    return tuple(f"{stem}{ending}" for stem in stems for ending in _ENDINGS)


def _node(*stems: str, tests: str = "") -> LoadedFiles:
    return LoadedFiles("node", _named(*stems), tests)


_PYTEST = LoadedFiles("python3", ("conftest.py",), _PYTHON_TEST)
_RSPEC = LoadedFiles("ruby", ("spec/spec_helper.rb", "spec/rails_helper.rb"), r"(?:.*/)?[^/]*_spec\.rb")
_TOOLS: dict[str, LoadedFiles] = {
    "pytest": _PYTEST,
    "py.test": _PYTEST,
    "unittest": LoadedFiles("python3", (), _PYTHON_TEST),
    "nose2": LoadedFiles("python3", (), _PYTHON_TEST),
    "ward": LoadedFiles("python3", (), _PYTHON_TEST),
    "behave": LoadedFiles("python3", ("environment.py", "features/environment.py"), r"(?:.*/)?steps/[^/]*\.py"),
    "sphinx-build": LoadedFiles("python3", ("conf.py", "docs/conf.py", "docs/source/conf.py")),
    "scons": LoadedFiles("python3", ("SConstruct",)),
    "jest": _node("jest.config", "jest.setup", "babel.config", tests=_NODE_TEST),
    "vitest": _node("vitest.config", "vite.config", "vitest.setup", tests=_NODE_TEST),
    "mocha": _node(".mocharc", tests=_NODE_TEST),
    "ava": _node("ava.config", tests=_NODE_TEST),
    "tap": _node(tests=_NODE_TEST),
    "jasmine": _node("spec/support/jasmine", tests=_NODE_TEST),
    "karma": _node("karma.conf", tests=_NODE_TEST),
    "playwright": _node("playwright.config", tests=_NODE_TEST),
    "cypress": _node("cypress.config", tests=_NODE_TEST),
    "wdio": _node("wdio.conf", tests=_NODE_TEST),
    "react-scripts": _node(tests=_NODE_TEST),
    "vite": _node("vite.config"),
    "webpack": _node("webpack.config"),
    "webpack-cli": _node("webpack.config"),
    "rspack": _node("rspack.config"),
    "rollup": _node("rollup.config"),
    "tsup": _node("tsup.config"),
    "tsdown": _node("tsdown.config"),
    "unbuild": _node("build.config"),
    "next": _node("next.config"),
    "nuxt": _node("nuxt.config"),
    "nuxi": _node("nuxt.config"),
    "astro": _node("astro.config"),
    "remix": _node("remix.config", "vite.config"),
    "svelte-kit": _node("svelte.config", "vite.config"),
    "gatsby": _node("gatsby-config", "gatsby-node"),
    "vue-cli-service": _node("vue.config"),
    "eslint": _node("eslint.config", ".eslintrc"),
    "prettier": _node("prettier.config", ".prettierrc"),
    "stylelint": _node("stylelint.config", ".stylelintrc"),
    "commitlint": _node("commitlint.config"),
    "lint-staged": _node("lint-staged.config", ".lintstagedrc"),
    "babel": _node("babel.config", ".babelrc"),
    "tailwindcss": _node("tailwind.config"),
    "postcss": _node("postcss.config"),
    "gulp": _node("gulpfile"),
    "grunt": _node("Gruntfile"),
    "storybook": _node(".storybook/main", ".storybook/preview"),
    "drizzle-kit": _node("drizzle.config"),
    "semantic-release": _node("release.config"),
    "metro": _node("metro.config"),
    "expo": _node("app.config", "metro.config"),
    "rspec": _RSPEC,
    "cucumber": LoadedFiles("ruby", ("features/support/env.rb",), r"(?:.*/)?step_definitions/[^/]*\.rb"),
    "rubocop": LoadedFiles("ruby", ()),
    "phpunit": LoadedFiles("php", ("tests/bootstrap.php",), r"(?:.*/)?[^/]*Test\.php"),
    "pest": LoadedFiles("php", ("tests/Pest.php",), r"(?:.*/)?[^/]*Test\.php"),
    "prove": LoadedFiles("perl", (), r"(?:.*/)?[^/]*\.t"),
    "go": LoadedFiles("go", (), r"(?:.*/)?[^/]*_test\.go", "test"),
    "cargo": LoadedFiles("rust-script", ("build.rs",), r"(?:.*/)?tests/.*\.rs", "test build run check bench t b"),
    "node": LoadedFiles("node", (), _NODE_TEST, "--test"),
    "bun": LoadedFiles("node", (), _NODE_TEST, "test"),
    "deno": LoadedFiles("node", (), r"(?:.*/)?[^/]*[._]test\.[cm]?[jt]sx?", "test bench"),
    "rails": LoadedFiles("ruby", (), r"(?:.*/)?[^/]*_test\.rb", "test"),
    "mix": LoadedFiles("elixir", ("mix.exs", "test/test_helper.exs"), r"(?:.*/)?[^/]*_test\.exs", "test"),
}  # fmt: skip


def started(walk: Walk, job: ShellJob, base: str, kind: str) -> scripts.ScriptEffects | None:
    """The code that a tool loads, `python -m name` finds in its folder, or a runner of scripts is given."""
    if len(job.state.cwds) == 1 and job.state.cwds[0]:
        module = job.argv[job.argv.index("-m") + 1 :][:1] if base == "coverage" and "-m" in job.argv else ()
        named = modules.module_name(job.argv) if kind == "python" else module[0] if module else base
        tool = read(walk, job, named) if isinstance(named, str) else None
        if tool is not None:
            return tool
    return modules.started(walk, job, base, kind) if kind != "node" or has(base, "script-runner") else None


def read(walk: Walk, job: ShellJob, name: str) -> scripts.ScriptEffects | None:
    """The visible effects of the files that a tool loads; None if it loads none that can be read."""
    tool, cwd = _TOOLS.get(name), job.state.cwds[0]
    words = [word for word in job.argv[1:] if isinstance(word, str)]
    if name in _SERVERS:
        return _served(walk, job, name, words, cwd)
    if tool is None or (tool.verbs and tool.verbs.isdisjoint(words[:3])):
        return None
    folders = dict.fromkeys([cwd, *(_place(cwd, each) for each in _values(words, ("--root", "--rootdir", "-C")))])
    settings = [f"{folder}/{each}" for folder in folders for each in tool.settings]
    settings += [_place(cwd, each) for each in _values(words, ("-c", "--config")) if scripts.ending(each)]
    found = modules.collected(walk, job, tool.language, settings, cwd, follows=True)
    tests = modules.collected(walk, job, tool.language, _tests(walk, tool, words, cwd), cwd)
    for each in (found, tests):
        each.effects = [effect for effect in each.effects if _counts(effect, cwd, crude=tool.language in _CRUDE)]
    return modules.together(found, tests)


def _served(walk: Walk, job: ShellJob, name: str, words: list[str], cwd: str) -> scripts.ScriptEffects | None:
    """The module that a server imports: `uvicorn package.module:app`."""
    given = [*_values(words, ("-A", "--app", "--application")), *(word for word in words if word[:1] != "-")]
    named = [word.partition(":")[0] for word in given if _MODULE.fullmatch(word)]
    named = named[:1] if name != "flask" or named != words[:1] else []
    folders = [cwd, *(_place(cwd, each) for each in _values(words, ("--app-dir", "--chdir", "--workdir")))]
    stems = [each.replace(".", "/") for each in named or (["app", "wsgi"] if name == "flask" else [])]
    files = [f"{folder}/{stem}{end}" for folder in folders for stem in stems for end in (".py", "/__init__.py")]
    found = modules.collected(walk, job, "python3", files, cwd)
    found.effects = [effect for effect in found.effects if _counts(effect, cwd, crude=False)]
    return modules.together(found)


def _counts(effect: Effect, cwd: str, *, crude: bool) -> bool:
    """Whether an effect is unusual for tests and settings, which often empty their own folders, with computed names,
    and test databases. `crude`: the language has no reader, so paths are literal texts, and those in the workspace may
    be parts of others."""
    target = effect.target
    if effect.operation is Operation.DESTROY:
        return any(danger != "destroy" for danger in effect.dangers)
    if effect.operation is not Operation.DELETE or target.kind is not Kind.PATH:
        return True
    if not target.name or not target.certain:
        return False
    inside = target.name.startswith(cwd.rstrip("/") + "/")
    own = inside and (crude or _MADE.search(target.name[len(cwd) :]) is not None)
    return not own and not target.name.startswith(_TEMPORARY)


def _tests(walk: Walk, tool: LoadedFiles, words: list[str], cwd: str) -> list[str]:
    if tool.tests is None:
        return []
    names = [word.partition("::")[0] for word in words if word[:1] != "-"]
    named = [_place(cwd, each) for each in names if scripts.ending(each) in modules.CODE_ENDINGS]
    code = walk.code.get(SESSION)
    if code is None:
        walk.wants[SESSION] = None
        return named
    below = [path for path in code.text.split("\n") if path.startswith(cwd.rstrip("/") + "/")]
    written = [path for path in below if tool.tests.fullmatch(path)]
    if named:  # helpers of the tests that the command names
        written = [path for path in written if path.endswith("/conftest.py") or path in named]
    return list(dict.fromkeys((*named, *written)))[:MOST_TESTS]


def _place(cwd: str, name: str) -> str:
    return normal(name if name[:1] == "/" else f"{cwd}/{name}")


def _values(words: list[str], options: tuple[str, ...]) -> list[str]:
    """The values of options, in the next word or after `=`."""
    after = [words[at + 1] for at, word in enumerate(words[:-1]) if word in options and words[at + 1][:1] != "-"]
    return [*after, *(word.partition("=")[2] for word in words if word.partition("=")[0] in options and "=" in word)]
