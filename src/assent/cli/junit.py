"""The results of cases as JUnit XML, for servers that show tests."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from assent.cli.policy_trial import CaseGroup, CaseResult
from assent.contract.display import visible


def report(groups: Sequence[CaseGroup], results: Sequence[CaseResult], seconds: float) -> str:
    """One suite for each file. Characters that XML cannot hold are written as escapes."""
    root = Element("testsuites", _counts(results, seconds))
    rest = list(results)
    for group in groups:
        own, rest = rest[: len(group.cases)], rest[len(group.cases) :]
        took = sum(result.seconds for result in own)
        suite = SubElement(root, "testsuite", {"name": visible(group.file), **_counts(own, took)})
        for case, result in zip(group.cases, own, strict=True):
            named = {"name": visible(case.name), "classname": visible(group.file), "file": visible(group.file)}
            told = {**named, "line": str(case.line), "time": f"{result.seconds:.6f}"}
            element = SubElement(suite, "testcase", told)
            if result.misses:
                failure = SubElement(element, "failure", {"message": visible("; ".join(result.misses))})
                failure.text = visible(result.receipt)
    indent(root)
    return tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _counts(results: Sequence[CaseResult], seconds: float) -> dict[str, str]:
    failed = sum(1 for result in results if result.misses)
    return {"tests": str(len(results)), "failures": str(failed), "errors": "0", "time": f"{seconds:.3f}"}
