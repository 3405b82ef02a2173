"""Command lines that start an agent program without its hooks. Knows the programs' own options; reads no settings."""

from __future__ import annotations

from assent.contract.pattern import Pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from assent.contract.effect import Invocation

# A program by the names that it goes by: its command, the package that brings it, the file that is run.
PROGRAMS = {
    "claude": "claude",
    "claude-code": "claude",
    "codex": "codex",
    "gemini": "gemini",
    "gemini-cli": "gemini",
    "opencode": "opencode",
    "opencode-ai": "opencode",
    "qwen": "qwen",
    "qwen-code": "qwen",
    "copilot": "copilot",
    "cursor-agent": "cursor-agent",
    "cline": "cline",
    "oh": "oh",
}
_INSIDE = Pattern(
    r".*(?:@anthropic-ai/(claude)-code|@openai/(codex)|@google/(gemini)-cli|(opencode)-ai|@qwen-code/(qwen)-code"
    r"|@github/(copilot)).*"
)
# What runs a program of a package, or a file of one.
RUNNERS = frozenset("node nodejs bun deno tsx npx bunx pnpx pnpm npm yarn".split())
# What gives a program other files in the place of its settings.
CAGES = frozenset("bwrap proot firejail chroot fakechroot systemd-nspawn minijail0 nsjail".split())
# Options with which hooks are passed by, and settings in other places than the installer knows.
OPTIONS = {
    "claude": ("--bare", "--safe-mode", "--restricted", "--setting-sources", "--settings", "--managed-settings"),
    "codex": ("--dangerously-bypass-hook-trust", "--ignore-user-config", "--ignore-rules"),
    "gemini": ("--acp", "--experimental-acp", "-e", "--extensions"),
    "opencode": ("--pure",),
    "qwen": ("--bare", "--safe-mode", "--acp", "--experimental-acp", "-e", "--extensions"),
    "copilot": ("--config-dir", "--acp"),
    "cline": ("--config", "--data-dir", "--acp"),
}
# Words in their order, with anything between, that change the settings by which hooks are called.
COMMANDS = {
    "codex": (("features", "disable"), ("features", "enable"), ("exec-server",)),
    "gemini": (("hooks", "disable"), ("extensions", "disable"), ("extensions", "uninstall")),
    "qwen": (("hooks", "disable"), ("extensions", "disable"), ("extensions", "uninstall")),
    "claude": (("plugin", "disable"), ("plugin", "uninstall"), ("config", "set"), ("config", "remove")),
}
_HOOKS = Pattern(r".*hooks.*")
_VARIABLE = Pattern(
    r"(?:CLAUDE_|CODEX_|GEMINI_|OPENCODE_|QWEN_|COPILOT_|CLINE_|CURSOR_|XDG_CONFIG_|HOME=|NODE_OPTIONS=|LD_|DYLD_)"
    r"(?!\w*(?:MODEL|API_KEY|BASE_URL|EFFORT|MAX_\w*TOKENS|TELEMETRY|AUTOUPDATE\w*|NONESSENTIAL_TRAFFIC)=).*=.*",
)


def unhooked(invocation: Invocation) -> str:
    """Why a command starts an agent without its hooks; `""` where it does not."""
    program = invocation.program
    words: Sequence[str] = invocation.words[1:]
    if program == "env":
        return _environment(words)
    if program in CAGES:
        return f"an agent would start without its hooks: under `{program}`" if any(map(named, words)) else ""
    name = PROGRAMS.get(program, "")
    if not name and program in RUNNERS:
        name, words = _run(words)
    return _options(name, words) if name else ""


def named(word: str) -> str:
    """The agent program that a word names: `claude`, `/usr/bin/claude`, `@openai/codex@latest`, …/cli.js; else `""`."""
    known = PROGRAMS.get(word.rpartition("/")[2].partition("@")[0])
    if known is None:
        found = _INSIDE.fullmatch(word)
        known = next((each for each in found.groups() if each), "") if found else ""
    return known


def _run(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The agent program that a runner runs, and what it is told."""
    for at, word in enumerate(words):
        found = _INSIDE.fullmatch(word)
        if found:
            return next((each for each in found.groups() if each), ""), words[at + 1 :]
    return "", ()


def _options(name: str, words: Sequence[str]) -> str:
    for word in words:
        if word == "--" and name != "claude":  # behind a package runner the options stand after it
            continue
        option = word.partition("=")[0]
        if option in OPTIONS.get(name, ()):
            return f"an agent would start without its hooks: `{option}`"
        if "disableAllHooks" in word:
            return "an agent would start without its hooks: `disableAllHooks`"
    if name == "codex" and _switched(words):
        return "an agent would start without its hooks: it is told so by an option"
    for command in COMMANDS.get(name, ()):
        rest = iter(words)
        if all(part in rest for part in command):
            return f"this changes what hooks an agent has: `{' '.join(command)}`"
    return ""


def _switched(words: Sequence[str]) -> bool:
    """`--disable hooks`, `--disable=hooks`, `-c features.hooks=false`, `-chooks…`, `--config 'hooks=…'`."""
    before = ""
    for word in words:
        option, _, glued = word.partition("=") if word.startswith("--") else (word[:2], "", word[2:])
        if option in ("--disable", "--config", "-c") and _HOOKS.fullmatch(glued):
            return True
        if before in ("--disable", "--config", "-c") and _HOOKS.fullmatch(word):
            return True
        before = word
    return False


def _environment(words: Sequence[str]) -> str:
    """`env` with a variable by which an agent program takes other settings, before that program."""
    place = next((at for at, word in enumerate(words) if named(word)), -1)
    if place < 0:
        return ""
    before = words[:place]
    if any(_VARIABLE.fullmatch(word) for word in before):
        return "an agent would start without its hooks: in another environment"
    letters = "".join(word[1:] for word in before if word[:1] == "-" and word[:2] != "--")
    cleared = "i" in letters or any(word in ("-", "--ignore-environment") for word in before)
    unset = [word.removeprefix("--unset=").removeprefix("-u") for word in before]
    if cleared or any(word in ("HOME", "PATH") or word.startswith("XDG_CONFIG") for word in unset):
        return "an agent would start without its hooks: in another environment"
    return ""
