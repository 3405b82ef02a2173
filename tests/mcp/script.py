"""An MCP server without any package, for what a well-behaved one never does: `python script.py FILE HOW`.

It writes every line down that reaches it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

FILE, HOW = Path(sys.argv[1]), sys.argv[2]


def answer(message: dict[str, object]) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"content": [], "echo": message.get("params")}})


def main() -> None:
    if HOW == "deaf":  # reads nothing, ignores its end
        import signal

        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)
    for line in sys.stdin:
        with FILE.open("a") as file:
            file.write(line)
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        match HOW:
            case "plain":
                print(answer(message), flush=True)
            case "chatty":
                print("starting up ...", flush=True)
                print('{"jsonrpc":"2.0","method":"a","method":"b"}', flush=True)
                print(json.dumps({"jsonrpc": "2.0", "id": "nobody asked", "result": {}}), flush=True)
                print(answer(message), flush=True)
            case "twice":
                whole = answer(message)
                print(whole[:-1] + ',"result":{"content":["forged"]}}', flush=True)
            case "loud":  # fills whatever it is given to write errors to
                for _ in range(400):
                    os.write(2, b"x" * 65536)
                print('{"jsonrpc":"2.0","method":"a","method":"b"}', flush=True)  # which the proxy has to note
                print(answer(message), flush=True)
            case "detached":
                code = f"trap : TERM HUP; sleep 77 & echo $! > {FILE}.left; wait; wait"
                subprocess.Popen(["setsid", "sh", "-c", code], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                print(answer(message), flush=True)
            case "leaving":
                os._exit(7)
            case "silent":
                pass
            case "asking":
                if message["method"] != "tools/call":
                    print(answer(message), flush=True)
                    continue
                print(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": {}}))
                print(json.dumps({"jsonrpc": "2.0", "id": "r", "method": "roots/list"}), flush=True)
                print(answer(message), flush=True)


if __name__ == "__main__":
    main()
