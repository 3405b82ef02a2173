"""An MCP server of your own whose tools pass the gate. Run it: it talks to itself, offline.

pip install 'assent[mcp]'
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from mcp import Client
from mcp.server.mcpserver import MCPServer

from assent import Gate, Tool
from assent.sdk.mcp import MCPMiddleware


async def main(folder: Path) -> None:
    server = MCPServer("notes")

    @server.tool()
    def save(path: str, text: str) -> str:
        """Save a note."""
        (folder / path).write_text(text)
        return f"saved {path}"

    # What the tool does: then a note in the workspace needs no question, and one elsewhere does.
    gate = Gate(str(folder), mode="auto", tools={"save": Tool("write", paths=["path"])}, state=f"{folder}/.state")
    server.middleware.append(MCPMiddleware(gate.session(cwd=str(folder))))

    async with Client(server) as client:  # any MCP client
        for path in ("today.md", "~/.ssh/authorized_keys"):
            result = await client.call_tool("save", {"path": path, "text": "hello"})
            print(f"{path}: {result.content[0].text}")  # type: ignore[union-attr]  # our tool returns text
    gate.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as found:
        asyncio.run(main(Path(found)))
