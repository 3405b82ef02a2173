"""Messages of MCP → the tool calls in them, and refusals that the model can read.

A `tools/call` is a call of `mcp__<server>__<tool>`. A `resources/read` of a `file:` address is a read of that file."""

from __future__ import annotations

import os
import re
import shlex
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from assent.contract import Call, StoreError
from assent.contract.display import visible
from assent.mcp.definitions import TWICE, ToolList
from assent.mcp.frames import INVALID, PARAMS, BadMessage, Body, Frame, FrameKind, failure, misspelled, success
from assent.programs.traits import has

CALL, READ = "tools/call", "resources/read"
RESOURCE = "mcp-resource"  # a runtime whose `read` reads a file; the name of a server's tool proves nothing
GATED = {"toolscall": CALL, "resourcesread": READ}  # by the lower-case letters of a method
PARAMETERS = frozenset({"name", "arguments", "uri", "task", "_meta"})
LONGEST_NAME = 256
REFUSED = -32001  # the error code of a refusal
VERSION = "io.modelcontextprotocol/protocolVersion"  # in `_meta`, for versions of the protocol without a handshake
SERVER = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]|_(?!_)){0,62}(?<!_)")


def server_name(given: str, command: Sequence[str], url: str) -> str:
    """The name of a server in rules. Raises StoreError if none was given and none can be derived."""
    if given:
        if not SERVER.fullmatch(given):
            raise StoreError(f"`{given}` is no name for a server; use letters, digits, `-`, `.` and single `_`")
        return given
    host = (urlsplit(url).hostname or "") if url else ""
    name = host.replace(".", "_") if url else os.path.basename(command[0])
    numeric = host == "localhost" or not re.search("[a-z]", host.rpartition(".")[2]) if url else False
    if numeric or has(name, "launcher") or not SERVER.fullmatch(name):
        raise StoreError(f"`{host or name}` may mean many servers; name this one with --name")
    return name


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOrigin:
    server: str
    session: str
    project: str
    home: str = ""

    def start(self, command: Sequence[str]) -> Call:
        """The start command of the server, as a call of the shell."""
        return Call(
            "bash",
            {"command": shlex.join(command)},
            cwd=os.getcwd(),
            home=self.home,
            session=self.session,
            runtime="assent",
            description=f"starts the MCP server `{self.server}`",
            shell="bash",
        )

    def call(self, frame: Frame, tools: ToolList | None = None) -> Call | None:
        """The call in a message, None if there is nothing to judge. Raises BadMessage."""
        method = gated(frame.method)
        if method is None:
            return None
        if frame.method != method:
            raise BadMessage(INVALID, f"the method is spelled `{method}`", frame.body.get("id"))
        if frame.kind is not FrameKind.REQUEST:
            raise BadMessage(INVALID, f"`{method}` needs an id")
        try:
            tool, given = _tool_call(frame, self.server) if method == CALL else _resource_read(frame)
            _check_texts(tool, given)
        except UnicodeEncodeError:  # a lone surrogate, which some parsers read as another character
            raise BadMessage(PARAMS, "a text holds half a character", frame.body["id"]) from None
        except (BadMessage, UnicodeError) as error:
            raise BadMessage(PARAMS, str(error), frame.body["id"]) from None
        if not tool:
            return None
        name = frame.params.get("name") if method == CALL else None
        return Call(
            tool,
            given,
            cwd=self.project,
            roots=(self.project,),
            home=self.home,
            session=self.session,
            runtime="mcp" if method == CALL else RESOURCE,
            annotations=tools.annotations(name) if tools is not None else None,
            definition={"state": TWICE} if tools is not None and tools.text(name)[1] == TWICE else None,
        )


def gated(method: str) -> str | None:
    """The gated method that a word names, or that some server might read it as."""
    if method in (CALL, READ):
        return method
    letters = "".join(each for each in unicodedata.normalize("NFKC", method).casefold() if each.isalpha())
    return GATED.get(letters)


def _tool_call(frame: Frame, server: str) -> tuple[str, Body]:
    params = _params(frame)
    name, given = params.get("name"), params.get("arguments")
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME:
        raise BadMessage(PARAMS, f"`name` is the name of a tool, of at most {LONGEST_NAME} characters")
    if name != name.strip() or any(unicodedata.category(each) in ("Cc", "Cf", "Cs", "Zl", "Zp") for each in name):
        raise BadMessage(PARAMS, "`name` holds characters that no tool is named with")
    if given is not None and not isinstance(given, dict):
        raise BadMessage(PARAMS, "`arguments` is an object")
    return f"mcp__{server}__{name}", given or {}


def _resource_read(frame: Frame) -> tuple[str, Body]:
    """A read of a file; for an address that is no file, the tool is `""`."""
    uri = _params(frame).get("uri")
    path = file_path(uri) if isinstance(uri, str) else None
    if path is None:
        raise BadMessage(PARAMS, "the address cannot be read" if isinstance(uri, str) else "`uri` is text")
    return ("read", {"file_path": path}) if path else ("", {})


def file_path(uri: str) -> str | None:
    """The path of a `file:` address, `""` for another address, None for one that can be read in two ways."""
    scheme, colon, rest = uri.strip().partition(":")
    if not colon or scheme.casefold() != "file":
        return "" if colon and re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*", scheme) else None
    if any(each in rest for each in "?#\\") or any(not each.isprintable() for each in uri):
        return None
    if rest.startswith("//"):
        host, _, rest = rest[2:].partition("/")
        if host.lower() not in ("", "localhost"):
            return None
        rest = "/" + rest
    path = unquote(rest, errors="strict")
    return path if path.startswith("/") and "\0" not in path else None


def _params(frame: Frame) -> Body:
    params = frame.body.get("params")
    if not isinstance(params, dict):
        raise BadMessage(PARAMS, "`params` is an object")
    if alike := misspelled(params, PARAMETERS):
        raise BadMessage(PARAMS, f"`{alike}` is not how this parameter is spelled")
    return params


def _check_texts(*values: object) -> None:
    """Raises UnicodeEncodeError for a lone surrogate."""
    for each in values:
        if isinstance(each, str):
            each.encode("utf-8")
        elif isinstance(each, dict):
            _check_texts(*each, *each.values())
        elif isinstance(each, list):
            _check_texts(*each)


def refusal(frame: Frame, message: str) -> Body:
    """The answer to a call that does not run, as a result of the tool that the model reads.

    A call that runs as a task, and a resource, have no such result: there it is an error."""
    id = frame.body["id"]
    text = visible(message)
    if frame.method != CALL or "task" in frame.params:
        return failure(id, REFUSED, text)
    return complete(frame, {"content": [{"type": "text", "text": text}], "isError": True})


def complete(frame: Frame, result: Body) -> Body:
    """The response to a request, with a field that versions of the protocol without a handshake require."""
    return success(frame.body["id"], {**result, "resultType": "complete"} if VERSION in frame.meta else result)


def can_ask(params: Body) -> bool:
    capabilities = params.get("capabilities")
    found = capabilities.get("elicitation") if isinstance(capabilities, dict) else None
    return isinstance(found, dict) and (not found or isinstance(found.get("form"), dict))
