"""An MCP server with one tool, `note`, that appends a text to a file. Runs by itself: `python notes_server.py FILE`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
NOTE = {"name": "note", "description": "write a text down", "inputSchema": TEXT}


def result(method: str, params: dict[str, Any], file: Path) -> dict[str, Any]:
    match method:
        case "initialize":
            about = {"name": "notes", "version": "1"}
            return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": about}
        case "tools/list":
            return {"tools": [NOTE]}
        case "tools/call":
            with file.open("a") as notes:
                notes.write(params["arguments"]["text"] + "\n")
            return {"content": [{"type": "text", "text": "noted " + params["arguments"]["text"]}]}
        case _:
            return {}


def main() -> None:
    file = Path(sys.argv[1])
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            answer = result(message["method"], message.get("params", {}), file)
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer}), flush=True)


if __name__ == "__main__":
    main()
