"""Asks in the terminal that the agent runs in: shows a question, reads single keys, delivers the answer.

`screen` has the layout of the question, `dialog` the meaning of keys."""

from __future__ import annotations

import asyncio
import codecs
import fcntl
import os
import re
import signal
import sys
import termios
import tty
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from assent.approval.channels import Offering, Question, attributed
from assent.approval.channels.dialog import Dialog, OfferKeys, ReachOf
from assent.approval.commands import Receipt, Taken
from assent.approval.patience import Tasks
from assent.contract.approval import Answer, Ending, Held, Resolution, Said
from assent.contract.display import for_terminal

DEAF = 0.4  # seconds after a question appears in which keys are ignored: they were meant for something else
MAKES_WAY = 6.0  # seconds that a question waits for the answer to an offer
OFFER = 60.0  # seconds until an offer that nobody answers is removed
# Arrow keys, reports of the mouse, replies of the terminal to somebody's questions. Control characters end each.
SEQUENCE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O[@-~]|[\]PX^_][^\x00-\x1f]*(?:\x07|\x1b\\)|[^\x00-\x1f\[\]OPX^_]|[\[\]OPX^_])"
)
UNFINISHED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|O|[\]PX^_][^\x00-\x1f]*\x1b?)\Z")
NAMES = {
    "\r": "enter",
    "\n": "enter",
    "\x1b": "esc",
    "\x7f": "backspace",
    "\x08": "backspace",
    "\x03": "ctrl-c",
    "\x04": "ctrl-c",
    "\x15": "ctrl-u",
}
AGAIN = 0.1  # seconds between two checks whether the terminal is free


class TerminalChannel:
    """One terminal. It shows one question at a time; others wait their turn.

    `who` names the person at it for the trail. `reach` says what a rule would have matched, before it is saved."""

    name = "terminal"
    serial = True

    def __init__(self, *, who: str, reach: ReachOf | None = None, device: str = "/dev/tty") -> None:
        self._who = who
        self._reach = reach
        self._device = device
        self._turn = asyncio.Lock()
        self._open: tuple[Dialog, Screen] | None = None
        self._offered: Screen | None = None
        self._tasks = Tasks()

    async def show(self, question: Question) -> None:
        """Raises OSError if there is no terminal."""
        if self._open is not None and self._open[0].held.id == question.held.id:
            return
        width, colour = size_and_colour(self._device)
        dialog = Dialog(question.held, self._reach, width=width, colour=colour)
        await self._take_turn()
        try:
            screen = Screen(self._device, dialog)
        except BaseException:
            self._turn.release()
            raise
        self._open = (dialog, screen)
        self._tasks.start(self._deliver(question, dialog, screen))

    async def _take_turn(self) -> None:
        """An offer without a reaction makes room for a question before that counts as not shown."""
        if self._offered is not None:
            await asyncio.wait({self._offered.done}, timeout=MAKES_WAY)
            if self._offered is not None:
                self._offered.end("\n  a question comes first; nothing was changed\n")
        await self._turn.acquire()

    async def _deliver(self, question: Question, dialog: Dialog, screen: Screen) -> None:
        try:
            await screen.done
            if dialog.answer is not None:
                receipt = await question.answer(attributed(dialog.answer, self._who, self.name))
                screen.write(outcome_text(dialog.answer, receipt))
            elif dialog.dismissed:
                question.dismiss()
                screen.write("  dismissed: denied\n")
        finally:
            self._open = None
            screen.close()
            self._turn.release()

    async def withdraw(self, id: str, resolution: Resolution) -> None:
        """Say how the question ended, unless by the answer given here."""
        if self._open is not None and self._open[0].held.id == id and not self._open[0].over:
            self._open[1].end(f"\n  {ended(resolution)}\n")

    def shows_whole(self, held: Held) -> bool:
        return self._open is not None and self._open[0].held.id == held.id and self._open[0].whole

    async def offer(self, offering: Offering) -> None:
        """After the question that led to it is off the screen."""
        width, colour = size_and_colour(self._device)
        self._tasks.start(self._offer(offering, OfferKeys(offering.offer, width=width, colour=colour)))

    async def _offer(self, offering: Offering, keys: OfferKeys) -> None:
        async with self._turn:
            screen = self._offered = Screen(self._device, keys)
            try:
                await asyncio.wait_for(screen.done, OFFER)
                if keys.over:
                    screen.write(f"  {for_terminal(await self._chosen(offering, keys))}\n")
            except TimeoutError:
                screen.write("\n  nothing was changed\n")
            finally:
                self._offered = None
                screen.close()

    async def _chosen(self, offering: Offering, keys: OfferKeys) -> str:
        if keys.mode or keys.rule:
            return await offering.accept(mode=keys.mode, rule=keys.rule, who=self._who)
        return offering.reject(who=self._who)

    async def close(self) -> None:
        """Restore the terminal once answers are delivered; after a minute in any case."""
        if self._open is not None and not self._open[0].over:
            self._open[1].end("\n")
        await self._tasks.drain(OFFER)


def size_and_colour(device: str) -> tuple[int, bool]:
    """The width of the terminal, whatever the environment says, and whether it shows colour."""
    colour = "NO_COLOR" not in os.environ and os.environ.get("TERM", "dumb") != "dumb"
    handle = os.open(device, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        return min(os.get_terminal_size(handle).columns or 80, 120), colour
    finally:
        os.close(handle)


def outcome_text(answer: Answer, receipt: Receipt) -> str:
    """The result of an answer, if it differs from the answer."""
    if isinstance(receipt, Taken) and not receipt.note and receipt.resolution.allowed == (answer.said is Said.ALLOW):
        return ""
    return f"  {for_terminal(receipt.words)}\n"


def ended(resolution: Resolution) -> str:
    answer = resolution.answer
    if answer is not None and resolution.ending in (Ending.ANSWERED, Ending.SETTLED):
        place = f" in {answer.channel}" if answer.channel else ""
        word = "allowed" if resolution.allowed else "denied"
        return for_terminal(f"{word} by {answer.who or 'somebody'}{place}")
    return for_terminal(f"denied: {resolution.reason}")


class Screen:
    """The open terminal with one dialog: keys in, text out, and the state of the terminal to restore.

    `done` is set when the dialog is over, by the person or by `end`."""

    def __init__(self, device: str, dialog: Dialog | OfferKeys) -> None:
        self._dialog = dialog
        self._keys = Keys()
        self._loop = asyncio.get_running_loop()
        self.done: asyncio.Future[None] = self._loop.create_future()
        self._fd = os.open(device, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            if not os.isatty(self._fd):
                raise OSError(f"`{device}` is not a terminal")
            self._before = termios.tcgetattr(self._fd)
            self._appear()
            self._loop.add_reader(self._fd, self._readable)
            with suppress(ValueError, RuntimeError):  # signals come to the main thread only
                self._loop.add_signal_handler(signal.SIGCONT, self._appear)
        except BaseException:
            os.close(self._fd)
            raise

    def _appear(self) -> None:
        """At first, and after the process was stopped: a shell sets its own state of the terminal then."""
        # Single keys, and Ctrl-C as a key: it dismisses the question and does not end the agent.
        tty.setcbreak(self._fd, termios.TCSANOW)
        now = termios.tcgetattr(self._fd)
        now[3] &= ~termios.ISIG
        now[0] &= ~termios.IXON  # Ctrl-S would stop us as we write, and with us the clock of the question
        termios.tcsetattr(self._fd, termios.TCSANOW, now)
        termios.tcflow(self._fd, termios.TCOON)
        # INVARIANT: keys typed before the question could be read are never an answer to it.
        termios.tcflush(self._fd, termios.TCIFLUSH)
        self.write(self._dialog.opening())
        self._deaf_until = self._loop.time() + DEAF

    def _readable(self) -> None:
        try:
            chunk = os.read(self._fd, 4096)
        except OSError:
            chunk = b""
        keys = self._keys.of(chunk) if chunk else ["ctrl-c"]  # nothing to read: the terminal was closed
        early = self._loop.time() < self._deaf_until and "ctrl-c" not in keys
        if self._dialog.single and (early or is_paste(keys)):
            return
        for key in keys:
            if not self._dialog.over:
                self.write(self._dialog.key(key))
        if self._dialog.over:
            self.end("")

    def end(self, text: str) -> None:
        """Ignore further keys; `text` says why, if it was not the person."""
        self._loop.remove_reader(self._fd)
        if not self.done.done():
            self.write(text)
            self.done.set_result(None)

    def write(self, text: str) -> None:
        data = text.encode("utf-8", "backslashreplace")
        with suppress(OSError):  # the terminal was closed; reading fails too
            while data:
                data = data[os.write(self._fd, data) :]

    def close(self) -> None:
        self._loop.remove_reader(self._fd)
        with suppress(ValueError, RuntimeError):
            self._loop.remove_signal_handler(signal.SIGCONT)
        try:
            termios.tcsetattr(self._fd, termios.TCSADRAIN, self._before)
        except termios.error:
            pass  # the terminal was closed
        finally:
            os.close(self._fd)


class Keys:
    """The keys of one terminal, read piece by piece: a character or a sequence may come in two."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""

    def of(self, chunk: bytes) -> list[str]:
        """The keys of one read, without arrow keys and other sequences."""
        text = self._rest + self._decoder.decode(chunk)
        unfinished = UNFINISHED.search(text)
        # INVARIANT: the end of a sequence that came in two pieces is not a key.
        self._rest = unfinished[0] if unfinished else ""
        text = SEQUENCE.sub("", text[: unfinished.start()] if unfinished else text)
        named = [NAMES.get(character, character) for character in text]
        return [key for key in named if len(key) > 1 or key.isprintable()]


def is_paste(keys: list[str]) -> bool:
    return len(keys) > 1 and "ctrl-c" not in keys


@asynccontextmanager
async def turn() -> AsyncIterator[None]:
    """Hold this terminal: of two processes that read the same keys, the hidden one could take the answer."""
    handle = os.open(terminal_file(), os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC)
    announced = False
    try:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not announced:
                    print("assent: another question is open in this terminal; this one comes next", file=sys.stderr)
                announced = True
                await asyncio.sleep(AGAIN)
        yield
    finally:
        os.close(handle)


def terminal_file() -> str:
    """The same for every process in the terminal."""
    for handle in (0, 1, 2):
        with suppress(OSError):
            return os.ttyname(handle)
    return "/dev/tty" if has_terminal() else os.devnull


def has_terminal() -> bool:
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True
