"""`assent demo`: an agent works in a scratch folder with a real gate, and a person answers its questions.

Everything is in a folder that is removed at the end; nothing of the user's own is read or changed."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from contextlib import nullcontext, suppress

from assent.api.gates import Gate
from assent.approval.channels.terminal import turn
from assent.cli.command import flag, one_of, takes, text
from assent.contract import StoreError
from assent.contract.approval import Ending, Held
from assent.contract.display import one_line, visible
from assent.contract.words import TELLING
from assent.demo import model
from assent.demo.output import BOLD, DIM, DemoOutput, FinishedCall, ended, summarize
from assent.demo.script import STEPS, ScratchFolder, ScriptedCall, scratch_folder
from assent.demo.server import DemoAnswers, DemoServer, DemoTerminal
from assent.tools import Result, Toolset

DESCRIPTION = "Watch an agent with real tools work in a scratch folder, and answer its questions."
EPILOG = "Without a terminal it answers by itself, as with --answer script."
PAUSE = 0.9  # seconds between calls, so that a person can follow
SECOND_CTRL_C = 1.5  # seconds to press Ctrl-C again
INTERRUPTED = 130
PORT = {"type": int, "default": 0, "metavar": "N", "help": "the port of the page (default: any that is free)"}
arguments = takes(
    {
        "--answer": one_of(("yes", "no", "script"), "answer every question this way, without a person"),
        "--model": text("NAME", "let this model work instead of the script"),
        "--base-url": text("URL", "the model's address (default: its provider's)"),
        "--api": one_of(("openai", "anthropic"), "the model's API (default: by its name)"),
        "--task": text("TEXT", "what the model is asked to do"),
        "--port": PORT,
        "--keep": flag("do not remove the scratch folder"),
    }
)


def run(options: argparse.Namespace) -> int:
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise StoreError("the demo needs the server; install it with `pip install 'assent[server]'`") from None
    attended = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
    answer = options.answer or ("" if attended else "script")
    if (options.base_url or options.api or options.task) and not options.model:
        raise StoreError("--base-url, --api and --task go with --model")
    if options.model and options.answer == "yes":
        raise StoreError("`--answer yes` would run a model's calls unseen; answer yourself, or with --answer script")
    with scratch_folder(keep=options.keep) as scratch:
        # This process uses the scratch folder alone: as its home, its state and its rules.
        for name in [each for each in os.environ if each.startswith("ASSENT_")]:
            del os.environ[name]
        os.environ |= {"HOME": scratch.home, "ASSENT_HOME": scratch.state}
        os.chdir(scratch.project)
        return asyncio.run(Demo(scratch, options, answer).run())


class Demo:
    """One run of the demo. `answer` is how questions are answered without a person; `""` if there is one.

    Decides nothing: every call goes through the guarded tools to the gate."""

    def __init__(self, scratch: ScratchFolder, options: argparse.Namespace, answer: str) -> None:
        self._scratch, self._options, self._answer = scratch, options, answer
        self._output = DemoOutput(scratch.home)
        self._finished: list[FinishedCall] = []
        self._current: ScriptedCall | None = None

    async def run(self) -> int:
        conversation = model.converse(self._options) if self._options.model else None  # wrong options fail first
        server = DemoServer(self._scratch, self._options.port, self._output, attended=not self._answer)
        task = asyncio.current_task()
        assert task is not None
        over = False

        def interrupt() -> None:
            if not over:
                task.cancel()

        terminal = None if self._answer else DemoTerminal(server.state)
        server.state.gate.broker.attach(terminal or DemoAnswers(self._answer, self._output, self._script_says))
        self._introduce(server)
        server.start(interrupt)
        try:
            async with turn() if terminal is not None else nullcontext():
                await self._work(server, conversation)
        except asyncio.CancelledError:
            self._output.say("\nended", DIM)
            return INTERRUPTED
        finally:
            over = True
            if terminal is not None:
                with suppress(asyncio.CancelledError):
                    await terminal.close()
            await server.stop()
        return summarize(self._output, self._scratch, self._finished)

    def _script_says(self, held: Held) -> bool:
        """The answer of `--answer script`. Of a model's calls it allows changes to files of the project, and lets
        nothing run."""
        if self._options.model:
            changed = str(held.call.input.get("file_path", ""))
            return held.call.tool in ("edit", "write") and changed.startswith(f"{self._scratch.project}/")
        return self._current is not None and self._current.yes

    def _introduce(self, server: DemoServer) -> None:
        say = self._output.say
        self._output.title("assent demo", bold=True)
        say(
            "An agent works on a small project in a scratch folder. Its tools are real, and each of its calls passes "
            "the gate before it runs. Nothing of yours is touched."
        )
        print()
        say(f"project  {self._scratch.project}", DIM)
        say(f"page     {server.state.address}", DIM)
        if self._answer:
            say(f"answers  by itself (--answer {self._answer})", DIM)
            return
        say(f"code     {server.state.access.codes.fresh()}  (to sign in on the page)", DIM)
        print()
        say("Answer here with single keys, or on the page: the first answer counts. Ctrl-C ends the demo.", BOLD)

    # The agent

    async def _work(self, server: DemoServer, conversation: model.Conversation | None) -> None:
        gate = Gate.connect(self._scratch.project, socket=server.socket)
        session = gate.session("demo", cwd=self._scratch.project)
        tools = Toolset(session, self._scratch.project, hidden=model.KEYS)
        try:
            if conversation is None:
                stopped = await self._follow_script(tools, server)
            else:
                stopped = await self._follow_model(tools, server, conversation)
            if stopped:
                self._output.say("\nYou told the agent to stop, so it stops.")
        finally:
            tools.close()
            gate.close()

    async def _follow_script(self, tools: Toolset, server: DemoServer) -> bool:
        """Whether the person told the agent to stop."""
        for number, step in enumerate(STEPS, 1):
            await self._pause()
            self._output.title(f"{number} of {len(STEPS)}  {step.title}")
            self._output.say(step.about)
            for call in step.calls:
                await self._pause()
                self._current = call
                done = await self._call(tools, server, call.tool, call.input, call.description)
                if done.verdict is not None and done.verdict.stop:
                    return True
        return False

    async def _follow_model(self, tools: Toolset, server: DemoServer, conversation: model.Conversation) -> bool:
        """Whether the person told the agent to stop."""
        self._output.title(f"{one_line(self._options.model, 60)} works")
        self._output.say(one_line(conversation.task, 400), DIM)
        async for answer in conversation.turns(tools.schemas()):
            if answer.text:
                self._output.say(f"\n{visible(answer.text)}")
            for call in answer.calls:
                description = str(call.input.get("description", ""))
                done = await self._call(tools, server, call.name, call.input, description)
                conversation.api.add_result(call, done.text, done.error)
                if done.verdict is not None and done.verdict.stop:
                    return True
        return False

    async def _call(
        self, tools: Toolset, server: DemoServer, name: str, given: dict[str, object], description: str
    ) -> Result:
        shown = summary(given)
        self._output.call(one_line(name, 40), shown)
        done = await tools.call(name, given, description=description)
        self._output.mark(*ended(done))
        self._output.result(done.text)
        self._finished.append(FinishedCall(one_line(name, 40), one_line(shown, 200), done))
        end = done.verdict.resolution if done.verdict is not None else None
        if end is not None and end.ending is Ending.DISMISSED:
            self._output.say("you dismissed the question; press Ctrl-C again to end the demo", DIM)
            await asyncio.sleep(SECOND_CTRL_C)
        await asyncio.sleep(0.1)  # an offer comes right after the denial that led to it
        await server.offers_answered()
        return done

    async def _pause(self) -> None:
        if not self._answer and sys.stdout.isatty():
            await asyncio.sleep(PAUSE)


def summary(given: dict[str, object]) -> str:
    """The argument that says most about a call."""
    named = next((given[key] for key in TELLING if isinstance(given.get(key), str)), "")
    where = given.get("path") if "pattern" in given else None
    return f"{named}  in {where}" if where and named != where else str(named)
