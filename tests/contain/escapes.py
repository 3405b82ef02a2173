"""Ways out of a sandbox. Each succeeds bare, as the same user in the same folders, and must fail contained.

An attempt succeeded if its `proof` holds: a command that runs outside, after it. Without one, the attempt prints
ESCAPED itself."""

from __future__ import annotations

import shlex

from assent.contract import Value

PRELUDE = """
import ctypes, errno, os, platform, signal, socket, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
X86 = platform.machine() == "x86_64"
def call(x86, other, *words):
    number = x86 if X86 else other
    given = [ctypes.c_long(each) if isinstance(each, int) else each for each in words]
    return libc.syscall(ctypes.c_long(number), *given)
def escaped(done=True):
    if done:
        print("ESCAPED")
    else:
        print("failed:", errno.errorcode.get(ctypes.get_errno(), ctypes.get_errno()))
"""


def python(text: str) -> str:
    return f"/usr/bin/python3 -c {shlex.quote(PRELUDE + text)}"


class Escape(Value):
    """`prepare` runs outside first. `needs` says, outside, whether this machine can do it at all. `root`: the user is
    root, who could do it bare. `limits` are those of the profile."""

    __slots__ = ("id", "attempt", "prepare", "proof", "needs", "root", "memory", "processes", "hidden")

    def __init__(
        self,
        id: str,
        attempt: str,
        *,
        prepare: str = "",
        proof: str = "",
        needs: str = "",
        root: bool = False,
        memory: int = 8 * 10**9,
        processes: int = 1024,
        hidden: tuple[str, ...] = (),
    ) -> None:
        self.id = id
        self.attempt = attempt
        self.prepare = prepare
        self.proof = proof
        self.needs = needs
        self.root = root
        self.memory = memory
        self.processes = processes
        self.hidden = hidden


REPOSITORY = "git init -q . && mkdir -p .git/hooks .github/workflows && echo one > .github/workflows/ci.yml; "
EVIL_HOOK = "grep -q evil .git/hooks/pre-commit"
UNSHARES = "unshare -r true"  # this user may make namespaces

PROTECTED = [
    Escape("git-hook", "echo evil > .git/hooks/pre-commit", prepare=REPOSITORY, proof=EVIL_HOOK),
    Escape("git-config", "echo evil >> .git/config", prepare=REPOSITORY, proof="grep -q evil .git/config"),
    Escape(
        "git-attributes", "echo evil > .git/info/attributes", prepare=REPOSITORY, proof="test -s .git/info/attributes"
    ),
    Escape(
        "git-folder-renamed",
        "mv .git other; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit",
        prepare=REPOSITORY,
        proof=EVIL_HOOK,
    ),
    Escape(
        "git-folder-removed",
        "rm -rf .git; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit",
        prepare=REPOSITORY,
        proof=EVIL_HOOK,
    ),
    Escape(
        "git-folder-exchanged",
        "mkdir -p new/hooks; echo evil > new/hooks/pre-commit; "
        + python("call(316, 276, -100, b'new', -100, b'.git', 2)"),  # renameat2, RENAME_EXCHANGE
        prepare=REPOSITORY,
        proof=EVIL_HOOK,
    ),
    Escape("git-common-folder", "echo /tmp/evil > .git/commondir", prepare=REPOSITORY, proof="test -e .git/commondir"),
    Escape("git-file", "echo evil > .git", prepare="echo gitdir: /nowhere > .git", proof="grep -q evil .git"),
    Escape(
        "git-file-replaced",
        "echo evil > x; mv -f x .git",
        prepare="echo gitdir: /nowhere > .git",
        proof="grep -q evil .git",
    ),
    Escape(
        "git-rebase-todo",
        "mkdir -p .git/rebase-merge; echo exec evil > .git/rebase-merge/git-rebase-todo",
        prepare=REPOSITORY,
        proof="test -e .git/rebase-merge/git-rebase-todo",
    ),
    # Git writes the message of a commit, its log and its index through links.
    *(
        Escape(
            f"git-link-{name.replace('/', '-')}",
            f"mkdir -p .git/{name}; rm -rf .git/{name}; ln -s ~/.profile .git/{name}",
            prepare=REPOSITORY,
            proof=f"test -L .git/{name}",
        )
        for name in (
            *("COMMIT_EDITMSG", "MERGE_MSG", "FETCH_HEAD", "HEAD", "index", "packed-refs", "logs", "logs/HEAD"),
            *("logs/refs/heads/main", "refs/heads/main", "objects", "objects/ab", "objects/pack"),
        )
    ),
    Escape("git-pipe", "mkfifo .git/COMMIT_EDITMSG", prepare=REPOSITORY, proof="test -p .git/COMMIT_EDITMSG"),
    Escape(
        "git-link-changed",
        "ln -sfn ~/.profile .git/logs",
        prepare=REPOSITORY + "mkdir other; ln -s ../other .git/logs",
        proof='test "$(readlink .git/logs)" != ../other',
    ),
    Escape(
        "workflow",
        "echo evil > .github/workflows/ci.yml",
        prepare=REPOSITORY,
        proof="grep -q evil .github/workflows/ci.yml",
    ),
    Escape(
        "workflow-emptied",
        ": > .github/workflows/ci.yml",
        prepare=REPOSITORY,
        proof="! test -s .github/workflows/ci.yml",
    ),
    Escape(
        "workflow-deleted",
        "rm -f .github/workflows/ci.yml",
        prepare=REPOSITORY,
        proof="! test -e .github/workflows/ci.yml",
    ),
    Escape(
        "workflow-added",
        "echo evil > .github/workflows/b.yml",
        prepare=REPOSITORY,
        proof="test -e .github/workflows/b.yml",
    ),
    Escape(
        "workflow-parent-renamed",
        "mv .github x; mkdir -p .github/workflows; echo evil > .github/workflows/ci.yml",
        prepare=REPOSITORY,
        proof="grep -q evil .github/workflows/ci.yml",
    ),
    Escape(
        "grandparent-renamed",
        "mv a x; mkdir -p a/b/.vscode; echo evil > a/b/.vscode/tasks.json",
        prepare="mkdir -p a/b/.vscode; echo one > a/b/.vscode/tasks.json",
        proof="grep -q evil a/b/.vscode/tasks.json",
    ),
    Escape(
        "through-proc-root",
        'echo evil > "/proc/self/root$PWD/.git/hooks/pre-commit"',
        prepare=REPOSITORY,
        proof=EVIL_HOOK,
    ),
    Escape("through-proc-cwd", "echo evil > /proc/self/cwd/.git/hooks/pre-commit", prepare=REPOSITORY, proof=EVIL_HOOK),
    Escape("hard-link-out", "ln .git/config c && echo evil >> c", prepare=REPOSITORY, proof="grep -q evil .git/config"),
    Escape("hard-link-in", "echo evil > x; ln -f x .git/hooks/pre-commit", prepare=REPOSITORY, proof=EVIL_HOOK),
    Escape(
        "mode-changed",
        "chmod -x .git/hooks/a",
        prepare=REPOSITORY + "install -m755 /dev/null .git/hooks/a",
        proof="! test -x .git/hooks/a",
    ),
    Escape(
        "link-replaced",
        "rm .husky; mkdir .husky; echo evil > .husky/pre-commit",
        prepare="mkdir hooks; ln -s hooks .husky",
        proof="test ! -L .husky",
    ),
    Escape("link-removed", "rm .husky", prepare="mkdir hooks; ln -s hooks .husky", proof="test ! -L .husky"),
    Escape(
        "installed-code",
        "echo evil > node_modules/a/index.js",
        prepare="mkdir -p node_modules/a",
        proof="test -e node_modules/a/index.js",
    ),
    Escape(
        "installed-code-renamed",
        "mv node_modules x; mkdir -p node_modules/a",
        prepare="mkdir -p node_modules/a",
        proof="test -e x",
    ),
    Escape(
        "installed-python", "echo evil > .venv/lib/x.pth", prepare="mkdir -p .venv/lib", proof="test -e .venv/lib/x.pth"
    ),
    Escape(
        "remounted",
        "unshare -rm bash -c 'mount -o remount,bind,rw .git/hooks; echo evil > .git/hooks/pre-commit'",
        prepare=REPOSITORY,
        proof=EVIL_HOOK,
        needs=UNSHARES,
    ),
    Escape(
        "unmounted",
        "unshare -rm bash -c 'umount -l .git/hooks; echo evil > .git/hooks/pre-commit'",
        prepare=REPOSITORY,
        proof=EVIL_HOOK,
        needs=UNSHARES,
    ),
    Escape(
        "bound-elsewhere",
        "unshare -rm bash -c 'mkdir b; mount --rbind .git b; echo evil > b/hooks/pre-commit'",
        prepare=REPOSITORY,
        proof=EVIL_HOOK,
        needs=UNSHARES,
    ),
]

ABSENT = [
    Escape("absent-folder", "mkdir .husky; echo evil > .husky/pre-commit", proof="test -e .husky"),
    Escape("absent-file", "echo evil > .envrc", proof="test -e .envrc"),
    Escape("absent-by-link", "echo evil > x; ln -s x .envrc", proof="test -L .envrc"),
    Escape("absent-by-hard-link", "echo evil > x; ln x .envrc", proof="test -e .envrc"),
    Escape("absent-by-rename", "mkdir x; echo evil > x/pre-commit; mv x .husky", proof="test -e .husky"),
    Escape(
        "absent-below-a-rename",
        "mv x .github",
        prepare="mkdir -p x/workflows; echo evil > x/workflows/a.yml",
        proof="test -e .github/workflows",
    ),
    Escape(
        "absent-below-two-renames",
        "mv x/y x/.github; mv x z",
        prepare="mkdir -p x/y/workflows",
        proof="test -e z/.github/workflows",
    ),
    Escape(
        "absent-and-deep",
        "mkdir -p a/b/c/d/.vscode; echo evil > a/b/c/d/.vscode/tasks.json",
        proof="test -e a/b/c/d/.vscode",
    ),
    Escape(
        "absent-with-old-times",
        "mkdir .husky; echo evil > .husky/a; touch -d 2001-01-01 .husky/a .husky .",
        proof="test -e .husky",
    ),
    Escape("absent-in-a-closed-folder", "mkdir -p x/.husky; chmod 000 x", proof="chmod 700 x; test -e x/.husky"),
    Escape("absent-and-closed", "mkdir .husky; chmod 000 .husky", proof="test -e .husky"),
    Escape("absent-in-a-read-only-folder", "mkdir -p x/.husky; chmod 500 x", proof="chmod 700 x; test -e x/.husky"),
    Escape(
        "absent-and-too-deep",
        python("for _ in range(200):\n    os.mkdir('d'); os.chdir('d')\nos.mkdir('.husky')"),
        proof='test -n "$(find . -name .husky)"',
    ),
    Escape(
        "absent-and-too-long",
        python("for _ in range(40):\n    os.mkdir('d' * 250); os.chdir('d' * 250)\nos.mkdir('.husky')"),
        proof='test -n "$(find . -name .husky)"',
    ),
    Escape(
        "absent-in-a-closed-workspace",
        "mkdir .husky; chmod 000 .",
        proof="chmod 700 $BOX_NAME/projects/work; test -e $BOX_NAME/projects/work/.husky",
    ),
    Escape("absent-in-new-installed-code", "mkdir -p vendor/a/.vscode", proof="test -e vendor/a/.vscode"),
    Escape(
        "absent-in-a-cache-of-installed-code",
        "mkdir -p node_modules/.cache/.vscode",
        prepare="mkdir -p node_modules/.cache",
        proof="test -e node_modules/.cache/.vscode",
    ),
    Escape(
        "absent-repository", "git init -q sub; echo evil > sub/.git/hooks/pre-commit", proof="test -e sub/.git/hooks"
    ),
    Escape("absent-gitfile", "mkdir sub; echo gitdir: /tmp/x > sub/.git", proof="test -e sub/.git"),
    Escape(
        "absent-agent-settings",
        "mkdir -p .roo; echo evil > .roo/mcp.json; echo '{}' > .mcp.json",
        proof="test -e .mcp.json -o -e .roo",
    ),
    Escape("absent-socket-name", python("socket.socket(socket.AF_UNIX).bind('.envrc')"), proof="test -e .envrc"),
    Escape("absent-pipe", "mkfifo .envrc", proof="test -e .envrc"),
    Escape(
        "absent-with-odd-name",
        "mkdir $'a\\nb'; echo evil > $'a\\nb/x.code-workspace'",
        proof="test -n \"$(find . -name '*.code-workspace')\"",
    ),
]

WRITES = [
    Escape("write-home", "echo evil >> ~/.bashrc", proof="test -e ~/.bashrc"),
    Escape(
        "write-programs",
        "mkdir -p ~/.local/bin; echo evil > ~/.local/bin/ls",
        prepare="mkdir -p ~/.local/bin",
        proof="test -e ~/.local/bin/ls",
    ),
    Escape(
        "write-toolchain",
        "echo evil > ~/.cargo/bin/cargo",
        prepare="mkdir -p ~/.cargo/bin",
        proof="test -e ~/.cargo/bin/cargo",
    ),
    Escape(
        "write-cache", "echo evil > ~/.cache/pip/x", prepare="mkdir -p ~/.cache/pip", proof="test -e ~/.cache/pip/x"
    ),
    Escape(
        "write-state",
        "echo evil > ~/.assent/config.toml",
        prepare="mkdir -p -m700 ~/.assent",
        proof="test -e ~/.assent/config.toml",
    ),
    Escape(
        "write-runner",
        "echo evil > ~/.assent/bin/assent-contain",
        prepare="mkdir -p -m700 ~/.assent/bin",
        proof="grep -q '^evil' ~/.assent/bin/assent-contain",
    ),
    Escape(
        "write-ticket",
        "echo evil > ~/.assent/contain/tickets/x",
        prepare="umask 077; mkdir -p ~/.assent/contain/tickets",
        proof="test -e ~/.assent/contain/tickets/x",
    ),
    Escape("write-beside", "echo evil > ../other", proof="test -e ../other"),
    Escape("write-above", "echo evil > ../../other", proof="test -e ../../other"),
    Escape(
        "write-shared-tmp",
        "echo evil > /tmp/$(basename $BOX_NAME).evil",
        proof="test -e /tmp/$(basename $BOX_NAME).evil && rm /tmp/$(basename $BOX_NAME).evil",
    ),
    Escape("write-through-a-link", "ln -s ../../other l; echo evil > l", proof="test -e ../../other"),
    Escape(
        "write-through-a-link-that-was-there", "echo evil > l", prepare="ln -s $HOME/other l", proof="test -e ~/other"
    ),
    Escape("workspace-renamed", "cd ..; mv work other; mkdir -p work", proof="test -e ../other"),
]

READS = [
    Escape(
        "read-ssh-key",
        "cat ~/.ssh/id_rsa | grep -q KEY && echo ESCAPED",
        prepare="mkdir ~/.ssh; echo KEY > ~/.ssh/id_rsa",
    ),
    Escape(
        "read-cloud",
        "grep -q KEY ~/.aws/credentials && echo ESCAPED",
        prepare="mkdir ~/.aws; echo KEY > ~/.aws/credentials",
    ),
    Escape("read-netrc", "grep -q KEY ~/.netrc && echo ESCAPED", prepare="echo KEY > ~/.netrc"),
    Escape(
        "read-settings",
        "grep -q KEY ~/.config/gh/hosts.yml && echo ESCAPED",
        prepare="mkdir -p ~/.config/gh; echo KEY > ~/.config/gh/hosts.yml",
    ),
    Escape("read-history", "grep -q KEY ~/.bash_history && echo ESCAPED", prepare="echo KEY > ~/.bash_history"),
    Escape(
        "read-credentials-of-a-toolchain",
        "grep -q KEY ~/.cargo/credentials.toml && echo ESCAPED",
        prepare="mkdir -p ~/.cargo/bin; echo KEY > ~/.cargo/credentials.toml",
    ),
    Escape(
        "read-another-project",
        "grep -q KEY ../other/x && echo ESCAPED",
        prepare="mkdir ../other; echo KEY > ../other/x",
    ),
    Escape(
        "read-state",
        "grep -q KEY ~/.assent/token && echo ESCAPED",
        prepare="mkdir -p -m700 ~/.assent; echo KEY > ~/.assent/token",
    ),
    Escape(
        "read-key-in-the-workspace",
        "cat keys/.ssh/id_rsa keys/.s*/* | grep -q KEY && echo ESCAPED",
        prepare="mkdir -p keys/.ssh; echo KEY > keys/.ssh/id_rsa",
    ),
    Escape(
        "read-key-file-in-the-workspace",
        "grep -q KEY test/id_ed25519 && echo ESCAPED",
        prepare="mkdir test; echo KEY > test/id_ed25519",
    ),
    Escape(
        "read-key-by-a-new-name",
        "mv keys k; grep -rq KEY k && echo ESCAPED",
        prepare="mkdir -p keys/.ssh; echo KEY > keys/.ssh/id_rsa",
    ),
    Escape(
        "read-hidden",
        "cat private/x ~/.cache/pip/y | grep -q KEY && echo ESCAPED",
        prepare="mkdir -p private ~/.cache/pip; echo KEY | tee private/x > ~/.cache/pip/y",
        hidden=("private", "~/.cache/pip"),
    ),
    Escape(
        "read-through-a-link",
        "ln -s ~/.ssh s; grep -q KEY s/id_rsa && echo ESCAPED",
        prepare="mkdir ~/.ssh; echo KEY > ~/.ssh/id_rsa",
    ),
    Escape("read-environment", "env | grep -q CANARY && echo ESCAPED"),
    Escape(
        "read-environment-of-others",
        "cat /proc/[0-9]*/environ 2>/dev/null | grep -qz OTHER=CANARY && echo ESCAPED",
        prepare="OTHER=CANARY setsid sleep 314159 > /dev/null 2>&1 < /dev/null & echo $! > ../pid",
    ),
    Escape(
        "read-through-another-process",
        "grep -q KEY /proc/[0-9]*/root$HOME/.ssh/id_rsa && echo ESCAPED",
        prepare="mkdir ~/.ssh; echo KEY > ~/.ssh/id_rsa",
    ),
    Escape(
        "list-processes",
        "ps ax | grep -v grep | grep -q 'sleep 31[4]159' && echo ESCAPED",
        prepare="setsid sleep 314159 > /dev/null 2>&1 < /dev/null & echo $! > ../pid",
    ),
]
