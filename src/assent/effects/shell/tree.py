"""The tree of a shell script, built by the reader and visited by the walk.

Offsets (`start`, `end`) are character positions in the text that was read."""

from __future__ import annotations

from assent.contract import Value

# ---------------------------------------------------------------- words


class Literal(Value):
    """Text that means itself. `quoted`: it came from quotes or a backslash, so that it is no glob,
    brace or tilde, does not split, and cannot be a reserved word. Unquoted globs are not Literal but Glob."""

    __slots__ = ("text", "quoted")

    def __init__(self, text: str, quoted: bool = False) -> None:
        self.text = text
        self.quoted = quoted


class GlobPart(Value):
    """An unquoted pattern piece: `*`, `?`, `[abc]`, or an extended glob `@(a|b)` (text as written)."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class Tilde(Value):
    """An unquoted `~`, `~user`, `~+` or `~-` where the shell expands it. `user` is what follows the tilde."""

    __slots__ = ("user",)

    def __init__(self, user: str) -> None:
        self.user = user


class Parameter(Value):
    """`$name`, `${name}`, `${name<op>operand}`. `name` may be special (`@`, `?`, `1`). `op` is the operator as
    written (`:-`, `%%`, `/`, `:`, `@P`, `#` for length as a prefix, …; `""`: none); `indirect` is `${!name}`.
    `subscript` and `operand` are words that are expanded too (`operand2`: the replacement, or the length)."""

    __slots__ = ("name", "op", "operand", "operand2", "subscript", "indirect", "quoted", "start", "end")

    def __init__(
        self,
        name: str,
        *,
        op: str = "",
        operand: Word | None = None,
        operand2: Word | None = None,
        subscript: Word | None = None,
        indirect: bool = False,
        quoted: bool = False,
        start: int = 0,
        end: int = 0,
    ) -> None:
        self.name = name
        self.op = op
        self.operand = operand
        self.operand2 = operand2
        self.subscript = subscript
        self.indirect = indirect
        self.quoted = quoted
        self.start = start
        self.end = end


class CommandSub(Value):
    """`$(…)`, back-quotes, or `${ …; }`; `script` is what runs. `quoted`: inside double quotes."""

    __slots__ = ("script", "quoted", "start", "end")

    def __init__(self, script: Script, quoted: bool = False, start: int = 0, end: int = 0) -> None:
        self.script = script
        self.quoted = quoted
        self.start = start
        self.end = end


class ProcessSub(Value):
    """`<(…)` or `>(…)`; `direction` is the sign."""

    __slots__ = ("script", "direction", "start", "end")

    def __init__(self, script: Script, direction: str, start: int = 0, end: int = 0) -> None:
        self.script = script
        self.direction = direction
        self.start = start
        self.end = end


class Arithmetic(Value):
    """`$((…))` or `$[…]`. `text` is the expression as written; `parts` are the expansions inside it, all of
    which run. A name in it is evaluated as an expression again, subscripts and all."""

    __slots__ = ("text", "parts", "quoted")

    def __init__(self, text: str, parts: tuple[Part, ...] = (), quoted: bool = False) -> None:
        self.text = text
        self.parts = parts
        self.quoted = quoted


class Brace(Value):
    """`{a,b}` or `{1..3}`: the words it expands to, in order, each a sequence of parts. A sequence too long to
    write out has `words` None."""

    __slots__ = ("words", "text")

    def __init__(self, words: tuple[tuple[Part, ...], ...] | None, text: str) -> None:
        self.words = words
        self.text = text


Part = Literal | GlobPart | Tilde | Parameter | CommandSub | ProcessSub | Arithmetic | Brace


class Word(Value):
    """One word of the source: its parts in order. `text` is the source itself, as written."""

    __slots__ = ("parts", "text", "start", "end")

    def __init__(self, parts: tuple[Part, ...], text: str, start: int = 0, end: int = 0) -> None:
        self.parts = parts
        self.text = text
        self.start = start
        self.end = end


# ---------------------------------------------------------------- commands


class Redirect(Value):
    """`op` is the operator as written (`<`, `>`, `>>`, `>|`, `<>`, `>&`, `<&`, `&>`, `&>>`, `<<`, `<<-`, `<<<`).
    `fd` is the descriptor before it (`""`: none; `{name}` form: the name in braces). `target` is the word after
    it; for here-documents the delimiter, with the text in `body` (its expansions are live unless `inert`)."""

    __slots__ = ("op", "fd", "target", "body", "inert", "start", "end")

    def __init__(
        self,
        op: str,
        fd: str,
        target: Word,
        body: Word | None = None,
        inert: bool = False,
        start: int = 0,
        end: int = 0,
    ) -> None:
        self.op = op
        self.fd = fd
        self.target = target
        self.body = body
        self.inert = inert
        self.start = start
        self.end = end


class Assignment(Value):
    """`name=value`, `name+=value`, `name[subscript]=value`, `name=(…)`. Exactly one of `value` and `items` is set;
    `items` are the words of an array, where `[i]=v` items keep their text as one word."""

    __slots__ = ("name", "append", "subscript", "value", "items", "start", "end")

    def __init__(
        self,
        name: str,
        value: Word | None,
        *,
        append: bool = False,
        subscript: Word | None = None,
        items: tuple[Word, ...] | None = None,
        start: int = 0,
        end: int = 0,
    ) -> None:
        self.name = name
        self.append = append
        self.subscript = subscript
        self.value = value
        self.items = items
        self.start = start
        self.end = end


class Simple(Value):
    """A simple command. Redirects may have been anywhere among the words; order within each list is kept.
    Words of a declaration builtin that look like assignments (`export A=b`) are words here; an array
    assignment there (`declare -a x=(…)`) is an Assignment in `assignments` with `words` going on."""

    __slots__ = ("assignments", "words", "redirects", "start", "end")

    def __init__(
        self,
        assignments: tuple[Assignment, ...],
        words: tuple[Word, ...],
        redirects: tuple[Redirect, ...],
        start: int = 0,
        end: int = 0,
    ) -> None:
        self.assignments = assignments
        self.words = words
        self.redirects = redirects
        self.start = start
        self.end = end


class Pipeline(Value):
    """`a | b |& c`. `merges[i]` says that the pipe after command i carries stderr too. Also holds `!` and `time`."""

    __slots__ = ("commands", "negated", "timed", "merges")

    def __init__(
        self, commands: tuple[Command, ...], negated: bool = False, timed: bool = False, merges: tuple[bool, ...] = ()
    ) -> None:
        self.commands = commands
        self.negated = negated
        self.timed = timed
        self.merges = merges


class Script(Value):
    """Commands in order; `joins[i]` comes after command i: `;`, `\\n`, `&`, `&&`, `||` (the last may be `""`)."""

    __slots__ = ("commands", "joins")

    def __init__(self, commands: tuple[Command, ...], joins: tuple[str, ...]) -> None:
        self.commands = commands
        self.joins = joins


class Group(Value):
    """`{ …; }` or, with `subshell`, `( … )`."""

    __slots__ = ("body", "subshell", "redirects")

    def __init__(self, body: Script, subshell: bool, redirects: tuple[Redirect, ...] = ()) -> None:
        self.body = body
        self.subshell = subshell
        self.redirects = redirects


class If(Value):
    """`if` with its `elif` arms as (condition, body) pairs; `otherwise` is `else`."""

    __slots__ = ("arms", "otherwise", "redirects")

    def __init__(
        self,
        arms: tuple[tuple[Script, Script], ...],
        otherwise: Script | None,
        redirects: tuple[Redirect, ...] = (),
    ) -> None:
        self.arms = arms
        self.otherwise = otherwise
        self.redirects = redirects


class Loop(Value):
    """`while` and `until`."""

    __slots__ = ("condition", "body", "redirects")

    def __init__(self, condition: Script, body: Script, redirects: tuple[Redirect, ...] = ()) -> None:
        self.condition = condition
        self.body = body
        self.redirects = redirects


class For(Value):
    """`for name in words` and `select`. `words` None: over the positional parameters."""

    __slots__ = ("name", "words", "body", "select", "redirects")

    def __init__(
        self,
        name: str,
        words: tuple[Word, ...] | None,
        body: Script,
        select: bool = False,
        redirects: tuple[Redirect, ...] = (),
    ) -> None:
        self.name = name
        self.words = words
        self.body = body
        self.select = select
        self.redirects = redirects


class ForArithmetic(Value):
    """`for ((a; b; c))`."""

    __slots__ = ("expression", "body", "redirects")

    def __init__(self, expression: Arithmetic, body: Script, redirects: tuple[Redirect, ...] = ()) -> None:
        self.expression = expression
        self.body = body
        self.redirects = redirects


class CaseCommand(Value):
    """`case word in (patterns) body;; … esac`."""

    __slots__ = ("word", "arms", "redirects")

    def __init__(
        self,
        word: Word,
        arms: tuple[tuple[tuple[Word, ...], Script], ...],
        redirects: tuple[Redirect, ...] = (),
    ) -> None:
        self.word = word
        self.arms = arms
        self.redirects = redirects


class Function(Value):
    """`name() body` and `function name body`. Redirects on the definition are in the body's own command."""

    __slots__ = ("name", "body", "start", "end")

    def __init__(self, name: str, body: Command, start: int = 0, end: int = 0) -> None:
        self.name = name
        self.body = body
        self.start = start
        self.end = end


class ArithmeticCommand(Value):
    """`((…))`."""

    __slots__ = ("expression", "redirects")

    def __init__(self, expression: Arithmetic, redirects: tuple[Redirect, ...] = ()) -> None:
        self.expression = expression
        self.redirects = redirects


class Conditional(Value):
    """`[[ … ]]`: its words in order, operators included as words."""

    __slots__ = ("words", "redirects")

    def __init__(self, words: tuple[Word, ...], redirects: tuple[Redirect, ...] = ()) -> None:
        self.words = words
        self.redirects = redirects


class Coproc(Value):
    """`coproc [name] command`."""

    __slots__ = ("name", "command")

    def __init__(self, name: str, command: Command) -> None:
        self.name = name
        self.command = command


Command = (
    Simple
    | Pipeline
    | Group
    | If
    | Loop
    | For
    | ForArithmetic
    | CaseCommand
    | Function
    | ArithmeticCommand
    | Conditional
    | Coproc
)


class Reading(Value):
    """The result of reading a text: the tree that is certain, and the gaps. With any gap the tree may be cut
    short, but its content is right."""

    __slots__ = ("script", "gaps")

    def __init__(self, script: Script, gaps: tuple[tuple[str, int, str], ...] = ()) -> None:
        self.script = script
        self.gaps = gaps
