"""The dangers: marks on effects that rules match as `danger(id)`.

Most come from the parser of a command; those that depend on the targets of paths are found here."""

from __future__ import annotations

from assent.contract import Effect, Facts, Kind, Operation, Pattern
from assent.contract.secret_files import is_environment_file

DANGERS: dict[str, str] = {
    "attacks": "scans, floods or breaks into other machines",
    "broad-delete": "deletes a whole root: the system, a home folder, the workspace or a folder that contains one",
    "broad-write": "deletes, empties or overwrites all files of a whole root, or of a folder of the home",
    "broad-mode": "changes owners or permissions of a whole root",
    "built-code": "runs code that is built at run time and cannot be read beforehand",
    "checks-off": "switches off programs' security checks, or changes what they trust",
    "deploy": "changes what runs for others",
    "destroy": "destroys data that others share or that cannot be restored",
    "destroy-remote": "destroys something in production or in the cloud",
    "discard-work": "throws away uncommitted work, or commits that nothing else refers to",
    "ends-others": "ends processes that it did not start",
    "exfiltration": "sends local data to the network",
    "exfiltration-secret": "sends a secret to the network",
    "force-push": "overwrites or removes what others may have fetched",
    "force-push-main": "overwrites a shared branch by name",
    "exposes": "exposes this machine, or a service on it, to others",
    "fills": "fills memory or a disk without end",
    "fork-bomb": "starts processes without end",
    "format-disk": "formats or partitions a disk",
    "history-rewrite": "rewrites or drops history",
    "install": "installs packages",
    "irreversible": "a tool whose name or arguments say that it sends, pays, publishes or destroys",
    "kill-all": "ends every process it can reach",
    "metadata-address": "reaches a cloud's metadata service",
    "mode-change": "changes owners or permissions",
    "obfuscated": "runs text that it decodes first",
    "persistence": "installs something that runs again later",
    "power": "stops or restarts the machine",
    "prints-secret": "prints a secret",
    "privilege": "runs with another user's privileges",
    "publish": "publishes to others",
    "push": "sends commits to a remote",
    "push-default": "sends commits to the default branch, or to one that others share",
    "raw-device": "writes to a raw device",
    "recursive-delete": "deletes folders with everything in them",
    "remote-code": "runs code straight from the network",
    "remote-install": "installs code from an address, not from a registry",
    "reverse-shell": "hands a shell to another machine",
    "security-off": "switches off a firewall, an audit log or another protection",
    "self": "changes Assent itself",
    "spies": "records what a person types, copies, says or shows",
    "system-change": "changes the machine's accounts, services, protections, packages or settings",
}

# Marks that count together with their target: all files of a folder are affected; the target's content is lost.
EVERY_FILE, EMPTIES = "every-file", "empties"
_PLACED = (EVERY_FILE, EMPTIES)
TEMPORARY = "temporary-tree"  # a folder among temporary files is deleted with everything in it
THERE = "discard-there"  # discards work if its target exists, like `git checkout name` for a file

# Marks that hold unless facts disprove them: the destination of a push.
IF_NOT = {"push-default-if": "push-default", "exfiltration-if": "exfiltration"}

# Marks that make a question high-risk.
HIGH = frozenset(DANGERS) - {"install", "mode-change"}

SYSTEM_TREES = frozenset(
    "/bin /boot /dev /etc /home /lib /lib32 /lib64 /media /mnt /opt /proc /root /run /sbin /srv /sys /usr /var "
    "/Applications /Library /System /Users /Volumes /private /private/etc /private/var "
    "/usr/bin /usr/lib /usr/local /usr/local/bin /usr/sbin /usr/share /usr/include /var/lib /var/log "
    "/etc/ssh /etc/systemd /var/lib/docker /var/lib/dpkg /var/lib/postgresql /var/lib/mysql /c /mnt/c".split()
)
METADATA_HOSTS = frozenset(
    {
        "169.254.169.254",
        "169.254.170.2",
        "169.254.169.253",
        "fd00:ec2::254",
        "metadata.google.internal",
        "metadata",
        "metadata.azure.com",
        "metadata.azure.internal",
        "100.100.100.200",
        "192.0.0.192",
        "169.254.0.23",
        "168.63.129.16",
        "metadata.goog",
        "metadata.tencentyun.com",
        "instance-data",
        "instance-data.ec2.internal",
    }
)
# An address with at least five known characters of the host, but not all.
_OPEN_HOST = Pattern(r"(?:[A-Za-z][\w+.-]*://)?(?:[^/@\s]*@)?\[?([\w.:-]{5,})[$`*?\[{]")


_SCRATCH = Pattern(r"(?:/private)?/(?:var/)?tmp/[^/*?\[{]+(?:/.*)?")
# Folders of temporary files, and of what builds and caches fill again.
_REFILLED = frozenset(
    "tmp temp .tmp scratch .cache cache caches log logs _logs .trash trash dist build out target coverage node_modules "
    "__pycache__ .npm .gradle .next .turbo deriveddata .pytest_cache .mypy_cache .ruff_cache".split()
)
_ANYTHING = frozenset(("*", ".*", "**", "{*,.*}", "[!.]*", ".[!.]*", "*.*", "?*"))


def found_in(effect: Effect, names: tuple[str, ...], facts: Facts) -> tuple[str, ...]:
    """The effect's own marks and those that follow from its target: where that is, and whether it exists."""
    marks = effect.dangers
    if marks and (EVERY_FILE in marks or EMPTIES in marks):
        return _lost(effect, names, facts)
    if marks and THERE in marks:
        discards = ("discard-work",) if effect.target.name not in facts.absent else ()
        marks = (*(mark for mark in marks if mark != THERE), *discards)
    if marks and effect.target.kind is Kind.HOOKS:
        return tuple(IF_NOT.get(mark, mark) for mark in marks) if facts.hooks.get(effect.target.name) != "" else ()
    if effect.target.kind is Kind.HOST:
        name = effect.target.name
        told = is_metadata(name) if name else _begins_metadata(effect.target.text)
        return (*marks, "metadata-address") if told else marks
    if effect.target.kind is Kind.SETTINGS and effect.target.certain and facts.settings.get(effect.target.name) == "":
        return ()
    if effect.target.kind is not Kind.PATH:
        return marks
    if "exfiltration" in marks and any(map(is_environment_file, names)):
        return (*marks, "exfiltration-secret")
    if effect.operation is Operation.DELETE and (
        effect.target.name in facts.fresh or effect.target.name in facts.plain
    ):
        return tuple(mark for mark in marks if mark != "recursive-delete")
    if "recursive-delete" in marks and effect.operation is Operation.DELETE and _is_scratch(effect, names, facts):
        marks = tuple(mark if mark != "recursive-delete" else TEMPORARY for mark in marks)
    if effect.operation is Operation.DELETE and (effect.recursive or effect.target.pattern):
        if not effect.target.name and effect.recursive:
            names = effect.target.under if len(effect.target.under) == 1 else ()
        if any(is_broad(name, facts) for name in names):
            return (*marks, "broad-delete")
        if not effect.recursive and any(_is_kept_folder(name, facts) for name in names):
            return (*marks, "broad-write")
    elif "mode-change" in marks and any(
        is_broad(name, facts) and (effect.recursive or name == "/" or name in SYSTEM_TREES) for name in names
    ):
        return (*marks, "broad-mode")
    return marks


def _is_scratch(effect: Effect, names: tuple[str, ...], facts: Facts) -> bool:
    """Whether everything that is deleted is in a folder for temporary files and not in the workspace."""
    if not effect.target.name or not effect.target.certain or not names:
        return False
    return all(map(_SCRATCH.fullmatch, names)) and not any(
        name == root or name.startswith(root + "/") or root.startswith(name + "/")
        for name in names
        for root in (*facts.roots, facts.home)
    )


def _lost(effect: Effect, names: tuple[str, ...], facts: Facts) -> tuple[str, ...]:
    """The marks of an effect on all files of a folder, or of one that truncates its target."""
    marks, target = effect.dangers, effect.target
    found = found_in(effect.but(dangers=tuple(mark for mark in marks if mark not in _PLACED)), names, facts)
    deletes = effect.operation is Operation.DELETE
    if target.kind is not Kind.PATH or not (deletes or EMPTIES in marks):
        return found
    places = target.under if EVERY_FILE in marks else names if target.pattern else ()
    broad = [name for name in places if is_broad(name, facts)]
    # One command for each file of the workspace, as `find . -exec rm {} +`, leaves its folders: a person is asked.
    mark = "broad-delete" if deletes and (effect.recursive or not set(broad) <= set(facts.roots)) else "broad-write"
    if not broad and target.pattern and any(_is_kept_folder(name, facts) for name in names):
        mark, broad = "broad-write", [*names]
    return (*found, mark) if broad and mark not in found else found


def is_broad(name: str, facts: Facts) -> bool:
    """Whether a path, or a glob over the whole content of a folder, is a root that much depends on."""
    folder, _, last = name.rpartition("/")
    while last in _ANYTHING:
        name = folder or "/"
        folder, _, last = folder.rpartition("/")
    if name in ("/", "/root") or name in SYSTEM_TREES or name.rpartition("/")[0] in ("/home", "/Users"):
        return True
    roots = [root for root in facts.roots if root not in facts.linked] if facts.linked else facts.roots
    return any(root == name or root.startswith(name + "/") for root in (facts.home, *roots))


def _is_kept_folder(name: str, facts: Facts) -> bool:
    """Whether a glob is over all files of a folder of the home, outside the workspace, that no tool fills again."""
    folder, _, last = name.rpartition("/")
    if last not in _ANYTHING or not facts.home or not folder.startswith(facts.home + "/"):
        return False
    if any(folder == root or folder.startswith(root + "/") for root in facts.roots):
        return False
    return _REFILLED.isdisjoint(part.lower() for part in folder[len(facts.home) :].split("/"))


def _begins_metadata(address: str) -> bool:
    """Whether an address with a partly known host may be that of a metadata service."""
    found = _OPEN_HOST.match(address)
    return found is not None and any(host.startswith(found[1].lower()) for host in METADATA_HOSTS)


def is_metadata(host: str) -> bool:
    """Whether a host is a metadata service, in any spelling of its address."""
    if host in METADATA_HOSTS:
        return True
    if host.endswith((".nip.io", ".sslip.io", ".xip.io")):
        host = host.rpartition(".")[0].rpartition(".")[0].replace("-", ".")
        parts = host.split(".")
        hexadecimal = len(parts[-1]) == 8 and all(letter in "0123456789abcdef" for letter in parts[-1])
        host = f"0x{parts[-1]}" if hexadecimal else ".".join(parts[-4:])
    groups = _groups(host) if ":" in host else None
    if groups is None:
        return as_address(host) in _METADATA_4
    if groups[0] == 0x2002:  # 6to4
        return (groups[1] << 16) + groups[2] in _METADATA_4
    carried = groups[:6] in _CARRIERS and (groups[6] << 16) + groups[7] in _METADATA_4
    return carried or tuple(groups[:2]) in _METADATA_6


_METADATA_4 = frozenset(
    (a << 24) + (b << 16) + (c << 8) + d
    for a, b, c, d in (
        *((169, 254, c, d) for c, d in ((169, 254), (169, 253), (170, 2), (170, 23), (0, 23), (10, 10), (42, 42))),
        *((100, 100, 100, 200), (168, 63, 129, 16), (192, 0, 0, 192)),
    )
)
_METADATA_6 = frozenset({(0xFD00, 0xEC2), (0xFD20, 0xCE), (0xFD00, 0x42)})
# Prefixes of an IPv4 address in IPv6: none, mapped, translated, NAT64.
_CARRIERS = ([0] * 6, [0, 0, 0, 0, 0, 0xFFFF], [0, 0, 0, 0, 0xFFFF, 0], [0x64, 0xFF9B, 0, 0, 0, 0])


def _groups(host: str) -> list[int] | None:
    """The eight numbers of an IPv6 address; None if the text is not one."""
    text = host.lower().strip("[]").partition("%")[0]
    head, _, last = text.rpartition(":")
    if "." in last:
        number = as_address(last)
        if number is None:
            return None
        text = f"{head}:{number >> 16:x}:{number & 0xFFFF:x}"
    left, double, right = text.partition("::")
    try:
        before = [int(group, 16) for group in left.split(":")] if left else []
        after = [int(group, 16) for group in right.split(":")] if right else []
    except ValueError:
        return None
    missing = 8 - len(before) - len(after)
    if missing < 0 or (missing and not double):
        return None
    return [*before, *[0] * missing, *after]


def as_address(host: str) -> int | None:
    """The number of an IPv4 address as `inet_aton` reads it: decimal, octal or hex, one to four parts; also mapped
    into IPv6."""
    text = host.lower().strip("[]")
    mapped = text.startswith("::ffff:")
    text = text.removeprefix("::ffff:")
    parts = text.split(".")
    try:
        if mapped and ":" in text:
            high, _, low = text.partition(":")
            return (int(high, 16) << 16) + int(low, 16)
        numbers = [_number(part) for part in parts]
    except ValueError:
        return None
    if len(parts) > 4:
        return None
    value = 0
    for number in numbers[:-1]:
        value = (value << 8) + number
    return (value << (8 * (5 - len(parts)))) + numbers[-1]


def _number(text: str) -> int:
    if text.startswith("0x"):
        return int(text[2:], 16)
    if text.startswith("0") and len(text) > 1:
        return int(text, 8)
    if not text.isascii() or not text.isdigit():
        raise ValueError(text)
    return int(text)
