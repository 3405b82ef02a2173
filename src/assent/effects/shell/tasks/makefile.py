"""Reads Makefiles as GNU make does: variables, conditionals, included files and rules → the commands that targets run.

Values from the environment or from the output of commands are unknown; of a conditional on such a value one branch is
read, and the caller reads the file again for the others (`reading`). Reads no files itself, and runs nothing."""

from __future__ import annotations

from collections.abc import Callable

from assent.contract import Pattern
from assent.effects.shell.tasks.makefile_functions import FUNCTIONS
from assent.effects.shell.tasks.makefile_lines import (
    DEFINE,
    SIGNS,
    WORD,
    assignment,
    assigns_to_define,
    compared,
    definition,
    goes_on,
    is_assignment,
    split_recipe,
    without_comment,
    without_words,
)
from assent.effects.shell.tasks.makefile_values import (
    MakeValues,
    MakeVariable,
    NotRead,
    has_marks,
    outside,
    stem,
)

MOST_COMMANDS = 400
_DEEPEST = 40
_CONDITIONAL = Pattern(r"\s*(ifeq|ifneq|ifdef|ifndef|else|endif)\b(.*)", 16)
# Values of MAKEFLAGS that change nothing in what runs.
FLAGS = Pattern(
    r"\s*(?:(?:--(?:no-print-directory|silent|warn-undefined-variables|no-builtin-rules|no-builtin-variables|jobs(?:=\w*)?"
    r"|output-sync(?:=\w+)?|keep-going)|-?[krRswB]+|-j\s*[\w$()]*|-O\w*)(?:\s+|$))*"
)
_SPECIAL = Pattern(r"\.[A-Z][A-Z_]*")
_SUFFIXES = Pattern(r"(\.[\w+-]+)(\.[\w+-]+)?")


class MakeRule:
    """`targets` and `needs` (prerequisites) are expanded, `lines` are not. `pattern`: that of a static pattern rule.
    `own`: variables of these targets only, instead of commands."""

    __slots__ = ("targets", "needs", "after", "lines", "pattern", "implicit", "own", "double", "file")

    def __init__(self, targets: list[str], needs: list[str], after: list[str]) -> None:
        self.targets = targets
        self.needs = needs
        self.after = after
        self.lines: list[str] | None = None
        self.pattern = ""
        self.implicit = False
        self.own: list[tuple[str, str, str]] = []
        self.double = False
        self.file = ""


class MakeCommand:
    """A text that make hands to the shell. `always`: it runs with `-n`, too."""

    __slots__ = ("script", "always")

    def __init__(self, script: str, *, always: bool) -> None:
        self.script = script
        self.always = always


class Makefile:
    """One reading of a Makefile with what it includes. `load` gives the text of an included file, None if there is
    none; it raises NotRead if that is unknown. `listed` expands a pattern of file names. `limit`: how many
    lines and references may be read.

    `includes`: the files that were included. `plain`: only its rules decide what make runs."""

    def __init__(
        self,
        folder: str,
        goals: list[str],
        *,
        reading: int,
        limit: int,
        load: Callable[[str], str | None],
        listed: Callable[[str], list[str]],
    ) -> None:
        self.values = MakeValues(folder, reading=reading, limit=limit, define=self.text)
        self.values.functions = FUNCTIONS
        self.goals = goals
        self.rules: list[MakeRule] = []
        self.phony: set[str] = set()
        self.exported: dict[str, None] = {}
        self.includes: dict[str, None] = {}
        self.plain = True
        self.special: set[str] = set()
        self._load = load
        self._listed = listed
        self._file = ""
        self._depth = 0
        self._open: MakeRule | None = None
        self._commands: dict[str, MakeCommand] = {}
        self._done: set[str] = set()
        self.values.variables["MAKECMDGOALS"] = MakeVariable(" ".join(goals), simple=True, origin="default")
        self.values.variables["CURDIR"] = MakeVariable(folder, simple=True)
        self.values.variables["MAKEFILE_LIST"] = MakeVariable("", simple=True)

    # ------------------------------------------------------------ lines

    def file(self, path: str, text: str) -> None:
        """Read a Makefile."""
        outer, self._file = self._file, path
        known = self.values.variables["MAKEFILE_LIST"]
        known.value = f"{known.value} {path}".strip()
        self._open = None
        self.text(text)
        self._open = None
        self._file = outer

    def text(self, text: str) -> None:
        """Read lines of a Makefile."""
        if self._depth > _DEEPEST:
            raise NotRead
        self._depth += 1
        if has_marks(text) and not self._depth > 1:
            self.values.unread = True  # the characters for unknown values
        lines = text.replace("\r\n", "\n").split("\n")
        place = 0
        missed: list[int] = []
        branches: list[str] = []  # each taken ("on"), not yet taken ("off"), or past ("done")
        while place < len(lines):
            self.values.count()
            line = lines[place]
            prefix = self._prefix()
            is_recipe = line.startswith(prefix) and self._open is not None
            while goes_on(line) and place + 1 < len(lines):
                place += 1
                following = lines[place]
                if is_recipe:
                    line = f"{line}\n{following.removeprefix(prefix)}"
                else:
                    line = f"{line[:-1].rstrip()} {following.lstrip()}"
            place += 1
            on = all(each == "on" for each in branches)
            if is_recipe:
                if on and self._open is not None:
                    self._open.lines = [*(self._open.lines or []), line[len(prefix) :]]
                continue
            plain = without_comment(line)
            found = _CONDITIONAL.fullmatch(plain)
            if found is not None and not is_assignment(plain):
                self._condition(found[1], found[2].strip(), branches, missed)
                continue
            if DEFINE.match(plain) and not assigns_to_define(plain):
                body, place = definition(lines, place)
                if on:
                    self._define(plain, body)
                continue
            if on:
                self._line(plain)
        self._depth -= 1

    def _prefix(self) -> str:
        found = self.values.variables.get(".RECIPEPREFIX")
        return (found.value[:1] or "\t") if found is not None else "\t"

    def _condition(self, word: str, rest: str, branches: list[str], missed: list[int]) -> None:
        if word == "endif":
            if branches:
                branches.pop()
                missed.pop()
            return
        if word == "else":
            if not branches:
                self.values.unread = True
                return
            branches[-1] = "done" if branches[-1] in ("on", "done") else "on"
            more = _CONDITIONAL.fullmatch(rest)
            if more is not None and more[1] not in ("else", "endif") and branches[-1] == "on":
                outer = all(each == "on" for each in branches[:-1])
                branches[-1] = "on" if outer and self._holds(more[1], more[2].strip(), missed) else "off"
            return
        on = all(each == "on" for each in branches)
        missed.append(0)
        branches.append("on" if on and self._holds(word, rest, missed) else "off" if on else "done")

    def _holds(self, word: str, rest: str, missed: list[int]) -> bool:
        """Whether a condition is true. `missed`: how many unknown conditions before it were taken as false."""
        values = self.values
        if word in ("ifdef", "ifndef"):
            name = values.expand(rest).strip()
            known = values.variables.get(name)
            if known is None and name.isidentifier() and name not in values.given:
                return self._either(missed)
            return bool(known.value if known is not None else values.given.get(name, "")) == (word == "ifdef")
        sides = compared(rest)
        if sides is None:
            values.unread = True
            return self._either(missed)
        left, right = values.expand(sides[0]).strip(), values.expand(sides[1]).strip()
        if left != right and (has_marks(left) or has_marks(right)):
            return self._either(missed)
        return (left == right) == (word == "ifeq")

    def _either(self, missed: list[int]) -> bool:
        found = self.values.either(missed[-1])
        missed[-1] += 0 if found else 1
        return found

    # ------------------------------------------------------------ directives and assignments

    def _line(self, line: str) -> None:
        if not line.strip():
            return
        words, rest = [], line
        while (found := WORD.match(rest)) is not None and not is_assignment(rest):
            words.append(found[1])
            rest = rest[len(found[0]) :]
            if found[1] in ("include", "-include", "sinclude", "undefine", "vpath", "load", "-load", "endef"):
                break
        rest = rest.strip()
        last = words[-1] if words else ""
        if last in ("include", "-include", "sinclude"):
            self._open = None
            self._include(rest)
        elif last in ("load", "-load", "endef"):
            self.values.unread = True
        elif last == "undefine":
            self.values.variables.pop(self.values.expand(rest).strip(), None)
        elif last == "vpath":
            self.plain = False
        elif (parts := assignment(rest)) is not None:
            self._open = None
            self._assign(words, parts)
        elif "export" in words or "unexport" in words:
            self._open = None
            self._export(rest, on="export" in words)
        else:
            self._rule(rest)

    def _assign(self, words: list[str], parts: tuple[str, str, str]) -> None:
        name = self.values.expand(parts[0]).strip()
        self.values.assign(name, parts[1], parts[2], origin="override" if "override" in words else "file")
        if name in ("SHELL", ".SHELLFLAGS", "MAKEFLAGS", "GNUMAKEFLAGS", "MAKEFILES", "VPATH", ".RECIPEPREFIX", "MAKE"):
            self.plain = False
        if name in ("MAKEFILES", "GNUMAKEFLAGS") or (name == "MAKEFLAGS" and not FLAGS.fullmatch(parts[2])):
            self.values.unread = True
        if "export" in words:
            self.exported[name] = None

    def _export(self, names: str, *, on: bool) -> None:
        if on and not names:
            self.special.add(".EXPORT_ALL_VARIABLES")
        for name in self.values.expand(names).split():
            if on:
                self.exported[name] = None
            else:
                self.exported.pop(name, None)

    def _define(self, line: str, body: str) -> None:
        self._open = None
        words = line.split()
        name = " ".join(words[words.index("define") + 1 :])
        sign = next((each for each in SIGNS if name.endswith(each)), "=")
        name = self.values.expand(name.removesuffix(sign).strip()).strip()
        self._assign(words[: words.index("define")], (name.replace("$", "$$"), sign, body))

    def _include(self, names: str) -> None:
        for name in self.values.certain(self.values.expand(names)).split():
            if has_marks(name):
                self.values.unread = True
                continue
            self.values.exact = False
            for path in self._listed(name) if any(sign in name for sign in "*?[") else [name]:
                self.includes[path] = None
                text = self._load(path)
                if text is not None:
                    self.file(path, text)

    # ------------------------------------------------------------ rules

    def _rule(self, line: str) -> None:
        """A rule, or variables of targets. Any other line may still run something when expanded."""
        colon = next((place for place, sign in outside(line) if sign == ":"), -1)
        if colon < 0:
            expanded = self.values.expand(line)
            colon = expanded.find(":")
            if colon < 0 or "\n" in expanded:
                if "\n" in expanded:
                    self.text(expanded)
                elif "".join(sign for sign in expanded if not has_marks(sign)).strip():
                    self.values.unread = True
                return
            line = expanded.replace("$", "$$")
        targets = self.values.expand(line[:colon].rstrip().removesuffix("&")).split()
        rest = line[colon + 1 :]
        double = rest.startswith(":")
        rest = rest[1:] if double else rest
        self._open = None
        if (parts := assignment(without_words(rest))) is not None:
            rule = MakeRule(targets, [], [])
            rule.own.append((self.values.expand(parts[0]).strip(), parts[1], parts[2]))
            self.rules.append(rule)
            return
        cut = next((place for place, sign in outside(rest) if sign == ";"), -1)
        inline = rest[cut + 1 :].lstrip() if cut >= 0 else None
        needs = self.values.expand(rest[:cut] if cut >= 0 else rest)
        if inline is None and ";" in needs:
            needs, _, shown = needs.partition(";")
            inline = shown.replace("$", "$$")
        pattern = ""
        if ":" in needs and not any(has_marks(sign) for sign in needs.partition(":")[0]):
            pattern, _, needs = needs.partition(":")
        direct, _, after = needs.partition("|")
        rule = MakeRule(targets, direct.split(), after.split())
        rule.lines = [inline] if inline is not None else None
        rule.pattern = pattern.strip()
        rule.double = double
        rule.file = self._file
        rule.implicit = not rule.pattern and any("%" in target for target in targets)
        self._special(rule)
        self.rules.append(rule)
        self._open = rule

    def _special(self, rule: MakeRule) -> None:
        for target in rule.targets:
            if target == ".PHONY":
                self.phony.update(rule.needs)
            elif _SPECIAL.fullmatch(target):
                self.special.add(target)
                if target not in (".SUFFIXES", ".SILENT", ".NOTPARALLEL", ".DELETE_ON_ERROR", ".IGNORE"):
                    self.plain = False
            elif (suffixes := _SUFFIXES.fullmatch(target)) is not None and not rule.needs:
                rule.implicit = True
                rule.targets = [f"%{suffixes[2]}" if suffixes[2] else "%"]
                rule.needs = [f"%{suffixes[1]}"]
            if has_marks(target):
                self.values.exact = False

    # ------------------------------------------------------------ commands

    def default(self) -> list[str]:
        """The target that runs if none is named."""
        chosen = self.values.variables.get(".DEFAULT_GOAL")
        if chosen is not None and chosen.value.strip():
            return self.values.expand(chosen.value).split()[:1]
        for rule in self.rules:
            for target in rule.targets if not rule.implicit and not rule.own else ():
                if target[:1] != "." or "/" in target:
                    return [target]
        return []

    def every(self) -> list[str]:
        """All targets that rules name."""
        return [target for rule in self.rules if not rule.implicit for target in rule.targets if target[:1] != "."]

    def commands(self, goals: list[str]) -> list[MakeCommand]:
        """The commands of some targets and their prerequisites, in order."""
        for goal in goals:
            self._target(goal, {}, 0)
        return list(self._commands.values())

    def _target(self, name: str, around: dict[str, MakeVariable], depth: int) -> None:
        name = self.values.certain(name)
        if name in self._done:
            return
        if depth > _DEEPEST or len(self._commands) > MOST_COMMANDS:
            raise NotRead
        self._done.add(name)
        if "(" in name or self.values.may_name(name):
            self.values.unread = True  # a member of an archive, or any target
        local = {key: each for key, each in around.items() if not _is_automatic(key)}
        for rule in self.rules:
            if rule.own and any(stem(name, target) is not None for target in rule.targets):
                for key, sign, value in rule.own:
                    self._own(local, key, sign, value)
        mine = [each for each in self.rules if not each.own and not each.implicit and name in each.targets]
        found = [each for each in mine if each.lines is not None]
        if not found and name not in self.phony:
            implied = [each for each in self.rules if each.implicit and _matches(each, name)]
            fallen = [each for each in self.rules if ".DEFAULT" in each.targets and not mine]
            self.values.exact = False  # by built-in rules, or by existing files
            found = [each for each in (*implied, *fallen) if each.lines is not None]
            mine = [*mine, *implied]
        needs: dict[str, None] = {}
        stems = {}
        for rule in mine:
            stems[id(rule)] = _stem_of(rule, name)
            if ".SECONDEXPANSION" in self.special:
                automatic = self._automatic(name, rule, list(needs), stems[id(rule)])
                given = self.values.expand(" ".join((*rule.needs, "|", *rule.after)), {**local, **automatic}).split()
                self.values.exact = False
            else:
                given = [*rule.needs, *rule.after]
            for each in given:
                each = each.replace("%", stems[id(rule)] or "%", 1) if stems[id(rule)] is not None else each
                if each not in ("|", ".WAIT"):
                    needs[each] = None
        for each in needs:
            self._target(each, local, depth + 1)
        if len(found) > 1 and not found[-1].double and not any(each.implicit for each in found):
            found = found[-1:]  # the last one counts
        for rule in found:
            self._recipe(rule, {**local, **self._automatic(name, rule, list(needs), stems.get(id(rule)))})

    def _own(self, local: dict[str, MakeVariable], key: str, sign: str, value: str) -> None:
        """Give a target a variable of its own."""
        known = self.values.variables.get(key)
        if known is not None and known.origin == "command line":
            return
        before = local.get(key) or known
        if sign == "+=" and before is not None:
            local[key] = MakeVariable(f"{before.value} {value}", simple=before.simple)
        elif sign == "!=":
            local[key] = MakeVariable(self.values.run(self.values.expand(value, local)), simple=True)
        elif sign in (":=", "::=", ":::="):
            local[key] = MakeVariable(self.values.expand(value, local), simple=True)
        elif sign != "?=" or before is None:
            local[key] = MakeVariable(value, simple=False)
        if key in ("SHELL", ".SHELLFLAGS", "MAKEFLAGS", "PATH") or sign == "?=":
            self.plain = False

    def _automatic(self, name: str, rule: MakeRule, needs: list[str], stem_of: str | None) -> dict[str, MakeVariable]:
        first = next(iter(rule.needs), needs[0] if needs else "")
        if stem_of is not None:
            first = first.replace("%", stem_of, 1)
        texts = {"@": name, "<": first, "^": " ".join(needs), "+": " ".join(needs), "?": " ".join(needs)}
        texts |= {"*": stem_of or "", "|": " ".join(rule.after), "%": ""}
        found = {}
        for key, text in texts.items():
            found[key] = MakeVariable(text, simple=True)
            folders = [word.rpartition("/")[0] or "." for word in text.split()]
            found[f"{key}D"] = MakeVariable(" ".join(folders), simple=True)
            found[f"{key}F"] = MakeVariable(" ".join(word.rpartition("/")[2] for word in text.split()), simple=True)
        return found

    def _recipe(self, rule: MakeRule, local: dict[str, MakeVariable]) -> None:
        one = ".ONESHELL" in self.special
        scripts: list[str] = []
        always = False
        for line in rule.lines or []:
            expanded = self.values.expand(line, local)
            submake = "$(MAKE)" in line or "${MAKE}" in line
            parts = split_recipe(expanded)
            for part in parts:
                text = part.lstrip(" \t")
                signs = text[: len(text) - len(text.lstrip("@-+ \t"))]
                text = text[len(signs) :]
                always = always or "+" in signs or submake
                if text.strip():
                    scripts.append(text)
                    if not one:
                        self._add(text, always=always)
                if not one:
                    always = False
        if one and scripts:
            self._add("\n".join(scripts), always=always)

    def _add(self, text: str, *, always: bool) -> None:
        script = self.values.rendered(text)
        known = self._commands.get(script)
        self._commands[script] = MakeCommand(script, always=always or (known is not None and known.always))


# ---------------------------------------------------------------- texts


def _matches(rule: MakeRule, name: str) -> bool:
    names = (name, name.rpartition("/")[2])
    return any(stem(each, target) is not None for each in names for target in rule.targets)


def _stem_of(rule: MakeRule, name: str) -> str | None:
    patterns = rule.targets if rule.implicit else [rule.pattern] if rule.pattern else []
    for pattern in patterns:
        found = stem(name, pattern)
        if found is None:
            found = stem(name.rpartition("/")[2], pattern)
        if found is not None and "%" in pattern:
            return found
    return None


def _is_automatic(key: str) -> bool:
    return key[:1] in "@<^+?*|%"
