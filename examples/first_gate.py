"""The gate by itself: what it decides on three calls, and who is asked about one of them. It needs nothing else.

pip install assent
"""

from __future__ import annotations

import asyncio
import tempfile

from assent import Answer, Gate, Held, Said


def ask(held: Held) -> Answer:
    """Who is asked: here a function that always says no, in your program a person. True and False will do, too."""
    print(f"asked: {held.preview.text} ({held.decision.reason})")
    return Answer(Said.DENY, message="not on a Friday", who="ada", channel="example")


async def main(folder: str) -> None:
    gate = Gate(folder, tools={"bash": "bash"}, channels=[ask], state=f"{folder}/.state")

    for command in ("git status", "make deploy", "cat ~/.ssh/id_rsa"):
        verdict = await gate.guard(gate.call("bash", {"command": command}))
        print(f"{command}: {'runs' if verdict.allowed else verdict.message}")

    gate.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as found:
        asyncio.run(main(found))
