"""What each runtime makes of a hook's answer, as data: what was seen, and in which version. Renders nothing.

The one place for knowledge of versions; `doctor`, `install` and docs/runtimes.md read it. Not loaded by a hook."""

from __future__ import annotations

from assent.contract.choice import Enum
from assent.contract.value import Value


class Does(Enum):
    """What becomes of the call."""

    RUNS = "runs"
    HOST = "the runtime's own rules decide"
    ASKS = "its dialog opens"
    BLOCKS = "blocked"
    ENDS = "the whole run ends"
    UNKNOWN = "not known"


class Source(Enum):
    """How we know."""

    OBSERVED = "observed"
    DOCUMENTED = "from its documentation"


class Capabilities(Value):
    """One runtime.

    `allow`, `ask`, `ask_headless`, `deny` and `error` are what our own answers turn into, `error` being the form that
    an adapter uses for a fault. `exit_1`, `crash` (a signal, a missing program), `timeout` and `garbage` (output that
    is no answer) are what a broken hook turns into, after what the installer sets. Times are in seconds; `longest` is
    the limit that no setting lifts, 0 where none was seen (an adapter's `limit` is the same where a call then runs).
    `http`, `permission_hook` and `dialog` say what the runtime has. `exceptions` are the ways past the gate that no
    answer of ours closes, and `since` what needs at least a version. `exposed` is what a repository can do to a hook in
    the user's settings before the program starts (`""`: nothing), `managed` whether a hook in the machine's settings
    withstands that."""

    __slots__ = (
        "runtime",
        "title",
        "version",
        "source",
        "allow",
        "ask",
        "ask_headless",
        "deny",
        "error",
        "exit_1",
        "crash",
        "timeout",
        "garbage",
        "default_timeout",
        "longest",
        "http",
        "permission_hook",
        "dialog",
        "exceptions",
        "since",
        "exposed",
        "managed",
    )

    def __init__(
        self,
        runtime: str,
        title: str,
        version: str,
        *,
        allow: Does,
        ask: Does,
        ask_headless: Does,
        deny: Does,
        error: Does,
        exit_1: Does,
        crash: Does,
        timeout: Does,
        garbage: Does,
        default_timeout: float,
        longest: float = 0,
        source: Source = Source.OBSERVED,
        http: bool = False,
        permission_hook: bool = False,
        dialog: bool = True,
        exceptions: tuple[str, ...] = (),
        since: tuple[tuple[str, str], ...] = (),
        exposed: str = "",
        managed: bool = False,
    ) -> None:
        self.runtime = runtime
        self.title = title
        self.version = version
        self.source = source
        self.allow = allow
        self.ask = ask
        self.ask_headless = ask_headless
        self.deny = deny
        self.error = error
        self.exit_1 = exit_1
        self.crash = crash
        self.timeout = timeout
        self.garbage = garbage
        self.default_timeout = default_timeout
        self.longest = longest
        self.http = http
        self.permission_hook = permission_hook
        self.dialog = dialog
        self.exceptions = exceptions
        self.since = since
        self.exposed = exposed
        self.managed = managed

    @property
    def fails_open(self) -> tuple[str, ...]:
        """The breakdowns of a hook after which the call runs, whatever an adapter does."""
        broken = {"exit 1": self.exit_1, "crash": self.crash, "timeout": self.timeout, "garbage": self.garbage}
        return tuple(name for name, does in broken.items() if does not in (Does.BLOCKS, Does.ENDS, Does.ASKS))


RUNS, HOST, ASKS, BLOCKS, ENDS, UNKNOWN = Does.RUNS, Does.HOST, Does.ASKS, Does.BLOCKS, Does.ENDS, Does.UNKNOWN

TABLE: tuple[Capabilities, ...] = (
    Capabilities(
        "claude",
        "Claude Code",
        "2.1.325",
        allow=RUNS,
        ask=ASKS,
        ask_headless=BLOCKS,
        deny=BLOCKS,
        error=BLOCKS,
        exit_1=BLOCKS,
        crash=BLOCKS,
        timeout=BLOCKS,
        garbage=HOST,
        default_timeout=600,
        http=True,
        permission_hook=True,
        exposed="`disableAllHooks` in a repository's settings switches it off, and a hook of a repository can rewrite "
        "a call after the allow",
        managed=True,
        exceptions=(
            "before 2.1.295 `onFailure` is ignored without a word: a hook that crashes, exits with 1 or times out lets "
            "the call run",
            "an allow does not open plan mode, nor writes to `.git`, `.claude`, `.vscode`, `.mcp.json` and shell "
            "start-up files: there the dialog still opens",
            "shell commands inside skills and slash commands fire no hook; set `disableSkillShellExecution`",
            "`--bare`, `--safe-mode`, `--restricted`, `--setting-sources`, `CLAUDE_CONFIG_DIR` and `disableAllHooks` "
            "in a project's settings switch user hooks off, also where the user's settings say "
            "`disableAllHooks: false`; managed hooks stay",
            "a settings file with a comment, a trailing comma or an entry that Claude Code does not know is not loaded "
            "at all, with the hooks in it",
            "another hook may change the input of a call after ours allowed it: of several the one that ends last is "
            "obeyed, also beside a managed hook; only `allowManagedHooksOnly` in managed settings (`--scope managed "
            "--harden`) keeps a repository's hooks out",
            "a project's settings may set the environment of hooks: a library that they preload reaches a hook in "
            "Python, and not the compiled client",
            "a hook that ends well and prints nothing, or nothing that it can read, is no answer: Claude Code's own "
            "rules decide",
            "an HTTP hook is told neither the project's folder nor whether somebody attends; a command hook is",
            "for HTTP hooks a proxy variable without `NO_PROXY`, or a project's empty `allowedHttpHookUrls`, keeps the "
            "hook from being reached",
        ),
        since=(("onFailure", "2.1.295"),),
    ),
    Capabilities(
        "claude-prompt",
        "Claude Code, `--permission-prompt-tool`",
        "2.1.325",
        allow=RUNS,
        ask=BLOCKS,
        ask_headless=BLOCKS,
        deny=BLOCKS,
        error=BLOCKS,
        exit_1=BLOCKS,
        crash=BLOCKS,
        timeout=UNKNOWN,
        garbage=BLOCKS,
        default_timeout=0,
        permission_hook=True,
        dialog=False,
        exceptions=("sees only the calls that Claude Code itself would ask about",),
    ),
    Capabilities(
        "codex",
        "Codex CLI",
        "0.166.0",
        allow=HOST,
        ask=BLOCKS,
        ask_headless=BLOCKS,
        deny=BLOCKS,
        error=BLOCKS,
        exit_1=BLOCKS,
        crash=BLOCKS,
        timeout=HOST,
        garbage=HOST,
        default_timeout=600,
        permission_hook=True,
        exposed="`features.hooks = false` in a repository's `.codex/config.toml` switches it off, trusted or not",
        managed=True,
        exceptions=(
            "an ask is a denial, but for shell commands where the asking program is installed: then Codex's own dialog "
            "opens, which does not show our reason; in `codex exec` it is a denial, or asked on the page",
            "text typed into a running program (`write_stdin`) fires no hook: an interpreter that was allowed to start "
            "takes anything",
            "a hook that was not reviewed and trusted is skipped, in `codex exec` without a word",
            "`--disable hooks`, and `features.hooks = false` in a project's `.codex/config.toml`, switch hooks off, "
            "those in `/etc/codex/config.toml` too; `--scope managed` writes `managed_config.toml`, which pins "
            "the feature",
            "the payload names the folder of the call, which the model chooses, and not that of the project",
        ),
    ),
    Capabilities(
        "gemini",
        "Gemini CLI",
        "0.61.0",
        allow=HOST,
        ask=ASKS,
        ask_headless=BLOCKS,
        deny=BLOCKS,
        error=BLOCKS,
        exit_1=BLOCKS,
        crash=BLOCKS,
        timeout=HOST,
        garbage=HOST,
        default_timeout=60,
        exposed="`hooksConfig.enabled = false` in a repository's settings switches it off where the folder is trusted",
        managed=True,
        exceptions=(
            "with `--acp` (editors) no hook fires",
            "with a trailing comma in its settings Gemini CLI does not start; comments are taken",
            "in a folder that is not trusted user hooks are off; hooks of an extension still fire",
            "a trusted project's settings can switch hooks off: `hooksConfig.enabled` those of the user and of "
            "extensions, `hooksConfig.disabled` every hook whose name they know; `--scope managed` sets the first, and "
            "our hook has a name that cannot be guessed",
            "no event tells whether somebody attends, and without a person Gemini CLI waits for ever for the answer to "
            "an ask; Assent looks at its process and denies, but where there is no `/proc` it cannot",
            "an ask also opens what a policy file of Gemini CLI denies",
            "an allow does not skip Gemini CLI's own question; a policy file does",
        ),
    ),
    Capabilities(
        "opencode",
        "opencode",
        "1.18.33",
        allow=RUNS,
        ask=ASKS,
        ask_headless=BLOCKS,
        deny=BLOCKS,
        error=BLOCKS,
        exit_1=BLOCKS,
        crash=BLOCKS,
        timeout=BLOCKS,
        garbage=BLOCKS,
        default_timeout=0,
        permission_hook=True,
        exposed="a plugin of a repository runs inside opencode, without a question, and can do what it likes there",
        exceptions=(
            "a plugin that is missing or does not load is passed over in silence; `--pure` and `OPENCODE_PURE` load "
            "none",
            "`--auto` approves every ask by itself; denials hold",
            "its dialog has no place for a reason, which is shown in a notice beside it; for what Assent allows the "
            "dialog opens for a moment, until the plugin has answered it",
            "an answer of *always* in opencode's dialog holds for its own pattern from then on",
            "a tool of a plugin, and shell text in which opencode sees no command, opens no dialog: there an ask is a "
            "denial",
            "a plugin of a repository (`.opencode/plugin`) is loaded without a question: arguments that it changes "
            "after ours allowed them make the call fail, but as a part of the same process it can do anything else",
        ),
    ),
    Capabilities(
        "qwen",
        "Qwen Code",
        "0.24.4",
        allow=HOST,
        ask=ASKS,
        ask_headless=BLOCKS,
        deny=BLOCKS,
        error=BLOCKS,
        exit_1=BLOCKS,
        crash=BLOCKS,
        timeout=HOST,
        garbage=HOST,
        default_timeout=60,
        longest=60,
        permission_hook=True,
        exposed="`disableAllHooks` in a repository's settings switches it off",
        managed=True,
        exceptions=(
            "the hook before a tool comes after Qwen Code asked the person, so an allow spares no question there; what "
            "we ask about is asked once, by the hook, as its permission request is answered for it",
            "`disableAllHooks` in a project's settings switches hooks off, but those of `--scope managed`; "
            "`--safe-mode` switches off all",
            "a call whose hook has not answered within 60 s runs, whatever `timeout` says: a person has 47 s",
            "with a trailing comma in its settings Qwen Code does not start; comments are taken",
        ),
    ),
    Capabilities(
        "copilot",
        "Copilot CLI",
        "1.0.102",
        allow=RUNS,
        ask=ASKS,
        ask_headless=BLOCKS,
        deny=BLOCKS,
        error=BLOCKS,
        exit_1=BLOCKS,
        crash=BLOCKS,
        timeout=HOST,
        garbage=HOST,
        default_timeout=30,
        permission_hook=True,
        exposed="`disableAllHooks` in the settings of a repository that is trusted switches it off",
        exceptions=(
            "an allow also opens what `--deny-tool` closes",
            "`disableAllHooks` in a repository's settings switches user hooks off, and a hook file that does not parse "
            "is passed over",
            "the payload does not tell the project's folder from the call's",
            "the tools of MCP servers arrive as `server-tool`; the server is told by the names in Copilot's settings, "
            "and of one that is named on the command line alone by the last hyphen",
        ),
    ),
    Capabilities(
        "cursor",
        "Cursor",
        "2.4",
        source=Source.DOCUMENTED,
        allow=RUNS,
        ask=ASKS,
        ask_headless=UNKNOWN,
        deny=BLOCKS,
        error=BLOCKS,
        exit_1=UNKNOWN,
        crash=UNKNOWN,
        timeout=UNKNOWN,
        garbage=UNKNOWN,
        default_timeout=0,
        exceptions=(
            "not tried with the program: treat it as failing open until `assent doctor` saw it block",
            "only the hooks before shell commands and MCP tools ask; before other tools an ask is a denial",
        ),
    ),
    Capabilities(
        "cline",
        "Cline CLI",
        "3.0.65",
        allow=RUNS,
        ask=ENDS,
        ask_headless=ENDS,
        deny=ENDS,
        error=ENDS,
        exit_1=ENDS,
        crash=ENDS,
        timeout=RUNS,
        garbage=UNKNOWN,
        default_timeout=120,
        longest=120,
        exceptions=(
            "the hook file is all that is installed, and it can only end the run, with the calls beside the denied "
            "one; Cline shows its reason neither to the model nor to the person: `assent audit tail` has it",
            "other answers do not help: `skip`, `review` and `contextModification` of a hook file let the call run; "
            "`overrideInput` could put a command in its place that fails with the reason, and a version that does not "
            "know it would run the call; a plugin refuses one call alone, but has 3 seconds, and one that does not "
            "load is passed over",
            "a hook file that is not executable is passed over",
            "a call whose hook has not answered within 120 s runs: a person has 97 s",
        ),
    ),
    Capabilities(
        "openharness",
        "OpenHarness",
        "0.1.9",
        allow=HOST,
        ask=BLOCKS,
        ask_headless=BLOCKS,
        deny=BLOCKS,
        error=BLOCKS,
        exit_1=BLOCKS,
        crash=BLOCKS,
        timeout=BLOCKS,
        garbage=HOST,
        default_timeout=30,
        longest=600,
        http=True,
        exceptions=(
            "all of it needs `block_on_failure` in the hook's entry; without it nothing blocks",
            "a hook is told no session and, over HTTP, no folder",
            "an exit status of 0 allows, whatever is printed",
        ),
    ),
)

CAPABILITIES: dict[str, Capabilities] = {each.runtime: each for each in TABLE}
NAMES = {each.runtime: each.title.partition(",")[0] for each in TABLE}
