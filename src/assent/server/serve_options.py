"""What a server is told when it starts."""

from __future__ import annotations

from assent.contract import Value

PORT = 8765


class ServeOptions(Value):
    """`socket` `""` is the one in the state folder, `config` `""` the user's own file; `open` opens the page."""

    __slots__ = ("port", "socket", "mode", "config", "open")

    def __init__(
        self, *, port: int = PORT, socket: str = "", mode: str = "", config: str = "", open: bool = False
    ) -> None:
        self.port = port
        self.socket = socket
        self.mode = mode
        self.config = config
        self.open = open
