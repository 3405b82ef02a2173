"""The places that the author of a program names to ask in. Asks nobody: that is `embedded`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from assent.approval.channels import Channel
from assent.contract import PayloadError
from assent.contract.approval import Answer, Held

Reply = Answer | bool | None
Ask = Callable[[Held], Reply | Awaitable[Reply]]
Place = str | Channel | Ask  # `terminal`, `server`, `nobody`, a channel, or a function

PLACES = ("terminal", "server", "nobody")
GIVE = "give terminal, server, nobody, a channel or a function"


def check_places(places: object) -> None:
    """Raises PayloadError, with what to write, where these are no places to ask in."""
    if places is None:
        return
    if isinstance(places, str):
        raise PayloadError(f"`channels` is a list, not one text; write `channels=[{places!r:.80}]`")
    if not isinstance(places, Sequence):
        raise PayloadError(f"`channels` is a list; write `channels=[…]`, and {GIVE}")
    for each in places:
        if isinstance(each, str):
            if each not in PLACES:
                raise PayloadError(f"there is no channel `{each}`; {GIVE}")
        elif not callable(each) and not all(hasattr(each, name) for name in ("name", "show", "withdraw")):
            raise PayloadError(f"{each!r:.80} is no channel, which has `name`, `show` and `withdraw`; {GIVE}")
