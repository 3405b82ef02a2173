"""One tool call as every stage sees it. Knows nothing of what the call would do."""

from __future__ import annotations

from assent.contract.texts import texts
from assent.contract.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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

    def __hash__(self) -> int:
        return hash((self.tool, self.cwd, self.session))
