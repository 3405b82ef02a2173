"""Makes calls and decisions for tests, through the real parts. Holds no assertions."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from assent.cli.check import BatchCheck
from assent.contract import Call, Decision, Facts
from assent.engine.engine import Engine
from assent.policy.document import Document, document_of
from assent.policy.rules import Origin
from assent.policy.settings import combine

CORPUS = Path(__file__).parent / "corpus"
ROOT, HOME = "/workspace/repo", "/home/user"


def gate(
    mode: str = "default",
    *,
    allow: Sequence[object] = (),
    ask: Sequence[object] = (),
    deny: Sequence[object] = (),
    more: Sequence[Document] = (),
    **choices: object,
) -> Engine:
    """A gate with the shipped rules and a user's."""
    user = document_of({"allow": list(allow), "ask": list(ask), "deny": list(deny)}, "rules", Origin.USER)
    settings = combine([user, *more], flag_mode=mode, **choices)  # type: ignore[arg-type]  # passed through to be checked
    return Engine(settings, examples=user.examples)


def call(tool: str, given: Mapping[str, object] | str, *, cwd: str = ROOT) -> Call:
    """A call in a workspace that does not exist on disk."""
    key = {"bash": "command", "fetch": "url", "webfetch": "url", "agent": "subagent_type"}.get(tool, "file_path")
    body = {key: given} if isinstance(given, str) else given
    return Call(tool, body, cwd=cwd, roots=(cwd,), home=HOME)


def decide(
    tool: str,
    given: Mapping[str, object] | str,
    mode: str = "default",
    *,
    cwd: str = ROOT,
    links: Mapping[str, str] | None = None,
    headless: bool = False,
    **rules: Sequence[object],
) -> Decision:
    return gate(mode, **rules).decide(call(tool, given, cwd=cwd), links=links or {}, headless=headless)  # type: ignore[arg-type]  # as above


def rows(name: str) -> list[dict[str, object]]:
    """The lines of one corpus file."""
    found = []
    for line in (CORPUS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        if line.strip():
            found.append(json.loads(line))
    return found


def batch() -> BatchCheck:
    """The batch of `assent check`, on a machine without configuration."""
    return BatchCheck(argparse.Namespace(cwd=ROOT, config="", mode="", headless=False), documents=())


def facts(**given: object) -> Facts:
    return Facts(roots=(ROOT,), home=HOME, **given)  # type: ignore[arg-type]  # passed through to be checked
