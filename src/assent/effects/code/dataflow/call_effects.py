"""The effects of the calls in code that is not proved: files, processes, hosts, databases, flows of data, code built at
run time. The effects of functions are in tables (`Actions`), one for each language."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from assent.contract import Operation, Pattern
from assent.effects.code.dataflow.actions import OWN, Actions, script_of
from assent.effects.code.dataflow.evaluate import CallArguments, Evaluator
from assent.effects.code.dataflow.network import CodeNetwork
from assent.effects.code.dataflow.nodes import HOLE, Node
from assent.effects.code.dataflow.services import are_disposable, service_mark
from assent.effects.code.dataflow.value import (
    ALTERED,
    DECODED,
    ENVIRONMENT,
    FETCHED,
    LOCAL_FILE,
    NOTHING,
    OPEN,
    VARIABLE,
    CodeValue,
    union,
)
from assent.effects.paths import path_target
from assent.effects.shell.command import Arg
from assent.effects.shell.commands.command_effects import DELETE, EMPTIES, LIST, READ, WRITE, EffectsBuilder, Word

_MOST_CALLS = 20_000
_RUNNING = frozenset("os subprocess builtins __builtins__ shutil pty".split())
_DOWNLOADS = frozenset("urllib.request.urlretrieve wget.download getstore LWP.Simple.getstore mirror".split())
_LONGEST_SCRIPT = 65_536
_COMPUTED = (Arg("<computed>"), Arg("<computed>"))
_SQL = Pattern(
    r"(?is)\s*(?:--[^\n]*\n\s*|/\*.*?\*/\s*)*(?:drop\s+(?:table|database|schema|index|view|user|role|keyspace|collection"
    r"|materialized|function|owned|tablespace|column)|truncate\s|delete\s+from|alter\s+\w+|update\s+\S+\s+set|flushall|flushdb"
    r"|begin\b|create\s|with\s|insert\s|set\s|use\s)"
)
_CREATED = Pattern(
    r"(?is)\bcreate\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+)?table\s+(?:if\s+not\s+exists\s+)?[\"'`\[]?(\w+)"
)
_DROPPED = Pattern(r"(?is)\bdrop\s+table\s+(?:if\s+exists\s+)?[\"'`\[]?(\w+)")


class CodeEffects(CodeNetwork):
    """Records the effects of the calls in a text. `reads`: reads code in the same language (for `eval` of a text)."""

    __slots__ = (
        "actions",
        "called",
        "cwds",
        "downloads",
        "passing",
        "reads",
        "sql_texts",
        "started_programs",
        "unnamed",
        "values",
    )

    def __init__(
        self,
        builder: EffectsBuilder,
        values: Evaluator,
        actions: Actions,
        reads: Callable[[str], None],
        *,
        unnamed: bool = False,
    ) -> None:
        super().__init__(builder)
        self.values = values
        self.actions = actions
        self.reads = reads
        self.unnamed = unnamed  # whether reads and writes of files with unknown names are recorded
        self.cwds = [builder.cwd]
        self.called: set[str] = set()
        self.downloads: set[str] = set()  # files that come from the network
        self.sql_texts: list[tuple[str, bool]] = []
        self.started_programs: set[str] = set()
        self.passing = False  # whether all databases of the text are disposable

    def read(self) -> None:
        code = self.values.code
        resolved = [(call, self.values.value(call.parts[0]).refs) for call in code.calls[:_MOST_CALLS]]
        for call, refs in resolved:
            if any(verb == "chdir" for ref in refs for verb, _ in self.actions.of(ref)):
                self.moves(self.values.given(call))
        self.passing = are_disposable(
            [(ref, self.values.given(call).at(0, "url", "database")) for call, refs in resolved for ref in refs]
        )
        for call, refs in resolved:
            self.call(call, refs)
        self.statements()
        self.emptying()
        if code.cut or len(code.calls) > _MOST_CALLS:
            self.builder.gap("limit", "the code is too long or too deep to be read: split it")

    def emptying(self) -> None:
        """Mark writes of many files that are not read before: their contents are lost."""
        effects = self.builder.effects
        read = {effect.target.name for effect in effects if effect.operation is READ}
        for at, effect in enumerate(effects):
            if effect.operation is WRITE and effect.target.pattern and effect.target.name not in read:
                effects[at] = effect.but(dangers=(*effect.dangers, EMPTIES))

    def moves(self, given: CallArguments) -> None:
        folder = given.at(0, "path")
        for text in folder.texts if folder is not None and folder.texts else (HOLE,):
            name = "" if HOLE in text else path_target(text, self.builder.cwd, self.builder.home, tilde=False).name
            if name not in self.cwds:
                self.cwds.append(name)

    def call(self, call: Node, refs: tuple[str, ...]) -> None:
        given: CallArguments | None = None
        acted = False
        for ref in refs:
            self.called.add(ref)
            for verb, argument in self.actions.of(ref):
                given = given or self.values.given(call)
                self.act(verb, argument, ref, given)
                acted = True
                if verb == "write" and ref in _DOWNLOADS:
                    self.downloads.update((self.argument(argument, given) or NOTHING).texts)
            base, _, how = ref.rpartition(".")
            if how in ("call", "apply", "bind") and self.actions.of(base):
                acted = True
                self.applied(base, how, given or self.values.given(call))
        called = call.parts[0]
        if call.text == "tag":  # sql`DROP TABLE x`
            self.sql("0", "tag", self.values.given(call))
        if called.kind == "member" and called.text in self.actions.paths:
            given = given or self.values.given(call)
            if given.owner.path:
                acted = True
                for verb, argument in self.actions.paths[called.text]:
                    self.act(verb, argument, called.text, given)
        own = any(function.name == called.text for function in self.values.code.functions)
        if not acted and not own and called.kind == "member" and called.text in self.actions.methods:
            given = given or self.values.given(call)
            for verb, argument in self.actions.methods[called.text]:
                self.act(verb, argument, called.text, given)
                acted = True
        for ref in refs if not acted else ():
            self.builder.danger(*filter(None, (service_mark(ref),)))
        for place, part in enumerate(call.parts[1:]):
            if part.kind in ("name", "member", "call", "either", "index"):
                self.passed(call, place, self.values.value(part))
        for part in (call.named or {}).values():
            if part.kind in ("name", "member", "call", "index"):
                self.passed(call, -1, self.values.value(part))

    def applied(self, ref: str, how: str, given: CallArguments) -> None:
        """`f.call(this, x)`, `f.apply(this, [x])`."""
        items = given.items[1:]
        if how == "apply":
            items = [part for item in items for part in (item.items if item.items is not None else (item,))]
        for verb, argument in self.actions.of(ref):
            self.act(verb, argument, ref, CallArguments(items, {}, NOTHING, given.call))

    def passed(self, call: Node, place: int, value: CodeValue) -> None:
        """A function with effects is passed to another function, with the arguments it is called with."""
        for ref in value.refs:
            actions = self.actions.of(ref) if ref[-2:] != "()" else ()
            if not actions or actions[0][0] in ("print", "fetch", "read", "list"):
                continue
            given = self.values.given(call)
            rest = [item for index, item in enumerate(given.items) if index > place]
            rest += [
                item for name, item in given.named.items() if name in ("args", "kwds") for item in item.items or ()
            ]
            owner = self.values.element(given.owner) if given.owner is not NOTHING else OPEN
            each = (
                [self.values.element(item) for item in rest if item.items is not None or item.glob] or rest or [owner]
            )
            for items in [each] if each == rest else [each, rest]:
                for verb, argument in actions:
                    self.act(verb, argument, ref, CallArguments(items, {}, owner, call))

    # ------------------------------------------------------------ arguments

    def act(self, verb: str, argument: str, ref: str, given: CallArguments) -> None:
        if verb == "delete" and given.call.scope is not None and given.call.scope.in_recursion():
            verb = "delete_all"
        if verb in _FILES:
            operation, recursive, dangers = _FILES[verb]
            if argument == "*":
                found = union(
                    [item if item.items is None else self.values.element(item) for item in given.items] or [OPEN]
                )
            else:
                found = self.argument(argument, given) or OPEN
            self.path(operation, found, recursive=recursive, dangers=dangers)
        elif verb in _VERBS:
            _VERBS[verb](self, argument, ref, given)
        else:
            from assent.effects.code.dataflow.special_calls import SPECIAL

            SPECIAL[verb](self, argument, ref, given)

    # ------------------------------------------------------------ files

    def path(
        self, operation: Operation, found: CodeValue, *, recursive: bool = False, dangers: tuple[str, ...] = ()
    ) -> None:
        if found.items is not None and not found.texts:
            for item in found.items:
                self.path(operation, item, recursive=recursive, dangers=dangers)
            return
        if found.deep and operation is DELETE and not all(HOLE in text for text in found.texts):
            recursive, dangers = True, (*dangers, "recursive-delete")
        # An unknown value in addition to the texts.
        others = (HOLE,) if not found.texts or (found.refs and HOLE not in found.texts) else ()
        for text in (*found.texts, *others):
            if operation is DELETE and text.startswith(OWN) and ".." not in text:
                continue
            marks = dangers
            if operation is DELETE and found.glob and "**" in text and self.is_elsewhere(text):
                marks = (*dangers, "recursive-delete")
            word = self.word(text, found)
            named = isinstance(word, str) or word.values is not None or bool(word.under)
            if not named and operation is not DELETE and not self.unnamed:
                continue
            for cwd in self.cwds if not text.startswith("/") else self.cwds[:1]:
                before, self.builder.cwd = self.builder.cwd, cwd
                self.builder.path(operation, word, recursive=recursive or found.deep, dangers=marks)
                self.builder.cwd = before

    def is_elsewhere(self, text: str) -> bool:
        """Whether a path is surely not below the current folder."""
        here = self.builder.cwd
        return text.startswith(("/", "~", "..")) and not (here and text.startswith(here + "/"))

    def word(self, text: str, found: CodeValue) -> Word:
        if "\0" in text:
            return Arg("<computed>")
        if HOLE in text:
            folder = text[: text.index(HOLE)].rpartition("/")[0]
            known = path_target(folder, self.builder.cwd, self.builder.home, tilde=False).name if folder else ""
            return Arg("<computed>", kind="names", under=(known + "/",)) if known else Arg("<computed>")
        if found.deep:
            while text.rpartition("/")[2] in ("*", "**") or text in ("*", "**"):
                text = text.rpartition("/")[0] or ("/" if text.startswith("/") else ".")
        glob = found.glob and any(letter in text for letter in "*?[")
        return Arg(text, (text,), pattern=True) if glob else text

    def opened(self, argument: str, ref: str, given: CallArguments) -> None:
        """`open(name, mode)`, with the effects of the mode."""
        first, second, *rest = [*argument.split(), "1"]
        name, mode = self.argument(first, given), self.argument(second, given)
        flags = mode.texts if mode is not None else (rest[0] if len(rest) > 1 else "r",)
        if name is None or (name.texts and all(text in ("0", "1", "2") for text in name.texts)):
            return
        unknown = any(HOLE in text for text in flags) or not flags
        if unknown or any("r" in text or "+" in text or "<" in text for text in flags):
            self.path(READ, name)
        if unknown or any(set(text) & set("wax+>") for text in flags):
            self.path(WRITE, name)

    # ------------------------------------------------------------ processes

    def shell(self, argument: str, ref: str, given: CallArguments) -> None:
        found = self.argument(argument, given)
        if found is None:
            return
        if found.items is not None and not found.texts:
            for items in found.choices:
                self.run(list(items), given)
        elif len(given.items) > 1 and all(item.texts for item in given.items) and argument == "0+":
            self.run(given.items, given)
        else:
            self.command(found, given)

    def words(self, argument: str, ref: str, given: CallArguments) -> None:
        """All arguments from a place on are the words of one command; lists among them are flattened."""
        items: list[CodeValue] = []
        for item in given.items[int(argument) :]:
            if item.items is not None:
                items += item.items
            elif items and item.texts == (HOLE,):
                items.append(NOTHING.tainted(item.taint))  # any number of words
            elif item.fields is None and not (item.refs and not item.texts):
                items.append(item)
        if len(items) == 1 and items[0].texts:
            self.command(items[0], given)
        elif items:
            self.run(items, given)

    def started(self, argument: str, ref: str, given: CallArguments) -> None:
        """A list is one command; a text is a script of the shell, or the name of one program."""
        self.shell(argument, ref, given)

    def run(self, items: list[CodeValue], given: CallArguments) -> None:
        words: list[Word] = [self.argv(item) for item in items]
        self.started_programs.update(text.rpartition("/")[2] for item in items[:1] for text in item.texts)
        if not words or (isinstance(words[0], Arg) and words[0].values is None and not self.unnamed):
            self.flowing(union(items) if items else NOTHING)
            return
        self.flowing(union(items[:3]))
        self.downloaded([text for item in items for text in item.texts])
        self.inside(given, partial(self.builder.run, words))

    def argv(self, item: CodeValue) -> Word:
        if not item.texts or any(HOLE in text for text in item.texts):
            prefix = item.texts[0].partition(HOLE)[0] if len(item.texts) == 1 else ""
            return Arg("<computed>", prefix=prefix, splits=not item.texts and not item.refs)
        return (
            item.texts[0]
            if len(item.texts) == 1 and not item.glob
            else Arg(item.texts[0], item.texts, pattern=item.glob)
        )

    def downloaded(self, texts: list[str]) -> None:
        """Mark a command that names a file which came from the network."""
        if any(len(name) > 2 and name in text for text in texts for name in self.downloads):
            self.builder.danger("remote-code")

    def command(self, found: CodeValue, given: CallArguments) -> None:
        self.flowing(found)
        self.downloaded(list(found.texts))
        for text in found.texts:
            script = script_of(text)
            if script and len(script) <= _LONGEST_SCRIPT:
                self.inside(given, partial(self.builder.shell, script, positional=_COMPUTED if HOLE in text else ()))

    def flowing(self, found: CodeValue) -> None:
        """Commands that came from the network or were decoded."""
        if found.known and not found.taint & DECODED:
            return
        if found.taint & FETCHED:
            self.builder.danger("remote-code")
        if found.taint & DECODED:
            self.builder.danger("obfuscated")

    def inside(self, given: CallArguments, act: Callable[[], None]) -> None:
        """Act in the folder that `cwd=` names, or in each that the code may have changed to."""
        builder = self.builder
        options = [given.named, *(item.fields for item in given.items if item.fields)]
        folder = next((fields["cwd"] for fields in options if "cwd" in fields), None)
        if folder is None:
            cwds = self.cwds
        elif folder.known:
            cwds = [path_target(text, builder.cwd, builder.home, tilde=False).name for text in folder.texts]
        else:
            cwds = self.cwds
        before = builder.cwd, builder.moved
        for cwd in cwds:
            builder.cwd, builder.moved = cwd, builder.moved or cwd != before[0]
            act()
            builder.cwd, builder.moved = before

    # ------------------------------------------------------------ secrets and data

    def printed(self, argument: str, ref: str, given: CallArguments) -> None:
        taint = given.taint()
        if taint & (ENVIRONMENT | VARIABLE):
            self.builder.danger("prints-secret")

    def destroy(self, argument: str = "", ref: str = "", given: CallArguments | None = None) -> None:
        """Data of a service is destroyed; `argument` is `database` for a database."""
        if not (argument == "database" and self.passing):
            self.builder.danger("destroy")

    def destroy_all(self, argument: str, ref: str, given: CallArguments) -> None:
        """A removal by a filter that is empty."""
        found = given.at(0)
        if found is None or (not found.fields and not found.items and not found.texts and not found.refs):
            self.destroy("database")

    def destroy_there(self, argument: str, ref: str, given: CallArguments) -> None:
        """HTTP's DELETE, unless the host is this machine."""
        if not self.fetch(argument, ref, given):
            self.destroy()

    def requested(self, argument: str, ref: str, given: CallArguments) -> None:
        """`request(method, url)`, or an object that has both."""
        methods = [item.texts for item in given.items[:1]] if argument.startswith("1") else []
        for item in (*given.items, given.named.get("method", NOTHING)):
            if item is given.named.get("method"):
                methods.append(item.texts)
            if item.fields is not None and "method" in item.fields:
                methods.append(item.fields["method"].texts)
        if any(text.upper() == "DELETE" for texts in methods for text in texts):
            self.destroy_there(argument.partition(" ")[0], ref, given)
        self.send(argument, ref, given)

    def sql(self, argument: str, ref: str, given: CallArguments) -> None:
        found = self.argument(argument or "0", given)
        local = "sqlite" in ref
        for text in found.texts if found is not None else ():
            if _SQL.match(text):
                self.sql_texts.append((text.replace(HOLE, "x"), local))

    def statements(self) -> None:
        """The statements of the whole text together: a table that is created again in a local database is not lost."""
        from assent.effects.code.sql import destroying

        if self.passing:
            return
        made = {match[1].lower() for text, _ in self.sql_texts for match in _CREATED.finditer(text)}
        for text, local in self.sql_texts:
            dropped = {match[1].lower() for match in _DROPPED.finditer(text)}
            marks = destroying(text)
            if local and marks and not (dropped and dropped <= made):
                self.destroy()
            elif not local:
                self.builder.danger(*marks)

    # ------------------------------------------------------------ code

    def evaluated(self, argument: str, ref: str, given: CallArguments) -> None:
        """A text is run as code. A literal one is read."""
        found = self.argument(argument or "0", given)
        if found is None or (found.refs and all(ref.startswith(("def:", "class:")) for ref in found.refs)):
            return
        for text in found.texts:
            if HOLE not in text:
                self.reads(text)
        if found.taint & FETCHED:
            self.builder.danger("remote-code")
        if found.taint & DECODED:
            self.builder.danger("obfuscated")
        known = found.known and not found.refs
        if not known and found.taint & (LOCAL_FILE | FETCHED | DECODED | ALTERED) != LOCAL_FILE:  # else a local script
            self.builder.danger("built-code")

    def loaded(self, argument: str, ref: str, given: CallArguments) -> None:
        """Data that can hold code is loaded: pickles, modules by a computed name."""
        found = self.argument(argument or "0", given)
        if found is not None and found.taint & (FETCHED | DECODED) and not found.known:
            self.builder.danger("built-code")
        if ref.endswith("pickle.loads") and not any(made.endswith(".dumps") for made in self.called):
            self.builder.danger("built-code")

    def imported(self, argument: str, ref: str, given: CallArguments) -> None:
        found = self.argument(argument or "0", given)
        if found is not None and not found.known:
            self.builder.danger("built-code")

    def looked_up(self, argument: str, ref: str, given: CallArguments) -> None:
        """`getattr(os, name)`: an unknown name of a module that runs programs."""
        owner, name = given.at(0), given.at(1)
        if owner is not None and name is not None and not name.known and not _RUNNING.isdisjoint(owner.refs):
            self.builder.danger("built-code")

    def mailed(self, argument: str, ref: str, given: CallArguments) -> None:
        """A message is sent, unless by a server on this machine."""
        self.sent(argument, ref, given)
        if not self.local.get(ref.partition("()")[0], False):
            self.builder.danger("publish")

    def globbed(self, argument: str, ref: str, given: CallArguments) -> None:
        found = self.argument(argument, given) or OPEN
        self.path(LIST, CodeValue(found.texts, taint=found.taint, glob=True))

    def moved(self, argument: str, ref: str, given: CallArguments) -> None:
        """Done before: see `moves`."""


_FILES: dict[str, tuple[Operation, bool, tuple[str, ...]]] = {
    "read": (READ, False, ()),
    "read_all": (READ, True, ()),
    "list": (LIST, False, ()),
    "list_all": (LIST, True, ()),
    "write": (WRITE, False, ()),
    "write_all": (WRITE, True, ()),
    "delete": (DELETE, False, ()),
    "delete_all": (DELETE, True, ("recursive-delete",)),
    "take": (DELETE, True, ()),  # the moved file
    "mode": (WRITE, False, ("mode-change",)),
    "mode_all": (WRITE, True, ("mode-change",)),
}
_VERBS: dict[str, Callable[[CodeEffects, str, str, CallArguments], object]] = {
    "open": CodeEffects.opened,
    "shell": CodeEffects.shell,
    "start": CodeEffects.started,
    "words": CodeEffects.words,
    "fetch": CodeEffects.fetch,
    "send": CodeEffects.send,
    "sent": CodeEffects.sent,
    "mail": CodeEffects.mailed,
    "upload": CodeEffects.uploaded,
    "request": CodeEffects.requested,
    "print": CodeEffects.printed,
    "destroy": CodeEffects.destroy,
    "destroy_all": CodeEffects.destroy_all,
    "destroy_there": CodeEffects.destroy_there,
    "sql": CodeEffects.sql,
    "eval": CodeEffects.evaluated,
    "load": CodeEffects.loaded,
    "import": CodeEffects.imported,
    "lookup": CodeEffects.looked_up,
    "chdir": CodeEffects.moved,
    "globbed": CodeEffects.globbed,
}
