"""How much a call sends, and its destination."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from assent.contract import READ_ONLY, Kind, Lowering, Operation, Via
from assent.contract.approval import Consequence
from assent.facts.consequences import trees
from assent.facts.consequences.deadline import Deadline
from assent.facts.consequences.pushes import bare
from assent.facts.consequences.words import counted, listed, say, size

KIND = "upload"
SENDING = frozenset({"exfiltration", "exfiltration-git"})
_STORES = ("s3://", "gs://", "gcs://", "az://", "azure://", "r2://", "b2://", "oss://", "dropbox:", "ipfs://")


def commands(lowering: Lowering) -> list[int]:
    """The commands that send something (-1: the tool itself)."""
    found = [each.invocation for each in lowering.effects if SENDING.intersection(each.dangers)]
    return list(dict.fromkeys(index for index in found if not _is_push(index, lowering)))


def _is_push(index: int, lowering: Lowering) -> bool:
    return index >= 0 and lowering.invocations[index].program == "git"


def measure(index: int, lowering: Lowering, deadline: Deadline) -> Iterator[Consequence]:
    effects = [each for each in lowering.effects if each.invocation == index]
    remote = destination(index, lowering)
    paths = [
        each.target.raw or each.target.name
        for each in effects
        if each.operation in READ_ONLY
        and each.target.kind is Kind.PATH
        and each.target.name
        and not each.target.pattern
        and not each.target.text.startswith(_STORES)
        and each.via is not Via.REDIRECT
    ]
    sent = [each for each in effects if SENDING.intersection(each.dangers) and each.target.kind is Kind.PATH]
    marked = [each.target.raw or each.target.name for each in sent if each.target.name]
    found = trees.count(dict.fromkeys(marked or paths), deadline)
    if not found.files:
        host = any(each.target.kind is Kind.HOST and SENDING.intersection(each.dangers) for each in effects)
        yield say(KIND, "upload.input" if host and not paths else "upload.unknown", remote=remote)
        return
    values = {"files": counted(found.files, "file"), "size": size(found.size), "remote": remote}
    names = listed([posixpath.basename(each) for each in found.names[:100]], found.files)
    yield say(KIND, "upload.least" if found.cut else "upload.files", values, names=names)


def destination(index: int, lowering: Lowering) -> str:
    """The destination of a command, as it names it."""
    effects = [each for each in lowering.effects if each.invocation == index]
    hosts = [
        bare(each.target.text)
        for each in effects
        if each.operation is Operation.FETCH and each.target.kind is Kind.HOST
    ]
    if not hosts and index >= 0:
        words = lowering.invocations[index].operands
        hosts = [word for word in words if word.startswith(_STORES)]
    return listed(list(dict.fromkeys(filter(None, hosts)))) or "a place that is not known"
