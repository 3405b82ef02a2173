"""Readers for commands that act on other machines and in containers: ssh, scp, rsync, docker and kubectl, gh api."""

from __future__ import annotations

from assent.contract import DOTALL, Pattern, Via
from assent.effects.addresses import host_of
from assent.effects.paths import path_target
from assent.effects.shell.command import Arg
from assent.effects.shell.commands.command_effects import (
    DELETE,
    READ,
    EffectsBuilder,
    Word,
    literal,
    shown,
    values,
)
from assent.effects.shell.commands.line import CommandLine, into
from assent.effects.shell.commands.options import parse
from assent.effects.shell.commands.readers.web import SENT
from assent.effects.shell.commands.readers.wrappers import joined_words
from assent.effects.shell.commands.roles import apply
from assent.programs.option import options_of

_SSH = options_of(
    """-4 -6 -A -a -C -f -g -K -k -M!acts -N -n -q -s -T -t -v -X -x -Y -y -G!prints -V!prints -Q=TEXT!prints
    -B=TEXT -b=TEXT -c=TEXT -D=TEXT!acts -E=WRITE -e=TEXT -F=CONFIG -I=CONFIG -i=TEXT -J=HOST -L=TEXT!acts
    -l=TEXT -m=TEXT -O=TEXT!acts -o=TEXT -P=TEXT!acts -p=TEXT -R=TEXT!acts -S=TEXT!acts -W=TEXT!acts -w=TEXT!acts"""
)
_HARMLESS = Pattern(
    r"(?i)(?:stricthostkeychecking|connecttimeout|connectionattempts|batchmode|loglevel|serveralive\w+|identitiesonly"
    r"|passwordauthentication|pubkeyauthentication|kbdinteractiveauthentication|preferredauthentications|tcpkeepalive|port|user"
    r"|hostname|addressfamily|compression|requesttty|visualhostkey|checkhostip|hostkeyalias|numberofpasswordprompts"
    r"|forwardagent|forwardx11|identityfile)[= ].*|(?i:(?:global|user)knownhostsfile)[= ]/dev/null"
)
_FORWARDS = Pattern(r"(?i)(?:remoteforward|tunnel(?:device)?|gatewayports)[= ]+(?!no\b)")
_OPEN_PORT = Pattern(r"(?:0\.0\.0\.0|\*|\[?::\]?)?:")  # of all addresses of this machine
_PLACES = Pattern(r"(?i)(?:(?:hostname|proxyjump)[= ]+(?P<host>.*)|include[= ].*)", DOTALL)
_COMMANDS = Pattern(r"(?i)(?:proxycommand|localcommand|knownhostscommand)[= ](?P<command>.*)", DOTALL)


def ssh(line: CommandLine) -> None:
    """`ssh [options] host [options] [command…]`; a command runs on the other machine."""
    builder = line.builder
    first = parse(line.words, _SSH, style="posix")
    second = parse(first.operands[1:], _SSH, style="posix")
    for parsed in (first, second):
        builder.flags.update(parsed.flags)
        builder.acts = builder.acts or bool(parsed.doubts)
        line.apply_options(parsed.given)
        for value in parsed.values("-o"):
            ssh_setting(builder, value)
        if parsed.has("-R", "-w", "-g") or any(
            map(_OPEN_PORT.match, map(shown, parsed.values("-D") + parsed.values("-L")))
        ):
            builder.danger("exposes")
        if parsed.values("-F"):
            builder.fetch(Arg("the host that the settings of -F name"))
    if first.has("-V", "-Q") or not first.operands:
        return
    _host(builder, first.operands[0])
    if first.has("-G") or second.has("-G"):
        return
    builder.operands.extend(shown(word) for word in (first.operands[0], *second.operands))
    builder.execute()
    if second.operands:
        builder.shell(joined_words(second.operands), place="elsewhere")


def ssh_setting(builder: EffectsBuilder, word: Word) -> None:
    """`-o Key=value`: harmless for some keys, else EXECUTE; a command in it counts as run."""
    for text in values(word):
        if text is None:
            builder.execute()
            builder.fetch(Arg(shown(word)))
            continue
        text = text.strip()
        if not _HARMLESS.fullmatch(text):
            builder.execute()
        if _FORWARDS.match(text):
            builder.danger("exposes")
        if match := _COMMANDS.fullmatch(text):
            builder.shell(match["command"].strip())
        if place := _PLACES.fullmatch(text):
            builder.fetch(place["host"].strip() if place["host"] else Arg(shown(word)))


def _host(builder: EffectsBuilder, word: Word, *, dangers: tuple[str, ...] = ()) -> None:
    text = literal(word)
    host = host_of(text.removeprefix("ssh://").rpartition("@")[2]) if text is not None else word
    builder.fetch(host, dangers=dangers)


# ---------------------------------------------------------------- copies

_REMOTE = Pattern(r"(?:rsync|scp|sftp)://.*|[^/]*:.*", DOTALL)


def scp(line: CommandLine) -> None:
    """`scp` and `sftp`: `host:path` is on another machine."""
    line.read_options()
    for value in line.parsed.values("-o"):
        ssh_setting(line.builder, value)
    line.builder.execute()
    _copied(line, line.is_recursive())


def rsync(line: CommandLine) -> None:
    """`rsync`: as scp; between local folders it is a copy; the row marks deletions as dangers."""
    line.read_options()
    _copied(line, True)
    deletes = any("recursive-delete" in given.option.dangers for given in line.parsed.given)
    if deletes and not line.quiet and line.parsed.operands:
        if _away(line.parsed.operands[-1]):
            line.builder.execute()
        else:
            line.builder.path(DELETE, line.parsed.operands[-1], recursive=True)


def _copied(line: CommandLine, recursive: bool) -> None:
    builder, words = line.builder, line.parsed.operands
    away = len(words) > 1 and _away(words[-1])
    for word in words[:-1] or words:
        _source(line, word, recursive, SENT if away else ())
    if line.quiet or len(words) < 2:
        return
    if away:
        _place(builder, words[-1], SENT)
    else:
        into(builder, [word for word in words[:-1] if not _away(word)], words[-1], recursive=recursive)


def _source(line: CommandLine, word: Word, recursive: bool, dangers: tuple[str, ...]) -> None:
    if _away(word):
        _place(line.builder, word, ())
    else:
        line.builder.path(READ, word, recursive=recursive, dangers=dangers, stays=recursive and line.stays())


def _away(word: Word) -> bool:
    if isinstance(word, str):
        return bool(_REMOTE.fullmatch(word))
    return bool(_REMOTE.fullmatch(word.prefix)) or (
        word.values is not None and any(map(_REMOTE.fullmatch, word.values))
    )


def _place(builder: EffectsBuilder, word: Word, dangers: tuple[str, ...]) -> None:
    text = shown(word)
    if "://" in text:
        builder.fetch(text, dangers=dangers)
    else:
        _host(builder, text.partition(":")[0], dangers=dangers)


# ---------------------------------------------------------------- containers

_DOCKER_VALUES = frozenset(
    """-e --env --env-file -u --user -w --workdir --detach-keys --index -v --volume --mount -p --publish --name
    --network --net -h --hostname -l --label --label-file --entrypoint --platform -m --memory --cpus -c
    --cpu-shares --cpuset-cpus --gpus --device --dns --add-host --ip --link --log-driver --log-opt --mac-address
    --memory-swap --pid --ipc --uts --userns --restart --runtime --security-opt --shm-size --stop-signal
    --sysctl --tmpfs --ulimit --volumes-from --cap-add --cap-drop --cgroup-parent --cidfile --expose --group-add
    --health-cmd --isolation --network-alias --pids-limit --pull --storage-opt --annotation --volume-driver
    --stop-timeout --secret -a --attach -f --file --project-name -n --namespace --container --context --cluster
    --kubeconfig --as --request-timeout --pod-running-timeout --image --overrides --env-from""".split()
)


_SOURCE = Pattern(r"(?:source|src)=")
_READ_ONLY = Pattern(r":ro\b|readonly|,ro\b")


def elsewhere(line: CommandLine) -> None:
    """`docker exec`, `docker run`, `kubectl exec`: the rest runs in the first operand. Always EXECUTE."""
    builder = line.builder
    builder.execute()
    builder.flags.update(line.parsed.flags)
    words = line.words
    dashed = line.program in ("kubectl", "oc") and "--" in words
    command = words[words.index("--") + 1 :] if dashed else _operands(builder, words)[1:]
    builder.operands.extend(shown(word) for word in line.parsed.operands)
    builder.run(command, place="elsewhere")


_PROJECT = tuple(
    f"^{name}{override}.{ending}"
    for name in ("compose", "docker-compose", "podman-compose", "container-compose")
    for override in ("", ".override")
    for ending in ("yaml", "yml")
)
# References in a project's file to the environment or other files, and escapes that could hide them.
_FILLED = r"~[$]|environment|env_file|label_file|\bargs\b|extends|\\(?:[xuU]|\r?\n)|!<|!\S*(?:binary|%)"


def compose(line: CommandLine) -> None:
    """`docker compose ps` and similar: file names are relative to the current folder, not the project's. `config`
    prints the project with values from the environment."""
    line.standard()
    given = {name for each in (*line.before, *line.parsed.given) for name in each.option.names}
    if "--project-directory" in given and "--file" in given:
        line.builder.execute()
    if line.builder.subcommand[-1:] in (("config",), ("convert",)) and not line.quiet:
        line.builder.settings(tuple(name + _FILLED for name in (*_PROJECT, "{}")), ("prints-secret",))


def _operands(builder: EffectsBuilder, words: list[Word]) -> list[Word]:
    """The words from the first operand on; records mounted folders on the way."""
    index = 0
    while index < len(words):
        text = shown(words[index])
        if text == "--":
            return words[index + 1 :]
        if text[:1] != "-" or len(text) < 2:
            return words[index:]
        name, equals, value = text.partition("=")
        index += 1
        if name in ("-v", "--volume", "--mount"):
            _mount(builder, value if equals else shown(words[index]) if index < len(words) else "")
        index += name in _DOCKER_VALUES and not equals
    return []


def _mount(builder: EffectsBuilder, text: str) -> None:
    """A folder of this machine in a container: the container can read it, and write it unless it says `ro`."""
    source = text.partition(":")[0]
    if "source=" in text or "src=" in text:
        source = _SOURCE.split(text, maxsplit=1)[1].partition(",")[0]
    if not source.startswith(("/", ".", "~")):
        return
    here = path_target(source, builder.cwd, builder.home).name
    if builder.cwd and f"{here}/".startswith(f"{builder.cwd}/") and "/." not in here[len(builder.cwd) :]:
        # The code in the container may do the same there as code that runs in this folder.
        before = len(builder.effects)
        apply(builder, "READ", source, recursive=True)
        builder.effects[before:] = [effect.but(via=Via.TOLD) for effect in builder.effects[before:]]
    else:
        apply(builder, "READ" if _READ_ONLY.search(text) else "EDIT", source, recursive=True)


# ---------------------------------------------------------------- APIs of forges

_WHOLE_REPOSITORY = Pattern(r"/?(?:repos/[^/]+/[^/]+|projects/[^/]+|orgs/[^/]+)/?")
_ADDRESS = Pattern(r"\w+://")
_NAMED = Pattern(r"/?(?:repos|orgs|users|projects|search|gists|issues|notifications)/")
_MUTATES = Pattern(r"\bmutation\b")
_OPENS = Pattern(r"visibility=public|private=false")
_CHANGES_REPOSITORY = Pattern(r"(?:visibility|private|archived|default_branch|name)=")
_SHARED = Pattern(
    r"/(?:secrets|variables|keys|gpg_keys|collaborators|protection|rulesets|hooks|transfer|memberships|invitations"
    r"|environments|actions/permissions|git/refs)(?:/|$)"
)
_MERGES = Pattern(r"/(?:merge|merges|releases|deployments|dispatches)(?:/[^/]*)?/?$")
_DESTROYING_FIELD = Pattern(r"\b(?:delete|remove|archive|transfer|unpublish|revoke)[A-Z]\w*\s*\(")
_MERGING_FIELD = Pattern(r"\b(?:merge|enablePullRequestAutoMerge|publish)[A-Z]?\w*\s*\(")


def gh_api(line: CommandLine) -> None:
    """`gh api`, `glab api`: GET and HEAD read, as does a GraphQL query that holds no mutation."""
    line.standard()
    builder, parsed = line.builder, line.parsed
    fields = parsed.values("--field") + parsed.values("--raw-field") + parsed.values("--form")
    for field in parsed.values("--field"):
        if "=@" in shown(field):
            builder.path(READ, shown(field).partition("=@")[2])
            builder.execute()  # the file is sent, by whatever method
    methods = [literal(value) for value in parsed.values("--method")]
    endpoint = _endpoint(parsed.operands[0]) if parsed.operands else None
    if endpoint == "graphql":
        _graphql(line, fields)
        return
    method = methods[-1] if methods else "POST" if fields or parsed.has("--input") else "GET"
    method = method.upper() if method is not None else None
    if method not in ("GET", "HEAD") or endpoint is None or parsed.has("--input"):
        builder.execute()
    whole = endpoint is not None and _WHOLE_REPOSITORY.fullmatch(endpoint) is not None
    if method == "DELETE":
        builder.danger("destroy-remote" if whole else "destroy")
    elif method not in ("GET", "HEAD") and endpoint is not None:
        _forge_change(builder, endpoint, [shown(field) for field in fields], whole=whole)


def _forge_change(builder: EffectsBuilder, endpoint: str, fields: list[str], *, whole: bool) -> None:
    """A change of what others see or may do: visibility, secrets, keys, protection, releases, merges."""
    if whole and any(map(_OPENS.fullmatch, fields)):
        builder.danger("destroy-remote")
    elif _SHARED.search(endpoint) or (whole and any(map(_CHANGES_REPOSITORY.match, fields))):
        builder.danger("destroy")
    elif _MERGES.search(endpoint):
        builder.danger("publish")


def gh_view(line: CommandLine) -> None:
    """`gh pr view --json number --jq .number` prints a number and nothing else."""
    line.standard()
    parsed = line.parsed
    asked = [literal(value) for name in ("--json", "--jq") for value in parsed.values(name)]
    if asked == ["number", ".number"] and not parsed.doubts and not parsed.spills and not parsed.has("--template"):
        line.builder.prints = "number"


def _endpoint(word: Word) -> str | None:
    """An endpoint, or its known beginning if that rules out GraphQL; None for others."""
    text = literal(word)
    if text is not None or isinstance(word, str):
        return None if text is None or _ADDRESS.match(text) else text
    starts = word.values or (word.prefix,)
    return starts[0] if all(map(_NAMED.match, starts)) else None


def _graphql(line: CommandLine, fields: list[Word]) -> None:
    queries = [literal(field) for field in fields if shown(field).startswith("query=")]
    known = len(queries) == 1 and not line.parsed.has("--input")
    text = (queries[0] or "").partition("=")[2].lstrip() if known else ""
    if not text.startswith(("query", "{", "fragment")) or _MUTATES.search(text):
        line.builder.execute()
        said = " ".join(shown(field) for field in fields)
        if _DESTROYING_FIELD.search(said):
            line.builder.danger("destroy")
        elif _MERGING_FIELD.search(said):
            line.builder.danger("publish")
