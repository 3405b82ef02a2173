"""What Slack accepts as blocks, as far as we use them: its documented limits. Returns what it would object to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

BLOCKS = {"header", "section", "context", "rich_text", "actions", "input"}
RICH = {"rich_text_section", "rich_text_preformatted", "rich_text_list"}
MOST_BLOCKS, MOST_CHARACTERS = 50, 13_000


def objections(blocks: object) -> list[str]:
    """Everything that is wrong with the blocks of a message or a view."""
    if not isinstance(blocks, list) or not 0 < len(blocks) <= MOST_BLOCKS:
        return ["no list of blocks, or too many"]
    found = [each for block in blocks for each in _block(block)]
    ids = [block["block_id"] for block in blocks if "block_id" in block]
    if len(set(ids)) != len(ids):
        found.append("a block_id twice")
    if sum(map(len, texts(blocks))) > MOST_CHARACTERS:
        found.append("too long as a whole")
    return found


def view_objections(view: Mapping[str, Any]) -> list[str]:
    found = objections(view.get("blocks"))
    for name in ("title", "submit", "close"):
        found += _plain(view[name], 24)
    if view.get("type") != "modal" or len(view.get("private_metadata", "")) > 3000:
        found.append("no modal, or too much metadata")
    return found


def texts(value: object) -> Iterator[str]:
    """Every text that a person would see."""
    if isinstance(value, Mapping):
        if isinstance(value.get("text"), str):
            yield value["text"]
        for name in ("initial_value", "fallback"):
            if isinstance(value.get(name), str):
                yield value[name]
        for each in value.values():
            yield from texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from texts(each)


def kinds(value: object) -> Iterator[str]:
    """The types of all elements."""
    if isinstance(value, Mapping):
        if isinstance(value.get("type"), str):
            yield value["type"]
        for each in value.values():
            yield from kinds(each)
    elif isinstance(value, list):
        for each in value:
            yield from kinds(each)


def _block(block: Mapping[str, Any]) -> list[str]:
    kind = block.get("type")
    if kind not in BLOCKS:
        return [f"no block: {kind}"]
    if kind == "header":
        return _plain(block["text"], 150)
    if kind == "section":
        return _plain(block["text"], 3000)
    if kind == "context":
        wrong = [] if 0 < len(block["elements"]) <= 10 else ["a context of too many"]
        return [*wrong, *(problem for each in block["elements"] for problem in _plain(each, 3000))]
    if kind == "actions":
        wrong = [] if 0 < len(block["elements"]) <= 25 else ["too many buttons"]
        ids = [each["action_id"] for each in block["elements"]]
        wrong += [] if len(set(ids)) == len(ids) else ["an action_id twice"]
        return [*wrong, *(problem for each in block["elements"] for problem in _button(each))]
    if kind == "input":
        return [*_plain(block["label"], 2000), *_element(block["element"])]
    return [problem for each in block["elements"] for problem in _rich(each)]


def _plain(text: Mapping[str, Any], limit: int) -> list[str]:
    right = text.get("type") == "plain_text" and 0 < len(text.get("text", "")) <= limit
    return [] if right else [f"no plain text of at most {limit}: {text!r:.80}"]


def _button(button: Mapping[str, Any]) -> list[str]:
    found = _plain(button["text"], 75)
    if not 0 < len(button["action_id"]) <= 255 or len(button["value"]) > 2000:
        found.append("an action_id or a value that is too long")
    if button.get("style", "primary") not in ("primary", "danger"):
        found.append("no style")
    if "confirm" in button:
        confirm = button["confirm"]
        found += _plain(confirm["title"], 100) + _plain(confirm["text"], 300)
        found += _plain(confirm["confirm"], 30) + _plain(confirm["deny"], 30)
    return found


def _element(element: Mapping[str, Any]) -> list[str]:
    if element["type"] == "plain_text_input":
        right = len(element.get("initial_value", "")) <= element.get("max_length", 3000) <= 3000
        return [] if right else ["a text input that is too long"]
    options = element["options"]
    wrong = [] if 0 < len(options) <= 10 else ["too many options"]
    return [*wrong, *(problem for each in options for problem in _plain(each["text"], 75))]


def _rich(element: Mapping[str, Any]) -> list[str]:
    if element.get("type") not in RICH or not element.get("elements"):
        return [f"no rich text, or an empty one: {element.get('type')}"]
    if element["type"] == "rich_text_list":
        return [problem for each in element["elements"] for problem in _rich(each)]
    found = []
    for each in element["elements"]:
        if each["type"] == "text":
            found += [] if 0 < len(each["text"]) <= 3000 else ["an empty or endless text"]
        elif each["type"] != "date" or not isinstance(each["timestamp"], int) or "{" not in each["format"]:
            found.append(f"no element of rich text: {each['type']}")
    return found
