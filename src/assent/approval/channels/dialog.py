"""A question as a dialog by keys: the meaning of keys, and when an answer is complete. Sans-I/O.

It takes keys and returns the text to print and, once, the person's answer."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from assent.approval.channels import screen
from assent.approval.escalation import Offer
from assent.contract import AssentError
from assent.contract.approval import Answer, Held, Reach, Said, Scope, Suggestion
from assent.contract.words import DENY, MESSAGE, STOP, of_scope

ReachOf = Callable[[Held, tuple[str, ...], Scope], Reach]

SCOPES = {of_scope(scope).key: scope for scope in Scope if scope is not Scope.ONCE}
ONCE = of_scope(Scope.ONCE).key
PLAIN = {
    ONCE: Answer(Said.ALLOW),
    DENY.key: Answer(Said.DENY),
    STOP.key: Answer(Said.STOP),
}


class Asks(Enum):
    """The subject of the next key."""

    ANSWER = "answer"
    RULE = "rule"
    EDIT = "edit"
    MESSAGE = "message"
    OVER = "over"


class Dialog:
    """One question and the keys typed at it. `answer` is set once; `dismissed` if the person dismissed it.

    `single` says that the next key alone is an answer, `over` that the dialog has ended. `opening` and `key`, which
    takes one key, return the text to print."""

    def __init__(self, held: Held, reach: ReachOf | None = None, *, width: int = 80, colour: bool = False) -> None:
        self.held = held
        self.answer: Answer | None = None
        self.dismissed = False
        self.asks = Asks.ANSWER
        self.typed = ""
        self.scope = Scope.ONCE
        self._reach = reach
        self._style = screen.ScreenStyle(width, colour)
        self._rules: tuple[str, ...] = ()
        self.whole = not screen.is_cut(held)  # whether all of it was shown

    @property
    def single(self) -> bool:
        return self.asks in (Asks.ANSWER, Asks.RULE)

    @property
    def over(self) -> bool:
        return self.asks is Asks.OVER

    def opening(self) -> str:
        return screen.question(self.held, self._style) + self._keys()

    def key(self, key: str) -> str:
        if self.over:
            return ""
        if key == "ctrl-c" or (key == "esc" and self.asks is Asks.ANSWER):
            self.dismissed, self.asks = True, Asks.OVER
            return "\n"
        if self.asks is Asks.ANSWER:
            return self._answering(key.lower())
        return self._choosing(key.lower()) if self.asks is Asks.RULE else self._typing(key)

    def _keys(self) -> str:
        return screen.keys(self._style, cut=screen.is_cut(self.held))

    def _answering(self, key: str) -> str:
        if (key == ONCE or key in SCOPES) and not self.whole:
            return screen.not_whole(self._style) + self._keys()
        if key == "v" and screen.is_cut(self.held):
            self.whole = self.held.preview.whole
            return screen.whole(self.held, self._style) + self._keys()
        if key in PLAIN:
            return self._finish(PLAIN[key])
        if key in SCOPES:
            self.scope, self.asks = SCOPES[key], Asks.RULE
            return screen.choices(self._offered(), self.scope, self._style)
        if key == MESSAGE[0]:
            self.typed, self.asks = "", Asks.MESSAGE
            return screen.prompt("tell the agent", "", self._style)
        if key == "d":
            return screen.details(self.held, self._style) + self._keys()
        return ""

    def _offered(self) -> tuple[Suggestion, ...]:
        return self.held.suggestions or (Suggestion((), "this exact call"),)

    def _choosing(self, key: str) -> str:
        offered = self._offered()
        if key == "esc":
            return self._back()
        key = "1" if key == "enter" else key
        if key.isascii() and key.isdigit() and 1 <= int(key) <= len(offered):
            return self._remember(offered[int(key) - 1].rules)
        if key == "r" and offered[0].rules:
            self.typed, self.asks = " ; ".join(offered[0].rules), Asks.EDIT
            return screen.prompt("rule", self.typed, self._style)
        return ""

    def _typing(self, key: str) -> str:
        if key == "esc":
            return self._back()
        if key == "enter":
            if self.asks is Asks.MESSAGE:
                return self._finish(Answer(Said.DENY, message=self.typed.strip()))
            rules = tuple(each.strip() for each in self.typed.split(" ; ") if each.strip())
            return self._remember(rules) if rules else self._back()
        if key == "backspace":
            self.typed = self.typed[:-1]
        elif key == "ctrl-u":
            self.typed = ""
        elif len(key) == 1:
            self.typed += key
        label = "rule" if self.asks is Asks.EDIT else "tell the agent"
        return screen.prompt(label, self.typed, self._style, again=True)

    def _remember(self, rules: tuple[str, ...]) -> str:
        """Ask again with the past calls that the rules would have matched; the same rules a second time are the
        answer."""
        reach = self._reached(rules)
        if reach is not None and reach.refusal:
            self.typed, self.asks = " ; ".join(rules), Asks.EDIT
            return screen.refused(reach.refusal, self._style) + screen.prompt("rule", self.typed, self._style)
        if reach is None or rules == self._rules or not rules:
            return self._finish(Answer(Said.ALLOW, scope=self.scope, rules=rules))
        self._rules, self.typed, self.asks = rules, " ; ".join(rules), Asks.EDIT
        return screen.reach(reach, self._style) + screen.prompt("rule", self.typed, self._style)

    def _reached(self, rules: tuple[str, ...]) -> Reach | None:
        if self._reach is None:
            return None
        try:
            return self._reach(self.held, rules, self.scope)
        except (AssentError, OSError, ValueError) as error:
            return Reach(refusal=f"it is not known what it would have matched: {error}")

    def _back(self) -> str:
        self.asks, self.typed, self._rules = Asks.ANSWER, "", ()
        return "\n" + self._keys()

    def _finish(self, answer: Answer) -> str:
        self.answer, self.asks = answer, Asks.OVER
        return f"\n{screen.said(answer, self._style)}\n"


class OfferKeys:
    """An offer and the key typed at it, used like `Dialog`. `mode` or `rule` is the choice; neither is set if it was
    rejected."""

    single = True

    def __init__(self, offer: Offer, *, width: int = 80, colour: bool = False) -> None:
        self.mode = self.rule = ""
        self.over = False
        self._offer = offer
        self._style = screen.ScreenStyle(width, colour)

    def opening(self) -> str:
        return screen.offer(self._offer, self._style)

    def key(self, key: str) -> str:
        modes = {screen.OFFERED[mode]: mode for mode in self._offer.modes if mode in screen.OFFERED}
        rules = {str(number): rule for number, rule in enumerate(self._offer.rules, 1)}
        if key in modes or key in rules or key in ("n", "esc", "ctrl-c"):
            self.mode, self.rule, self.over = modes.get(key, ""), rules.get(key, ""), True
        return "\n" if self.over else ""
