"""One tool call as every stage sees it. Knows nothing of what the call would do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assent.contract.texts import texts
from assent.contract.value import Value


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
