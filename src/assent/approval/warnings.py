"""Warnings for the person who answers: hidden and disguised text, claims that prove nothing, a description that does
not match the call."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping

from assent.contract import READ_ONLY, Call, Kind, Lowering, Operation, Pattern
from assent.contract.display import disguised_in, hidden_in, one_line

MOST = 8  # warnings
SCANNED, SAID = 100_000, 20_000  # characters of all arguments, of the description
LONG = 2000  # characters of a command
NAMED = 4  # findings of one kind that are named

# Each finds a run in one pass; its content is checked separately, since a pattern that fails late is slow.
BLANKS = Pattern(r"[ \t\n]{12,}")
WIDE = Pattern(r"[ \t]{40,}")
RUN = Pattern(r"[A-Za-z0-9+/]{90,}")
BYTES = Pattern(r"(?:\\x[0-9a-fA-F]{2}){8}")
DECODED = Pattern(
    r"\bbase(?:64|32)\s+(?:-\w*d|--d|-D)|\bxxd\s+-\w*r|\bopenssl\s+(?:enc|base64)\b.{0,200}-d|b64decode|atob\(|fromhex"
)
MASKED = Pattern(r"://([^\s/@:'\"]+\.[a-zA-Z]{2,})(?::[^\s/@]*)?@([^\s/'\"]+)")
CLAIMS = Pattern(
    r"(?:already|pre-?|been|was|is|now)[ -]?(?:approved|authori[sz]ed|allowed|cleared|white-?listed)"
    r"|(?:approved|authori[sz]ed|confirmed|requested|permitted) by\b"
    r"|(?:user|admin\w*|owner|operator|human|security team) (?:has |have |already |just )*"
    r"(?:approved|authori[sz]ed|confirmed|agreed|consented|said (?:yes|ok)|allowed|permitted|granted)"
    r"|permission (?:is |was |has been )?(?:granted|given)"
    r"|safe to (?:run|execute|approve|allow|accept)|(?:perfectly|completely|totally|entirely) (?:safe|harmless)"
    r"|you can (?:safely )?(?:approve|allow|accept)|(?:please|just) (?:approve|allow|accept|say yes|click)"
    r"|no (?:need|reason) to (?:ask|review|check|worry|read)|(?:skip|bypass|ignore|disregard) (?:the |this |any |all )*"
    r"(?:prompt|approval|review|warnings?|check|policy|rules?|previous|instructions)"
    r"|auto-?approv\w*|trust me|routine (?:approval|confirmation)",
    re.IGNORECASE,
)
LOOKING = Pattern(
    r"\b(?:list|show|read|view|print|display|look|inspect|search|find|count|check|see|get|examine|browse|explore|"
    r"summari[sz]e|status|explain|compare|diff|verify|review)(?:s|es|ing|ed)?\b",
    re.IGNORECASE,
)
CHANGING = Pattern(
    r"\b(?:writ|creat|add|sav|updat|edit|chang|modif|fix|mov|renam|cop|install|remov|delet|clean|clear|drop|reset|push|"
    r"publish|deploy|commit|merg|rebas|format|generat|build|compil|download|fetch|upload|send|post|apply|append|replac|"
    r"overwrit|set|configur|start|stop|restart|run|execut|kill|prun|destroy|unpack|extract|migrat|upgrad|convert|fill|"
    r"store|dump|export|record|log|put|insert|patch|make|bump|tag|stage|initiali[sz]|scaffold|refactor|rewrit|purg|wip|"
    r"discard|rever|undo|restor|sync|clon|pull|eras|truncat|test|tests)\w*\b",
    re.IGNORECASE,
)
NETWORK = Pattern(
    r"\b(?:fetch|download|upload|http|url|api|web|site|page|remote|server|network|online|internet|send|"
    r"post|request|curl|wget|push|pull|clone|install|deploy|publish|ping|call)\w*\b",
    re.IGNORECASE,
)
REMOVING = Pattern(
    r"\b(?:remov|delet|clean|clear|drop|reset|prun|destroy|purg|wip|discard|eras|truncat|mov|renam|replac|uninstall|rm|"
    r"tidy|undo|rever|restor|rebuild|fresh)\w*\b",
    re.IGNORECASE,
)
UNCHANGING = Pattern(
    r"\b(?:read[- ]only|dry[- ]run|no(?:thing)? changes?|without chang\w+|does ?n.t change|no side effects?)\b",
    re.IGNORECASE,
)
LOCAL = Pattern(r"\b(?:offline|locally only|local only|no network|without (?:the )?network)\b", re.IGNORECASE)


def warnings(call: Call, lowering: Lowering) -> tuple[str, ...]:
    """In words that are safe to show; none if nothing is suspicious."""
    found = dict.fromkeys(_found(call, lowering))
    return tuple(one_line(text, 300) for text in found)[:MOST]


def _found(call: Call, lowering: Lowering) -> Iterator[str]:
    given = "\n".join(_texts(call))[:SCANNED]
    said = _said(call)[:SAID]
    yield from _hiding(given, said)
    yield from _claiming(given, said)
    yield from _unfitting(said, lowering)
    yield from _addresses(given, lowering)
    if lowering.text and len(lowering.text) > LONG:
        yield f"the command is {len(lowering.text)} characters long; read all of it"


def _texts(call: Call) -> Iterator[str]:
    """Every text among the arguments, their names too; for a very deep or long input only the first part."""
    todo: list[object] = [call.tool, call.input]
    for _ in range(4000):
        if not todo:
            return
        value = todo.pop(0)
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            todo += [each for pair in value.items() for each in pair]
        elif isinstance(value, list | tuple):
            todo += value


def _said(call: Call) -> str:
    """The agent's own description, in any field the runtime uses."""
    among = call.input.get("description")
    return "\n".join(dict.fromkeys(each for each in (call.description, among) if isinstance(each, str) and each))


# ---------------------------------------------------------------- hidden text


def _hiding(given: str, said: str) -> Iterator[str]:
    for where, text in (("the call", given), ("the description", said)):
        if hidden := hidden_in(text):
            yield f"{where} contains invisible characters: {_listed(hidden)}"
    if disguised := disguised_in(given):
        yield f"look-alike letters: {_listed(disguised)}"
    if any(_pushes(found, given) for found in BLANKS.finditer(given)):
        yield "a long run of blanks pushes text out of view"
    if BYTES.search(given) or any(map(_is_encoded, RUN.findall(given))):
        more = ", and it is decoded" if DECODED.search(given) else ""
        yield f"a long encoded text that nobody can read{more}"
    elif DECODED.search(given):
        yield "text is decoded while it runs: its content cannot be seen here"


def _pushes(found: re.Match[str], text: str) -> bool:
    """Whether blanks come before something, and are too many to be there for the layout."""
    blanks = found[0]
    return found.end() < len(text) and (blanks.count("\n") >= 12 or WIDE.search(blanks) is not None)


def _is_encoded(run: str) -> bool:
    """A run of letters and digits that is no word, no path and no plain checksum."""
    if all(each in "0123456789abcdefABCDEF" for each in run):
        return len(run) > 128
    kinds = (str.isdigit, str.islower, str.isupper)
    return run.count("/") * 12 < len(run) and all(any(map(kind, run)) for kind in kinds)


def _listed(found: tuple[str, ...]) -> str:
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    return ", ".join(found[:NAMED]) + more


# ---------------------------------------------------------------- claims


def _claiming(given: str, said: str) -> Iterator[str]:
    if found := CLAIMS.search(said) or CLAIMS.search(given):
        yield f"it claims “{one_line(found[0], 60)}”; only you can say so"


def _unfitting(said: str, lowering: Lowering) -> Iterator[str]:
    """How the description is milder than the call."""
    if not said:
        return
    does = {effect.operation for effect in lowering.effects}
    marks = sorted({mark for effect in lowering.effects for mark in effect.dangers if not mark.endswith("-if")})
    if (UNCHANGING.search(said) and does - READ_ONLY) or (LOCAL.search(said) and Operation.FETCH in does):
        yield f"the description says that it changes or reaches nothing, and the call may: {_words(does - READ_ONLY)}"
        return
    only_looks = LOOKING.search(said) is not None and CHANGING.search(said) is None
    if milder := only_looks and does & {Operation.WRITE, Operation.DELETE, Operation.DESTROY, Operation.DELEGATE}:
        yield f"the description only mentions reading, and the call does more: {_words(milder)}"
    elif does & {Operation.DELETE, Operation.DESTROY} and not REMOVING.search(said):
        yield "the description does not say that something is deleted"
    if Operation.FETCH in does and not NETWORK.search(said):
        yield "the description does not say that the network is reached"
    if marks and only_looks:
        yield f"the description only mentions reading, and the call is marked: {', '.join(marks[:NAMED])}"


def _words(operations: set[Operation]) -> str:
    return ", ".join(sorted(each.value for each in operations))


# ---------------------------------------------------------------- targets


def _addresses(given: str, lowering: Lowering) -> Iterator[str]:
    for found in MASKED.finditer(given):
        yield f"the address shows `{one_line(found[1], 60)}` but connects to `{one_line(found[2], 60)}`"
    hosts = dict.fromkeys(each.target.name for each in lowering.effects if each.target.kind is Kind.HOST)
    if numbers := [host for host in hosts if _is_number(host)]:
        yield f"a numeric address: {_listed(tuple(numbers))}"
    if odd := [host for host in hosts if any(label.startswith("xn--") for label in host.lower().split("."))]:
        yield f"a host name in disguise, in another script: {_listed(tuple(odd))}"


def _is_number(host: str) -> bool:
    try:
        return not ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
