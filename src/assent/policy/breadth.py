"""How far a rule reaches: which rules say far more than they show, and what to write instead. Matches nothing.

A remembered rule acts without a question, so it must name what it lets run. A file of configuration is written with
more thought: there the same findings are hints of `assent policy lint`."""

from __future__ import annotations

import re

from assent.contract.display import visible
from assent.contract.errors import PolicyError
from assent.contract.review import Scope
from assent.policy.dangers import SYSTEM_TREES
from assent.policy.parse import parse_rule
from assent.policy.rules import About, Rule, Shape

INTERPRETERS = frozenset(
    "bash sh zsh dash ksh fish csh tcsh python python2 python3 pypy pypy3 ipython node nodejs deno bun tsx ts-node "
    "ruby irb perl php lua luajit rscript julia osascript pwsh powershell cmd tclsh expect swift groovy scala jshell "
    "elixir iex erl guile racket clojure source .".split()
)
# Programs whose words are another command: a rule must say which.
WRAPPERS = frozenset(
    "env xargs nohup timeout time nice ionice watch exec eval command builtin npx bunx uvx pipx setsid stdbuf unbuffer "
    "flock parallel strace ltrace gdb lldb valgrind entr nix-shell direnv dotenv doppler chronic caffeinate arch "
    "unshare nsenter chroot fakeroot proot script faketime systemd-run trap coproc".split()
)
POWERS = frozenset("sudo doas su pkexec runas gosu su-exec run0 machinectl".split())
# Programs that do a different thing with each subcommand.
SUITES = frozenset(
    "git npm pnpm yarn cargo go docker podman nerdctl kubectl oc helm gh glab aws gcloud az terraform tofu pulumi "
    "ansible vagrant pip pip3 uv poetry pdm hatch rye conda mamba apt apt-get dnf yum pacman apk brew port snap "
    "flatpak systemctl launchctl service make gmake just task rake gradle mvn bazel composer bundle gem dotnet mix "
    "rebar3 cabal stack nix heroku vercel netlify fly flyctl firebase wrangler supabase railway op vault "
    "rails artisan hg svn jj docker-compose podman-compose tox nox invoke".split()
)
# Removing, overwriting and sending by operands: nothing but the exact command says what is meant.
BY_OPERANDS = {
    **dict.fromkeys(
        "rm rmdir unlink shred srm trash truncate dd mkfs fdisk parted wipefs kill killall pkill chmod chown chgrp "
        "shutdown reboot halt poweroff crontab at batch mount umount".split(),
        "save the exact command, or a path rule such as `delete(build/**)`",
    ),
    **dict.fromkeys(
        "mv cp ln tee install rsync scp sftp sponge patch tar unzip 7z cpio".split(),
        "save the exact command, or a path rule such as `write(build/**)`",
    ),
    **dict.fromkeys(
        "curl wget http https xh aria2c nc ncat netcat socat telnet ftp lftp mail sendmail".split(),
        "save the exact command, or the host as `fetch(domain:example.com)`",
    ),
    **dict.fromkeys(
        "find fd sed gsed awk gawk mawk vi vim nvim emacs nano ed ex view less more man tmux screen sqlite3 psql mysql "
        "mongosh redis-cli open xdg-open ssh mosh rg sort".split(),
        "save the exact command",
    ),
}
# Words of a suite that run what follows them, or that reach further than they look.
RUNNERS = frozenset(
    {
        *(("docker", word) for word in ("run", "exec")),
        *(("podman", word) for word in ("run", "exec")),
        *(("kubectl", word) for word in ("run", "exec")),
        *((tool, "exec") for tool in ("npm", "pnpm", "yarn", "bundle", "op", "docker-compose", "mise")),
        *((tool, "dlx") for tool in ("pnpm", "yarn")),
        *((tool, "run") for tool in ("uv", "poetry", "pdm", "hatch", "rye", "conda", "doppler", "pipx", "op")),
        *((tool, "x") for tool in ("npm", "bun", "mise")),
        *(("go", word) for word in ("run", "generate", "tool")),
        *(("git", word) for word in ("push", "config", "submodule", "bisect", "rebase", "filter-branch", "clean")),
        *(("git", word) for word in ("reset", "restore", "rm", "remote", "worktree", "difftool", "mergetool")),
    }
)
# Words of a suite that mean nothing without what follows them.
BY_WORDS = frozenset({("gh", "api"), ("glab", "api"), ("git", "config"), ("git", "filter-branch"), ("az", "rest")})
BEFORE = {"flock": 1, "chroot": 1, "direnv": 2, "doppler": 1}  # words of a wrapper before the command
NAMING = frozenset("aws gcloud az".split())  # a service, then what to do with it
DESTROYING = frozenset(
    "rm rmdir unlink shred srm trash truncate dd mkfs fdisk parted wipefs kill killall pkill shutdown reboot halt "
    "poweroff".split()
)
DESTROYING_WORDS = frozenset("destroy delete prune purge --force -f --hard --force-with-lease drop uninstall".split())
NAMED = re.compile(r"(?!\d+[smhd.\d]*$)[^-=][^=]*")  # no option, no assignment, no time
INLINE = re.compile(r"-[A-Za-z]*[ceprEn]|--(?:eval|command|execute|print)(?:=.*)?|-")
SHARED_HOSTS = frozenset(
    "github.io githubusercontent.com gitlab.io vercel.app netlify.app pages.dev workers.dev herokuapp.com onrender.com "
    "fly.dev railway.app ngrok.io ngrok.app ngrok-free.app trycloudflare.com loca.lt amazonaws.com cloudfront.net "
    "azurewebsites.net windows.net web.app firebaseapp.com appspot.com run.app googleapis.com blogspot.com repl.co "
    "replit.app glitch.me surge.sh deno.dev cloudfunctions.net".split()
)
SECOND_LEVEL = re.compile(r"(?:co|com|org|net|ac|gov|edu|go|or|ne|gob|nom)\.[a-z]{2}")
HOME_TREES = re.compile(r"/(?:home|Users|root|var/root|var/home)(?:/[^/]*)?")
LONGEST = 1000
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
    """Why a rule may not be remembered for that scope, with a narrower form where there is one; `""` where it may."""
    if len(text) > LONGEST:
        return f"it is {len(text)} characters long; nobody can read that before saving it"
    if visible(text) != text or "\n" in text or "\t" in text:
        return "it holds characters that cannot be seen; write it anew"
    try:
        rule = parse_rule(text)
    except PolicyError as error:
        return f"it is no rule: {error}"
    found = secret_in(text)
    if found:
        return f"it holds {found}; rules are shown and logged"
    return too_broad(rule) or _too_far(rule, scope)


def secret_in(text: str) -> str:
    """What secret a text holds, in words; `""` where none is seen."""
    return next((name for pattern, name in SECRETS if pattern.search(text)), "")


def too_broad(rule: Rule) -> str:
    """Why a rule says far more than it shows; `""` where it does not."""
    match rule.about:
        case About.COMMAND:
            return _command(rule)
        case About.PATH:
            return _path(rule)
        case About.HOST:
            return _host(rule)
        case About.TOOL:
            return _tool(rule)
        case About.AGENT:
            return "it lets every sub-agent start; name one, as in `agent(reviewer)`" if not rule.spec else ""
        case About.DANGER:
            return "a danger is denied or asked about, never allowed; name the command"
    return "it is of a kind that is not known"


# ---------------------------------------------------------------- commands


def _command(rule: Rule) -> str:
    if rule.shape is Shape.WHOLE:
        return "it lets every shell command run; name a command, as in `bash(npm test:*)`"
    program = rule.words[0].rsplit("/", 1)[-1].lower()
    if "*" in rule.words[0]:
        return "it does not even name a program"
    rest = [word for word in rule.words[1:] if word != "*"]
    if rule.shape is Shape.EXACT:
        return _exact(program, rest)
    if program in POWERS:
        return f"`{program}` runs anything with another user's powers; save the exact command"
    if program in BY_OPERANDS:
        return f"what `{program}` does lies in its arguments; {BY_OPERANDS[program]}"
    if program in INTERPRETERS:
        return _interpreter(program, rest)
    plain = [word for word in rest if NAMED.fullmatch(word)]
    if program in WRAPPERS:
        plain = plain[BEFORE.get(program, 0) :]
    if program in WRAPPERS and not plain:
        return f"`{program}` runs whatever follows it; name that too, as in `bash({program} prettier:*)`"
    if program in WRAPPERS:
        return _inner(rule, program, plain)
    if program in SUITES and (not rest or rest[0].startswith("-")):
        return (
            f"`{program}` does too many things; name what it should do, as in `bash({program} {_example(program)}:*)`"
        )
    return _suite(rule, program, plain)


def _exact(program: str, rest: list[str]) -> str:
    """An exact command that still runs whatever is handed to it."""
    if program in INTERPRETERS and (not rest or rest[-1] == "-"):
        return f"`{program}` alone runs whatever it is fed; name a script"
    if program in WRAPPERS | POWERS and not rest:
        return f"`{program}` alone runs whatever it is fed"
    return ""


def _interpreter(program: str, rest: list[str]) -> str:
    """A script or a module must be named, and it must be a file and no text of a program."""
    advice = f"name the script, as in `bash({program} tools/build:*)`"
    module = rest[-1] if len(rest) > 1 and rest[-2] == "-m" and program.startswith(("python", "pypy")) else ""
    if any(INLINE.fullmatch(word) for word in rest if word != "-m"):
        return f"`{program}` would run any text of a program; {advice}"
    if module and module not in ("pip", "code", "pdb", "timeit", "cProfile", "runpy", "trace"):
        return ""
    if not any(not word.startswith("-") for word in rest) or module:
        return f"`{program}` can run anything; {advice}"
    return ""


def _inner(rule: Rule, program: str, plain: list[str]) -> str:
    """What a wrapper runs must itself be narrow enough."""
    at = rule.words.index(plain[0])
    words = rule.words[at:]
    inner = " ".join(words) + ("" if "*" in "".join(words) else ":*")
    try:
        why = too_broad(parse_rule(f"bash({inner})"))
    except PolicyError:
        return f"`{program}` runs whatever follows it"
    return f"behind `{program}`: {why}" if why else ""


def _suite(rule: Rule, program: str, plain: list[str]) -> str:
    if not plain:
        return ""
    if (program, plain[0]) in BY_WORDS:
        return f"what `{program} {plain[0]}` does lies in its arguments; save the exact command"
    if (program, plain[0]) in RUNNERS:
        if program in CONTAINERS and plain[0] == "run":
            return f"`{program} run` can open the whole machine by its options; save the exact command"
        behind = plain[2 if program in CONTAINERS else 1 :]
        if not behind:
            return f"`{program} {plain[0]}` reaches far; name what follows, as in `bash({program} {plain[0]} NAME:*)`"
        if program not in ("git", "go"):
            return _inner(rule, f"{program} {plain[0]}", behind)
    if program in NAMING and len(plain) < 2:
        return f"`{program} {plain[0]}` does too many things; name what it should do"
    return ""


CONTAINERS = frozenset({"docker", "podman", "kubectl", "nerdctl", "oc"})


def _example(program: str) -> str:
    return {"git": "commit", "npm": "test", "make": "test", "docker": "ps", "kubectl": "get"}.get(program, "test")


# ---------------------------------------------------------------- paths, hosts, tools


def _path(rule: Rule) -> str:
    tool, spec = rule.tool, rule.spec
    if rule.shape is Shape.WHOLE:
        return f"it covers every file on the machine; name a folder, as in `{tool}(src/**)`"
    if ".." in spec.split("/"):
        return "it leads upwards by `..`; write where it leads"
    if spec.startswith("*"):
        return f"it names no folder; begin with one, as in `{tool}(src/{spec.rpartition('/')[2]})`"
    folder = re.split(r"[*?\[]", spec, maxsplit=1)[0]
    whole = folder != spec
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
    if rule.shape is Shape.WHOLE or name == "*":
        return "it lets data go anywhere; name a host, as in `fetch(domain:example.com)`"
    if not rule.spec.startswith("*."):
        return ""
    if "." not in name or SECOND_LEVEL.fullmatch(name):
        return f"anybody can have a name below `{name}`; name the host"
    if any(name == shared or name.endswith("." + shared) for shared in SHARED_HOSTS) and name.count(".") < 3:
        return f"anybody can have a name below `{name}`; name the host"
    return ""


def _tool(rule: Rule) -> str:
    name = rule.tool
    if name.startswith("mcp__"):
        server, _, _ = name[5:].partition("__")
        return "it does not name a server; write `mcp__server__tool`" if not server or "*" in server else ""
    return "it lets any tool run that is called like this; name one" if "*" in name else ""


# ---------------------------------------------------------------- scopes


def _too_far(rule: Rule, scope: Scope) -> str:
    """What may be repeated for a while, and not for good; what holds here, and not everywhere."""
    if rule.about is About.COMMAND:
        program, rest = rule.words[0].rsplit("/", 1)[-1], rule.words[1:]
        destroys = program in DESTROYING | POWERS or not DESTROYING_WORDS.isdisjoint(rest)
        if destroys and scope in (Scope.PROJECT, Scope.EVERYWHERE):
            return "what it destroys may be something else next time; allow it for this session"
        if scope is Scope.EVERYWHERE and _local_script(rule):
            return "in another project the same name is another script; allow it for this project"
    if rule.about is About.PATH and scope in (Scope.PROJECT, Scope.EVERYWHERE) and rule.tool in ("delete", "path"):
        return "what lies there may be something else next time; allow it for this session"
    return ""


def _local_script(rule: Rule) -> bool:
    first = rule.words[0]
    if "/" in first and not first.startswith(("/", "~")):
        return True
    script = next((word for word in rule.words[1:] if not word.startswith("-")), "")
    return first in INTERPRETERS and "-m" not in rule.words and not script.startswith(("/", "~"))
