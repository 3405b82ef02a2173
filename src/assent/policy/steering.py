"""The exceptions of saved prefix rules: options that make a program run, load or use something else.

A person who allows `npm run test` and anything after it means that task with other arguments, not another package's or
another shell."""

from __future__ import annotations

from assent.policy.match import ONLY_NAMED, after
from assent.policy.rules import Rule, RuleKind, RuleShape
from assent.programs.traits import has

# Options of any program that carry code, or say where code comes from.
ANYWHERE = (
    *("*--exec*", "*--eval*", "--command", "--config", "--configuration", "--plugin", "--plugins", "--require"),
    *("--preload", "--import", "--init-script", "--rcfile", "--script-shell", "--node-options", "--kubeconfig"),
    *("--post-renderer", "--entrypoint", "*--upl*", "*--receive-p*", "--runner", "--loader", "*::*"),
)
_PACKAGES = (
    "*--pref*",
    "*--cwd*",
    "*--dir*",
    "-C",
    "*--script-s*",
    "*--shell*",
    "*--node-o*",
    "*--userc*",
    "*--globalc*",
)
_NODE_TESTS = ("-c", "--globalSetup", "--setupFiles*", "--testRunner", "--transform", "--resolver", "-r", "--root")
_PYTEST = (
    "-p",
    "-c",
    "*--rootdir*",
    "*--confcutdir*",
    "--pyargs",
    "-o",
    "*--override-i*",
    "/*",
    "../*",
    "*/../*",
    "~*",
)
_GO = (
    "-exec",
    "-C",
    "*-toolexec*",
    "*-overlay*",
    "*-modfile*",
    "*-vettool*",
    "*-ldflags*",
    "*-gcflags*",
    "*-asmflags*",
)
BY_PROGRAM: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("make", "gmake"), ("-*f*", "--file*", "--makefile*", "-*C*", "--dir*", "-*I*", "--inc*", "-*e*", "*=*")
    ),
    **dict.fromkeys(("npm", "pnpm", "yarn", "npx"), _PACKAGES),
    **dict.fromkeys(("bun", "bunx", "deno"), (*_PACKAGES, "-r", "-c", "--import-map")),
    **dict.fromkeys(("jest", "vitest", "mocha", "playwright", "cypress", "eslint", "webpack", "vite"), _NODE_TESTS),
    **dict.fromkeys(("pytest", "py.test"), _PYTEST),
    **dict.fromkeys(
        ("gradle", "gradlew"), ("-*I*", "-b", "-p", "-c", "-D*", "-P*", "--project-dir", "--include-build")
    ),
    **dict.fromkeys(("mvn", "mvnw"), ("-f*", "--file", "-s*", "--settings", "-D*", "exec:*")),
    **dict.fromkeys(
        ("docker", "podman"), ("-f*", "--file", "-o*", "--output", "--allow", "--build-context", "-v*", "--volume")
    ),
    **dict.fromkeys(("kubectl", "oc", "helm"), ("--context", "--server", "-s", "--as", "--token", "*://*")),
    **dict.fromkeys(("tox", "nox"), ("-c", "--conf", "-x", "--override", "-f", "--noxfile", "--workdir", "--root")),
    **dict.fromkeys(("rspec", "rubocop", "ruby", "rake"), ("-r*", "-I*", "-O", "--options", "-f", "--rakefile", "-C")),
    **dict.fromkeys(("phpunit", "php"), ("-c", "--bootstrap", "--prepend", "-d*")),
    **dict.fromkeys(
        ("ansible-playbook", "ansible"), ("-e*", "--extra-vars", "-i", "--inventory", "-M", "--module-path")
    ),
    **dict.fromkeys(("terraform", "tofu"), ("-plugin-dir*", "-backend-config*", "-chdir*")),
    **dict.fromkeys(("cmake", "ninja", "ctest"), ("-P", "-C*", "-E", "-f", "-D*", "-S", "--build-and-test")),
    **dict.fromkeys(
        ("gcc", "g++", "cc", "c++", "clang", "clang++"), ("-B*", "-fplugin*", "-wrapper", "-specs*", "@*", "-Xclang")
    ),
    "go": _GO,
    "cargo": ("-Z", "-C", "--manifest-path", "--target-dir", "*--config*"),
    "dotnet": ("-p*", "--property*", "--project", "--settings", "-s", "@*"),
    "prettier": ("-c",),
}
# Options of git that name the program at the other end; `ext::` is a transport that runs a program.
_GIT = ("*--upl*", "*--receive-p*", "*--exec*", "*::*", "-c", "-u", "--config", "--template")
_REMOTE = frozenset("fetch pull clone push ls-remote remote submodule archive".split())
_MODULES = {"pytest": _PYTEST, "tox": BY_PROGRAM["tox"], "nox": BY_PROGRAM["nox"]}


def steering(rule: Rule) -> tuple[str, ...]:
    """The exceptions of a saved rule, except for options that the rule itself writes."""
    if rule.about is RuleKind.TOOL and rule.spec:
        return (ONLY_NAMED,)
    if rule.about is not RuleKind.COMMAND or rule.shape in (RuleShape.EXACT, RuleShape.WHOLE):
        return ()
    words = rule.words
    program = words[0].rsplit("/", 1)[-1].lower()
    if program == "git":
        return _GIT if _REMOTE.intersection(words[1:2]) else ()
    found = BY_PROGRAM.get(program, ())
    if "-m" in words[:-1]:
        found = _MODULES.get(words[words.index("-m") + 1], ())
    return tuple(each for each in (*ANYWHERE, *found) if not any(_shows(each, word) for word in words[1:]))


def _shows(excepted: str, word: str) -> bool:
    """Whether a word of the rule itself is such an option."""
    first, *rest = excepted.split("*")
    if not rest:
        return word == excepted or word.startswith(f"{excepted}=")
    return word.startswith(first) and after(rest, word, len(first)) >= 0


def is_local_script(rule: Rule) -> bool:
    """Whether a rule names a script by a relative path."""
    first = rule.words[0] if rule.words else ""
    if "/" in first and not first.startswith(("/", "~")):
        return True
    script = next((word for word in rule.words[1:] if not word.startswith("-")), "")
    return has(first, "interpreter") and "-m" not in rule.words and not script.startswith(("/", "~"))
