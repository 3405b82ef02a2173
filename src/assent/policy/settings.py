"""Merges the documents of every layer into the settings in force, with the source of each.

Managed → user → project (tightens only) → environment → flags → session. Lists append; the last mode wins, capped by
`max_mode` of every file and by `untrusted_mode`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from assent.contract import Operation, PolicyError, Value, texts
from assent.contract.classifier import Backend
from assent.policy.document import Document
from assent.policy.modes import Mode, parse_mode
from assent.policy.policy import Policy, compile_policy
from assent.policy.rules import Origin, Rule, RuleKind

if TYPE_CHECKING:
    from assent.policy.agent_settings import AgentSettings
    from assent.policy.contain_settings import ContainSettings
    from assent.policy.tool_settings import Declared

TIMEOUT = 300
UNSEEN = 60


class Settings(Value):
    """The settings in force. `chosen` says who set the mode, `clamps` what capped it, `limit` is the loosest mode of a
    session, `classifier` the model for calls that no rule matches, `start` whether a hook may start the server, `idle`
    the seconds after which a background server exits (0: never), `undo` the limits of copies, `contain` the access of
    contained runs (None: there are none), `tools` and `agents` the declarations of tools and the settings of
    sub-agents."""

    __slots__ = (
        "mode",
        "limit",
        "chosen",
        "clamps",
        "floor",
        "deny",
        "ask",
        "allow",
        "packs",
        "off",
        "timeout",
        "unseen",
        "route",
        "start",
        "idle",
        "follow_host",
        "classifier",
        "undo",
        "contain",
        "extra",
        "commands",
        "tools",
        "agents",
        "files",
    )

    def __init__(
        self,
        *,
        mode: Mode,
        limit: Mode,
        chosen: str,
        clamps: tuple[str, ...],
        floor: tuple[Rule, ...],
        deny: tuple[Rule, ...],
        ask: tuple[Rule, ...],
        allow: tuple[Rule, ...],
        packs: tuple[tuple[str, str], ...],
        off: tuple[tuple[str, str], ...],
        timeout: int,
        unseen: int,
        route: str,
        start: bool,
        idle: int,
        follow_host: bool,
        classifier: Backend | None,
        undo: Mapping[str, bool | int],
        contain: ContainSettings | None,
        extra: tuple[str, ...],
        commands: Mapping[str, Mapping[str, object]],
        tools: tuple[tuple[str, Declared, str], ...],
        agents: Mapping[str, AgentSettings],
        files: tuple[str, ...],
    ) -> None:
        self.mode = mode
        self.limit = limit
        self.chosen = chosen
        self.clamps = clamps
        self.floor = floor
        self.deny = deny
        self.ask = ask
        self.allow = allow
        self.packs = packs
        self.off = off
        self.timeout = timeout
        self.unseen = unseen
        self.route = route
        self.start = start
        self.idle = idle
        self.follow_host = follow_host
        self.classifier = classifier
        self.undo = undo
        self.contain = contain
        self.extra = extra
        self.commands = commands
        self.tools = tools
        self.agents = agents
        self.files = files

    def mode_for(self, chosen: str, host: str) -> Mode:
        """The mode of a session: what a person chose for it, capped by the files.

        The program's plan mode is always followed; a looser mode of the program only if the user says so."""
        if host == Mode.PLAN.word:
            return Mode.PLAN
        if chosen:
            return min(parse_mode(chosen, file="the session's mode"), self.limit)
        if host and self.follow_host:
            return min(max(self.mode, parse_mode(host, file="the program's mode")), self.limit)
        return self.mode

    def seeks(self) -> bool:
        """Whether a deny or ask rule that is not shipped is on reading files."""
        own = [rule for said in self.agents.values() for rule in (*said.deny, *said.ask)]
        return any(
            rule.about is RuleKind.PATH and rule.origin is not Origin.SHIPPED and Operation.READ in rule.operations
            for rule in (*self.deny, *self.ask, *own)
        )

    def bind(
        self, roots: tuple[str, ...], home: str, *, fold: bool = False, mode: Mode | None = None, agent: str = ""
    ) -> Policy:
        """The policy for a workspace, in the mode of the settings or of a session, for calls of a sub-agent."""
        mode, said = self.mode if mode is None else mode, self.agents.get(agent)
        return compile_policy(
            mode if said is None or said.mode is None else min(mode, said.mode),
            floor=self.floor,
            deny=self.deny if said is None else _numbered((*said.deny, *self.deny)),
            ask=self.ask if said is None else _numbered((*said.ask, *self.ask)),
            allow=self.allow,
            roots=roots,
            home=home,
            fold=fold,
            seeks=self.seeks(),
        )


def combine(
    documents: Sequence[Document],
    *,
    environment_mode: str = "",
    flag_mode: str = "",
    session_rules: Mapping[str, Sequence[str]] | None = None,
    environment_tightens: bool = False,
    trusted: bool = True,
) -> Settings:
    """Merge the documents, the strictest source first.

    `environment_tightens`: in a hook, whose environment a repository's settings can change, ASSENT_MODE may only
    tighten. `trusted`: the user marked the folder; else `untrusted_mode` applies."""
    from assent.policy import (  # not needed if settings come from a snapshot
        agent_settings,
        classifier,
        contain_settings,
        shipped,
        tool_settings,
        undo_settings,
    )

    mode, chosen = _mode(documents, environment_mode, flag_mode, environment_tightens)
    mode, clamps = _clamp(mode, documents, trusted)
    # A session is never given yolo: that is for the command line and the user's own file.
    limit, _ = _clamp(max(mode, Mode.FULL_AUTO), documents, trusted)
    off = _switched_off(documents)
    session = _session(session_rules or {})
    return Settings(
        mode=mode,
        limit=limit,
        chosen=chosen,
        clamps=clamps,
        floor=_numbered(shipped.floor_rules()),
        deny=_numbered([*_of(documents, "deny"), *session["deny"], *shipped.default_rules("deny", dict(off))]),
        ask=_numbered([*_of(documents, "ask"), *session["ask"], *shipped.default_rules("ask", dict(off))]),
        allow=_numbered([*_of(documents, "allow"), *session["allow"], *_pack_rules(documents)]),
        packs=tuple((name, document.file) for document in documents for name in document.packs),
        off=off,
        timeout=_last(documents, "timeout", TIMEOUT),
        unseen=_last(documents, "unseen", UNSEEN),
        route=next((document.route for document in reversed(documents) if document.route), "both"),
        start=all(said := [document.start for document in documents if document.start is not None]) and bool(said),
        idle=_last(documents, "idle", 0),
        follow_host=any(document.follow_host for document in documents),
        classifier=classifier.backend(documents),
        undo=undo_settings.combined(documents),
        contain=contain_settings.combined(documents),
        extra=tuple(folder for document in documents for folder in document.extra),
        commands={name: row for document in documents for name, row in document.commands.items()},
        tools=tool_settings.combined(documents),
        agents=agent_settings.combined(documents),
        files=tuple(document.file for document in documents),
    )


def _mode(documents: Sequence[Document], environment: str, flag: str, tightens: bool) -> tuple[Mode, str]:
    mode, chosen = Mode.DEFAULT, "the default"
    for document in documents:
        if document.mode is not None:
            if document.mode is Mode.YOLO and document.origin is not Origin.USER:
                raise _no_yolo(document.file, document.lines.get("mode", 0))
            mode, chosen = document.mode, f"{document.file}:{document.lines.get('mode', 1)}"
    if environment:
        said = parse_mode(environment, file="ASSENT_MODE")
        if said is Mode.YOLO:
            raise _no_yolo("ASSENT_MODE", 0)
        if not tightens or said < mode:
            mode, chosen = said, "ASSENT_MODE"
    if flag:
        mode, chosen = parse_mode(flag, file="--mode"), "--mode"
    return mode, chosen


def _no_yolo(file: str, line: int) -> PolicyError:
    return PolicyError(
        "`yolo` can be set only by `--mode` or in the user's own configuration",
        file=file,
        line=line,
        suggestion="use `full_auto`, or pass `--mode yolo`",
    )


def _clamp(mode: Mode, documents: Sequence[Document], trusted: bool) -> tuple[Mode, tuple[str, ...]]:
    clamps: list[str] = []
    for document in documents:
        if document.max_mode is not None and document.max_mode < mode:
            mode = document.max_mode
            clamps.append(f"max_mode = {mode.word} in {document.file}:{document.lines.get('max_mode', 1)}")
    if not trusted:
        limits = [each.untrusted_mode for each in documents if each.untrusted_mode is not None]
        if limits and min(limits) < mode:
            mode = min(limits)
            clamps.append(f"untrusted_mode = {mode.word}: this folder is not marked with `assent trust`")
    return mode, tuple(clamps)


def _switched_off(documents: Sequence[Document]) -> tuple[tuple[str, str], ...]:
    from assent.policy import shipped

    known = shipped.default_ids()
    locked: dict[str, str] = {}
    out: list[tuple[str, str]] = []
    for document in documents:
        names = document.lock if isinstance(document.lock, tuple) else known if document.lock else ()
        locked.update(dict.fromkeys(names, document.file))
    for document in documents:
        line = document.lines.get("defaults.off", 0)
        for name in document.off:
            problem, suggestion = "", "remove it from `off`"
            if name not in known:
                from assent.policy.parse import did_you_mean

                problem, suggestion = f"no shipped rule is called `{name}`", did_you_mean(name, known)
            elif name in locked and document.origin is not Origin.MANAGED:
                problem = f"`{name}` is locked by {locked[name]}"
            if problem:
                raise PolicyError(problem, file=document.file, line=line, suggestion=suggestion)
            out.append((name, f"{document.file}:{line}"))
    return tuple(out)


def _pack_rules(documents: Sequence[Document]) -> list[Rule]:
    from assent.policy import shipped

    out: list[Rule] = []
    for document in documents:
        for name in document.packs:
            try:
                out += shipped.pack_rules(name)
            except PolicyError as error:
                raise PolicyError(
                    error.message,
                    file=document.file,
                    line=document.lines.get("packs.on", 0),
                    suggestion=error.suggestion,
                ) from None
    return out


def _of(documents: Iterable[Document], key: str) -> list[Rule]:
    return [rule for document in documents for rule in getattr(document, key)]


def _session(rules: Mapping[str, Sequence[str]]) -> dict[str, list[Rule]]:
    from assent.policy.parse import parse_rule

    return {
        key: [parse_rule(text, source="session", origin=Origin.SESSION) for text in texts(rules.get(key, ()), key)]
        for key in ("deny", "ask", "allow")
    }


def _last(documents: Sequence[Document], key: str, default: int) -> int:
    return next((getattr(each, key) for each in reversed(documents) if getattr(each, key) is not None), default)


def _numbered(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    return tuple(rule if rule.number == at else rule.numbered(at) for at, rule in enumerate(rules))
