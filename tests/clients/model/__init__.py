"""A scripted model, over the four wire formats of the agent programs."""

from .script import Call, Request, Say, Step, Turn, Use
from .server import Model

__all__ = ["Call", "Model", "Request", "Say", "Step", "Turn", "Use"]
