"""The colours of the inbox, light and dark. The same as those of the page."""

from __future__ import annotations

from collections.abc import Mapping

from textual.theme import Theme

DARK = Theme(
    name="assent-dark",
    dark=True,
    primary="#8fadff",
    secondary="#8fadff",
    accent="#7fc8d8",
    warning="#f2bb66",
    error="#ff8b82",
    success="#5fd09a",
    foreground="#e9e7e2",
    background="#131416",
    surface="#1b1d20",
    panel="#25282c",
    variables={
        "soft": "#a5a199",
        "line": "#3c4047",
        "chosen": "#2b3654",
        "block-cursor-background": "#2b3654",
        "block-cursor-foreground": "#e9e7e2",
        "block-cursor-text-style": "none",
    },
)
LIGHT = Theme(
    name="assent-light",
    dark=False,
    primary="#2c5bd4",
    secondary="#2c5bd4",
    accent="#0f6b7c",
    warning="#955800",
    error="#b3261e",
    success="#187447",
    foreground="#1f1e1b",
    background="#f5f4f0",
    surface="#fffefc",
    panel="#ebe8e0",
    variables={
        "soft": "#66625a",
        "line": "#cfcbc0",
        "chosen": "#d5dff8",
        "block-cursor-background": "#d5dff8",
        "block-cursor-foreground": "#1f1e1b",
        "block-cursor-text-style": "none",
    },
)


def guess(environ: Mapping[str, str]) -> str:
    """`light` where the terminal says that its background is light, else `dark`."""
    background = environ.get("COLORFGBG", "").rpartition(";")[2]
    return "light" if background in ("7", "15") else "dark"
