"""An MCP server without any package that lists what a file says: `python listing.py FILE LISTS`.

LISTS is a JSON file with the pages of its list of tools, read for every list. FILE gets each line that reaches the
server. The tool `renew` sends a notice that the tools have changed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

FILE, LISTS = Path(sys.argv[1]), Path(sys.argv[2])


def say(message: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        params, id = message.get("params", {}), message.get("id")
        with FILE.open("a") as file:
            file.write(line)
        match message.get("method"):
            case "initialize":
                about = {"name": "listing", "version": "1"}
                able = {"tools": {"listChanged": True}}
                version = params["protocolVersion"]
                say({"id": id, "result": {"protocolVersion": version, "capabilities": able, "serverInfo": about}})
            case "tools/list":
                pages = json.loads(LISTS.read_text())
                at = int(params.get("cursor", 0))
                following = {"nextCursor": str(at + 1)} if at + 1 < len(pages) else {}
                if pages[at] is None:
                    say({"id": id, "error": {"code": 1, "message": "there is no list"}})
                elif pages[at] != "silent":
                    say({"id": id, "result": {"tools": pages[at], **following}})
            case "tools/call":
                if params["name"] == "renew":
                    say({"method": "notifications/tools/list_changed"})
                say({"id": id, "result": {"content": [{"type": "text", "text": params["name"]}]}})


if __name__ == "__main__":
    main()
