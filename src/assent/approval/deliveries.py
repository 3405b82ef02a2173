"""Carries questions to the channels and their words back: in order, each with an end. Decides nothing.

A channel that raises or hangs holds up nobody but itself."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol

from assent.approval.accounts import words
from assent.approval.channels import Channel, Excerpts, Question, Queues
from assent.approval.commands import Command, Partial, Queue, Receipt, Show, Withdraw
from assent.approval.machine import Machine
from assent.approval.patience import Tasks, within
from assent.approval.questions import session_of
from assent.contract.approval import Answer, Held, Resolution, Said

LOG = logging.getLogger("assent.channels")


class Desk(Protocol):
    """Where words from channels go: the broker."""

    wall: Callable[[], float]

    def now(self) -> float: ...
    def do(self, commands: list[Command]) -> None: ...
    def dismiss(self, id: str, channel: str = "") -> None: ...
    async def answer(self, id: str, digest: str, answer: Answer) -> Receipt: ...


class Deliveries:
    """The open channels of one broker, and what is on its way to them. `own`: they are the author's, who may say in an
    answer where it was given."""

    def __init__(self, desk: Desk, machine: Machine, tasks: Tasks, seconds: float, *, own: bool = False) -> None:
        self._desk = desk
        self._machine = machine
        self._tasks = tasks
        self._seconds = seconds
        self._own = own
        self._channels: dict[str, Channel] = {}

    def channels(self) -> tuple[Channel, ...]:
        return tuple(self._channels.values())

    def attach(self, channel: Channel) -> list[Command]:
        self._channels[channel.name] = channel
        return self._machine.attached(channel.name, self._desk.now(), room=_room(channel))

    def detach(self, channel: Channel | str) -> list[Command]:
        """Close a channel, by itself or by name. One that another has taken the place of is closed already."""
        name = channel if isinstance(channel, str) else channel.name
        open_one = self._channels.get(name)
        if open_one is None or (not isinstance(channel, str) and open_one is not channel):
            return []
        del self._channels[name]
        return self._machine.detached(name, self._desk.now())

    def clear(self) -> None:
        self._channels.clear()

    def show(self, command: Show) -> None:
        channel, held = self._channels.get(command.channel), command.held
        if channel is None:
            return

        async def deliver() -> None:
            seen, problem = False, ""
            try:
                if self._is_open(channel) and self._machine.state(held.id) is not None:
                    await within(self._seconds, channel.show(self._question(channel, held, command.deadline)))
                    seen = True
            except Exception as error:
                problem = words(error)
                LOG.warning("the channel `%s` could not show a question: %s", channel.name, problem, exc_info=error)
            finally:
                if self._is_open(channel):
                    now, told = self._desk.now(), (held.id, channel.name)
                    self._desk.do(
                        self._machine.shown(*told, now) if seen else self._machine.undeliverable(*told, now, problem)
                    )

        self._tasks.queue(_line(channel, held), deliver)

    def queue(self, command: Queue) -> None:
        channel, held = self._channels.get(command.channel), command.held
        if channel is None or not isinstance(channel, Queues):
            return
        queued = channel.queued

        async def deliver() -> None:
            if self._is_open(channel) and self._machine.state(held.id) is not None:
                await within(self._seconds, queued(self._question(channel, held, None), command.position))

        self._tasks.queue(_line(channel, held), deliver)

    def withdraw(self, command: Withdraw, held: Held, concluded: asyncio.Future[Resolution]) -> None:
        """Take a question out of a channel, with how it really ended: only then is that known."""
        channel = self._channels.get(command.channel)
        if channel is None:
            return

        async def deliver() -> None:
            resolution = await asyncio.shield(concluded)
            await within(self._seconds, channel.withdraw(command.id, resolution))

        self._tasks.queue(_line(channel, held), deliver)

    def _is_open(self, channel: Channel) -> bool:
        return self._channels.get(channel.name) is channel

    def _question(self, channel: Channel, held: Held, deadline: float | None) -> Question:
        desk, machine, own = self._desk, self._machine, self._own
        left = held.timeout if deadline is None else deadline - desk.now()

        async def answer(given: Answer) -> Receipt:
            if given.said is Said.ALLOW and not _whole(channel, held):
                return Partial(held.id, possible=held.preview.whole)
            told = given if own and given.channel else _through(given, channel.name)
            return await desk.answer(held.id, held.digest, told)

        return Question(
            held,
            desk.wall() + left,
            max(0, len(machine.waiting(session_of(held))) - 1),
            answer=answer,
            dismiss=lambda: desk.dismiss(held.id, channel.name),
            nobody=lambda detail: desk.do(machine.unseen(held.id, desk.now(), detail)),
            fail=lambda detail: desk.do(machine.fault(held.id, desk.now(), detail)),
            gone=lambda: desk.do(machine.undeliverable(held.id, channel.name, desk.now())),
        )


def _through(answer: Answer, channel: str) -> Answer:
    """An answer is given in the channel that it came through, whatever it says itself."""
    return Answer(
        answer.said, scope=answer.scope, rules=answer.rules, message=answer.message, who=answer.who, channel=channel
    )


def _whole(channel: Channel, held: Held) -> bool:
    """Whether a channel delivered all of a call.

    INVARIANT: what was not shown whole in a channel is not allowed through it."""
    return channel.shows_whole(held) if isinstance(channel, Excerpts) else True


def _room(channel: Channel) -> int:
    """How many questions a channel shows at a time; 0 where it shows all."""
    return 1 if _serial(channel) else int(getattr(channel, "room", 0))


def _serial(channel: Channel) -> bool:
    return bool(getattr(channel, "serial", False))


def _line(channel: Channel, held: Held) -> tuple[str, ...]:
    """What is delivered in order: all of a serial channel, or each session of another."""
    return (channel.name,) if _serial(channel) else (channel.name, *session_of(held))
