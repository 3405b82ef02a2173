"""How much a rule matches: finds rules that match far more than they show, and says what to write instead.

A saved rule allows calls without a question, so it must name what it lets run. In a configuration file the same
findings are hints of `assent policy lint`."""

from __future__ import annotations

import re

from assent.contract import Decision, Pattern, PolicyError, assert_never
from assent.contract.approval import Scope
from assent.contract.display import code
from assent.policy.conditions import names_annotation
from assent.policy.dangers import SYSTEM_TREES
from assent.policy.parse import parse_rule
from assent.policy.rules import Rule, RuleKind, RuleShape
from assent.policy.steering import is_local_script
from assent.programs.traits import has

NAMED = Pattern(r"(?!\d+[smhd.\d]*$)[^-=*][^=*]*")  # no option, assignment, time or wildcard
INLINE = Pattern(r"-[A-Za-z]*[ceprEn]|--(?:eval|command|execute|print)(?:=.*)?|-")
SHARED_HOSTS = frozenset(
    "github.io githubusercontent.com gitlab.io vercel.app netlify.app pages.dev workers.dev herokuapp.com onrender.com "
    "fly.dev railway.app ngrok.io ngrok.app ngrok-free.app trycloudflare.com loca.lt amazonaws.com cloudfront.net "
    "azurewebsites.net windows.net web.app firebaseapp.com appspot.com run.app googleapis.com blogspot.com repl.co "
    "replit.app glitch.me surge.sh deno.dev cloudfunctions.net".split()
)
SECOND_LEVEL = Pattern(r"(?:co|com|org|net|ac|gov|edu|go|or|ne|gob|nom)\.[a-z]{2}")
HOME_TREES = Pattern(r"/(?:home|Users|root|var/root|var/home)(?:/[^/]*)?")
PROGRAM_TREES = Pattern(r"/(?:usr|s?bin|lib\w*|nix|snap)/")
CHANGING = ("write", "delete", "path")
LONGEST = 1000
SEPARATOR = " ; "  # between the rules of one answer, wherever they are shown or written on one line
SECRETS = (
    (re.compile(r"AKIA[0-9A-Z]{16}"), "an AWS access key"),
    (re.compile(r"gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}"), "a GitHub token"),
    (re.compile(r"glpat-[\w-]{16,}"), "a GitLab token"),
    (re.compile(r"\bsk-[A-Za-z0-9_-]{16,}"), "an API key"),
    (re.compile(r"xox[abprs]-[\w-]{10,}"), "a Slack token"),
    (re.compile(r"npm_[A-Za-z0-9]{30,}"), "an npm token"),
    (re.compile(r"eyJ[\w-]{10,}\.[\w-]{10,}"), "a signed token"),
    (re.compile(r"(?i)\b(?:bearer|basic)\s+[\w.+/=-]{12,}"), "an authorization header"),
    (re.compile(r"(?i)(?:password|passwd|secret|token|api_?key)\s*[=:]\s*[^\s*:)]{6,}"), "a secret"),
    (re.compile(r"://[^/\s:@]+:[^/\s:@*]{3,}@"), "a password in an address"),
)


def refusal(text: str, scope: Scope = Scope.SESSION) -> str:
    """Why a rule may not be saved for that scope, with a narrower form if there is one; `""` if it may."""
    if len(text) > LONGEST:
        return f"it is {len(text)} characters long; too long to read before saving it"
    if code(text) != text or "\n" in text or "\t" in text:
        return "it contains invisible or look-alike characters; type it again"
    if SEPARATOR in text:
        return f"it contains `{SEPARATOR}`, which separates rules; save the exact call"
    try:
        rule = parse_rule(text)
    except PolicyError as error:
        return f"it is not a rule: {error}"
    if found := secret_in(text):
        return f"it contains {found}; rules are shown and logged"
    if rule.about is RuleKind.TOOL and rule.spec and names_annotation(rule.spec):
        return "it relies on what a server says of its tools; write such a rule in your configuration"
    return too_broad(rule) or _too_far(rule, scope)


def unsavable(rules: tuple[str, ...], scope: Scope, decision: Decision) -> str:
    """Why an answer may not be saved for that scope; `""` if it may. Without rules it is for the identical call."""
    for rule in rules:
        if why := refusal(rule, scope):
            return f"`{rule}` may not be saved: {why}"
    if not rules and decision.risk == "high" and scope.bounds.lasting:
        return "a dangerous call can be allowed for a session at most; allow it for this session"
    return ""


def secret_in(text: str) -> str:
    """What kind of secret a text contains; `""` for none."""
    return next((name for pattern, name in SECRETS if pattern.search(text)), "")


def too_broad(rule: Rule) -> str:
    """Why a rule matches far more than it shows; `""` if it does not."""
    match rule.about:
        case RuleKind.COMMAND:
            return _command(rule)
        case RuleKind.PATH:
            return _path(rule)
        case RuleKind.HOST:
            return _host(rule)
        case RuleKind.TOOL:
            return _tool(rule)
        case RuleKind.AGENT:
            return "it lets every sub-agent start; name one, as in `agent(reviewer)`" if not rule.spec else ""
        case RuleKind.DANGER:
            return "a danger is denied or asked about, never allowed; name the command"
    return assert_never(rule.about)


def width(text: str) -> tuple[int, str]:
    """How much a rule matches, as a number to sort by and in words: an exact command is the narrowest, then one thing
    by its name, a prefix, a folder, a whole program."""
    rule = parse_rule(text)
    match rule.about:
        case RuleKind.COMMAND:
            return _command_width(rule)
        case RuleKind.PATH:
            return (3, f"everything in {rule.spec[:-3]}") if rule.spec.endswith("/**") else (1, f"the file {rule.spec}")
        case RuleKind.HOST:
            return 1, f"addresses at {rule.spec}"
        case RuleKind.TOOL:
            if rule.spec:
                where = f" where {rule.spec}," if rule.spec != "only" else ""
                return 1, f"the tool {rule.tool}{where} with no other arguments"
            server = rule.tool[5:] if rule.tool.startswith("mcp__") else ""
            return (4, f"every tool of {server}") if server and "__" not in server else (1, f"the tool {rule.tool}")
        case RuleKind.AGENT:
            return 1, f"the sub-agent {rule.spec}"
        case RuleKind.DANGER:
            return 1, f"the danger {rule.spec}"
    return assert_never(rule.about)


def _command_width(rule: Rule) -> tuple[int, str]:
    """Includes what must stay unchanged for a saved rule to apply."""
    program, bound = rule.words[0].rpartition("/")[2], ""
    if has(program, "task-runner"):
        bound = ", while its tasks stay as they are"
    elif "/" in rule.words[0] or (has(program, "interpreter") and "-m" not in rule.words):
        bound = ", while that script stays as it is"
    if rule.shape is RuleShape.EXACT:
        return 0, f"exactly `{rule.spec}`{bound}"
    wide = f"`{rule.spec}` with other arguments, but no options that run, load or reach something else{bound}"
    return 2 if len(rule.words) > 1 else 4, wide


# ---------------------------------------------------------------- commands


def _command(rule: Rule) -> str:
    if rule.shape is RuleShape.WHOLE:
        return "it lets every shell command run; name a command, as in `bash(npm test:*)`"
    program = rule.words[0].rsplit("/", 1)[-1].lower()
    if "*" in rule.words[0]:
        return "it names no program"
    if rule.shape is RuleShape.EXACT:
        return _exact(program, rule.words[1:])
    if "*" in rule.spec[:-1]:
        return "only its end may be open; write a prefix, as in `bash(npm run test:*)`"
    return _beginning(program, tuple(word for word in (each.rstrip("*") for each in rule.words) if word))


def _exact(program: str, rest: tuple[str, ...]) -> str:
    """An exact command that still runs any code passed to it."""
    if has(program, "interpreter") and (not rest or rest[-1] == "-"):
        return f"`{program}` alone runs whatever its input says; name a script"
    bare = not rest and (has(program, "wrapper") or has(program, "privilege"))
    return f"`{program}` alone runs whatever its input says" if bare else ""


def _beginning(program: str, words: tuple[str, ...]) -> str:
    """Why a prefix is too short."""
    if has(program, "privilege"):
        return f"`{program}` runs anything with another user's privileges; save the exact command"
    if advice := next((BY_OPERANDS[trait] for trait in BY_OPERANDS if has(program, trait)), ""):
        return f"what `{program}` does depends on its arguments; {advice}"
    if has(program, "interpreter"):
        return _interpreter(program, words)
    if has(program, "wrapper"):
        return _behind(f"`{program}`", words, 1 + BEFORE.get(program, 0))
    if has(program, "suite") and (len(words) < 2 or words[1].startswith("-")):
        narrower = f"bash({program} {EXAMPLES.get(program, 'test')}:*)"
        return f"`{program}` does too many things; name what it should do, as in `{narrower}`"
    own = _suite(program, words) if has(program, "suite") else _unknown(program, words)
    return own or _open_ended(program, words)


def _unknown(program: str, words: tuple[str, ...]) -> str:
    """The first argument of an unknown program must be named; a script is named by its path."""
    is_script = "/" in words[0] and not PROGRAM_TREES.match(words[0])
    if is_script or has(program, "single-purpose") or (len(words) > 1 and NAMED.fullmatch(words[1])):
        return ""
    return f"`{program}` is not known and may do anything; name its first argument, or save the exact command"


def _open_ended(program: str, words: tuple[str, ...]) -> str:
    """A prefix that ends before a package, a command or code."""
    shown = " ".join(words)
    if has(program, "package-manager") and not INSTALLING.isdisjoint(words[1:]):
        return f"`{shown}` may install any package, and packages run code; save the exact command"
    if len(words) > 1 and words[-1] in RUNNING and not (words[-1] == "run" and has(program, "runs-project")):
        return f"`{shown}` runs whatever follows it; name that too, or save the exact command"
    return ""


def _interpreter(program: str, words: tuple[str, ...]) -> str:
    """A script or a module must be named by a file, not given as code."""
    advice = f"name the script, as in `bash({program} tools/build:*)`"
    if any(INLINE.fullmatch(word) for word in words[1:] if word != "-m" and not _is_flag(program, word)):
        return f"`{program}` would run any code; {advice}"
    at = 1
    while at < len(words) and _is_flag(program, words[at]):
        at += 1
    if words[at : at + 1] == ("-m",) and has(program, "python"):
        named = len(words) > at + 1 and words[at + 1] not in MODULES_TOO_WIDE
        return "" if named else f"`{program} -m` can run anything; name a module, as in `bash({program} -m pytest:*)`"
    if at < len(words) and NAMED.fullmatch(words[at]):
        return _task_script(words[at:])
    return f"`{program}` can run anything; {advice}"


def _task_script(words: tuple[str, ...]) -> str:
    script = words[0].rsplit("/", 1)[-1]
    if has(script, "task-script") and (len(words) < 2 or not NAMED.fullmatch(words[1]) or words[1] in RUNNING):
        return f"`{script}` can run anything; name what it should do"
    return ""


def _is_flag(program: str, word: str) -> bool:
    known = FLAGS.get(program)
    return known is not None and known.fullmatch(word) is not None


def _behind(wrapper: str, words: tuple[str, ...], at: int) -> str:
    """The command behind a wrapper must be named and narrow enough; an option before it may hold anything."""
    while at < len(words) and (
        ANY_FLAGS.fullmatch(words[at]) or "=" in words[at].lstrip("-") or words[at][0].isdigit()
    ):
        at += 1
    if at >= len(words):
        return f"{wrapper} runs whatever follows it; name that too, as in `bash({words[0]} prettier:*)`"
    if not NAMED.fullmatch(words[at]):
        return f"{wrapper} with `{words[at]}` may run anything; save the exact command"
    why = _beginning(words[at].rsplit("/", 1)[-1].lower(), words[at:])
    return f"the command that {wrapper} runs: {why}" if why else ""


def _suite(program: str, words: tuple[str, ...]) -> str:
    if program in ("docker", "podman") and words[1] == "compose":
        return _beginning(f"{program}-compose", words[1:])
    verb = words[1]
    if (program, verb) in BY_WORDS:
        return f"what `{program} {verb}` does depends on its arguments; save the exact command"
    if (program, verb) in RUNNERS or (verb in ("run", "exec") and has(program, "container-client")):
        return _runner(program, verb, words)
    if has(program, "cloud-client") and len(words) < 3:
        return f"`{program} {verb}` does too many things; name what it should do"
    return ""


def _runner(program: str, verb: str, words: tuple[str, ...]) -> str:
    if has(program, "container-client") and verb == "run":
        return f"`{program} run` can expose the whole machine through its options; save the exact command"
    if has(program, "container-client"):
        at = next((at for at, word in enumerate(words[2:], 2) if not ANY_FLAGS.fullmatch(word)), len(words))
        if at < len(words) and not NAMED.fullmatch(words[at]):
            return f"`{program} {verb}` with `{words[at]}` can do far more; save the exact command"
        return _behind(f"`{program} {verb}`", words, at + 1)
    if program in ("git", "go"):
        named = len(words) > 2 and NAMED.fullmatch(words[2])
        return "" if named else f"`{program} {verb}` can do far more; name what follows it, or save the exact command"
    return _behind(f"`{program} {verb}`", words, 2)


# ---------------------------------------------------------------- paths, hosts, tools


def _path(rule: Rule) -> str:
    tool, spec = rule.tool, rule.spec
    if rule.shape is RuleShape.WHOLE:
        return f"it covers every file on the machine; name a folder, as in `{tool}(src/**)`"
    if ".." in spec.split("/"):
        return "it contains `..`; write the path that it leads to"
    if spec.startswith("*"):
        return f"it names no folder; begin with one, as in `{tool}(src/{spec.rpartition('/')[2]})`"
    folder = re.split(r"[*?\[{]", spec, maxsplit=1)[0]
    whole = folder != spec
    if whole and "/" not in folder:
        return f"it names no folder; begin with one, as in `{tool}(src/{spec.rpartition('/')[2]})`"
    if whole and any(name.startswith(".") and name != "." for name in folder.split("/")[:-1]) and tool in CHANGING:
        return "hidden folders contain settings that make programs run; name the file"
    bare = folder.rstrip("/") or ("/" if folder.startswith("/") else "")
    if whole and not folder.endswith("/") and "/" in folder:
        bare = folder.rpartition("/")[0] or "/"
    if bare in ("/", "~") or (whole and (bare in SYSTEM_TREES or HOME_TREES.fullmatch(bare))):
        return f"it covers a whole root; name a folder below `{bare}`"
    if whole and bare in ("", ".") and tool in ("delete", "path"):
        return f"it covers the whole workspace; name a folder, as in `{tool}(build/**)`"
    return ""


def _host(rule: Rule) -> str:
    name = rule.spec.removeprefix("*.")
    if rule.shape is RuleShape.WHOLE or name == "*":
        return "it lets data be sent anywhere; name a host, as in `fetch(domain:example.com)`"
    shared = any(name == each or name.endswith("." + each) for each in SHARED_HOSTS) and name.count(".") < 3
    if rule.spec.startswith("*.") and ("." not in name or SECOND_LEVEL.fullmatch(name) or shared):
        return f"anybody can get a name below `{name}`; name the host"
    return ""


def _tool(rule: Rule) -> str:
    name = rule.tool
    if name.startswith("mcp__"):
        server, _, _ = name[5:].partition("__")
        return "it does not name a server; write `mcp__server__tool`" if not server or "*" in server else ""
    return "it lets any tool with such a name run; name one" if "*" in name else ""


# ---------------------------------------------------------------- scopes


def _too_far(rule: Rule, scope: Scope) -> str:
    """Why a rule is too wide for a permanent or a global scope."""
    if rule.about is RuleKind.COMMAND:
        program, rest = rule.words[0].rsplit("/", 1)[-1], rule.words[1:]
        destroys = has(program, "destroys") or has(program, "privilege") or not DESTROYING_WORDS.isdisjoint(rest)
        destroys = destroys or (program == "git" and "-f" in rest)
        if destroys and scope.bounds.lasting:
            return "what it destroys may be something else next time; allow it for this session"
        if not scope.bounds.project and is_local_script(rule):
            return "in another project the same name is another script; allow it for this project"
    if rule.about is RuleKind.PATH and scope.bounds.lasting and rule.tool in ("delete", "path"):
        return "what is there may be something else next time; allow it for this session"
    return ""


EXAMPLES = {"git": "commit", "docker": "ps", "kubectl": "get"}  # of a subcommand, if it is not `test`
BEFORE = {"flock": 1, "chroot": 1, "direnv": 2, "doppler": 1, "aws-vault": 2, "chamber": 2, "mise": 1, "pyenv": 1}
INSTALLING = frozenset("install i add get require create init -S -i".split())
# Words that another command or a program text follows.
RUNNING = frozenset("exec shell ssh eval dlx run runner run-command tinker console repl script spawn".split())

# Traits of programs for which only the exact command may be saved, with advice.
BY_OPERANDS = {
    "changes-operands": "save the exact command, or a path rule such as `delete(build/**)`",
    "writes-operands": "save the exact command, or a path rule such as `write(build/**)`",
    "sends-operands": "save the exact command, or the host as `fetch(domain:example.com)`",
    "obeys-operands": "save the exact command",
    "agent": "it is an agent itself; save the exact command",
    "shell-setting": "it changes how the shell runs what follows; save the exact command",
}
# Subcommands that run what follows them, or reach further than they look.
RUNNERS = frozenset(
    {
        *((tool, "exec") for tool in ("npm", "pnpm", "yarn", "bundle", "op", "cargo")),
        *((tool, "dlx") for tool in ("pnpm", "yarn")),
        *((tool, "run") for tool in ("uv", "poetry", "pdm", "hatch", "rye", "conda", "op", "deno")),
        *((tool, "x") for tool in ("npm", "bun")),
        *(("go", word) for word in ("run", "generate", "tool")),
        *(("git", word) for word in ("push", "submodule", "bisect", "rebase", "clean", "reset", "restore", "rm")),
        *(("git", word) for word in ("remote", "worktree", "difftool", "mergetool")),
    }
)
BY_WORDS = frozenset(
    {
        *(("gh", "extension"), ("op", "read"), ("vault", "read"), ("vault", "kv")),
        *(("gh", "api"), ("glab", "api"), ("az", "rest"), ("git", "config"), ("git", "filter-branch")),
        *(("deno", "eval"), ("vagrant", "ssh"), ("limactl", "shell"), ("gcloud", "ssh"), ("bun", "exec")),
    }
)
# Options between a program and its script that take no value and change nothing.
FLAGS = {
    **dict.fromkeys(("python", "python2", "python3", "pypy", "pypy3"), re.compile(r"-[uBEsSIObdqv]+")),
    **dict.fromkeys(("bash", "sh", "zsh", "dash", "ksh"), re.compile(r"-[eux]+")),
    **dict.fromkeys(("node", "nodejs"), re.compile(r"--no-warnings|--enable-source-maps|--trace-[a-z-]+")),
}
ANY_FLAGS = Pattern(r"-y|--yes|--no-install|-0|-i|-t|-it|-ti|--quiet|-q|--silent|--")
MODULES_TOO_WIDE = frozenset("pip code pdb timeit cProfile profile runpy trace ensurepip venv doctest unittest".split())

DESTROYING_WORDS = frozenset("destroy delete prune purge --force --hard --force-with-lease drop uninstall".split())
