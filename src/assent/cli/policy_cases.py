"""Reads the cases of a policy: `[[test]]` tables beside its rules, or in a file of their own. Every mistake is an error
with file, line and suggestion."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping

from assent.cli.check import MAIN_ARGUMENT, own_grants, read_input
from assent.contract import Decision, PayloadError, PolicyError, Value
from assent.contract.display import one_line
from assent.contract.tools import canonical
from assent.policy.codes import CODES
from assent.policy.document import parse_table
from assent.policy.modes import parse_mode
from assent.policy.parse import HOME, ROOT, did_you_mean

SUFFIX = ".assent-test.toml"
FILE_KEYS = ("policy", "test")
OUTCOMES = ("allow", "ask", "deny")
FACTS = ("symlinks", "files", "untouched")
PASSED_ON = ("cwd", "home", "shell", "runtime", "agent", "hint")  # texts, as in a line of `assent check --batch`
CASE_KEYS: dict[str, str] = {
    "call": 'the call: `"bash git push"` (a tool and its main argument), or `{ tool = "…", input = { … } }`',
    "calls": "a list of such calls, each a case of its own, with the same expectation",
    "expect": "the outcome: allow, ask or deny, or a list of those that are fine",
    "reason": "the code of a reason for the outcome, or how it begins: `floor`, `ask.rule`",
    "rule": "a rule that led to the outcome: its text, or the id of a shipped one",
    "name": "what the case shows (default: the call)",
    "mode": "decide in this mode; `max_mode` of the policy still caps it",
    "facts": "what there is on the host: `symlinks` (from, to), `files` of code (path, text), those `untouched`",
    "cwd": f"the folder of the call, and its workspace (default: `{ROOT}`)",
    "home": f"the user's folder (default: `{HOME}`)",
    "env": "environment variables: `PATH` and `ASSENT_MODE`",
    "shell": "the shell that a command runs in",
    "runtime": "the agent program that the tool belongs to",
    "agent": "the sub-agent that makes the call",
    "hint": "`destructive` if the server of an MCP tool says so",
    "headless": "true: nobody can answer, so what asks is denied",
    "grants": "saved answers: `rules`, and the ask rules that they answer (`answers`)",
}
LONGEST_SHOWN = 300  # characters of a call
EXAMPLE = 'write `call = "bash git push"` and `expect = "ask"`'


class PolicyCase(Value):
    """A call and what is expected of it. `row` is the call as a line of `assent check --batch` would have it."""

    __slots__ = ("name", "shown", "row", "expect", "reason", "rule", "file", "line")

    def __init__(
        self,
        name: str,
        shown: str,
        row: Mapping[str, object],
        *,
        expect: tuple[str, ...] = (),
        reason: str = "",
        rule: str = "",
        file: str = "",
        line: int = 0,
    ) -> None:
        self.name = name
        self.shown = shown
        self.row = row
        self.expect = expect
        self.reason = reason
        self.rule = rule
        self.file = file
        self.line = line

    def misses(self, decision: Decision) -> tuple[str, ...]:
        """What is not as expected, in words."""
        part, out = decision.deciding, []
        reached = [part, *(each for each in decision.parts if each.outcome is decision.outcome)]
        if self.expect and decision.outcome.word not in self.expect:
            out.append(f"expected {' or '.join(self.expect)}, got {decision.outcome.word}")
        if self.reason and not any(f"{each.code}.".startswith(f"{self.reason}.") for each in reached):
            out.append(f"expected the reason `{self.reason}`, got `{part.code}`")
        if self.rule and not any(self.rule in (each.rule, each.source.removeprefix("shipped:")) for each in reached):
            out.append(f"expected the rule `{self.rule}`, got {f'`{part.rule}`' if part.rule else 'no rule'}")
        return tuple(out)


class CaseFile(Value):
    """The cases of one file, and the policies that it names."""

    __slots__ = ("cases", "policy")

    def __init__(self, cases: tuple[PolicyCase, ...], policy: tuple[str, ...] = ()) -> None:
        self.cases = cases
        self.policy = policy


def read_cases(text: str, file: str) -> CaseFile:
    """The cases of a configuration file, or of a test file. Raises PolicyError."""
    table = parse_table(text, file)
    policy: tuple[str, ...] = ()
    if file.endswith(SUFFIX):
        for key in table:
            if key not in FILE_KEYS:
                line = _line_of(key, text.split("\n"), 1)
                raise _error(f"unknown key `{key}` in a test file", file, line, did_you_mean(key, FILE_KEYS))
        policy = _paths(table.get("policy", []), text, file)
    found = table.get("test", [])
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        line = _line_of("test", text.split("\n"), 1)
        raise _error("`test` must be a list of tables", file, line, "write `[[test]]` and its keys below")
    lines = _headers(text, len(found))
    return CaseFile(
        tuple(
            case for each, line in zip(found, lines, strict=True) for case in _CaseReader(text, file, line).read(each)
        ),
        policy,
    )


def _paths(given: object, text: str, file: str) -> tuple[str, ...]:
    named = [given] if isinstance(given, str) else given
    if not isinstance(named, list) or not all(isinstance(each, str) and each for each in named):
        line = _line_of("policy", text.split("\n"), 1)
        raise _error("`policy` must be a path or a list of paths", file, line, 'write `policy = "config.toml"`')
    return tuple(named)


def _headers(text: str, count: int) -> list[int]:
    """The line of each table. Where they are written in another form, that of `test`."""
    lines = text.split("\n")
    found = [number for number, line in enumerate(lines, 1) if re.match(r"\s*\[\[\s*[\"']?test[\"']?\s*\]\]", line)]
    return found if len(found) == count else [_line_of("test", lines, 1)] * count


def _line_of(key: str, lines: list[str], start: int) -> int:
    """The line of a key in the table that begins at a line, or that line."""
    for number, line in enumerate(lines[start - 1 :], start):
        if number > start and line.lstrip().startswith("[["):
            break
        if re.match(rf"\s*(\[+\s*)?[\"']?{re.escape(key)}[\"']?\s*[=.\]]", line):
            return number
    return start


def _error(message: str, file: str, line: int, suggestion: str) -> PolicyError:
    return PolicyError(message, file=file, line=line, suggestion=suggestion)


class _CaseReader:
    """Reads one table, which may have several calls."""

    def __init__(self, text: str, file: str, line: int) -> None:
        self.lines = text.split("\n")
        self.file = file
        self.line = line

    def read(self, table: Mapping[str, object]) -> Iterator[PolicyCase]:
        for key in table:
            if key not in CASE_KEYS:
                raise self._at(f"unknown key `{key}` in a test", key, did_you_mean(key, CASE_KEYS))
        if not table.keys() & {"expect", "reason", "rule"}:
            raise self._at("the test expects nothing", "", 'add `expect = "allow"`, `"ask"` or `"deny"`')
        shared = self._shared(table)
        expect, reason = self._expect(table.get("expect", [])), self._reason(table)
        rule, name = self._text(table, "rule"), self._text(table, "name")
        for tool, given, shown in self._calls(table):
            row = {"tool": tool, "input": given, **shared}
            yield PolicyCase(
                f"{name}: {shown}" if name and "calls" in table else name or shown,
                shown,
                row,
                expect=expect,
                reason=reason,
                rule=rule,
                file=self.file,
                line=self.line,
            )

    # -------------------------------------------------------- the call

    def _calls(self, table: Mapping[str, object]) -> Iterator[tuple[str, dict[str, object], str]]:
        if ("call" in table) == ("calls" in table):
            raise self._at("a test has either `call` or `calls`", "calls", EXAMPLE)
        if "call" in table:
            yield self._call(table["call"], "call")
            return
        listed = table["calls"]
        if not isinstance(listed, list) or not listed:
            raise self._at("`calls` must be a list of calls", "calls", 'write `calls = ["bash git push"]`')
        for each in listed:
            yield self._call(each, "calls")

    def _call(self, given: object, key: str) -> tuple[str, dict[str, object], str]:
        try:
            return read_call(given)
        except PayloadError as error:
            raise self._at(f"`{key}` is no call: {error}", key, EXAMPLE) from None

    def _shared(self, table: Mapping[str, object]) -> dict[str, object]:
        """What every call of the table has."""
        row: dict[str, object] = {"cwd": ROOT, "home": HOME}
        row |= {key: self._text(table, key) for key in PASSED_ON if key in table}
        for key in ("cwd", "home"):
            if not str(row[key]).startswith("/"):
                raise self._at(f"`{key}` must be an absolute path", key, f'write `{key} = "{ROOT}"`')
        if "mode" in table:
            row["mode"] = parse_mode(self._text(table, "mode"), file=self.file, line=self._line("mode")).word
        row["facts"] = self._facts(table.get("facts", {}), str(row["cwd"]))
        row["env"] = self._texts_by_name(table.get("env", {}), "env")
        if not isinstance(table.get("headless", False), bool):
            raise self._at("`headless` must be true or false", "headless", "write `headless = true`")
        row["headless"] = table.get("headless", False)
        if "grants" in table:
            try:
                own_grants(table["grants"])
            except PayloadError as error:
                raise self._at(str(error), "grants", 'write `grants = [{ rules = ["bash(make:*)"] }]`') from None
            row["grants"] = table["grants"]
        return row

    def _facts(self, given: object, cwd: str) -> dict[str, object]:
        """Facts with absolute paths: a relative one is in the folder of the call."""
        if not isinstance(given, dict):
            raise self._at("`facts` must be a table", "facts", 'write `facts = { files = { "run.sh" = "…" } }`')
        for key in given:
            if key not in FACTS:
                raise self._at(f"unknown fact `{key}`", "facts", did_you_mean(key, FACTS))
        links, files = (self._texts_by_name(given.get(key, {}), f"facts.{key}") for key in ("symlinks", "files"))
        untouched = given.get("untouched", [])
        if not isinstance(untouched, list) or not all(isinstance(each, str) for each in untouched):
            raise self._at("`facts.untouched` must be a list of paths", "facts", 'write `untouched = ["run.sh"]`')
        return {
            "symlinks": {posixpath.join(cwd, path): posixpath.join(cwd, target) for path, target in links.items()},
            "files": {posixpath.join(cwd, path): body for path, body in files.items()},
            "untouched": [posixpath.join(cwd, path) for path in untouched],
        }

    # -------------------------------------------------------- what is expected

    def _expect(self, given: object) -> tuple[str, ...]:
        words = [given] if isinstance(given, str) else given
        if not isinstance(words, list):
            raise self._at("`expect` must be an outcome or a list of them", "expect", 'write `expect = "ask"`')
        for each in words:
            if each not in OUTCOMES:
                raise self._at(f"`{each}` is no outcome", "expect", did_you_mean(str(each), OUTCOMES))
        return tuple(words)

    def _reason(self, table: Mapping[str, object]) -> str:
        reason = self._text(table, "reason")
        if reason and not any(f"{code}.".startswith(f"{reason}.") for code in CODES):
            near = did_you_mean(reason, CODES)
            raise self._at(
                f"`{reason}` is no reason code", "reason", near if near[:3] == "did" else "see `assent check`"
            )
        return reason

    # -------------------------------------------------------- values

    def _text(self, table: Mapping[str, object], key: str) -> str:
        value = table.get(key, "")
        if not isinstance(value, str) or (key in table and not value):
            raise self._at(f"`{key}` must be text", key, f'write `{key} = "…"`')
        return value

    def _texts_by_name(self, given: object, key: str) -> dict[str, str]:
        if not isinstance(given, dict) or not all(isinstance(each, str) for each in given.values()):
            raise self._at(
                f"`{key}` must be a table of texts", key.partition(".")[0], f'write `{key} = {{ "…" = "…" }}`'
            )
        return dict(given)

    def _line(self, key: str) -> int:
        return _line_of(key, self.lines, self.line) if key else self.line

    def _at(self, message: str, key: str, suggestion: str) -> PolicyError:
        return _error(message, self.file, self._line(key), suggestion)


def read_call(given: object) -> tuple[str, dict[str, object], str]:
    """Tool, input, and the call as one text. Raises PayloadError."""
    if isinstance(given, str):
        name, _, rest = given.strip().partition(" ")
        if not name:
            raise PayloadError("it is empty")
        return name, read_input(name, rest.strip()), one_line(given.strip(), LONGEST_SHOWN)
    if not isinstance(given, dict) or given.keys() - {"tool", "input"}:
        raise PayloadError("it must be text, or a table with `tool` and `input`")
    tool, found = given.get("tool"), given.get("input", {})
    if not isinstance(tool, str) or not tool or not isinstance(found, dict):
        raise PayloadError("`tool` must be text and `input` a table")
    value = found.get(MAIN_ARGUMENT.get(canonical(tool), ""))
    shown = value if isinstance(value, str) and len(found) == 1 else json.dumps(found, ensure_ascii=False, default=str)
    return tool, found, one_line(f"{tool} {shown}", LONGEST_SHOWN)
