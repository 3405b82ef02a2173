"""The secrets of remote channels: from the environment, a file of the user, or the system's keyring.

Never from a project's file, and never written anywhere."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from stat import S_IMODE

from assent.contract import StoreError
from assent.state.files import read

SECRETS_FILE = "secrets.toml"
SERVICE = "assent"  # in the keyring
LARGEST = 64 * 1024

Keyring = Callable[[str], str | None]


def variable(name: str) -> str:
    return f"ASSENT_{name.upper().replace('-', '_')}"


def taken(environ: MutableMapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """The secrets of an environment, removed from it: processes that this one starts do not get them."""
    found = {name: environ.pop(variable(name), "").strip() for name in names}
    return {name: value for name, value in found.items() if value}


class Secrets:
    """Secrets by name. The environment comes before the file, the file before the keyring. `names`: all secrets."""

    def __init__(
        self, given: Mapping[str, str], state: str, names: Sequence[str], keyring: Keyring | None = None
    ) -> None:
        self._given = given
        self._names = names
        self._path = os.path.join(state, SECRETS_FILE)
        self._keyring = keyring or from_keyring

    def find(self, name: str) -> str:
        """A secret, `""` if there is none. Raises StoreError if the file cannot be trusted."""
        return self._given.get(name, "") or self._filed().get(name, "") or self._keyring(name) or ""

    def need(self, name: str) -> str:
        """The same; StoreError with advice if there is none."""
        if found := self.find(name):
            return found
        raise StoreError(f"`{name}` is missing; put it into `{self._path}`, the keyring, or {variable(name)}")

    def _filed(self) -> dict[str, str]:
        try:
            raw, status = read(self._path, LARGEST)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise StoreError(f"`{self._path}` cannot be read: {error.strerror}") from None
        if status.st_uid != os.geteuid() or S_IMODE(status.st_mode) & 0o077:
            raise StoreError(f"`{self._path}` is open to others; run `chmod 600 {self._path}`")
        try:
            found = tomllib.loads(raw.decode("utf-8"))
        except ValueError:
            raise StoreError(f'`{self._path}` is not TOML; write lines like `{self._names[0]} = "…"`') from None
        for name, value in found.items():
            if name not in self._names or not isinstance(value, str):
                raise StoreError(
                    f"`{self._path}` has an unknown key `{name}`; it may have {', '.join(self._names)} as text"
                )
        return {name: value.strip() for name, value in found.items()}


def from_keyring(name: str) -> str | None:
    """A secret of the system's keyring; None if there is none, or no keyring."""
    try:
        import keyring

        return keyring.get_password(SERVICE, name)
    except Exception:  # not installed, locked, or no backend
        return None
