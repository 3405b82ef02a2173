"""Marks commands that destroy shared data or deploy, by the verbs among their words.

For programs that no table describes, and for clients of services, whose tables mostly list commands that only read. A
guess: it can add a prompt, never remove one."""

from __future__ import annotations

from collections.abc import Callable

from assent.contract import Kind, Pattern
from assent.effects.shell.command import CommandEffects
from assent.effects.shell.commands.command_effects import DESTROY, EffectsBuilder, Word, literal
from assent.programs.traits import has

Read = Callable[[tuple[Word, ...]], CommandEffects]
_WORD = Pattern(r"[A-Za-z][\w:.-]{0,60}")
_PIECE = Pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_LOCAL = Pattern(r"(?:/|\.{1,2}(?:/|$)|~).*|.*/|[^:@=]*\.[a-z][a-z0-9]{0,4}")
_REHEARSES = Pattern(
    r"--(?:dry[-_]?run|what-?if|preview|noop|no-op|simulate|help|plan|check|snapshot)(?:=(?!false|none|no$|0$).*)?"
)
_MOST_WORDS, _MOST_READ = 5, 40

# Verbs that destroy any object.
_DESTROYS = frozenset(
    """delete destroy drop purge wipe terminate deregister revoke unpublish truncate flush nuke obliterate decommission
    undeploy teardown undefine erase yank deprecate expunge flushall flushdb""".split()
)
# The same for clients of services: in other programs these mostly apply to files.
_REMOVES = _DESTROYS | frozenset(
    """remove rm rb del unset archive transfer disable deactivate suspend detach forget prune uninstall reset retire
    down refund refunds payout payouts unlink evict rebuild""".split()
)
_DEPLOYS = frozenset("deploy publish promote".split())
_CLIENT_DEPLOYS = _DEPLOYS | {"up", "push", "apply"}
# Further changes by clients of services; not by those for copies, forges and local machines.
_CHANGES = frozenset(
    """scale restart stop reboot rollback restore failover toggle drain cancel pause resume rotate taint maintenance
    deallocate redeploy rebalance reassign suspend seek evacuate cordon quarantine""".split()
)
_SETS = frozenset(
    "secret secrets config env variable variables var vars setting settings feature features flag".split()
)
_UNCHANGED = frozenset(
    """gh glab tea hub restic rustic borg borgmatic kopia duplicity rclone lxc incus virsh supabase firebase wrangler
    dagster prefect metabase tilt garden skaffold kubectl oc helm promtool cloudflared tailscale""".split()
)
_LOCALLY = frozenset("local --local dev emulators run".split())
# Verbs of the cloud clients that change existing objects; most others only read or create.
_CLOUD = Pattern(
    r"(?:stop|reboot|put|send|update|modify|restore|reset|replace|disassociate|enable|disable|execute|publish|batch-write|invoke"
    r"|cancel|reject|accept|failover|promote|start-(?:deployment|build|execution|pipeline)|rollback|set-(?:desired|load|rule|subnets))"
    r"(?:-.*)?|create-invalidation|batch-write-item|deallocate|redeploy|resize|failover|seek|drain|recreate-instances|clone-and-replace|swap|scale|restart|move"
)
_DEPLOYS_ALONE = frozenset({"vercel", "vc"})
_MORE_DEPLOYS = {
    "argocd": frozenset({"sync"}),
    "helmfile": frozenset({"sync"}),
    "eas": frozenset({"submit", "update"}),
    "heroku": frozenset({"container:release"}),
    "goreleaser": frozenset({"release"}),
    "fastlane": frozenset({"release", "beta"}),
}
_PASSED_ON = frozenset({"destroy", "destroy-remote", "deploy", "publish"})
_PUBLISHERS = frozenset({"semantic-release", "gh-pages", "release-it", "np", "surge"})
_MAILERS = frozenset("mail mailx s-nail nail sendmail mutt neomutt msmtp ssmtp swaks sendemail mpack mailsend".split())
_CLEANS = Pattern(r" (?:--clean|-[a-z]*c[a-z]*) (?!.*(?:--dbname[= ]|-d ?)\S*(?:test|dev|local|tmp))")
_MAILED = Pattern(r"@(?!localhost\b|127\.)|[$`]|--to")
_PUBLISH_FIRST = (["publish"], ["upload"], ["push"], ["hex.publish"])
# Verbs of cloud clients that change permissions, what runs, or DNS.
_GRANTS = Pattern(
    r"(?:attach|put|add|set|create)-[\w-]*(?:policy|policies|binding|permission|grant|acl|public-access-block)[\w-]*"
    r"|create-login-profile|stop-logging|update-detector|create-access-key|firewall-rules|nsg|put-bucket-website"
    r"|authorize-security-group-\w+|change-resource-record-sets|update-function-\w+|update-service|update-stack\S*"
    r"|create-stack\S*|execute-change-set|create-deployment|close-account|leave-organization|start-pipeline-execution"
)
# Verbs that destroy only if the object is kept by a service.
_RESETS = frozenset("reset clean remove rm".split())
_SHARED = frozenset(
    """db database databases schema schemas cluster clusters bucket buckets queue queues topic topics namespace
    namespaces tenant tenants account accounts org organization organizations project projects stack stacks environment
    environments env deployment deployments secret secrets credential credentials token tokens key keys index indexes
    indices collection collections user users instance instances server servers vm vms volume volumes snapshot snapshots
    backup backups record records dns domain domains zone zones subscription subscriptions customer customers""".split()
)
_WHOLE_OR_SHARED = _SHARED | {"all", "everything", "data"}
# Words that are followed by names and texts, not by verbs.
_OTHERWISE = frozenset(
    """help add new create generate make list ls show get describe test tests lint build search find grep docs explain
    man view init run exec watch dev start serve print format fmt check doc spec story log logs install i info status
    import export edit comment close open reopen review diff checkout clone fork""".split()
)
_CREATES = frozenset("help create new comment edit view list".split())
_FLAGS = frozenset(
    """-y --yes -f --force --no-input --noinput --non-interactive --quiet -q --verbose -v --debug --all -A --recursive
    -r --now --purge --cascade --auto-approve""".split()
)
_SELECTS = frozenset("-k -t -g -m --grep --filter --message --title --body --name --match --only --tags --tag".split())
# Tasks that empty a database, by the names that frameworks give them: `db:drop`, `migrate:fresh`, `ecto.reset`.
_DATABASE_TASK = Pattern(
    r"(?:[\w-]+[:.])?(?:db|database|ecto|schema|migrate|migrations?|mongo|pg)[:.](?:[\w-]+[:.])*"
    r"(?:drop|drop[-_]?all|reset|replant|purge|wipe|nuke|truncate|truncate_all|flush|fresh|refresh|clean|destroy|delete"
    r"|undo:all|schema:load)(?:[:_-](?:all|force|prod|production|staging|dev|test|local|_unsafe))?|db:schema:load"
)
# Removals from a registry, or of its publishers.
_REGISTRY = Pattern(
    r" (?:unpublish|deprecate|yank|(?:hex\.)?retire|hex\.publish .*--revert|nuget delete|trunk (?:delete|deprecate)"
    r"|(?:owner|author|access|dist-tags?|token|team|org|hook) (?:rm|remove|revoke|del|delete|destroy)"
    r"|owner .*--?(?:remove|r)\b.*) "
)
# Every marked text contains one of these: without them nothing is compiled.
_SOUGHT = (
    *(
        *_REMOVES,
        *_DEPLOYS,
        *_RESETS,
        "release",
        "upload",
        "up",
        "push",
        "submit",
        "beta",
        "gh-pages",
        "apply",
        "sync",
        "undo",
    ),
    *"fresh zero schema:load policy policies binding permission -grant record-sets update- -stack change-set".split(),
    *"create-d close-account leave-org pipeline-exec login-profile security-group --all revert stop-logging".split(),
    *"access-key -acl public-access firewall-rules -website nsg".split(),
    *_CHANGES,
    *"replant set put- send- modify- enable- execute- batch-write invoke publish accept- reject- start-".split(),
    "invalidation",
)
_STEP_BACK = Pattern(r"(?:db|database|ecto|schema|migrate|migrations?)[:.](?:[\w-]+[:.])*(?:rollback|undo|down|revert)")
_EVERYTHING = Pattern(r" (?:--all|--to[ =]0|zero) ")
_MIGRATES = Pattern(r" ef database drop | (?:drop|force) | down (?![1-9])")
_DJANGO = frozenset("flush reset_db sqlflush_run clear_db drop_test_database delete_all_data".split())


def add(builder: EffectsBuilder, words: list[Word], *, known: bool, read: Read) -> None:
    """Mark a command that is not proved by the verbs among its words. `known`: some row describes them; `read` reads
    another command line."""
    program = builder.program
    text = " ".join(word if isinstance(word, str) else word.text for word in words[:_MOST_READ]).lower()
    if (program in _PUBLISHERS or (not words and program in _DEPLOYS_ALONE)) and "--dry-run" not in text:
        builder.danger("publish" if program in _PUBLISHERS else "deploy")
    if program == "pg_restore" and _CLEANS.search(f" {text} "):
        builder.danger("destroy")
    if program in _MAILERS and _MAILED.search(text):
        builder.danger("publish")
    if not any(map(f"{program} {text}".__contains__, _SOUGHT)):
        return  # most commands
    texts = [text for text in map(literal, words) if text is not None]
    if any(map(_REHEARSES.fullmatch, texts)):
        if "--dry-run" in texts and "false" not in texts and has(program, "package-manager"):
            builder.dangers = [danger for danger in builder.dangers if danger != "publish"]
        return
    if _database_task(program, words, text):
        builder.danger("destroy")
        return
    if has(program, "maybe-python") and "-m" in texts[:4]:
        _passed_on(builder, read(tuple(words[words.index("-m") + 1 :])) if words[-1] != "-m" else None)
        return
    first = (literal(words[0]) if words else None) or "-"
    if has(program, "package-scripts") and not builder.subcommand and not has(first, "package-scripts"):
        _passed_on(builder, read(tuple(words)))
    elif has(program, "package-scripts") and first in ("exec", "x", "dlx") and len(words) > 1:
        _passed_on(builder, read(tuple(word for word in words[1:] if word != "--")))
    if has(program, "package-manager") and _REGISTRY.search(f" {program} {text} "):
        builder.danger("destroy")
        return
    client = has(program, "service-client")
    named = _named(words, client=client)
    if _publishing(builder, named, texts):
        builder.danger("publish")
        return
    if not client and (known or _is_local(program)):
        return
    destroys = _destroying(named, client=client) or any(map(_destroying_option, texts)) or _is_named_so(builder)
    if destroys and (client or not _names_files(words)):
        builder.danger("destroy")
    elif _deploying(program, named, client=client) or (client and any(map(_GRANTS.fullmatch, named))):
        builder.danger("deploy")
    elif client and _changing(program, named, texts):
        builder.danger(*(() if "destroy" in builder.dangers else ("deploy",)))


def _passed_on(builder: EffectsBuilder, inner: CommandEffects | None) -> None:
    """`pnpm prisma …` and `python -m twine …` may run a program of that name: its marks count here too."""
    for effect in inner.effects if inner is not None else ():
        if effect.operation is DESTROY or not _PASSED_ON.isdisjoint(effect.dangers):
            builder.dangers += [danger for danger in effect.dangers if danger in _PASSED_ON]


def _publishing(builder: EffectsBuilder, named: list[str], texts: list[str]) -> bool:
    """Whether it publishes a package or an image."""
    program = builder.program
    if has(program, "container-client"):
        return "push" in builder.subcommand or "push" in named[:2] or "--push" in texts
    return has(program, "package-manager") and (named[:1] in _PUBLISH_FIRST or named[:2] == ["trunk", "push"])


def _is_local(program: str) -> bool:
    """Whether an unknown program acts on local files and packages."""
    if has(program, "package-manager") or has(program, "wrapper") or has(program, "local-verbs"):
        return True
    return has(program, "interpreter") or has(program, "single-purpose")


def _names_files(words: list[Word]) -> bool:
    """Whether an operand is a path on this machine."""
    before = ""
    for word in words:
        text = literal(word)
        if text is not None and text[:1] != "-" and before[:1] != "-" and "://" not in text and _LOCAL.fullmatch(text):
            return True
        before = text or ""
    return False


def _named(words: list[Word], *, client: bool) -> list[str]:
    """The words that may be verbs: leading names, not the values of options."""
    found: list[str] = []
    before = ""
    for word in words:
        text = literal(word)
        if text == "--" or len(found) == _MOST_WORDS:
            break
        option = before if before[:1] == "-" and "=" not in before else ""
        before = text or ""
        if text is None or text[:1] == "-" or not _WORD.fullmatch(text):
            continue
        if (option in _SELECTS and not client) or (found and option and option not in _FLAGS):
            continue
        if text.lower() in (_CREATES if client else _OTHERWISE):
            break
        found.append(text)
    return found


def _pieces(word: str) -> list[str]:
    return [piece.lower() for piece in _PIECE.findall(word)]


def _destroying(named: list[str], *, client: bool) -> bool:
    verbs = _REMOVES if client else _DESTROYS
    everything = {piece for word in named for piece in _pieces(word)}
    for place, word in enumerate(named):
        pieces = _pieces(word)
        if len(pieces) == 1:
            if pieces[0] in verbs or (pieces[0] in _RESETS and not everything.isdisjoint(_SHARED)):
                return True
        elif pieces and (client or place == 0 or ":" in word):
            ends = pieces if client and place < 3 else [pieces[0], pieces[-1]]
            if not _DESTROYS.isdisjoint(ends) or (
                client and (pieces[0] in verbs or (":" in word and pieces[-1] in verbs))
            ):
                return True
            if not _RESETS.isdisjoint(ends) and not _SHARED.isdisjoint(pieces):
                return True
    return False


def _is_named_so(builder: EffectsBuilder) -> bool:
    """`k3s-uninstall.sh`, `drop-tenant`: a program in PATH whose own name is a verb. A script of the folder is read
    instead."""
    if any(effect.target.kind is Kind.PATH for effect in builder.effects):
        return False
    pieces = _pieces(builder.program)
    return (len(pieces) > 1 and not _DESTROYS.isdisjoint(pieces)) or "uninstall" in pieces[1:]


def _destroying_option(text: str) -> bool:
    """`--delete-all`, `--wipe`, `--drop-database`: an option that is a destroying verb."""
    pieces = _pieces(text) if text[:2] == "--" and "=" not in text else []
    return bool(pieces) and pieces[0] in _DESTROYS and (len(pieces) == 1 or pieces[1] in _WHOLE_OR_SHARED)


def _changing(program: str, named: list[str], texts: list[str]) -> bool:
    """Whether a client of a service stops, scales, restores or sets what others use."""
    if program in _UNCHANGED or not _LOCALLY.isdisjoint(texts):
        return False
    if has(program, "cloud-client"):
        return any(map(_CLOUD.fullmatch, named[1:])) and named[:1] not in (["configure"], ["config"], ["auth"])
    pieces = [piece for word in named for piece in _pieces(word)]
    return not _CHANGES.isdisjoint(pieces[:4]) or ("set" in pieces and not _SETS.isdisjoint(pieces))


def _deploying(program: str, named: list[str], *, client: bool) -> bool:
    if has(program, "task-runner"):
        return False  # the commands of its task tell more than its name
    verbs = _CLIENT_DEPLOYS if client else _DEPLOYS
    if program in _MORE_DEPLOYS and not _MORE_DEPLOYS[program].isdisjoint(named):
        return True
    for place, word in enumerate(named[:3]):
        pieces = _pieces(word)
        if not pieces or pieces[-1] == "local":
            continue
        if (len(pieces) == 1 or client or place == 0) and (pieces[0] in verbs or pieces[-1] in verbs):
            return True
    return False


def _database_task(program: str, words: list[Word], whole: str) -> bool:
    if program in ("migrate", "dotnet") and _MIGRATES.search(f" {whole} "):
        return True
    everything = _EVERYTHING.search(f" {whole} ") is not None
    script = False
    for word in words:
        text = literal(word)
        if text is None or text[:1] == "-":
            continue
        if script and text in _DJANGO:
            return True
        script = text.rpartition("/")[2] in ("manage.py", "django-admin")
        if (":" in text or "." in text) and (
            _DATABASE_TASK.fullmatch(text) or (everything and _STEP_BACK.fullmatch(text))
        ):
            return True
        if everything and text == "migrate" and "manage.py" in whole:
            return True
    return False
