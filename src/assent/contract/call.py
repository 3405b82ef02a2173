"""A tool call, and the facts that the host adds to it: the input of every decision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assent.contract.value import Value, texts


class Call(Value):
    """A tool call of an agent, before it runs.

    `roots` are the workspace folders, fixed for the session by the host, never taken from the call;
    `cwd` is the folder the call runs in, which the model may choose; `home` is the user's folder.
    `shell` names the shell a shell call runs in (`""`: not known). `description` is the agent's own
    text: shown to people, never believed."""

    __slots__ = ("tool", "input", "cwd", "roots", "home", "session", "runtime", "description", "shell")

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
    """What is below a folder. `leads`: the targets of links that point out of it, with whether each is a folder.
    `names`: the paths below it, where rules match such paths. `whole`: `leads` is complete; `listed`: `names` is
    complete. `linked`: there are links, including those that stay inside."""

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
    `home`: the user's folder. `aliases`: pairs of a path and the guarded one that it is by another name: a folder that
    `~/.ssh` links to, a state folder elsewhere, a hard link. `own`: Assent's own files and folders, canonical.
    `folds_case`: absolute folders on whose file systems names differ in case only by looks.
    `repositories`: folder → why git is not harmless there; `""` is harmless, absent is not known.
    `hooks`, `modules`: folder → the hook that git runs there, the file that an interpreter loads there in place of its
    own library; `""` is none, absent is not known.
    `settings`: the settings files that a program obeys, as the target names them → the one that is there, or that
    another part of the call may make; `""` is none, absent is not known.
    `trees`: what git is asked to do to a working tree (`merge dev:/folder`) → the paths that it would write, and those
    that it would remove; absent is not known.
    `expansions`: shell glob → the paths it matches now (absent: not tried, or too many).
    `below`: folder or shell glob → what lies below it, where links are followed or names matter (absent: not known).
    `absent`: paths that a command overwrites if they are there, and are not.
    `fresh`: files that are not there, and that the call makes before it removes them.
    `missing`: folders that commands would run in and that do not exist, nor does the call make them: nothing runs
    there.
    `paused`: a person has lifted what protects Assent itself, for a while. `server`: Assent's own server, where the
    call may concern it (None: it does not, or none runs)."""

    __slots__ = (
        "canonical",
        "roots",
        "home",
        "aliases",
        "own",
        "folds_case",
        "repositories",
        "hooks",
        "modules",
        "settings",
        "trees",
        "expansions",
        "below",
        "absent",
        "fresh",
        "missing",
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
        hooks: Mapping[str, str] | None = None,
        modules: Mapping[str, str] | None = None,
        settings: Mapping[str, str] | None = None,
        trees: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] | None = None,
        expansions: Mapping[str, tuple[str, ...]] | None = None,
        below: Mapping[str, Below] | None = None,
        absent: tuple[str, ...] = (),
        fresh: tuple[str, ...] = (),
        missing: tuple[str, ...] = (),
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
        self.hooks = hooks or {}
        self.modules = modules or {}
        self.settings = settings or {}
        self.trees = trees or {}
        self.expansions = expansions or {}
        self.below = below or {}
        self.absent = absent
        self.fresh = fresh
        self.missing = missing
        self.paused = paused
        self.server = server

    def __hash__(self) -> int:
        return hash((self.roots, self.home))
