"""Reads justfiles: variables, settings and recipes with their parameters and dependencies.

An expression that is not plain is an unknown shell word."""

from __future__ import annotations

from assent.contract import Pattern

_ASSIGN = Pattern(r"(export\s+)?([A-Za-z_][\w-]*)\s*:=\s*(.*)", 16)
_SET = Pattern(r"set\s+([\w-]+)\s*(?::=\s*(.*))?", 16)
_ALIAS = Pattern(r"alias\s+([\w-]+)\s*:=\s*([\w:-]+)\s*(?:#.*)?")
_IMPORT = Pattern(r"import\??\s+(?:'([^']*)'|\"([^\"]*)\")\s*(?:#.*)?")
_HEADER = Pattern(r"@?([A-Za-z_][\w-]*)((?:\s+[^:\s][^:]*)?)\s*:(?!=)(.*)")
_PARAMETER = Pattern(r"\$?([*+]?)\$?([A-Za-z_][\w-]*)(?:\s*=\s*('[^']*'|\"[^\"]*\"|[\w./-]+))?")
_NEED = Pattern(r"\(\s*([A-Za-z_][\w-]*)((?:\s+(?:'[^']*'|\"[^\"]*\"|[\w./-]+))*)\s*\)|&&|([A-Za-z_][\w-]*)")
_WORD = Pattern(r"'[^']*'|\"[^\"]*\"|[\w./-]+")
_HOLE = Pattern(r"\{\{(?!\{)(.*?)\}\}", 16)
_PART = Pattern(
    r"""\s*(?:'([^']*)'|"((?:[^"\\]|\\.)*)"|`([^`]*)`|env(?:_var)?(?:_or_default)?\(\s*['"](\w+)['"][^()]*\)"""
    r"""|((?:justfile|invocation|source|home)_(?:directory|dir)(?:_native)?)\(\s*\)|([A-Za-z_][\w-]*))\s*""",
    16,
)
UNKNOWN = "${just_value}"
_MOST = 400
_DEEPEST = 20


class JustRecipe:
    """`parameters`: (kind, name, default), the kind `*` and `+` for those that take the rest."""

    __slots__ = ("parameters", "needs", "lines")

    def __init__(self, parameters: list[tuple[str, str, str | None]], needs: list[tuple[str, list[str]]]) -> None:
        self.parameters = parameters
        self.needs = needs
        self.lines: list[str] = []


class Justfile:
    """A justfile, with those that it imports. `unread`: it has something that is not understood."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.variables: dict[str, str] = {}
        self.exported: dict[str, None] = {}
        self.settings: dict[str, str] = {}
        self.aliases: dict[str, str] = {}
        self.recipes: dict[str, JustRecipe] = {}
        self.imports: list[str] = []
        self.ran: list[str] = []
        self.unread = False

    # ------------------------------------------------------------ lines

    def read(self, text: str) -> None:
        current: JustRecipe | None = None
        lines = text.replace("\r\n", "\n").split("\n")
        place = 0
        while place < len(lines):
            line = lines[place]
            place += 1
            if line[:1] in (" ", "\t") and current is not None:
                current.lines.append(line)
                continue
            if not line.strip() or line.lstrip()[0] == "#":
                if current is not None and not line.strip():
                    current.lines.append("")
                continue
            while line.endswith("\\") and place < len(lines):
                line = line[:-1] + lines[place].strip()
                place += 1
            while _is_open(line) and place < len(lines):
                line += "\n" + lines[place]
                place += 1
            current = self._line(line.rstrip())

    def _line(self, line: str) -> JustRecipe | None:
        if line[0] == "[" and line.partition("#")[0].rstrip().endswith("]"):
            return None
        if (found := _ALIAS.fullmatch(line)) is not None:
            self.aliases[found[1]] = found[2]
        elif (found := _SET.fullmatch(line)) is not None:
            self.settings[found[1]] = found[2] if found[2] is not None else "true"
        elif (found := _IMPORT.fullmatch(line)) is not None:
            self.imports.append(found[1] or found[2] or "")
        elif (found := _ASSIGN.fullmatch(line)) is not None:
            self.variables[found[2]] = found[3]
            if found[1]:
                self.exported[found[2]] = None
        elif (found := _HEADER.fullmatch(line)) is not None:
            recipe = JustRecipe(_parameters(found[2]), _needs(found[3].partition(" #")[0]))
            self.recipes[found[1]] = recipe
            return recipe
        else:
            self.unread = True  # modules and unknown statements
        return None

    # ------------------------------------------------------------ values

    def value(self, text: str, local: dict[str, str], depth: int = 0) -> str:
        """The value of an expression, as text for the shell."""
        if depth > _DEEPEST:
            return UNKNOWN
        out, place = [], 0
        text = text.strip()
        while True:
            found = _PART.match(text, place)
            if found is None:
                return UNKNOWN
            out.append(self._part(found, local, depth))
            place = found.end()
            if place >= len(text) or text[place] == "#":
                return "".join(out)
            if text[place] not in "+/":
                return UNKNOWN
            out.append("/" if text[place] == "/" else "")
            place += 1

    def _part(self, found: object, local: dict[str, str], depth: int) -> str:
        groups = found.groups()  # type: ignore[attr-defined]  # of a match
        single, double, command, variable, place, name = groups
        if command is not None:
            command = self.filled(command, local, depth + 1)
            self.ran.append(command)
            return f"$({command})"
        if variable is not None:
            return f"${{{variable}}}"
        if place is not None:
            return "${HOME}" if place.startswith("home") else self.folder
        if name is not None:
            if name in local:
                return local[name]
            return self.value(self.variables[name], {}, depth + 1) if name in self.variables else UNKNOWN
        if single is not None:
            return str(single)
        return str(double).replace('\\"', '"').replace("\\n", "\n").replace("\\t", "\t").replace("\\\\", "\\")

    def filled(self, text: str, local: dict[str, str], depth: int = 0) -> str:
        """A text with its `{{…}}` replaced."""
        return str(_HOLE.sub(lambda found: self.value(found[1], local, depth), text))

    # ------------------------------------------------------------ recipes

    def texts(self, words: list[str]) -> list[str]:
        """The recipes that a command line runs, in order: names, each with its arguments."""
        out: list[str] = []
        words = list(words)
        if not words and self.recipes:
            words = [next(iter(self.recipes))]
        while words:
            name = words.pop(0)
            name = self.aliases.get(name, name)
            recipe = self.recipes.get(name)
            if recipe is None:
                self.unread = self.unread or "::" in name
                return out
            count = len(words) if any(kind for kind, _, _ in recipe.parameters) else len(recipe.parameters)
            self._recipe(name, words[:count], out, 0)
            words = words[count:]
        return out

    def _recipe(self, name: str, given: list[str], out: list[str], depth: int) -> None:
        recipe = self.recipes.get(self.aliases.get(name, name))
        if recipe is None or depth > _DEEPEST or len(out) > _MOST:
            self.unread = True
            return
        local: dict[str, str] = {}
        rest = list(given)
        for kind, key, default in recipe.parameters:
            if kind:
                local[key] = " ".join(rest) if rest else self.value(default, local) if default else ""
                rest = []
            elif rest:
                local[key] = rest.pop(0)
            else:
                local[key] = self.value(default, local) if default is not None else UNKNOWN
        for need, arguments in recipe.needs:
            self._recipe(need, [self.value(each, local) for each in arguments], out, depth + 1)
        lines = [line for line in recipe.lines if line.strip()]
        if not lines:
            return
        indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
        body = [self.filled(line.removeprefix(indent), local) for line in recipe.lines]
        first = next(line for line in body if line.strip())
        if first.startswith("#!"):
            out.append("\n".join(body).strip() + "\n")
            return
        joined = ""
        for line in body:
            joined += line
            if joined.endswith("\\"):
                joined += "\n"
                continue
            text = joined.lstrip("@- ") if joined.strip() else ""
            if text and text[0] != "#":
                out.append(text)
            joined = ""


def _is_open(line: str) -> bool:
    """Whether a text in three quotes or back-ticks goes on."""
    return any(line.count(sign) % 2 for sign in ("'''", '"""', "```")) and ":=" in line


def _parameters(text: str) -> list[tuple[str, str, str | None]]:
    return [(found[1], found[2], found[3]) for found in _PARAMETER.finditer(text)]


def _needs(text: str) -> list[tuple[str, list[str]]]:
    out = []
    for found in _NEED.finditer(text):
        if found[1]:
            out.append((found[1], _WORD.findall(found[2])))
        elif found[3]:
            out.append((found[3], []))
    return out
