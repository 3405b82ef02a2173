"""An agent of the Claude Agent SDK whose tools pass the gate. A stand-in takes the place of Claude Code, so it runs
offline; leave `transport` out for the real one.

pip install 'assent[claude]'
"""

from __future__ import annotations

import asyncio
import tempfile

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient
from claude_stand_in import StandIn

from assent import Gate, Held
from assent.sdk.claude import guard


def ask(held: Held) -> bool:
    """Who is asked: here always yes, in your program a person."""
    print(f"a person is asked: {held.preview.text}")
    return True


async def main(folder: str) -> None:
    # Three lines: a gate, your options, and every tool call behind it. Assent knows Claude's tools by name.
    gate = Gate(folder, channels=[ask], state=f"{folder}/.state")
    options = ClaudeAgentOptions(cwd=folder)
    client = ClaudeSDKClient(guard(gate, options), transport=StandIn(folder))

    async with client:
        await client.query("set it up")
        async for message in client.receive_response():
            print(getattr(message, "result", ""))
    gate.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as found:
        asyncio.run(main(found))
