"""`assent demo`: a gate of its own, an agent that works in a scratch folder, and a person who answers.

Everything is in a folder that is removed at the end; nothing of the user's own is read or changed."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys

from assent.contract import StoreError
from assent.demo import workspace
from assent.demo.look import Look
from assent.demo.play import Play

DESCRIPTION = "See the gate at work: an agent with real tools in a scratch folder, and you answer."
EPILOG = "Without a terminal it answers by itself, as with --answer script."


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--answer", choices=("yes", "no", "script"), default="", help="answer every question this way, without a person"
    )
    parser.add_argument("--model", metavar="NAME", default="", help="a model works in place of the script")
    parser.add_argument("--base-url", metavar="URL", default="", help="where that model is (default: its maker's)")
    parser.add_argument(
        "--api", choices=("openai", "anthropic"), default="", help="how it is spoken to (default: by its name)"
    )
    parser.add_argument("--task", metavar="TEXT", default="", help="what the model shall do")
    parser.add_argument("--port", type=int, default=0, metavar="N", help="of the page (default: any that is free)")
    parser.add_argument("--keep", action="store_true", help="leave the scratch folder where it is")


def run(options: argparse.Namespace) -> int:
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise StoreError("the demo needs the server; install it with `pip install 'assent[server]'`") from None
    seated = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
    answer = options.answer or ("" if seated else "script")
    if (options.base_url or options.api or options.task) and not options.model:
        raise StoreError("--base-url, --api and --task go with --model")
    if options.model and options.answer == "yes":
        raise StoreError(
            "a model's calls are not answered with yes unseen; answer them yourself, or with --answer script"
        )
    with workspace.made(keep=options.keep) as place:
        # Scratch is the whole world of this process: its home, its state, its rules.
        for name in [each for each in os.environ if each.startswith("ASSENT_")]:
            del os.environ[name]
        os.environ |= {"HOME": place.home, "ASSENT_HOME": place.state}
        os.chdir(place.project)
        return asyncio.run(Play(place, Look.of_terminal(place.home), options, answer).run())
