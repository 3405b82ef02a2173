"""Hosts that code reaches, and the data that it sends to them."""

from __future__ import annotations

from assent.contract import Operation, Pattern
from assent.effects.code.dataflow.evaluate import CallArguments
from assent.effects.code.dataflow.nodes import HOLE
from assent.effects.code.dataflow.value import (
    ENVIRONMENT,
    KEY_FILE,
    LOCAL_FILE,
    OPEN,
    TREE,
    VARIABLE,
    CodeValue,
    file_taint,
)
from assent.effects.shell.command import Arg
from assent.effects.shell.commands.command_effects import READ, EffectsBuilder

_LOOPBACK = Pattern(
    r"(?i)(?:\w+://)?(?:[^/@]*@)?(?:localhost|127\.[0-9.]+|0\.0\.0\.0|\[::1?\]|host\.docker\.internal)(?:[:/].*)?"
)
_AUTHORITY = Pattern(r"[A-Za-z][\w+.-]*://[^/\ue000?#]+[/?#]")
_BODIES = (
    "data",
    "json",
    "files",
    "content",
    "body",
    "params",
    "form",
    "formData",
    "multipart",
    "searchParams",
    "attachments",
)
_SERIALIZED = frozenset({"json", "params", "searchParams"})
_CREDENTIAL = Pattern(r"(?i)\w*(?:token|secret|api_?key|^key|password|passwd|client_id|username|auth\w*|signature)\w*")


class CodeNetwork:
    """The part of the effects of code that concerns the network."""

    __slots__ = ("builder", "local", "packed")

    def __init__(self, builder: EffectsBuilder) -> None:
        self.builder = builder
        self.local: dict[str, bool] = {}  # functions that reach hosts, and whether all hosts are this machine
        self.packed = False  # whether files were put into an archive

    def argument(self, selector: str, given: CallArguments) -> CodeValue | None:
        """`0/path`: the first argument or the one named `path`; `self`: the object of the method."""
        if selector == "self":
            return given.owner
        place, *names = selector.rstrip("+").split("/")
        found = given.at(int(place), *names) if place != "-1" else given.items[-1] if given.items else None
        return found if found is not None else OPEN if "**" in given.named else None

    def path(
        self, operation: Operation, found: CodeValue, *, recursive: bool = False, dangers: tuple[str, ...] = ()
    ) -> None:
        raise NotImplementedError

    def fetch(self, argument: str, ref: str, given: CallArguments) -> bool:
        """Reach a host. Returns whether all hosts are this machine."""
        found = self.argument(argument or "0/url", given)
        if found is not None and found.fields is not None and not found.texts:
            named = [
                found.fields[name] for name in ("url", "uri", "host", "hostname", "baseURL") if name in found.fields
            ]
            found = named[0] if named else OPEN
        if found is not None and found.items is not None and not found.texts:
            found = found.items[0] if found.items else OPEN
        local = True
        for text in found.texts if found is not None and found.texts else (HOLE,):
            if _LOOPBACK.fullmatch(text.replace(HOLE, "x")) and not text.startswith(HOLE):
                self.builder.fetch(text.partition(HOLE)[0].partition("?")[0])
                continue
            local = False
            match = _AUTHORITY.match(text)
            if HOLE not in text and text:
                self.builder.fetch(text)
            elif match is not None:
                self.builder.fetch(match[0].rstrip("?#"))
            else:
                self.builder.fetch(Arg("<computed>"))
        if found is not None and found.taint & (ENVIRONMENT | KEY_FILE) and not local:
            self.builder.danger("exfiltration-secret")
        elif found is not None and found.taint & VARIABLE and not local:
            self.builder.danger("exfiltration")
        self.local[ref] = local and self.local.get(ref, True)
        return local

    def send(self, argument: str, ref: str, given: CallArguments) -> None:
        """Reach a host with data: `send 0/url 1`, with the number of the first argument that is data."""
        selector, _, first = (argument or "0/url 1").partition(" ")
        if self.fetch(selector, ref, given):
            return
        sent: list[tuple[str, CodeValue]] = []
        for place, item in enumerate(given.items):
            if place >= int(first or "1"):
                fields = item.fields or {}
                named = [(name, fields[name]) for name in _BODIES if name in fields]
                options = bool(fields.keys() & {"method", "headers", "body", "url", "baseURL", "timeout"})
                sent += named if named or options else [("body", item)]
        sent += [(name, given.named[name]) for name in (*_BODIES, "**") if name in given.named]
        first_item = given.items[0].fields if given.items else None
        sent += [(name, first_item[name]) for name in _BODIES if first_item is not None and name in first_item]
        for name, value in sent:
            self.leaves(name, value)

    def leaves(self, name: str, value: CodeValue) -> None:
        """Data leaves for the network."""
        taint = value.taint & ~VARIABLE | (VARIABLE if _bare_secret(value, name) else 0)
        if taint & (ENVIRONMENT | KEY_FILE | VARIABLE):
            self.builder.danger("exfiltration-secret")
        elif self.packed and any(ref.endswith(("BytesIO()", "StringIO()", "archiver()")) for ref in value.refs):
            self.builder.danger("exfiltration")  # an archive in memory
        elif taint & TREE or (taint & LOCAL_FILE and name not in _SERIALIZED):
            self.builder.danger("exfiltration")

    def sent(self, argument: str, ref: str, given: CallArguments) -> None:
        """Data is written to an open connection."""
        for item in given.items:
            self.leaves("body", item)

    def uploaded(self, argument: str, ref: str, given: CallArguments) -> None:
        """A named file is sent to a store or another machine."""
        found = self.argument(argument, given) or OPEN
        self.path(READ, found)
        for text in found.texts:
            if HOLE not in text:
                self.leaves("body", CodeValue((text,), taint=file_taint(found)))
                return
        self.leaves("body", found)


def _bare_secret(value: CodeValue, name: str) -> bool:
    """Whether a variable with a secret name is among the data, other than as a credential of the request."""
    if not value.taint & VARIABLE or _CREDENTIAL.fullmatch(name):
        return False
    if value.fields:
        return any(_bare_secret(inner, field) for field, inner in value.fields.items())
    return True
