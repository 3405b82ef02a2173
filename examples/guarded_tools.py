"""Tools that an agent of your own can use at once, each behind the gate. The model is played by a few calls, so it runs
offline.

pip install assent
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from assent import Gate, Held
from assent.tools import Toolset


def ask(held: Held) -> bool:
    """Who is asked: here a function, in your program a person."""
    print(f"a person is asked: {held.preview.text}")
    return True


async def main(folder: Path) -> None:
    (folder / "a.py").write_text("x = 1\n")

    gate = Gate(str(folder), mode="auto", channels=[ask], state=f"{folder}/.state")
    tools = Toolset(gate, str(folder))  # or one of its sessions: gate.session(…)
    print([each["name"] for each in tools.schemas()])  # with description and JSON schema: for the model

    for name, given in (
        ("read", {"file_path": "a.py"}),
        ("edit", {"file_path": "a.py", "old_string": "1", "new_string": "2"}),
        ("bash", {"command": "cat a.py; ./run"}),
        ("read", {"file_path": "~/.ssh/id_rsa"}),
    ):
        done = await tools.call(name, given)  # call_sync does the same without an event loop
        print(f"{name}: {'error' if done.error else 'done'}: {done.text}")  # both are for the model

    tools.close()
    gate.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as found:
        asyncio.run(main(Path(found)))
