"""The dangers: marks on effects that rules match as `danger(id)`.

Most come from the parser of a command; those that depend on where paths lead are found here."""

from __future__ import annotations

from assent.contract import Effect, Facts, Kind, Operation, Pattern

DANGERS: dict[str, str] = {
    "broad-delete": "deletes a whole root: the system, a home folder, the workspace or what holds them",
    "broad-mode": "changes owners or permissions of a whole root",
    "destroy-data": "deletes data that containers, a local cluster or a service hold",
    "destroy-remote": "destroys something in production or in the cloud",
    "discard-work": "throws away uncommitted work, or commits that nothing else holds",
    "exfiltration": "sends local data to the network",
    "exfiltration-secret": "sends a secret to the network",
    "force-push": "overwrites or removes what others may have fetched",
    "force-push-main": "overwrites a shared branch by name",
    "fork-bomb": "starts processes without end",
    "format-disk": "formats or partitions a disk",
    "history-rewrite": "rewrites or drops history",
    "install": "installs packages",
    "kill-all": "ends every process it can reach",
    "metadata-address": "reaches a cloud's metadata service",
    "mode-change": "changes owners or permissions",
    "obfuscated": "runs text that was decoded on the way",
    "persistence": "installs something that runs again later",
    "power": "stops or restarts the machine",
    "prints-secret": "prints a secret",
    "privilege": "runs with another user's powers",
    "publish": "publishes to others",
    "push": "sends commits to a remote",
    "raw-device": "writes to a raw device",
    "recursive-delete": "deletes folders with all they hold",
    "remote-code": "runs code straight from the network",
    "reverse-shell": "hands a shell to another machine",
    "security-off": "switches off a firewall, an audit log or another guard",
    "self": "changes Assent itself",
}

THERE = "discard-there"  # discards work where its target is there, as `git checkout name` does of a file

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
# An address of which at least five characters of the host are known, and not all.
_OPEN_HOST = Pattern(r"(?:[A-Za-z][\w+.-]*://)?(?:[^/@\s]*@)?\[?([\w.:-]{5,})[$`*?\[{]")


def found_in(effect: Effect, names: tuple[str, ...], facts: Facts) -> tuple[str, ...]:
    """The effect's own marks and those that follow from where its target leads, or from whether it is there."""
    marks = effect.dangers
    if marks and THERE in marks:
        discards = ("discard-work",) if effect.target.name not in facts.absent else ()
        marks = (*(mark for mark in marks if mark != THERE), *discards)
    if effect.target.kind is Kind.HOST:
        name = effect.target.name
        told = is_metadata(name) if name else _begins_metadata(effect.target.text)
        return (*marks, "metadata-address") if told else marks
    if effect.target.kind is Kind.SETTINGS and effect.target.certain and facts.settings.get(effect.target.name) == "":
        return ()
    if effect.target.kind is not Kind.PATH:
        return marks
    if effect.operation is Operation.DELETE and (effect.recursive or effect.target.pattern):
        if not effect.target.name and effect.recursive:
            names = effect.target.under if len(effect.target.under) == 1 else ()
        if any(is_broad(name, facts) for name in names):
            return (*marks, "broad-delete")
    elif "mode-change" in marks and any(
        is_broad(name, facts) and (effect.recursive or name == "/" or name in SYSTEM_TREES) for name in names
    ):
        return (*marks, "broad-mode")
    return marks


def is_broad(name: str, facts: Facts) -> bool:
    """Whether a path, or a glob over all that a folder holds, is a root that much depends on."""
    folder, _, last = name.rpartition("/")
    if last in ("*", ".*", "**", "{*,.*}", "[!.]*", ".[!.]*", "*.*", "?*"):
        name = folder or "/"
    if name in ("/", "/root") or name in SYSTEM_TREES or name.rpartition("/")[0] in ("/home", "/Users"):
        return True
    return any(root == name or root.startswith(name + "/") for root in (facts.home, *facts.roots))


def _begins_metadata(address: str) -> bool:
    """Whether an address whose host is known only in its beginning may be one of a metadata service."""
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
# What stands before an IPv4 address in one of IPv6: nothing, mapped, translated, NAT64.
_CARRIERS = ([0] * 6, [0, 0, 0, 0, 0, 0xFFFF], [0, 0, 0, 0, 0xFFFF, 0], [0x64, 0xFF9B, 0, 0, 0, 0])


def _groups(host: str) -> list[int] | None:
    """The eight numbers of an IPv6 address; None where it is none."""
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
