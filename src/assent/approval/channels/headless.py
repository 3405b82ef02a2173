"""The channel where nobody is: every question ends at once, denied."""

from __future__ import annotations

from assent.approval.channels import Question
from assent.contract.approval import Resolution

NOBODY = "this session runs without a person who could answer"


class HeadlessChannel:
    """For batch runs and CI. The agent is told at once, instead of after a minute in which nobody could look."""

    name = "headless"

    async def show(self, question: Question) -> None:
        question.nobody(NOBODY)

    async def queued(self, question: Question, position: int) -> None:
        question.nobody(NOBODY)

    async def withdraw(self, id: str, resolution: Resolution) -> None:
        pass
