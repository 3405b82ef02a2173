"""The types of the classifier: the model and how to ask it, and its opinion."""

from __future__ import annotations

from assent.contract.value import Value

TIMEOUT = 5.0  # seconds


class Backend(Value):
    """A model that may judge calls that no rule matches, from the configuration.

    `api` is `anthropic` or `openai`. `key` says where its key comes from: `env:NAME`, `keyring:SERVICE/USER`, `none`.
    Prices are for a million tokens, in any currency; 0 is not known. `source` is the file that names it."""

    __slots__ = ("api", "model", "url", "key", "timeout", "input_price", "output_price", "source")

    def __init__(
        self,
        api: str,
        model: str,
        url: str,
        key: str,
        *,
        timeout: float = TIMEOUT,
        input_price: float = 0.0,
        output_price: float = 0.0,
        source: str = "",
    ) -> None:
        self.api = api
        self.model = model
        self.url = url
        self.key = key
        self.timeout = timeout
        self.input_price = input_price
        self.output_price = output_price
        self.source = source


class Opinion(Value):
    """A model's opinion on a call. Only `safe` lets it run, and only if no rule matches it.

    `error` is a short word for why there is no answer (`""`: there is one); `reason` is the model's own text, as
    hostile as the call it read, or the error. `cached`: it answered an earlier request. `seconds`, tokens and `cost`
    are of the one request made."""

    __slots__ = ("safe", "reason", "model", "error", "cached", "seconds", "input_tokens", "output_tokens", "cost")

    def __init__(
        self,
        safe: bool,
        reason: str,
        model: str,
        *,
        error: str = "",
        cached: bool = False,
        seconds: float = 0.0,
        input_tokens: int = 0,
        output_tokens: int = 0,
        cost: float = 0.0,
    ) -> None:
        # INVARIANT: a failure is not safe, and only true is.
        self.safe = safe is True and not error
        self.reason = reason
        self.model = model
        self.error = error
        self.cached = cached
        self.seconds = seconds
        self.input_tokens = input_tokens
        self.output_tokens = output_tokens
        self.cost = cost

    def __bool__(self) -> bool:
        raise TypeError("an opinion is neither true nor false; write `opinion.safe`")

    def again(self) -> Opinion:
        """The same opinion from the cache, at no cost."""
        return Opinion(self.safe, self.reason, self.model, cached=True)

    def void(self, error: str, reason: str) -> Opinion:
        """The same request without a valid answer."""
        return Opinion(
            False,
            reason,
            self.model,
            error=error,
            cached=self.cached,
            seconds=self.seconds,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cost=self.cost,
        )
