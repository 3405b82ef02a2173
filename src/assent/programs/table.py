"""The rows of all programs: the shipped ones, with those of a user in front. Each is compiled on first use."""

from __future__ import annotations

from collections.abc import Mapping

from assent.contract import Pattern, PolicyError
from assent.programs.catalog import catalog
from assent.programs.option import without
from assent.programs.row import Row, check_row, glob

# The modules of `effects` with the readers that a row may name: functions for effects that a table cannot express.
_READERS = {
    "code.awk": "awk",
    "shell.commands.readers.files": "copy move link remove remove_folder modes go_fmt cargo_fmt probe dotfiles tar dd "
    "pandoc make_filesystem",
    "shell.commands.readers.find": "find fd",
    "shell.commands.readers.git": "git_push git_fetch git_commit git_checkout git_switch git_branch git_tag git_reset "
    "git_restore git_rm git_mv git_lfs git_each git_rev_list git_merge_base git_rev_parse git_merge git_pick git_stash",
    "shell.commands.readers.git_losses": "git_clean git_stash_drop git_rebase",
    "code.inline": "node perl ruby php lua",
    "code.jq": "jq yq",
    "shell.commands.readers.system": "which go_env go_list mktemp kill ps uv_project",
    "code.python": "python",
    "shell.commands.readers.remote": "ssh scp rsync elsewhere compose gh_api gh_view",
    "code.sed": "sed",
    "code.sql": "sqlite psql drop_database mongo_shell",
    "shell.commands.readers.shells": "shell",
    "shell.commands.readers.web": "curl wget http netcat socat",
    "shell.commands.readers.wrappers": "xargs parallel env printenv sudo su joined flock script tmux busybox "
    "package rtk",
}
NAMES = {name: module for module, names in _READERS.items() for name in names.split()}
_LIKE_LIMIT = 8
_NEVER_INHERITED = frozenset(("safe", "acts", "aliases", "like", "obeys_checked"))


class CommandNode:
    """A word of a subcommand path. `name` is the row that ends here (`""`: none). `groups` are the words that `**`
    matches; a node for `**` loops to itself. The nodes below one are created on first use."""

    __slots__ = ("groups", "loops", "name", "_children", "_globs", "_rows")

    def __init__(self, groups: frozenset[str] = frozenset(), loops: bool = False) -> None:
        self.name = ""
        self.groups = groups
        self.loops = loops
        self._children: dict[str, CommandNode] = {}
        self._globs: list[tuple[Pattern, CommandNode]] = []
        self._rows: list[tuple[list[str], str]] = []

    def file(self, words: list[str], name: str) -> None:
        """Put a row at the end of a path of words below this one."""
        if words:
            self._rows.append((words, name))
        else:
            self.name = name

    @property
    def children(self) -> dict[str, CommandNode]:
        """The nodes below, by the word of the rows' names."""
        rows, self._rows = self._rows, []
        for (first, *rest), name in rows:
            for choice in first.split("|"):
                self._child(choice).file(rest, name)
        return self._children

    def _child(self, word: str) -> CommandNode:
        node = self._children.get(word)
        if node is None:
            node = self._children[word] = CommandNode(self.groups, word == "**")
            if "*" in word and word != "**":
                self._globs.append((Pattern(glob(word)), node))
        return node

    def after(self, word: str) -> list[CommandNode]:
        """The nodes that match the next word of a command line, the exact one first. A glob matches no path with
        `..`."""
        children = self.children
        exact = children.get(word)
        found = [exact] if exact is not None else []
        if ".." not in word.split("/"):
            found += [node for pattern, node in self._globs if pattern.fullmatch(word) and node is not exact]
        if word in self.groups:
            found += [self] if self.loops else [children["**"]] if "**" in children else []
        return found


class Tables:
    """Rows by name. `user` rows replace shipped ones of the same name; a malformed one raises PolicyError."""

    __slots__ = ("_aliases", "_programs", "_rows", "_user")

    def __init__(self, user: Mapping[str, Mapping[str, object]] | None = None) -> None:
        self._user = dict(user or {})
        self._rows: dict[str, Row] = {}
        self._programs: dict[str, CommandNode | None] = {}
        self._aliases: dict[str, str] = {}
        for name, keys in self._user.items():
            check_row(name, keys, readers=frozenset(NAMES))
            aliases = keys.get("aliases", ())
            if isinstance(aliases, (list, tuple)):
                self._aliases.update(dict.fromkeys(map(str, aliases), name.partition(" ")[0]))
        for name in self._user:
            self.row(name)

    def names(self) -> list[str]:
        return list(dict.fromkeys([*catalog.names(), *self._user]))

    def program(self, name: str) -> CommandNode | None:
        """The tree of a program's rows, or None if no table has it."""
        if name not in self._programs:
            self._programs[name] = self._grow(name)
        return self._programs[name]

    def row(self, name: str) -> Row:
        row = self._rows.get(name)
        if row is None:
            row = self._rows[name] = Row(name, self.keys(name))
        return row

    def keys(self, name: str, depth: int = 0) -> dict[str, object]:
        """A row as written, merged over the row it is `like`; examples are never inherited."""
        own = self._own(name)
        if "with" in own:
            own["options"] = self._joined(name, own)
        base = own.get("like")
        if base is None:
            return own
        if not isinstance(base, str) or depth >= _LIKE_LIMIT or not self._has(base):
            raise PolicyError(f'commands."{name}".like: no row is called `{base}`')
        return {k: v for k, v in {**self.keys(base, depth + 1), **own}.items() if k in own or k not in _NEVER_INHERITED}

    def _joined(self, name: str, own: dict[str, object]) -> str:
        """The row's options, and those of the sets that it names."""
        sets = own["with"] if isinstance(own["with"], list) else [own["with"]]
        options = str(own.get("options", "")).split()
        for one in sets:
            if not isinstance(one, str) or not one.startswith("_") or not self._has(one):
                raise PolicyError(f'commands."{name}".with: no set of options is called `{one}`')
            options += without(options, str(self._own(one).get("options", "")).split())
        return " ".join(options)

    def _own(self, name: str) -> dict[str, object]:
        return dict(self._user[name] if name in self._user else catalog.rows(name.partition(" ")[0])[name])

    def _has(self, name: str) -> bool:
        return name in self._user or name in catalog.rows(name.partition(" ")[0])

    def _grow(self, program: str) -> CommandNode | None:
        program = self._aliases.get(program, program)
        if program.startswith("_") or " " in program:  # the names of sets of options, and of rows that are no program
            return None
        names = self._names(program)
        if not names and (program := catalog.program_of(program)):
            names = self._names(program)
        if not names:
            return None
        groups = self.row(program).groups if program in names and any("**" in name for name in names) else frozenset()
        root = CommandNode(groups)
        for name in names:
            root.file(name.split(" ")[1:], name)
        return root

    def _names(self, program: str) -> list[str]:
        own = (name for name in self._user if name == program or name.startswith(f"{program} "))
        return list(dict.fromkeys([*catalog.rows(program), *own]))


shipped = Tables()
