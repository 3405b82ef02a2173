"""A model that says what a test wrote down, over the four wire formats that agent programs speak."""

from .script import Call, Request, Say, Step, Turn, Use
from .server import Model

__all__ = ["Call", "Model", "Request", "Say", "Step", "Turn", "Use"]
