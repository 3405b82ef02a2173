"""An MCP server that tries what a contained one must not do, and answers with what came of it. Holds no assertions.

`plan.json` beside it names the places. Each call of its tool reads keys of the person, writes inside and outside the
workspace, connects to a port and reads a token."""

import json
import os
import socket
import sys
from collections.abc import Callable
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))


def tried(what: Callable[..., object], *given: object) -> object:
    try:
        return what(*given)
    except OSError as error:
        return f"failed: {type(error).__name__}"


def write(path: str) -> str:
    with open(path, "w") as file:
        file.write("made by the server")
    return "written"


def connect(port: int) -> str:
    socket.create_connection(("127.0.0.1", port), 2).close()
    return "connected"


def answer(params: dict[str, Any]) -> dict[str, object]:
    with open(f"{HERE}/plan.json") as file:
        home, outside = json.load(file)
    return {
        "keys": tried(os.listdir, f"{home}/.ssh"),
        "workspace": tried(os.listdir, "."),
        "inside": tried(write, "made.txt"),
        "outside": tried(write, f"{outside}/made.txt"),
        "settings": tried(write, ".envrc"),
        "own": tried(write, os.path.expanduser("~/.cache/x")),
        "port": tried(connect, params["arguments"]["port"]),
        "token": os.environ.get("GITHUB_TOKEN", "absent"),
        "id": os.getpid(),
    }


for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "tools/call":
        said = {"content": [{"type": "text", "text": json.dumps(answer(asked["params"]))}]}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": said}), flush=True)
