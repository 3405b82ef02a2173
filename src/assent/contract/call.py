"""A tool call, and the facts that the host adds to it: the input of every decision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assent.contract.effect import Effect
from assent.contract.errors import PayloadError
from assent.contract.value import Value, texts

ANNOTATIONS = {  # the words for them in rules
    "read_only": "readOnlyHint",
    "destructive": "destructiveHint",
    "idempotent": "idempotentHint",
    "open_world": "openWorldHint",
}


def annotations_of(given: object) -> dict[str, bool]:
    """The known annotations of a tool. Anything but true and false, like the text "true", is not known."""
    if not isinstance(given, dict):
        return {}
    return {name: found for name in ANNOTATIONS.values() if isinstance(found := given.get(name), bool)}


DEFINITION_STATES = ("", "twice", "changed", "hidden", "unknown")
DEFINITION_FIELDS = ("state", "digest", "shown", "warning")


def definition_of(given: object) -> dict[str, str]:
    """What is wrong with a tool's definition. Raises PayloadError for anything that is not understood."""
    if not given:
        return {}
    if not isinstance(given, dict) or not all(
        key in DEFINITION_FIELDS and isinstance(value, str) for key, value in given.items()
    ):
        raise PayloadError(f"`definition` has only the texts {', '.join(DEFINITION_FIELDS)}")
    if given.get("state", "") not in DEFINITION_STATES:
        raise PayloadError(f"`{given['state']:.40}` is no state of a definition")
    return {str(key): value for key, value in given.items() if value}


class Call(Value):
    """A tool call of an agent, before it runs.

    `roots` are the workspace folders, fixed for the session by the host, never taken from the call; `cwd` is the folder
    the call runs in, which the model may choose; `home` is the user's folder. `shell` names the shell a shell call runs
    in (`""`: not known). `description` is the agent's own text: shown to people, never believed. `hint` is the hint of
    a tool's server, which can only tighten: `destructive`, or `""`. `annotations` are the server's hints as it gives
    them (`readOnlyHint`…), true or false; others are not known. They are believed only where a person's rule says so.
    `definition` says how the definition of an MCP tool differs from the accepted one. Its `state` is `twice` (the
    server lists the tool twice), `changed`, `hidden` (it contains hidden characters) or `unknown` (the server says that
    it has changed, and does not list it); `shown` is the text for a person, `digest` binds answers to it, `warning` has
    points to check. Empty: there is nothing to say. `path` is the PATH of the call, `keeps` the state its shell keeps
    after the call: `folder`, `shell` (all of it). Both are `""` if unknown. `agent` is the sub-agent that makes the
    call, by its name in the runtime (`""`: none, or not known)."""

    # fmt: off
    __slots__ = (
        "tool", "input", "cwd", "roots", "home", "session", "runtime", "description", "shell", "hint", "path", "keeps",
        "agent", "annotations", "definition",
    )
    # fmt: on

    def __init__(
        self,
        tool: str,
        input: Mapping[str, object],
        *,
        cwd: str = "",
        roots: Sequence[str] = (),
        home: str = "",
        session: str = "",
        runtime: str = "",
        description: str = "",
        shell: str = "",
        hint: str = "",
        path: str = "",
        keeps: str = "",
        agent: str = "",
        annotations: object = None,
        definition: object = None,
    ) -> None:
        self.tool = tool
        self.input = input
        self.cwd = cwd
        self.roots: tuple[str, ...] = roots if isinstance(roots, tuple) else texts(roots, "roots")
        self.home = home
        self.session = session
        self.runtime = runtime
        self.description = description
        self.shell = shell
        self.hint = hint
        self.path = path
        self.keeps = keeps
        self.agent = agent
        self.annotations: Mapping[str, bool] = annotations_of(annotations) if annotations else {}
        self.definition: Mapping[str, str] = definition_of(definition) if definition else {}

    @property
    def destructive(self) -> bool:
        """Whether the tool's server calls it destructive."""
        return self.hint == "destructive" or self.annotations.get("destructiveHint") is True

    def but(
        self,
        *,
        tool: str | None = None,
        input: Mapping[str, object] | None = None,
        cwd: str | None = None,
        roots: tuple[str, ...] | None = None,
        home: str | None = None,
        session: str | None = None,
        runtime: str | None = None,
        path: str | None = None,
        keeps: str | None = None,
    ) -> Call:
        """The same call with other fields."""
        return Call(
            self.tool if tool is None else tool,
            self.input if input is None else input,
            cwd=self.cwd if cwd is None else cwd,
            roots=self.roots if roots is None else roots,
            home=self.home if home is None else home,
            session=self.session if session is None else session,
            runtime=self.runtime if runtime is None else runtime,
            description=self.description,
            shell=self.shell,
            hint=self.hint,
            path=self.path if path is None else path,
            keeps=self.keeps if keeps is None else keeps,
            agent=self.agent,
            annotations=self.annotations,
            definition=self.definition,
        )

    def __hash__(self) -> int:
        return hash((self.tool, self.cwd, self.session))


class Server(Value):
    """Assent's own server: its process id and port. `named`: the call's text contains the port."""

    __slots__ = ("pid", "port", "named")

    def __init__(self, pid: str, port: str = "", *, named: bool = False) -> None:
        self.pid = pid
        self.port = port
        self.named = named


class Below(Value):
    """The content of a folder. `leads`: the targets of links that point out of it, with whether each is a folder.
    `names`: the paths below it, if rules match such paths. `whole`: `leads` is complete; `listed`: `names` is complete.
    `linked`: there are links, including those that stay inside."""

    __slots__ = ("leads", "names", "whole", "listed", "linked")

    def __init__(
        self,
        *,
        leads: tuple[tuple[str, bool], ...] = (),
        names: tuple[str, ...] = (),
        whole: bool = True,
        listed: bool = False,
        linked: bool = False,
    ) -> None:
        self.leads = leads
        self.names = names
        self.whole = whole
        self.listed = listed
        self.linked = linked


class Facts(Value):
    """`canonical`: a target's `raw or name` → the path it leads to (absent: the path itself).
    `roots`: the workspace folders, lexical and canonical forms, worktrees and extra folders included; `/`, homes,
    their ancestors and system trees are never among them.
    `home`: the user's folder. `aliases`: pairs of a path and the guarded path it is another name of: a folder that
    `~/.ssh` links to, a state folder elsewhere, a hard link. `own`: Assent's own files and folders, canonical.
    `folds_case`: absolute folders on case-insensitive file systems.
    `repositories`: folder → why git is not harmless there; `""` is harmless, absent is not known.
    `elsewhere`: folders of other repositories in which git that only reads runs nothing. `linked`: roots that are
    linked worktrees of another one, and that the call removes.
    `hooks`, `modules`: folder → the hook that git runs there; the file there that an interpreter loads in place of its
    own library; `""` is none, absent is not known.
    `settings`: the settings files of a program, as the target names them → the one that exists, or that another part of
    the call may create; `""` is none, absent is not known.
    `code`: code files that were read, as the target names them → why another file may run instead; `""` is none, absent
    is not known.
    `trees`: a git operation on a working tree (`merge dev:/folder`) → the paths it would write, and those it would
    remove; absent is not known.
    `expansions`: shell glob → the paths it matches now (absent: not tried, or too many).
    `below`: folder or shell glob → its content, if links are followed or names matter (absent: not known).
    `absent`: paths that a command would overwrite, but that do not exist.
    `fresh`: files that do not exist yet and that the call creates before it removes them.
    `plain`: paths that the call removes recursively and that are no folders.
    `missing`: working folders of commands that neither exist nor are created by the call: nothing runs there.
    `untouched`: code files that equal the session's first commit and that the session did not write.
    `routine`: effects proved to be the work of an enabled pack → the name of the pack.
    `paused`: a person has paused the protection of Assent itself. `server`: Assent's own server, if the call may
    concern it (None: it does not, or none runs)."""

    __slots__ = (
        "canonical",
        "roots",
        "home",
        "aliases",
        "own",
        "folds_case",
        "repositories",
        "elsewhere",
        "linked",
        "hooks",
        "modules",
        "settings",
        "code",
        "trees",
        "expansions",
        "below",
        "absent",
        "fresh",
        "plain",
        "missing",
        "untouched",
        "routine",
        "paused",
        "server",
    )

    def __init__(
        self,
        *,
        canonical: Mapping[str, str] | None = None,
        roots: tuple[str, ...] = (),
        home: str = "",
        aliases: tuple[tuple[str, str], ...] = (),
        own: tuple[str, ...] = (),
        folds_case: tuple[str, ...] = (),
        repositories: Mapping[str, str] | None = None,
        elsewhere: tuple[str, ...] = (),
        linked: tuple[str, ...] = (),
        hooks: Mapping[str, str] | None = None,
        modules: Mapping[str, str] | None = None,
        settings: Mapping[str, str] | None = None,
        code: Mapping[str, str] | None = None,
        trees: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] | None = None,
        expansions: Mapping[str, tuple[str, ...]] | None = None,
        below: Mapping[str, Below] | None = None,
        absent: tuple[str, ...] = (),
        fresh: tuple[str, ...] = (),
        plain: tuple[str, ...] = (),
        missing: tuple[str, ...] = (),
        untouched: tuple[str, ...] = (),
        routine: Mapping[Effect, str] | None = None,
        paused: bool = False,
        server: Server | None = None,
    ) -> None:
        self.canonical = canonical or {}
        self.roots = roots
        self.home = home
        self.aliases = aliases
        self.own = own
        self.folds_case = folds_case
        self.repositories = repositories or {}
        self.elsewhere = elsewhere
        self.linked = linked
        self.hooks = hooks or {}
        self.modules = modules or {}
        self.settings = settings or {}
        self.code = code or {}
        self.trees = trees or {}
        self.expansions = expansions or {}
        self.below = below or {}
        self.absent = absent
        self.fresh = fresh
        self.plain = plain
        self.missing = missing
        self.untouched = untouched
        self.routine = routine or {}
        self.paused = paused
        self.server = server

    def __hash__(self) -> int:
        return hash((self.roots, self.home))
