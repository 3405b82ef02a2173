"""Marks tools that affect others (send, pay, destroy, publish), by their names and some of their arguments.

For tools of MCP servers, of frameworks and of an agent's author, which nothing else describes. A name is a
hint: it can add a prompt, never remove one."""

from __future__ import annotations

from collections.abc import Mapping

from assent.contract import DOTALL, IGNORECASE, Pattern
from assent.effects.arguments import lowered_keys

_PIECE = Pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_NAME = Pattern(r"[A-Za-z][\w.:/-]{0,60}")
# The first of these words in a name says what the tool does.
_ACTS = frozenset(
    """send broadcast pay refund withdraw purchase buy sell delete remove destroy drop purge wipe erase truncate
    terminate revoke unpublish deregister decommission publish deploy promote rollback push grant execute exec cancel
    ban suspend deactivate uninstall reboot rotate trigger invoke submit invite share impersonate unsubscribe notify
    donate deposit kick dial mint swap stake unstake flush flushdb flushall rm del overwrite disarm sudo
    evict expel unlock exchange""".split()
)
_LOOKS = frozenset(
    """get list read search find fetch describe show view query count check is has can preview validate lookup download
    parse format render draft simulate estimate plan explain summarize analyze inspect browse watch status resolve
    convert calculate compute compare diff extract detect classify suggest help""".split()
)
_CHANGES = frozenset(
    """create add update set put write edit insert open new make save upload upsert append comment mark assign link
    issue change modify toggle""".split()
)
# Words that are nouns as often as verbs: they count if the name has no other verb.
_NAMES_TOO = frozenset(
    """email mail sms tweet post forward merge transfer charge payout wire trade release refund deployment book capture
    void approve accept confirm reply cart phone""".split()
)
# Making or changing one of these affects others.
_OTHERS = frozenset(
    """refund refunds payment payments payout payouts transfer transfers charge release deployment collaborator
    collaborators permission permissions role roles policy policies acl order visibility public flag flags dns billing
    webhook webhooks admin admins member members message messages call calls token tokens credential credentials
    password passwords subscription subscriptions sms post posts tweet story campaign reservation reservations booking
    bookings flight flights shipment shipments passengers baggage baggages appointment prescription ad ads""".split()
)
_PAIRS = ({"api", "key"}, {"user", "group"}, {"user", "address"})
# Verbs that affect others if done to one of `_SHARED`.
_STOPS = frozenset(
    """stop disable reset close archive restart scale apply clear empty format shutdown pause kill restore lock unlock
    finalize upgrade downgrade renew register sign migrate drain failover rebuild return""".split()
)
_SHARED = frozenset(
    """account accounts instance instances server servers service services user users password passwords subscription
    subscriptions secret secrets key keys cluster clusters database databases production project projects repository
    manifest manifests deployment vm vms disk disks trash branch session sessions process processes door doors alarm
    subscription billing plan domain domains index indexes backup backups table tables collection collections bucket
    buckets queue queues topic topics page pages block node nodes document contract agreement transaction invoice
    invoices payment records order orders""".split()
)
_SHOWN = frozenset("log logs info details history metrics events stats diff diffs".split())
_RUNS = frozenset("sql query command code script workflow job statement shell migration migrations".split())
# Servers whose tools always act on what runs for others: `mcp__terraform__apply`.
_STEERED = frozenset("terraform tofu kubernetes k8s kubectl helm pulumi argocd flux ansible".split())
_TAKES = frozenset("delete remove move rename trash unlink rm mv".split())
_PROSE = frozenset("commit log error draft".split())
_STATED = ("action", "operation", "op", "verb", "method")
_STATEMENTS = ("sql", "query", "statement", "sql_query", "sqlquery", "command", "q", "text", "queries", "statements")
_CHANGING_SQL = Pattern(
    r"\s*(?:--[^\n]*\n\s*)*(?:explain\s+analyze\s+|begin\b.*?;\s*|with\b.*?)?\b(?:insert\s+into"
    r"|update\s+\S+(?:\s+\S+)?\s+set|"
    r"delete\s+from|merge\s+into|replace\s+into|truncate\s+(?:table\s+)?[\w.\"`]+\s*(?:;|$|,|cascade)|"
    r"(?:drop|alter|create(?:\s+or\s+replace)?)\s+(?:temp(?:orary)?\s+|unique\s+|materialized\s+)?(?:table"
    r"|database|schema|index|"
    r"view|user|role|function|procedure|trigger|type|extension|sequence|column|keyspace|collection|policy)\b|"
    r"(?:grant|revoke)\s+.+\s(?:to|from)\s)",
    IGNORECASE | DOTALL,
)
_READING_SQL = Pattern(r"\s*(?:--[^\n]*\n\s*)*(?:select|with|show|explain|describe|desc|values|pragma)\b", IGNORECASE)


def marks(tool: str, given: Mapping[str, object]) -> tuple[str, ...]:
    """The dangers of a call of a tool: `irreversible`, or `destroy` if a statement in it drops or empties."""
    keys = lowered_keys(given)
    name = tool.split("__", 2)[-1] if tool[:5].lower() == "mcp__" else tool
    statements = [text for key in _STATEMENTS for text in _texts(keys.get(key))] if not _seeks(name) else []
    changing = [text for text in statements if _CHANGING_SQL.match(text)]
    if changing:
        from assent.effects.code.sql import destroying

        found = dict.fromkeys(mark for text in changing for mark in destroying(text))
        return ("destroy", *(mark for mark in found if mark != "destroy")) if found else ("irreversible",)
    reads = any(_READING_SQL.match(text) for text in statements)
    if _acts(name) and not (reads and _runs(name)):
        return ("irreversible",)
    if _is_open_to_all(name, keys):
        return ("irreversible",)
    server = tool.split("__", 2)[1] if name is not tool and tool.count("__") > 1 else ""
    if not _STEERED.isdisjoint(_pieces(server)) and {"apply", "upgrade", "sync"}.intersection(_pieces(name)):
        return ("irreversible",)
    stated = [value for key in _STATED if isinstance(value := keys.get(key), str) and _NAME.fullmatch(value)]
    return ("irreversible",) if any(map(_acts, stated)) and not _is_own(keys) else ()


def takes(tool: str) -> bool:
    """Whether a tool, by its name, moves or removes what its arguments name."""
    return not _TAKES.isdisjoint(_pieces(tool.split("__", 2)[-1] if tool[:5].lower() == "mcp__" else tool))


def _is_open_to_all(name: str, keys: Mapping[str, object]) -> bool:
    """Whether it makes something public, or writes a shared branch."""
    pieces = _pieces(name)
    if not pieces or pieces[0] in _LOOKS:
        return False
    if keys.get("visibility") == "public" or (keys.get("private") is False and "update" in pieces):
        return True
    from assent.contract.branches import is_shared

    branch = keys.get("branch")
    writes = not {"file", "files", "commit", "push", "contents"}.isdisjoint(pieces)
    return isinstance(branch, str) and writes and is_shared(branch)


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _pieces(name: str) -> list[str]:
    return [piece.lower() for piece in _PIECE.findall(name)]


def _acts(name: str) -> bool:
    """Whether the first verb of a name is one that acts on others."""
    pieces = _pieces(name)
    for place, piece in enumerate(pieces):
        if piece in _LOOKS:
            return False
        if piece in _CHANGES or piece == "place":
            rest = pieces[place + 1 :]
            named = not _OTHERS.isdisjoint(rest) or any(pair <= set(rest) for pair in _PAIRS)
            return named and _PROSE.isdisjoint(rest)
        if piece in _ACTS or (piece == "run" and not _RUNS.isdisjoint(pieces[place + 1 :])):
            return True
        if piece in _STOPS and not _SHARED.isdisjoint(pieces[place + 1 :]):
            return True
    return not _NAMES_TOO.isdisjoint(pieces) and pieces[-1] not in _SHOWN


def _seeks(name: str) -> bool:
    """Whether its arguments are a search text, not a statement."""
    return not {"search", "find", "lookup", "grep"}.isdisjoint(_pieces(name))


def _runs(name: str) -> bool:
    return not {"execute", "exec", "run", "invoke", "query"}.isdisjoint(_pieces(name))


def _is_own(keys: Mapping[str, object]) -> bool:
    """Whether a request goes to this machine."""
    from assent.effects.addresses import host_of

    address = keys.get("url") or keys.get("uri") or ""
    host = host_of(address) if isinstance(address, str) and address else ""
    return host in ("localhost", "::1", "[::1]", "0.0.0.0") or host.startswith("127.")
