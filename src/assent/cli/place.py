"""The options that say where a command looks: mode, folder, configuration. Reads none of them."""

from __future__ import annotations

import argparse

MODES = ("plan", "default", "auto", "full_auto", "yolo")


def add_place(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--mode", choices=MODES, default="", help="the mode to decide in")
    parser.add_argument(
        "--cwd", metavar="DIR", default="", help="the folder of the call and its workspace (default: this one)"
    )
    parser.add_argument("--config", metavar="FILE", default="", help="stands in for the user's ~/.assent/config.toml")
