"""A keyring that waits for somebody to open it, as desktops have them. Tests nothing."""

from __future__ import annotations

import time

from keyring.backend import KeyringBackend


class Keyring(KeyringBackend):
    """Asks for a password that nobody types."""

    priority = 1.0

    def get_password(self, service: str, username: str) -> str | None:
        time.sleep(3600)
        return None

    def set_password(self, service: str, username: str, password: str) -> None: ...

    def delete_password(self, service: str, username: str) -> None: ...
