"""Text of an agent made safe to show: what hides, disguises or steers a screen is written out. Judges nothing.

Every surface shows foreign text through here: terminal, page, chat, receipts."""

from __future__ import annotations

import re

HIDDEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """Text with every character that hides or disguises written as an escape."""
    return HIDDEN.sub(lambda found: f"\\u{{{ord(found[0]):x}}}", text)
