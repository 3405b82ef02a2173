"""Whether a rule matches an invocation, an effect or a tool.

INVARIANT: deny and ask see every form of a part (`reaches_*`), allow only the narrowest proven one (`proves_*`)."""

from __future__ import annotations

from collections.abc import Iterable
from posixpath import normpath

from assent.contract import Arguments, Effect, Facts, Invocation, Operation, Pattern, Target, re
from assent.policy.globs import PathGlob, is_wild, overlaps
from assent.policy.rules import Origin, Rule, RuleShape, base
from assent.programs.traits import has

OPERATORS = Pattern(r"(\|&|\|\||&&|[|;&])")
SPACE = Pattern(r"\s+")
CHOICE = Pattern(r"(\{[^{}]*\})")
OPEN = Pattern(r"[$`*?\[{]")
FIRM = Pattern(r"[A-Za-z0-9_./@]|--?[A-Za-z][A-Za-z0-9.-]*=")
PIECES = Pattern(r"[=:,;]")
GLUED = Pattern(r"-[A-Za-z]((?:/|~|\.).*)")
LABEL = Pattern(r"-?(?:@[\w.~+-]*)?//(?!(?:.*/)?\.\.(?:[/:]|$))[\w./+~-]*(?::[\w./+~*-]+)?")  # `//app:lint`
OUTPUT = Pattern(r"(?i:-o|--?[\w.-]*(?:out|profile|log|report|trace|cache|temp|tmp|dir)[\w-]*)")
STREAMS = frozenset({"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"})
SCRATCH = ("/tmp/", "/private/tmp/", "/dev/null", "/dev/std")
_wild: dict[str, Wild] = {}
_choices: dict[str, re.Pattern[str]] = {}


class Wild:
    """A command wildcard: `*` is any text, ` *` at the end also nothing. Searches for one piece after the other, since
    a pattern of `re` with several `.*` is too slow on a long text."""

    __slots__ = ("open", "pieces")

    def __init__(self, spec: str) -> None:
        text = SPACE.sub(" ", spec)
        self.open = text.endswith(" *")
        self.pieces = (text[:-2] if self.open else text).split("*")

    def fits(self, text: str) -> bool:
        """Whether the whole text matches."""
        first, *middle = self.pieces
        if not middle:
            return text == first or (self.open and text.startswith(first + " "))
        last = middle.pop()
        at = after(middle, text, len(first)) if text.startswith(first) else -1
        if at < 0:
            return False
        return (len(text) - len(last) >= at and text.endswith(last)) or (self.open and text.find(last + " ", at) >= 0)

    def within(self, text: str) -> bool:
        """Whether some part of the text matches."""
        return after(self.pieces, text, 0) >= 0


def after(pieces: list[str], text: str, at: int) -> int:
    """The position after all pieces, each found after the one before; -1 if one is not found."""
    for piece in pieces:
        found = text.find(piece, at)
        if found < 0:
            return -1
        at = found + len(piece)
    return at


def wild(spec: str) -> Wild:
    found = _wild.get(spec)
    if found is None:
        found = _wild[spec] = Wild(spec)
    return found


# ---------------------------------------------------------------- commands


def forms(invocation: Invocation) -> tuple[str, ...]:
    """Every text of a command that deny and ask rules are matched against."""
    rest = " ".join(invocation.words[1:])
    plain = f"{invocation.program} {rest}".rstrip()
    full = " ".join((*invocation.words[:1], rest)).rstrip()
    if plain == full == invocation.source:
        return (plain,)
    return tuple(dict.fromkeys((plain, full, " ".join(invocation.source.split()))))


def raw_forms(text: str) -> tuple[str, ...]:
    """The whole command as written, and with its operators set apart."""
    one = " ".join(text.split())  # megabytes of it must not block others for long
    pieces = OPERATORS.split(one)
    last = len(pieces) - 1
    for at in range(0, len(pieces), 2):
        piece = pieces[at].lstrip(" ") if at else pieces[at]
        pieces[at] = piece.rstrip(" ") if at < last else piece
    return tuple(dict.fromkeys((text.strip(), one, " ".join(pieces))))


def reaches_command(rule: Rule, invocation: Invocation, texts: tuple[str, ...]) -> bool:
    """Deny and ask: in any spelling, with the options in any order, whatever else is on the command line."""
    if rule.shape is RuleShape.WILD:
        pattern = wild(rule.spec)
        if any(map(pattern.fits, texts)) or any(map(pattern.fits, _reordered(invocation))):
            return True
        return all(word == "*" or "*" not in word for word in rule.words) and _holds(rule, invocation)
    spec = " ".join(rule.words)
    return any(text == spec or text.startswith(spec + " ") for text in texts) or _holds(rule, invocation)


def _reordered(invocation: Invocation) -> tuple[str, ...]:
    """The command with its options before its operands, and after them."""
    lead, operands = (invocation.program, *invocation.subcommand), invocation.operands
    others: dict[str, int] = {}
    for word in (*invocation.subcommand, *operands):
        others[word] = others.get(word, 0) + 1
    options = []
    for word in invocation.words[1:]:
        if others.get(word):
            others[word] -= 1
        else:
            options.append(word)
    if not options or not operands:
        return ()
    return " ".join((*lead, *options, *operands)), " ".join((*lead, *operands, *options))


def _holds(rule: Rule, invocation: Invocation) -> bool:
    """Program, flags as a set, and the other words in order."""
    if base(rule.words[0]) != invocation.program:
        return False
    plain: list[str] = []
    for word in rule.words[1:]:
        if len(word) > 1 and word.startswith("-"):
            if not flag_given(word, invocation):
                return False
        elif word != "*":
            plain.append(word)
    said = invocation.subcommand + invocation.operands
    if tuple(plain) == said[: len(plain)]:
        return True
    if "*" in rule.words:
        rest = iter(said)
        return all(word in rest for word in plain)
    known = min(len(plain), len(invocation.subcommand))
    if tuple(plain[:known]) != invocation.subcommand[:known]:
        return False
    return all(word in invocation.operands and (word[0] in "/~." or "/" in word) for word in plain[known:])


def flag_given(flag: str, invocation: Invocation) -> bool:
    """Whether a flag of a rule is among a command's flags, in any spelling or cluster."""
    if flag in invocation.flags or flag in invocation.words:
        return True
    if "=" in flag:
        return False
    if flag.startswith("--"):
        return any(word.startswith(flag + "=") for word in invocation.words)
    return len(flag) > 2 and flag[1:].isalpha() and all(f"-{letter}" in invocation.flags for letter in flag[1:])


def reaches_text(rule: Rule, texts: tuple[str, ...], *, anywhere: bool) -> bool:
    """Deny and ask on the raw command. `anywhere`: the reading was cut short, so the text is searched."""
    if rule.shape is RuleShape.WILD:
        pattern = wild(rule.spec)
        return any(map(pattern.fits, texts)) or (anywhere and any(map(pattern.within, texts)))
    spec = " ".join(rule.words)
    if any(text in (rule.spec, spec) or text.startswith(spec + " ") for text in texts):
        return True
    if not anywhere or not any(spec in text for text in texts):
        return False
    found = re.compile(rf"(?:^|[^\w.-]){re.escape(spec)}(?:$|[^\w.-])")
    return any(found.search(text) for text in texts)


def proves_command(rule: Rule, invocation: Invocation) -> bool:
    """Allow: the words as the rule writes them, from the first on, with nothing that the rule excepts."""
    if invocation.forfeit:
        return False
    words = invocation.words
    if any(excepted(word, invocation) for word in rule.excepts) or (invocation.strays and strays(rule, invocation)):
        return False
    if rule.origin is Origin.PACK and rule.excepts and _other_operands(rule, invocation):
        return False
    match rule.shape:
        case RuleShape.WHOLE:
            return True
        case RuleShape.EXACT:
            return invocation.literal and _spells(rule, words, invocation.literal)
        case RuleShape.PREFIX:
            told = words[: len(rule.words)]
            return _spells(rule, told, invocation.literal) and not _doubtful(rule.words, invocation)
        case RuleShape.WILD:
            return not _doubtful((), invocation) and wild(rule.spec).fits(" ".join(words))
    return False


LOOSE = frozenset((RuleShape.PREFIX, RuleShape.WILD))  # that leave some words open


def is_beginning(rule: Rule) -> bool:
    """Whether a shipped rule, or one made from an answer, leaves words open. Rules that people write are taken
    literally."""
    return rule.shape in LOOSE and rule.origin in (Origin.PACK, Origin.SESSION)


def strays(rule: Rule, invocation: Invocation) -> tuple[str, ...]:
    """The words of a command that such a rule does not cover."""
    spelled = _spelled_out(rule) if is_beginning(rule) else len(invocation.words)
    return tuple(invocation.words[place] for place in invocation.strays if place >= spelled)


def _spelled_out(rule: Rule) -> int:
    """How many words a rule spells out, up to the first wildcard."""
    return next((place for place, word in enumerate(rule.words) if "*" in word), len(rule.words))


def _spells(rule: Rule, words: tuple[str, ...], literal: bool) -> bool:
    """Whether the words are the rule's own; a word of a pack's rule may have alternatives. If all words are `literal`,
    a star in one is no glob of the shell."""
    if words == rule.words:
        return True
    if rule.origin is not Origin.PACK or len(words) != len(rule.words):
        return False
    return all(
        want == word or ("{" in want and choice(want).fullmatch(word.replace("*", "x") if literal else word))
        for want, word in zip(rule.words, words, strict=True)
    )


def choice(word: str) -> re.Pattern[str]:
    """A word of a pack's rule: `{a,b}` is one of these, `{}` any name that is no option and holds no expansion."""
    found = _choices.get(word)
    if found is None:
        pieces = [_piece(piece) for piece in CHOICE.split(word)]
        found = _choices[word] = re.compile("(?!-)" * word.startswith("{}") + "".join(pieces))
    return found


def _piece(piece: str) -> str:
    if piece == "{}":
        return r"[\w@.,:/+=^~-]+"
    if piece.startswith("{"):
        return f"(?:{'|'.join(map(re.escape, piece[1:-1].split(',')))})"
    return re.escape(piece)


def _doubtful(shown: tuple[str, ...], invocation: Invocation) -> bool:
    """A word that is not literal appears as its source; it must not match the rule's own words."""
    return not invocation.literal and any("$" in word or "`" in word or "*" in word for word in shown)


def _other_operands(rule: Rule, invocation: Invocation) -> bool:
    """Whether a command has an operand that is none of those to which a pack's rule is limited (`!{a,b}`)."""
    only = [word[1:] for word in rule.excepts if word.startswith("!")]
    return bool(only) and not all(
        any(choice(word).fullmatch(operand) for word in only) for operand in invocation.operands
    )


def excepted(word: str, invocation: Invocation) -> bool:
    """Whether the exception of an allow rule is on the command line, or an unknown word could be it."""
    if not invocation.literal and any(map(_may_be_flag, invocation.words[1:])):
        return True
    if word.startswith("-") and "*" not in word:
        return flag_given(word, invocation) or any(each.startswith(word + "=") for each in invocation.words)
    return any(word == each or ("*" in word and wild(word).fits(each)) for each in invocation.words[1:])


def _may_be_flag(word: str) -> bool:
    """A word that appears as its source and could begin with a dash once expanded."""
    return OPEN.search(word) is not None and FIRM.match(word) is None


PROGRAMS = ("/usr/", "/opt/", "/bin/", "/nix/")


def leaves(invocation: Invocation, facts: Facts, told: int = 1) -> bool:
    """Whether a word names a place outside the workspace, or an address: packs are for work in it.

    For git only the folder of a new worktree counts, which may also be next to the workspace. A program may be in the
    system's folders of programs. The first `told` words are those of a rule."""
    words, program = invocation.words[told:], invocation.words[0]
    if (
        told == 1
        and "/" in program
        and not program.startswith(PROGRAMS)
        and _outside(program, invocation.cwds, facts.roots, facts.home, scratch=False)
    ):
        return True
    roots = facts.roots
    if invocation.program == "git":
        if invocation.subcommand[:1] != ("worktree",):
            return False
        words = invocation.operands
        roots = (*roots, *(f"{root.rpartition('/')[0]}/{word.rpartition('/')[2]}" for root in roots for word in words))
    return any(
        _outside(word, invocation.cwds, roots, facts.home, scratch=_is_output(word, before))
        for word, before in zip(words, ("", *words), strict=False)
        if ("/" in word or "~" in word or ".." in word)
        and not (LABEL.fullmatch(word) and has(invocation.program, "target-labels"))
    )


def _is_output(word: str, before: str) -> bool:
    """Whether a word, by an option in it or before it, names a place for output, which may be the folder for temporary
    files. Programs and tests of that folder are no part of the workspace."""
    option, equals, _ = word.partition("=")
    named = OUTPUT.fullmatch(option if equals else before) is not None
    return named or word in STREAMS or (not equals and word.startswith("-o"))


def given_to_options(invocation: Invocation, home: str) -> Iterable[str]:
    """The paths that may be values of a command's options and that a tool could write: attached, after a `=`, or the
    next word. Without options that name its settings."""
    for word, before in zip(invocation.words[1:], invocation.words, strict=False):
        option = word if word.startswith("-") else before
        if not option.startswith("-") or option == "--" or "config" in option.partition("=")[0] or word in STREAMS:
            continue
        glued = GLUED.match(word)
        for piece in (*PIECES.split(word), glued[1] if glued else ""):
            if not piece or piece.startswith("-"):
                continue
            if piece[0] == "~":
                piece = home + piece[1:]
            for cwd in invocation.cwds:
                yield normpath(f"{cwd}/{piece}" if piece[0] != "/" else piece)


def _outside(word: str, cwds: tuple[str, ...], roots: tuple[str, ...], home: str, *, scratch: bool = True) -> bool:
    if "://" in word:
        return True
    glued = GLUED.match(word)
    for piece in (*PIECES.split(word), glued[1] if glued else ""):
        piece = piece.lstrip("@")  # the content of a file
        if piece[:1] == "~":
            piece = home + piece[1:] if piece[1:2] in ("", "/") else "/" + piece
        elif piece[:1] != "/" and ".." not in piece.split("/"):
            continue
        for cwd in cwds:
            name = normpath(f"{cwd}/{piece}" if piece[:1] != "/" else piece)
            if not (scratch and name.startswith(SCRATCH)) and not any(
                name == root or name.startswith(root + "/") for root in roots
            ):
                return True
    return False


# ---------------------------------------------------------------- paths


def names_of(target: Target, facts: Facts) -> tuple[str, ...]:
    """The lexical and the canonical path of a target, and what its glob matches now, both ways.

    A path whose target is unknown has `""` among its names, which is in no folder."""
    canonical = facts.canonical
    names = [target.name]
    if canonical:
        names.append(canonical.get(target.name, target.name))
        if target.raw:
            names.append(canonical.get(target.raw, target.name))
    if target.pattern:
        for found in facts.expansions.get(target.name, ()):
            names += (found, canonical.get(found, found))
    if facts.folds_case and any(target.name.startswith(folder) for folder in facts.folds_case):
        names += [each.lower() for each in names]
    return tuple(dict.fromkeys(names)) if len(names) > 1 else tuple(names)


def known_as(names: tuple[str, ...], facts: Facts) -> tuple[str, ...]:
    """The names, and the guarded paths that they are aliases of: for floor, deny and ask."""
    found = [
        usual + name[len(real) :]
        for name in names
        for real, usual in facts.aliases
        if name == real or name.startswith(real + "/")
    ]
    return tuple(dict.fromkeys((*names, *found))) if found else names


UNKNOWN = Pattern(r"\$\{[^}]*\}|\$\([^)]*\)|\$\w+|`[^`]*`")


def aims(name: str) -> bool:
    """Whether the last name of a path is a glob that starts with a letter."""
    last = name.rpartition("/")[2]
    return last[:1] not in ("*", "?", "[") and any(mark in last for mark in "*?[")


def ending_of(target: Target) -> tuple[str, ...]:
    """The known end of a path that begins with something unknown (`$DIR/.ssh/id_rsa`): enough for deny and ask.

    The name is in no workspace, so that no allow rule and no mode treats it as known."""
    pieces = UNKNOWN.split(target.text)
    folder, slash, rest = pieces[-1].partition("/")
    return (f"/{UNNAMED}{folder}/{rest.rstrip('/')}",) if len(pieces) > 1 and slash and rest else ()


UNNAMED = "\0"  # replaces the unknown part; no path contains it


def speaks_of(rule: Rule, operation: Operation) -> bool:
    """Deny and ask: a rule on writing matches removal too."""
    return operation in rule.operations or (operation is Operation.DELETE and rule.tool == "write")


def reaches_path(glob: PathGlob, effect: Effect, name: str) -> bool:
    """Deny and ask, on one of the names of a path: the path itself, a folder above it, or the folder whose content the
    pattern names."""
    if glob.covers(name):
        return True
    if (effect.recursive or effect.operation in (Operation.LIST, Operation.SEARCH)) and glob.roots(name):
        return True
    return effect.target.pattern and is_wild(name) and overlaps(name, glob.text)


def proves_path(globs: list[PathGlob], effect: Effect, names: tuple[str, ...]) -> bool:
    """Allow: both the lexical and the canonical path, and everything below if the effect reaches there.

    `globs` are one rule's, bound to each form of the workspace."""
    if not effect.target.certain or not effect.target.name:
        return False
    wanted = names if not effect.recursive else (*names, *(name.rstrip("/") + "/x/y" for name in names))
    return all(any(glob.matches(name) for glob in globs) for name in wanted)


# ---------------------------------------------------------------- hosts, tools, agents


def reaches_host(rule: Rule, host: str) -> bool:
    """Deny and ask: a domain and everything below it."""
    name = rule.spec.removeprefix("*.")
    return rule.shape is RuleShape.WHOLE or name == "*" or host == name or host.endswith("." + name)


def proves_host(rule: Rule, host: str) -> bool:
    """Allow: exactly the domain, or with `*.` those below it."""
    if rule.shape is RuleShape.WHOLE:
        return True
    if rule.spec.startswith("*."):
        return host.endswith(rule.spec[1:])
    return bool(host) and host == rule.spec


def names_tool(rule: Rule, tool: str, given: Arguments | None, *, aggressive: bool) -> bool:
    """Whether a tool rule names a tool, and its conditions match the arguments."""
    if not _is_tool(rule, tool, aggressive=aggressive):
        return False
    if not rule.spec:
        return True
    from assent.policy import conditions  # if a rule on this tool has conditions

    if aggressive:
        return conditions.reaches(rule.spec, given)
    return conditions.proves(rule.spec, given, closed=ONLY_NAMED in rule.excepts)


ONLY_NAMED = "*"  # an exception of a saved tool rule: every argument that it does not name


def _is_tool(rule: Rule, tool: str, *, aggressive: bool) -> bool:
    """`mcp__server` is every tool of that server."""
    ours, theirs = (rule.tool.lower(), tool.lower()) if aggressive else (rule.tool, tool)
    if "*" in ours:
        return wild(ours).fits(theirs)
    return ours == theirs or (ours.startswith("mcp__") and ours.count("__") == 1 and theirs.startswith(ours + "__"))


def names_agent(rule: Rule, agent: str) -> bool:
    return rule.shape is RuleShape.WHOLE or rule.spec.lower() == agent.lower()
