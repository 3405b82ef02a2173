"""A FastMCP server whose tools pass the gate. Run it: it talks to itself, offline.

pip install 'assent[fastmcp]'
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from fastmcp import Client, FastMCP

from assent import Gate, Held, Tool
from assent.sdk.fastmcp import FastMCPMiddleware

server: FastMCP[None] = FastMCP("shop")


@server.tool
def refund(order: str, amount: float) -> str:
    """Give money back."""
    return f"refunded {amount} for {order}"


@server.tool
def look_up(order: str) -> str:
    """Show an order."""
    return f"{order}: 1 lamp, 40.00"


def ask(held: Held) -> bool:
    """Who is asked: here a rule of thumb, in your program a person."""
    amount = held.call.input["amount"]
    print(f"a person is asked: refund {amount}?")
    return isinstance(amount, float) and amount < 50


async def main(folder: Path) -> None:
    # `look_up` only reads; of `refund` nothing is said, so every call asks.
    gate = Gate(str(folder), tools={"look_up": Tool("read")}, channels=[ask], state=f"{folder}/.state")
    server.add_middleware(FastMCPMiddleware(gate))
    async with Client(server) as client:
        print((await client.call_tool("look_up", {"order": "A1"})).data)
        print((await client.call_tool("refund", {"order": "A1", "amount": 40.0})).data)
        denied = await client.call_tool("refund", {"order": "A1", "amount": 4000.0}, raise_on_error=False)
        print(denied.content[0].text)
    gate.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as found:
        asyncio.run(main(Path(found)))
