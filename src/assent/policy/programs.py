"""Programs by what a remembered rule on them must name: a script, a subcommand, all of the arguments. Data only."""

from __future__ import annotations

import re

from assent.contract import Pattern

BEFORE = {"flock": 1, "chroot": 1, "direnv": 2, "doppler": 1, "aws-vault": 2, "chamber": 2, "mise": 1, "pyenv": 1}
INSTALLING = frozenset("install i add get require create init -S -i".split())
# Words behind which another command stands, or a program text.
RUNNING = frozenset("exec shell ssh eval dlx run runner run-command tinker console repl script spawn".split())

# Traits of programs of which nothing but the exact command says what is meant, with what to save.
BY_OPERANDS = {
    "changes-operands": "save the exact command, or a path rule such as `delete(build/**)`",
    "writes-operands": "save the exact command, or a path rule such as `write(build/**)`",
    "sends-operands": "save the exact command, or the host as `fetch(domain:example.com)`",
    "obeys-operands": "save the exact command",
    "agent": "it is an agent of its own; save the exact command",
    "shell-setting": "it changes how the shell goes on; save the exact command",
}
# Words of a suite that run what follows them, or that reach further than they look.
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
# Options between a program and what it runs that take no value and change nothing.
FLAGS = {
    **dict.fromkeys(("python", "python2", "python3", "pypy", "pypy3"), re.compile(r"-[uBEsSIObdqv]+")),
    **dict.fromkeys(("bash", "sh", "zsh", "dash", "ksh"), re.compile(r"-[eux]+")),
    **dict.fromkeys(("node", "nodejs"), re.compile(r"--no-warnings|--enable-source-maps|--trace-[a-z-]+")),
}
ANY_FLAGS = Pattern(r"-y|--yes|--no-install|-0|-i|-t|-it|-ti|--quiet|-q|--silent|--")
MODULES_TOO_WIDE = frozenset("pip code pdb timeit cProfile profile runpy trace ensurepip venv doctest unittest".split())

DESTROYING_WORDS = frozenset("destroy delete prune purge --force --hard --force-with-lease drop uninstall".split())
