"""Programs by what a remembered rule on them must name: a script, a subcommand, all of the arguments. Data only."""

from __future__ import annotations

import re

from assent.contract.pattern import Pattern

# They run the text or the file that they are given.
INTERPRETERS = frozenset(
    "bash sh zsh dash ksh fish csh tcsh xonsh nu elvish python python2 python3 pypy pypy3 ipython bpython node nodejs "
    "tsx ts-node ruby irb perl php lua luajit rscript r julia octave matlab sage gnuplot osascript pwsh powershell cmd "
    "tclsh wish expect swift groovy scala jshell java kotlin elixir iex erl escript guile racket clojure bb ocaml ghci "
    "runghc runhaskell m4 source .".split()
)
# Their words are another command.
WRAPPERS = frozenset(
    "env xargs nohup timeout gtimeout time timex nice ionice chrt taskset watch exec eval command builtin npx bunx uvx "
    "pipx setsid stdbuf unbuffer flock parallel sem strace ltrace gdb lldb valgrind perf hyperfine entr watchexec "
    "nodemon concurrently cross-env rlwrap nix-shell direnv dotenv dotenvx doppler aws-vault chamber asdf rbenv pyenv "
    "mise chronic caffeinate arch unshare nsenter chroot fakeroot proot firejail bwrap script faketime systemd-run "
    "xvfb-run dbus-run-session torsocks proxychains proxychains4 sshpass wsl trap coproc".split()
)
BEFORE = {"flock": 1, "chroot": 1, "direnv": 2, "doppler": 1, "aws-vault": 2, "chamber": 2, "mise": 1, "pyenv": 1}
POWERS = frozenset("sudo doas su pkexec runas gosu su-exec run0 machinectl".split())
# They do a different thing with each subcommand.
SUITES = frozenset(
    "git npm pnpm yarn bun deno cargo go docker podman nerdctl kubectl oc helm gh glab aws gcloud az terraform tofu "
    "pulumi ansible vagrant limactl multipass lxc pip pip3 uv poetry pdm hatch rye conda mamba apt apt-get dnf yum "
    "pacman apk brew port snap flatpak systemctl launchctl service make gmake just task rake gradle gradlew mvn mvnw "
    "bazel composer bundle gem dotnet mix rebar3 cabal stack nix heroku vercel netlify fly flyctl firebase wrangler "
    "supabase railway op vault rails artisan hg svn jj docker-compose podman-compose tox nox invoke".split()
)
# They do one thing, whatever their arguments: the program alone says what is meant.
SINGLE = frozenset(
    "pytest py.test jest vitest mocha ava eslint oxlint biome stylelint prettier tsc pyright mypy ruff black isort "
    "flake8 pylint pyflakes pycodestyle codespell typos shellcheck shfmt hadolint yamllint actionlint markdownlint "
    "rspec rubocop standardrb phpunit phpstan psalm golangci-lint gofmt goimports staticcheck rustfmt ktlint detekt "
    "swiftlint swiftformat clang-format clang-tidy cppcheck ctest tflint sqlfluff htmlhint jsonlint vale proselint "
    "ls cat head tail wc grep stat file du df date pwd id whoami which uname ps cloc tokei scc tree".split()
)
# Their install words bring code of anybody, and run it.
PACKAGERS = frozenset(
    "npm pnpm yarn bun deno pip pip3 uv poetry pdm hatch rye conda mamba pipx apt apt-get aptitude dnf yum zypper "
    "pacman apk brew port snap flatpak gem bundle cargo go composer dotnet mix cabal stack nix nix-env opam luarocks "
    "cpan cpanm nimble vcpkg conan choco winget scoop asdf mise krew".split()
)
INSTALLING = frozenset("install i add get require create init -S -i".split())
# Words behind which another command stands, or a program text.
RUNNING = frozenset("exec shell ssh eval dlx run runner run-command tinker console repl script spawn".split())
RUNS_ITSELF = frozenset("npm pnpm yarn cargo dotnet flask cypress dbt caddy".split())  # with `run`
# Scripts that are suites themselves.
TASK_SCRIPTS = frozenset("manage.py artisan rails console".split())
CONTAINERS = frozenset("docker podman kubectl nerdctl oc docker-compose podman-compose lxc multipass".split())
NAMING = frozenset("aws gcloud az".split())  # a service, then what to do with it

# Nothing but the exact command says what is meant.
BY_OPERANDS = {
    **dict.fromkeys(
        "rm rmdir unlink shred srm trash truncate dd mkfs fdisk parted wipefs kill killall pkill chmod chown chgrp "
        "shutdown reboot halt poweroff crontab at batch mount umount".split(),
        "save the exact command, or a path rule such as `delete(build/**)`",
    ),
    **dict.fromkeys(
        "mv cp ln tee install rsync scp sftp sponge patch tar pax unzip 7z cpio rename symlinks".split(),
        "save the exact command, or a path rule such as `write(build/**)`",
    ),
    **dict.fromkeys(
        "curl wget http https xh aria2c nc ncat netcat socat telnet ftp lftp mail sendmail lynx w3m links ngrok "
        "cloudflared rclone restic s3cmd gsutil dig host nslookup ping".split(),
        "save the exact command, or the host as `fetch(domain:example.com)`",
    ),
    **dict.fromkeys(
        "find fd sed gsed awk gawk mawk vi vim nvim emacs nano ed ex view less more man tmux screen sqlite3 psql mysql "
        "mongosh redis-cli open xdg-open start code cursor zed subl idea ssh mosh rg sort gpg ffmpeg convert".split(),
        "save the exact command",
    ),
    **dict.fromkeys(
        "claude codex gemini opencode aider goose cursor-agent copilot amp q llm crush droid".split(),
        "it is an agent of its own; save the exact command",
    ),
    **dict.fromkeys(
        "set shopt bind alias unalias export declare typeset local readonly enable hash complete unset umask".split(),
        "it changes how the shell goes on; save the exact command",
    ),
}
# Words of a suite that run what follows them, or that reach further than they look.
RUNNERS = frozenset(
    {
        *((tool, word) for tool in CONTAINERS for word in ("run", "exec")),
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

DESTROYING = frozenset(
    "rm rmdir unlink shred srm trash truncate dd mkfs fdisk parted wipefs kill killall pkill shutdown reboot halt "
    "poweroff".split()
)
DESTROYING_WORDS = frozenset("destroy delete prune purge --force --hard --force-with-lease drop uninstall".split())
