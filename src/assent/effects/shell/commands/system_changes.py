"""Marks commands that change the system: accounts, services, security software, packages, and the checks that other
programs make, by their words.

For commands that are not proved. It can add a prompt, never remove one."""

from __future__ import annotations

from assent.contract import Pattern
from assent.effects.shell.commands.command_effects import EffectsBuilder, Word, literal, shown
from assent.programs.traits import has

# Security software, by the names of services and processes.
_GUARD = Pattern(
    r"(?i)(?<![\w/.-])(?:ufw|firewalld?|ip6?tables|nftables|alf|com\.apple\.(?:alf|syspolicyd|xprotect)\S*"
    r"|auditd?|apparmor"
    r"|selinux\w*|fail2ban|sshguard|clam(?:av|d)[\w-]*|freshclam|falcon[\w-]*|crowdstrike\w*|wazuh[\w-]*|ossec[\w-]*"
    r"|osqueryd?|suricata|snort|aide|tripwire|rkhunter|sysmon|mdatp|sentinel(?:one|d|ctl)\w*|cbagentd|cbdaemon"
    r"|r?syslogd?|syslog-ng|(?:systemd-)?journald|unattended-upgrades)(?![\w/-])"
)
_STOPS = frozenset(
    """stop disable mask kill isolate unload bootout remove del off down clean freeze revert bind mount-image
    force-stop""".split()
)
_ESSENTIAL = Pattern(
    r"(?i)(?:lib(?:c6|c-bin|pam|systemd|ssl)|glibc|musl|bash|dash|coreutils|util-linux|base-files|dpkg|apt|rpm|yum|dnf"
    r"|pacman|apk-tools|systemd|sysvinit|init|sudo|passwd|login|shadow|openssh|linux-(?:image|generic)|kernel|grub"
    r"|python3|python3-minimal|perl-base|findutils|tar|gzip|sed|grep|mount|filesystem|e2fsprogs|ca-certificates|ufw"
    r"|firewalld|iptables|nftables|apparmor|selinux|audit|auditd|fail2ban|clamav|rsyslog|cron|snapd|core\d*)"
    r"(?:-(?:\d|daemon|server|utils|minimal|image|core|tools|pc|common)\S*)?(?::\w+)?"
)
_PATTERN = Pattern(r"[*?\[^~]")
_REMOVES = Pattern(r"remove|purge|erase|del|rm|uninstall|autopurge|autoremove|-R\w*|-e|--erase|-r|--remove|-P|--purge")
_FORCES = Pattern(r"--force-.*|--nodeps|--allow-remove-essential|-R\w*dd\w*|--ignore-dependencies|--noscripts")
_PACKAGES = frozenset("apt apt-get aptitude dnf yum microdnf zypper pacman apk rpm dpkg brew port snap".split())

# Settings that decide whom programs trust and what they check.
_CHECKS = Pattern(
    r"(?i).*(?:ssl|tls|verif|trusted|secure-http|sumdb|insecure|goprivate|registry|index-url|goproxy|proxy|mirror"
    r"|cafile|script-shell|ignore-scripts).*"
)
_SETS = frozenset("set -w --set --add --append -a --prepend".split())
_OFFICIAL = Pattern(
    r"https://(?:registry\.npmjs\.org|registry\.yarnpkg\.com|pypi\.org|proxy\.golang\.org|rubygems\.org"
    r"|index\.crates\.io"
    r"|repo\.packagist\.org|conda\.anaconda\.org)(?:/.*)?"
)
_REVERSED = Pattern(r"(?i)disable|insecure|trusted|ignore")
_TRUE = frozenset({"true", "1", "on", "yes"})
_CONFIGURED = frozenset("npm pnpm yarn pip pip3 conda mamba composer poetry bundle gem go".split())
# In addition to git's display settings.
_GIT_FAMILIES = (
    "pull.", "push.", "fetch.", "rebase.", "branch.", "rerere.", "stash.", "help.", "submodule.", "init.", "gc.",
)  # fmt: skip
# Settings of git that name a program, or where programs and repositories are; values that many projects set.
_RUN_LATER = Pattern(
    r"core\.(?:hookspath|fsmonitor|sshcommand|editor|pager|askpass|gitproxy|alternaterefscommand)"
    r"|filter\..*\.(?:clean|smudge|process)"
    r"|(?:diff|merge|mergetool|difftool|man|browser|guitool)\..*\.(?:command|textconv|driver|cmd|path)"
    r"|gpg\.(?:.*\.)?program"
    r"|sequence\.editor|credential\.(?:.*\.)?helper|include(?:if\..*)?\.path|url\..*\.(?:push)?insteadof"
    r"|http\.(?:.*\.)?proxy"
    r"|remote\..*\.(?:uploadpack|receivepack|proxy|vcs)|uploadpack\.packobjectshook|protocol\..*\.allow"
    r"|submodule\..*\.update"
    r"|init\.templatedir|interactive\.difffilter|sendemail\..*cmd|trailer\..*\.(?:command|cmd)"
)
_RUN_HARMLESS = Pattern(
    r"true|false|cat|less(?: -\S+)*|vim?|nvim|nano|code(?: --wait)?|:|delta|diff-so-fancy.*|cache(?: --timeout=\d+)?"
    r"|osxkeychain|manager(?:-core)?|(?!/)(?!\.\./)[\w.-]*(?:hooks|husky)[\w./-]*|git-lfs (?:clean|smudge"
    r"|filter-process).*|gpg2?"
    r"|always|never|user|rebase|merge|checkout|none|!?/?\S*gh auth git-credential|nbstripout"
    r"|npx npm-merge-driver.*|\S*mergiraf.*"
)
_GIT_NAMES = frozenset(
    "core.excludesfile core.symlinks merge.ff merge.tool diff.tool diff.noprefix commit.verbose commit.template".split()
)


def add(builder: EffectsBuilder, words: list[Word]) -> None:
    """Mark a command that is not proved."""
    program = builder.program
    if program == "git":
        _git_setting(builder, words)
    elif program in _CONFIGURED:
        _setting(builder, program, words)
    elif program in _PACKAGES:
        _package(builder, words)
    elif has(program, "ends-processes"):
        if any(_GUARD.search(shown(word)) for word in words):
            builder.danger("security-off")
    elif has(program, "service-manager"):
        _service(builder, words)
    else:
        builder.danger("system-change")


def _service(builder: EffectsBuilder, words: list[Word]) -> None:
    """A service that is stopped or disabled; services of the user's own session do not count."""
    texts = [shown(word) for word in words]
    if "--user" in texts or any(text.startswith(("gui/", "user/")) for text in texts) or _STOPS.isdisjoint(texts):
        return
    guarded = any(_GUARD.search(text) for text in texts)
    builder.danger("security-off" if guarded else "system-change")


def _package(builder: EffectsBuilder, words: list[Word]) -> None:
    """Packages removed by a pattern, by force, or that the machine needs. Removing one by name is ordinary."""
    texts = [literal(word) for word in words]
    verb = next((at for at, text in enumerate(texts) if text is not None and _REMOVES.fullmatch(text)), None)
    if verb is None:
        return
    named = [text for text in texts[verb + 1 :] if text is None or text[:1] != "-"]
    forced = any(text is not None and _FORCES.fullmatch(text) for text in texts)
    if forced or any(text is None or _PATTERN.search(text) or _ESSENTIAL.fullmatch(text) for text in named):
        builder.danger("system-change")


def _setting(builder: EffectsBuilder, program: str, words: list[Word]) -> None:
    """A persistent setting of a package manager: the certificates, sources and checksums it accepts."""
    texts = [shown(word) for word in words]
    if program == "go":
        asked = texts[:1] == ["env"] and "-w" in texts
    elif program == "gem":
        asked = texts[:1] == ["sources"] and not _SETS.isdisjoint(texts)
        texts = [f"registry={text}" if "://" in text else text for text in texts]
    elif program in ("composer", "poetry"):
        asked = texts[:1] == ["config"]
    else:
        asked = texts[:1] in (["config"], ["c"], ["set"]) and not _SETS.isdisjoint(texts)
    if not asked or (texts[-1].lower() in _TRUE and not any(map(_REVERSED.search, texts))):
        return
    values = [text.rpartition("=")[2] for text in texts]
    if any(map(_CHECKS.fullmatch, (text for text in texts if text[:2] != "//"))) and not any(
        map(_OFFICIAL.fullmatch, values)
    ):
        builder.danger("checks-off")


def _git_setting(builder: EffectsBuilder, words: list[Word]) -> None:
    """A setting for all repositories of the user, or one that turns off a check in this one."""
    from assent.effects.shell.commands.roles import is_display_setting

    texts = [shown(word) for word in words]
    given = [text for text in texts[1:] if text[:1] != "-" and text not in ("set", "unset")]
    key, value = (given[0].lower() if given else ""), (given[1] if len(given) > 1 else "")
    off = value.lower() in ("false", "0", "no", "off")
    if (key.endswith("sslverify") and off) or (key == "core.hookspath" and value.startswith("/dev/")):
        builder.danger("checks-off")
    if value and _RUN_LATER.fullmatch(key) and not _RUN_HARMLESS.fullmatch(value):
        builder.danger("persistence")
    shows = is_display_setting(key, value) and key != "safe.directory" and not key.endswith(".gpgsign")
    if not {"--global", "--system"}.isdisjoint(texts) and not shows and not _is_own_taste(key, value):
        builder.danger("checks-off")


def _is_own_taste(key: str, value: str) -> bool:
    if key == "safe.directory":
        return value != "*"
    if key.startswith("alias."):
        return not value.startswith("!")
    return key in _GIT_NAMES or (key.startswith(_GIT_FAMILIES) and not key.endswith((".cmd", "command", "templatedir")))
