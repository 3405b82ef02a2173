"""Evaluates expressions: texts, names of libraries, lists, and the sources of their data. Runs nothing.

Names are followed through assignments, functions of the text and the joining of texts. An unknown piece is a hole
in a text. `Language` knows what library functions return."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice, product

from assent.effects.code.dataflow.nodes import HOLE, CodeNodes, Node
from assent.effects.code.dataflow.value import (
    ALTERED,
    DECODED,
    LOCAL_FILE,
    MOST_ITEMS,
    MOST_LISTS,
    MOST_TEXTS,
    NOTHING,
    OPEN,
    SECRET_NAME,
    VARIABLE,
    CodeValue,
    joined,
    parent,
    some,
    text_value,
    under,
    union,
)
from assent.effects.shell.commands.command_effects import Word, values

_MOST_STEPS = 60_000
_DEEPEST = 60
_NONE = 1 << 30
_LONGEST_REF = 200
_MAPPING = frozenset({"map", "flatMap", "collect", "flat_map"})
_READING = frozenset(
    "read readlines readline toString text decode encode strip trim rstrip json read_text body get".split()
)


class CallArguments:
    """The arguments of a call, as values."""

    __slots__ = ("items", "named", "owner", "call")

    def __init__(self, items: list[CodeValue], named: dict[str, CodeValue], owner: CodeValue, call: Node) -> None:
        self.items = items
        self.named = named
        self.owner = owner
        self.call = call

    def at(self, place: int, *names: str) -> CodeValue | None:
        if place < len(self.items):
            return self.items[place]
        return next((self.named[name] for name in names if name in self.named), None)

    def taint(self) -> int:
        taint = self.owner.taint
        for each in (*self.items, *self.named.values()):
            taint |= each.taint
        return taint

    def passed_on(self) -> int:
        """The taint of the result of an unknown function. A client made with a key is not the key."""
        taint, keys = self.owner.taint, 0
        for item in self.items:
            if item.fields:
                keys |= VARIABLE if any(map(_is_key, item.fields)) else 0
            taint |= item.taint
        for name, item in self.named.items():
            keys |= VARIABLE if _is_key(name) else 0
            taint |= item.taint
        return taint & ~keys


def _is_key(name: str) -> bool:
    return SECRET_NAME.fullmatch(name) is not None or name in ("auth", "headers", "credentials")


class Language:
    """The values of a language's own names. `places`: the folders that code may name: home, cwd, its own."""

    __slots__ = ("home", "cwd", "folder", "argv")
    bare = False  # whether a method may be called without parentheses
    environments: frozenset[str] = frozenset()
    selves: frozenset[str] = frozenset()

    def __init__(self, home: str, cwd: str, folder: str, argv: tuple[Word, ...]) -> None:
        self.home = home
        self.cwd = cwd
        self.folder = folder
        self.argv = argv

    def place(self, name: str) -> CodeValue:
        return text_value(
            {"home": self.home, "cwd": self.cwd or ".", "folder": self.folder or "."}[name] or HOLE, path=True
        )

    def canonical(self, ref: str) -> str:
        """The canonical spelling of a name."""
        return ref

    def constant(self, ref: str) -> CodeValue | None:
        """The value of a name that is not a function."""
        return None

    def result(self, ref: str, given: CallArguments, values: Evaluator) -> CodeValue | None:
        """What a library's function returns; None if nothing is known."""
        return None

    def method(self, name: str, given: CallArguments, values: Evaluator) -> CodeValue | None:
        """What a method of a text, path or list returns."""
        return None

    def variable(self, name: CodeValue | None, default: CodeValue | None = None) -> CodeValue:
        """The value of an environment variable."""
        texts = name.texts if name is not None else (HOLE,)
        taint = VARIABLE if any(SECRET_NAME.fullmatch(text) for text in texts) else 0
        if texts == ("HOME",) or texts == ("USERPROFILE",):
            return self.place("home")
        if texts in (("TMPDIR",), ("TMP",), ("TEMP",)):
            return text_value("/tmp", path=True)
        if texts == ("PWD",) and self.cwd:
            return self.place("cwd")
        return union([OPEN.tainted(taint), *([default] if default is not None else [])])

    def argument(self, place: int) -> CodeValue:
        """A word of the command line."""
        if 0 <= place < len(self.argv):
            if any(not isinstance(word, str) and word.splits for word in self.argv[: place + 1]):
                return OPEN
            texts = tuple(HOLE if text is None else text for text in values(self.argv[place]))
            return CodeValue(texts[:MOST_TEXTS]) if texts else OPEN
        return OPEN


class Evaluator:
    """The values of the nodes of one text."""

    __slots__ = ("code", "language", "known", "active", "steps", "lowest", "partial", "waiting")

    def __init__(self, code: CodeNodes, language: Language) -> None:
        self.code = code
        self.language = language
        self.known: dict[int, CodeValue] = {}
        self.active: dict[int, int] = {}  # nodes being evaluated, and their depth
        self.partial: dict[
            int, tuple[CodeValue, int]
        ] = {}  # values that lack a part still being evaluated, and its depth
        self.waiting: list[int] = []
        self.lowest = _NONE
        self.steps = 0

    def value(self, node: Node) -> CodeValue:
        key = id(node)
        found = self.known.get(key)
        if found is not None:
            return found
        if key in self.active:
            self.lowest = min(self.lowest, self.active[key])
            return NOTHING  # it depends on itself
        if key in self.partial:
            found, lowest = self.partial[key]
            self.lowest = min(self.lowest, lowest)
            return found
        self.steps += 1
        depth = len(self.active)
        if self.steps > _MOST_STEPS or depth > _DEEPEST:
            self.code.cut = self.code.cut or self.steps > _MOST_STEPS
            return OPEN
        before, self.lowest = self.lowest, _NONE
        self.active[key] = depth
        mark = len(self.waiting)
        handler = _KINDS.get(node.kind)
        made = handler(self, node) if handler is not None else OPEN
        del self.active[key]
        if self.lowest >= depth:  # nothing that it depends on is still being evaluated
            self.known[key] = made
            for other in self.waiting[mark:]:
                self.partial.pop(other, None)
            del self.waiting[mark:]
            self.lowest = before
        else:
            self.partial[key] = made, self.lowest
            self.waiting.append(key)
            self.lowest = min(before, self.lowest)
        return made

    def all(self, nodes: tuple[Node, ...] | list[Node]) -> list[CodeValue]:
        return [self.value(node) for node in nodes]

    # ------------------------------------------------------------ kinds

    def _text(self, node: Node) -> CodeValue:
        return CodeValue((node.text,))

    def _ref(self, node: Node) -> CodeValue:
        return self.named(node.text)

    def named(self, ref: str) -> CodeValue:
        """The value of a dotted name of a library."""
        ref = self.language.canonical(ref)
        constant = self.language.constant(ref)
        return constant if constant is not None else CodeValue((), (ref,))

    def _name(self, node: Node) -> CodeValue:
        bound = node.scope.find(node.text) if node.scope is not None else None
        if bound is None:
            return self.named(node.text)
        found = union(self.all(bound)) if bound else OPEN
        return some(found) if node.text in self.code.tested else found

    def _member(self, node: Node) -> CodeValue:
        owner = self.value(node.parts[0])
        return self.member(owner, node.text, node.parts[0])

    def member(self, owner: CodeValue, name: str, source: Node) -> CodeValue:
        found: list[CodeValue] = []
        if owner.fields is not None and name in owner.fields:
            found.append(owner.fields[name])
        for ref in owner.refs:
            if ref.startswith(("def:", "class:")) or ref in self.language.selves:
                continue
            made = self.named(f"{ref}.{name}")
            found.append(made if ref in self.language.environments else made.tainted(owner.taint))
        if not found and (source.text in self.language.selves or not owner.texts or owner.texts == (HOLE,)):
            found += self.all(self.code.fields.get(name, [])[:MOST_TEXTS])
        if not found and owner.path and name in ("parent", "dirname"):
            return parent(owner)
        if not found and owner.path:
            return CodeValue((HOLE,), taint=owner.taint)
        return union(found) if found else OPEN.tainted(owner.taint)

    def _index(self, node: Node) -> CodeValue:
        owner, key = self.value(node.parts[0]), self.value(node.parts[1])
        source = node.parts[0]
        if any(ref in self.language.environments for ref in owner.refs):
            return self.language.variable(key)
        if source.kind == "member" and source.text == "parents" and node.parts[1].kind == "number":
            return parent(self.value(source.parts[0]), min(int(node.parts[1].text), 20) + 1)
        number = node.parts[1].text if node.parts[1].kind == "number" else ""
        if owner.items is not None and number and not any(part.kind == "star" for part in source.parts):
            return self.item(owner, int(number))
        if owner.fields is not None and key.text is not None and key.text in owner.fields:
            return owner.fields[key.text]
        if key.text is not None and owner.refs:
            return self.member(owner, key.text, source)
        made = self.language.method("[]", CallArguments([key], {}, owner, node), self)
        return made if made is not None else self.element(owner) if owner.items else OPEN.tainted(owner.taint)

    def item(self, owner: CodeValue, place: int) -> CodeValue:
        items = owner.items or ()
        if -len(items) <= place < len(items):
            return items[place]
        return OPEN.tainted(owner.taint)

    def element(self, owner: CodeValue) -> CodeValue:
        if owner.items is not None:
            return union(list(owner.items)) if owner.items else NOTHING
        if owner.glob or owner.deep:
            return owner
        if any(ref in self.language.environments for ref in owner.refs):
            return OPEN
        refs = tuple(f"{ref}[]" for ref in owner.refs if ref.endswith(")") and len(ref) < _LONGEST_REF)
        return CodeValue((HOLE,), refs, taint=owner.taint)

    def _call(self, node: Node) -> CodeValue:
        called = node.parts[0]
        given = self.given(node)
        found: list[CodeValue] = []
        made: CodeValue | None = self.value(called)
        if self.language.bare and made is not None and made.texts and not given.items and made.texts != (HOLE,):
            return made
        if called.kind == "member" and called.text in _MAPPING and node.parts[-1].kind == "function":
            mapped = self.language.method(called.text, given, self)
            if mapped is not None:
                return mapped
        for ref in self.value(called).refs:
            if ref.startswith("def:"):
                found += self.all(self.code.functions[int(ref[4:])].returns[:MOST_TEXTS])
            elif ref.startswith("class:"):
                found.append(CodeValue((), (f"{ref}()",), taint=given.taint()))
            else:
                made = self.language.result(ref, given, self)
                found.append(made if made is not None else CodeValue((), (f"{ref}()",), taint=given.passed_on()))
        if called.kind == "member" and not found:
            made = self.language.method(called.text, given, self)
            if made is None and (functions := self.methods(called.text)):
                made = union(functions)
            if made is not None:
                return made
        if found:
            return union(found)
        altered = ALTERED if called.kind == "member" and called.text not in _READING else 0
        return OPEN.tainted(given.taint() | altered)

    def methods(self, name: str) -> list[CodeValue]:
        """What the text's own methods of a name return."""
        found = [function for function in self.code.functions if function.name == name][:4]
        return [value for function in found for value in self.all(function.returns[:MOST_TEXTS])]

    def given(self, call: Node) -> CallArguments:
        called = call.parts[0]
        owner = self.value(called.parts[0]) if called.kind == "member" else NOTHING
        named = {name: self.value(part) for name, part in (call.named or {}).items()}
        items: list[CodeValue] = []
        for part in call.parts[1:]:
            if part.kind == "star":
                inner = self.value(part.parts[0]) if part.parts else OPEN
                items += inner.items if inner.items is not None else [NOTHING.tainted(inner.taint)]
            else:
                items.append(self.value(part))
        return CallArguments(items, named, owner, call)

    def _made(self, node: Node) -> CodeValue:
        """The result of a function for arguments, without a call in the text."""
        taint = 0
        for value in self.all(node.parts[1:]):
            taint |= value.taint
        for ref in self.value(node.parts[0]).refs:
            made = self.language.result(ref, CallArguments(self.all(node.parts[1:]), {}, NOTHING, node), self)
            taint |= made.taint if made is not None else 0
        return OPEN.tainted(taint)

    def _list(self, node: Node) -> CodeValue:
        items: list[CodeValue] = []
        choices: list[tuple[tuple[CodeValue, ...], ...]] = []
        taint = 0
        for part in node.parts[:MOST_ITEMS]:
            if part.kind == "star" and part.parts:
                inner = self.value(part.parts[0])
                found = inner.items if inner.items is not None else (NOTHING.tainted(inner.taint),)
                choices.append(inner.lists or (found,))
                items += found
            else:
                items.append(self.value(part))
                choices.append(((items[-1],),))
            taint |= items[-1].taint if items else 0
        made = CodeValue((), (), tuple(items), taint=taint)
        if any(len(each) > 1 for each in choices):
            several = islice(product(*choices), MOST_LISTS)
            made.lists = tuple(tuple(item for part in parts for item in part) for parts in several)
        return made

    def _map(self, node: Node) -> CodeValue:
        fields: dict[str, CodeValue] = {}
        taint = 0
        for place in range(0, len(node.parts) - 1, 2):
            key, value = node.parts[place], self.value(node.parts[place + 1])
            taint |= value.taint
            if key.kind == "star":
                fields.update(value.fields or {})
            else:
                text = key.text if key.kind == "text" else self.value(key).text
                if text is not None:
                    fields[text] = value
        return CodeValue((), (), None, fields, taint)

    def _join(self, node: Node) -> CodeValue:
        found = self.all(node.parts)
        if any(each.items is not None for each in found) and not any(each.texts for each in found):
            taint = 0
            for each in found:
                taint |= each.taint
            choices = [each.choices or ((NOTHING,) * (each is not NOTHING),) for each in found]
            lists = tuple(
                tuple(item for part in parts for item in part) for parts in islice(product(*choices), MOST_LISTS)
            )
            made = CodeValue((), (), lists[-1][:MOST_ITEMS], taint=taint)
            made.lists = lists
            return made
        if any(each.fields is not None for each in found):
            return union(found)
        made = joined(found)
        return made.tainted(ALTERED) if made.taint & LOCAL_FILE else made

    def _under(self, node: Node) -> CodeValue:
        return under(self.all(node.parts))

    def _either(self, node: Node) -> CodeValue:
        return union(self.all(node.parts)) if node.parts else NOTHING

    def _each(self, node: Node) -> CodeValue:
        return union([self.element(found) for found in self.all(node.parts)]) if node.parts else OPEN

    def _item(self, node: Node) -> CodeValue:
        owner = self.value(node.parts[0])
        return self.item(owner, int(node.text)) if owner.items is not None else OPEN.tainted(owner.taint)

    def _function(self, node: Node) -> CodeValue:
        return CodeValue((), (f"def:{node.text}",))

    def _class(self, node: Node) -> CodeValue:
        inherited = [ref for base in self.all(node.parts) for ref in base.refs if ref[:4] != "def:"]
        return CodeValue((), (f"class:{node.text}", *inherited[:2]))

    def _parent(self, node: Node) -> CodeValue:
        return parent(self.value(node.parts[0]), int(node.text or "1"))

    def _slice(self, node: Node) -> CodeValue:
        owner = self.value(node.parts[0])
        made = self.language.method("[:]", CallArguments(self.all(node.parts[1:]), {}, owner, node), self)
        if made is not None:
            return made
        return CodeValue(() if owner.items else (HOLE,), (), owner.items, taint=owner.taint | ALTERED)

    def _reversed(self, node: Node) -> CodeValue:
        owner = self.value(node.parts[0])
        if owner.items is not None:
            return owner
        return CodeValue(tuple(text[::-1] for text in owner.texts) or (HOLE,), taint=owner.taint | DECODED | ALTERED)

    def _unknown(self, node: Node) -> CodeValue:
        taint = 0
        for value in self.all(node.parts):
            taint |= value.taint
        return OPEN.tainted(taint)


_KINDS: dict[str, Callable[[Evaluator, Node], CodeValue]] = {
    **dict.fromkeys(("text", "number"), Evaluator._text),
    "ref": Evaluator._ref,
    "name": Evaluator._name,
    "member": Evaluator._member,
    "index": Evaluator._index,
    "slice": Evaluator._slice,
    "reversed": Evaluator._reversed,
    "call": Evaluator._call,
    "made": Evaluator._made,
    "list": Evaluator._list,
    "map": Evaluator._map,
    "join": Evaluator._join,
    "under": Evaluator._under,
    "either": Evaluator._either,
    "each": Evaluator._each,
    "item": Evaluator._item,
    "star": Evaluator._unknown,
    "function": Evaluator._function,
    "class": Evaluator._class,
    "parent": Evaluator._parent,
    "unknown": Evaluator._unknown,
}
