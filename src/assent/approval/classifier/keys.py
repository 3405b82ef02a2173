"""The key of a model's service: from the environment or the system's keyring, as configuration says. Keeps none.

A project's files have no say in where it comes from, and no file of ours ever holds it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from threading import Thread

from assent.approval.classifier.apis import Failed, look_for
from assent.contract import Pattern

FITS = Pattern(r"[\x21-\x7e]{1,4096}")
# Variables by which an environment names code to load: a keyring itself, or the folder of the file that names one.
STEERING = ("PYTHON_KEYRING_", "XDG_CONFIG_HOME", "XDG_DATA_HOME")


async def found(source: str, environ: Mapping[str, str]) -> str:
    """The key, `""` where the service needs none. Raises Failed where there is no key to be found. A keyring may wait
    for a person to open it: nobody waits for that longer than for the model."""
    kind, _, name = source.partition(":")
    if kind == "none":
        return ""
    key = environ.get(name, "") if kind == "env" else await _aside(lambda: _from_keyring(*name.split("/", 1)))
    key = key.strip()
    if not key:
        raise Failed("key", f"there is no key in `{source}`; put one there, or set `classifier.key`")
    if FITS.fullmatch(key) is None:
        raise Failed("key", f"what is in `{source}` cannot be a key")
    return key


async def _aside(do: Callable[[], str]) -> str:
    """Do something in a thread that does not keep the process from ending."""
    loop, done = asyncio.get_running_loop(), asyncio.Event()
    got: list[str | Exception] = []

    def work() -> None:
        try:
            got.append(do())
        except Exception as error:
            got.append(error)
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(done.set)

    Thread(target=work, name="keyring", daemon=True).start()
    await done.wait()
    if isinstance(got[0], Exception):
        raise got[0]
    return got[0]


def _from_keyring(service: str, user: str) -> str:
    """An entry of the keyring. Which keyring that is, an environment may not say: a repository can set one."""
    steering = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith(STEERING)}
    try:
        look_for("keyring")
        import keyring

        return keyring.get_password(service, user) or ""
    except ImportError:
        raise Failed("key", "the key is in a keyring; `pip install keyring` to read it") from None
    except Exception as error:  # locked, or no backend
        raise Failed("key", f"the keyring cannot be read: {type(error).__name__}") from None
    finally:
        os.environ.update(steering)
