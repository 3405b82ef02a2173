"""A plain function behind the gate, whoever calls it. Run it: it needs nothing else.

pip install assent
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from assent import Denied, Gate


def main(folder: str) -> None:
    gate = Gate(folder, mode="auto", channels=["nobody"], state=f"{folder}/.state")

    @gate.guarded(operation="write", paths=["target"])
    def save(target: str, text: str) -> None:
        """Write a text into a file."""
        Path(target).write_text(text)

    save(f"{folder}/notes.md", "hello")
    print("saved", Path(folder, "notes.md").read_text())
    try:
        save("/etc/motd", "hello")
    except Denied as denied:
        print(denied)
    print(save.tool.parameters["required"])  # type: ignore[attr-defined]  # the schema, for any model
    gate.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as found:
        main(found)
