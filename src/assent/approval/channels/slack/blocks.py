"""The few elements of Block Kit that are used, each within Slack's limits.

INVARIANT: text becomes part of a message only as `plain_text` without emoji or as a `text` element of `rich_text`:
Slack parses neither, so there is nothing to escape. No element here is `mrkdwn`; text that must be (of a notification)
goes through `notified`."""

from __future__ import annotations

from typing import Any

from assent.approval.channels import excerpt
from assent.contract import display

Block = dict[str, Any]

HEADER, PLAIN, CODE, BUTTON, NOTIFIED = 150, 2900, 2600, 75, 200  # characters
TITLE = 24


def cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def plain(text: str, limit: int = PLAIN) -> Block:
    return {"type": "plain_text", "text": cut(text, limit) or " ", "emoji": False}


def words(text: str, *, bold: bool = False, code: bool = False) -> Block:
    found: Block = {"type": "text", "text": text or " "}
    style = {name: True for name, on in (("bold", bold), ("code", code)) if on}
    return {**found, "style": style} if style else found


def header(text: str) -> Block:
    return {"type": "header", "text": plain(text, HEADER)}


def section(text: str) -> Block:
    return {"type": "section", "text": plain(text)}


def context(*texts: str) -> Block:
    return {"type": "context", "elements": [plain(each, 300) for each in texts if each]}


def line(*pieces: Block) -> Block:
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": list(pieces)}]}


def preformatted(raw: str, limit: int = CODE) -> Block:
    """Foreign text in a block of its own, cut in the middle with its true length."""
    element = {"type": "rich_text_preformatted", "elements": [words(excerpt.code(raw, limit))]}
    return {"type": "rich_text", "elements": [element]}


def bullets(texts: list[str]) -> Block:
    rows = [{"type": "rich_text_section", "elements": [words(cut(each, 250))]} for each in texts]
    return {"type": "rich_text", "elements": [{"type": "rich_text_list", "style": "bullet", "elements": rows}]}


def moment(seconds: float, fallback: str) -> Block:
    """A time by the reader's own clock, and how far away it is."""
    return {"type": "date", "timestamp": int(seconds), "format": "{time_secs} ({ago})", "fallback": cut(fallback, 100)}


def button(text: str, action: str, value: str, *, style: str = "", confirm: Block | None = None) -> Block:
    found = {"type": "button", "action_id": action, "text": plain(text, BUTTON), "value": value}
    return {**found, **({"style": style} if style else {}), **({"confirm": confirm} if confirm is not None else {})}


def confirmation(title: str, text: str, yes: str) -> Block:
    return {
        "title": plain(title, 100),
        "text": plain(text, 300),
        "confirm": plain(yes, 30),
        "deny": plain("Back", 30),
        "style": "danger",
    }


def notified(text: str) -> str:
    """Text for a notification, which Slack does parse: without mentions, links or markup."""
    return display.for_chat(excerpt.flat(text, NOTIFIED))
